/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pools of envelopes: what a new slab costs whoever begins it, and what goes back.
 */
#include "support/test.h"

#include "mem/envelope.h"
#include "support/fake_memory.h"

enum {
    FEW = 64, /* more than are ever made at once */
    MANY = 200000,
    RESERVE = 16 * 1024 /* envelopes that a trimmed pool may keep */
};

static struct fake_memory memory;
static struct memory_source source;
static struct envelope_pool pool;
static struct envelope_pool *pools[1] = {&pool};
static struct envelope *taken[MANY];

static void begin(void)
{
    source = fake_memory_init(&memory);
    ck_assert_int_eq(tr__envelope_pool_init(&pool, &source, 0, 1, pools, 0), TR_OK);
}

static void end(void)
{
    tr__envelope_pool_deinit(&pool);
    ck_assert_uint_eq(memory.blocks, 0);
}

static void take(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taken[i] = envelope_take(&pool);
        ck_assert_ptr_nonnull(taken[i]);
        ck_assert_uint_eq((uintptr_t)taken[i] % sizeof *taken[i], 0);
        ck_assert_uint_eq(taken[i]->home, 0);
        taken[i]->block_class = ENVELOPE_NO_BLOCK;
        taken[i]->sender = i;
        memset(taken[i]->payload.bytes, (int)i, sizeof taken[i]->payload.bytes);
    }
}

/* Each is still what it was made: no two are the same. */
static void give(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(taken[i]->sender, i);
        envelope_give(&pool, taken[i]);
    }
}

TEST(nobody_waits_for_all_of_a_new_slab, "P-04")
{
    begin();
    size_t fresh_before = 0;
    size_t made_before = 0;
    for (size_t i = 0; i < MANY; i++) {
        taken[i] = envelope_take(&pool);
        ck_assert_ptr_nonnull(taken[i]);
        /* What was new, of a slab that this one has begun too, and is not any more. */
        size_t fresh = (size_t)(pool.fresh_end - pool.fresh);
        ck_assert_uint_le(fresh_before + pool.made - made_before - fresh, FEW);
        fresh_before = fresh;
        made_before = pool.made;
    }
    for (size_t i = 0; i < MANY; i++) {
        taken[i]->block_class = ENVELOPE_NO_BLOCK;
        envelope_give(&pool, taken[i]);
    }
    end();
}

TEST(all_are_different_and_come_back, "P-04")
{
    begin();
    take(MANY);
    give(MANY);
    size_t made = pool.made;
    take(MANY);
    ck_assert_uint_eq(pool.made, made);
    give(MANY);
    end();
}

TEST(a_trim_knows_those_that_were_never_used, "P-04")
{
    begin();
    /* One more than there are in all slabs: the last slab is new but for its first envelopes. */
    take(4 * RESERVE);
    size_t count = pool.made + 1;
    give(4 * RESERVE);
    ck_assert_uint_lt(count, MANY);
    take(count);
    ck_assert_int_gt(pool.fresh_end - pool.fresh, FEW);
    give(count - 1);
    ck_assert(tr__envelope_pool_trim(&pool)); /* but for the slab of the last one */
    ck_assert_int_gt(pool.fresh_end - pool.fresh, FEW);
    envelope_give(&pool, taken[count - 1]);
    ck_assert(tr__envelope_pool_trim(&pool));
    ck_assert_uint_le(pool.made, RESERVE);
    ck_assert_ptr_eq(pool.fresh, pool.fresh_end);
    take(count);
    give(count);
    end();
}

SUITE("mem envelope", nobody_waits_for_all_of_a_new_slab, all_are_different_and_come_back,
      a_trim_knows_those_that_were_never_used)
