/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/stop.h"

#include "actor/ask/answer.h"
#include "actor/ask/ask_then.h"
#include "actor/ask/waiters.h"
#include "actor/cell/ask_table.h"
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/durable.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/failure_log.h"
#include "actor/cell/log.h"
#include "actor/cell/state.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/view.h"
#include "actor/cell/worker.h"
#include "actor/life/children.h"
#include "actor/life/failure_record.h"
#include "actor/life/keepers.h"
#include "actor/life/origin.h"
#include "actor/life/supervise.h"
#include "actor/life/watchers.h"
#include "actor/mail/dead_letter_batch.h"
#include "actor/mail/stash.h"
#include "actor/time/timers.h"
#include "actor/turn/blocking.h"
#include "actor/turn/budget.h"
#include "actor/turn/park.h"
#include "actor/turn/turn.h"
#include "base/assert.h"
#include "mem/heap.h"
#include "os/probe.h"

void tr__cell_unname(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (cell->name && !tr__names_is_out(cell->name))
        tr__names_take_out(worker->system->names, cell->name);
}

static void extra_free(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    if (!extra)
        return;
    TR_ASSERT(!extra->stash.ring);
    TR_ASSERT(!extra->timers.keys.count);
    TR_ASSERT(!extra->timers.loose.count);
    TR_ASSERT(!extra->parked.count);
    TR_ASSERT(!extra->senders.ring && !extra->mail.held && !extra->mail.late);
    TR_ASSERT(!extra->watches.table.slots);
    if (extra->durable) {
        struct durable *durable = extra->durable;
        extra->durable = NULL;
        durable->hooks->on_end(worker, cell, durable);
    }
    tr__supervise_end(worker, cell);
    tr__failure_leave(worker, cell);
    tr__ask_table_free(worker, cell);
    source_resize(&worker->source, extra->timers.aliases, 0);
    extra->timers.aliases = NULL;
    /*
     * the children still need the budget: when they are gone, tr__cell_leave calls this function
     * again
     */
    if (extra->budget)
        return;
    source_resize(&worker->source, extra, 0);
    cell->extra = NULL;
}

void tr__cell_release(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT(!(cell->flags & CELL_IDLES));
    if (cell_calls(cell))
        tr__schedule_orphan(worker, cell);
    tr__cell_unname(worker, cell);
    if (cell->heap) {
        if (tr__heap_has_cleaners(cell->heap))
            /* the cleaners are user code, and may never return */
            tr__dead_letter_batches_end(worker);
        tr__heap_drop(&cell->heap, &worker->source);
    }
    tr__state_free(worker, cell);
    if (cell->flags & CELL_METERED)
        tr__budget_end(worker, cell);
    if (cell->extra)
        extra_free(worker, cell);
}

/*
 * Makes dead letters of the mail of an actor that ends: its mailboxes, its stash, and the messages
 * that its timers have queued.
 */
static void bury_mail(struct worker *worker, struct cell *cell, tr_status reason)
{
    if (cell->flags & CELL_CHANNELS)
        worker->system->channels.hooks->on_end(
            worker, cell, cell->flags & (CELL_FAILED | CELL_KILLING));
    tr__stash_empty(cell);
    tr__timers_drop(worker, cell);
    if (cell->extra)
        tr__thens_drop(worker, cell);
    tr__mail_bury(worker, cell, reason);
}

/*
 * Closes the door, so that no more mail can arrive. Mail that was behind the door becomes dead
 * letters. The caller must have released everything else of the actor before, because a thread that
 * finds the door closed relies on that; see actor/life/watchers.h.
 */
static void close_door(struct worker *worker, struct cell *cell)
{
    bool is_posted;
    atom64_store(&cell->door.ref, 0, ATOM_RELAXED);
    struct door_mail *chain = door_close(&cell->door, &is_posted);
    if (is_posted)
        cell->flags |= CELL_POSTED;
    if (chain)
        tr__mail_take_in(worker, cell, chain);
    TR_ASSERT_SLOW(!cell->cycle);
    TR_ASSERT_SLOW(!cell->notices);
    TR_ASSERT_SLOW(!cell->queued_lines);
}

void tr__cell_stop(struct worker *worker, struct cell *cell, bool by_kill)
{
    struct tr_system *system = worker->system;
    TR_ASSERT(cell_owner(cell) == worker->index);
    struct durable *durable = cell_durable(cell);
    TR_ASSERT_SLOW(cell->sched_state != SCHED_READY); /* the cell is in no run queue */
    cell_become(system, cell, LIFE_STOPPING, __func__);
    if (durable)
        durable->hooks->on_leave(worker, cell);
    /* mail that is taken in below must not queue the cell, so let the cell count as running */
    cell_sched_change(cell, SCHED_RUNNING);
    /*
     * From now on no sender finds the actor by its ref. A sender that has found the actor before
     * may still push mail, which becomes a dead letter. The door stays open for orders of the
     * parent until the children are gone.
     */
    atom64_store(&cell->door.ref, 0, ATOM_RELAXED);
    mail_look(worker, cell);
    if (cell->flags & CELL_HAS_WAITING_SENDERS)
        tr__waiters_refuse(worker, cell, TR_STOPPED);
    /* A kill counts if it has arrived by now, be it as a control bit or as mail. */
    by_kill |= (atom32_load(&cell->control, ATOM_SEQ_CST) & CONTROL_KILL) != 0;
    if (by_kill)
        cell->flags |= CELL_KILLING;
    if (cell == system->user.guardian)
        tr__shutdown_guardian(worker);
    if (cell->extra)
        tr__supervise_end(worker, cell);
    if (cell->child_count)
        tr__children_stop(worker, cell, by_kill);
    if (cell == system->user.guardian)
        tr__shutdown_look(worker, cell);
    cell_sched_change(cell, SCHED_WAITING);
    if (cell->child_count)
        tr__asks_refuse_queued(worker, cell);
    else
        tr__cell_finish(worker, cell);
}

void tr__cell_last_words(struct worker *worker, struct cell *cell, enum turn_kind kind,
                         const tr_handler *handler, const void *message, const char *name)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (!handler)
        return;
    struct tr_self *self = tr__call_hook(worker, cell, kind, handler->call, message, 0);
    tr_error error_text = {.status = TR_NO_MEMORY, .text = "out of memory for a stack"};
    if (self && self->call.next.code != TR_NEXT_FAILED) {
        tr__call_hook_end(self);
        return;
    }
    if (self) {
        error_text = self->error;
        tr__call_hook_end(self);
    }
    atom64_count(&worker->counters.failures, 1);
    char path[TR_PATH_MAX + 1];
    tr__cell_path(worker->system, cell, path);
    tr__failure_log(worker->system,
                    &(struct failure_entry){.actor = cell->identity,
                                            .path = path,
                                            .behavior = cell->dispatch->behavior,
                                            .where = name,
                                            .status = error_text.status,
                                            .text = error_text.text});
    tr__log(worker->system,
            TR_LEVEL_ERROR,
            path,
            "failed in %s: %s: %s",
            name,
            tr_status_name(error_text.status),
            error_text.text);
}

static void post_stop(struct worker *worker, struct cell *cell)
{
    static const struct tr_post_stop message;
    const tr_handler *handler = cell->dispatch->signals[SIGNAL_POST_STOP];
    if (cell->flags & CELL_STARTED && handler)
        tr__cell_last_words(worker, cell, TURN_POST_STOP, handler, &message, "tr_post_stop");
}

void tr__cell_finish(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT(cell->life == LIFE_STOPPING);
    TR_ASSERT(!cell->child_count);
    /*
     * Functions of tr_blocking that still run on helper threads use the stacks of turns, so wait
     * for them. When the last of them returns, tr__cell_finish is called again.
     */
    if (cell->extra && cell->extra->waits.blocked && !tr__blocking_withdraw(worker, cell))
        return;
    if (cell->extra)
        tr__turns_cancel(worker, cell);
    mail_look(worker, cell);
    post_stop(worker, cell);
    if (cell->extra)
        tr__laters_refuse(worker, cell);
    /* Most actors leave nothing: no mail, no timers, no stash and no watches. */
    if (cell->extra || cell->cycle || cell->notices ||
        cell->flags & (CELL_MIXED | CELL_IDLES | CELL_CHANNELS)) {
        /* When a durable actor has failed, waiting requests are answered with TR_START_FAILED. */
        bool has_failed = cell_durable(cell) && cell->flags & CELL_FAILED;
        bury_mail(worker, cell, has_failed ? TR_START_FAILED : TR_STOPPED);
        tr__watches_drop(worker, cell);
    }
    TR_ASSERT(cell->queued_lines == 0);
    TR_ASSERT_SLOW(!cell->extra || !cell->extra->parked.count);
    tr__cell_release(worker, cell);
    cell_become(worker->system, cell, LIFE_STOPPED, __func__);
    close_door(worker, cell);
    if (atom32_load(&worker->system->ending.is_stopping, ATOM_RELAXED))
        tr__shutdown_note(worker, cell);
    watchers_tell(worker, cell);
    if (cell_parent_slot(cell)) /* /user was not spawned, and so is not counted as stopped */
        atom64_count(&worker->counters.stopped, 1);
    PROBE1(stop, cell->identity);
    tr__cell_leave(worker, cell);
}

/*
 * Frees the names of all descendants on this worker, so that a new spawn can use the same names at
 * once.
 */
static void children_unname(struct worker *worker, struct cell *parent)
{
    struct cell *child = parent->child_count ? slots_at(worker->slots, parent->child_last) : NULL;
    for (uint32_t i = 0; i < parent->child_count; i++) {
        child = slots_at(worker->slots, child->sibling_next);
        if (cell_owner(child) != worker->index)
            continue;
        tr__cell_unname(worker, child);
        children_unname(worker, child);
    }
}

void tr__cell_end_unborn(struct worker *worker, struct cell *cell, tr_status reason)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT(cell->life <= LIFE_STARTING);
    struct durable *durable = cell_durable(cell);
    cell_become(worker->system, cell, LIFE_STOPPED, __func__);
    /* From now on a lookup of the key finds the next actor with that key, and not this one. */
    if (durable)
        durable->hooks->on_leave(worker, cell);
    atom64_store(&cell->door.ref, 0, ATOM_RELAXED);
    mail_look(worker, cell);
    if (cell->flags & CELL_HAS_WAITING_SENDERS)
        tr__waiters_refuse(worker, cell, TR_STOPPED);
    bury_mail(worker, cell, reason);
    tr__watches_drop(worker, cell);
    tr__cell_release(worker, cell);
    close_door(worker, cell);
    if (atom32_load(&worker->system->ending.is_stopping, ATOM_RELAXED))
        tr__shutdown_note(worker, cell);
    watchers_tell(worker, cell);
    children_unname(worker, cell);
    atom64_count(&worker->counters.stopped, 1);
    PROBE1(stop, cell->identity);
    cell_sched_change(cell, SCHED_WAITING);
    /*
     * The children that the set-up has spawned end too. Until they are gone, the cell stays in its
     * parent's list.
     */
    tr__children_stop(worker, cell, true);
    tr__cell_leave(worker, cell);
}

void tr__cell_leave(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct tr_system *system = worker->system;
    struct cell *parent = slots_parent(worker->slots, cell);
    TR_ASSERT(cell->life == LIFE_STOPPED);
    if (cell->child_count || cell->flags & CELL_POSTED)
        return;
    if (!parent) {
        /*
         * Do not free the name of /user, because a client may be about to spawn below /user.
         * tr_system_free frees the name.
         */
        tr__system_over(system);
        return;
    }
    /*
     * The name could not be freed before the children were gone, because their paths may begin with
     * it.
     */
    if (cell->name)
        tr__view_free_name(system, cell);
    /*
     * The budget could not end earlier, because children of a failed set-up charge their memory to
     * it.
     */
    if (cell->flags & CELL_METERED) {
        tr__budget_end(worker, cell);
        extra_free(worker, cell);
    }
    if (parent == system->user.guardian && cell->flags & CELL_FAILED && !cell_calls(cell))
        atom32_fetch_add(&system->user.failures, 1, ATOM_RELAXED);
    if (!(cell->flags & CELL_LINKED)) {
        tr__origin_drop(worker, cell);
        if (system_may_reuse(system))
            tr__slot_give(worker->slots, &worker->slot_cache, cell);
        return;
    }
    /*
     * From now on the cell belongs to its parent's worker. This worker must not find the cell any
     * more when it walks over its own cells.
     */
    if (cell->origin)
        cell->origin->worker = worker->index;
    atom32_store(&cell->door.owner, CELL_FOREIGN, ATOM_RELAXED);
    tr__child_ended(worker, cell);
}
