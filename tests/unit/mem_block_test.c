/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pool of payload blocks: classes, slabs that come and go, and what a wrong give does.
 */
#include "support/test.h"
#include "support/fake_memory.h"

#include "mem/block.h"
#include "mem/poison.h"

enum {
    SLOTS = 4096,
    SLAB = 64 * 1024,
    /* What is kept when every block is back: the reserve, and one open slab for each class. */
    RESERVE_MAX = (BLOCK_RESERVE_SLABS + BLOCK_CLASS_COUNT) * SLAB,
};

/* A block, and what the model knows of it. */
struct slot {
    unsigned char *memory;
    size_t size;
    uint8_t size_class;
    unsigned char fill;
};

static struct fake_memory fake;
static struct block_pool pool;
static struct slot slots[SLOTS];

static void start(void)
{
    struct memory_source source = fake_memory_init(&fake);
    tr__block_init(&pool, &source);
    memset(slots, 0, sizeof slots);
}

static void finish(void)
{
    tr__block_deinit(&pool);
    ck_assert_uint_eq(fake.bytes, 0);
    ck_assert_uint_eq(fake.blocks, 0);
}

/* Takes into an empty slot. A failure must have changed nothing. */
static bool slot_take(struct slot *slot, size_t size, unsigned char fill)
{
    size_t bytes = fake.bytes;
    size_t taken = pool.blocks_taken;
    uint8_t size_class = 99;
    void *memory = tr__block_take(&pool, size, &size_class);
    if (!memory) {
        MODEL_ASSERT(fake.bytes == bytes);
        MODEL_ASSERT(pool.blocks_taken == taken);
        MODEL_ASSERT(size_class == 99);
        return false;
    }
    MODEL_ASSERT(pool.blocks_taken == taken + 1);
    if (size > 1024) {
        MODEL_ASSERT(size_class == BLOCK_LARGE);
        MODEL_ASSERT((uintptr_t)memory % 16 == 0);
    } else {
        MODEL_ASSERT(block_class_size(size_class) >= size);
        MODEL_ASSERT(size_class == BLOCK_64 || block_class_size(size_class) / 2 < size);
        MODEL_ASSERT((uintptr_t)memory % 64 == 0);
        size = block_class_size(size_class); /* All of it may be used. */
    }
    memset(memory, fill, size);
    *slot = (struct slot){memory, size, size_class, fill};
    return true;
}

static void slot_give(struct slot *slot)
{
    MODEL_ASSERT(fake_memory_is_full_of(slot->memory, slot->size, slot->fill));
    tr__block_give(&pool, slot->memory, slot->size_class);
    *slot = (struct slot){0};
}

static void slots_give_all(void)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (slots[i].memory)
            slot_give(&slots[i]);
    }
    ck_assert_uint_eq(pool.blocks_taken, 0);
}

static size_t random_size(uint64_t *random)
{
    static const size_t limits[] = {64, 64, 128, 256, 512, 1024, 1040, 5000};
    return fake_random(random) % (limits[fake_random(random) % 8] + 1);
}

/* Lets the pool fill and empty in waves, so that slabs come and go. */
static void waves_run(uint64_t *random, bool is_refusing)
{
    start();
    for (unsigned wave = 0; wave < 8; wave++) {
        unsigned live = (unsigned)(fake_random(random) % SLOTS) + 1;
        bool is_filling = wave % 2 == 0;
        for (unsigned step = 0; step < 3000; step++) {
            struct slot *slot = &slots[fake_random(random) % live];
            fake.fail_all = is_refusing && fake_random(random) % 4 == 0;
            if (slot->memory && (!is_filling || fake_random(random) % 4 == 0)) {
                slot_give(slot);
            } else if (!slot->memory && (is_filling || fake_random(random) % 4 == 0)) {
                (void)slot_take(slot, random_size(random), (unsigned char)fake_random(random));
            }
            MODEL_ASSERT(tr__block_bytes(&pool) == fake.bytes);
        }
        if (fake_random(random) % 4 == 0)
            tr__block_trim(&pool);
        if (fake_random(random) % 4 == 0) {
            slots_give_all();
            MODEL_ASSERT(fake.bytes <= RESERVE_MAX);
        }
    }
    slots_give_all();
    finish();
}

TEST(random_waves_agree_with_a_model, "B-05")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(20, 2000); round++)
        waves_run(&random, false);
}

TEST(random_waves_survive_refused_memory, "U-03", "B-05")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(20, 2000); round++)
        waves_run(&random, true);
}

/* Takes of every class, several slabs. A refused step is done again. Says how many were refused. */
static unsigned program_run(void)
{
    unsigned refused = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        size_t size = (size_t)32 << (i % 7);
        while (!slot_take(&slots[i], size, (unsigned char)i))
            refused++;
    }
    slots_give_all();
    finish();
    return refused;
}

TEST(each_refused_request_changes_nothing, "U-03")
{
    start();
    ck_assert_uint_eq(program_run(), 0);
    size_t requests = fake.requests;
    ck_assert_uint_gt(requests, SLOTS / 7);
    size_t step = requests / 20; /* The first ones, and some of the many alike. */
    for (size_t n = 1; n <= requests; n += n < 20 ? 1 : step) {
        start();
        fake.fail_at = n;
        ck_assert_uint_eq(program_run(), 1);
    }
}

TEST(sizes_have_the_classes_of_their_names, "B-05")
{
    static const struct {
        size_t size;
        uint8_t size_class;
    } rows[] = {
        {0, BLOCK_64},
        {1, BLOCK_64},
        {64, BLOCK_64},
        {65, BLOCK_128},
        {128, BLOCK_128},
        {129, BLOCK_256},
        {256, BLOCK_256},
        {257, BLOCK_512},
        {512, BLOCK_512},
        {513, BLOCK_1024},
        {1024, BLOCK_1024},
        {1025, BLOCK_LARGE},
        {1 << 20, BLOCK_LARGE},
    };
    start();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert(slot_take(&slots[i], rows[i].size, (unsigned char)i));
        ck_assert_uint_eq(slots[i].size_class, rows[i].size_class);
    }
    ck_assert_uint_eq(block_class_size(BLOCK_64), 64);
    ck_assert_uint_eq(block_class_size(BLOCK_1024), 1024);
    slots_give_all();
    finish();
}

TEST(a_slab_wastes_little, "B-05")
{
    start();
    for (unsigned i = 0; i < SLOTS; i++)
        MODEL_ASSERT(slot_take(&slots[i], 256, (unsigned char)i));
    /* At most a page of four is lost to alignment; 1 MiB is what the blocks need. */
    MODEL_ASSERT(fake.bytes <= (size_t)SLOTS * 256 * 4 / 3 + 2 * SLAB);
    slots_give_all();
    finish();
}

TEST(churn_keeps_memory_constant, "B-05")
{
    uint64_t random = test_seed();
    start();
    for (unsigned i = 0; i < SLOTS; i++)
        MODEL_ASSERT(slot_take(&slots[i], fake_random(&random) % 1025, (unsigned char)i));
    size_t bytes = fake.bytes;
    size_t requests = fake.requests;
    for (uint64_t i = 0; i < test_scale(1000000, 100000000); i++) {
        struct slot *slot = &slots[fake_random(&random) % SLOTS];
        tr__block_give(&pool, slot->memory, slot->size_class);
        slot->memory = tr__block_take(&pool, slot->size, &slot->size_class);
        memset(slot->memory, slot->fill, slot->size);
    }
    MODEL_ASSERT(fake.bytes == bytes);
    MODEL_ASSERT(fake.requests == requests);
    slots_give_all();
    finish();
}

/* One message at a time, and one that empties and fills a slab at its border. */
TEST(a_single_block_that_comes_and_goes_asks_for_nothing, "B-05")
{
    start();
    for (unsigned i = 0; i < 2000; i++) {
        size_t requests = fake.requests;
        for (unsigned turn = 0; turn < 3; turn++) {
            ck_assert(slot_take(&slots[i], 64, (unsigned char)i));
            slot_give(&slots[i]);
        }
        ck_assert_uint_le(fake.requests, requests + 1);
        ck_assert(slot_take(&slots[i], 64, (unsigned char)i));
    }
    slots_give_all();
    finish();
}

TEST(free_slabs_beyond_the_reserve_go_back, "B-05")
{
    start();
    for (unsigned i = 0; i < SLOTS; i++)
        MODEL_ASSERT(slot_take(&slots[i], 1024, (unsigned char)i));
    MODEL_ASSERT(fake.bytes > RESERVE_MAX);
    slots_give_all();
    MODEL_ASSERT(fake.bytes == (BLOCK_RESERVE_SLABS + 1) * SLAB);
    /* The reserve serves every class. */
    size_t requests = fake.requests;
    for (unsigned i = 0; i < SLOTS; i++)
        MODEL_ASSERT(slot_take(&slots[i], 64, (unsigned char)i));
    MODEL_ASSERT(fake.requests == requests);
    slots_give_all();
    tr__block_trim(&pool);
    MODEL_ASSERT(fake.bytes == 0);
    finish();
}

TEST(trim_keeps_what_is_out, "B-05")
{
    start();
    for (unsigned i = 0; i < SLOTS; i++)
        ck_assert(slot_take(&slots[i], (size_t)64 << (i % 5), (unsigned char)i));
    for (unsigned i = 0; i < SLOTS; i++) {
        if (i % 1024 != 0)
            slot_give(&slots[i]);
    }
    tr__block_trim(&pool);
    ck_assert_uint_le(fake.blocks, 4);
    ck_assert_uint_eq(pool.blocks_taken, 4);
    slots_give_all();
    tr__block_trim(&pool);
    ck_assert_uint_eq(fake.bytes, 0);
    finish();
}

TEST(huge_sizes_are_refused, "U-03")
{
    static const size_t sizes[] = {
        SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 16, SIZE_MAX / 2, PTRDIFF_MAX, BLOCK_SIZE_MAX + 1};
    start();
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        ck_assert(!slot_take(&slots[0], sizes[i], 1));
    ck_assert_uint_eq(fake.requests, 0);
    ck_assert(!slot_take(&slots[0], BLOCK_SIZE_MAX, 1));
    ck_assert_uint_eq(fake.requests, 1);
    finish();
}

static void other_pool_gives(size_t size)
{
    struct block_pool other;
    uint8_t size_class;
    start();
    tr__block_init(&other, &pool.source);
    ck_assert_ptr_nonnull(tr__block_take(&other, size, &size_class));
    ck_assert(slot_take(&slots[0], size, 1));
    tr__block_give(&other, slots[0].memory, slots[0].size_class);
}

TEST_ABORTS(a_block_of_another_pool_is_caught, "")
{
    other_pool_gives(100);
}

TEST_ABORTS(a_large_block_of_another_pool_is_caught, "")
{
    other_pool_gives(5000);
}

TEST_ABORTS(a_wrong_class_is_caught, "")
{
    start();
    ck_assert(slot_take(&slots[0], 256, 1));
    tr__block_give(&pool, slots[0].memory, BLOCK_64);
}

TEST_ABORTS(a_pointer_into_a_block_is_caught, "")
{
    start();
    ck_assert(slot_take(&slots[0], 256, 1));
    tr__block_give(&pool, slots[0].memory + 64, slots[0].size_class);
}

TEST_ABORTS(deinit_with_a_block_out_is_caught, "")
{
    start();
    ck_assert(slot_take(&slots[0], 256, 1));
    tr__block_deinit(&pool);
}

/* A pool that has only this block sees it by its count; others in debug builds, or with ASan. */
TEST_ABORTS(a_second_give_is_caught, "")
{
    start();
    ck_assert(slot_take(&slots[0], 256, 1));
#if defined(TR_DEBUG) || POISON_HAS_ASAN
    ck_assert(slot_take(&slots[1], 256, 1));
    ck_assert(slot_take(&slots[2], 256, 1));
#endif
    tr__block_give(&pool, slots[0].memory, slots[0].size_class);
    tr__block_give(&pool, slots[0].memory, slots[0].size_class);
}

TEST(free_blocks_are_poisoned, "B-05")
{
    if (!POISON_HAS_ASAN)
        test_skip("without AddressSanitizer");
    start();
    ck_assert(slot_take(&slots[0], 128, 1));
    unsigned char *memory = slots[0].memory;
    ck_assert(!poison_is_set(memory));
    ck_assert(!poison_is_set(memory + 127));
    ck_assert(poison_is_set(memory + 128)); /* The next one, which was never taken. */
    slot_give(&slots[0]);
    ck_assert(poison_is_set(memory));
    ck_assert(poison_is_set(memory + 127));
    finish();
}

SUITE("mem block", random_waves_agree_with_a_model, random_waves_survive_refused_memory,
      each_refused_request_changes_nothing, sizes_have_the_classes_of_their_names,
      a_slab_wastes_little, churn_keeps_memory_constant,
      a_single_block_that_comes_and_goes_asks_for_nothing, free_slabs_beyond_the_reserve_go_back,
      trim_keeps_what_is_out, huge_sizes_are_refused, a_block_of_another_pool_is_caught,
      a_large_block_of_another_pool_is_caught, a_wrong_class_is_caught,
      a_pointer_into_a_block_is_caught, deinit_with_a_block_out_is_caught, a_second_give_is_caught,
      free_blocks_are_poisoned)
