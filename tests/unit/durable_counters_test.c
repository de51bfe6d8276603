/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The counters of the sleep machine: both predicates over all sets of them, and who holds them.
 */
#include "support/sleepers.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* The contract, written out by hand: the order of the reasons, and what finalize waits for. */
static const enum sleep_counter idle_reasons[] = {
    COUNTER_NOT_READY,
    COUNTER_NO_SLEEP,
    COUNTER_REQUESTS,
    COUNTER_MAIL,
    COUNTER_LATERS,
    COUNTER_STASH,
    COUNTER_KEEP_AWAKE,
    COUNTER_INTERNAL,
    COUNTER_RUN,
    COUNTER_DISCONNECTS,
    COUNTER_CONNECTIONS,
    COUNTER_SOCKETS,
};
static const enum sleep_counter finalize_waits_for[] = {
    COUNTER_HOOKS,
    COUNTER_TASKS,
    COUNTER_KEEP_AWAKE,
    COUNTER_INTERNAL,
    COUNTER_REQUESTS,
    COUNTER_LATERS,
    COUNTER_SOCKETS,
    COUNTER_DISCONNECTS,
};
static const enum sleep_counter sleep_waits_also_for[] = {
    COUNTER_RUN, COUNTER_RUN_WAITS, COUNTER_MAIL, COUNTER_STASH};

static bool has(uint32_t set, enum sleep_counter counter)
{
    return set >> counter & 1;
}

static enum sleep_counter idle_by_hand(uint32_t set)
{
    for (size_t i = 0; i < COUNT_OF(idle_reasons); i++)
        if (has(set, idle_reasons[i]))
            return idle_reasons[i];
    return COUNTER_NONE;
}

static bool destroy_by_hand(uint32_t set)
{
    for (size_t i = 0; i < COUNT_OF(finalize_waits_for); i++)
        if (has(set, finalize_waits_for[i]))
            return false;
    return true;
}

static bool sleep_by_hand(uint32_t set)
{
    for (size_t i = 0; i < COUNT_OF(sleep_waits_also_for); i++)
        if (has(set, sleep_waits_also_for[i]))
            return false;
    return destroy_by_hand(set);
}

TEST(both_predicates_are_those_of_the_contract_for_every_set, "Z-04", "Z-05", "SL-01")
{
    struct sleep_options options = {0};
    for (uint32_t set = 0; set < 1U << COUNTER_COUNT; set++) {
        struct sleep_machine machine;
        struct wake_lock wake_locks[COUNTER_COUNT] = {0};
        tr__sleep_init(&machine, &options, 0);
        ck_assert_int_eq(tr__sleep_started(&machine, 0), TR_OK);
        for (int i = 0; i < COUNTER_COUNT; i++)
            if (has(set, (enum sleep_counter)i))
                ck_assert_int_eq(
                    tr__sleep_raise(&machine, &wake_locks[i], (enum sleep_counter)i, 0), TR_OK);
        ck_assert_uint_eq(machine.wake_locks.raised, set);
        ck_assert_int_eq(tr__sleep_can_arm(&machine), idle_by_hand(set));
        ck_assert_int_eq(tr__sleep_can_finalize(&machine, SLEEP_REASON_SLEEP), sleep_by_hand(set));
        ck_assert_int_eq(tr__sleep_can_finalize(&machine, SLEEP_REASON_DESTROY),
                         destroy_by_hand(set));
        /* The machine does what the predicate says. */
        struct sleep_action action;
        bool arms = tr__sleep_next(&machine, 0, &action);
        ck_assert_int_eq(arms, idle_by_hand(set) == COUNTER_NONE);
        if (arms)
            ck_assert_int_eq(action.step, STEP_ARM_IDLE);
    }
}

TEST(every_counter_blocks_until_its_last_wake_lock_drops, "SL-01")
{
    for (int i = 0; i < COUNTER_COUNT; i++) {
        struct sleeper sleeper;
        enum sleep_counter counter = (enum sleep_counter)i;
        bool blocks = has(counters_block_idle, counter);
        sleeper_init(&sleeper, (struct sleep_options){0});
        sleeper_start(&sleeper);
        sleeper_raise(&sleeper, 0, counter);
        sleeper_raise(&sleeper, 1, counter);
        SLEEPER_EXPECT(&sleeper, blocks ? "CLEAR_IDLE" : "");
        sleeper.now += TR_SECOND;
        sleeper_drop(&sleeper, 0);
        SLEEPER_EXPECT(&sleeper, "");
        sleeper_drop(&sleeper, 0);
        SLEEPER_EXPECT(&sleeper, "");
        sleeper_drop(&sleeper, 1);
        SLEEPER_EXPECT(&sleeper, blocks ? "ARM_IDLE" : "");
        if (blocks)
            ck_assert_int_eq(sleeper.last.at, sleeper.now + SLEEP_IDLE_NS);
    }
}

TEST(wait_until_lets_the_actor_fall_asleep_and_holds_the_finalize, "SL-03")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_raise(&sleeper, 0, COUNTER_TASKS);
    ck_assert_int_eq(tr__sleep_started(&sleeper.machine, sleeper.now), TR_OK);
    SLEEPER_EXPECT(&sleeper, "ARM_IDLE");
    sleeper_fire(&sleeper);
    SLEEPER_EXPECT(&sleeper, "SEND_SLEEP");
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    SLEEPER_EXPECT(&sleeper, ENTER_SLEEP);
    sleeper_drop(&sleeper, 0);
    SLEEPER_EXPECT(&sleeper, "ARM_CAP SERIALIZE");
}

TEST(a_connection_that_hibernates_does_not_count, "Z-04")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_raise(&sleeper, 0, COUNTER_HIBERNATING);
    SLEEPER_EXPECT(&sleeper, "");
    sleeper_raise(&sleeper, 1, COUNTER_CONNECTIONS);
    SLEEPER_EXPECT(&sleeper, "CLEAR_IDLE");
    ck_assert_int_eq(tr__sleep_can_arm(&sleeper.machine), COUNTER_CONNECTIONS);
}

TEST(a_run_handler_on_its_queue_lets_the_actor_sleep_and_is_waited_for, "Z-04", "Z-05")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_raise(&sleeper, 0, COUNTER_RUN);
    SLEEPER_EXPECT(&sleeper, "CLEAR_IDLE");
    tr_time since = sleeper.wake_locks[0].since;
    sleeper.now += TR_SECOND;
    tr__sleep_move(&sleeper.machine, &sleeper.wake_locks[0], COUNTER_RUN_WAITS, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "ARM_IDLE");
    ck_assert_int_eq(sleeper.wake_locks[0].since, since);
    tr__sleep_move(&sleeper.machine, &sleeper.wake_locks[0], COUNTER_RUN, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "CLEAR_IDLE");
    tr__sleep_move(&sleeper.machine, &sleeper.wake_locks[0], COUNTER_RUN_WAITS, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "ARM_IDLE");
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    SLEEPER_EXPECT(&sleeper, ENTER_SLEEP);
    sleeper_drop(&sleeper, 0);
    SLEEPER_EXPECT(&sleeper, "ARM_CAP SERIALIZE");
}

TEST(a_change_of_any_input_restarts_the_whole_idle_time, "Z-04")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){.idle_ns = 10 * TR_SECOND});
    sleeper_start(&sleeper);
    tr_time begin = sleeper.now;
    sleeper.now += 9 * TR_SECOND;
    sleeper_raise(&sleeper, 0, COUNTER_SOCKETS);
    sleeper_drop(&sleeper, 0); /* Nobody looked in between: it was a change all the same. */
    SLEEPER_EXPECT(&sleeper, "ARM_IDLE");
    ck_assert_int_eq(sleeper.last.at, begin + 19 * TR_SECOND);
    /* A host that left the first timer armed is told the true time. */
    sleeper.now = begin + 10 * TR_SECOND;
    tr__sleep_timer(&sleeper.machine, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "ARM_IDLE");
    ck_assert_int_eq(sleeper.last.at, begin + 19 * TR_SECOND);
}

TEST(the_text_names_who_holds_with_place_and_age, "")
{
    struct sleeper sleeper;
    char text[WAKE_LOCKS_TEXT_SIZE];
    sleeper_init(&sleeper, (struct sleep_options){.has_on_sleep = true});
    sleeper_start(&sleeper);
    tr__sleep_why(&sleeper.machine, sleeper.now, text, sizeof text);
    ck_assert_str_eq(text, "Started, 30.000 s left, waits for its idle time");
    for (int i = 0; i < 5; i++)
        sleeper_raise(&sleeper, i, COUNTER_REQUESTS);
    sleeper.wake_locks[5].what = "receipt";
    sleeper_raise(&sleeper, 5, COUNTER_KEEP_AWAKE);
    sleeper_steps(&sleeper);
    sleeper.now += 1500 * TR_MILLISECOND;
    tr__sleep_why(&sleeper.machine, sleeper.now, text, sizeof text);
    ck_assert_str_eq(text,
                     "Started, waits for active requests: work (work.c:0, 1.500 s), "
                     "work (work.c:1, 1.500 s), work (work.c:2, 1.500 s) and 2 more; "
                     "keep-awake: receipt (work.c:5, 1.500 s)");
    for (int i = 0; i < 5; i++)
        sleeper_drop(&sleeper, i);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    sleeper_steps(&sleeper);
    sleeper.now += TR_SECOND;
    tr__sleep_why(&sleeper.machine, sleeper.now, text, sizeof text);
    ck_assert_str_eq(
        text,
        "SleepGrace, 14.000 s left, waits for keep-awake: receipt (work.c:5, 2.500 s); "
        "dispatched hooks: on_sleep, not started (1.000 s)");
    ck_assert_int_eq(tr__sleep_hook_begin(&sleeper.machine, SLEEP_REASON_SLEEP), TR_OK);
    tr__sleep_why(&sleeper.machine, sleeper.now, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "dispatched hooks: on_sleep (1.000 s)"));
}

TEST(the_text_is_cut_and_the_longest_fits, "")
{
    static const char name[] = "a_name_that_is_much_longer_than_what_is_shown_of_it_in_a_line";
    struct sleep_machine machine;
    static struct wake_lock wake_locks[COUNTER_COUNT][4];
    struct sleep_options options = {0};
    char text[WAKE_LOCKS_TEXT_SIZE];
    tr__sleep_init(&machine, &options, 0);
    ck_assert_int_eq(tr__sleep_started(&machine, 0), TR_OK);
    for (int i = 0; i < COUNTER_COUNT; i++)
        for (int k = 0; k < 4; k++) {
            wake_locks[i][k] = (struct wake_lock){.what = name, .file = name, .line = INT32_MAX};
            ck_assert_int_eq(tr__sleep_raise(&machine, &wake_locks[i][k], (enum sleep_counter)i, 0),
                             TR_OK);
        }
    tr_time now = 1000000000 * TR_SECOND;
    size_t whole = tr__sleep_why(&machine, now, text, sizeof text);
    ck_assert_uint_lt(whole, sizeof text - 1);
    ck_assert_uint_eq(whole, strlen(text));
    char cut[WAKE_LOCKS_TEXT_SIZE];
    for (size_t size = 1; size <= whole + 1; size++) {
        memset(cut, 'x', sizeof cut);
        size_t length = tr__sleep_why(&machine, now, cut, size);
        ck_assert_uint_eq(length, size - 1);
        ck_assert_mem_eq(cut, text, length);
        ck_assert_int_eq(cut[length], '\0');
        ck_assert_int_eq(cut[size], 'x');
    }
}

TEST(a_wake_lock_that_is_dropped_late_does_not_touch_the_machine, "")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){.no_sleep = true});
    sleeper_start(&sleeper);
    for (int i = 0; i < SLEEPER_WAKE_LOCKS; i++)
        sleeper_raise(&sleeper, i, (enum sleep_counter)(i % 3 + COUNTER_REQUESTS));
    ck_assert_int_eq(tr__sleep_raise(&sleeper.machine, &sleeper.wake_locks[0], COUNTER_RUN, 0),
                     TR_INVALID_TRANSITION);
    ck_assert_int_eq(tr__sleep_crash(&sleeper.machine, TR_FAILED), TR_OK);
    sleeper_drop(&sleeper, 3); /* While the last steps are performed. */
    SLEEPER_EXPECT(&sleeper, CRASHED);
    ck_assert_uint_eq(sleeper.machine.wake_locks.raised, 0);
    for (int i = 0; i < SLEEPER_WAKE_LOCKS; i++) {
        ck_assert(!wake_lock_is_raised(&sleeper.wake_locks[i]));
        tr__sleep_drop(NULL, &sleeper.wake_locks[i], 0);
    }
    ck_assert_int_eq(tr__sleep_raise(&sleeper.machine, &sleeper.wake_locks[0], COUNTER_RUN, 0),
                     TR_STOPPED);
    ck_assert(!wake_lock_is_raised(&sleeper.wake_locks[0]));
}

SUITE("durable counters", both_predicates_are_those_of_the_contract_for_every_set,
      every_counter_blocks_until_its_last_wake_lock_drops,
      wait_until_lets_the_actor_fall_asleep_and_holds_the_finalize,
      a_connection_that_hibernates_does_not_count,
      a_run_handler_on_its_queue_lets_the_actor_sleep_and_is_waited_for,
      a_change_of_any_input_restarts_the_whole_idle_time,
      the_text_names_who_holds_with_place_and_age, the_text_is_cut_and_the_longest_fits,
      a_wake_lock_that_is_dropped_late_does_not_touch_the_machine)
