/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The child's side of a failure: the actor that has failed.
 */
#include "actor/life/failure.h"

#include <stdio.h>
#include <string.h>

#include "actor/ask/waiters.h"
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/failure_log.h"
#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/sched_state.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/life/failure_record.h"
#include "actor/life/restart.h"
#include "actor/life/stop.h"
#include "actor/life/supervise.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/mail/ready.h"
#include "actor/time/receive_timeout.h"
#include "base/assert.h"
#include "actor/mail/address.h"
#include "os/probe.h"

/* ---- Failing. ---- */

/*
 * Sends the record of a failure to the parent. Returns false when the parent accepts no mail, and
 * when out of memory.
 */
static bool tell_parent(struct worker *worker, struct cell *cell, struct failure *failure)
{
    struct cell *parent = slots_parent(worker->slots, cell);
    struct envelope *envelope = envelope_take(&worker->pool);
    if (!envelope)
        return false;
    envelope->type = &tr_type_tr_none;
    envelope->block_class = ENVELOPE_NO_BLOCK;
    mail_address(envelope,
                 (struct address){
                     .kind = ENVELOPE_FAILED, .to = parent->identity, .sender = cell->identity});
    memcpy(envelope->payload.bytes, &failure, sizeof failure);
    if (tr__mail_send(worker, parent, envelope) == TR_OK)
        return true;
    envelope_give_empty(&worker->pool, envelope);
    return false;
}

/*
 * Adds to the cause of a failure what only the runtime knows: the actor, its path and its
 * incarnation. If the actor has failed because a child failed, the cause names that child already,
 * so this only sets the incarnation in the last link of the cause.
 */
static void cause_fill(const struct cell *cell, const char *path, uint32_t incarnation,
                       tr_error *cause)
{
    uint32_t links = cause->link_count;
    if (links) {
        if (links <= TR_ERROR_LINKS_MAX)
            cause->links[links - 1].incarnation = incarnation;
        return;
    }
    if (!cause->actor.bits)
        cause->actor = tr_ref_from_bits(cell->identity);
    if (cause->actor.bits != cell->identity)
        return;
    cause->incarnation = incarnation;
    size_t length = strlen(path);
    if (length < sizeof cause->path)
        memcpy(cause->path, path, length + 1);
    else
        snprintf(
            cause->path, sizeof cause->path, "...%s", path + length - (sizeof cause->path - 4));
}

/* Returns a text for the log that says why an actor failed because of a child. */
static const char *reason_of(const tr_error *error)
{
    if (!error->link_count || error->link_count > TR_ERROR_LINKS_MAX)
        return "";
    bool is_escalated = error->links[error->link_count - 1].reason == TR_BY_ESCALATION;
    return is_escalated ? "; escalated by the supervisor" : "; the limit of restarts is reached";
}

/* Logs a failure, and fills in *cause for the actors that will get the failure. */
static void report(struct worker *worker, struct cell *cell, const char *where,
                   const tr_error *error, uint32_t incarnation, tr_error *cause)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, cell, path);
    const tr_behavior *behavior = cell->dispatch ? cell->dispatch->behavior : NULL;
    const struct tr_self *turn = worker_turn(worker);
    PROBE2(failure, cell->identity, error->text);
    tr__log_turn(worker->system,
                 TR_LEVEL_ERROR,
                 path,
                 turn->cell == cell ? turn->causal : 0,
                 "failed%s%s: %s: %s%s (incarnation %u of %s, %s:%u)",
                 where ? " in " : "",
                 where ? where : "",
                 tr_status_name(error->status),
                 error->text,
                 reason_of(error),
                 incarnation + 1,
                 behavior ? behavior->name : "?",
                 behavior ? behavior->file : "?",
                 behavior ? behavior->line : 0);
    *cause = *error;
    tr__failure_log(worker->system,
                    &(struct failure_entry){.actor = cell->identity,
                                            .path = path,
                                            .behavior = behavior,
                                            .where = where,
                                            .status = error->status,
                                            .text = error->text,
                                            .incarnation = incarnation + 1});
    cause_fill(cell, path, incarnation + 1, cause);
    if (!cause->where[0])
        snprintf(cause->where, sizeof cause->where, "%.127s", path);
}

/* Logs a failure, and writes the failure into its record. `failure` may be NULL. */
static void note(struct worker *worker, struct cell *cell, const char *where, const tr_error *error,
                 struct failure *failure)
{
    tr_error cause;
    report(worker, cell, where, error, failure ? failure->incarnation : 0, &cause);
    if (!failure)
        return;
    failure->cause = cause;
    failure->where = where;
    failure_change(failure, FAILURE_PAST);
    failure->is_final = false;
    failure->is_group = false;
    failure->has_no_state = cell->life == LIFE_STARTING;
}

/*
 * Stops an actor that has failed, without a decision of its parent. The parent either cannot be
 * asked, or has nothing to decide.
 */
static void stop_failed(struct worker *worker, struct cell *cell)
{
    cell->flags |= CELL_FAILED;
    if (cell->life == LIFE_STARTING)
        tr__cell_end_unborn(worker, cell, TR_STOPPED);
    else
        tr__cell_stop(worker, cell, false);
}

void tr__failure_tell(struct worker *worker, struct cell *cell, const tr_error *error)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct failure *failure = tr__failure_new(worker, cell);
    if (!failure)
        return;
    failure->cause = *error;
    if (!error->incarnation) { /* the set-up of the first incarnation has failed */
        char path[TR_PATH_MAX + 1];
        tr__cell_path(worker->system, cell, path);
        cause_fill(cell, path, 1, &failure->cause);
    }
    failure->is_final = true;
    failure->group = tr__group_address_of_supervisor(cell);
    if (failure->group && failure->cause.actor.bits == cell->identity)
        failure->cause.actor = tr_ref_from_bits(failure->group);
    if (!tell_parent(worker, cell, failure))
        tr__failure_free(worker, failure);
}

void tr__failure_pause(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    cell->flags |= CELL_FAILED;
    tr__idle_pause(worker, cell);
    if (mail_is_parked(cell))
        tr__grants_return(cell);
    if (cell->flags & CELL_HAS_WAITING_SENDERS)
        tr__waiters_serve(worker, cell);
}

bool tr__cell_fail(struct worker *worker, struct cell *cell, const char *where,
                   const tr_error *error)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct tr_system *system = worker->system;
    TR_ASSERT(cell->life != LIFE_NEW && cell->life < LIFE_STOPPING);
    if (cell == system->user.guardian) {
        tr__system_escalate(system, error);
        return true;
    }
    if (cell->flags & CELL_FAILED)
        return true; /* the actor has failed already, and waits for a decision */
    bool is_stopping = atom32_load(&system->ending.is_stopping, ATOM_SEQ_CST);
    struct failure *failure = tr__failure_of(worker, cell);
    note(worker, cell, where, error, failure);
    bool is_last = is_stopping || cell->flags & CELL_SEALED;
    if (!failure || is_last || failure->restart == TR_TEMPORARY) {
        /* The parent is notified and not asked, because the actor stops in any case. */
        if (failure && !is_stopping)
            tr__failure_tell(worker, cell, &failure->cause);
        stop_failed(worker, cell);
        return false;
    }
    if (cell->life != LIFE_SUSPENDED)
        cell_become(system, cell, LIFE_SUSPENDED, __func__);
    tr__failure_pause(worker, cell);
    /* from now until the decision arrives, the record belongs to the parent */
    cell->extra->supervision.failure = NULL;
    cell->extra->supervision.failed_ns = worker->loop.now_ns;
    if (!tell_parent(worker, cell, failure)) {
        cell->extra->supervision.failure = failure;
        stop_failed(worker, cell);
        return false;
    }
    cell->extra->supervision.is_away = true;
    /*
     * Change to Waiting only now, because an actor that stops must be in no run queue. If the
     * decision has arrived already, make the actor run again.
     */
    cell_sched_change(cell, SCHED_WAITING);
    if (atom32_load(&cell->control, ATOM_SEQ_CST))
        mail_make_ready(worker, cell);
    return true;
}

/* ---- Carrying out a decision. ---- */

/*
 * Restarts an actor whose restart delay is over. If the actor is restarted with its group, asks the
 * parent to restart the group instead. Returns false.
 */
static bool restart_or_ask(struct worker *worker, struct cell *cell, struct failure *failure)
{
    if (!failure->is_group) {
        tr__cell_restart(worker, cell);
        return false;
    }
    /* The parent answers by taking down all members of the group, including this actor. */
    struct cell *parent = slots_parent(worker->slots, cell);
    struct address address = {
        .kind = ENVELOPE_UP, .to = parent->identity, .sender = cell->identity};
    struct tr_ready ready = {.spec = (uint64_t)(uintptr_t)failure->spec, .cause = failure->cause};
    struct envelope *envelope;
    failure_change(failure, FAILURE_READY);
    cell_sched_change(cell, SCHED_WAITING);
    tr_status status = tr__mail_new(&worker->pool, address, &tr_type_tr_ready, &ready, &envelope);
    if (status == TR_OK) {
        status = tr__mail_send(worker, parent, envelope);
        if (status != TR_OK)
            envelope_give(&worker->pool, envelope);
    }
    if (status != TR_OK)
        tr__cell_stop(worker, cell, false);
    return false;
}

bool tr__failure_handle_control(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct failure *failure = cell->extra ? cell->extra->supervision.failure : NULL;
    if (!failure)
        return true;
    switch (failure->phase) {
    case FAILURE_DECIDED:
        break;
    case FAILURE_DUE:
        return restart_or_ask(worker, cell, failure);
    case FAILURE_ORDERED:
        /* An actor that has to stop anyway is not restarted. */
        if (failure->restart == TR_TEMPORARY || cell->flags & CELL_SEALED)
            /* if the parent waits for an answer to its DOWN, the end of the actor is this answer */
            tr__cell_stop(worker, cell, true);
        else
            tr__cell_restart(worker, cell);
        return false;
    default:
        return true;
    }
    switch (failure->directive) {
    case TR_RESUME:
        failure_change(failure, FAILURE_PAST);
        cell->flags &= (uint16_t)~CELL_FAILED;
        if (cell->flags & CELL_CHANNELS)
            worker->system->channels.hooks->on_change(worker, cell);
        return true;
    case TR_RESTART:
        if (failure->delay_ns <= 0)
            return restart_or_ask(worker, cell, failure);
        failure_change(failure, FAILURE_DELAYED);
        tr__wheel_arm(&worker->life.delays,
                      &failure->delay,
                      timer_deadline(worker->system->platform->mono_now(worker->system->platform),
                                     failure->delay_ns));
        return true;
    case TR_STOP_CHILD:
    case TR_ESCALATE:
        break;
    }
    tr__cell_stop(worker, cell, false);
    return false;
}

/*
 * Clears CELL_FAILED for a permanent actor only. For such an actor the flag decides whether the
 * actor comes back. For other actors the reason of the end makes no difference.
 */
void tr__failure_overrule(struct cell *cell)
{
    if (tr__restart_of(cell) == TR_PERMANENT)
        cell->flags &= (uint16_t)~CELL_FAILED;
}

void tr__delays_fire(struct worker *worker, tr_time now_ns)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct timer_node *node;
    while ((node = tr__wheel_expire(&worker->life.delays, now_ns))) {
        struct failure *failure = LIST_OWNER(node, struct failure, delay);
        struct cell *cell = failure->cell;
        failure_change(failure, FAILURE_DUE);
        cell_set_control(worker, cell, failure->origin ? CONTROL_CHILD : CONTROL_DECIDED);
    }
}
