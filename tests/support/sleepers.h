/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Drives a sleep machine as a host does, and writes down the steps that it was told.
 */
#ifndef TROUPE_TESTS_SUPPORT_SLEEPERS_H
#define TROUPE_TESTS_SUPPORT_SLEEPERS_H

#include "sleep/why.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>

enum { SLEEPER_WAKE_LOCKS = 8 };

struct sleeper {
    struct sleep_machine machine;
    tr_time now;
    struct wake_lock wake_locks[SLEEPER_WAKE_LOCKS];
    struct sleep_action last;
    char text[1024]; /* the steps of the last sleeper_steps, separated by spaces */
};

/* The sets of steps of the contract, as one reads them. */
#define ENTER_SLEEP                                                                                \
    "ACCEPT_STOP DRAIN_DISPATCH SUSPEND_ALARMS CLEAR_IDLE FIRE_ABORT ARM_GRACE SETTLE_CONNECTIONS"
#define ENTER_DESTROY ENTER_SLEEP
#define DEADLINE "NAME_WAKE_LOCKS CANCEL_RUN FIRE_DEADLINE WARN"
#define CLOSE "CLEAR_TIMER CLOSE_EVENTS JOIN_RUN CANCEL_TURNS"
#define CRASHED "CLEAR_TIMER CLOSE_EVENTS CANCEL_TURNS KEEP_ALARMS CLOSE_STORE REPLY TERMINATED"

static inline void sleeper_init(struct sleeper *sleeper, struct sleep_options options)
{
    *sleeper = (struct sleeper){.now = 1000 * TR_SECOND};
    for (int i = 0; i < SLEEPER_WAKE_LOCKS; i++)
        sleeper->wake_locks[i] =
            (struct wake_lock){.what = "work", .file = "dir/work.c", .line = i};
    tr__sleep_init(&sleeper->machine, &options, sleeper->now);
}

/* Takes all steps that are due; they are in text, and the last in last. */
static inline const char *sleeper_steps(struct sleeper *sleeper)
{
    size_t length = 0;
    sleeper->text[0] = '\0';
    while (tr__sleep_next(&sleeper->machine, sleeper->now, &sleeper->last))
        length += (size_t)snprintf(sleeper->text + length,
                                   sizeof sleeper->text - length,
                                   "%s%s",
                                   length ? " " : "",
                                   tr__sleep_step_name(sleeper->last.step));
    return sleeper->text;
}

#define SLEEPER_EXPECT(sleeper, steps) ck_assert_str_eq(sleeper_steps(sleeper), steps)

static inline void sleeper_start(struct sleeper *sleeper)
{
    ck_assert_int_eq(tr__sleep_started(&sleeper->machine, sleeper->now), TR_OK);
    sleeper_steps(sleeper);
}

static inline void sleeper_raise(struct sleeper *sleeper, int i, enum sleep_counter counter)
{
    ck_assert_int_eq(
        tr__sleep_raise(&sleeper->machine, &sleeper->wake_locks[i], counter, sleeper->now), TR_OK);
}

static inline void sleeper_drop(struct sleeper *sleeper, int i)
{
    tr__sleep_drop(&sleeper->machine, &sleeper->wake_locks[i], sleeper->now);
}

static inline void sleeper_stop(struct sleeper *sleeper, enum sleep_reason reason)
{
    ck_assert_int_eq(tr__sleep_stop(&sleeper->machine, reason, 0, sleeper->now), TR_OK);
}

/* Moves the time to when the one timer is due, and fires it. */
static inline void sleeper_fire(struct sleeper *sleeper)
{
    ck_assert_int_ne(sleeper->machine.due, SLEEP_NEVER);
    sleeper->now = sleeper->machine.due;
    tr__sleep_timer(&sleeper->machine, sleeper->now);
}

/* The same, with the ticks, until the deadline of the grace. */
static inline void sleeper_fire_deadline(struct sleeper *sleeper)
{
    do {
        sleeper_steps(sleeper);
        sleeper_fire(sleeper);
    } while (sleeper->now < sleeper->machine.deadline);
}

#endif
