/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The sleep machine. It says for each event what the event changes, and which steps the event makes
 * due.
 */
#include "sleep/sleep.h"

#include "base/assert.h"
#include "sleep/wake_locks.h"

_Static_assert(STEP_COUNT <= 32, "the agenda is 32 bits");

#define BIT(step) (UINT32_C(1) << STEP_##step)

/*
 * Sets of steps that become due together.
 *
 * 1. After the steps SERIALIZE and WAIT_WRITES the machine waits for an answer of the host. The
 *    host may answer as soon as it has taken the step with tr__sleep_next, even before it has
 *    performed the step to its end. This is safe, because each of the two steps is the last one of
 *    its set. The machine refuses an answer that comes before the step was taken.
 * 2. TERMINATED becomes due once in a generation, in sleep_end, which also sets the state to Terminated.
 * 3. COMMIT_STATE becomes due only if SERIALIZE was answered in time with TR_OK, and ERASE only for
 *    a destroy.
 */
enum {
    GRACE_STEPS = BIT(ACCEPT_STOP) | BIT(DRAIN_DISPATCH) | BIT(SUSPEND_ALARMS) | BIT(CLEAR_IDLE) |
                  BIT(FIRE_ABORT) | BIT(ARM_GRACE) | BIT(SETTLE_CONNECTIONS),
    UPGRADE_STEPS =
        BIT(ACCEPT_STOP) | BIT(DRAIN_DISPATCH) | BIT(ARM_GRACE) | BIT(SETTLE_CONNECTIONS),
    DEADLINE_STEPS = BIT(NAME_WAKE_LOCKS) | BIT(CANCEL_RUN) | BIT(FIRE_DEADLINE) | BIT(WARN),
    SERIALIZE_STEPS = BIT(ARM_CAP) | BIT(SERIALIZE),
    CLOSE_STEPS =
        BIT(CLEAR_TIMER) | BIT(CLOSE_EVENTS) | BIT(JOIN_RUN) | BIT(CANCEL_TURNS) | BIT(WAIT_WRITES),
    CRASH_STEPS = BIT(CLEAR_TIMER) | BIT(CLOSE_EVENTS) | BIT(CANCEL_TURNS),
    END_STEPS = BIT(CLOSE_STORE) | BIT(REPLY) | BIT(TERMINATED),
};

static tr_time min_time(tr_time left, tr_time right)
{
    return left < right ? left : right;
}

/* Returns now + span, or SLEEP_NEVER if the clock cannot represent that. */
static tr_time time_after(tr_time now, tr_time span)
{
    tr_time at;
    return __builtin_add_overflow(now, span, &at) ? SLEEP_NEVER : at;
}

static bool is_grace(const struct sleep_machine *machine)
{
    return machine->state == SLEEP_GRACE || machine->state == SLEEP_DESTROY_GRACE;
}

static enum sleep_reason reason_of(const struct sleep_machine *machine)
{
    bool destroys = machine->state == SLEEP_DESTROY_GRACE || machine->state == SLEEP_DESTROYING;
    return destroys ? SLEEP_REASON_DESTROY : SLEEP_REASON_SLEEP;
}

/* Returns the status of an event that is not allowed in this state. */
static tr_status hook_is_misplaced(const struct sleep_machine *machine)
{
    return machine->state == SLEEP_TERMINATED ? TR_STOPPED : TR_INVALID_TRANSITION;
}

/* If `set` contains a counter that blocks idle sleep, notes that an input of the idle predicate has changed. */
static void note_change(struct sleep_machine *machine, uint32_t set, tr_time now)
{
    if (set & counters_block_idle) {
        machine->is_changed = true;
        machine->changed_at = now;
    }
}

/* Clears the timer, and the step that would arm it. */
static void timer_disarm(struct sleep_machine *machine)
{
    machine->due = SLEEP_NEVER;
    machine->agenda &= ~(BIT(ARM_IDLE) | BIT(ARM_GRACE) | BIT(ARM_CAP));
}

/* ---- Decisions. ---- */

/* Decides about the idle timer after a change. If the idle predicate allows it, arms the timer with
 * its full time; otherwise clears it. */
static void decide_idle(struct sleep_machine *machine)
{
    bool was_armed = machine->due != SLEEP_NEVER;
    bool is_asked = machine->is_sleep_asked || machine->is_destroy_asked;
    bool is_idle = !is_asked && tr__sleep_can_arm(machine) == COUNTER_NONE;
    machine->is_changed = false;
    machine->due =
        is_idle ? time_after(machine->changed_at, machine->options.idle_ns) : SLEEP_NEVER;
    if (machine->due != SLEEP_NEVER)
        machine->agenda |= BIT(ARM_IDLE);
    else if (was_armed)
        machine->agenda |= BIT(CLEAR_IDLE);
}

static void close_all(struct sleep_machine *machine, uint32_t write_step)
{
    timer_disarm(machine);
    machine->agenda |= CLOSE_STEPS | write_step;
}

static void sleep_finalize(struct sleep_machine *machine, tr_time now)
{
    if (machine->state == SLEEP_DESTROY_GRACE) {
        machine->state = SLEEP_DESTROYING;
        close_all(machine, BIT(ERASE));
        return;
    }
    machine->state = SLEEP_FINALIZE;
    machine->awaits_serialized = true;
    machine->due = min_time(time_after(now, SLEEP_SERIALIZE_CAP_NS), machine->shutdown_at);
    machine->agenda |= SERIALIZE_STEPS;
}

/* Takes the next decision of the present state. The caller has done all steps that were due. */
static void sleep_decide(struct sleep_machine *machine, tr_time now)
{
    TR_ASSERT(machine->agenda == 0);
    if (machine->state == SLEEP_STARTED && machine->is_changed)
        decide_idle(machine);
    else if (is_grace(machine) &&
             (machine->is_overdue || tr__sleep_can_finalize(machine, reason_of(machine))))
        sleep_finalize(machine, now);
}

/* ---- Grace and end. ---- */

/*
 * Sets the end of the grace. The grace takes as long as the option says, or `grace_ns` if that is shorter and not 0.
 * During a shutdown it takes at most 80 % of the time that is left.
 */
static void set_deadline(struct sleep_machine *machine, tr_time grace_ns, tr_time now)
{
    tr_time grace = machine->options.grace_ns;
    if (grace_ns > 0)
        grace = min_time(grace, grace_ns);
    if (machine->shutdown_at != SLEEP_NEVER) {
        tr_time left = machine->shutdown_at > now ? machine->shutdown_at - now : 0;
        grace = min_time(grace, left - left / 5);
    }
    machine->deadline = time_after(now, grace);
    machine->due = min_time(machine->deadline, time_after(now, SLEEP_TICK_NS));
}

static struct wake_lock *hook_of(struct sleep_machine *machine, enum sleep_reason reason)
{
    return reason == SLEEP_REASON_DESTROY ? &machine->on_destroy : &machine->on_sleep;
}

/* Raises the wake lock of the hook and returns the step that runs it. The wake lock is raised now, before the host runs
 * the hook, so that the grace cannot end before the hook. */
static uint32_t hook_step(struct sleep_machine *machine, enum sleep_reason reason, tr_time now)
{
    bool destroys = reason == SLEEP_REASON_DESTROY;
    if (!(destroys ? machine->options.has_on_destroy : machine->options.has_on_sleep))
        return 0;
    struct wake_lock *wake_lock = hook_of(machine, reason);
    wake_lock->what = destroys ? "on_destroy, not started" : "on_sleep, not started";
    tr__wake_locks_add(&machine->wake_locks, wake_lock, COUNTER_HOOKS, now);
    return destroys ? BIT(RUN_ON_DESTROY) : BIT(RUN_ON_SLEEP);
}

static void enter_grace(struct sleep_machine *machine, enum sleep_reason reason, tr_time grace_ns,
                        tr_time now)
{
    TR_ASSERT(machine->state == SLEEP_STARTED);
    bool destroys = reason == SLEEP_REASON_DESTROY;
    machine->state = destroys ? SLEEP_DESTROY_GRACE : SLEEP_GRACE;
    set_deadline(machine, grace_ns, now);
    machine->agenda &= BIT(SEND_DESTROY);
    machine->agenda |= GRACE_STEPS | hook_step(machine, reason, now);
}

static void grace_upgrade(struct sleep_machine *machine, tr_time grace_ns, tr_time now)
{
    TR_ASSERT(machine->state == SLEEP_GRACE);
    TR_ASSERT(!machine->is_overdue);
    machine->state = SLEEP_DESTROY_GRACE;
    set_deadline(machine, grace_ns, now);
    machine->agenda |= UPGRADE_STEPS | hook_step(machine, SLEEP_REASON_DESTROY, now);
}

static void sleep_take_serialized(struct sleep_machine *machine, tr_status outcome)
{
    TR_ASSERT(machine->awaits_serialized);
    machine->awaits_serialized = false;
    machine->status = outcome;
    machine->agenda &= ~BIT(SERIALIZE);
    close_all(machine, outcome == TR_OK ? BIT(COMMIT_STATE) : 0);
}

static void sleep_end(struct sleep_machine *machine, enum sleep_outcome outcome)
{
    TR_ASSERT(machine->state != SLEEP_TERMINATED);
    machine->state = SLEEP_TERMINATED;
    machine->outcome = outcome;
    timer_disarm(machine);
    machine->agenda |=
        END_STEPS | (outcome == SLEEP_ENDED_DESTROYED ? BIT(CLEAR_ALARMS) : BIT(KEEP_ALARMS));
}

/* ---- The loop. ---- */

void tr__sleep_init(struct sleep_machine *machine, const struct sleep_options *options, tr_time now)
{
    TR_ASSERT(options->idle_ns >= 0);
    TR_ASSERT(options->grace_ns >= 0);
    *machine = (struct sleep_machine){
        .options = *options,
        .no_sleep = {.what = "set by the kind's options"},
        .state = SLEEP_LOADING,
        .due = SLEEP_NEVER,
        .deadline = SLEEP_NEVER,
        .shutdown_at = SLEEP_NEVER,
    };
    if (options->idle_ns == 0)
        machine->options.idle_ns = SLEEP_IDLE_NS;
    if (options->grace_ns == 0)
        machine->options.grace_ns = SLEEP_GRACE_NS;
    tr__wake_locks_init(&machine->wake_locks);
    if (options->no_sleep)
        tr__wake_locks_add(&machine->wake_locks, &machine->no_sleep, COUNTER_NO_SLEEP, now);
}

bool tr__sleep_next(struct sleep_machine *machine, tr_time now, struct sleep_action *action)
{
    if (!machine->agenda)
        sleep_decide(machine, now);
    if (!machine->agenda)
        return false;
    enum sleep_step step = (enum sleep_step)__builtin_ctz(machine->agenda);
    machine->agenda &= machine->agenda - 1;
    *action = (struct sleep_action){
        .step = step,
        .at = machine->due,
        .status = machine->status,
        .outcome = machine->outcome,
    };
    if (step == STEP_TERMINATED)
        tr__wake_locks_release(&machine->wake_locks);
    return true;
}

/* ---- Events. ---- */

tr_status tr__sleep_started(struct sleep_machine *machine, tr_time now)
{
    if (machine->state != SLEEP_LOADING)
        return hook_is_misplaced(machine);
    machine->state = SLEEP_STARTED;
    note_change(machine, 1U << COUNTER_NOT_READY, now);
    if (machine->stop_waits)
        enter_grace(machine, machine->stop_waits, machine->stop_grace_ns, now);
    return TR_OK;
}

tr_status tr__sleep_start_failed(struct sleep_machine *machine, tr_status why)
{
    return machine->state == SLEEP_LOADING ? tr__sleep_crash(machine, why)
                                           : hook_is_misplaced(machine);
}

tr_status tr__sleep_raise(struct sleep_machine *machine, struct wake_lock *wake_lock,
                          enum sleep_counter counter, tr_time now)
{
    if (machine->state == SLEEP_TERMINATED)
        return TR_STOPPED;
    if (wake_lock_is_raised(wake_lock))
        return TR_INVALID_TRANSITION;
    tr__wake_locks_add(&machine->wake_locks, wake_lock, counter, now);
    note_change(machine, 1U << counter, now);
    return TR_OK;
}

void tr__sleep_drop(struct sleep_machine *machine, struct wake_lock *wake_lock, tr_time now)
{
    if (!wake_lock_is_raised(wake_lock))
        return;
    tr__wake_locks_remove(&machine->wake_locks, wake_lock);
    note_change(machine, 1U << wake_lock->counter, now);
}

void tr__sleep_move(struct sleep_machine *machine, struct wake_lock *wake_lock,
                    enum sleep_counter counter, tr_time now)
{
    if (!wake_lock_is_raised(wake_lock) || wake_lock->counter == counter)
        return;
    note_change(machine, 1U << wake_lock->counter | 1U << counter, now);
    tr__wake_locks_move(&machine->wake_locks, wake_lock, counter);
}

static tr_status ask_sleep(struct sleep_machine *machine, tr_time now)
{
    if (machine->state != SLEEP_STARTED)
        return TR_STOPPING;
    if (machine->is_sleep_asked)
        return TR_OK;
    machine->is_sleep_asked = true;
    machine->agenda |= BIT(SEND_SLEEP);
    note_change(machine, counters_block_idle, now);
    return TR_OK;
}

tr_status tr__sleep_may_destroy(const struct sleep_machine *machine)
{
    bool is_in_time =
        machine->state == SLEEP_STARTED || (machine->state == SLEEP_GRACE && !machine->is_overdue);
    if (machine->state == SLEEP_LOADING)
        return TR_STARTING;
    return !is_in_time || machine->is_destroy_asked ? TR_STOPPING : TR_OK;
}

static tr_status ask_destroy(struct sleep_machine *machine, tr_time now)
{
    tr_status status = tr__sleep_may_destroy(machine);
    if (status != TR_OK)
        return status;
    machine->is_destroy_asked = true;
    machine->agenda |= BIT(SEND_DESTROY);
    note_change(machine, counters_block_idle, now);
    return TR_OK;
}

tr_status tr__sleep_ask(struct sleep_machine *machine, enum sleep_reason reason, tr_time now)
{
    if (machine->state == SLEEP_LOADING)
        return TR_STARTING;
    return reason == SLEEP_REASON_DESTROY ? ask_destroy(machine, now) : ask_sleep(machine, now);
}

bool tr__sleep_evict(struct sleep_machine *machine)
{
    if (tr__sleep_can_arm(machine) != COUNTER_NONE)
        return false;
    if (machine->is_sleep_asked || machine->is_destroy_asked)
        return false;
    machine->is_sleep_asked = true;
    machine->is_changed = true;
    machine->agenda |= BIT(SEND_SLEEP);
    return true;
}

/* Notes a stop that must wait until the start is done. If two stops wait, a destroy replaces a sleep, and the shorter
 * grace counts. */
static tr_status stop_later(struct sleep_machine *machine, enum sleep_reason reason,
                            tr_time grace_ns)
{
    if (machine->stop_waits >= reason)
        return TR_STOPPING;
    machine->stop_waits = reason;
    if (grace_ns > 0 && (machine->stop_grace_ns == 0 || grace_ns < machine->stop_grace_ns))
        machine->stop_grace_ns = grace_ns;
    return TR_OK;
}

tr_status tr__sleep_stop(struct sleep_machine *machine, enum sleep_reason reason, tr_time grace_ns,
                         tr_time now)
{
    switch (machine->state) {
    case SLEEP_LOADING:
        return stop_later(machine, reason, grace_ns);
    case SLEEP_STARTED:
        enter_grace(machine, reason, grace_ns, now);
        return TR_OK;
    case SLEEP_GRACE:
        if (reason != SLEEP_REASON_DESTROY || machine->is_overdue)
            return TR_STOPPING;
        grace_upgrade(machine, grace_ns, now);
        return TR_OK;
    case SLEEP_FINALIZE:
    case SLEEP_DESTROY_GRACE:
    case SLEEP_DESTROYING:
        return TR_STOPPING;
    case SLEEP_TERMINATED:
        break;
    }
    return TR_STOPPED;
}

void tr__sleep_shut_down(struct sleep_machine *machine, tr_time left_ns, tr_time now)
{
    tr_time left = left_ns > 0 ? left_ns : 0;
    machine->shutdown_at = min_time(machine->shutdown_at, time_after(now, left));
    if (is_grace(machine) && !machine->is_overdue) {
        machine->deadline = min_time(machine->deadline, time_after(now, left - left / 5));
        machine->due = min_time(machine->due, machine->deadline);
        machine->agenda |= BIT(ARM_GRACE);
    } else if (machine->state == SLEEP_FINALIZE && machine->awaits_serialized) {
        machine->due = min_time(machine->due, machine->shutdown_at);
        machine->agenda |= BIT(ARM_CAP);
    }
}

static void grace_timer(struct sleep_machine *machine, tr_time now)
{
    if (now < machine->deadline) {
        machine->due = min_time(machine->deadline, time_after(now, SLEEP_TICK_NS));
        machine->agenda |= BIT(ARM_GRACE);
        return;
    }
    if (tr__sleep_can_finalize(machine, reason_of(machine))) {
        /* sleep_decide ends the grace when the agenda is empty. If new work begins before that, the next tick decides
         * again. */
        machine->due = time_after(now, SLEEP_TICK_NS);
        machine->agenda |= BIT(ARM_GRACE);
        return;
    }
    timer_disarm(machine);
    machine->is_overdue = true;
    /* Skip a hook that has not started. The warning names the wake lock of that hook. */
    machine->agenda &= ~(BIT(RUN_ON_SLEEP) | BIT(RUN_ON_DESTROY));
    machine->agenda |= DEADLINE_STEPS;
}

void tr__sleep_timer(struct sleep_machine *machine, tr_time now)
{
    if (machine->due == SLEEP_NEVER)
        return;
    bool is_early = now < machine->due;
    if (is_grace(machine)) {
        if (is_early)
            machine->agenda |= BIT(ARM_GRACE);
        else
            grace_timer(machine, now);
    } else if (machine->state == SLEEP_FINALIZE) {
        if (is_early)
            machine->agenda |= BIT(ARM_CAP);
        else
            sleep_take_serialized(machine, TR_TIMEOUT);
    } else if (is_early) {
        machine->agenda |= BIT(ARM_IDLE);
    } else {
        /* If a change was not examined yet, the actor is perhaps not idle, so do not make it
         * sleep. */
        timer_disarm(machine);
        if (!machine->is_changed)
            (void)tr__sleep_evict(machine);
    }
}

tr_status tr__sleep_hook_begin(struct sleep_machine *machine, enum sleep_reason reason)
{
    struct wake_lock *hook = hook_of(machine, reason);
    if (machine->state == SLEEP_TERMINATED || !wake_lock_is_raised(hook))
        return hook_is_misplaced(machine);
    hook->what = reason == SLEEP_REASON_DESTROY ? "on_destroy" : "on_sleep";
    return TR_OK;
}

tr_status tr__sleep_hook_end(struct sleep_machine *machine, enum sleep_reason reason, tr_time now)
{
    struct wake_lock *hook = hook_of(machine, reason);
    if (machine->state == SLEEP_TERMINATED || !wake_lock_is_raised(hook))
        return hook_is_misplaced(machine);
    tr__sleep_drop(machine, hook, now);
    return TR_OK;
}

tr_status tr__sleep_serialized(struct sleep_machine *machine, tr_status outcome)
{
    if (machine->state != SLEEP_FINALIZE || !machine->awaits_serialized)
        return hook_is_misplaced(machine);
    if (machine->agenda & BIT(SERIALIZE))
        return TR_INVALID_TRANSITION;
    sleep_take_serialized(machine, outcome);
    return TR_OK;
}

tr_status tr__sleep_written(struct sleep_machine *machine, tr_status outcome)
{
    bool destroys = machine->state == SLEEP_DESTROYING;
    if (!destroys && (machine->state != SLEEP_FINALIZE || machine->awaits_serialized))
        return hook_is_misplaced(machine);
    if (machine->agenda & BIT(WAIT_WRITES))
        return TR_INVALID_TRANSITION;
    if (machine->status == TR_OK)
        machine->status = outcome;
    if (!destroys)
        sleep_end(machine, SLEEP_ENDED_ASLEEP);
    else
        sleep_end(machine, outcome == TR_OK ? SLEEP_ENDED_DESTROYED : SLEEP_ENDED_CRASHED);
    return TR_OK;
}

tr_status tr__sleep_crash(struct sleep_machine *machine, tr_status why)
{
    if (machine->state == SLEEP_TERMINATED)
        return TR_STOPPED;
    machine->status = why;
    machine->agenda = CRASH_STEPS;
    sleep_end(machine, SLEEP_ENDED_CRASHED);
    return TR_OK;
}

/* ---- Questions. ---- */

static uint32_t blocks_finalize(enum sleep_reason reason)
{
    return reason == SLEEP_REASON_DESTROY ? counters_block_destroy : counters_block_sleep;
}

enum sleep_counter tr__sleep_can_arm(const struct sleep_machine *machine)
{
    if (machine->state != SLEEP_STARTED)
        return COUNTER_NOT_READY;
    return counters_first(machine->wake_locks.raised & counters_block_idle);
}

bool tr__sleep_can_finalize(const struct sleep_machine *machine, enum sleep_reason reason)
{
    return (machine->wake_locks.raised & blocks_finalize(reason)) == 0;
}

enum sleep_door tr__sleep_door(const struct sleep_machine *machine)
{
    switch (machine->state) {
    case SLEEP_LOADING:
        return SLEEP_DOOR_HOLD;
    case SLEEP_STARTED:
    case SLEEP_GRACE:
        return SLEEP_DOOR_SERVE;
    case SLEEP_DESTROY_GRACE:
    case SLEEP_DESTROYING:
        return SLEEP_DOOR_REFUSE;
    case SLEEP_FINALIZE:
    case SLEEP_TERMINATED:
        break;
    }
    return SLEEP_DOOR_NEXT;
}

uint32_t tr__sleep_blocks_next(const struct sleep_machine *machine)
{
    switch (machine->state) {
    case SLEEP_STARTED:
        return counters_block_idle;
    case SLEEP_GRACE:
        return counters_block_sleep;
    case SLEEP_DESTROY_GRACE:
        return counters_block_destroy;
    case SLEEP_LOADING:
    case SLEEP_FINALIZE:
    case SLEEP_DESTROYING:
    case SLEEP_TERMINATED:
        break;
    }
    return 0;
}
