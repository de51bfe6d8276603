/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs: take an actor from the run queue, call its handlers, and queue it again or let it wait.
 *
 * Every message takes this path. So the code for ordinary actors and messages is inline and has few
 * tests, and the code for all other actors and messages is in separate functions. An actor is
 * ordinary while none of CELL_SLOW_RUN is set, it has no control bits, and its door has no mail. A
 * message is ordinary if it is a notice whose data is inside its envelope.
 */
#include "actor/turn/run.h"

#include "actor/cell/ask_table.h"
#include "actor/cell/channel.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/durable.h"
#include "actor/cell/signal.h"
#include "actor/cell/upcalls.h"
#include "actor/mail/capacity.h"
#include "actor/mail/cycle.h"
#include "actor/time/receive_timeout.h"
#include "actor/turn/budget.h"
#include "actor/turn/fault.h"
#include "actor/turn/follow_turn.h"
#include "actor/turn/park.h"
#include "actor/turn/resume.h"
#include "actor/turn/stack.h"
#include "actor/turn/turn.h"
#include "base/assert.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"

/*
 * The compiler makes six copies of each RUN_INLINE function, one for each call mode. With a
 * sanitizer it makes one copy only. That compiles five times faster, and the speed of such a build
 * does not matter.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RUN_INLINE static inline
#else
#define RUN_INLINE __attribute__((__always_inline__)) static inline
#endif

/*
 * Hides from the compiler how a pointer was computed, and what was read through it. Otherwise the
 * compiler would keep these values, and the addresses of members, in registers or on the stack.
 * Registers are scarce here.
 */
#define RUN_OPAQUE(pointer) __asm__("" : "+r"(pointer))

enum call_mode {
    CALL_PLAIN,
    CALL_TRAPPING,
    CALL_RELIEVING,
    CALL_BASE = 3,     /* mask for the modes above */
    CALL_FOLLOWING = 4 /* added to one of the modes above: see actor/turn/follow_turn.h */
};

/* ---- Messages. ---- */

/*
 * Ends a turn that needs more than the fast end: it has needs_slow_end, a request without an
 * answer, or a result other than TR_NEXT_SAME. Returns what tr__turn_apply_result returns. If the
 * turn has waited, ends its fiber and does not return.
 */
__attribute__((__noinline__)) static bool message_end_slowly(struct tr_self *self, tr_next next)
{
    if (self->is_detached)
        tr__turn_switch_back(self, next);
    return tr__turn_finish(self, next);
}

/* Prepares a turn that is about to begin, and whose actor is metered or behind a barrier. */
static void look_closely(struct tr_self *self)
{
    const struct cell *cell = self->cell;
    if (cell->flags & CELL_METERED)
        tr__budget_turn_begin(self);
    self->is_behind = cell->flags & CELL_BARRIER && !list_is_empty(&cell->extra->waits.line);
    if (self->is_behind)
        turn_require_slow_end(self); /* tr__turn_finish clears is_behind */
}

/*
 * If there is a function that takes mail of this kind in place of a handler, calls it and returns
 * true. Then the envelope was taken.
 */
__attribute__((__noinline__)) static bool mail_takes_turn(struct worker *worker, struct cell *cell,
                                                          struct envelope *envelope)
{
    mail_taker *taker = tr__mail_turns[envelope->kind];
    if (taker)
        taker(worker, cell, envelope);
    return taker;
}

/*
 * Updates the counts for a message that was removed from the mailbox, if the message or its actor
 * is not ordinary. Returns false if there is nothing to handle; then the envelope was taken.
 */
__attribute__((__noinline__)) static bool message_admit(struct tr_self *self,
                                                        struct envelope *envelope)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    mail_uncount(cell, envelope);
    if (cell->flags & (CELL_METERED | CELL_BARRIER))
        look_closely(self);
    if (mail_takes_capacity(envelope)) {
        capacity_give_any(cell, envelope);
        if (cell->flags & CELL_IDLES)
            tr__idle_touch(worker, cell);
        return true;
    }
    switch ((enum envelope_kind)envelope->kind) {
    case ENVELOPE_EVENT:
        turn_require_slow_end(self); /* tr__turn_finish returns the envelope to its timer */
        if (cell->flags & CELL_IDLES)
            tr__idle_arrived(cell, envelope);
        return true;
    case ENVELOPE_CHANNEL:
        return worker->channels.hooks->admit(self, envelope);
    case ENVELOPE_SIGNAL:
        return tr__watch_admit(worker, cell, envelope);
    default:
        return !mail_takes_turn(worker, cell, envelope);
    }
}

/*
 * Notifies a durable actor that a message has ended without a turn. The actor may be waiting for
 * that message before it sleeps.
 */
static void message_skipped(struct worker *worker, struct cell *cell)
{
    const struct durable *durable = cell_durable(cell);
    if (durable)
        durable->hooks->on_skipped(worker, cell);
}

/* Ends a message for which there is no handler. */
__attribute__((__noinline__)) static void message_unhandled(struct tr_self *self)
{
    tr__turn_unhandled(self);
    message_skipped(self->worker, self->cell);
}

/* Ends a request that has timed out before its turn. The request becomes a dead letter. */
__attribute__((__noinline__)) static void message_late(struct tr_self *self,
                                                       struct envelope *envelope)
{
    self->envelope = NULL;
    /* the asker has got TR_TIMEOUT already, so send no answer */
    envelope->kind = ENVELOPE_ANSWERED;
    tr__mail_bury_one(self->worker, self->cell, envelope, TR_TIMEOUT);
    message_skipped(self->worker, self->cell);
}

/* Calls `call`, the function of a handler. */
RUN_INLINE tr_next call_unfollowed(struct tr_self *self, const tr_handler *handler,
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

/* As call_unfollowed, but if `mode` has CALL_FOLLOWING, the turn may be followed. */
RUN_INLINE tr_next call_handler(struct tr_self *self, const tr_handler *handler,
                                tr_next (*call)(tr_self *, void *, const void *), void *state,
                                const void *message, enum call_mode mode)
{
    if (!(mode & CALL_FOLLOWING))
        return call_unfollowed(self, handler, call, state, message, mode);
    enum call_mode how = (enum call_mode)(mode & CALL_BASE);
    tr__follow_begin(self);
    tr_next next = call_unfollowed(self, handler, call, state, message, how);
    tr__follow_end(self, next);
    return next;
}

/*
 * As message_turn, but the counts for this message are updated already. For a message that is not
 * ordinary, or that has no `quick` entry in the dispatch table.
 */
RUN_INLINE bool message_turn_slowly(struct tr_self *self, struct worker *worker, struct cell *cell,
                                    struct envelope *envelope, enum call_mode mode)
{
    self->envelope = envelope;
    self->causal = envelope->causal;
    worker_set_type(worker, envelope->type);
    const tr_handler *handler = dispatch_find(&worker->dispatches, cell->dispatch, envelope->type);
    if (mail_is_answer(envelope) && envelope->type == &tr__then_type)
        handler = tr__then_begin(self);
    if (__builtin_expect(envelope->kind == ENVELOPE_CHANNEL && (!handler || !handler->type), 0))
        handler = worker->channels.hooks->fallback(self, envelope, handler);
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
    if (self->envelope->kind == ENVELOPE_CHANNEL)
        worker->channels.hooks->on_plain_end(self);
    else
        envelope_give(&worker->pool, self->envelope);
    TR_ASSERT_SLOW(turn_is_plain(self));
    self->envelope = NULL; /* the envelope was freed, so tr__ask_is_here must not find it here */
    return true;
}

static_assert(TR_NEXT_SAME == 0, "the end of an ordinary turn is one test");

/*
 * As message_turn, but for a request whose data is inside its envelope. The actor must have none of
 * CELL_COUNTS_MESSAGES. The counts for this request are updated already.
 */
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
    bool is_open = self->envelope->kind == ENVELOPE_ASK; /* the handler has not answered */
    if (__builtin_expect(((uint32_t)next.code | self->needs_slow_end | is_open) != 0, 0))
        return message_end_slowly(self, next);
    TR_ASSERT_SLOW(turn_is_plain(self));
    atom64_count(&worker->counters.handled, 1);
    envelope_give(&worker->pool, self->envelope);
    /* the envelope was freed, so tr__ask_is_here must not find it here */
    self->envelope = NULL;
    return true;
}

/*
 * Handles a message that was removed from the cycle. If `is_plain`, the actor must have none of
 * CELL_SLOW_CAPACITY. Returns false if the actor does not run any more.
 */
RUN_INLINE bool message_turn(struct tr_self *self, struct worker *worker, struct cell *cell,
                             struct envelope *envelope, bool is_plain, enum call_mode mode)
{
    bool is_notable = !is_plain && __builtin_expect(cell->flags & CELL_SLOW_CAPACITY, 0);
    self->turns++;
    if (__builtin_expect(is_notable || !mail_is_notice(envelope), 0)) {
        bool is_watched = cell->flags & CELL_COUNTS_MESSAGES;
        if (is_watched || !mail_is_notice(envelope)) {
            if (mail_is_request(envelope) && !is_watched) {
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
    TR_ASSERT_SLOW(turn_is_plain(self));
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

/* Whether the run has used up its turns or its time. */
static inline bool is_used_up(const struct tr_self *self, const struct worker *worker)
{
    return self->turns >= self->turns_max || loop_is_time_up(&worker->loop);
}

/*
 * Whether an actor without a cycle has no control bits, none of `flags`, and no mail in its door.
 * If `flags` contains CELL_SLOW_RUN and this returns true, the next cycle has only notices.
 */
RUN_INLINE bool is_ordinary(const struct cell *cell, uint32_t flags)
{
    return __builtin_expect(!has_control(cell), 1) && __builtin_expect(!(cell->flags & flags), 1) &&
           __builtin_expect(!door_has_mail(&cell->door), 1);
}

/*
 * Begins a cycle of an actor for which is_ordinary is true, and returns its first message. If there
 * is no message, returns NULL, and the actor is SCHED_WAITING.
 */
RUN_INLINE struct envelope *take_notices(struct cell *cell)
{
    struct envelope *last = cell->notices;
    TR_ASSERT_SLOW(!cell->cycle);
    if (__builtin_expect(!last, 0)) {
        /*
         * The cell may wait now without a further look for mail. Mail of other threads posts the
         * door, and mail of this worker finds SCHED_WAITING and makes the cell ready.
         */
        cell_sched_change_from(cell, SCHED_RUNNING, SCHED_WAITING);
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

/*
 * Returns the next message of the cycle. Returns NULL if the run must handle control bits or woken
 * turns first.
 */
RUN_INLINE struct envelope *take_on(struct cell *cell)
{
    if (__builtin_expect(has_control(cell) || cell->flags & CELL_WOKEN, 0))
        return NULL;
    return ring_pop(&cell->cycle);
}

/*
 * Returns the next message to handle. Returns NULL if the run is over; then the actor waits, is
 * queued again or is gone. This function may switch stacks, and a switch keeps only two registers.
 * They hold `worker` and `cell`. So there is no parameter `self`, and the caller reads
 * worker->turns.message again afterwards.
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
            /* Woken turns resume between any two messages. */
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
            break; /* resuming turns or handling orders has used up the run */
    }
    tr__cell_park_or_requeue(worker, cell);
    return NULL;
}

/*
 * Runs cycles of an actor until no mail is left, or until the run has used up its turns or its
 * time. `self` is worker->turns.message. If a turn waits, it keeps its record, and
 * worker->turns.message becomes another record. So this function returns the last value of
 * worker->turns.message.
 */
RUN_INLINE struct tr_self *cycles_run(struct worker *worker, struct cell *cell,
                                      struct tr_self *self, enum call_mode mode)
{
    for (;;) {
        struct envelope *envelope;
        bool is_plain = __builtin_expect(!cell->cycle, 1) &&
                        is_ordinary(cell, CELL_SLOW_RUN | CELL_SLOW_CAPACITY);
        if (__builtin_expect(is_plain, 1)) {
            envelope = take_notices(cell);
        } else {
            if (__builtin_expect(cell->flags & CELL_METERED, 0) && stack_is_wrong(worker, cell))
                tr__stack_enter(worker, cell);
            if (__builtin_expect(cell->flags & CELL_MIXED, 0) && !self->turns &&
                (cell->replies || cell->exceptions) && mail_is_unfinished(cell))
                tr__mail_resume_cycle(cell);
            envelope = next_message(worker, cell);
            self = worker->turns.message;
        }
        if (__builtin_expect(!envelope, 0)) {
            self->turns += !self->turns; /* a run without a turn is charged as one turn */
            return self;
        }
        bool has_more;
        do {
            RUN_OPAQUE(self); /* makes the compiler count self->turns in memory, by one addition */
            if (__builtin_expect(!message_turn(self, worker, cell, envelope, is_plain, mode), 0))
                return worker->turns.message; /* the actor stops, or is gone */
            TR_ASSERT_SLOW(self == worker->turns.message);
            has_more = cell->cycle;
            if (__builtin_expect(!has_more, 1) && is_ordinary(cell, CELL_SLOW_RUN) &&
                __builtin_expect(!cell->notices, 1)) {
                /* the cell may wait, for the reason that take_notices gives */
                cell_sched_change_from(cell, SCHED_RUNNING, SCHED_WAITING);
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
 * Runs an actor. Then runs the next actors of the queue, as long as the loop has nothing else to do
 * between two runs. Returns the turns of the last actor. loop_next charges the turns of the actors
 * before it.
 */
RUN_INLINE uint32_t cell_run(struct worker *worker, struct task *task, uint32_t turns_max,
                             enum call_mode mode)
{
    struct tr_self *self = worker->turns.message;
    self->kind = TURN_MESSAGE;
    self->turns_max = turns_max;
    if (__builtin_expect(worker->loop.hooks == &worker->shutdown.stats.hooks, 0))
        /* return to the loop after each actor, because mail/shutdown_stats.h counts each run */
        loop_call_back(&worker->loop);
    for (;;) {
        struct cell *cell = cell_of_task(task);
        RUN_OPAQUE(cell);
        TR_ASSERT(cell->sched_state == SCHED_READY);
        TR_ASSERT(cell_owner(cell) == worker->index);
        cell_sched_change(cell, SCHED_RUNNING);
        self->cell = cell;
        self->turns = 0;
        if ((mode & CALL_BASE) == CALL_RELIEVING)
            self->claim = atomptr_load(&worker->handoff.claim, ATOM_RELAXED);
        worker_set_running(worker, cell);
        self = cycles_run(worker, cell, self, mode);
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
    return cell_run(worker_of_loop(loop), task, turns_max, CALL_PLAIN);
}

uint32_t tr__cell_run_trapping(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(worker_of_loop(loop), task, turns_max, CALL_TRAPPING);
}

uint32_t tr__cell_run_with_handoff(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(worker_of_loop(loop), task, turns_max, CALL_RELIEVING);
}

uint32_t tr__cell_run_following(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(worker_of_loop(loop), task, turns_max, CALL_FOLLOWING);
}

uint32_t tr__cell_run_trapping_following(struct loop *loop, struct task *task, uint32_t turns_max)
{
    return cell_run(
        worker_of_loop(loop), task, turns_max, (enum call_mode)(CALL_TRAPPING | CALL_FOLLOWING));
}

uint32_t tr__cell_run_with_handoff_following(struct loop *loop, struct task *task,
                                             uint32_t turns_max)
{
    return cell_run(
        worker_of_loop(loop), task, turns_max, (enum call_mode)(CALL_RELIEVING | CALL_FOLLOWING));
}

/* ---- Where an actor goes after a run. ---- */

/* Whether an actor that waits must run, because it has mail or control bits, or should stop now. */
static bool is_needed(const struct cell *cell)
{
    return cell->cycle || mail_has_arrived(cell) || atom32_load(&cell->control, ATOM_SEQ_CST) ||
           mail_is_over(cell);
}

/* Makes an actor wait, unless mail or an order has arrived meanwhile. */
static inline void settle_waiting(struct worker *worker, struct cell *cell)
{
    cell_sched_change(cell, SCHED_WAITING);
    if (__builtin_expect(cell->flags & CELL_HAS_WAITING_SENDERS, 0))
        tr__waiters_serve(worker, cell);
    /*
     * Look again for mail that has arrived meanwhile. That mail has posted the door, but do not
     * wait for the post.
     */
    mail_look(worker, cell);
    /*
     * Test sched_state again, because this actor may be ready already. Mail that was taken in may
     * have become a dead letter, and this actor may be a subscriber that gets a report of it.
     */
    if (cell->sched_state == SCHED_WAITING && is_needed(cell))
        mail_make_ready(worker, cell);
}

/*
 * As settle_waiting, but for an actor that is sealed or metered. A sealed actor may stop here
 * instead of waiting. This function is not inline, so that other actors pay for one test only.
 */
__attribute__((__noinline__)) static void settle_looking(struct worker *worker, struct cell *cell)
{
    struct durable *durable = cell_durable(cell);
    if (durable && cell->flags & CELL_SEALED && !durable->may_stop)
        durable->hooks->on_stop(worker, cell);
    if (cell->flags & CELL_SEALED && cell->flags & CELL_CHANNELS)
        worker->system->channels.hooks->on_sealed(worker, cell);
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
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
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
