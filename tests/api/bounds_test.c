/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bounded mailboxes: each policy, by messages and by memory, for senders near, far and outside.
 */
#include "support/boxes.h"

enum { SEEDS = 10, BOUND = 10 };

BOX(fail, .mailbox_max = BOUND);
BOX(newest, .mailbox_max = BOUND, .overflow = TR_DROP_NEWEST);
BOX(oldest, .mailbox_max = BOUND, .overflow = TR_DROP_OLDEST);
BOX(single, .mailbox_max = 1);
BOX(fail_bytes, .mailbox_bytes_max = 64 * BOUND);
BOX(newest_bytes, .mailbox_bytes_max = 64 * BOUND, .overflow = TR_DROP_NEWEST);
BOX(oldest_bytes, .mailbox_bytes_max = 64 * BOUND, .overflow = TR_DROP_OLDEST);
BOX(wide, .mailbox_max = 4096);
BOX(wide_bytes, .mailbox_bytes_max = 4096 * 64);
BOX(plain, .ordering = TR_BY_ARRIVAL);
BOX(both, .mailbox_max = 3, .mailbox_bytes_max = 640);

/* Each kind of sender in turn, over several schedules. */
#define EACH_SENDER(from, seed)                                                                    \
    for (enum from from = FROM_NEAR; from < FROM_COUNT; from++)                                    \
        for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++)

static void expect(struct gain wanted)
{
    struct gain got = gain();
    ck_assert_uint_eq(got.accepted, wanted.accepted);
    ck_assert_uint_eq(got.refused, wanted.refused);
    ck_assert_uint_eq(got.dead, wanted.dead);
    ck_assert_uint_eq(got.handled, wanted.handled);
}

/* A near or far burst is itself a message, to the pusher. */
static uint64_t runs(enum from from)
{
    return from != FROM_CLIENT;
}

TEST(a_full_mailbox_refuses_and_tells_the_sender, "M-02", "M-03", "MB-01")
{
    EACH_SENDER(from, seed)
    {
        tr_ref box = box_open(seed, &tr_behavior_fail);
        burst(from, box, 0, 100, NULL);
        ck_assert_uint_eq(burst_taken, BOUND);
        ck_assert_uint_eq(burst_full, 100 - BOUND);
        BOXED(0, BOUND);
        expect((struct gain){BOUND + runs(from), 100 - BOUND, 0, BOUND + runs(from)});
        ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 100 - BOUND);
        /* All of the room has come back, and no more. */
        burst(from, box, 200, 100, NULL);
        ck_assert_uint_eq(burst_taken, BOUND);
        BOXED(200, BOUND);
        kit_close();
    }
}

TEST(drop_newest_takes_the_oldest_and_says_ok, "M-02", "MB-01")
{
    EACH_SENDER(from, seed)
    {
        tr_ref box = box_open(seed, &tr_behavior_newest);
        for (uint32_t round = 0; round < 3; round++) {
            burst(from, box, round * 100, 100, NULL);
            ck_assert_uint_eq(burst_taken, 100);
            BOXED(round * 100, BOUND);
            expect((struct gain){100 + runs(from), 0, 100 - BOUND, BOUND + runs(from)});
            ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), (round + 1) * (100 - BOUND));
        }
        kit_close();
    }
}

TEST(drop_oldest_keeps_exactly_the_newest_in_order, "M-02", "MB-01")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
        tr_ref box = box_open(seed, &tr_behavior_oldest);
        for (uint32_t round = 0; round < 3; round++) {
            burst(FROM_NEAR, box, round * 100, 100, NULL);
            ck_assert_uint_eq(burst_taken, 100);
            BOXED(round * 100 + 100 - BOUND, BOUND);
            expect((struct gain){101, 0, 100 - BOUND, BOUND + 1});
            ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), (round + 1) * (100 - BOUND));
        }
        kit_close();
    }
}

TEST(from_elsewhere_the_newest_are_taken_too, "M-02", "MB-01")
{
    for (enum from from = FROM_FAR; from <= FROM_CLIENT; from++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
            tr_ref box = box_open(seed, &tr_behavior_oldest);
            for (uint32_t round = 0; round < 3; round++) {
                burst(from, box, round * 100, 100, NULL);
                ck_assert_uint_eq(burst_taken, 100);
                BOXED(round * 100 + 100 - BOUND, BOUND);
                expect((struct gain){100 + runs(from), 0, 100 - BOUND, BOUND + runs(from)});
            }
            kit_close();
        }
    }
}

/* What is on its way is memory that nobody has looked at, and so it is bounded as well. */
TEST(from_elsewhere_no_more_are_on_their_way_than_the_overdraft, "M-02", "MB-01")
{
    for (enum from from = FROM_FAR; from <= FROM_CLIENT; from++) {
        tr_ref box = box_open(1, &tr_behavior_oldest);
        burst(from, box, 0, BOUND + TR_OVERDRAFT_MAX + 5, NULL);
        ck_assert_uint_eq(burst_taken, BOUND + TR_OVERDRAFT_MAX);
        ck_assert_uint_eq(burst_full, 5);
        BOXED(TR_OVERDRAFT_MAX, BOUND);
        expect((struct gain){
            BOUND + TR_OVERDRAFT_MAX + runs(from), 5, TR_OVERDRAFT_MAX, BOUND + runs(from)});
        kit_close();
    }
}

TEST(mail_to_an_actor_that_is_not_set_up_yet_is_bounded_too, "M-02", "MB-01")
{
    static const struct {
        const tr_behavior *behavior;
        uint32_t taken;
        uint32_t first;
    } rows[] = {{&tr_behavior_fail, BOUND, 0},
                {&tr_behavior_newest, 100, 0},
                {&tr_behavior_oldest, 100, 100 - BOUND}};
    for (size_t row = 0; row < 3; row++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
            kit_open(3, seed);
            boxed_count = 0;
            burst(FROM_CLIENT, box_new(rows[row].behavior), 0, 100, NULL);
            ck_assert_uint_eq(burst_taken, rows[row].taken);
            BOXED(rows[row].first, BOUND);
            kit_close();
        }
    }
}

/* ---- Memory. ---- */

static const enum size mixed[] = {PAGE, ITEM, PAGE, PAGE, ITEM, ITEM, BOOK, ITEM};
enum { MIXED = sizeof mixed / sizeof mixed[0] };

/* 3 + 1 + 3 are 7; another page makes 10; everything behind it is too much. */
TEST(memory_is_bounded_as_well, "M-02", "MB-02")
{
    EACH_SENDER(from, seed)
    {
        tr_ref box = box_open(seed, &tr_behavior_fail_bytes);
        burst(from, box, 0, MIXED, mixed);
        ck_assert_uint_eq(burst_taken, 4);
        BOXED(0, 4);
        box_hold(box);
        burst(from, box, 0, 3, mixed);
        ck_assert_uint_eq(burst_taken, 3);
        /* A smaller one may still pass where a large one does not. */
        burst(from, box, 3, 2, (const enum size[]){BOOK, PAGE});
        ck_assert_uint_eq(burst_taken, 1);
        burst(from, box, 5, 1, NULL);
        ck_assert_uint_eq(burst_full, 1);
        boxed_count = 0;
        box_let_go(box);
        ck_assert_uint_eq(boxed_count, 4);
        ck_assert_uint_eq(boxed[3], 4);
        kit_close();
    }
}

TEST(a_message_as_large_as_the_mailbox_passes_when_it_is_empty, "M-02", "MB-02")
{
    EACH_SENDER(from, seed)
    {
        tr_ref box = box_open(seed, &tr_behavior_fail_bytes);
        for (uint32_t i = 0; i < 3; i++) {
            burst(from, box, i, 2, (const enum size[]){BOOK, ITEM});
            ck_assert_uint_eq(burst_taken, 1);
            BOXED(i, 1);
            burst(from, box, i, 2, (const enum size[]){ITEM, BOOK});
            ck_assert_uint_eq(burst_taken, 1);
            BOXED(i, 1);
        }
        kit_close();
    }
}

TEST(both_bounds_hold_at_once, "M-02", "MB-02")
{
    EACH_SENDER(from, seed)
    {
        tr_ref box = box_open(seed, &tr_behavior_both);
        burst(from, box, 0, 5, NULL);
        ck_assert_uint_eq(burst_taken, 3);
        BOXED(0, 3);
        burst(from, box, 0, 4, (const enum size[]){PAGE, PAGE, PAGE, ITEM});
        ck_assert_uint_eq(burst_taken, 3);
        BOXED(0, 3);
        burst(from, box, 0, 2, (const enum size[]){BOOK, ITEM});
        ck_assert_uint_eq(burst_taken, 1);
        BOXED(0, 1);
        kit_close();
    }
}

TEST(drop_newest_by_memory, "M-02", "MB-01", "MB-02")
{
    EACH_SENDER(from, seed)
    {
        tr_ref box = box_open(seed, &tr_behavior_newest_bytes);
        burst(from, box, 0, MIXED, mixed);
        ck_assert_uint_eq(burst_taken, MIXED);
        BOXED(0, 4);
        expect((struct gain){MIXED + runs(from), 0, MIXED - 4, 4 + runs(from)});
        kit_close();
    }
}

/* A large message drives out as many of the oldest as it needs, and not one more. */
TEST(drop_oldest_by_memory, "M-02", "MB-01", "MB-02")
{
    static const enum size sizes[] = {ITEM, ITEM, PAGE, PAGE, ITEM, ITEM, PAGE};
    for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
        for (enum from from = FROM_NEAR; from < FROM_COUNT; from++) {
            tr_ref box = box_open(seed, &tr_behavior_oldest_bytes);
            /* 1 1 3 3 1 1 are 10; the last 3 needs the first three gone: 3 1 1 3 are 8. */
            burst(from, box, 0, 7, sizes);
            ck_assert_uint_eq(burst_taken, 7);
            BOXED(3, 4);
            kit_close();
        }
    }
}

BOX(narrow_bytes, .mailbox_bytes_max = 64 * 9, .overflow = TR_DROP_OLDEST);

TEST(one_that_is_larger_than_the_mailbox_drives_nobody_out, "M-02", "MB-02")
{
    static const enum size sizes[] = {ITEM, PAGE, BOOK, PAGE};
    EACH_SENDER(from, seed)
    {
        tr_ref box = box_open(seed, &tr_behavior_narrow_bytes);
        burst(from, box, 0, 4, sizes);
        tr_kit_settle(kit);
        ck_assert_uint_eq(boxed_count, 3);
        ck_assert_uint_eq(boxed[0], 0);
        ck_assert_uint_eq(boxed[1], 1);
        ck_assert_uint_eq(boxed[2], 3);
        /* Near it is refused; elsewhere that is known when it has arrived. */
        struct gain got = gain();
        ck_assert_uint_eq(got.refused + got.dead, 1);
        ck_assert_uint_eq(got.refused, from == FROM_NEAR);
        ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), 1);
        kit_close();
    }
}

/* ---- Wide mailboxes, of which a little is reserved for near senders. ---- */

TEST(a_wide_mailbox_is_full_at_its_bound_and_at_most_256_early, "M-02", "MB-01")
{
    EACH_SENDER(from, seed)
    {
        tr_ref box = box_open(seed, &tr_behavior_wide);
        for (uint32_t round = 0; round < 3; round++) {
            burst(from, box, 0, 5000, NULL);
            ck_assert_uint_le(burst_taken, 4096);
            ck_assert_uint_ge(burst_taken, from == FROM_NEAR ? 4096 : 4096 - 256);
            BOXED(0, burst_taken);
        }
        kit_close();
    }
}

static const enum size cycle[] = {PAGE, ITEM, BOOK, ITEM};

TEST(a_wide_mailbox_by_memory_too, "M-02", "MB-02")
{
    static enum size sizes[5000];
    for (int i = 0; i < 5000; i++)
        sizes[i] = cycle[i % 4];
    EACH_SENDER(from, seed)
    {
        tr_ref box = box_open(seed, &tr_behavior_wide_bytes);
        for (uint32_t round = 0; round < 3; round++) {
            box_hold(box);
            /* The first that does not fit is not the last one that fits: items fill the gap. */
            burst(from, box, 0, 5000, sizes);
            uint32_t first = burst_taken;
            burst(from, box, 0, 20, NULL);
            ck_assert_uint_gt(first, 0);
            box_let_go(box);
            uint32_t lines = 0;
            ck_assert_uint_eq(boxed_count, first + burst_taken);
            for (size_t i = 0; i < first; i++)
                lines += size_lines[sizes[boxed[i]]];
            lines += burst_taken;
            ck_assert_uint_le(lines, 4096);
            ck_assert_uint_ge(lines, from == FROM_NEAR ? 4096 : 4096 - 256);
            boxed_count = 0;
        }
        kit_close();
    }
}

static char data[100000];
static tr_ref blob_to;
static uint32_t blob_taken;
static tr_next blob_turn(tr_self *self)
{
    blob_taken = 0;
    for (uint32_t i = 0; i < 40; i++)
        blob_taken += tr_tell(self, blob_to, blob, .n = i, .data = {data, sizeof data}) == TR_OK;
    return TR_SAME;
}

/* More than 64 lines go around what is reserved; 4,096 lines hold two such blobs. */
TEST(large_messages_go_around_the_stock, "M-02", "MB-02")
{
    for (int worker = 0; worker < 3; worker += 2) {
        blob_to = box_open(1, &tr_behavior_wide_bytes);
        for (int round = 0; round < 5; round++) {
            turn_at(worker, blob_turn);
            tr_kit_check(kit);
            ck_assert_uint_eq(blob_taken, 2);
            BOXED(0, 2);
            burst(FROM_NEAR, blob_to, 0, 300, NULL);
            ck_assert_uint_eq(burst_taken, 300);
            BOXED(0, 300);
        }
        kit_close();
    }
}

TEST(the_default_is_64_mebibytes, "M-02", "MB-02")
{
    enum { TOLD = 700 };
    tr_ref box = box_open(1, &tr_behavior_plain);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < TOLD; i++)
        taken += tr_tell(test, box, blob, .n = i, .data = {data, sizeof data}) == TR_OK;
    uint32_t lines = 1 + (24 + sizeof data + 63) / 64;
    ck_assert_uint_eq(taken, 1024 * 1024 / lines);
    BOXED(0, taken);
    kit_close();
}

TEST(the_default_is_a_mebi_of_messages, "M-02", "MB-01")
{
    tr_ref box = box_open(1, &tr_behavior_plain);
    uint32_t taken = 0;
    box_hold(box);
    while (tr_tell(test, box, item, .n = taken) == TR_OK)
        taken++;
    ck_assert_uint_eq(taken, TR_MAILBOX_MAX);
    tr_kit_check(kit);
    ck_assert_int_eq(tr_kill(test, box), TR_OK);
    tr_kit_settle(kit);
    kit_close();
}

/* ---- Options. ---- */

BOX(too_many, .mailbox_max = TR_MAILBOX_LARGEST + 1);
BOX(too_much, .mailbox_bytes_max = (size_t)TR_MAILBOX_BYTES_LARGEST + 1);
BOX(largest, .mailbox_max = TR_MAILBOX_LARGEST, .mailbox_bytes_max = TR_MAILBOX_BYTES_LARGEST);
BOX(nonsense, .overflow = (tr_overflow)(TR_PARK + 1));

static tr_status spawn_status(const tr_behavior *behavior)
{
    const tr_spawn_args args = {.size = sizeof args, .behavior = behavior, .worker = -1};
    uint64_t bits;
    return tr_client_try_spawn(test, &args, &bits);
}

TEST(a_spawn_with_too_large_bounds_is_refused, "M-02")
{
    kit_open(1, 1);
    ck_assert_int_eq(spawn_status(&tr_behavior_too_many), TR_LIMIT);
    ck_assert_int_eq(spawn_status(&tr_behavior_too_much), TR_LIMIT);
    ck_assert_int_eq(spawn_status(&tr_behavior_largest), TR_OK);
    ck_assert_int_eq(spawn_status(&tr_behavior_nonsense), TR_INVALID_ARGUMENT);
    tr_error error = {0};
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_too_many, .worker = -1, .error = &error};
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.text, "too_many"));
    tr_kit_settle(kit);
    kit_close();
}

/* ---- A bound of one. ---- */

static tr_ref self_box;
static tr_next to_oneself(tr_self *self)
{
    /* The message of this turn has left the mailbox: there is capacity for one. */
    ck_assert_int_eq(tr_tell(self, self_box, item, .n = 1), TR_OK);
    ck_assert_int_eq(tr_tell(self, self_box, item, .n = 2), TR_MAILBOX_FULL);
    return TR_SAME;
}

TEST(the_message_in_hand_takes_no_room, "M-02", "MB-01")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
        self_box = box_open(seed, &tr_behavior_single);
        for (int i = 0; i < 5; i++) {
            ck_assert_int_eq(TELL_RUN(test, self_box, to_oneself), TR_OK);
            ck_assert_int_eq(TELL_RUN(test, self_box, to_oneself), TR_MAILBOX_FULL);
            BOXED(1, 1);
        }
        kit_close();
    }
}

SUITE("bounds", a_full_mailbox_refuses_and_tells_the_sender,
      drop_newest_takes_the_oldest_and_says_ok, drop_oldest_keeps_exactly_the_newest_in_order,
      from_elsewhere_the_newest_are_taken_too,
      from_elsewhere_no_more_are_on_their_way_than_the_overdraft,
      mail_to_an_actor_that_is_not_set_up_yet_is_bounded_too, memory_is_bounded_as_well,
      a_message_as_large_as_the_mailbox_passes_when_it_is_empty, both_bounds_hold_at_once,
      drop_newest_by_memory, drop_oldest_by_memory,
      one_that_is_larger_than_the_mailbox_drives_nobody_out,
      a_wide_mailbox_is_full_at_its_bound_and_at_most_256_early, a_wide_mailbox_by_memory_too,
      large_messages_go_around_the_stock, the_default_is_64_mebibytes,
      the_default_is_a_mebi_of_messages, a_spawn_with_too_large_bounds_is_refused,
      the_message_in_hand_takes_no_room)
