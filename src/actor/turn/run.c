/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs: from the run queue to the handlers, and where an actor goes afterwards.
 *
 * This is the path that every message takes, so what nearly all of them need is tested together and
 * stands in line, and the rest is apart. An actor is ordinary while none of CELL_SLOW_RUN is set, nobody
 * calls it and nothing is behind its door; a message is ordinary when it is a notice that travels inside
 * its envelope.
 */
#include "actor/ask/ask.h"
#include "actor/ask/ask_then.h"
#include "actor/turn/budget.h"
#include "actor/verbs/client.h"
#include "actor/turn/fault.h"
#include "actor/mail/outbox.h"
#include "actor/turn/park.h"
#include "actor/system/thread_handoff.h"
#include "actor/life/stop.h"
#include "actor/turn/resume.h"
#include "actor/time/timers.h"
#include "actor/turn/turn.h"
#include "actor/ask/waiters.h"
#include "actor/life/watchers.h"
#include "base/assert.h"

/* There are three of what is RUN_INLINE, each for one way to call handlers. */
#define RUN_INLINE __attribute__((__always_inline__)) static inline

/*
 * Has the compiler forget how it came to a pointer, and what it has read through it. Otherwise it keeps
 * that, and addresses of members, in registers of their own, which are few here, or on the stack.
 */
#define RUN_OPAQUE(pointer) __asm__("" : "+r"(pointer))

enum call_mode { CALL_PLAIN, CALL_TRAPPING, CALL_RELIEVING };

/* ---- Messages. ---- */

/* The end of a turn that did more than handle its message. As tr__turn_apply_result. */
__attribute__((__noinline__)) static bool message_end_slowly(struct tr_self *self, tr_next next)
{
    if (self->is_detached)
        tr__turn_switch_back(self, next);
    return tr__turn_finish(self, next);
}

/* A turn begins of an actor that is metered, or behind a barrier. */
static void look_closely(struct tr_self *self)
{
    const struct cell *cell = self->cell;
    if (cell->flags & CELL_METERED)
        tr__budget_turn_begin(self);
    self->is_behind = cell->flags & CELL_BARRIER && !list_is_empty(&cell->extra->waits.line);
    self->needs_slow_end |= self->is_behind; /* its end takes that back */
}

/* A message is out of the mailbox. Of those that need a second look: false, nothing is to be handled. */
__attribute__((__noinline__)) static bool message_admit(struct tr_self *self,
                                                        struct envelope *envelope)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    mail_uncount(cell, envelope);
    if (cell->flags & (CELL_METERED | CELL_BARRIER))
        look_closely(self);
    switch ((enum envelope_kind)envelope->kind) {
    case ENVELOPE_PROBE:
        tr__probe_answer(worker, envelope, true);
        return false;
    case ENVELOPE_VOID:
        tr__mail_drop(worker, envelope);
        return false;
    case ENVELOPE_EVENT:
        self->needs_slow_end = true; /* its end is no ordinary one */
        if (cell->extra && envelope == cell->extra->idle.event)
            cell->extra->idle.event = NULL;
        return true;
    case ENVELOPE_ASK:
    case ENVELOPE_NOTICE:
        capacity_give_any(cell, envelope);
        if (cell->flags & CELL_IDLES)
            tr__idle_touch(worker, cell);
        return true;
    case ENVELOPE_SIGNAL:
        return tr__watch_admit(worker, cell, envelope);
    default:
        return true;
    }
}

/* A durable actor may be about to sleep, and has waited for the message that ends here without a handler. */
static void message_skipped(struct worker *worker, struct cell *cell)
{
    const struct durable *durable = cell_durable(cell);
    if (durable)
        durable->hooks->on_skipped(worker, cell);
}

/* There is no handler for it. */
__attribute__((__noinline__)) static void message_unhandled(struct tr_self *self)
{
    tr__turn_unhandled(self);
    message_skipped(self->worker, self->cell);
}

/* A request whose time was up before it was handled. */
__attribute__((__noinline__)) static void message_late(struct tr_self *self,
                                                       struct envelope *envelope)
{
    self->envelope = NULL;
    envelope->kind = ENVELOPE_ANSWERED; /* who asked knows */
    tr__mail_bury_one(self->worker, self->cell, envelope, TR_TIMEOUT);
    message_skipped(self->worker, self->cell);
}

/* Calls the handler of a handler, `call`. */
RUN_INLINE tr_next call_handler(struct tr_self *self, const tr_handler *handler,
                                tr_next (*call)(tr_self *, void *, const void *), void *state,
                                const void *message, enum call_mode mode)
{
    if (mode == CALL_TRAPPING)
        return tr__fault_call_handler(self, handler);
    if (mode == CALL_RELIEVING)
        claim_go_out(self->claim, self);
    tr_next next = call(self, state, message);
    if (mode == CALL_RELIEVING && __builtin_expect(!claim_come_in(self->claim), 0))
        tr__handoff_return(self);
    return next;
}

/* A message that is out of the mailbox and is no ordinary one. As message_turn. */
RUN_INLINE bool message_turn_slowly(struct tr_self *self, struct worker *worker, struct cell *cell,
                                    struct envelope *envelope, enum call_mode mode)
{
    self->envelope = envelope;
    self->causal = envelope->causal;
    worker_set_type(worker, envelope->type);
    const tr_handler *handler = dispatch_find(&worker->dispatches, cell->dispatch, envelope->type);
    if (envelope->kind <= ENVELOPE_EXCEPTION && envelope->type == &tr__then_type)
        handler = tr__then_begin(self);
    if (__builtin_expect(!handler, 0)) {
        message_unhandled(self);
        return true;
    }
    if (envelope->kind == ENVELOPE_ASK && __builtin_expect(ask_is_late(worker, envelope), 0)) {
        message_late(self, envelope);
        return true;
    }
    self->handler = handler;
    worker_set_handler(worker, handler);
    tr_message any = {envelope->type, envelope_data(envelope)};
    const void *message = handler->type ? any.data : &any;
    tr_next next = call_handler(self, handler, handler->call, cell->state, message, mode);
    if (next.code != TR_NEXT_SAME || self->needs_slow_end || self->envelope->kind == ENVELOPE_ASK)
        return message_end_slowly(self, next);
    atom64_count(&worker->counters.handled, 1);
    envelope_give(&worker->pool, self->envelope);
    self->envelope = NULL; /* who looks for a request must not find it in what is free */
    return true;
}

static_assert(TR_NEXT_SAME == 0, "the end of an ordinary turn is one test");

/* A request that is out of the mailbox, inside its envelope, of an actor that is not watched. The same. */
RUN_INLINE bool request_turn(struct tr_self *self, struct worker *worker, struct cell *cell,
                             struct envelope *envelope, enum call_mode mode)
{
    const tr_type *type = envelope->type;
    const struct dispatch_entry *entry = dispatch_place(cell->dispatch, type);
    if (__builtin_expect(entry->quick != type || ask_is_late(worker, envelope), 0))
        return message_turn_slowly(self, worker, cell, envelope, mode);
    self->envelope = envelope;
    self->causal = envelope->causal;
    worker_set_type(worker, type);
    self->handler = entry->handler;
    worker_set_handler(worker, entry->handler);
    tr_next next =
        call_handler(self, entry->handler, entry->call, cell->state, envelope->payload.bytes, mode);
    bool is_open = self->envelope->kind == ENVELOPE_ASK; /* nobody has answered it */
    if (__builtin_expect(((uint32_t)next.code | self->needs_slow_end | is_open) != 0, 0))
        return message_end_slowly(self, next);
    atom64_count(&worker->counters.handled, 1);
    envelope_give(&worker->pool, self->envelope);
    self->envelope = NULL; /* who looks for a request must not find it in what is free */
    return true;
}

/*
 * Handles a message that is out of the cycle. `is_plain`: its actor is known to have none of CELL_SLOW_CAPACITY.
 * False when the actor has stopped running.
 */
RUN_INLINE bool message_turn(struct tr_self *self, struct worker *worker, struct cell *cell,
                             struct envelope *envelope, bool is_plain, enum call_mode mode)
{
    bool is_notable = !is_plain && __builtin_expect(cell->flags & CELL_SLOW_CAPACITY, 0);
    self->turns++;
    if (__builtin_expect(is_notable || !envelope_is_notice(envelope), 0)) {
        bool is_watched = cell->flags & CELL_COUNTS_MESSAGES;
        if (is_watched || !envelope_is_notice(envelope)) {
            if (envelope_is_request(envelope) && !is_watched) {
                mail_leave_fast(cell);
                return request_turn(self, worker, cell, envelope, mode);
            }
            if (!message_admit(self, envelope))
                return true;
            return message_turn_slowly(self, worker, cell, envelope, mode);
        }
        mail_leave_exactly(cell);
    } else {
        mail_leave_stock(cell);
    }
    const tr_type *type = envelope->type;
    self->envelope = envelope;
    self->causal = envelope->causal;
    worker_set_type(worker, type);
    const struct dispatch_entry *entry = dispatch_place(cell->dispatch, type);
    if (__builtin_expect(entry->quick != type, 0))
        return message_turn_slowly(self, worker, cell, envelope, mode);
    self->handler = entry->handler;
    worker_set_handler(worker, entry->handler);
    tr_next next =
        call_handler(self, entry->handler, entry->call, cell->state, envelope->payload.bytes, mode);
    if (__builtin_expect(((uint32_t)next.code | self->needs_slow_end) != 0, 0))
        return message_end_slowly(self, next);
    atom64_count(&worker->counters.handled, 1);
    envelope_give_empty(&worker->pool, envelope);
    self->envelope = NULL;
    return true;
}

/* ---- Runs. ---- */

static inline bool has_control(const struct cell *cell)
{
    return atom32_load(&cell->control, ATOM_RELAXED);
}

static inline bool is_used_up(const struct tr_self *self, const struct worker *worker)
{
    return self->turns >= self->turns_max || loop_is_time_up(&worker->loop);
}

/* Whether the next cycle of an actor that is between two, and has none of `flags`, is of notices alone. */
RUN_INLINE bool is_ordinary(const struct cell *cell, uint32_t flags)
{
    return __builtin_expect(!has_control(cell), 1) && __builtin_expect(!(cell->flags & flags), 1) &&
           __builtin_expect(!door_has_mail(&cell->door), 1);
}

/* Begins the cycle of one that is ordinary, and gives the first message. NULL: none, it waits. */
RUN_INLINE struct envelope *take_notices(struct cell *cell)
{
    struct envelope *last = cell->notices;
    if (__builtin_expect(!last, 0)) {
        cell->sched_state = SCHED_WAITING; /* what comes now posts the door, or finds it waiting */
        return NULL;
    }
    cell->notices = NULL;
    struct envelope *first = (struct envelope *)(void *)last->mail.next;
    if (__builtin_expect(first != last, 0)) {
        last->mail.next = first->mail.next;
        cell->cycle = last;
    }
    return first;
}

/* The next message of a cycle that is not over. NULL: something comes first. */
RUN_INLINE struct envelope *take_on(struct cell *cell)
{
    if (__builtin_expect(has_control(cell) || cell->flags & CELL_WOKEN, 0))
        return NULL;
    return ring_pop(&cell->cycle);
}

/*
 * The next message to handle. NULL: there is none, the actor waits or is gone. Over the switch of stacks in
 * it only two registers are kept: so the worker and the actor are, and whoever needs `self` asks the worker.
 */
RUN_INLINE struct envelope *next_message(struct worker *worker, struct cell *cell)
{
    for (;;) {
        if (__builtin_expect(has_control(cell), 0)) {
            if (!tr__cell_handle_control(worker, cell))
                return NULL;
        } else if (cell->cycle && __builtin_expect(!(cell->flags & CELL_WOKEN), 1)) {
            return ring_pop(&cell->cycle);
        } else if (__builtin_expect(!(cell->flags & CELL_SLOW_RUN), 1) &&
                   __builtin_expect(!door_has_mail(&cell->door), 1)) {
            return take_notices(cell);
        } else if (cell->flags & CELL_WOKEN) {
            /* Turns that may go on do so between any two messages. */
            if (!resume_first_woken(worker, cell))
                return NULL;
        } else {
            mail_look(worker, cell);
            if (has_control(cell) || cell->flags & CELL_WOKEN)
                continue;
            if (mail_begin_cycle(cell))
                return ring_pop(&cell->cycle);
            break;
        }
        if (is_used_up(worker->turns.message, worker))
            break; /* turns that waited have used it */
    }
    tr__cell_park_or_requeue(worker, cell);
    return NULL;
}

/*
 * Cycles, until nothing is left or the budget is used. `self` is the turn of the worker's messages; gives
 * the one that it has afterwards.
 */
RUN_INLINE struct tr_self *run(struct worker *worker, struct cell *cell, struct tr_self *self,
                               enum call_mode mode)
{
    for (;;) {
        struct envelope *envelope;
        bool is_plain = __builtin_expect(!cell->cycle, 1) &&
                        is_ordinary(cell, CELL_SLOW_RUN | CELL_SLOW_CAPACITY);
        if (__builtin_expect(is_plain, 1)) {
            envelope = take_notices(cell);
        } else {
            if (cell->cycle && !self->turns && (cell->replies || cell->exceptions))
                tr__mail_resume_cycle(cell);
            envelope = next_message(worker, cell);
            self = worker->turns.message;
        }
        if (__builtin_expect(!envelope, 0)) {
            self->turns += !self->turns; /* to run for nothing is charged like a turn */
            return self;
        }
        bool has_more;
        do {
            RUN_OPAQUE(self); /* so that its turns are counted in memory, by one addition */
            if (__builtin_expect(!message_turn(self, worker, cell, envelope, is_plain, mode), 0))
                return worker->turns.message; /* it stops, or is gone */
            TR_ASSERT_SLOW(self == worker->turns.message);
            has_more = cell->cycle;
            if (__builtin_expect(!has_more, 1) && is_ordinary(cell, CELL_SLOW_RUN) &&
                __builtin_expect(!cell->notices, 1)) {
                cell->sched_state = SCHED_WAITING; /* as take_notices */
                return self;
            }
            if (__builtin_expect(is_used_up(self, worker), 0)) {
                tr__cell_park_or_requeue(worker, cell);
                return worker->turns.message;
            }
            is_plain = false;
        } while (has_more && (envelope = take_on(cell)));
    }
}

/*
 * Runs an actor, and then those that are next in the queue, as long as the loop would do nothing else
 * in between; each but the last is charged here.
 */
RUN_INLINE uint32_t cell_run(struct worker *worker, struct task *task, uint32_t turns_max,
                             enum call_mode mode, const struct loop_hooks *hooks)
{
    struct tr_self *self = worker->turns.message;
    self->kind = TURN_MESSAGE;
    self->turns_max = turns_max;
    if (__builtin_expect(worker->loop.hooks != hooks, 0))
        loop_call_back(&worker->loop); /* who is in between wants to see each run */
    for (;;) {
        struct cell *cell = cell_of_task(task);
        RUN_OPAQUE(cell);
        TR_ASSERT(cell->sched_state == SCHED_READY);
        TR_ASSERT(cell_owner(cell) == worker->index);
        cell->sched_state =
            SCHED_RUNNING; /* nobody can look in between, while it is SCHED_SCHEDULED */
        self->cell = cell;
        self->turns = 0;
        if (mode == CALL_RELIEVING)
            self->claim = atomptr_load(&worker->handoff.claim, ATOM_RELAXED);
        worker_set_running(worker, cell);
        self = run(worker, cell, self, mode);
        uint32_t turns = self->turns;
        task = loop_next(&worker->loop, turns);
        if (__builtin_expect(!task, 0)) {
            worker_set_running(worker, NULL);
            return turns;
        }
    }
}

uint32_t tr__cell_run(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(worker_of_loop(loop), task, turns_max, CALL_PLAIN, &tr__worker_hooks);
}

uint32_t tr__cell_run_trapping(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(
        worker_of_loop(loop), task, turns_max, CALL_TRAPPING, &tr__worker_trapping_hooks);
}

uint32_t tr__cell_run_with_handoff(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(
        worker_of_loop(loop), task, turns_max, CALL_RELIEVING, &tr__worker_handoff_hooks);
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
    cell->sched_state = SCHED_WAITING;
    if (__builtin_expect(cell->flags & CELL_HAS_WAITING_SENDERS, 0))
        tr__waiters_serve(worker, cell);
    /* The re-check: what came in between has posted the door, but there is no need to wait. */
    mail_look(worker, cell);
    /* What was taken in may have been a dead letter of which this very actor was told. */
    if (cell->sched_state == SCHED_WAITING && is_needed(cell))
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

void tr__cell_park_or_requeue(struct worker *worker, struct cell *cell)
{
    TR_ASSERT(cell->life == LIFE_RUNNING);
    if (cell->cycle || mail_has_arrived(cell) || atom32_load(&cell->control, ATOM_RELAXED)) {
        mail_make_ready(worker, cell);
        if (__builtin_expect(cell->flags & CELL_HAS_WAITING_SENDERS, 0))
            tr__waiters_serve(worker, cell);
    } else if (__builtin_expect(cell->flags & (CELL_SEALED | CELL_METERED), 0)) {
        settle_looking(worker, cell);
    } else {
        settle_waiting(worker, cell);
    }
}
