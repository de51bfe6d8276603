/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The child's side of a failure: the actor that has failed.
 */
#include "actor/life/failure.h"

#include <stdio.h>
#include <string.h>

#include "actor/ask/waiters.h"
#include "actor/cell/extra.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/failure_log.h"
#include "actor/cell/log.h"
#include "actor/cell/upcalls.h"
#include "actor/life/restart.h"
#include "actor/life/spawn.h"
#include "actor/life/stop.h"
#include "actor/life/supervise.h"
#include "actor/mail/group_address.h"
#include "actor/mail/mail.h"
#include "actor/time/timers.h"
#include "base/assert.h"
#include "actor/mail/address.h"

/* ---- The record. ---- */

tr_restart tr__restart_of(const struct cell *cell)
{
    const struct cell_origin *origin = cell->origin;
    tr_restart restart = 0;
    if (origin && origin_rare(origin)->spec)
        restart = origin_rare(origin)->spec->restart;
    if (!restart && origin)
        restart = origin->behavior->options.restart;
    if (!restart && !origin && cell->dispatch)
        restart = cell->dispatch->behavior->options.restart;
    return restart ? restart : TR_TRANSIENT;
}

static struct failure *failure_new(struct worker *worker, struct cell *cell)
{
    struct failure *failure = source_resize(&worker->source, NULL, sizeof *failure);
    if (!failure)
        return NULL;
    *failure = (struct failure){.child = cell->identity};
    list_init(&failure->link);
    return failure;
}

/* Takes the record that the actor before this one left; NULL for none. */
static struct failure *past_take(struct cell_origin *origin)
{
    struct failure *failure = origin_rare(origin)->failure;
    if (failure)
        origin_rare_own(origin)->failure = NULL;
    return failure;
}

struct failure *tr__failure_of(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return NULL;
    if (!extra->supervision.failure && cell->origin)
        extra->supervision.failure = past_take(cell->origin);
    if (!extra->supervision.failure)
        extra->supervision.failure = failure_new(worker, cell);
    struct failure *failure = extra->supervision.failure;
    if (!failure)
        return NULL;
    failure->child = cell->identity;
    failure->cell = cell;
    failure->spec = cell->origin ? origin_rare(cell->origin)->spec : NULL;
    failure->restart = tr__restart_of(cell);
    return failure;
}

struct failure *tr__failure_past(struct worker *worker, struct cell *cell)
{
    struct failure *failure = past_take(cell->origin);
    if (!failure)
        failure = failure_new(worker, cell);
    if (failure)
        failure->child = cell->identity;
    return failure;
}

void tr__failure_free(struct worker *worker, struct failure *failure)
{
    if (!failure)
        return;
    tr__wheel_cancel(&worker->life.delays, &failure->delay);
    if (failure->answer)
        envelope_give(&worker->pool, failure->answer);
    if (failure->origin)
        tr__origin_free(&worker->source, failure->origin);
    list_remove(&failure->link);
    source_resize(&worker->source, failure->times, 0);
    source_resize(&worker->source, failure, 0);
}

void tr__failure_leave(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct failure *failure = cell->extra->supervision.failure;
    struct cell_origin *origin = cell->origin;
    cell->extra->supervision.failure = NULL;
    if (origin)
        origin->is_away |= cell->extra->supervision.is_away;
    cell->extra->supervision.is_away = false;
    if (!failure || !origin || origin_rare(origin)->failure ||
        tr__restart_of(cell) != TR_PERMANENT) {
        tr__failure_free(worker, failure);
        return;
    }
    tr__wheel_cancel(&worker->life.delays, &failure->delay);
    if (failure->answer)
        envelope_give(&worker->pool, failure->answer);
    failure->answer = NULL;
    origin_rare_own(origin)->failure = failure;
}

void tr__failure_return(struct worker *worker, struct cell *child, struct failure *failure,
                        bool is_lent)
{
    struct cell_origin *origin = child->origin;
    origin->is_away = false;
    struct failure *kept = origin_rare(origin)->failure;
    if (!kept)
        kept = failure_new(worker, child);
    origin_rare_own(origin)->failure = kept;
    if (kept) {
        source_resize(&worker->source, kept->times, 0);
        kept->times = failure->times;
        kept->first = failure->first;
        kept->count = failure->count;
        kept->capacity = failure->capacity;
        kept->attempts = failure->attempts;
        kept->last_ns = failure->last_ns;
        kept->incarnation = failure->incarnation;
        failure->times = NULL;
        failure->count = 0;
        failure->capacity = 0;
    }
    if (!is_lent)
        tr__failure_free(worker, failure);
}

void tr__failure_forget(const struct memory_source *source, struct failure *failure)
{
    if (!failure)
        return;
    TR_ASSERT(!failure->answer && !failure->origin && !timer_is_armed(&failure->delay));
    source_resize(source, failure->times, 0);
    source_resize(source, failure, 0);
}

/* ---- Failing. ---- */

/*
 * Sends a record to the parent. Returns false when the parent takes no mail, or when out of memory.
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
 * Adds to a cause what only the runtime knows: the actor, its path and its incarnation. If the
 * actor has failed because a child failed, sets the incarnation in the last link instead.
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

/* Returns the text that the log adds when an actor has failed because a child failed. */
static const char *reason_of(const tr_error *error)
{
    if (!error->link_count || error->link_count > TR_ERROR_LINKS_MAX)
        return "";
    bool is_escalated = error->links[error->link_count - 1].reason == TR_BY_ESCALATION;
    return is_escalated ? "; escalated by the supervisor" : "; the limit of restarts is reached";
}

/* Logs a failure, and fills *cause for the actors that receive it. */
static void report(struct worker *worker, struct cell *cell, const char *where,
                   const tr_error *error, uint32_t incarnation, tr_error *cause)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, cell, path);
    const tr_behavior *behavior = cell->dispatch ? cell->dispatch->behavior : NULL;
    tr__log(worker->system,
            TR_LEVEL_ERROR,
            path,
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

/* Logs a failure, and notes it in the record. `failure` may be NULL. */
static void note(struct worker *worker, struct cell *cell, const char *where, const tr_error *error,
                 struct failure *failure)
{
    tr_error cause;
    report(worker, cell, where, error, failure ? failure->incarnation : 0, &cause);
    if (!failure)
        return;
    failure->cause = cause;
    failure->where = where;
    failure->phase = FAILURE_PAST;
    failure->is_final = false;
    failure->is_group = false;
    failure->has_no_state = cell->life == LIFE_STARTING;
}

/* Stops an actor that has failed without a decision: its parent cannot be asked, or need not be. */
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
    struct failure *failure = failure_new(worker, cell);
    if (!failure)
        return;
    failure->cause = *error;
    if (!error->incarnation) { /* the first incarnation did not start */
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
        return true; /* the actor waits for a decision already */
    bool is_stopping = atom32_load(&system->ending.is_stopping, ATOM_SEQ_CST);
    struct failure *failure = tr__failure_of(worker, cell);
    note(worker, cell, where, error, failure);
    bool is_last = is_stopping || cell->flags & CELL_SEALED;
    if (!failure || is_last || failure->restart == TR_TEMPORARY) {
        /* The parent need not be asked: after a poison pill an actor is not restarted. */
        if (failure && !is_stopping)
            tr__failure_tell(worker, cell, &failure->cause);
        stop_failed(worker, cell);
        return false;
    }
    if (cell->life != LIFE_SUSPENDED)
        cell_become(system, cell, LIFE_SUSPENDED, __func__);
    tr__failure_pause(worker, cell);
    cell->extra->supervision.failure = NULL; /* the parent has it until the decision arrives */
    cell->extra->supervision.failed_ns = worker->loop.now_ns;
    if (!tell_parent(worker, cell, failure)) {
        cell->extra->supervision.failure = failure;
        stop_failed(worker, cell);
        return false;
    }
    cell->extra->supervision.is_away = true;
    /*
     * Only now, because an actor that stops must be in no run queue. The decision may have arrived
     * already.
     */
    cell_sched_change(cell, SCHED_WAITING);
    if (atom32_load(&cell->control, ATOM_SEQ_CST))
        mail_make_ready(worker, cell);
    return true;
}

/* ---- Mail of the supervisor, and of children. ---- */

/* Makes an actor handle its record between two turns, and not in the middle of what runs now. */
static void call(struct worker *worker, struct cell *cell)
{
    cell_set_control(worker, cell, CONTROL_DECIDED);
}

/*
 * Handles a decision for an actor that was stopped meanwhile. If an actor comes back in its place,
 * that one gets the restart history. Otherwise the record is freed.
 */
static void on_decided_late(struct worker *worker, struct cell *cell, struct failure *failure,
                            bool is_mine)
{
    struct cell_extra *extra = cell->extra;
    bool is_away = cell->origin && (cell->origin->is_away || (extra && extra->supervision.is_away));
    if (!is_mine || !is_away || failure->restart != TR_PERMANENT) {
        tr__failure_free(worker, failure);
        return;
    }
    if (extra)
        extra->supervision.is_away = false;
    tr__failure_return(worker, cell, failure, false);
}

static void on_decided(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct failure *failure;
    memcpy(&failure, envelope->payload.bytes, sizeof failure);
    bool is_mine = envelope->generation == cell_generation(cell);
    bool is_here = is_mine && cell->life == LIFE_SUSPENDED && cell->flags & CELL_FAILED;
    envelope_give(&worker->pool, envelope);
    if (!is_here) {
        on_decided_late(worker, cell, failure, is_mine);
        return;
    }
    struct cell_extra *extra = cell->extra;
    extra->supervision.is_away = false;
    struct failure *waiting =
        extra->supervision.failure; /* left by a DOWN that arrived before the decision */
    failure->cell = cell;
    failure->phase = FAILURE_DECIDED;
    if (waiting) {
        if (failure->answer)
            envelope_give(&worker->pool, failure->answer);
        failure->answer = waiting->answer;
        waiting->answer = NULL;
        tr__failure_free(worker, waiting);
    }
    /* The actor got a DOWN before it failed, or since: its group waits for the answer. */
    if (failure->answer) {
        if (failure->directive == TR_RESTART || failure->directive == TR_RESUME)
            failure->phase = FAILURE_ORDERED;
        failure->is_group = true;
    }
    extra->supervision.failure = failure;
    call(worker, cell);
}

/* Kills an actor that cannot be restarted with the others of its group. Its end is its answer. */
static void kill_member(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    envelope_give(&worker->pool, envelope);
    cell_set_control(worker, cell, CONTROL_KILL);
}

/*
 * If an actor is never restarted with others, as those of schedules, sends a DOWN or UP back to the
 * parent at once: there is nothing to do. Returns whether it did so; then it has taken the
 * envelope.
 */
static bool is_bounced(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    if (!cell_calls(cell))
        return false;
    struct cell *parent = slots_parent(worker->slots, cell);
    mail_readdress(envelope, (enum envelope_kind)envelope->kind, parent->identity, cell->identity);
    if (tr__mail_send(worker, parent, envelope) != TR_OK)
        envelope_give(&worker->pool, envelope);
    return true;
}

static void on_down(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    const struct tr_pre_restart *order = envelope_data(envelope);
    bool is_here = envelope->generation == cell_generation(cell) && cell->life < LIFE_STOPPING;
    if (!is_here) {
        envelope_give(&worker->pool, envelope); /* the end of the actor is its answer */
        return;
    }
    if (is_bounced(worker, cell, envelope))
        return;
    /* An actor that is to stop anyway is killed: it need not handle its mail before. */
    bool is_deciding = cell->flags & CELL_FAILED && !cell->extra->supervision.failure;
    struct failure *failure = cell->flags & CELL_SEALED ? NULL : tr__failure_of(worker, cell);
    if (!failure) {
        kill_member(worker, cell, envelope);
        return;
    }
    if (failure->answer)
        envelope_give(&worker->pool, failure->answer);
    failure->answer = envelope;
    failure->is_group = true;
    if (is_deciding)
        failure->phase = FAILURE_AWAY;
    switch (failure->phase) {
    case FAILURE_AWAY:
        return; /* on_decided handles the DOWN: the decision is on its way */
    case FAILURE_TURNS:
    case FAILURE_CHILDREN:
        return; /* the incarnation ends already */
    case FAILURE_UP:
        failure->phase = FAILURE_DOWN; /* the next incarnation has not started */
        break;
    case FAILURE_DOWN:
        break; /* the incarnation has ended: what remains is the answer */
    default:
        tr__wheel_cancel(&worker->life.delays, &failure->delay);
        if (!(cell->flags & CELL_FAILED))
            failure->cause = order->cause;
        failure->phase = FAILURE_ORDERED;
        break;
    }
    call(worker, cell);
}

static void on_up(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct cell_extra *extra = cell->extra;
    bool is_mine = envelope->generation == cell_generation(cell) && cell->life < LIFE_STOPPING;
    if (is_mine && is_bounced(worker, cell, envelope))
        return;
    bool is_here = is_mine && cell->life == LIFE_STARTING && extra && extra->supervision.failure &&
                   extra->supervision.failure->phase == FAILURE_DOWN;
    if (!is_here) {
        envelope_give(&worker->pool, envelope);
        return;
    }
    if (extra->supervision.failure->answer)
        envelope_give(&worker->pool, extra->supervision.failure->answer);
    extra->supervision.failure->answer = envelope;
    extra->supervision.failure->phase = FAILURE_UP;
    call(worker, cell);
}

/*
 * Takes mail that a child has sent: keeps it until the supervisor decides. If the supervisor cannot
 * decide any more, a child that has failed stops.
 */
static void on_child(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    /* A supervisor that is Stopping and has no children left has nothing to decide. */
    bool is_here =
        envelope->generation == cell_generation(cell) &&
        (cell->life < LIFE_STOPPING || (cell->life == LIFE_STOPPING && cell->child_count));
    struct cell_extra *extra = is_here ? tr__extra_of(worker, cell) : NULL;
    if (extra) {
        ring_push(&extra->supervision.failed, envelope);
        cell_set_control(worker, cell, CONTROL_CHILD);
        return;
    }
    if (envelope->kind == ENVELOPE_FAILED) {
        struct failure *failure;
        memcpy(&failure, envelope->payload.bytes, sizeof failure);
        struct cell *child = slots_find(worker->slots, envelope->sender);
        failure->directive = TR_STOP_CHILD;
        mail_readdress(envelope, ENVELOPE_DECIDED, envelope->sender, envelope->sender);
        if (!failure->is_final && child && tr__mail_send(worker, child, envelope) == TR_OK)
            return;
        tr__failure_free(worker, failure);
    }
    envelope_give(&worker->pool, envelope);
}

void tr__supervision_mail(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    /* DOWN and UP are sent in both directions: from the parent they are orders. */
    uint32_t sender = (uint32_t)envelope->sender & worker->slots->mask;
    bool is_order = sender == cell_parent_slot(cell);
    if (envelope->kind == ENVELOPE_DECIDED)
        on_decided(worker, cell, envelope);
    else if (envelope->kind == ENVELOPE_FAILED || !is_order)
        on_child(worker, cell, envelope);
    else if (envelope->kind == ENVELOPE_DOWN)
        on_down(worker, cell, envelope);
    else
        on_up(worker, cell, envelope);
}

/* ---- Carrying out a decision. ---- */

/* Restarts an actor whose delay is over, or asks the parent to restart its group. Returns false. */
static bool go(struct worker *worker, struct cell *cell, struct failure *failure)
{
    if (!failure->is_group) {
        tr__cell_restart(worker, cell);
        return false;
    }
    /* The parent takes down all members of the group, and this one among them. */
    struct cell *parent = slots_parent(worker->slots, cell);
    struct address address = {
        .kind = ENVELOPE_UP, .to = parent->identity, .sender = cell->identity};
    struct tr_ready ready = {.spec = (uint64_t)(uintptr_t)failure->spec, .cause = failure->cause};
    struct envelope *envelope;
    failure->phase = FAILURE_READY;
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
        return go(worker, cell, failure);
    case FAILURE_ORDERED:
        /* An actor that is to stop anyway does not start again. */
        if (failure->restart == TR_TEMPORARY || cell->flags & CELL_SEALED)
            tr__cell_stop(worker, cell, true); /* its end is its answer */
        else
            tr__cell_restart(worker, cell);
        return false;
    default:
        return true;
    }
    switch (failure->directive) {
    case TR_RESUME:
        failure->phase = FAILURE_PAST;
        cell->flags &= (uint16_t)~CELL_FAILED;
        if (cell->flags & CELL_CHANNELS)
            worker->system->channels.hooks->on_change(worker, cell);
        return true;
    case TR_RESTART:
        if (failure->delay_ns <= 0)
            return go(worker, cell, failure);
        failure->phase = FAILURE_DELAYED;
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

/* The reason of the end makes a difference only for a permanent actor. */
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
        failure->phase = FAILURE_DUE;
        cell_set_control(worker, cell, failure->origin ? CONTROL_CHILD : CONTROL_DECIDED);
    }
}
