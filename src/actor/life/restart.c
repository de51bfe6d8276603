/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Restarts: ends an incarnation of an actor, and begins the next. See S-04 of docs/contract.md.
 *
 * Going down: parked turns are cancelled, the actor becomes Starting, it gets PreRestart, its
 * children are killed, and what the incarnation had is dropped. Coming up: set-up, Running,
 * PreStart, PostRestart. In between a member of a group waits for the others. The cell stays, with
 * its door, its mail, its watchers and its place among its siblings.
 */
#include "actor/life/restart.h"

#include <string.h>

#include "actor/ask/answer.h"
#include "actor/ask/ask_then.h"
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/durable.h"
#include "actor/cell/failure_log.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/state.h"
#include "actor/cell/upcalls.h"
#include "actor/life/children.h"
#include "actor/life/failure.h"
#include "actor/life/failure_record.h"
#include "actor/life/spawn.h"
#include "actor/life/stop.h"
#include "actor/life/supervise.h"
#include "actor/time/timers.h"
#include "actor/turn/blocking.h"
#include "actor/turn/budget.h"
#include "actor/turn/park.h"
#include "actor/turn/run.h"
#include "actor/turn/turn.h"
#include "base/assert.h"
#include "mem/heap.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"

/*
 * Makes an actor wait, because it cannot continue its restart yet. Before this call the actor is not
 * SCHED_WAITING, so nothing can make it ready. This is needed because the end of an incarnation may
 * send mail to the actor itself.
 */
static void restart_pause(struct worker *worker, struct cell *cell)
{
    cell_sched_change(cell, SCHED_WAITING);
    if (atom32_load(&cell->control, ATOM_SEQ_CST) || cell->flags & CELL_SEALED)
        mail_make_ready(worker, cell);
}

/* Makes dead letters of the stash, because the stash belongs to the incarnation that ends. */
static void bury_stash(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    while (extra->stash.ring) {
        struct envelope *envelope = ring_pop(&extra->stash.ring);
        mail_uncount(cell, envelope);
        tr__mail_bury_one(worker, cell, envelope, TR_RESTARTED);
    }
    extra->stash.count = 0;
    extra->stash.lines = 0;
}

static void drop_incarnation(struct worker *worker, struct cell *cell)
{
    if (cell->flags & CELL_CHANNELS)
        worker->system->channels.hooks->on_end(worker, cell, true);
    tr__laters_refuse(worker, cell);
    bury_stash(worker, cell);
    tr__timers_drop(worker, cell);
    tr__thens_drop(worker, cell);
    tr__heap_drop(&cell->heap, &worker->source);
    tr__state_free(worker, cell);
    if (cell->flags & CELL_METERED)
        tr__budget_renew(worker, cell);
}

/* Ends an actor that got an order to stop during its restart. PreRestart was its last signal. */
static void abort_restart(struct worker *worker, struct cell *cell)
{
    tr__laters_refuse(worker, cell);
    tr__cell_end_unborn(worker, cell, TR_STOPPED);
}

/*
 * Sends the signals PreStart and PostRestart to an actor whose new incarnation is Running. Returns
 * false if the actor does not run any more afterwards.
 */
static bool tell_fresh(struct worker *worker, struct cell *cell, const tr_error *cause)
{
    if (!tr__cell_pre_start(worker, cell, 0))
        return false;
    const tr_handler *handler = cell->dispatch->signals[SIGNAL_POST_RESTART];
    if (!handler)
        return true;
    struct tr_post_restart message = {.cause = *cause};
    struct tr_self *self =
        tr__call_hook(worker, cell, TURN_POST_RESTART, handler->call, &message, 0);
    if (!self) {
        tr_error error = {.status = TR_NO_MEMORY,
                          .text = "out of memory for a stack of tr_post_restart"};
        tr__cell_fail(worker, cell, "tr_post_restart", &error);
        return false;
    }
    bool is_running = tr__turn_apply_result(self, self->call.next);
    tr__call_hook_end(self);
    return is_running;
}

/* Writes a restart to the log of failures, which tools read to look into the system. */
static void restart_log(struct worker *worker, const struct cell *cell, const tr_error *cause,
                        uint32_t incarnation)
{
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, cell, path);
    tr__failure_log(worker->system,
                    &(struct failure_entry){.actor = cell->identity,
                                            .path = path,
                                            .behavior = cell->dispatch->behavior,
                                            .status = cause->status,
                                            .text = cause->text,
                                            .incarnation = incarnation,
                                            .is_restart = true});
}

/* Starts the next incarnation. If the parent has sent an UP, answers it. */
static void come_up(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    struct failure *failure = extra->supervision.failure;
    tr_error cause = failure->cause;
    tr_error error = {.status = TR_OK};
    /*
     * Take the answer out of the record now. If the new incarnation fails below, the record goes to
     * the parent.
     */
    struct envelope *answer = failure->answer;
    failure->answer = NULL;
    failure_change(failure, FAILURE_PAST);
    failure->incarnation++;
    cell_sched_change(cell, SCHED_MOUNTING);
    atom64_count(&worker->counters.restarts, 1);
    const struct cell_origin *origin = cell->origin;
    const tr_behavior *behavior = origin ? origin->behavior : cell->dispatch->behavior;
    const tr_type *type = origin ? origin->type : NULL;
    tr_status status =
        tr__cell_adopt(worker, cell, behavior, type, origin ? origin->message : NULL, 0, &error);
    bool is_running = false;
    if (status == TR_OK) {
        cell_become(worker->system, cell, LIFE_RUNNING, __func__);
        restart_log(worker, cell, &cause, failure->incarnation + 1);
        is_running = tell_fresh(worker, cell, &cause);
    } else if (status == TR_STOPPED) {
        abort_restart(worker, cell); /* the set-up has returned a stop */
    } else {
        tr__cell_fail(worker, cell, "its set-up", &error);
    }
    if (is_running && answer) {
        struct cell *parent = slots_parent(worker->slots, cell);
        mail_readdress(answer, ENVELOPE_UP, parent->identity, cell->identity);
        if (tr__mail_send(worker, parent, answer) == TR_OK)
            answer = NULL;
    }
    if (answer)
        envelope_give(&worker->pool, answer);
    if (!is_running)
        return;
    /* A suspension that was ordered before the restart still holds after it. */
    if (cell->flags & CELL_SUSPEND_WANTED) {
        tr__mail_answer_probes(worker, cell);
        atom32_fetch_or(&cell->control, CONTROL_LOOK, ATOM_RELAXED);
    }
    tr__cell_park_or_requeue(worker, cell);
}

/*
 * Called when all children of the incarnation that ends have ended. Drops what the incarnation had,
 * and starts the next one. A member of a group does not start the next incarnation yet: it answers
 * the DOWN, and waits for the group.
 */
static void come_down(struct worker *worker, struct cell *cell)
{
    struct failure *failure = cell->extra->supervision.failure;
    drop_incarnation(worker, cell);
    if (!failure->is_group) {
        come_up(worker, cell);
        return;
    }
    struct cell *parent = slots_parent(worker->slots, cell);
    struct envelope *answer = failure->answer;
    failure->answer = NULL;
    failure_change(failure, FAILURE_DOWN);
    restart_pause(worker, cell);
    if (!answer)
        return;
    mail_readdress(answer, ENVELOPE_DOWN, parent->identity, cell->identity);
    if (tr__mail_send(worker, parent, answer) != TR_OK)
        envelope_give(&worker->pool, answer); /* the parent is ending, and will kill this actor */
}

void tr__cell_restart(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    struct failure *failure = extra->supervision.failure;
    struct tr_system *system = worker->system;
    TR_ASSERT(cell->life == LIFE_RUNNING || cell->life == LIFE_SUSPENDED);
    /* From now on no turn of the actor starts, even while the restart has to wait. */
    if (cell->life == LIFE_RUNNING)
        cell_become(system, cell, LIFE_SUSPENDED, __func__);
    cell_sched_change(cell, SCHED_MOUNTING);
    tr__failure_pause(worker, cell);
    failure_change(failure, FAILURE_TURNS);
    if (extra->waits.blocked && !tr__blocking_withdraw(worker, cell)) {
        restart_pause(worker, cell);
        return;
    }
    tr__turns_cancel(worker, cell);
    cell_become(system, cell, LIFE_STARTING, __func__);
    cell->flags &= (uint16_t)~CELL_FAILED;
    if (cell->flags & CELL_STARTED) {
        struct tr_pre_restart message = {.cause = failure->cause};
        tr__cell_last_words(worker,
                            cell,
                            TURN_PRE_RESTART,
                            cell->dispatch->signals[SIGNAL_PRE_RESTART],
                            &message,
                            "tr_pre_restart");
    }
    cell->flags &= (uint16_t)~CELL_STARTED;
    failure_change(failure, FAILURE_CHILDREN);
    tr__supervise_end(worker, cell);
    tr__children_stop(worker, cell, true);
    if (cell->child_count)
        restart_pause(worker, cell);
    else
        come_down(worker, cell);
}

void tr__restart_unblocked(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    if (extra->waits.blocked || !extra->supervision.failure ||
        extra->supervision.failure->phase != FAILURE_TURNS)
        return;
    failure_change(extra->supervision.failure, FAILURE_ORDERED);
    cell_set_control(worker, cell, CONTROL_DECIDED);
}

void tr__restart_handle_control(struct worker *worker, struct cell *cell, uint32_t bits)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct failure *failure = cell->extra->supervision.failure;
    cell_sched_change(cell, SCHED_MOUNTING);
    if (bits & CONTROL_CHILD)
        tr__supervise_end(worker, cell);
    if (bits & CONTROL_KILL || cell->flags & CELL_SEALED)
        abort_restart(worker, cell);
    else if (failure->phase == FAILURE_CHILDREN && !cell->child_count)
        come_down(worker, cell);
    else if (failure->phase == FAILURE_UP)
        come_up(worker, cell);
    else if (failure->phase == FAILURE_DOWN && failure->answer)
        come_down(worker, cell);
    else
        restart_pause(worker, cell);
}
