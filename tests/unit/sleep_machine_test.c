/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sleep machine, one story after another: the order of the steps, and the settled conflicts.
 */
#include "support/sleepers.h"

static const struct sleep_options hooks = {.has_on_sleep = true, .has_on_destroy = true};

static tr_status ask(struct sleeper *sleeper, enum sleep_reason reason)
{
    return tr__sleep_ask(&sleeper->machine, reason, sleeper->now);
}

static tr_status hook_end(struct sleeper *sleeper, enum sleep_reason reason)
{
    return tr__sleep_hook_end(&sleeper->machine, reason, sleeper->now);
}

/* ---- to sleep, to be destroyed ---- */

TEST(an_idle_actor_goes_to_sleep_step_by_step, "Z-02")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, hooks);
    struct sleep_machine *machine = &sleeper.machine;
    SLEEPER_EXPECT(&sleeper, "");
    ck_assert_int_eq(tr__sleep_started(machine, sleeper.now), TR_OK);
    SLEEPER_EXPECT(&sleeper, "ARM_IDLE");
    ck_assert_int_eq(sleeper.last.at, sleeper.now + 30 * TR_SECOND);
    sleeper_fire(&sleeper);
    SLEEPER_EXPECT(&sleeper, "SEND_SLEEP");
    ck_assert_int_eq(machine->state, SLEEP_STARTED); /* Only the authority's answer changes that. */
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    SLEEPER_EXPECT(&sleeper, ENTER_SLEEP " RUN_ON_SLEEP");
    ck_assert_int_eq(machine->state, SLEEP_GRACE);
    ck_assert_int_eq(machine->deadline, sleeper.now + 15 * TR_SECOND);
    ck_assert_int_eq(hook_end(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
    SLEEPER_EXPECT(&sleeper, "ARM_CAP SERIALIZE");
    ck_assert_int_eq(machine->state, SLEEP_FINALIZE);
    ck_assert_int_eq(machine->due, sleeper.now + 15 * TR_SECOND);
    ck_assert_int_eq(tr__sleep_serialized(machine, TR_OK), TR_OK);
    SLEEPER_EXPECT(&sleeper, CLOSE " COMMIT_STATE WAIT_WRITES");
    ck_assert_int_eq(tr__sleep_written(machine, TR_OK), TR_OK);
    SLEEPER_EXPECT(&sleeper, "KEEP_ALARMS CLOSE_STORE REPLY TERMINATED");
    ck_assert_int_eq(machine->state, SLEEP_TERMINATED);
    ck_assert_int_eq(sleeper.last.outcome, SLEEP_ENDED_ASLEEP);
    ck_assert_int_eq(sleeper.last.status, TR_OK);
}

TEST(a_destroyed_actor_serializes_nothing_and_loses_its_alarms, "Z-02")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, hooks);
    sleeper_start(&sleeper);
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_DESTROY), TR_OK);
    SLEEPER_EXPECT(&sleeper, "SEND_DESTROY CLEAR_IDLE");
    sleeper_stop(&sleeper, SLEEP_REASON_DESTROY);
    SLEEPER_EXPECT(&sleeper, ENTER_DESTROY " RUN_ON_DESTROY");
    ck_assert_int_eq(sleeper.machine.state, SLEEP_DESTROY_GRACE);
    ck_assert_int_eq(hook_end(&sleeper, SLEEP_REASON_DESTROY), TR_OK);
    SLEEPER_EXPECT(&sleeper, CLOSE " ERASE WAIT_WRITES");
    ck_assert_int_eq(sleeper.machine.state, SLEEP_DESTROYING);
    ck_assert_int_eq(tr__sleep_written(&sleeper.machine, TR_OK), TR_OK);
    SLEEPER_EXPECT(&sleeper, "CLEAR_ALARMS CLOSE_STORE REPLY TERMINATED");
    ck_assert_int_eq(sleeper.last.outcome, SLEEP_ENDED_DESTROYED);
}

TEST(an_erase_that_fails_keeps_what_was_stored_and_its_alarms, "")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_stop(&sleeper, SLEEP_REASON_DESTROY);
    SLEEPER_EXPECT(&sleeper, ENTER_DESTROY " " CLOSE " ERASE WAIT_WRITES");
    ck_assert_int_eq(tr__sleep_written(&sleeper.machine, TR_LIMIT), TR_OK);
    SLEEPER_EXPECT(&sleeper, "KEEP_ALARMS CLOSE_STORE REPLY TERMINATED");
    ck_assert_int_eq(sleeper.last.outcome, SLEEP_ENDED_CRASHED);
    ck_assert_int_eq(sleeper.last.status, TR_LIMIT);
}

TEST(without_work_and_hooks_the_grace_is_over_at_once, "")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    SLEEPER_EXPECT(&sleeper, ENTER_SLEEP " ARM_CAP SERIALIZE");
}

TEST(work_that_the_drained_dispatch_begins_holds_the_finalize, "")
{
    struct sleeper sleeper;
    struct sleep_action action;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    do
        ck_assert(tr__sleep_next(&sleeper.machine, sleeper.now, &action));
    while (action.step != STEP_DRAIN_DISPATCH);
    sleeper_raise(&sleeper, 0, COUNTER_REQUESTS);
    SLEEPER_EXPECT(&sleeper, "SUSPEND_ALARMS CLEAR_IDLE FIRE_ABORT ARM_GRACE SETTLE_CONNECTIONS");
    ck_assert_int_eq(tr__sleep_door(&sleeper.machine), SLEEP_DOOR_SERVE);
    sleeper_drop(&sleeper, 0);
    SLEEPER_EXPECT(&sleeper, "ARM_CAP SERIALIZE");
    ck_assert_int_eq(tr__sleep_door(&sleeper.machine), SLEEP_DOOR_NEXT);
}

/* ---- the deadline ---- */

TEST(at_the_deadline_the_run_handler_goes_the_token_fires_and_one_warning_names_all, "Z-05")
{
    struct sleeper sleeper;
    struct sleep_action action;
    char text[WAKE_LOCKS_TEXT_SIZE];
    sleeper_init(&sleeper, hooks);
    sleeper_start(&sleeper);
    sleeper_raise(&sleeper, 0, COUNTER_RUN);
    sleeper_raise(&sleeper, 1, COUNTER_TASKS);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    tr_time began = sleeper.now;
    SLEEPER_EXPECT(&sleeper, ENTER_SLEEP " RUN_ON_SLEEP");
    sleeper_fire_deadline(&sleeper);
    ck_assert_int_eq(sleeper.now, began + SLEEP_GRACE_NS);
    ck_assert(tr__sleep_next(&sleeper.machine, sleeper.now, &action));
    ck_assert_int_eq(action.step, STEP_NAME_WAKE_LOCKS);
    tr__sleep_why(&sleeper.machine, sleeper.now, text, sizeof text);
    ck_assert_str_eq(text,
                     "SleepGrace, waits for the run handler: work (work.c:0, 15.000 s); "
                     "dispatched hooks: on_sleep, not started (15.000 s); "
                     "shutdown tasks: work (work.c:1, 15.000 s)");
    ck_assert(tr__sleep_next(&sleeper.machine, sleeper.now, &action));
    ck_assert_int_eq(action.step, STEP_CANCEL_RUN);
    sleeper_drop(&sleeper, 0);
    SLEEPER_EXPECT(&sleeper, "FIRE_DEADLINE WARN ARM_CAP SERIALIZE");
    ck_assert_uint_ne(sleeper.machine.wake_locks.raised, 0);
    /* Turns are cancelled only after the state is serialized; the skipped hook ends then. */
    ck_assert_int_eq(tr__sleep_serialized(&sleeper.machine, TR_OK), TR_OK);
    SLEEPER_EXPECT(&sleeper, CLOSE " COMMIT_STATE WAIT_WRITES");
    ck_assert_int_eq(hook_end(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
    SLEEPER_EXPECT(&sleeper, "");
}

TEST(a_hook_that_cannot_begin_by_the_deadline_is_skipped_and_named, "")
{
    struct sleeper sleeper;
    char text[WAKE_LOCKS_TEXT_SIZE];
    sleeper_init(&sleeper, hooks);
    sleeper_start(&sleeper);
    sleeper_stop(&sleeper, SLEEP_REASON_DESTROY);
    sleeper.now = sleeper.machine.deadline; /* The host was busy all the time. */
    tr__sleep_timer(&sleeper.machine, sleeper.now);
    tr__sleep_why(&sleeper.machine, sleeper.now, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "dispatched hooks: on_destroy, not started (15.000 s)"));
    SLEEPER_EXPECT(&sleeper,
                   "ACCEPT_STOP DRAIN_DISPATCH SUSPEND_ALARMS CLEAR_IDLE FIRE_ABORT "
                   "SETTLE_CONNECTIONS " DEADLINE " " CLOSE " ERASE WAIT_WRITES");
}

TEST(a_grace_that_ends_in_time_gives_no_warning, "")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){.grace_ns = 2500 * TR_MILLISECOND});
    sleeper_start(&sleeper);
    sleeper_raise(&sleeper, 0, COUNTER_INTERNAL);
    sleeper_stop(&sleeper, SLEEP_REASON_DESTROY);
    SLEEPER_EXPECT(&sleeper, ENTER_DESTROY);
    sleeper_fire(&sleeper);
    SLEEPER_EXPECT(&sleeper, "ARM_GRACE");
    sleeper_fire(&sleeper);
    SLEEPER_EXPECT(&sleeper, "ARM_GRACE");
    ck_assert_int_eq(sleeper.last.at, sleeper.machine.deadline);
    /* The work ends in the same moment as the grace: it has ended. */
    sleeper.now = sleeper.machine.deadline;
    sleeper_drop(&sleeper, 0);
    tr__sleep_timer(&sleeper.machine, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "ARM_GRACE " CLOSE " ERASE WAIT_WRITES");
}

TEST(a_destroy_does_not_wait_for_the_run_handler_and_a_sleep_does, "Z-05")
{
    for (int destroys = 0; destroys < 2; destroys++) {
        struct sleeper sleeper;
        sleeper_init(&sleeper, (struct sleep_options){0});
        sleeper_start(&sleeper);
        sleeper_raise(&sleeper, 0, COUNTER_RUN);
        sleeper_steps(&sleeper);
        sleeper_stop(&sleeper, destroys ? SLEEP_REASON_DESTROY : SLEEP_REASON_SLEEP);
        SLEEPER_EXPECT(&sleeper,
                       destroys ? ENTER_DESTROY " " CLOSE " ERASE WAIT_WRITES" : ENTER_SLEEP);
    }
}

TEST(the_deadline_is_the_smallest_of_option_override_and_most_of_the_time_left, "")
{
    static const struct {
        tr_time option, override, left, expected; /* seconds; 0 for none */
    } rows[] = {
        {0, 0, 0, 15},
        {0, 10, 0, 10},
        {0, 20, 0, 15},
        {60, 20, 0, 20},
        {3, 20, 0, 3},
        {0, 0, 10, 8},
        {0, 0, 100, 15},
        {0, 5, 10, 5},
        {60, 0, 50, 40},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sleeper sleeper;
        sleeper_init(&sleeper, (struct sleep_options){.grace_ns = rows[i].option * TR_SECOND});
        sleeper_start(&sleeper);
        if (rows[i].left)
            tr__sleep_shut_down(&sleeper.machine, rows[i].left * TR_SECOND, sleeper.now);
        tr_time override = rows[i].override * TR_SECOND;
        ck_assert_int_eq(
            tr__sleep_stop(&sleeper.machine, SLEEP_REASON_SLEEP, override, sleeper.now), TR_OK);
        ck_assert_int_eq(sleeper.machine.deadline, sleeper.now + rows[i].expected * TR_SECOND);
    }
}

TEST(a_shutdown_shortens_a_grace_and_a_cap_that_run, "")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_raise(&sleeper, 0, COUNTER_REQUESTS);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    sleeper_steps(&sleeper);
    tr_time end = sleeper.now + 10 * TR_SECOND;
    tr__sleep_shut_down(&sleeper.machine, 10 * TR_SECOND, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "ARM_GRACE");
    ck_assert_int_eq(sleeper.machine.deadline, sleeper.now + 8 * TR_SECOND);
    sleeper_fire_deadline(&sleeper);
    SLEEPER_EXPECT(&sleeper, DEADLINE " ARM_CAP SERIALIZE");
    ck_assert_int_eq(sleeper.machine.due, end);
    tr__sleep_shut_down(&sleeper.machine, TR_SECOND, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "ARM_CAP");
    ck_assert_int_eq(sleeper.last.at, sleeper.now + TR_SECOND);
    /* No time left at all: the next moment ends it. */
    tr__sleep_shut_down(&sleeper.machine, -5, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "ARM_CAP");
    sleeper_fire(&sleeper);
    SLEEPER_EXPECT(&sleeper, CLOSE " WAIT_WRITES");
}

/* ---- finalize ---- */

TEST(a_state_that_is_not_serialized_in_time_is_not_written, "")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    sleeper_steps(&sleeper);
    sleeper_fire(&sleeper);
    SLEEPER_EXPECT(&sleeper, CLOSE " WAIT_WRITES");
    /* What comes after the cap is thrown away; what was acknowledged before it is waited for. */
    ck_assert_int_eq(tr__sleep_serialized(&sleeper.machine, TR_OK), TR_INVALID_TRANSITION);
    SLEEPER_EXPECT(&sleeper, "");
    ck_assert_int_eq(tr__sleep_written(&sleeper.machine, TR_OK), TR_OK);
    SLEEPER_EXPECT(&sleeper, "KEEP_ALARMS CLOSE_STORE REPLY TERMINATED");
    ck_assert_int_eq(sleeper.last.outcome, SLEEP_ENDED_ASLEEP);
    ck_assert_int_eq(sleeper.last.status, TR_TIMEOUT);
}

TEST(a_serialize_that_fails_writes_nothing_and_the_first_error_is_told, "")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    sleeper_steps(&sleeper);
    ck_assert_int_eq(tr__sleep_serialized(&sleeper.machine, TR_NO_MEMORY), TR_OK);
    SLEEPER_EXPECT(&sleeper, CLOSE " WAIT_WRITES");
    ck_assert_int_eq(tr__sleep_written(&sleeper.machine, TR_LIMIT), TR_OK);
    sleeper_steps(&sleeper);
    ck_assert_int_eq(sleeper.last.status, TR_NO_MEMORY);
}

TEST(a_host_may_answer_while_it_performs_the_step, "")
{
    struct sleeper sleeper;
    struct sleep_action action;
    enum sleep_step before = STEP_SEND_SLEEP;
    sleeper_init(&sleeper, hooks);
    sleeper_start(&sleeper);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    do {
        ck_assert(tr__sleep_next(&sleeper.machine, sleeper.now, &action));
        ck_assert_int_ge(action.step, before);
        before = action.step;
        if (action.step == STEP_RUN_ON_SLEEP)
            ck_assert_int_eq(hook_end(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
        if (action.step == STEP_SERIALIZE)
            ck_assert_int_eq(tr__sleep_serialized(&sleeper.machine, TR_OK), TR_OK);
        if (action.step == STEP_WAIT_WRITES)
            ck_assert_int_eq(tr__sleep_written(&sleeper.machine, TR_OK), TR_OK);
    } while (action.step != STEP_TERMINATED);
    ck_assert_int_eq(action.outcome, SLEEP_ENDED_ASLEEP);
}

/* ---- who may ask, and how often ---- */

TEST(sleep_and_destroy_are_single_shot_in_a_generation, "Z-10", "SL-06")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, hooks);
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_SLEEP), TR_STARTING);
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_DESTROY), TR_STARTING);
    sleeper_start(&sleeper);
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
    SLEEPER_EXPECT(&sleeper, "SEND_SLEEP CLEAR_IDLE");
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
    SLEEPER_EXPECT(&sleeper, "");
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_DESTROY), TR_OK);
    SLEEPER_EXPECT(&sleeper, "SEND_DESTROY");
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_DESTROY), TR_STOPPING);
    SLEEPER_EXPECT(&sleeper, "");
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    sleeper_steps(&sleeper);
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_SLEEP), TR_STOPPING);
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_DESTROY), TR_STOPPING);
    SLEEPER_EXPECT(&sleeper, "");
}

TEST(an_idle_timer_that_loses_the_race_is_silent, "Z-10", "SL-06")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    tr_time idle = sleeper.machine.due;
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
    sleeper.now = idle; /* The timer was on its way. */
    tr__sleep_timer(&sleeper.machine, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "SEND_SLEEP");
    tr__sleep_timer(&sleeper.machine, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "");
    ck_assert(!tr__sleep_evict(&sleeper.machine));

    /* The other way around: the timer first, then the user. */
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_fire(&sleeper);
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
    SLEEPER_EXPECT(&sleeper, "SEND_SLEEP");
}

TEST(an_idle_timer_is_silent_when_work_has_come_that_nobody_looked_at, "SL-01")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper_raise(&sleeper, 0, COUNTER_KEEP_AWAKE);
    sleeper_fire(&sleeper);
    SLEEPER_EXPECT(&sleeper, "");
    sleeper_drop(&sleeper, 0);
    SLEEPER_EXPECT(&sleeper, "ARM_IDLE");
    ck_assert_int_eq(sleeper.last.at, sleeper.now + SLEEP_IDLE_NS);
}

TEST(work_that_came_and_went_before_the_idle_timer_restarts_it, "Z-04")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    sleeper_start(&sleeper);
    sleeper.now = sleeper.machine.due;
    sleeper_raise(&sleeper, 0, COUNTER_REQUESTS);
    sleeper_drop(&sleeper, 0);
    tr__sleep_timer(&sleeper.machine, sleeper.now);
    SLEEPER_EXPECT(&sleeper, "ARM_IDLE");
    ck_assert_int_eq(sleeper.last.at, sleeper.now + SLEEP_IDLE_NS);
}

TEST(a_host_under_memory_pressure_evicts_only_the_idle, "")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){0});
    ck_assert(!tr__sleep_evict(&sleeper.machine));
    sleeper_start(&sleeper);
    sleeper_raise(&sleeper, 0, COUNTER_REQUESTS);
    ck_assert(!tr__sleep_evict(&sleeper.machine));
    sleeper_drop(&sleeper, 0);
    ck_assert(tr__sleep_evict(&sleeper.machine));
    SLEEPER_EXPECT(&sleeper, "SEND_SLEEP CLEAR_IDLE");
    ck_assert(!tr__sleep_evict(&sleeper.machine));

    sleeper_init(&sleeper, (struct sleep_options){.no_sleep = true});
    sleeper_start(&sleeper);
    ck_assert_int_eq(tr__sleep_can_arm(&sleeper.machine), COUNTER_NO_SLEEP);
    ck_assert(!tr__sleep_evict(&sleeper.machine));
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
    SLEEPER_EXPECT(&sleeper, "SEND_SLEEP");
}

/* ---- conflicts ---- */

TEST(a_destroy_in_the_grace_of_a_sleep_upgrades_it, "Z-02", "SL-07")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, hooks);
    sleeper_start(&sleeper);
    sleeper_raise(&sleeper, 0, COUNTER_RUN);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    SLEEPER_EXPECT(&sleeper, ENTER_SLEEP " RUN_ON_SLEEP");
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_SLEEP), TR_STOPPING);
    sleeper.now += TR_SECOND;
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_DESTROY), TR_OK);
    SLEEPER_EXPECT(&sleeper, "SEND_DESTROY");
    ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_DESTROY), TR_STOPPING);
    sleeper_stop(&sleeper, SLEEP_REASON_DESTROY);
    SLEEPER_EXPECT(&sleeper,
                   "ACCEPT_STOP DRAIN_DISPATCH ARM_GRACE SETTLE_CONNECTIONS RUN_ON_DESTROY");
    ck_assert_int_eq(sleeper.machine.state, SLEEP_DESTROY_GRACE);
    ck_assert_int_eq(sleeper.machine.deadline, sleeper.now + SLEEP_GRACE_NS);
    ck_assert_int_eq(tr__sleep_door(&sleeper.machine), SLEEP_DOOR_REFUSE);
    /* Both hooks are waited for; the run handler, which a sleep waits for, no more. */
    ck_assert_int_eq(hook_end(&sleeper, SLEEP_REASON_DESTROY), TR_OK);
    SLEEPER_EXPECT(&sleeper, "");
    ck_assert_int_eq(hook_end(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
    SLEEPER_EXPECT(&sleeper, CLOSE " ERASE WAIT_WRITES");
}

TEST(a_destroy_after_the_deadline_or_in_finalize_is_too_late, "Z-10")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, hooks);
    sleeper_start(&sleeper);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    sleeper_fire_deadline(&sleeper);
    ck_assert_int_eq(sleeper.machine.state, SLEEP_GRACE);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ask(&sleeper, SLEEP_REASON_DESTROY), TR_STOPPING);
        ck_assert_int_eq(tr__sleep_stop(&sleeper.machine, SLEEP_REASON_DESTROY, 0, sleeper.now),
                         TR_STOPPING);
        SLEEPER_EXPECT(&sleeper, i ? "" : DEADLINE " ARM_CAP SERIALIZE");
    }
}

TEST(a_stop_during_the_start_waits_for_it_and_on_destroy_runs, "Z-12")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, hooks);
    ck_assert_int_eq(tr__sleep_stop(&sleeper.machine, SLEEP_REASON_SLEEP, 9, sleeper.now), TR_OK);
    SLEEPER_EXPECT(&sleeper, "");
    sleeper_stop(&sleeper, SLEEP_REASON_DESTROY); /* An upgrade, before there is a grace. */
    ck_assert_int_eq(tr__sleep_stop(&sleeper.machine, SLEEP_REASON_SLEEP, 0, sleeper.now),
                     TR_STOPPING);
    ck_assert_int_eq(sleeper.machine.state, SLEEP_LOADING);
    sleeper.now += TR_SECOND;
    ck_assert_int_eq(tr__sleep_started(&sleeper.machine, sleeper.now), TR_OK);
    SLEEPER_EXPECT(&sleeper, ENTER_DESTROY " RUN_ON_DESTROY");
    ck_assert_int_eq(sleeper.machine.deadline, sleeper.now + 9);

    /* A start that fails ends the stop too, unwritten. */
    sleeper_init(&sleeper, hooks);
    sleeper_stop(&sleeper, SLEEP_REASON_DESTROY);
    ck_assert_int_eq(tr__sleep_start_failed(&sleeper.machine, TR_INIT_FAILED), TR_OK);
    SLEEPER_EXPECT(&sleeper, CRASHED);
    ck_assert_int_eq(sleeper.last.status, TR_INIT_FAILED);
    ck_assert_int_eq(sleeper.last.outcome, SLEEP_ENDED_CRASHED);
}

TEST(a_crash_while_a_step_is_performed_leaves_only_the_end, "Z-02")
{
    struct sleeper sleeper;
    struct sleep_action action;
    /* After each of the steps of a sleep in turn. */
    for (int crash_after = 0;; crash_after++) {
        sleeper_init(&sleeper, hooks);
        sleeper_start(&sleeper);
        sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
        for (int i = 0; i <= crash_after; i++) {
            ck_assert(tr__sleep_next(&sleeper.machine, sleeper.now, &action));
            if (action.step == STEP_RUN_ON_SLEEP)
                ck_assert_int_eq(hook_end(&sleeper, SLEEP_REASON_SLEEP), TR_OK);
            else if (action.step == STEP_SERIALIZE)
                ck_assert_int_eq(tr__sleep_serialized(&sleeper.machine, TR_OK), TR_OK);
        }
        ck_assert_int_eq(tr__sleep_crash(&sleeper.machine, TR_FAULT), TR_OK);
        ck_assert_int_eq(tr__sleep_crash(&sleeper.machine, TR_FAILED), TR_STOPPED);
        SLEEPER_EXPECT(&sleeper, CRASHED);
        ck_assert_int_eq(sleeper.last.status, TR_FAULT);
        ck_assert_int_eq(sleeper.last.outcome, SLEEP_ENDED_CRASHED);
        if (action.step == STEP_WAIT_WRITES)
            break;
    }
}

/* The deadline finds nothing that holds, and something begins before the machine decides. */
TEST(work_that_begins_right_at_the_deadline_does_not_escape_it, "Z-08")
{
    for (int reason = SLEEP_REASON_SLEEP; reason <= SLEEP_REASON_DESTROY; reason++) {
        struct sleeper sleeper;
        struct sleep_action action;
        sleeper_init(&sleeper, (struct sleep_options){0});
        sleeper_start(&sleeper);
        sleeper_stop(&sleeper, (enum sleep_reason)reason);
        ck_assert(tr__sleep_next(&sleeper.machine, sleeper.now, &action));
        sleeper.now += SLEEP_GRACE_NS;
        tr__sleep_timer(&sleeper.machine, sleeper.now);
        sleeper_raise(&sleeper, 0, COUNTER_REQUESTS);
        sleeper_steps(&sleeper);
        ck_assert_int_eq(sleeper.machine.due, sleeper.now + SLEEP_TICK_NS);
        sleeper_fire(&sleeper);
        sleeper_steps(&sleeper);
        ck_assert_ptr_nonnull(strstr(sleeper.text, DEADLINE));
    }
}

TEST(times_beyond_the_clock_are_never, "")
{
    struct sleeper sleeper;
    sleeper_init(&sleeper, (struct sleep_options){.idle_ns = INT64_MAX, .grace_ns = INT64_MAX});
    ck_assert_int_eq(tr__sleep_started(&sleeper.machine, sleeper.now), TR_OK);
    SLEEPER_EXPECT(&sleeper, "");
    sleeper_raise(&sleeper, 0, COUNTER_TASKS);
    tr__sleep_shut_down(&sleeper.machine, INT64_MAX, sleeper.now);
    sleeper_stop(&sleeper, SLEEP_REASON_SLEEP);
    SLEEPER_EXPECT(&sleeper, ENTER_SLEEP);
    ck_assert_int_eq(sleeper.machine.deadline, SLEEP_NEVER);
    sleeper_fire(&sleeper);
    SLEEPER_EXPECT(&sleeper, "ARM_GRACE");
}

SUITE("durable sleep", an_idle_actor_goes_to_sleep_step_by_step,
      a_destroyed_actor_serializes_nothing_and_loses_its_alarms,
      an_erase_that_fails_keeps_what_was_stored_and_its_alarms,
      without_work_and_hooks_the_grace_is_over_at_once,
      work_that_the_drained_dispatch_begins_holds_the_finalize,
      at_the_deadline_the_run_handler_goes_the_token_fires_and_one_warning_names_all,
      a_hook_that_cannot_begin_by_the_deadline_is_skipped_and_named,
      a_grace_that_ends_in_time_gives_no_warning,
      a_destroy_does_not_wait_for_the_run_handler_and_a_sleep_does,
      the_deadline_is_the_smallest_of_option_override_and_most_of_the_time_left,
      a_shutdown_shortens_a_grace_and_a_cap_that_run,
      a_state_that_is_not_serialized_in_time_is_not_written,
      a_serialize_that_fails_writes_nothing_and_the_first_error_is_told,
      a_host_may_answer_while_it_performs_the_step,
      sleep_and_destroy_are_single_shot_in_a_generation,
      an_idle_timer_that_loses_the_race_is_silent,
      an_idle_timer_is_silent_when_work_has_come_that_nobody_looked_at,
      work_that_came_and_went_before_the_idle_timer_restarts_it,
      a_host_under_memory_pressure_evicts_only_the_idle,
      a_destroy_in_the_grace_of_a_sleep_upgrades_it,
      a_destroy_after_the_deadline_or_in_finalize_is_too_late,
      a_stop_during_the_start_waits_for_it_and_on_destroy_runs,
      work_that_begins_right_at_the_deadline_does_not_escape_it,
      a_crash_while_a_step_is_performed_leaves_only_the_end, times_beyond_the_clock_are_never)
