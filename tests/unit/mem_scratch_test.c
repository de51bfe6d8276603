/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The scratch of a turn: pieces, nested marks, and what it keeps between turns.
 */
#include "support/test.h"
#include "support/fake_memory.h"

#include "mem/poison.h"
#include "mem/scratch.h"

#include <troupe/limits.h>

enum {
    PIECES = 256,
    DEPTH = 16,
    KEPT_MAX = 64 * 1024,
};

/* A piece, and what the model knows of it. */
struct piece {
    unsigned char *memory;
    size_t size;
    unsigned char fill;
};

/* A turn that is not over: its mark, and the pieces there were when it began. */
struct turn {
    size_t mark;
    size_t piece_count;
};

struct model {
    struct piece pieces[PIECES];
    size_t piece_count;
    struct turn turns[DEPTH];
    size_t depth;
};

static struct fake_memory fake;
static struct scratch scratch;

static void start(void)
{
    struct memory_source source = fake_memory_init(&fake);
    tr__scratch_init(&scratch, &source);
}

static void finish(void)
{
    tr__scratch_deinit(&scratch);
    ck_assert_uint_eq(fake.bytes, 0);
    ck_assert_uint_eq(fake.blocks, 0);
}

/* Adds a piece; false when there was no memory, which must have changed nothing. */
static bool model_alloc(struct model *model, size_t size, unsigned char fill)
{
    size_t bytes = fake.bytes;
    size_t mark = tr__scratch_mark(&scratch);
    unsigned char *memory = tr__scratch_alloc(&scratch, size);
    if (!memory) {
        MODEL_ASSERT(fake.bytes == bytes);
        MODEL_ASSERT(tr__scratch_mark(&scratch) == mark);
        return false;
    }
    MODEL_ASSERT((uintptr_t)memory % 16 == 0);
    MODEL_ASSERT(fake_memory_is_full_of(memory, size, 0));
    memset(memory, fill, size);
    model->pieces[model->piece_count++] = (struct piece){memory, size, fill};
    return true;
}

static void model_begin(struct model *model)
{
    model->turns[model->depth++] = (struct turn){tr__scratch_mark(&scratch), model->piece_count};
}

static void model_end(struct model *model)
{
    struct turn turn = model->turns[--model->depth];
    for (size_t i = 0; i < model->piece_count; i++) {
        const struct piece *piece = &model->pieces[i];
        MODEL_ASSERT(fake_memory_is_full_of(piece->memory, piece->size, piece->fill));
    }
    model->piece_count = turn.piece_count;
    tr__scratch_reset(&scratch, turn.mark);
    if (model->depth == 0) {
        MODEL_ASSERT(fake.blocks <= 1);
        MODEL_ASSERT(fake.bytes <= KEPT_MAX);
    }
}

static void model_step(struct model *model, uint64_t *random)
{
    uint64_t choice = fake_random(random) % 8;
    if (choice == 0 && model->depth < DEPTH) {
        model_begin(model);
    } else if ((choice == 1 && model->depth > 0) || model->piece_count == PIECES) {
        model_end(model);
    } else if (model->depth > 0) {
        static const size_t limits[] = {10, 100, 100, 1000, 5000, 20000, 100000};
        size_t limit = limits[fake_random(random) % (sizeof limits / sizeof limits[0])];
        (void)model_alloc(model, fake_random(random) % limit, (unsigned char)fake_random(random));
    }
    MODEL_ASSERT(tr__scratch_bytes(&scratch) == fake.bytes);
}

static void model_run(uint64_t *random, bool is_refusing)
{
    struct model model = {.depth = 0};
    start();
    for (unsigned step = 0; step < 2000; step++) {
        fake.fail_all = is_refusing && fake_random(random) % 4 == 0;
        model_step(&model, random);
    }
    while (model.depth > 0)
        model_end(&model);
    finish();
}

TEST(random_nested_turns_agree_with_a_model, "B-05")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(10, 1000); round++)
        model_run(&random, false);
}

TEST(random_nested_turns_survive_refused_memory, "B-05", "U-03")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(10, 1000); round++)
        model_run(&random, true);
}

/* Two turns, one in the other. A refused step is done again. Says how many were refused. */
static unsigned program_run(void)
{
    static const size_t sizes[] = {100, 4000, 3000, 70000, 50000, 1, 30000, 200000};
    struct model model = {.depth = 0};
    unsigned refused = 0;
    model_begin(&model);
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (i == 3)
            model_begin(&model);
        while (!model_alloc(&model, sizes[i], (unsigned char)(i + 1)))
            refused++;
    }
    model_end(&model);
    while (!model_alloc(&model, 10000, 9))
        refused++;
    model_end(&model);
    finish();
    return refused;
}

TEST(each_refused_request_changes_nothing, "U-03", "B-05")
{
    start();
    ck_assert_uint_eq(program_run(), 0);
    size_t requests = fake.requests;
    ck_assert_uint_gt(requests, 4);
    for (size_t n = 1; n <= requests; n++) {
        start();
        fake.fail_at = n;
        ck_assert_uint_eq(program_run(), 1);
    }
}

TEST(an_unused_scratch_takes_nothing, "B-05")
{
    start();
    size_t mark = tr__scratch_mark(&scratch);
    tr__scratch_reset(&scratch, mark);
    ck_assert_uint_eq(fake.requests, 0);
    ck_assert_uint_eq(tr__scratch_bytes(&scratch), 0);
    finish();
}

TEST(turns_reuse_one_chunk, "B-05")
{
    start();
    size_t requests = 0;
    for (uint64_t turn = 0; turn < test_scale(1000000, 10000000); turn++) {
        size_t mark = tr__scratch_mark(&scratch);
        size_t count = turn < 10 || turn % 100 == 0 ? 40 : turn % 4;
        for (size_t i = 0; i < count; i++) /* At most 40,000 bytes: less than is kept. */
            MODEL_ASSERT(tr__scratch_alloc(&scratch, 1000) != NULL);
        tr__scratch_reset(&scratch, mark);
        if (turn == 10)
            requests = fake.requests;
    }
    MODEL_ASSERT(fake.requests == requests);
    MODEL_ASSERT(fake.bytes <= KEPT_MAX);
    finish();
}

/* A nested turn that always needs a second chunk must not ask the source each time. */
TEST(nested_turns_reuse_a_second_chunk, "B-05")
{
    start();
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 4000));
    size_t requests = 0;
    for (unsigned turn = 0; turn < 1000; turn++) {
        size_t mark = tr__scratch_mark(&scratch);
        ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 6000));
        tr__scratch_reset(&scratch, mark);
        if (turn == 0)
            requests = fake.requests;
    }
    ck_assert_uint_eq(fake.requests, requests);
    finish();
}

TEST(large_pieces_are_not_kept, "B-05")
{
    start();
    size_t mark = tr__scratch_mark(&scratch);
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 1000000));
    tr__scratch_reset(&scratch, mark);
    ck_assert_uint_eq(fake.bytes, 0);
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 100));
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 1000000));
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 100));
    tr__scratch_reset(&scratch, mark);
    ck_assert_uint_le(fake.bytes, KEPT_MAX);
    ck_assert_uint_gt(fake.bytes, 0);
    finish();
}

/* The outer turn has used nothing when the inner one makes the scratch exchange its chunk. */
TEST(a_mark_outlives_the_chunk_it_was_taken_in, "B-05")
{
    start();
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 100));
    tr__scratch_reset(&scratch, 0);
    size_t outer = tr__scratch_mark(&scratch);
    size_t inner = tr__scratch_mark(&scratch);
    for (unsigned i = 0; i < 10; i++)
        ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 3000));
    tr__scratch_reset(&scratch, inner);
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 100));
    tr__scratch_reset(&scratch, outer);
    ck_assert_uint_eq(tr__scratch_mark(&scratch), outer);
    ck_assert_uint_eq(fake.blocks, 1);
    finish();
}

TEST(a_scratch_may_be_moved, "B-05")
{
    struct model model = {.depth = 0};
    start();
    model_begin(&model);
    ck_assert(model_alloc(&model, 3000, 1));
    ck_assert(model_alloc(&model, 3000, 2));
    struct scratch parked = scratch;
    struct memory_source source = parked.source;
    tr__scratch_init(&scratch, &source);
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 5000));
    tr__scratch_deinit(&scratch);
    scratch = parked;
    ck_assert(model_alloc(&model, 3000, 3));
    model_end(&model);
    finish();
}

TEST(huge_sizes_are_refused, "U-03", "B-05")
{
    static const size_t sizes[] = {
        SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 40, SIZE_MAX / 2, PTRDIFF_MAX, TR_ALLOC_MAX + 1};
    start();
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        ck_assert_ptr_null(tr__scratch_alloc(&scratch, sizes[i]));
    ck_assert_uint_eq(fake.requests, 0);
    ck_assert_ptr_null(tr__scratch_alloc(&scratch, TR_ALLOC_MAX));
    ck_assert_uint_eq(fake.requests, 1);
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 100));
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        ck_assert_ptr_null(tr__scratch_alloc(&scratch, sizes[i]));
    finish();
}

TEST_ABORTS(a_mark_of_the_future_is_caught, "B-05")
{
    start();
    ck_assert_ptr_nonnull(tr__scratch_alloc(&scratch, 100));
    tr__scratch_reset(&scratch, tr__scratch_mark(&scratch) + 16);
}

TEST(what_nobody_may_touch_is_poisoned, "B-05")
{
    if (!POISON_HAS_ASAN)
        test_skip("without AddressSanitizer");
    start();
    char *outer = tr__scratch_alloc(&scratch, 20);
    size_t mark = tr__scratch_mark(&scratch);
    char *inner = tr__scratch_alloc(&scratch, 32);
    ck_assert(!poison_is_set(outer + 19));
    ck_assert(poison_is_set(outer + 20));
    ck_assert(!poison_is_set(inner + 31));
    ck_assert(poison_is_set(inner + 32));
    tr__scratch_reset(&scratch, mark);
    ck_assert(poison_is_set(inner));
    ck_assert(!poison_is_set(outer));
    tr__scratch_reset(&scratch, 0);
    ck_assert(poison_is_set(outer));
    finish();
}

SUITE("mem scratch", random_nested_turns_agree_with_a_model,
      random_nested_turns_survive_refused_memory, each_refused_request_changes_nothing,
      an_unused_scratch_takes_nothing, turns_reuse_one_chunk, nested_turns_reuse_a_second_chunk,
      large_pieces_are_not_kept, a_mark_outlives_the_chunk_it_was_taken_in, a_scratch_may_be_moved,
      huge_sizes_are_refused, a_mark_of_the_future_is_caught, what_nobody_may_touch_is_poisoned)
