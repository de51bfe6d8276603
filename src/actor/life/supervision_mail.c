/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mail of the runtime between a child and its parent: see actor/life/supervise.h. An order of the
 * parent is noted in the record of the failure, and the child carries it out between two of its
 * turns. Mail from a child waits in `failed` until the parent handles it between two of its turns.
 */
#include <string.h>

#include "actor/cell/extra.h"
#include "actor/cell/slots.h"
#include "actor/cell/upcalls.h"
#include "actor/life/failure_record.h"
#include "actor/life/supervise.h"
#include "actor/mail/address.h"
#include "actor/mail/mail.h"
#include "actor/mail/ready.h"
#include "base/assert.h"

/*
 * Makes an actor run and look at its record. The actor does so between two turns, because this
 * function may be called in the middle of a turn.
 */
static void call(struct worker *worker, struct cell *cell)
{
    cell_set_control(worker, cell, CONTROL_DECIDED);
}

/*
 * Handles a decision that arrives after the actor was stopped. If a new actor will come back in the
 * place of this actor, keeps the restart history for the new actor. Otherwise frees the record.
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
        extra->supervision.failure; /* made by a DOWN that arrived before the decision */
    failure->cell = cell;
    failure_change(failure, FAILURE_DECIDED);
    if (waiting) {
        if (failure->answer)
            envelope_give(&worker->pool, failure->answer);
        failure->answer = waiting->answer;
        waiting->answer = NULL;
        tr__failure_free(worker, waiting);
    }
    /*
     * The record has an answer if the actor got a DOWN, either before or after its failure. Its
     * group waits for this answer.
     */
    if (failure->answer) {
        if (failure->directive == TR_RESTART || failure->directive == TR_RESUME)
            failure_change(failure, FAILURE_ORDERED);
        failure->is_group = true;
    }
    extra->supervision.failure = failure;
    call(worker, cell);
}

/*
 * Kills a member of a group that cannot be restarted with its group. The parent counts the end of
 * the member as its answer.
 */
static void kill_member(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    envelope_give(&worker->pool, envelope);
    cell_set_control(worker, cell, CONTROL_KILL);
}

/*
 * Sends a DOWN or UP back to the parent at once, if the actor belongs to a schedule: such an actor
 * is never restarted with others. In this case returns true, and the envelope was taken.
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
        /* the parent counts the end of the actor as its answer */
        envelope_give(&worker->pool, envelope);
        return;
    }
    if (is_bounced(worker, cell, envelope))
        return;
    /* An actor that has to stop anyway is killed here. It does not handle the rest of its mail. */
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
        failure_change(failure, FAILURE_AWAY);
    switch (failure->phase) {
    case FAILURE_AWAY:
        /* the decision is on its way; on_decided will handle the DOWN when the decision arrives */
        return;
    case FAILURE_TURNS:
    case FAILURE_CHILDREN:
        return; /* the incarnation is ending already */
    case FAILURE_UP:
        failure_change(failure, FAILURE_DOWN); /* cancel the start of the next incarnation */
        break;
    case FAILURE_DOWN:
        break; /* the incarnation has ended already: only the answer is left to send */
    default:
        tr__wheel_cancel(&worker->life.delays, &failure->delay);
        if (!(cell->flags & CELL_FAILED))
            failure->cause = order->cause;
        failure_change(failure, FAILURE_ORDERED);
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
    failure_change(extra->supervision.failure, FAILURE_UP);
    call(worker, cell);
}

/*
 * Takes mail that a child has sent, and keeps it until the supervisor handles it. If the supervisor
 * cannot decide any more, and the child has failed, orders the child to stop.
 */
static void on_child(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    /* A supervisor that is Stopping decides nothing once its last child is gone. */
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
    /* A DOWN or an UP from the parent is an order. From a child it is an answer. */
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
