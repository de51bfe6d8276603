/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn/park.h"

#include "actor/cell/ask_table.h"
#include "actor/cell/channel.h"
#include "actor/cell/durable.h"
#include "actor/cell/extra.h"
#include "actor/cell/state.h"
#include "actor/cell/turn_state.h"
#include "actor/cell/upcalls.h"
#include "actor/mail/cycle.h"
#include "actor/mail/dead_letter_batch.h"
#include "actor/time/receive_timeout.h"
#include "actor/time/timers.h"
#include "actor/turn/blocking.h"
#include "actor/turn/follow_turn.h"
#include "actor/turn/budget.h"
#include "actor/turn/resume.h"
#include "actor/turn/run.h"
#include "actor/turn/stack.h"
#include "actor/turn/turn.h"
#include "base/assert.h"
#include "fiber/jump.h"
#include "actor/mail/outbox.h"
#include "actor/mail/kind.h"

enum { SPARE_MAX = 64 }; /* the largest number of spare turns that a worker keeps */

/* ---- The memory of turns. ---- */

void tr__turn_init(struct tr_self *self, struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    self->worker = worker;
    self->scratch.current = &worker->scratch;
    list_init(&self->wait.link);
    list_init(&self->waits.born);
    list_init(&self->sender.line);
    turn_asks_init(&self->asks);
    tr__scratch_init(&self->scratch.own, &worker->source);
}

/* Returns a spare turn or, if there is none, a new one. Returns NULL when out of memory. */
static struct tr_self *turn_take(struct worker *worker)
{
    struct tr_self *self = worker->turns.spare;
    if (self) {
        worker->turns.spare = LIST_OWNER(self->wait.link.next, struct tr_self, wait.link);
        if (--worker->turns.spare_count == 0)
            worker->turns.spare = NULL;
        list_init(&self->wait.link);
        return self;
    }
    self = source_resize(&worker->source, NULL, sizeof *self);
    if (!self)
        return NULL;
    memset(self, 0, sizeof *self);
    tr__turn_init(self, worker);
    self->scratch.current = &self->scratch.own;
    return self;
}

/*
 * Whether a turn is the worker's first turn. This turn is a member of the worker, so it cannot be
 * freed alone.
 */
static bool is_own(const struct worker *worker, const struct tr_self *self)
{
    return self == &worker->turns.calls[0];
}

/*
 * Keeps a turn that is over as a spare turn. If there are SPARE_MAX spare turns already, frees it.
 */
static void turn_give(struct worker *worker, struct tr_self *self)
{
    self->is_detached = false;
    self->waits_plainly = false;
    self->is_unusual = 0;
    self->wait.fiber = NULL;
    tr__scratch_deinit(&self->scratch.own);
    tr__scratch_init(&self->scratch.own, &worker->source);
    if (worker->turns.spare_count >= SPARE_MAX && !is_own(worker, self)) {
        tr__turn_asks_free(self);
        source_resize(&worker->source, self, 0);
        return;
    }
    self->wait.link.next = worker->turns.spare ? &worker->turns.spare->wait.link : &self->wait.link;
    worker->turns.spare = self;
    worker->turns.spare_count++;
}

void tr__turns_trim(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    bool has_own = false;
    while (worker->turns.spare_count) {
        struct tr_self *self = turn_take(worker);
        tr__turn_asks_free(self);
        if (is_own(worker, self))
            has_own = true;
        else
            source_resize(&worker->source, self, 0);
    }
    if (!has_own)
        return;
    /*
     * The worker's own record calls[0] was among the spare ones, so turns.message points to an
     * allocated record. Free that record too, and let turns.message point to calls[0] again. The
     * freed record is the newest allocation. If it stayed at the end of the heap, the heap could
     * not release the memory before it.
     */
    tr__turn_asks_free(worker->turns.message);
    tr__scratch_deinit(&worker->turns.message->scratch.own);
    source_resize(&worker->source, worker->turns.message, 0);
    worker->turns.message = &worker->turns.calls[0];
}

void tr__turns_free(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    tr__turns_trim(worker);
    tr__turn_asks_free(worker->turns.message);
    tr__scratch_deinit(&worker->turns.message->scratch.own);
    if (!is_own(worker, worker->turns.message))
        source_resize(&worker->source, worker->turns.message, 0);
}

/* ---- Waiting. ---- */

/*
 * Makes the current fiber the turn's own, which makes the turn a detached one. Returns a fresh
 * fiber for the worker's loop. Returns NULL when out of memory; then nothing has changed.
 */
static struct fiber *keep_fiber(struct tr_self *self)
{
    struct worker *worker = self->worker;
    struct tr_self *message = turn_take(worker);
    if (!message)
        return NULL;
    struct fiber *fiber = tr__stack_keep(worker);
    if (!fiber) {
        turn_give(worker, message);
        return NULL;
    }
    bool is_event = self->envelope->kind == ENVELOPE_EVENT;
    self->is_detached = true;
    self->waits_plainly = !self->handler->barrier_if && !self->handler->is_barrier && !is_event;
    turn_require_slow_end(self);
    list_push_last(&self->cell->extra->waits.born, &self->waits.born);
    if (is_event)
        tr__timer_park(self->envelope);
    self->wait.fiber = worker->stacks.host.current;
    worker->turns.message = message;
    tr__loop_charge(&worker->loop, self->turns);
    return fiber;
}

/*
 * Parks a turn that waits for the first time. The loop continues on another fiber. Returns TR_OK
 * when the turn is resumed, or TR_NO_MEMORY at once. `gives_way`: wakes the turn at once.
 */
static tr_status detach(struct tr_self *self, bool gives_way)
{
    struct worker *worker = self->worker;
    struct fiber *fiber = keep_fiber(self);
    if (!fiber)
        return TR_NO_MEMORY;
    if (gives_way)
        turn_wake(self, TR_OK);
    /* The run in which the turn began ends here, and the actor waits or is queued again. */
    tr__cell_park_or_requeue(worker, self->cell);
    if (self->job)
        tr__blocking_submit(self);
    fiber_switch(&worker->stacks.host, fiber);
    return TR_OK;
}

/* After a wait: from now on the outbox of the turn holds back its messages again. */
static void outbox_resume(struct tr_self *self)
{
    const struct durable *durable = self->cell->extra->durable;
    outbox_return(self);
    if (durable)
        durable->hooks->on_resume(self);
}

/*
 * Ends the stretch of a durable turn that is about to wait. Returns false if on_park has not allowed
 * the wait. Also returns false if what the turn wants to wait for has arrived meanwhile, because
 * on_park takes in mail of the actor. Then nothing would wake the turn any more.
 */
static bool end_part(struct tr_self *self, const struct durable_hooks *hooks)
{
    self->wait.is_beginning = true;
    self->wait.is_over = false;
    tr_status status = hooks->on_park(self);
    self->wait.is_beginning = false;
    if (status != TR_OK) {
        self->wait.outcome = status;
        return false;
    }
    if (self->wait.is_over)
        outbox_resume(self);
    return !self->wait.is_over;
}

/*
 * Prepares a turn with an outbox for a wait: from now on other turns of the worker send their
 * messages at once. Returns false if the turn must not wait.
 */
static bool outbox_wait(struct tr_self *self)
{
    const struct durable *durable = self->cell->extra->durable;
    if (durable)
        return end_part(self, durable->hooks);
    outbox_leave(self);
    return true;
}

/* As tr__turn_park. `gives_way`: wakes the turn at once, so that it waits for its actor's next run. */
static tr_status park_turn(struct tr_self *self, tr_time deadline_ns, bool gives_way)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return status;
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return TR_NO_MEMORY;
    if (self->outbox && !outbox_wait(self))
        return self->wait.outcome;
    if (self->capacity.favoured || self->capacity.grant)
        tr__turn_return_capacity(self);
    if (cell->flags & CELL_METERED)
        tr__budget_turn_end(self);
    TR_ASSERT_SLOW(!timer_is_armed(&self->waits.deadline));
    if (!extra->parked.count++)
        tr__idle_pause(worker, cell);
    parked_push(extra, self);
    if (self->envelope->kind == ENVELOPE_EVENT)
        tr__timer_park(self->envelope);
    turn_change(self, TURN_PARKED);
    self->wait.since_ns = worker->loop.now_ns;
    self->wait.outcome = TR_OK;
    if (!self->is_barrier && turn_wants_barrier(self))
        tr__barrier_begin(self);
    if (deadline_ns < TR_NEVER)
        tr__wheel_arm(&worker->turns.deadlines, &self->waits.deadline, deadline_ns);
    if (!self->is_detached) {
        status = detach(self, gives_way);
    } else {
        if (self->job)
            tr__blocking_submit(self);
        if (gives_way)
            turn_wake(self, TR_OK);
        fiber_switch(&worker->stacks.host, self->wait.caller);
    }
    TR_ASSERT_SLOW(self->state == TURN_RUNS || status != TR_OK);
    if (self->outbox)
        outbox_resume(self);
    if (status == TR_OK)
        return self->wait.outcome;
    /*
     * The turn does not wait, because it could not be detached. If it has become a barrier,
     * tr__turn_finish ends the barrier.
     */
    turn_require_slow_end(self);
    tr__wheel_cancel(&worker->turns.deadlines, &self->waits.deadline);
    turn_change(self, TURN_RUNS);
    list_remove(&self->wait.link);
    if (!--extra->parked.count)
        tr__idle_resume(worker, cell);
    return status;
}

tr_status tr__turn_park(struct tr_self *self, tr_time deadline_ns)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    return park_turn(self, deadline_ns, false);
}

tr_status tr__turn_give_way(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct tr_self *message = self->worker->turns.message;
    /* this ends the run, unless the turn cannot wait */
    if (message->turns < message->turns_max)
        message->turns_max = message->turns;
    return park_turn(self, TR_NEVER, true);
}

void tr__turn_wake(struct tr_self *self, tr_status outcome)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    turn_wake(self, outcome);
}

void tr__turn_wake_early(struct tr_self *self, tr_status outcome)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (!self->wait.is_beginning || self->wait.is_over)
        return;
    self->wait.is_over = true;
    self->wait.outcome = outcome;
}

void tr__waits_fire(struct worker *worker, tr_time now_ns)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct timer_node *node;
    while ((node = tr__wheel_expire(&worker->turns.deadlines, now_ns)))
        tr__turn_wake(LIST_OWNER(node, struct tr_self, waits.deadline), TR_TIMEOUT);
}

/* ---- Old states: the states with which waiting turns began. ---- */

/*
 * The state that an actor had before it got another one. Turns that waited at that time still use
 * it.
 */
struct old_state {
    void *memory;   /* NULL: this state is in the cell, or beside the cell in its slot */
    uint32_t turns; /* how many turns still use this state */
};

bool tr__state_keep(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct old_state *old = source_resize(&worker->source, NULL, sizeof *old);
    if (!old)
        return false;
    *old = (struct old_state){.memory = tr__state_apart(cell)};
    PARKED_EACH (self, cell->extra) {
        if (self->old_state)
            continue;
        self->old_state = old;
        old->turns++;
    }
    cell->state = NULL;
    if (!old->turns) {
        source_resize(&worker->source, old->memory, 0);
        source_resize(&worker->source, old, 0);
    }
    return true;
}

/* Releases the old state of a turn that ends. Frees the state if no other turn uses it. */
static void old_state_leave(struct worker *worker, struct tr_self *self)
{
    struct old_state *old = self->old_state;
    self->old_state = NULL;
    if (!old || --old->turns)
        return;
    source_resize(&worker->source, old->memory, 0);
    source_resize(&worker->source, old, 0);
}

/* ---- Resuming. ---- */

void tr__turn_switch_back(struct tr_self *self, tr_next next)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT_SLOW(self->is_detached);
    TR_ASSERT_SLOW(self->state == TURN_RUNS);
    self->call.next = next;
    turn_change(self, TURN_ENDED);
    tr__fiber_end(&self->worker->stacks.host, self->wait.caller);
}

void tr__resume_prepare(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    if (self->cell->flags & CELL_METERED)
        tr__budget_turn_resume(self);
    self->is_behind = !list_is_empty(&self->cell->extra->waits.line);
}

bool tr__resumed_turn_finish(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    /* after a cancelled turn the caller still needs the extra, so do not free it */
    bool is_cancelled = self->is_cancelled;
    bool is_running = tr__turn_finish(self, self->call.next);
    old_state_leave(worker, self);
    turn_give(worker, self);
    if (is_running && !is_cancelled && cell->flags & CELL_CHANNELS)
        tr__extra_rest(worker, cell);
    return is_running;
}

/* Whether the run must end, or must handle an order, before it resumes the next turn. */
static bool is_interrupted(struct worker *worker, const struct cell *cell)
{
    const struct tr_self *message = worker->turns.message;
    return atom32_load(&cell->control, ATOM_RELAXED) || message->turns >= message->turns_max ||
           loop_is_time_up(&worker->loop);
}

bool tr__turns_resume(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (cell->extra && __builtin_expect(cell->extra->parked.abandons, 0))
        tr__turns_abandon(worker, cell);
    while (cell->flags & CELL_WOKEN) {
        if (!resume_first_woken(worker, cell))
            return false;
        if (is_interrupted(worker, cell))
            break;
    }
    return true;
}

bool tr__turn_prepare(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    if (!tr__extra_of(worker, self->cell))
        return false;
    if (self->is_detached || worker->turns.spare)
        return true;
    struct tr_self *spare = turn_take(worker);
    if (spare)
        turn_give(worker, spare);
    return spare;
}

bool tr__turn_stick(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    TR_ASSERT(self->state == TURN_RUNS);
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return false;
    TR_ASSERT(!extra->waits.stuck);
    if (self->is_detached) {
        /* the loop continues on the fiber that has resumed the turn, as if the turn waited again */
        worker->stacks.fiber = self->wait.caller;
    } else {
        struct fiber *fiber = keep_fiber(self);
        if (!fiber)
            return false;
        worker->stacks.fiber = fiber;
    }
    if (self->capacity.favoured || self->capacity.grant)
        tr__turn_return_capacity(self);
    if (cell->flags & CELL_METERED)
        tr__budget_turn_end(self);
    if (!extra->parked.count)
        tr__idle_pause(worker, cell);
    if (self->outbox)
        /* while this turn is stuck, the messages of other turns are sent at once */
        outbox_leave(self);
    turn_change(self, TURN_STUCK);
    self->wait.since_ns = worker->loop.now_ns;
    extra->waits.stuck = self;
    return true;
}

bool tr__turn_unstick(struct worker *worker, struct cell *cell, uint32_t bits)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    struct tr_self *self = extra->waits.stuck;
    TR_ASSERT(self->state == TURN_STUCK);
    atom32_fetch_or(&cell->control, bits & ~(uint32_t)CONTROL_BACK, ATOM_RELAXED);
    extra->waits.stuck = NULL;
    if (!extra->parked.count)
        tr__idle_resume(worker, cell);
    if (self->outbox)
        outbox_return(self);
    /* hand in dead letters now, because the handler may never return */
    tr__dead_letter_batches_end(worker);
    if (!resume_until_wait(worker, cell, self, true))
        return self->state != TURN_STUCK;
    return tr__resumed_turn_finish(self);
}

/* Ends a turn that waits, without resuming it. */
static void abandon(struct worker *worker, struct tr_self *self)
{
    struct cell_extra *extra = self->cell->extra;
    TR_ASSERT_SLOW(turn_waits(self) && extra->parked.count > 0);
    tr__wheel_cancel(&worker->turns.deadlines, &self->waits.deadline);
    list_remove(&self->waits.born);
    list_remove(&self->wait.link);
    if (!--extra->parked.count)
        tr__idle_resume(worker, self->cell);
    tr__blocking_abandoned(self); /* first of all, because this call needs the stack of the turn */
    tr__fiber_discard(self->wait.fiber);
    /* Do what the verb in which the turn waits would do at the end of its wait. */
    if (self->sender.held)
        envelope_give(&worker->pool, self->sender.held);
    self->sender.held = NULL;
    list_remove(&self->sender.line);
    self->borrowed = NULL; /* the actor ends, and its channels end with it */
    self->sender.wants = 0;
    self->waits.on = 0;
    self->waits.number = 0;
    self->wait.wanted = 0;
    self->is_cancelled = true;
    turn_defers_forget(self);
    tr__follow_crashed(self);
    const tr_type *type = worker_type(worker);
    worker_set_type(worker, self->envelope->type);
    (void)tr__turn_finish(self, (tr_next){TR_NEXT_SAME});
    worker_set_type(worker, type);
    old_state_leave(worker, self);
    turn_give(worker, self);
}

void tr__turns_abandon(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    if (extra->waits.blocked)
        (void)tr__blocking_withdraw(worker, cell);
    /* do this first, because channels have links to records on the stacks of the turns */
    if (cell->flags & CELL_CHANNELS)
        worker->system->channels.hooks->on_abandon(worker, cell);
    if (extra->durable)
        extra->durable->hooks->on_abandon(extra->durable);
    woken_clear(cell);
    LIST_EACH (link, &extra->parked.turns) {
        struct tr_self *self = LIST_OWNER(link, struct tr_self, wait.link);
        /* a turn with a job must stay for now, because a helper thread uses its stack */
        if (turn_waits(self) && !self->job)
            abandon(worker, self);
    }
    extra->parked.abandons = extra->parked.count > 0;
    woken_clear(cell);
}

void tr__turns_cancel(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct list *link;
    if (cell->extra->parked.abandons) {
        tr__turns_abandon(worker, cell);
        return;
    }
    while ((link = list_first(&cell->extra->waits.born))) {
        struct tr_self *self = LIST_OWNER(link, struct tr_self, waits.born);
        tr__wheel_cancel(&worker->turns.deadlines, &self->waits.deadline);
        self->is_cancelled = true;
        self->wait.outcome = TR_CANCELLED;
        tr__dead_letter_batches_end(worker);
        /* this turn may be in the list, and so may others that are cancelled later */
        woken_clear(cell);
        if (!resume_cancelled(self))
            TR_NOT_REACHED("a cancelled turn waits");
        (void)tr__resumed_turn_finish(self);
    }
    woken_clear(cell);
}

/* ---- Barriers. ---- */

void tr__barrier_begin(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(!self->is_barrier);
    self->is_barrier = true;
    if (!self->cell->extra->waits.barriers++)
        tr__mail_hold(self->cell);
}

void tr__barrier_end(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    TR_ASSERT(self->is_barrier);
    TR_ASSERT_SLOW(self->cell->extra->waits.barriers > 0);
    self->is_barrier = false;
    if (!--self->cell->extra->waits.barriers)
        tr__mail_release(self->cell);
}
