/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/turn.h"

#include "actor/budget.h"
#include "actor/ask.h"
#include "actor/ask_then.h"
#include "actor/batch.h"
#include "actor/children.h"
#include "actor/client.h"
#include "actor/extra.h"
#include "actor/fault.h"
#include "actor/gate.h"
#include "actor/lifecycle.h"
#include "actor/park.h"
#include "actor/relief.h"
#include "actor/spawn.h"
#include "actor/stop.h"
#include "actor/stretch.h"
#include "actor/supervise.h"
#include "actor/timers.h"
#include "actor/waiters.h"
#include "actor/watchers.h"
#include "base/assert.h"
#include "fiber/jump.h"
#include "wire/copy.h"

/* There are three of what is TURN_INLINE, each for one way to call handlers. */
#define TURN_INLINE __attribute__((__always_inline__)) static inline
enum call_mode { CALL_PLAIN, CALL_TRAPPING, CALL_RELIEVING };

static const tr_next same = {TR_NEXT_SAME};
static const tr_next failed = {TR_NEXT_FAILED};

/* Runs what tr_defer registered, the last one first. */
static void run_defers(struct tr_self *self)
{
    while (self->defer_count) {
        struct turn_defer *defer = turn_defer_at(self, --self->defer_count);
        defer->release(defer->resource);
    }
    self->more_defers = NULL;
}

void tr__become_forget(struct tr_self *self)
{
    if (self->become_message && !self->become_type->is_flat)
        tr__copy_drop(self->become_type, (void *)(uintptr_t)self->become_message);
    self->become = NULL;
    self->become_type = NULL;
    self->become_message = NULL;
}

static void story_clear(struct tr_self *self)
{
    self->defer_count = 0;
    self->has_story = false;
    self->reply_failed = TR_OK;
    self->error.status = TR_OK;
    self->error.code = 0;
    self->state = TURN_RUNS;
}

static void fail(struct tr_self *self)
{
    const char *where = self->kind == TURN_MESSAGE ? worker_type(self->worker)->name : "a signal";
    atom64_count(&self->worker->counters.failures, 1);
    tr__cell_fail(self->worker, self->cell, where, &self->error);
}

bool tr__turn_apply(struct tr_self *self, tr_next next)
{
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
                               self->become,
                               self->become_type,
                               self->become_message,
                               self->causal,
                               &self->error)) {
        case TR_OK:
            return true;
        case TR_STOPPED: /* the set-up said so */
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

/* The envelope of this turn goes where it came from. */
static void envelope_done(struct tr_self *self)
{
    struct envelope *envelope = self->envelope;
    self->envelope = NULL;
    if (envelope->kind == ENVELOPE_EVENT)
        tr__timer_return(self->worker, self->cell, envelope);
    else
        envelope_give(&self->worker->pool, envelope);
}

void tr__turn_unhandled(struct tr_self *self)
{
    struct worker *worker = self->worker;
    const struct envelope *envelope = self->envelope;
    /* A signal that nobody handles is ignored. */
    if (envelope->type == &tr__idle_type || envelope->kind == ENVELOPE_SIGNAL) {
        atom64_count(&worker->counters.handled, 1);
        envelope_done(self);
        return;
    }
    atom64_count(&worker->counters.dead, 1);
    tr__dead_letter(worker->system,
                    worker,
                    &(struct dead_letter){.type = envelope->type,
                                          .from = turn_sender(self),
                                          .to = self->cell->identity,
                                          .reason = TR_UNHANDLED,
                                          .behavior = self->cell->dispatch->behavior->name});
    if (envelope->kind == ENVELOPE_ASK)
        tr__ask_turn_over(self, TR_NOT_HANDLED);
    else
        envelope_done(self);
}

bool tr__turn_over(struct tr_self *self, tr_next next)
{
    struct worker *worker = self->worker;
    if (self->frame)
        next = cell_durable(self->cell)->hooks->on_crash(self, next);
    if (self->favoured)
        tr__favour_end(self);
    if (self->grant)
        tr__grant_return(self);
    if (self->is_barrier)
        tr__barrier_end(self);
    self->state = TURN_ENDED; /* a defer waits for nothing */
    run_defers(self);
    if (self->asks.count)
        tr__asks_drop(self);
    if (self->is_cancelled)
        next = same; /* nobody asks it any more */
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
        /* A timer takes its message back before the actor may end, and all its timers with it. */
        if (self->envelope->kind == ENVELOPE_EVENT)
            envelope_done(self);
    }
    if (self->cell->flags & CELL_METERED)
        tr__budget_turn_end(self);
    if (self->envelope && self->envelope->kind == ENVELOPE_ASK)
        tr__ask_turn_over(self, next);
    bool is_running = self->is_cancelled || tr__turn_apply(self, next);
    if (self->envelope)
        envelope_done(self);
    tr__become_forget(self);
    tr__scratch_reset(self->scratch, self->scratch_mark);
    story_clear(self);
    return is_running;
}

/* The end of a turn that did more than handle its message. As tr__turn_apply. */
static bool message_end_slowly(struct tr_self *self, tr_next next)
{
    if (self->is_detached)
        tr__turn_leave(self, next);
    return tr__turn_over(self, next);
}

static inline bool message_end(struct tr_self *self, tr_next next)
{
    bool is_open = self->envelope->kind == ENVELOPE_ASK;
    if (__builtin_expect(next.code != TR_NEXT_SAME || self->has_story || is_open, 0))
        return message_end_slowly(self, next);
    atom64_count(&self->worker->counters.handled, 1);
    envelope_give(&self->worker->pool, self->envelope);
    return true;
}

/* Of messages that need a second look: false when there is nothing to handle. */
static bool message_admit(struct tr_self *self, struct envelope *envelope)
{
    struct worker *worker = self->worker;
    if (self->cell->flags & CELL_METERED)
        tr__budget_turn_begin(self);
    switch ((enum envelope_kind)envelope->kind) {
    case ENVELOPE_PROBE:
        tr__probe_answer(worker, envelope, true);
        return false;
    case ENVELOPE_VOID:
        tr__mail_drop(worker, envelope);
        return false;
    case ENVELOPE_EVENT:
        self->has_story = true; /* its end is no ordinary one */
        if (self->cell->extra && envelope == self->cell->extra->idle_event)
            self->cell->extra->idle_event = NULL;
        return true;
    case ENVELOPE_ASK:
    case ENVELOPE_NOTICE:
        room_give_any(self->cell, envelope);
        if (self->cell->flags & CELL_IDLES)
            tr__idle_touch(worker, self->cell);
        return true;
    case ENVELOPE_SIGNAL:
        return tr__watch_admit(worker, self->cell, envelope);
    default:
        return true;
    }
}

TURN_INLINE tr_next call_row(struct tr_self *self, const tr_handler *row, struct envelope *envelope,
                             enum call_mode mode)
{
    void *state = self->cell->state;
    tr_next next;
    if (mode == CALL_TRAPPING)
        return tr__fault_call_row(self, row);
    if (mode == CALL_RELIEVING)
        seat_go_out(self->seat, self);
    if (__builtin_expect(row->type != NULL, 1)) {
        next = row->call(self, state, envelope_data(envelope));
    } else {
        tr_message any = {envelope->type, envelope_data(envelope)};
        next = row->call(self, state, &any);
    }
    if (mode == CALL_RELIEVING && __builtin_expect(!seat_come_in(self->seat), 0))
        tr__relief_return(self);
    return next;
}

/* False when the actor has stopped running. */
TURN_INLINE bool message_turn(struct tr_self *self, enum call_mode mode)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    struct envelope *envelope = ring_pop(&cell->cycle);
    mail_uncount(cell, envelope);
    self->turns++;
    if (__builtin_expect(mail_takes_room(envelope) && !(cell->flags & CELL_WATCHED), 1))
        room_give_near(cell, envelope);
    else if (!message_admit(self, envelope))
        return true;
    self->envelope = envelope;
    self->causal = envelope->causal;
    worker_set_type(worker, envelope->type);
    const tr_handler *row = dispatch_find(&worker->dispatches, cell->dispatch, envelope->type);
    if (__builtin_expect(envelope->kind <= ENVELOPE_EXCEPTION, 0) &&
        envelope->type == &tr__then_type)
        row = tr__then_begin(self);
    if (__builtin_expect(!row, 0)) {
        tr__turn_unhandled(self);
        return true;
    }
    if (__builtin_expect(envelope->kind == ENVELOPE_ASK, 0) && ask_is_late(worker, envelope)) {
        self->envelope = NULL;
        envelope->kind = ENVELOPE_ANSWERED; /* who asked knows */
        tr__mail_bury_one(worker, cell, envelope, TR_TIMEOUT);
        return true;
    }
    self->row = row;
    worker_set_row(worker, row);
    return message_end(self, call_row(self, row, envelope, mode));
}

static inline bool is_called(const struct cell *cell)
{
    return atom32_load(&cell->control, ATOM_RELAXED);
}

/* Cycles, until nothing is left or the budget is used. */
TURN_INLINE void run(struct tr_self *self, enum call_mode mode)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    for (;;) {
        while (__builtin_expect(is_called(cell), 0)) {
            if (!tr__cell_obey(worker, cell))
                return;
            if (self->turns >= self->turns_max || loop_is_time_up(&worker->loop))
                goto over; /* turns that waited have used it */
        }
        if (!cell->cycle) {
            if (__builtin_expect(door_has_mail(&cell->door), 0)) {
                mail_look(worker, cell);
                if (is_called(cell))
                    continue;
            }
            if (!(cell->flags & CELL_WOKEN) && !mail_begin_cycle(cell))
                break;
        }
        /* Turns that may go on do so between any two messages. */
        if (__builtin_expect(cell->flags & CELL_WOKEN, 0)) {
            if (!stretch_resume(worker, cell))
                return;
            if (self->turns >= self->turns_max || loop_is_time_up(&worker->loop))
                goto over;
            continue;
        }
        do {
            if (__builtin_expect(!message_turn(self, mode), 0))
                return; /* it stops, or is gone */
            if (self->turns >= self->turns_max || loop_is_time_up(&worker->loop))
                goto over;
        } while (cell->cycle && !is_called(cell) && !(cell->flags & CELL_WOKEN));
    }
over:
    tr__cell_settle(worker, cell);
}

TURN_INLINE uint32_t cell_run(struct loop *loop, struct task *task, uint32_t turns_max,
                              enum call_mode mode)
{
    struct worker *worker = worker_of_loop(loop);
    struct cell *cell = cell_of_task(task);
    struct tr_self *self = worker->message;
    TR_ASSERT(cell->house == HOUSE_READY);
    TR_ASSERT(cell_owner(cell) == worker->index);
    cell->house = HOUSE_SCHEDULED;
    self->cell = cell;
    self->kind = TURN_MESSAGE;
    self->turns = 0;
    self->turns_max = turns_max;
    if (mode == CALL_RELIEVING)
        self->seat = atomptr_load(&worker->seat, ATOM_RELAXED);
    worker_set_running(worker, cell);
    if (cell->cycle && (cell->replies || cell->exceptions))
        tr__mail_resume_cycle(cell);
    cell->house = HOUSE_RUNNING;
    run(self, mode);
    worker_set_running(worker, NULL);
    return self->turns ? self->turns : 1;
}

uint32_t tr__cell_run(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(loop, task, turns_max, CALL_PLAIN);
}

uint32_t tr__cell_run_trapping(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(loop, task, turns_max, CALL_TRAPPING);
}

uint32_t tr__cell_run_relieving(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(loop, task, turns_max, CALL_RELIEVING);
}

/* A message's turn has crashed; its stack is gone, and this is a fresh one. */
static void message_crashed(void *context)
{
    struct tr_self *self = context;
    struct worker *worker = self->worker;
    bool is_running = tr__turn_over(self, self->next);
    if (is_running)
        tr__cell_settle(worker, self->cell);
    worker_set_running(worker, NULL);
    tr__loop_charge(&worker->loop, self->turns);
    tr__worker_fiber(worker);
}

/* ---- Other calls of user code: each on a fiber of its own. ---- */

static void call_main(void *context)
{
    struct tr_self *self = context;
    if (self->worker->system->traps_faults)
        self->next = tr__fault_call(self, self->call, self->message);
    else
        self->next = self->call(self, self->cell->state, self->message);
    tr__fiber_end(&self->worker->host, self->caller);
}

static void call_crashed(void *context)
{
    struct tr_self *self = context;
    self->state = TURN_ENDED;
    tr__fiber_end(&self->worker->host, self->caller);
}

struct tr_self *tr__call(struct worker *worker, struct cell *cell, enum turn_kind kind,
                         tr_next (*call)(tr_self *self, void *state, const void *message),
                         const void *message, uint64_t causal)
{
    if (worker->depth + 1 >= WORKER_TURNS)
        return NULL;
    struct tr_self *self = &worker->turns[worker->depth + 1];
    struct fiber *fiber;
    if (tr__fiber_new(&worker->fibers, call_main, self, &fiber) != TR_OK)
        return NULL;
    worker->depth++;
    atom64_count(&worker->counters.signals, 1);
    story_clear(self);
    self->cell = cell;
    self->envelope = NULL;
    self->causal = causal;
    self->kind = kind;
    self->scratch_mark = tr__scratch_mark(self->scratch);
    self->call = call;
    self->message = message;
    self->next = same;
    self->caller = worker->host.current;
    tr__burials_end(worker);
    const struct cell *running = worker_running(worker);
    const tr_type *running_type = worker_type(worker);
    const tr_handler *running_row = worker_row(worker);
    bool is_watched = budget_is_watched(worker, cell);
    if (is_watched)
        tr__budget_call_begin(worker, cell);
    if (!running)
        loop_step(&worker->loop); /* before, and after, it is the runtime that takes the time */
    worker_set_running(worker, cell);
    worker_set_type(worker, NULL);
    worker_set_row(worker, tr__dispatch_row(cell->dispatch, call));
    fiber_switch(&worker->host, fiber);
    worker_set_running(worker, running);
    worker_set_type(worker, running_type);
    worker_set_row(worker, running_row);
    if (!running)
        loop_step(&worker->loop);
    run_defers(self);
    if (is_watched)
        tr__budget_call_end(worker, cell);
    return self;
}

void tr__call_end(struct tr_self *self)
{
    struct worker *worker = self->worker;
    TR_ASSERT(self == &worker->turns[worker->depth]);
    tr__become_forget(self);
    tr__scratch_reset(self->scratch, self->scratch_mark);
    worker->depth--;
}

void tr__turn_crash(struct tr_self *self)
{
    tr__turn_end(self, failed);
}

void tr__turn_end(struct tr_self *self, tr_next next)
{
    struct worker *worker = self->worker;
    self->next = next;
    TR_ASSERT(self->is_detached ? !worker->depth : self == worker_turn(worker));
    /* A defer of a turn that has waited runs on the stack of who resumed it, which cannot be left. */
    TR_ASSERT(!self->is_detached || self->state == TURN_RUNS);
    void (*crashed)(void *self) = message_crashed;
    if (worker->depth || self->is_detached)
        crashed = call_crashed;
    tr__fiber_replace(&worker->host, &worker->fibers, crashed, self);
}

/* ---- Where an actor goes after a run. ---- */

/* What waits for an actor that is not running: mail, orders, or its own end. */
static bool is_needed(const struct cell *cell)
{
    return cell->cycle || mail_has_arrived(cell) || atom32_load(&cell->control, ATOM_SEQ_CST) ||
           mail_is_over(cell);
}

static inline void settle_waiting(struct worker *worker, struct cell *cell)
{
    cell->house = HOUSE_WAITING;
    if (__builtin_expect(cell->flags & CELL_AWAITED, 0))
        tr__waiters_serve(worker, cell);
    /* The re-check: what came in between has posted the door, but there is no need to wait. */
    mail_look(worker, cell);
    /* What was taken in may have been a dead letter of which this very actor was told. */
    if (cell->house == HOUSE_WAITING && is_needed(cell))
        mail_make_ready(worker, cell);
}

/* Of an actor that is sealed or metered. Apart, so that others pay for one test. */
__attribute__((__noinline__)) static void settle_looking(struct worker *worker, struct cell *cell)
{
    struct durable *durable = cell_durable(cell);
    if (durable && cell->flags & CELL_SEALED && !durable->may_stop)
        durable->hooks->on_stop(worker, cell);
    if (mail_is_over(cell)) {
        tr__cell_stop(worker, cell, false);
        return;
    }
    if (cell->flags & CELL_METERED)
        tr__budget_look(worker, cell);
    settle_waiting(worker, cell);
}

void tr__cell_settle(struct worker *worker, struct cell *cell)
{
    TR_ASSERT(cell->life == LIFE_RUNNING);
    if (cell->cycle || mail_has_arrived(cell) || atom32_load(&cell->control, ATOM_RELAXED)) {
        mail_make_ready(worker, cell);
        if (__builtin_expect(cell->flags & CELL_AWAITED, 0))
            tr__waiters_serve(worker, cell);
    } else if (__builtin_expect(cell->flags & (CELL_SEALED | CELL_METERED), 0)) {
        settle_looking(worker, cell);
    } else {
        settle_waiting(worker, cell);
    }
}
