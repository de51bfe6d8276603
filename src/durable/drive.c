/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Performs the steps of the sleep machine.
 *
 * Most steps can be performed anywhere on the actor's worker. From STEP_NAME_WAKE_LOCKS on, steps
 * cancel turns and end the actor. A turn of the actor cannot do that from its own stack. So these
 * steps wait until the actor handles tr_durable_driven, a message of the runtime that passes all
 * barriers (tr__durable_nudge).
 */
#include "actor/cell/names.h"
#include "os/probe.h"
#include "durable/drive.h"

#include <string.h>

#include "actor/life/pooled.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "durable/alarm.h"
#include "durable/clock.h"
#include "durable/commit.h"
#include "durable/connections.h"
#include "durable/events.h"
#include "durable/host.h"
#include "durable/pressure.h"
#include "durable/queue.h"
#include "durable/retry_backoff.h"
#include "durable/setup.h"
#include "durable/state.h"
#include "durable/waker.h"
#include "durable/work.h"
#include "sleep/authority.h"
#include "sleep/sleep.h"
#include "sleep/why.h"
#include "actor/mail/stash.h"
#include "actor/cell/log.h"
#include "actor/system/report.h"

/* ---- The timer. ---- */

/* If an actor cannot be saved because its handler is stuck, the next attempt comes after this
 * time. */
#define SAVE_AGAIN_NS (10 * TR_MILLISECOND)

void tr__durable_arm(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    struct timer_node *wake_timer = &actor->durable.wake_timer;
    tr_time due_ns = actor->due_ns < actor->save_ns ? actor->due_ns : actor->save_ns;
    due_ns = due_ns < actor->look_ns ? due_ns : actor->look_ns;
    due_ns = due_ns < actor->end.resend_at ? due_ns : actor->end.resend_at;
    due_ns = due_ns < actor->authority.end.resend_at ? due_ns : actor->authority.end.resend_at;
    /* Leave a timer that is armed for an earlier time. When it fires, it is armed again. */
    if (timer_is_armed(wake_timer) && wake_timer->deadline_ns <= due_ns)
        return;
    tr__wheel_cancel(&worker->timers.wake_timers, wake_timer);
    if (due_ns < TR_NEVER)
        tr__wheel_arm(&worker->timers.wake_timers, wake_timer, due_ns);
}

static void notes_resend(struct worker *worker, struct durable_actor *actor);

void tr__durable_wake_timer(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct durable_actor *actor = (struct durable_actor *)(void *)cell_durable(cell);
    tr_time now_ns = worker->loop.now_ns;
    /* The state cannot be saved now, because the handler is stuck. The worker has got another
     * thread, and the old thread is still inside the handler. The handler may be changing the
     * state, and its commit is open. */
    if (cell->extra->waits.stuck && actor->save_ns <= now_ns)
        actor->save_ns = now_ns + SAVE_AGAIN_NS;
    if (actor->save_ns <= now_ns) {
        actor->save_ns = TR_NEVER;
        tr_status status = TR_OK;
        if (actor->machine.state < SLEEP_TERMINATED && cell->life == LIFE_RUNNING)
            status = tr__commit_end(worker, actor, true);
        if (status != TR_OK) {
            tr__commit_fail(worker, actor, status);
            tr__durable_break(worker, actor, status);
        }
    }
    bool is_due = actor->due_ns <= now_ns;
    bool looks = is_due || actor->look_ns <= now_ns;
    if (is_due)
        actor->due_ns = TR_NEVER;
    if (looks) {
        actor->look_ns = TR_NEVER;
        /* tr__sleep_timer decides whether the actor is idle by its wake locks. Update those for
         * mail, owed replies and items first. */
        tr__work_look(worker, actor);
        if (is_due)
            tr__sleep_timer(&actor->machine, now_ns);
        tr__durable_drive(worker, actor, false);
    }
    notes_resend(worker, actor);
    tr__durable_arm(worker, actor);
}

/* ---- The authority. ---- */

static void take_command(struct worker *worker, struct durable_actor *actor,
                         const struct note *command)
{
    struct note_receipt receipt;
    enum note_verdict verdict = tr__note_receive(&actor->end, command, &receipt);
    if (verdict != NOTE_DROP)
        tr__note_acknowledge(&actor->authority.end, &receipt);
    if (verdict != NOTE_TAKE)
        return;
    enum sleep_reason reason =
        command->kind == NOTE_STOP_DESTROY ? SLEEP_REASON_DESTROY : SLEEP_REASON_SLEEP;
    (void)!tr__sleep_stop(&actor->machine, reason, command->grace_ns, worker->loop.now_ns);
}

void tr__durable_take_answer(struct worker *worker, struct durable_actor *actor,
                             const struct authority_answer *answer)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    if (answer->has_receipt)
        tr__note_acknowledge(&actor->end, &answer->receipt);
    if (answer->has_command)
        take_command(worker, actor, &answer->command);
}

/*
 * Sends notes again that were not acknowledged in time. This is for the cluster, which is not built yet. Inside one
 * process a call passes each note and its receipt, and loses nothing. So the two loops run only in
 * tests/unit/durable_notes_test.c, which makes notes without passing them.
 */
static void notes_resend(struct worker *worker, struct durable_actor *actor)
{
    struct note_end *end = &actor->end;
    struct note_end *other = &actor->authority.end;
    tr_time now_ns = worker->loop.now_ns;
    bool sends = note_pending(end) && tr__note_resend(end, now_ns);
    bool commands = note_pending(other) && tr__note_resend(other, now_ns);
    for (int i = 0; i < NOTES_MAX && sends && note_pending(end); i++) {
        struct authority_answer answer = {0};
        const struct note note = *tr__note_pending_at(end, 0);
        tr__authority_receive(&actor->authority, &note, now_ns, &answer);
        tr__durable_take_answer(worker, actor, &answer);
    }
    for (int i = 0; i < NOTES_MAX && commands && note_pending(other); i++) {
        const struct note command = *tr__note_pending_at(other, 0);
        take_command(worker, actor, &command);
    }
    if (sends || commands)
        tr__durable_drive(worker, actor, false);
}

static void send_intent(struct worker *worker, struct durable_actor *actor, struct note content)
{
    struct note note;
    struct authority_answer answer = {0};
    tr_time now_ns = worker->loop.now_ns;
    if (tr__note_send(&actor->end, content, now_ns, &note) != TR_OK)
        return;
    tr__authority_receive(&actor->authority, &note, now_ns, &answer);
    tr__durable_take_answer(worker, actor, &answer);
}

/* ---- Steps. ---- */

static void run_hook(struct worker *worker, struct durable_actor *actor, enum sleep_reason reason)
{
    struct tr_durable_hooked hooked = {.reason = (uint32_t)reason};
    tr_status status =
        tr__durable_tell(worker, actor->durable.cell, &tr_type_tr_durable_hooked, &hooked);
    if (status == TR_OK)
        return;
    /* There was no memory for the message, so skip the hook. The actor ends without it. */
    (void)!tr__sleep_hook_begin(&actor->machine, reason);
    (void)!tr__sleep_hook_end(&actor->machine, reason, worker->loop.now_ns);
}

static void name_wake_locks(struct worker *worker, struct durable_actor *actor)
{
    char *text = source_resize(&worker->source, actor->warning, WAKE_LOCKS_TEXT_SIZE);
    if (!text)
        return;
    tr__sleep_why(&actor->machine, worker->loop.now_ns, text, WAKE_LOCKS_TEXT_SIZE);
    actor->warning = text;
}

static void log_about(struct worker *worker, struct durable_actor *actor, tr_level level,
                      const char *what, const char *detail)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, actor->durable.cell, path);
    tr__log(worker->system, level, path, "%s%s", what, detail);
}

static void drive_serialize(struct worker *worker, struct durable_actor *actor)
{
    tr_status status = actor->broken;
    if (status == TR_OK)
        status = tr__commit_end(worker, actor, true);
    if (status != TR_OK) {
        char why[sizeof(tr_wire_error)];
        tr__durable_state_why(worker, actor, status, why, sizeof why);
        tr__commit_fail(worker, actor, status);
        log_about(
            worker,
            actor,
            TR_LEVEL_ERROR,
            "the last changes are not stored; the actor falls asleep with the previous state: ",
            why);
    }
    (void)!tr__sleep_serialized(&actor->machine, status);
}

static void drive_erase(struct worker *worker, struct durable_actor *actor)
{
    struct store_batch *batch;
    tr__commit_drop(worker, actor, TR_DESTROYING);
    batch = tr__commit_batch(actor);
    tr_status status = batch ? tr__store_destroy(batch) : TR_NO_MEMORY;
    atom64_fetch_add(&actor->kind->host->destroyed, 1, ATOM_RELAXED);
    if (status == TR_OK) {
        /* Submit only the removal, because the state is not needed any more. */
        actor->is_new = false;
        status = tr__commit_submit(worker, actor);
    }
    actor->is_erased = true;
    actor->erased = status;
    if (status == TR_OK)
        return;
    tr__commit_drop(worker, actor, status);
    log_about(worker,
              actor,
              TR_LEVEL_ERROR,
              actor->broken != TR_OK ? "not destroyed, because that cannot be stored: "
                                     : "destroyed, but its stored data is still there: ",
              tr_status_text(status));
}

static void drive_wait_writes(struct durable_actor *actor)
{
    if (list_is_empty(&actor->commits))
        (void)!tr__sleep_written(&actor->machine, actor->erased);
    else
        actor->is_stored_awaited = true;
}

static void drive_terminated(struct worker *worker, struct durable_actor *actor)
{
    struct cell *cell = actor->durable.cell;
    struct note note = {.kind = NOTE_ENDED, .outcome = actor->machine.outcome};
    send_intent(worker, actor, note);
    cell->flags |= CELL_SEALED;
    actor->durable.may_stop = true;
    mail_rouse(worker, cell);
}

/* Performs a step that can be performed anywhere on the actor's worker. */
static void step_perform_early(struct worker *worker, struct durable_actor *actor,
                               const struct sleep_action *action)
{
    struct cell *cell = actor->durable.cell;
    switch (action->step) {
    case STEP_SEND_SLEEP:
        send_intent(worker, actor, (struct note){.kind = NOTE_SLEEP});
        break;
    case STEP_SEND_DESTROY:
        send_intent(worker, actor, (struct note){.kind = NOTE_DESTROY});
        break;
    case STEP_ARM_IDLE:
    case STEP_ARM_GRACE:
        actor->due_ns = action->at;
        tr__durable_arm(worker, actor);
        break;
    case STEP_CLEAR_IDLE:
        actor->due_ns = TR_NEVER;
        break;
    case STEP_ACCEPT_STOP:
        if (actor->machine.state == SLEEP_DESTROY_GRACE) {
            /* From now on the actor accepts no message. */
            actor->durable.refusal = TR_DESTROYING;
            tr__host_leave(actor->kind->host, actor, true);
            cell->flags |= CELL_SEALED;
        }
        break;
    case STEP_DRAIN_DISPATCH:
        /* Handle messages that arrived before the actor got its refusal. */
        mail_look(worker, cell);
        break;
    case STEP_FIRE_ABORT:
        actor->is_aborted = true;
        tr__queues_abort(actor);
        if (actor->events)
            tr__events_wake(worker, actor);
        break;
    case STEP_SETTLE_CONNECTIONS:
        /* Close the connections only if the actor is being destroyed. Connections of a sleeping
         * actor stay open. */
        actor->is_settling = actor->machine.state == SLEEP_DESTROY_GRACE;
        tr__connections_settle(worker, actor);
        break;
    case STEP_RUN_ON_SLEEP:
        run_hook(worker, actor, SLEEP_REASON_SLEEP);
        break;
    case STEP_RUN_ON_DESTROY:
        run_hook(worker, actor, SLEEP_REASON_DESTROY);
        break;
    /* SUSPEND_ALARMS: nothing to do, because alarms check the state of the machine themselves. */
    default:
        break;
    }
}

/* Performs a step that cannot be performed inside a turn of the actor. */
static void step_perform_late(struct worker *worker, struct durable_actor *actor,
                              const struct sleep_action *action)
{
    struct cell *cell = actor->durable.cell;
    switch (action->step) {
    case STEP_NAME_WAKE_LOCKS:
        name_wake_locks(worker, actor);
        break;
    case STEP_FIRE_DEADLINE:
        actor->is_deadline_over = true;
        atom64_fetch_add(&actor->kind->host->timeouts, 1, ATOM_RELAXED);
        break;
    case STEP_WARN:
        log_about(worker,
                  actor,
                  TR_LEVEL_WARN,
                  "ends before all work is done, because the grace time is over: ",
                  actor->warning ? actor->warning : "out of memory for the reasons");
        break;
    case STEP_ARM_CAP:
        actor->due_ns = action->at;
        tr__durable_arm(worker, actor);
        break;
    case STEP_CLEAR_TIMER:
        actor->due_ns = TR_NEVER;
        break;
    case STEP_SERIALIZE:
        drive_serialize(worker, actor);
        break;
    case STEP_CLOSE_EVENTS:
        tr__host_leave(actor->kind->host, actor, actor->is_destroying);
        mail_look(worker, cell);
        cell->flags |= CELL_SEALED;
        (void)tr__unstash(cell, SIZE_MAX); /* the next generation gets the stashed messages */
        break;
    case STEP_CANCEL_TURNS:
        if (cell->extra->parked.count)
            tr__turns_cancel(worker, cell);
        break;
    case STEP_ERASE:
        drive_erase(worker, actor);
        break;
    case STEP_WAIT_WRITES:
        drive_wait_writes(actor);
        break;
    case STEP_TERMINATED:
        drive_terminated(worker, actor);
        break;
    case STEP_KEEP_ALARMS:
        /* The clock wakes the next generation when the next alarm is due. */
        if (tr__alarms_next(actor) < TR_NEVER)
            tr__clock_tell(worker, actor->kind->host, tr__alarms_next(actor));
        if (actor->queues.row_ns < TR_NEVER)
            tr__clock_tell(worker, actor->kind->host, actor->queues.row_ns);
        break;
    /* COMMIT_STATE: nothing to do, because the state was submitted in the step SERIALIZE.
     * CANCEL_RUN and JOIN_RUN: nothing to do, because the run handler is an ordinary turn. The
     * other steps need nothing either. */
    default:
        break;
    }
}

static void step_perform(struct worker *worker, struct durable_actor *actor,
                         const struct sleep_action *action)
{
    if (action->step < STEP_NAME_WAKE_LOCKS)
        step_perform_early(worker, actor, action);
    else
        step_perform_late(worker, actor, action);
}

void tr__durable_nudge(struct worker *worker, struct durable_actor *actor)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    static const struct tr_durable_driven driven;
    if (actor->is_drive_posted)
        return;
    actor->is_drive_posted = true;
    if (tr__durable_tell(worker, actor->durable.cell, &tr_type_tr_durable_driven, &driven) !=
        TR_OK) {
        actor->is_drive_posted = false;
        /* no memory for the message, so try again a little later */
        actor->due_ns = worker->loop.now_ns + TR_MILLISECOND;
        tr__durable_arm(worker, actor);
    }
}

/* Whether the next step or decision cannot be performed inside a turn, and so must wait for a
 * message of the runtime. */
static bool is_grave_next(const struct sleep_machine *machine)
{
    static const uint32_t anywhere = (1u << STEP_NAME_WAKE_LOCKS) - 1;
    if (machine->agenda)
        return !(machine->agenda & anywhere);
    /* During a grace the agenda is often empty. The machine then only checks whether the grace may end. */
    if (machine->state == SLEEP_GRACE)
        return machine->is_overdue || tr__sleep_can_finalize(machine, SLEEP_REASON_SLEEP);
    if (machine->state == SLEEP_DESTROY_GRACE)
        return machine->is_overdue || tr__sleep_can_finalize(machine, SLEEP_REASON_DESTROY);
    return false;
}

static void drive_steps(struct worker *worker, struct durable_actor *actor, bool is_apart)
{
    struct sleep_machine *machine = &actor->machine;
    struct sleep_action action;
    for (;;) {
        if (!machine->agenda)
            /* The machine will look at the work of the actor, so update that first. */
            tr__work_look(worker, actor);
        if (!is_apart && is_grave_next(machine)) {
            tr__durable_nudge(worker, actor);
            return;
        }
        if (!tr__sleep_next(machine, worker->loop.now_ns, &action))
            return;
        step_perform(worker, actor, &action);
    }
}

void tr__durable_drive(struct worker *worker, struct durable_actor *actor, bool is_apart)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    drive_steps(worker, actor, is_apart);
    if (actor->machine.state == SLEEP_STARTED)
        tr__pressure_serve(worker, actor->kind->host);
}

void tr__durable_skipped(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    tr__durable_drive(worker, (struct durable_actor *)(void *)cell_durable(cell), false);
}

tr_next tr__durable_skip(struct tr_self *self)
{
    tr__durable_drive(self->worker, durable_of(self), false);
    return TR_SAME;
}

/* ---- The end. ---- */

void tr__durable_stop(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct durable_actor *actor = (struct durable_actor *)(void *)cell_durable(cell);
    struct tr_system *system = worker->system;
    tr_time now_ns = worker->loop.now_ns;
    struct authority_answer answer = {0};
    if (actor->machine.state >= SLEEP_FINALIZE && actor->machine.state != SLEEP_DESTROY_GRACE)
        return; /* the actor is already ending */
    if (atom32_load(&system->ending.is_stopping, ATOM_RELAXED)) {
        tr_time deadline_ns = (tr_time)atom64_load(&system->ending.deadline_ns, ATOM_RELAXED);
        tr__sleep_shut_down(
            &actor->machine, deadline_ns > now_ns ? deadline_ns - now_ns : 0, now_ns);
    }
    tr__authority_stop(&actor->authority, SLEEP_REASON_SLEEP, 0, now_ns, &answer);
    tr__durable_take_answer(worker, actor, &answer);
    tr__durable_drive(worker, actor, false);
}

void tr__durable_leave(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct durable_actor *actor = (struct durable_actor *)(void *)cell_durable(cell);
    bool has_failed = cell->flags & CELL_FAILED || cell->life == LIFE_STOPPED;
    /* The actor is to be destroyed, and the steps of a destroy have not erased its rows. It was
     * killed or failed during the grace, or fell asleep before the machine accepted the destroy. So
     * erase the rows here. */
    if (actor->is_doomed && !actor->is_erased && actor->broken == TR_OK)
        drive_erase(worker, actor);
    (void)!tr__sleep_crash(&actor->machine, TR_STOPPED);
    /* Begin the backoff before the name is removed. So the next generation finds the backoff. */
    if (has_failed && !atom32_load(&worker->system->ending.is_stopping, ATOM_RELAXED))
        tr__backoff_begin(worker, actor);
    tr__host_leave(actor->kind->host, actor, false);
}

void tr__durable_end(struct worker *worker, struct cell *cell, struct durable *durable)
{
    PROBE1(sleep, cell->identity);
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct durable_actor *actor = (struct durable_actor *)(void *)durable;
    struct durable_host *host = actor->kind->host;
    enum run_wanted wanted = tr__run_wanted(actor);
    TR_ASSERT(list_is_empty(&actor->commits));
    if (actor->is_dirty && atom32_load(&worker->system->ending.is_stopping, ATOM_RELAXED))
        tr__shutdown_unstored(worker, cell);
    list_remove(&actor->awake);
    host_context(host, worker)->awake_count--;
    tr__durable_drop(worker, actor);
    if (actor->events)
        tr__events_free(worker, actor);
    if (wanted == RUN_WANTED_LATER)
        tr__backoff_wake_later(worker, actor);
    struct cell *successor = tr__host_left(host, actor);
    bool is_later = successor && tr__backoff_defer(actor->kind, actor_key(actor), successor);
    if (!successor && wanted == RUN_WANTED)
        tr__host_begin(worker, actor->kind, actor_key(actor));
    source_resize(&worker->source, actor, 0);
    if (successor && !is_later)
        tr__pooled_begin(worker, successor);
    tr__pressure_serve(worker, host);
}
