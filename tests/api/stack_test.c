/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors with stacks of their own size: what they call has that much stack, whatever the turn does
 * (return, wait, fail, stop), and other actors are as before. fault_name_test.c is about overflows.
 */
#include "support/kits.h"

enum {
    KIB = 1024,
    LARGE = 1024 * KIB, /* more than TR_STACK_SIZE, also in builds in which stacks are larger */
};

TR_MESSAGE(answer, (u32, n));
TR_REQUEST(question, answer, (u32, n));
TR_MESSAGE(gorge, (u32, n));
TR_MESSAGE(chew, (u32, n));
TR_MESSAGE(choke, (u32, n));
TR_MESSAGE(choke_late, (u32, n));
TR_MESSAGE(change);
TR_MESSAGE(leave);
TR_ACTOR(giant, gorge, chew, choke, choke_late, change, leave);
TR_ACTOR(dwarf, question);

static dwarf_ref dwarf;

/* Fills most of a large stack, calls `between`, and looks whether all of it is still there. */
__attribute__((__noinline__)) static uint32_t fill(tr_self *self, uint32_t n,
                                                   uint32_t (*between)(tr_self *, uint32_t))
{
    volatile unsigned char local[LARGE - 64 * KIB];
    for (size_t i = 0; i < sizeof local; i += KIB)
        local[i] = (unsigned char)n;
    uint32_t more = between ? between(self, n) : 0;
    for (size_t i = 0; i < sizeof local; i += KIB)
        ck_assert_uint_eq(local[i], (unsigned char)n);
    return n + more;
}

static uint32_t ask(tr_self *self, uint32_t n)
{
    return tr_await(self, tr_ask(self, dwarf, question, .n = n))->n;
}

static uint32_t give_up(tr_self *self, uint32_t n)
{
    tr_crash(self, TR_BAD_DATA, "choked on %u", (unsigned)n);
}

static uint32_t ask_and_fail(tr_self *self, uint32_t n)
{
    return give_up(self, ask(self, n));
}

static tr_next on_gorge(tr_self *self, const struct gorge *message)
{
    say("gorged %u", (unsigned)fill(self, message->n, NULL));
    return TR_SAME;
}

static tr_next on_chew(tr_self *self, const struct chew *message)
{
    say("chewed %u", (unsigned)fill(self, message->n, ask));
    return TR_SAME;
}

static tr_next on_choke(tr_self *self, const struct choke *message)
{
    fill(self, message->n, give_up);
    return TR_SAME;
}

static tr_next on_choke_late(tr_self *self, const struct choke_late *message)
{
    fill(self, message->n, ask_and_fail);
    return TR_SAME;
}

static tr_next on_leave(tr_self *self)
{
    fill(self, 1, NULL);
    return TR_STOP;
}

static tr_next on_start(tr_self *self)
{
    say("started %u", (unsigned)fill(self, 1, NULL));
    return TR_SAME;
}

static tr_next on_end(tr_self *self)
{
    say("ended %u", (unsigned)fill(self, 2, NULL));
    return TR_SAME;
}

TR_BEHAVIOR(later_giant, void, TR_ON(gorge, on_gorge), TR_ON(tr_post_stop, on_end));

static tr_next on_change(tr_self *self)
{
    return tr_become(self, later_giant);
}

#define ROWS                                                                                       \
    TR_ON(gorge, on_gorge), TR_ON(chew, on_chew), TR_ON(choke, on_choke),                          \
        TR_ON(choke_late, on_choke_late), TR_ON(change, on_change), TR_ON(leave, on_leave)
TR_BEHAVIOR(giant, void, ROWS, TR_ON(tr_pre_start, on_start), TR_ON(tr_post_stop, on_end),
            TR_ON(tr_pre_restart, on_end), TR_OPTIONS(.stack_bytes = LARGE));
TR_BEHAVIOR(quiet, void, ROWS, TR_OPTIONS(.stack_bytes = LARGE - 1));
TR_BEHAVIOR(largest, void, ROWS, TR_OPTIONS(.stack_bytes = TR_STACK_LARGEST));
TR_BEHAVIOR(too_large, void, ROWS, TR_OPTIONS(.stack_bytes = (size_t)TR_STACK_LARGEST + 1));
TR_BEHAVIOR(too_small, void, ROWS, TR_OPTIONS(.stack_bytes = TR_STACK_SIZE - 1));

static tr_next on_question(tr_self *self, const struct question *message)
{
    tr_reply(self, answer, .n = message->n * 10);
    return TR_SAME;
}
TR_BEHAVIOR(dwarf, void, TR_ON(question, on_question));

static giant_ref giant_spawn(void)
{
    giant_ref giant;
    ck_assert_int_eq(tr_try_spawn(test, &dwarf, dwarf, "dwarf"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &giant, home, giant, "giant"), TR_OK);
    tr_kit_settle(kit);
    SAID("started 1");
    return giant;
}

static void play_all(void)
{
    giant_ref giant = giant_spawn();
    tr_tell(test, giant, gorge, .n = 3);
    tr_tell(test, giant, chew, .n = 1);
    tr_tell(test, giant, chew, .n = 2);
    tr_tell(test, giant, gorge, .n = 4);
    tr_kit_settle(kit);
    const char *text = said();
    ck_assert_ptr_nonnull(strstr(text, "gorged 3"));
    ck_assert_ptr_nonnull(strstr(text, "gorged 4"));
    ck_assert_ptr_nonnull(strstr(text, "chewed 11"));
    ck_assert_ptr_nonnull(strstr(text, "chewed 22"));
    tr_tell(test, giant, leave);
    tr_kit_settle(kit);
    SAID("ended 2");
}

TEST(handlers_and_signals_of_an_actor_have_the_stack_of_its_options, "B-03")
{
    kits_each_anywhere(play_all);
}

static void play_failures(void)
{
    giant_ref giant = giant_spawn();
    tr_tell(test, giant, choke, .n = 1);
    tr_kit_settle(kit);
    SAID("ended 2; started 1");
    tr_tell(test, giant, chew, .n = 5); /* waits, and is cancelled by the failure */
    tr_tell(test, giant, choke_late, .n = 1);
    tr_kit_settle(kit);
    const char *text = said();
    ck_assert_ptr_nonnull(strstr(text, "ended 2; started 1"));
    tr_tell(test, giant, gorge, .n = 7);
    tr_kit_settle(kit);
    SAID("gorged 7");
}

TEST(an_actor_that_fails_on_a_large_stack_starts_again_with_one, "B-03", "S-04")
{
    kits_each(play_failures);
}

static void play_change(void)
{
    giant_ref giant = giant_spawn();
    tr_tell(test, giant, change);
    tr_tell(test, giant, gorge, .n = 9);
    tr_kit_settle(kit);
    SAID("gorged 9");
}

TEST(the_stack_stays_when_the_behavior_changes, "B-03")
{
    kits_each(play_change);
}

static tr_status spawn_as(const tr_behavior *behavior)
{
    const tr_spawn_args args = {.size = sizeof args, .behavior = behavior, .worker = -1};
    uint64_t bits;
    return tr_client_try_spawn(test, &args, &bits);
}

TEST(sizes_that_are_out_of_range_are_refused, "B-03", "U-02")
{
    kit_open(1, 1);
    ck_assert_int_eq(spawn_as(&tr_behavior_too_small), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(spawn_as(&tr_behavior_too_large), TR_LIMIT);
    ck_assert_int_eq(spawn_as(&tr_behavior_largest), TR_OK);
    kit_close();
}

/* Each allocation of a spawn and of the first turns fails once: the spawn or the wait says so, and nothing is lost. */
TEST(without_memory_for_a_stack_the_spawn_fails, "B-03", "U-03")
{
    bool has_failed = false;
    for (uint64_t nth = 1; nth <= 20; nth++) {
        kit_open(1, 1);
        tr_kit_fail_allocation(kit, nth, false);
        tr_status status = spawn_as(&tr_behavior_quiet);
        tr_kit_settle(kit);
        tr_kit_fail_allocation(kit, 0, false);
        ck_assert(status == TR_OK || status == TR_NO_MEMORY);
        has_failed |= status == TR_NO_MEMORY;
        giant_ref giant = giant_spawn();
        tr_tell(test, giant, chew, .n = 1);
        tr_kit_settle(kit);
        SAID("chewed 11");
        kit_close();
    }
    ck_assert(has_failed);
}

/* Many turns wait at the same time, each on a stack of its own; afterwards the stacks are used again. */
TEST(many_turns_wait_on_large_stacks, "B-03")
{
    kit_open(1, 1);
    giant_ref giant = giant_spawn();
    enum { TURNS = 40 };
    for (int round = 0; round < 3; round++) {
        for (uint32_t n = 0; n < TURNS; n++)
            tr_tell(test, giant, chew, .n = n % 5);
        tr_kit_settle(kit);
        size_t count = 0;
        for (const char *at = said(); (at = strstr(at, "chewed ")); at++)
            count++;
        ck_assert_uint_eq(count, TURNS);
    }
    kit_close();
}

SUITE("stacks of actors", handlers_and_signals_of_an_actor_have_the_stack_of_its_options,
      an_actor_that_fails_on_a_large_stack_starts_again_with_one,
      the_stack_stays_when_the_behavior_changes, sizes_that_are_out_of_range_are_refused,
      without_memory_for_a_stack_the_spawn_fails, many_turns_wait_on_large_stacks)
