/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory of an incarnation: blocks, cleaners, and what is left when memory runs out.
 */
#include "support/test.h"
#include "support/fake_memory.h"

#include "mem/heap.h"
#include "mem/poison.h"

#include <troupe/limits.h>

enum {
    SLOTS = 64,
    SMALL_LIMIT = 2056, /* The largest small block: where the two kinds meet. */
    CLEANERS = 100,
};

/* A block, and what the model knows of it. */
struct slot {
    unsigned char *memory;
    size_t size;
    unsigned char fill;
};

static struct fake_memory fake;
static struct memory_source source;
static struct heap *heap;

static void start(void)
{
    source = fake_memory_init(&fake);
    heap = NULL;
}

static void finish(void)
{
    tr__heap_drop(&heap, &source);
    ck_assert_ptr_null(heap);
    ck_assert_uint_eq(fake.bytes, 0);
    ck_assert_uint_eq(fake.blocks, 0);
}

static void slot_check(const struct slot *slot)
{
    MODEL_ASSERT(fake_memory_is_full_of(slot->memory, slot->size, slot->fill));
}

static void slot_fill(struct slot *slot, unsigned char fill)
{
    slot->fill = fill;
    if (slot->size > 0)
        memset(slot->memory, fill, slot->size);
}

/* Allocates into an empty slot. A failure must have changed nothing. */
static bool slot_alloc(struct slot *slot, size_t size, unsigned char fill)
{
    size_t bytes = fake.bytes;
    void *memory = tr__heap_alloc(&heap, &source, size);
    if (!memory) {
        MODEL_ASSERT(fake.bytes == bytes);
        return false;
    }
    MODEL_ASSERT((uintptr_t)memory % 16 == 0);
    MODEL_ASSERT(fake_memory_is_full_of(memory, size, 0));
    *slot = (struct slot){.memory = memory, .size = size};
    slot_fill(slot, fill);
    return true;
}

static bool slot_realloc(struct slot *slot, size_t size, unsigned char fill)
{
    size_t bytes = fake.bytes;
    unsigned char *memory = tr__heap_realloc(&heap, &source, slot->memory, size);
    if (!memory) {
        MODEL_ASSERT(size > slot->size);
        MODEL_ASSERT(fake.bytes == bytes);
        slot_check(slot);
        return false;
    }
    MODEL_ASSERT((uintptr_t)memory % 16 == 0);
    size_t kept = size < slot->size ? size : slot->size;
    MODEL_ASSERT(fake_memory_is_full_of(memory, kept, slot->fill));
    MODEL_ASSERT(fake_memory_is_full_of(memory + kept, size - kept, 0));
    *slot = (struct slot){.memory = memory, .size = size};
    slot_fill(slot, fill);
    return true;
}

static size_t random_size(uint64_t *random)
{
    switch (fake_random(random) % 8) {
    case 0:
        return fake_random(random) % 20000;
    case 1: /* Around the border between small and large. */
        return SMALL_LIMIT - 8 + fake_random(random) % 16;
    case 2:
        return fake_random(random) % SMALL_LIMIT;
    default:
        return fake_random(random) % 200;
    }
}

static void random_step(struct slot *slot, uint64_t *random)
{
    unsigned char fill = (unsigned char)fake_random(random);
    if (!slot->memory) {
        (void)slot_alloc(slot, random_size(random), fill);
        return;
    }
    slot_check(slot);
    if (fake_random(random) % 3 == 0) {
        (void)slot_realloc(slot, random_size(random), fill);
        return;
    }
    tr__heap_free(&heap, &source, slot->memory);
    *slot = (struct slot){0};
}

TEST(random_programs_agree_with_a_model, "B-05")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(40, 4000); round++) {
        struct slot slots[SLOTS] = {{0}};
        start();
        for (unsigned step = 0; step < 4000; step++) {
            random_step(&slots[fake_random(&random) % SLOTS], &random);
            MODEL_ASSERT(tr__heap_bytes(heap) == fake.bytes);
        }
        for (unsigned i = 0; i < SLOTS; i++)
            slot_check(&slots[i]);
        finish();
    }
}

TEST(random_programs_survive_refused_memory, "B-05", "U-03")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(40, 4000); round++) {
        struct slot slots[SLOTS] = {{0}};
        start();
        for (unsigned step = 0; step < 2000; step++) {
            fake.fail_all = fake_random(&random) % 4 == 0;
            random_step(&slots[fake_random(&random) % SLOTS], &random);
            MODEL_ASSERT(tr__heap_bytes(heap) == fake.bytes);
        }
        for (unsigned i = 0; i < SLOTS; i++)
            slot_check(&slots[i]);
        fake.fail_all = true; /* The end needs no memory. */
        finish();
    }
}

static void count_up(void *resource)
{
    ++*(unsigned *)resource;
}

/* A program that takes every path that asks for memory. A refused step is done again. Says how many
 * were refused. */
static unsigned program_run(void)
{
    static const size_t sizes[] = {1, 64, 100, 3000, 2056, 2057, 20000, 5000, 10, 700};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    struct slot slots[COUNT] = {{0}};
    unsigned refused = 0;
    unsigned cleaned = 0;
    unsigned registered = 0;

    for (unsigned i = 0; i < COUNT; i++) {
        unsigned char fill = (unsigned char)(i + 1);
        while (!slot_alloc(&slots[i], sizes[i], fill))
            refused++;
        while (!tr__heap_on_end(&heap, &source, &cleaned, count_up))
            refused++;
        registered++;
    }
    for (unsigned i = 0; i < COUNT; i++) {
        size_t size = sizes[(i + 3) % COUNT] * 2;
        while (!slot_realloc(&slots[i], size, slots[i].fill))
            refused++;
    }
    for (unsigned i = 0; i < COUNT; i++)
        slot_check(&slots[i]);
    ck_assert_uint_eq(tr__heap_bytes(heap), fake.bytes);
    ck_assert_uint_eq(cleaned, 0);
    finish();
    ck_assert_uint_eq(cleaned, registered);
    return refused;
}

TEST(each_refused_request_changes_nothing, "U-03", "B-05", "B-09")
{
    start();
    ck_assert_uint_eq(program_run(), 0);
    size_t requests = fake.requests;
    ck_assert_uint_gt(requests, 10);
    unsigned refused = 0;
    for (size_t n = 1; n <= requests; n++) {
        start();
        fake.fail_at = n;
        refused += program_run();
    }
    /* All but the requests of shrinking blocks are seen by the caller. */
    ck_assert_uint_ge(refused, requests / 2);
}

TEST(a_large_block_without_a_heap_goes_back, "U-03")
{
    start();
    fake.fail_at = 2; /* The block is there, the heap is not. */
    ck_assert_ptr_null(tr__heap_alloc(&heap, &source, 5000));
    ck_assert_uint_eq(fake.bytes, 0);
    ck_assert_ptr_null(heap);
    ck_assert_ptr_nonnull(tr__heap_alloc(&heap, &source, 5000));
    finish();
}

TEST(every_size_is_zeroed_aligned_and_its_own, "B-05")
{
    enum { COUNT = 5000 };
    static struct slot slots[COUNT];
    start();
    for (size_t size = 0; size < COUNT; size++)
        ck_assert(slot_alloc(&slots[size], size, (unsigned char)size));
    for (size_t size = 0; size < COUNT; size++)
        slot_check(&slots[size]);
    /* Freed and taken again, they are zeroed again. */
    for (size_t size = 0; size < COUNT; size++)
        tr__heap_free(&heap, &source, slots[size].memory);
    for (size_t size = 0; size < COUNT; size++)
        ck_assert(slot_alloc(&slots[size], size, (unsigned char)(size + 1)));
    for (size_t size = 0; size < COUNT; size++)
        slot_check(&slots[size]);
    finish();
}

TEST(small_beginnings_take_512_bytes, "B-05")
{
    start();
    ck_assert_uint_eq(tr__heap_bytes(heap), 0);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_ptr_nonnull(tr__heap_alloc(&heap, &source, 64));
    ck_assert_uint_eq(fake.blocks, 1);
    ck_assert_uint_le(fake.bytes, 512);
    finish();
}

TEST(chunks_grow_to_16_kib, "B-05")
{
    start();
    size_t before = 0;
    size_t largest = 0;
    for (unsigned i = 0; i < 2000; i++) {
        ck_assert_ptr_nonnull(tr__heap_alloc(&heap, &source, 64));
        size_t grown = tr__heap_bytes(heap) - before;
        largest = grown > largest ? grown : largest;
        before = tr__heap_bytes(heap);
    }
    ck_assert_uint_eq(largest, 16 * 1024);
    ck_assert_uint_le(before, 2000 * 80 + 2 * 16 * 1024);
    finish();
}

TEST(the_rest_of_a_chunk_is_used, "B-05")
{
    start();
    ck_assert_ptr_nonnull(tr__heap_alloc(&heap, &source, 16));
    ck_assert_ptr_nonnull(tr__heap_alloc(&heap, &source, 500)); /* Does not fit into the first. */
    ck_assert_uint_eq(fake.blocks, 2);
    for (unsigned i = 0; i < 2; i++) /* One fits into the rest of each. */
        ck_assert_ptr_nonnull(tr__heap_alloc(&heap, &source, 256));
    ck_assert_uint_eq(fake.blocks, 2);
    finish();
}

TEST(churn_keeps_memory_constant, "B-05")
{
    uint64_t random = test_seed();
    struct slot slots[SLOTS] = {{0}};
    start();
    for (unsigned i = 0; i < SLOTS; i++)
        MODEL_ASSERT(slot_alloc(&slots[i], random_size(&random) % SMALL_LIMIT, (unsigned char)i));
    size_t bytes = tr__heap_bytes(heap);
    size_t requests = fake.requests;
    for (uint64_t i = 0; i < test_scale(1000000, 100000000); i++) {
        struct slot *slot = &slots[fake_random(&random) % SLOTS];
        tr__heap_free(&heap, &source, slot->memory);
        slot->memory = tr__heap_alloc(&heap, &source, slot->size);
        MODEL_ASSERT(slot->memory != NULL);
    }
    MODEL_ASSERT(tr__heap_bytes(heap) == bytes);
    MODEL_ASSERT(fake.requests == requests);
    finish();
}

TEST(large_blocks_go_back_when_freed, "B-05")
{
    start();
    void *small = tr__heap_alloc(&heap, &source, 64);
    size_t bytes = tr__heap_bytes(heap);
    void *blocks[3];
    for (unsigned i = 0; i < 3; i++)
        blocks[i] = tr__heap_alloc(&heap, &source, 1000000);
    ck_assert_uint_gt(tr__heap_bytes(heap), 3000000);
    tr__heap_free(&heap, &source, blocks[1]);
    tr__heap_free(&heap, &source, blocks[0]);
    tr__heap_free(&heap, &source, blocks[2]);
    ck_assert_uint_eq(tr__heap_bytes(heap), bytes);
    tr__heap_free(&heap, &source, small);
    tr__heap_free(&heap, &source, NULL);
    finish();
}

TEST(a_block_that_shrinks_and_grows_is_zeroed_again, "B-05")
{
    static const size_t sizes[] = {100, 2000, 2056, 2100, 50000};
    start();
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct slot slot = {0};
        ck_assert(slot_alloc(&slot, sizes[i], 0xff));
        ck_assert(slot_realloc(&slot, sizes[i] - 20, 0xff));
        ck_assert(slot_realloc(&slot, sizes[i], 0xff));
        ck_assert(slot_realloc(&slot, 0, 0xff));
        ck_assert(slot_realloc(&slot, sizes[i], 0xff));
    }
    finish();
}

TEST(shrinking_needs_no_memory, "B-05", "U-03")
{
    static const size_t sizes[] = {100, 2000, 2057, 50000};
    start();
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t size = sizes[i]; size > 0; size = size * 2 / 3) {
            struct slot slot = {0};
            fake.fail_all = false;
            ck_assert(slot_alloc(&slot, sizes[i], 0x11));
            fake.fail_all = true;
            ck_assert(slot_realloc(&slot, size, 0x22));
            ck_assert(slot_realloc(&slot, size / 2, 0x33));
            fake.fail_all = false;
            ck_assert(slot_realloc(&slot, size + 7, 0x44));
        }
    }
    finish();
}

TEST(huge_sizes_are_refused, "U-03", "B-05")
{
    static const size_t sizes[] = {
        SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 64, SIZE_MAX / 2, PTRDIFF_MAX, TR_ALLOC_MAX + 1};
    start();
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        ck_assert_ptr_null(tr__heap_alloc(&heap, &source, sizes[i]));
    ck_assert_ptr_null(heap);
    ck_assert_uint_eq(fake.requests, 0);
    /* The source may be asked for the largest, and says no. */
    ck_assert_ptr_null(tr__heap_alloc(&heap, &source, TR_ALLOC_MAX));
    ck_assert_uint_eq(fake.requests, 1);
    ck_assert_ptr_null(heap);

    struct slot small = {0};
    struct slot large = {0};
    ck_assert(slot_alloc(&small, 10, 1));
    ck_assert(slot_alloc(&large, 10000, 2));
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ck_assert(!slot_realloc(&small, sizes[i], 3));
        ck_assert(!slot_realloc(&large, sizes[i], 3));
    }
    finish();
}

/* What the cleaners of a case have seen. */
static unsigned seen[CLEANERS * 2];
static unsigned seen_count;

static void note(void *resource)
{
    ck_assert_uint_lt(seen_count, sizeof seen / sizeof seen[0]);
    seen[seen_count++] = *(unsigned *)resource;
}

TEST(cleaners_run_last_first_and_once, "B-09")
{
    start();
    for (unsigned i = 0; i < CLEANERS; i++) {
        unsigned *resource = tr__heap_alloc(&heap, &source, sizeof *resource);
        *resource = i; /* In the heap: it is still there when the cleaners run. */
        ck_assert(tr__heap_on_end(&heap, &source, resource, note));
        if (i % 3 == 0)
            tr__heap_free(&heap, &source, tr__heap_alloc(&heap, &source, i * 100));
    }
    ck_assert_uint_eq(seen_count, 0);
    finish();
    ck_assert_uint_eq(seen_count, CLEANERS);
    for (unsigned i = 0; i < CLEANERS; i++)
        ck_assert_uint_eq(seen[i], CLEANERS - 1 - i);
    finish(); /* Nothing is left to run. */
    ck_assert_uint_eq(seen_count, CLEANERS);
}

TEST(a_cleaner_without_memory_is_not_registered, "B-09", "U-03")
{
    static unsigned one = 1;
    start();
    fake.fail_all = true;
    ck_assert(!tr__heap_on_end(&heap, &source, &one, note));
    ck_assert_ptr_null(heap);
    fake.fail_all = false;
    ck_assert(tr__heap_on_end(&heap, &source, &one, note));
    while (tr__heap_alloc(&heap, &source, 24))
        fake.fail_all = true; /* Until nothing is free. */
    ck_assert(!tr__heap_on_end(&heap, &source, &one, note));
    finish();
    ck_assert_uint_eq(seen_count, 1);
}

static void note_and_register(void *resource)
{
    static unsigned two = 2;
    note(resource);
    ck_assert(tr__heap_on_end(&heap, &source, &two, note));
}

TEST(a_cleaner_may_register_another, "B-09")
{
    static unsigned values[] = {0, 1};
    start();
    ck_assert(tr__heap_on_end(&heap, &source, &values[0], note));
    ck_assert(tr__heap_on_end(&heap, &source, &values[1], note_and_register));
    finish();
    ck_assert_uint_eq(seen_count, 3);
    ck_assert_uint_eq(seen[0], 1);
    ck_assert_uint_eq(seen[1], 2);
    ck_assert_uint_eq(seen[2], 0);
}

/* Goes on with the rest, as a supervisor does whose first drop a fault has ended. */
static void note_and_never_return(void *resource)
{
    note(resource);
    finish();
    exit(seen_count == 2 && seen[0] == 1 && seen[1] == 0 ? 0 : 1);
}

TEST(a_cleaner_that_never_returns_is_not_run_again, "B-09")
{
    static unsigned values[] = {0, 1};
    start();
    ck_assert(tr__heap_on_end(&heap, &source, &values[0], note));
    ck_assert(tr__heap_on_end(&heap, &source, &values[1], note_and_never_return));
    tr__heap_drop(&heap, &source);
    ck_abort_msg("the cleaner has returned");
}

TEST_ABORTS(a_second_free_is_caught, "B-05")
{
    start();
    void *block = tr__heap_alloc(&heap, &source, 100);
    tr__heap_free(&heap, &source, block);
    tr__heap_free(&heap, &source, block);
}

TEST_ABORTS(realloc_of_a_free_block_is_caught, "B-05")
{
    start();
    void *block = tr__heap_alloc(&heap, &source, 100);
    tr__heap_free(&heap, &source, block);
    (void)tr__heap_realloc(&heap, &source, block, 10);
}

TEST_ABORTS(a_block_of_another_heap_is_caught, "B-05")
{
    start();
    struct heap *other = NULL;
    void *block = tr__heap_alloc(&heap, &source, 100);
    ck_assert_ptr_nonnull(tr__heap_alloc(&other, &source, 100));
    tr__heap_free(&other, &source, block);
}

TEST_ABORTS(a_pointer_of_no_heap_is_caught, "B-05")
{
    static _Alignas(16) char memory[64];
    start();
    ck_assert_ptr_nonnull(tr__heap_alloc(&heap, &source, 100));
    tr__heap_free(&heap, &source, memory + 16);
}

TEST_ABORTS(a_pointer_into_a_block_is_caught, "B-05")
{
    start();
    char *block = tr__heap_alloc(&heap, &source, 100);
    tr__heap_free(&heap, &source, block + 8);
}

TEST(what_nobody_may_touch_is_poisoned, "B-05")
{
    if (!POISON_HAS_ASAN)
        test_skip("without AddressSanitizer");
    start();
    char *block = tr__heap_alloc(&heap, &source, 61);
    ck_assert(poison_is_set(block - 1));
    ck_assert(!poison_is_set(block));
    ck_assert(!poison_is_set(block + 60));
    ck_assert(poison_is_set(block + 61));
    block = tr__heap_realloc(&heap, &source, block, 70);
    ck_assert(!poison_is_set(block + 69));
    ck_assert(poison_is_set(block + 70));
    tr__heap_free(&heap, &source, block);
    ck_assert(poison_is_set(block));
    ck_assert(poison_is_set(block + 69));
    finish();
}

TEST(only_marked_blocks_are_arrays, "B-05")
{
    enum { COUNT = 400 };
    static const size_t sizes[] = {1, 64, 500, SMALL_LIMIT, SMALL_LIMIT + 1, 20000};
    void *blocks[COUNT];
    char outside[32] = {0};
    start();
    ck_assert_uint_eq(tr__heap_array(heap, outside + 16), 0);
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = tr__heap_alloc(&heap, &source, sizes[i % 6]);
        ck_assert_ptr_nonnull(blocks[i]);
        if (i % 2)
            tr__heap_mark_array(heap, blocks[i]);
    }
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT; i++)
            ck_assert_uint_eq(tr__heap_array(heap, blocks[i]), i % 2 ? sizes[i % 6] : 0);
    }
    ck_assert_uint_eq(tr__heap_array(heap, NULL), 0);
    ck_assert_uint_eq(tr__heap_array(heap, (char *)blocks[3] + 16), 0);
    ck_assert_uint_eq(tr__heap_array(heap, (char *)blocks[5] + 16), 0);
    ck_assert_uint_eq(tr__heap_array(heap, (char *)heap), 0);
    for (size_t i = 1; i < COUNT; i += 2) {
        if (i % 3 == 0) {
            blocks[i] = tr__heap_realloc(&heap, &source, blocks[i], sizes[i % 6] + 8);
            ck_assert_uint_eq(tr__heap_array(heap, blocks[i]), 0);
        } else {
            tr__heap_free(&heap, &source, blocks[i]);
            ck_assert_uint_eq(tr__heap_array(heap, blocks[i]), 0);
        }
    }
    finish();
}

SUITE("mem heap", only_marked_blocks_are_arrays, random_programs_agree_with_a_model,
      random_programs_survive_refused_memory, each_refused_request_changes_nothing,
      a_large_block_without_a_heap_goes_back, the_rest_of_a_chunk_is_used,
      every_size_is_zeroed_aligned_and_its_own, small_beginnings_take_512_bytes,
      chunks_grow_to_16_kib, churn_keeps_memory_constant, large_blocks_go_back_when_freed,
      a_block_that_shrinks_and_grows_is_zeroed_again, shrinking_needs_no_memory,
      huge_sizes_are_refused, cleaners_run_last_first_and_once,
      a_cleaner_without_memory_is_not_registered, a_cleaner_may_register_another,
      a_cleaner_that_never_returns_is_not_run_again, a_second_free_is_caught,
      realloc_of_a_free_block_is_caught, a_block_of_another_heap_is_caught,
      a_pointer_of_no_heap_is_caught, a_pointer_into_a_block_is_caught,
      what_nobody_may_touch_is_poisoned)
