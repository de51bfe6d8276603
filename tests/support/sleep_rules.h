/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The rules that the steps of a sleep machine keep whatever the events and their order, also of those
 * that come while a step is performed. Says in words which rule is broken.
 */
#ifndef TROUPE_TESTS_SUPPORT_SLEEP_RULES_H
#define TROUPE_TESTS_SUPPORT_SLEEP_RULES_H

#include "support/sleep_events.h"

#include <stddef.h>

/* What a host would know of one generation. */
struct sleep_witness {
    uint32_t seen;      /* steps that were taken */
    tr_time armed;      /* when the host's timer is due, or SLEEP_NEVER */
    bool is_crashed;    /* a crash was told, and taken */
    bool is_serialized; /* SERIALIZE was answered with TR_OK, in time */
};

#define SEEN(step) (UINT32_C(1) << STEP_##step)

static inline void sleep_witness_init(struct sleep_witness *witness)
{
    *witness = (struct sleep_witness){.armed = SLEEP_NEVER};
}

/* The steps that a step comes after, unless there was a crash. */
static inline uint32_t sleep_rule_needs(enum sleep_step step)
{
    switch (step) {
    case STEP_DRAIN_DISPATCH:
    case STEP_SUSPEND_ALARMS:
        return SEEN(ACCEPT_STOP);
    case STEP_FIRE_ABORT:
        return SEEN(DRAIN_DISPATCH) | SEEN(SUSPEND_ALARMS) | SEEN(CLEAR_IDLE);
    case STEP_ARM_GRACE:
    case STEP_SETTLE_CONNECTIONS:
        return SEEN(FIRE_ABORT);
    case STEP_RUN_ON_SLEEP:
    case STEP_RUN_ON_DESTROY:
    case STEP_NAME_WAKE_LOCKS:
    case STEP_ARM_CAP:
    case STEP_SERIALIZE:
    case STEP_CLOSE_EVENTS:
        return SEEN(FIRE_ABORT) | SEEN(SETTLE_CONNECTIONS);
    case STEP_CANCEL_RUN:
        return SEEN(NAME_WAKE_LOCKS);
    case STEP_FIRE_DEADLINE:
        return SEEN(CANCEL_RUN);
    case STEP_WARN:
        return SEEN(FIRE_DEADLINE);
    case STEP_JOIN_RUN:
    case STEP_CANCEL_TURNS:
        return SEEN(CLOSE_EVENTS);
    case STEP_COMMIT_STATE:
        return SEEN(SERIALIZE) | SEEN(CANCEL_TURNS) | SEEN(JOIN_RUN);
    case STEP_ERASE:
    case STEP_WAIT_WRITES:
        return SEEN(CANCEL_TURNS) | SEEN(JOIN_RUN);
    case STEP_KEEP_ALARMS:
    case STEP_CLEAR_ALARMS:
        return SEEN(WAIT_WRITES);
    case STEP_CLOSE_STORE:
    case STEP_REPLY:
    case STEP_TERMINATED:
    case STEP_ACCEPT_STOP:
    case STEP_SEND_SLEEP:
    case STEP_SEND_DESTROY:
    case STEP_ARM_IDLE:
    case STEP_CLEAR_IDLE:
    case STEP_CLEAR_TIMER:
    case STEP_COUNT:
        break;
    }
    return 0;
}

/* The steps that may come again: all others are taken once in a generation. */
static const uint32_t sleep_rule_again = SEEN(ARM_IDLE) | SEEN(CLEAR_IDLE) | SEEN(ACCEPT_STOP) |
                                         SEEN(DRAIN_DISPATCH) | SEEN(ARM_GRACE) |
                                         SEEN(SETTLE_CONNECTIONS) | SEEN(ARM_CAP);
static const uint32_t sleep_rule_crash = SEEN(CLEAR_TIMER) | SEEN(CLOSE_EVENTS) |
                                         SEEN(CANCEL_TURNS) | SEEN(KEEP_ALARMS) |
                                         SEEN(CLOSE_STORE) | SEEN(REPLY) | SEEN(TERMINATED);
static const uint32_t sleep_rule_end = SEEN(CLOSE_STORE) | SEEN(REPLY);

/* What holds of the order. NULL, or the rule that is broken. */
static inline const char *sleep_rule_order(const struct sleep_witness *witness,
                                           enum sleep_step step)
{
    uint32_t bit = UINT32_C(1) << step;
    uint32_t needs = sleep_rule_needs(step);
    if (witness->seen & SEEN(TERMINATED))
        return "nothing comes after the end";
    if (witness->is_crashed)
        return bit & sleep_rule_crash ? NULL : "after a crash only the end comes";
    if ((witness->seen & bit) && !(bit & sleep_rule_again))
        return "this step is taken once";
    if ((witness->seen & needs) != needs)
        return "a step that comes before was not taken";
    if (step == STEP_TERMINATED && (witness->seen & sleep_rule_end) != sleep_rule_end)
        return "the store is closed and the reply is sent before the end";
    if ((witness->seen & SEEN(NAME_WAKE_LOCKS)) && step < STEP_NAME_WAKE_LOCKS)
        return "no grace after the deadline";
    if ((witness->seen & (SEEN(SERIALIZE) | SEEN(ERASE))) && step < STEP_ARM_CAP)
        return "finalize goes on, not back";
    return NULL;
}

/* What holds of the counters at each step. */
static inline const char *sleep_rule_counters(const struct sleep_witness *witness,
                                              const struct sleep_machine *machine,
                                              const struct sleep_action *action)
{
    bool was_warned = witness->seen & SEEN(WARN);
    enum sleep_step step = action->step;
    /* Work may have begun since the decision to arm, which the next decision will see. */
    if (step == STEP_ARM_IDLE && !machine->is_changed && tr__sleep_can_arm(machine) != COUNTER_NONE)
        return "the idle timer is armed only when nothing holds";
    if (step == STEP_ARM_IDLE && action->at == SLEEP_NEVER)
        return "a timer has a time";
    /* The first step of a finalize is taken in the moment of the decision. */
    if (step == STEP_ARM_CAP && !(witness->seen & SEEN(ARM_CAP)) && !was_warned &&
        !tr__sleep_can_finalize(machine, SLEEP_REASON_SLEEP))
        return "a sleep is finalized only when nothing holds, or after the warning";
    if (step == STEP_CLEAR_TIMER && machine->state == SLEEP_DESTROYING && !was_warned &&
        !tr__sleep_can_finalize(machine, SLEEP_REASON_DESTROY))
        return "a destroy is finalized only when nothing holds, or after the warning";
    if (step == STEP_COMMIT_STATE && !witness->is_serialized)
        return "only a serialized state is committed";
    if (step == STEP_ERASE && machine->state != SLEEP_DESTROYING)
        return "only a destroy erases";
    if (step == STEP_TERMINATED && machine->wake_locks.raised)
        return "nobody holds after the end";
    return NULL;
}

/* Looks at a step that was taken, before it is performed. NULL, or the rule that is broken. */
static inline const char *sleep_witness_step(struct sleep_witness *witness,
                                             const struct sleep_machine *machine,
                                             const struct sleep_action *action)
{
    const char *broken = sleep_rule_order(witness, action->step);
    if (!broken)
        broken = sleep_rule_counters(witness, machine, action);
    witness->seen |= UINT32_C(1) << action->step;
    uint32_t bit = UINT32_C(1) << action->step;
    if (bit & (SEEN(ARM_IDLE) | SEEN(ARM_GRACE) | SEEN(ARM_CAP)))
        witness->armed = action->at;
    else if (bit & (SEEN(CLEAR_IDLE) | SEEN(CLEAR_TIMER)))
        witness->armed = SLEEP_NEVER;
    return broken;
}

/* An event was told, with this answer. */
static inline void sleep_witness_event(struct sleep_witness *witness, const struct told *told,
                                       tr_status answer)
{
    if (told->event == TIMER && witness->armed <= told->now)
        witness->armed = SLEEP_NEVER;
    if (answer != TR_OK)
        return;
    if (told->event == CRASH || told->event == START_FAILED)
        witness->is_crashed = true;
    if (told->event == SERIALIZED && told->status == TR_OK)
        witness->is_serialized = true;
}

/* Looks when all steps are taken. */
static inline const char *sleep_witness_rest(const struct sleep_witness *witness,
                                             const struct sleep_machine *machine, tr_time now)
{
    if ((machine->state == SLEEP_TERMINATED) != ((witness->seen & SEEN(TERMINATED)) != 0))
        return "the end is told, and only then";
    if (witness->armed != machine->due && !(machine->due <= now))
        return "the timer of the host is that of the machine";
    if (machine->state == SLEEP_STARTED && machine->due != SLEEP_NEVER &&
        tr__sleep_can_arm(machine) != COUNTER_NONE)
        return "a busy actor has no idle timer";
    if (machine->state == SLEEP_GRACE && tr__sleep_can_finalize(machine, SLEEP_REASON_SLEEP))
        return "a drained sleep is finalized";
    if (machine->state == SLEEP_DESTROY_GRACE &&
        tr__sleep_can_finalize(machine, SLEEP_REASON_DESTROY))
        return "a drained destroy is finalized";
    if ((witness->seen & SEEN(COMMIT_STATE)) && (witness->seen & SEEN(ERASE)))
        return "a generation sleeps or is destroyed";
    return NULL;
}

#endif
