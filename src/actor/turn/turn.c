/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/durable.h"
#include "actor/mail/address.h"
#include "actor/turn/follow_turn.h"
#include "actor/turn/turn.h"

#include "actor/cell/signal.h"
#include "actor/cell/turn_state.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/worker.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/dead_letter_batch.h"
#include "actor/mail/stash.h"
#include "actor/time/timers.h"
#include "actor/turn/budget.h"
#include "actor/turn/fault.h"
#include "actor/turn/park.h"
#include "actor/turn/run.h"
#include "actor/turn/stack.h"
#include "base/assert.h"
#include "fiber/jump.h"
#include "wire/copy.h"
#include "actor/mail/kind.h"

static const tr_next same = {TR_NEXT_SAME};
static const tr_next failed = {TR_NEXT_FAILED};

/* Runs the functions that tr_defer registered, the last one first. */
static void run_defers(struct tr_self *self)
{
    while (self->defer_count) {
        struct turn_defer *defer = turn_defer_at(self, --self->defer_count);
        defer->release(defer->resource);
    }
    self->defers.more = NULL;
}

void tr__become_forget(struct tr_self *self)
{
    if (self->become.message && !self->become.type->is_flat)
        tr__copy_drop(self->become.type, (void *)(uintptr_t)self->become.message);
    self->become.behavior = NULL;
    self->become.type = NULL;
    self->become.message = NULL;
}

/* Clears the error and other remains of a turn, so that another turn can use the record. */
static void turn_remains_clear(struct tr_self *self)
{
    self->defer_count = 0;
    self->needs_slow_end = false;
    self->asks_barrier = false;
    self->is_behind = false;
    self->reply_failed = TR_OK;
    self->error.status = TR_OK;
    self->error.code = 0;
    turn_change(self, TURN_RUNS);
}

/* Reports the error of a turn as a failure of its actor. */
static void fail(struct tr_self *self)
{
    const char *where = self->kind == TURN_MESSAGE ? worker_type(self->worker)->name : "a signal";
    atom64_count(&self->worker->counters.failures, 1);
    tr__cell_fail(self->worker, self->cell, where, &self->error);
}

bool tr__turn_apply_result(struct tr_self *self, tr_next next)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    TR_ASSERT(cell->life == LIFE_RUNNING);
    switch (next.code) {
    case TR_NEXT_SAME:
    case TR_NEXT_UNHANDLED:
    case TR_NEXT_STASHED:
        return true;
    case TR_NEXT_STOP:
        tr__cell_stop(worker, cell, false);
        break;
    case TR_NEXT_BECOME:
        switch (tr__cell_adopt(worker,
                               cell,
                               self->become.behavior,
                               self->become.type,
                               self->become.message,
                               self->causal,
                               &self->error)) {
        case TR_OK:
            return true;
        case TR_STOPPED: /* the set-up asked to stop the actor */
            tr__cell_stop(worker, cell, false);
            break;
        default:
            fail(self);
            break;
        }
        break;
    case TR_NEXT_FAILED:
        fail(self);
        break;
    }
    return false;
}

/* ---- Messages: on the worker's own fiber. ---- */

/* Returns the envelope of a turn to its timer or to the pool. */
static void envelope_done(struct tr_self *self)
{
    struct envelope *envelope = self->envelope;
    self->envelope = NULL;
    if (envelope->kind == ENVELOPE_EVENT)
        tr__timer_return(self->worker, self->cell, envelope);
    else if (envelope->kind == ENVELOPE_CHANNEL)
        self->worker->channels.hooks->on_done(self->worker, self->cell, envelope);
    else
        envelope_give(&self->worker->pool, envelope);
}

/* Makes a dead letter of a message of this turn, because no handler has taken it. */
static void bury_unhandled(struct tr_self *self, const void *message)
{
    struct worker *worker = self->worker;
    const struct envelope *envelope = self->envelope;
    atom64_count(&worker->counters.dead, 1);
    tr__dead_letter(worker->system,
                    worker,
                    &(struct dead_letter){.type = envelope->type,
                                          .message = message,
                                          .size = mail_bytes(envelope),
                                          .from = turn_sender(self),
                                          .to = self->cell->identity,
                                          .reason = TR_UNHANDLED,
                                          .behavior = self->cell->dispatch->behavior->name});
}

/* As bury_unhandled, but for a batch of a channel: buries the messages after the first one. */
static void bury_batch(struct tr_self *self)
{
    size_t count;
    const void *const *messages = self->worker->system->channels.hooks->on_declined(self, &count);
    for (size_t i = 0; messages && i < count; i++)
        bury_unhandled(self, messages[i]);
}

void tr__turn_unhandled(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct envelope *envelope = self->envelope;
    /* A signal without a handler is ignored. */
    if (tr__signal_is_own(envelope->type)) {
        atom64_count(&worker->counters.handled, 1);
        envelope_done(self);
        return;
    }
    bury_unhandled(self, envelope_data(envelope));
    if (envelope->kind == ENVELOPE_CHANNEL)
        bury_batch(self);
    if (envelope->kind == ENVELOPE_ASK)
        tr__request_finish(self, TR_DECLINE);
    else
        envelope_done(self);
}

bool tr__turn_finish(struct tr_self *self, tr_next next)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    if (self->frame)
        next = cell_durable(self->cell)->hooks->on_crash(self, next);
    if (self->capacity.favoured || self->capacity.grant)
        tr__turn_return_capacity(self);
    if (self->is_barrier)
        tr__barrier_end(self);
    turn_change(self, TURN_ENDED); /* no defer can wait from now on */
    run_defers(self);
    if (self->asks.count)
        tr__asks_drop(self);
    if (self->is_cancelled)
        next = same; /* the result of a cancelled turn is ignored */
    if (self->borrowed || self->lent)
        worker->channels.hooks->on_turn_end(self);
    if (self->batch)
        tr__batch_end(self, next);
    if (next.code == TR_NEXT_UNHANDLED) {
        tr__turn_unhandled(self);
    } else if (next.code == TR_NEXT_STASHED) {
        tr__timer_detach(worker, self->cell, self->envelope);
        tr__stash_push(worker, self->cell, self->envelope);
        self->envelope = NULL;
    } else {
        atom64_count(&worker->counters.handled, 1);
        /*
         * Return the envelope to its timer or channel now. Below, the actor may end, and its timers
         * and channels end with it.
         */
        if (self->envelope->kind == ENVELOPE_EVENT || self->envelope->kind == ENVELOPE_CHANNEL)
            envelope_done(self);
    }
    if (self->cell->flags & CELL_METERED)
        tr__budget_turn_end(self);
    if (self->envelope && self->envelope->kind == ENVELOPE_ASK)
        tr__request_finish(self, next);
    bool is_running = self->is_cancelled || tr__turn_apply_result(self, next);
    if (self->envelope) {
        TR_ASSERT_SLOW(self->envelope->kind != ENVELOPE_EVENT);
        TR_ASSERT_SLOW(self->envelope->kind != ENVELOPE_CHANNEL);
        envelope_give(&worker->pool, self->envelope);
        self->envelope = NULL;
    }
    tr__become_forget(self);
    tr__scratch_reset(self->scratch.current, self->scratch.mark);
    turn_remains_clear(self);
    return is_running;
}

/*
 * Ends the turn of a message that was aborted, and continues with the worker's loop. Runs on a
 * fresh stack, because the stack of the turn was dropped.
 */
static void message_crashed(void *context)
{
    struct tr_self *self = context;
    struct worker *worker = self->worker;
    tr__follow_crashed(self);
    bool is_running = tr__turn_finish(self, self->call.next);
    if (is_running)
        tr__cell_park_or_requeue(worker, self->cell);
    worker_set_running(worker, NULL);
    tr__loop_charge(&worker->loop, self->turns);
    tr__worker_fiber(worker);
}

/* ---- Other calls of user code: each on a fiber of its own. ---- */

/* Main function of the fiber of a call: calls the user code and switches back to tr__call_hook. */
static void call_main(void *context)
{
    struct tr_self *self = context;
    if (self->worker->system->options.traps_faults)
        self->call.next = tr__fault_call(self, self->call.function, self->call.message);
    else
        self->call.next = self->call.function(self, self->cell->state, self->call.message);
    tr__fiber_end(&self->worker->stacks.host, self->wait.caller);
}

/* Ends an aborted call of a hook, or an aborted turn that had waited. Runs on a fresh stack. */
static void call_crashed(void *context)
{
    struct tr_self *self = context;
    tr__follow_crashed(self);
    turn_change(self, TURN_ENDED);
    tr__fiber_end(&self->worker->stacks.host, self->wait.caller);
}

/*
 * Returns a fiber for a call; NULL if there is none. The last signal of an incarnation must be
 * delivered (L-05), so one fiber is reserved for it. One fiber is enough: the handlers of last
 * signals cannot spawn, so no such handler runs inside another one.
 */
static struct fiber *call_fiber(struct worker *worker, const struct cell *cell, enum turn_kind kind,
                                struct tr_self *self)
{
    struct fiber *fiber;
    if (tr__fiber_new(stack_pool(worker, cell), call_main, self, &fiber) == TR_OK)
        return fiber;
    if (!turn_kind_has(kind, SIGNAL_IS_LAST) || !worker->stacks.last)
        return NULL;
    fiber = worker->stacks.last;
    worker->stacks.last = NULL;
    tr__fiber_prepare(fiber, call_main, self);
    return fiber;
}

/*
 * Reserves another fiber for the last signal. This cannot fail for lack of a stack, because the
 * fiber that was reserved before has returned to the pool.
 */
static void keep_last(struct worker *worker)
{
    tr_status status =
        tr__fiber_new(&worker->stacks.pool, tr__worker_fiber, worker, &worker->stacks.last);
    TR_ASSERT(status == TR_OK);
}

struct tr_self *tr__call_hook(struct worker *worker, struct cell *cell, enum turn_kind kind,
                              tr_next (*call)(tr_self *self, void *state, const void *message),
                              const void *message, uint64_t causal)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (worker->turns.depth + 1 >= WORKER_TURNS)
        return NULL;
    struct tr_self *self = &worker->turns.calls[worker->turns.depth + 1];
    struct fiber *fiber = call_fiber(worker, cell, kind, self);
    if (!fiber)
        return NULL;
    worker->turns.depth++;
    atom64_count(&worker->counters.signals, 1);
    turn_remains_clear(self);
    self->cell = cell;
    self->envelope = NULL;
    self->causal = causal;
    self->kind = kind;
    self->scratch.mark = tr__scratch_mark(self->scratch.current);
    self->call.function = call;
    self->call.message = message;
    self->call.next = same;
    self->wait.caller = worker->stacks.host.current;
    tr__dead_letter_batches_end(worker);
    const struct cell *running = worker_running(worker);
    const tr_type *running_type = worker_type(worker);
    const tr_handler *running_handler = worker_handler(worker);
    bool is_watched = budget_is_watched(worker, cell);
    if (is_watched)
        tr__budget_call_begin(worker, cell);
    if (!running)
        /*
         * Count a step here and after the call. So the watch does not take the time before and
         * after the call for time of the code that is called.
         */
        loop_step(&worker->loop);
    worker_set_running(worker, cell);
    worker_set_type(worker, NULL);
    worker_set_handler(worker, tr__dispatch_handler(cell->dispatch, call));
    fiber_switch(&worker->stacks.host, fiber);
    if (__builtin_expect(!worker->stacks.last, 0))
        keep_last(worker);
    worker_set_running(worker, running);
    worker_set_type(worker, running_type);
    worker_set_handler(worker, running_handler);
    if (!running)
        loop_step(&worker->loop);
    run_defers(self);
    if (self->borrowed || self->lent)
        worker->channels.hooks->on_turn_end(self);
    if (is_watched)
        tr__budget_call_end(worker, cell);
    return self;
}

void tr__call_hook_end(struct tr_self *self)
{
    struct worker *worker = self->worker;
    TR_ASSERT(self == &worker->turns.calls[worker->turns.depth]);
    tr__become_forget(self);
    tr__scratch_reset(self->scratch.current, self->scratch.mark);
    worker->turns.depth--;
}

void tr__turn_crash(struct tr_self *self)
{
    tr__turn_abort(self, failed);
}

void tr__turn_abort(struct tr_self *self, tr_next next)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    self->call.next = next;
    TR_ASSERT(self->is_detached ? !worker->turns.depth : self == worker_turn(worker));
    /*
     * The defers of a detached turn run on the fiber that resumed the turn, and that fiber must not
     * be dropped.
     */
    TR_ASSERT(!self->is_detached || self->state == TURN_RUNS);
    struct worker_stacks *stacks = &worker->stacks;
    if (!worker->turns.depth && !self->is_detached)
        tr__stack_restart(worker, message_crashed, self);
    if (stacks->host.current->pool == &stacks->pool)
        tr__fiber_replace(&stacks->host, &stacks->pool, call_crashed, self);
    call_crashed(self); /* use this stack, because a pool of larger stacks may have no spare one */
    TR_NOT_REACHED("an ended fiber was continued");
}
