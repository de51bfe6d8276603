/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Envelopes that go home with a message in them, instead of empty.
 */
#include "support/test.h"

#include "mem/envelope.h"
#include "support/fake_memory.h"

enum { SOME_KIND = 3 }; /* pools do not look at it */

TR_MESSAGE(small, (u64, n));
TR_MESSAGE(large, (array(u64, 20), words));

static struct fake_memory memory;
static struct envelope_pool here;
static struct envelope_pool there;
static struct envelope_pool *pools[2] = {&here, &there};

static void begin(void)
{
    struct memory_source source = fake_memory_init(&memory);
    ck_assert_int_eq(tr__envelope_pool_init(&here, &source, 0, 2, pools, 0), TR_OK);
    ck_assert_int_eq(tr__envelope_pool_init(&there, &source, 1, 2, pools, 0), TR_OK);
}

static void end(void)
{
    tr__envelope_pool_deinit(&here);
    tr__envelope_pool_deinit(&there);
    ck_assert_uint_eq(memory.blocks, 0);
}

static struct envelope *letter(struct envelope_pool *pool, uint64_t n)
{
    struct envelope *envelope = envelope_take(pool);
    ck_assert_ptr_nonnull(envelope);
    ck_assert_int_eq(
        envelope_fill(pool, envelope, &tr_type_small, &(struct small){n}, ENVELOPE_INLINE), TR_OK);
    envelope->kind = SOME_KIND;
    envelope->sender = 3;
    envelope->causal = 4;
    envelope->generation = 5;
    return envelope;
}

static struct envelope *parcel(struct envelope_pool *pool)
{
    struct envelope *envelope = envelope_take(pool);
    ck_assert_ptr_nonnull(envelope);
    ck_assert_int_eq(
        envelope_fill(pool, envelope, &tr_type_large, &(struct large){{1}}, ENVELOPE_INLINE),
        TR_OK);
    return envelope;
}

TEST(an_answer_goes_in_an_envelope_of_where_it_goes, "P-04")
{
    begin();
    struct envelope *first = letter(&there, 1);
    struct envelope *second = letter(&there, 2);
    envelope_give(&here, first);
    envelope_give(&here, second);
    struct envelope *mine[2] = {letter(&here, 7), letter(&here, 8)};
    struct envelope *sent = envelope_swap(&here, mine[0], 1);
    ck_assert_ptr_eq(sent, second);
    ck_assert_uint_eq(sent->home, 1);
    ck_assert_ptr_eq(sent->type, &tr_type_small);
    ck_assert_uint_eq(((struct small *)envelope_data(sent))->n, 7);
    ck_assert_uint_eq(sent->sender, 3);
    ck_assert_uint_eq(sent->causal, 4);
    ck_assert_uint_eq(sent->generation, 5);
    ck_assert_uint_eq(sent->kind, SOME_KIND);
    envelope_give(&here, mine[0]);
    ck_assert_ptr_eq(envelope_swap(&here, mine[1], 1), first);
    envelope_give(&here, first); /* that one was refused, and waits again */
    ck_assert_ptr_eq(envelope_swap(&here, mine[1], 1), first);
    envelope_give(&here, mine[1]);
    /* They are at home: nothing is left to be sent there. */
    envelope_give(&there, sent);
    envelope_give(&there, first);
    tr__envelope_flush(&here);
    ck_assert(stack_is_empty(&there.returned));
    end();
}

TEST(without_one_it_goes_in_its_own, "P-04")
{
    begin();
    struct envelope *mine = letter(&here, 7);
    ck_assert_ptr_eq(envelope_swap(&here, mine, 1), mine);
    envelope_give(&here, mine);
    end();
}

TEST(blocks_and_what_belongs_elsewhere_stay_in_theirs, "P-04")
{
    begin();
    struct envelope *mine = letter(&here, 7);
    struct envelope *block = parcel(&here);
    struct envelope *guest = letter(&there, 9);
    envelope_give(&here, letter(&there, 1));
    ck_assert_ptr_eq(envelope_swap(&here, block, 1), block);
    ck_assert_ptr_eq(envelope_swap(&here, guest, 1), guest);
    /* One whose block goes home with it is not free. */
    envelope_give(&here, parcel(&there));
    ck_assert_ptr_eq(envelope_swap(&here, mine, 1), mine);
    envelope_give(&here, mine);
    envelope_give(&here, block);
    envelope_give(&here, guest);
    tr__envelope_flush(&here);
    ck_assert(!stack_is_empty(&there.returned));
    (void)tr__envelope_pool_trim(&there);
    end();
}

SUITE("mem envelopes on their way home", an_answer_goes_in_an_envelope_of_where_it_goes,
      without_one_it_goes_in_its_own, blocks_and_what_belongs_elsewhere_stay_in_theirs)
