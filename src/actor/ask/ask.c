/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/ask/ask.h"

#include "actor/cell/signal.h"
#include "actor/mail/address.h"
#include "actor/ask/ask_open.h"
#include "actor/ask/answer.h"
#include "actor/ask/deliver.h"
#include "actor/ask/ask_then.h"
#include "actor/ask/ask_trace.h"
#include "actor/ask/batch.h"
#include "actor/ask/turn_asks.h"
#include "actor/cell/extra.h"
#include "actor/cell/recorder.h"
#include "actor/cell/system.h"
#include "actor/cell/upcalls.h"
#include "actor/cell/verb.h"
#include "actor/mail/refusal.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"

#include <troupe/ask.h>

#define ASK_INLINE __attribute__((__always_inline__)) static inline

/* This is added to the deadline in a request when the time of the ask was not read from a clock. */
#define ASK_ROUGH_NS (2 * WATCH_CALM_NS)

/*
 * How many of the ticks since an ask may have come less than WATCH_TICK_NS after the previous tick.
 * Examples are the tick that follows a late tick, and the last tick before the watch thread sleeps.
 */
enum { TICKS_SPARE = 3 };

/*
 * How far ahead a deadline in a request may be. The field has 32 bits, and a deadline more than
 * 2^31 ms ahead would seem to be in the past. An ask with a later deadline has only its own timer.
 */
#define DEADLINE_FAR_NS ((tr_time)0x7fffffff * TR_MILLISECOND)

/*
 * One day. A timeout up to this limit needs no check against DEADLINE_FAR_NS, and adding it to the
 * time cannot overflow.
 */
#define QUICK_WAIT_NS (24 * 3600 * TR_SECOND)

/* ---- One ask. ---- */

static inline struct ask *ask_take(struct worker *worker)
{
    struct ask *ask = worker->asks.spare;
    if (__builtin_expect(ask != NULL, 1)) {
        worker->asks.spare = ask->next;
        worker->asks.spare_count--;
        return ask;
    }
    ask = source_resize(&worker->source, NULL, sizeof *ask);
    if (ask)
        *ask = (struct ask){0};
    return ask;
}

void tr__asks_free(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    while (worker->asks.spare) {
        struct ask *ask = worker->asks.spare;
        worker->asks.spare = ask->next;
        source_resize(&worker->source, ask, 0);
    }
    worker->asks.spare_count = 0;
    tr__ask_table_free_spare(worker);
}

void tr__ask_done(struct worker *worker, struct ask *ask, tr_status status)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct tr_self *turn = ask->turn;
    TR_ASSERT(!ask->is_done);
    ask->is_fixed = true;
    ask->is_done = true;
    ask->status = status;
    ask_disarm(worker, ask);
    if (ask->carrier)
        tr__then_due(worker, ask);
    else
        ask_unlist(turn->cell, ask);
    ask_wake(turn, ask->is_wanted);
}

/*
 * Returns the latest time at which an untimed ask can have been made. After n ticks since the ask,
 * the ask is at least n - TICKS_SPARE tick periods old. `now_ns` itself would be too late, because
 * another turn may have run for a long time since the ask.
 */
static tr_time latest_of(const struct worker *worker, const struct ask *ask, tr_time now_ns)
{
    uint32_t ticks = atom32_load(&worker->loop.tick, ATOM_RELAXED) - ask->tick;
    if (ticks <= TICKS_SPARE)
        return now_ns;
    tr_time latest_ns = now_ns - (tr_time)(ticks - TICKS_SPARE) * WATCH_TICK_NS;
    return latest_ns > ask->asked_ns ? latest_ns : ask->asked_ns;
}

/*
 * Returns the time at which the timer of a young ask is due. For an untimed ask, reads the clock
 * into *now_ns, unless *now_ns has a time already.
 */
static tr_time young_deadline(const struct worker *worker, const struct ask *ask, tr_time *now_ns)
{
    const tr_platform *platform = worker->loop.platform;
    if (!ask->is_untimed)
        return ask->timeout.deadline_ns;
    /*
     * The time of the loop does not serve here, because the loop may have read it before the ask
     * was made.
     */
    *now_ns = *now_ns ? *now_ns : platform->mono_now(platform);
    return timer_deadline(ask->timeout.deadline_ns,
                          latest_of(worker, ask, *now_ns) - ask->asked_ns);
}

void tr__asks_settle(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    tr_time now_ns = 0;
    struct ask *ask = worker->asks.young;
    worker->asks.young = NULL;
    worker->asks.young_end = &worker->asks.young;
    for (; ask; ask = ask->young_next) {
        ask->is_chained = false;
        if (!ask->is_young)
            continue; /* the ask was answered */
        ask->is_young = false;
        tr__wheel_arm(&worker->asks.timeouts, &ask->timeout, young_deadline(worker, ask, &now_ns));
    }
}

void tr__asks_fire(struct worker *worker, tr_time now_ns)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct timer_node *node;
    tr__asks_settle(worker);
    while ((node = tr__wheel_expire(&worker->asks.timeouts, now_ns))) {
        struct ask *ask = LIST_OWNER(node, struct ask, timeout);
        if (ask->is_fixed) {
            tr__ask_trace_give_up(worker, ask);
        } else {
            ask->is_fixed = true;
            ask->status = TR_TIMEOUT;
            if (!tr__ask_trace_begin(worker, ask)) {
                tr__wheel_arm(&worker->asks.timeouts, node, timer_deadline(now_ns, ASK_TRACE_NS));
                continue;
            }
        }
        tr__ask_done(worker, ask, ask->status);
    }
}

void tr__ask_end_in_cycle(struct worker *worker, struct ask *ask)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    TR_ASSERT(!ask->is_fixed);
    ask->is_fixed = true;
    ask->status = TR_ASK_CYCLE;
    ask_disarm(worker, ask);
    if (tr__ask_trace_begin(worker, ask))
        tr__ask_done(worker, ask, TR_ASK_CYCLE);
    else
        tr__wheel_arm(&worker->asks.timeouts,
                      &ask->timeout,
                      timer_deadline(worker->loop.now_ns, ASK_TRACE_NS));
}

void tr__ask_told(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    const struct tr_ask_trace *trace = envelope_data(envelope);
    struct ask *ask = NULL;
    if (envelope->generation == cell_generation(cell) && cell->life != LIFE_NEW && cell->extra)
        ask = ask_table_find(&cell->extra->asks.table, trace->origin_id);
    if (ask && ask->is_fixed && !ask->is_done) {
        tr__ask_trace_arrived(worker, ask, trace);
        tr__ask_done(worker, ask, ask->status);
    }
    envelope_give(&worker->pool, envelope);
}

void tr__ask_free(struct worker *worker, struct cell *cell, struct ask *ask)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    ask_disarm(worker, ask);
    if (ask->is_listed)
        ask_unlist(cell, ask);
    if (ask->answer)
        envelope_give(&worker->pool, ask->answer);
    if (ask->trace)
        source_resize(&worker->source, ask->trace, 0);
    *ask = (struct ask){.is_chained = ask->is_chained, .young_next = ask->young_next};
    ask_give(worker, ask);
}

void tr__ask_end(struct worker *worker, struct cell *cell, struct ask *ask)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    tr__ask_free(worker, cell, ask);
    tr__ask_table_shrink(worker, &cell->extra->asks.table);
}

void tr__ask_arrived(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct ask *ask = NULL;
    if (cell->life != LIFE_NEW && cell->extra)
        ask = ask_table_find(&cell->extra->asks.table, envelope->payload.ask.id);
    if (!ask || ask->is_fixed) {
        if (envelope->kind == ENVELOPE_REPLY && !answer_is_report(envelope)) {
            tr__mail_bury_one(worker, cell, envelope, TR_TIMEOUT);
        } else {
            atom64_count(&worker->counters.handled, 1);
            envelope_give(&worker->pool, envelope);
        }
        return;
    }
    atom64_count(&worker->counters.handled, 1);
    if (envelope->kind == ENVELOPE_REPLY && ask_is_plain(ask)) {
        ask_answer(worker, cell, ask, envelope);
        return;
    }
    ask->answer = envelope;
    tr_status status = TR_OK;
    if (envelope->kind == ENVELOPE_EXCEPTION) {
        tr_error error = {.status = TR_FAILED};
        tr__ask_read_error(envelope, &error);
        status = error.status == TR_OK ? TR_FAILED : error.status;
    }
    tr__ask_done(worker, ask, status);
}

/* ---- Asking. ---- */

/* As tr__ask_deadline_ms, but without the check for a far deadline. */
static inline uint32_t near_deadline_ms(uint64_t deadline_ns)
{
    uint32_t ms = (uint32_t)(deadline_ns / TR_MILLISECOND + 1);
    return ms ? ms : 1;
}

uint32_t tr__ask_deadline_ms(tr_time now_ns, tr_time deadline_ns)
{
    return deadline_ns - now_ns < DEADLINE_FAR_NS ? near_deadline_ms((uint64_t)deadline_ns) : 0;
}

bool tr__ask_is_late(uint32_t deadline_ms, tr_time now_ns)
{
    uint32_t now_ms = (uint32_t)((uint64_t)now_ns / TR_MILLISECOND);
    return deadline_ms && (int32_t)(deadline_ms - now_ms) < 0;
}

/*
 * Returns the deadline of an ask: `deadline_ns`, or the deadline of the request that this turn
 * handles if that is earlier.
 */
ASK_INLINE tr_time deadline_of(const struct tr_self *self, tr_time now_ns, tr_time deadline_ns)
{
    const struct envelope *envelope = self->batch ? tr__batch_latest(self) : self->envelope;
    if (!envelope)
        return deadline_ns;
    bool is_ask = envelope->kind == ENVELOPE_ASK || envelope->kind == ENVELOPE_ANSWERED;
    if (!is_ask || !envelope->sender || !envelope->payload.ask.deadline_ms)
        return deadline_ns;
    uint32_t now_ms = (uint32_t)((uint64_t)now_ns / TR_MILLISECOND);
    int32_t left_ms = (int32_t)(envelope->payload.ask.deadline_ms - now_ms);
    tr_time outer_ns = now_ns - now_ns % TR_MILLISECOND + left_ms * TR_MILLISECOND;
    return outer_ns < deadline_ns ? outer_ns : deadline_ns;
}

/* Sends the request of an ask that is in the table. */
ASK_INLINE tr_status post(struct tr_self *self, struct ask *ask, struct cell *cell,
                          const void *message, tr_time deadline_ns)
{
    struct worker *worker = self->worker;
    struct address address = {.kind = ENVELOPE_ASK,
                              .to = ask->to,
                              .sender = self->cell->identity,
                              .causal = self->causal,
                              .number = ask->id,
                              .deadline_ms = tr__ask_deadline_ms(ask->asked_ns, deadline_ns)};
    struct envelope *envelope = NULL;
    tr_status status = mail_new(&worker->pool, address, ask->type, message, &envelope);
    if (status != TR_OK)
        return status;
    /* If the receiver is a group, this sets ask->to to the member that takes the request. */
    status = deliver(self, &cell, &ask->to, envelope, ask, ENVELOPE_ASK, DELIVER_QUICKLY);
    if (__builtin_expect(status != TR_OK, 0))
        envelope_give(&worker->pool, envelope);
    return status;
}

/* As tr__ask_new, but inline. */
ASK_INLINE struct ask *ask_new(struct tr_self *self, uint64_t to, const tr_type *type)
{
    struct worker *worker = self->worker;
    struct cell_extra *extra = self->cell->extra;
    if (__builtin_expect(!extra, 0))
        extra = tr__extra_of(worker, self->cell);
    struct ask *ask = extra ? ask_take(worker) : NULL;
    if (__builtin_expect(!ask, 0))
        return NULL;
    if (__builtin_expect(!ask_table_add(worker, &extra->asks.table, ask), 0)) {
        ask_give(worker, ask);
        return NULL;
    }
    ask->is_listed = true;
    ask->turn = self;
    ask->type = type;
    ask->to = to;
    return ask;
}

struct ask *tr__ask_new(struct tr_self *self, uint64_t to, const tr_type *type)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    return ask_new(self, to, type);
}

/*
 * Ends an ask whose request could not be sent. When a turn is run again from its record and the
 * record has the answer, the ask does not end but gets that answer.
 */
static void ask_unsent(struct tr_self *self, struct ask *ask, tr_status status)
{
    const struct turn_recorder *recorder = self->worker->system->durable.recorder;
    if (self->reads && recorder && recorder->on_unsent(self, ask, &status))
        return;
    tr__ask_done(self->worker, ask, status);
}

/* As tr__ask_send, but inline. `is_turn`: the ask belongs to a turn and not to tr_ask_then. */
ASK_INLINE void ask_send(struct tr_self *self, struct ask *ask, const void *message,
                         tr_time timeout_ns, bool is_turn)
{
    struct worker *worker = self->worker;
    struct cell *cell = slots_find(worker->slots, ask->to);
    bool is_near = is_turn && worker->asks.is_ticked && cell && cell_owner(cell) == worker->index &&
                   !loop_is_time_up(&worker->loop);
    tr_time now_ns =
        __builtin_expect(is_near, 1) ? worker->loop.now_ns : clock_bound_roughly(&worker->clock);
    tr_time due_ns = timer_deadline(now_ns, timeout_ns ? timeout_ns : TR_ASK_NS);
    tr_time deadline_ns = deadline_of(self, now_ns, due_ns);
    ask->asked_ns = now_ns;
    ask->is_untimed = is_near && deadline_ns == due_ns;
    ask->tick = worker->loop.tick_seen;
    if (__builtin_expect(deadline_ns <= now_ns, 0) && deadline_ns <= clock_bound(&worker->clock)) {
        tr__ask_done(worker, ask, TR_TIMEOUT);
        return;
    }
    ask_arm(worker, ask, deadline_ns);
    if (is_near)
        deadline_ns = timer_deadline(deadline_ns, ASK_ROUGH_NS);
    tr_status status = TR_STOPPED;
    if (__builtin_expect(cell != NULL, 1))
        status = post(self, ask, cell, message, deadline_ns);
    if (__builtin_expect(status != TR_OK, 0) && !ask->is_fixed)
        ask_unsent(self, ask, status);
}

void tr__ask_send(struct tr_self *self, struct ask *ask, const void *message, tr_time timeout_ns)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    ask_send(self, ask, message, timeout_ns, false);
}

static tr_pending pending_status(tr_status status)
{
    return (tr_pending){PENDING_IS_STATUS | (uint32_t)-status};
}

__attribute__((__noinline__)) static tr_pending ask_slowly(struct tr_self *self, uint64_t to,
                                                           const tr_type *type, const void *message,
                                                           tr_time timeout_ns)
{
    TURN_VERB(self);
    if (!self || !type || !message)
        return pending_status(TR_INVALID_ARGUMENT);
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return pending_status(status);
    struct ask *ask = ask_new(self, to, type);
    if (__builtin_expect(!ask, 0))
        return pending_status(TR_NO_MEMORY);
    if (__builtin_expect(!turn_asks_add(self, ask), 0)) {
        tr__ask_end(self->worker, self->cell, ask);
        return pending_status(TR_NO_MEMORY);
    }
    tr_pending pending = ask_pending(ask);
    ask_send(self, ask, message, timeout_ns, true);
    return pending;
}

/*
 * Whether this turn may ask without an allocation: it has space for the ask, and its actor has no
 * other ask open.
 */
ASK_INLINE bool is_free_to_ask(const struct tr_self *self, const struct worker *worker,
                               const struct cell_extra *extra)
{
    return !self->is_unusual && self->kind == TURN_MESSAGE && !worker->turns.depth &&
           self->state == TURN_RUNS && !self->batch && extra && !extra->asks.table.newest &&
           !extra->asks.table.count && extra->asks.table.last != UINT32_MAX &&
           self->asks.count != self->asks.capacity && worker->asks.spare && worker->pool.free;
}

/*
 * Sends a flat request in the usual case: the receiver is on this worker with nothing unusual, and
 * the actor of this turn has no other ask open. In any other case calls ask_slowly. As in
 * tr_self_tell, all conditions are checked before anything is changed, and no function is called.
 * `now_ns` is the time of a clock or, if `is_rough`, the loop's time.
 */
ASK_INLINE tr_pending ask_quickly(struct tr_self *self, uint64_t to, const tr_type *type,
                                  const void *message, tr_time timeout_ns, tr_time now_ns,
                                  bool is_rough)
{
    struct worker *worker = self->worker;
    struct cell *cell = slots_find(worker->slots, to);
    struct cell_extra *extra = self->cell->extra;
    tr_time wait_ns = timeout_ns ? timeout_ns : TR_ASK_NS;
    /* Atomic accesses come first, because compilers read other memory again after them. */
    if (__builtin_expect(
            !cell || !mail_fits_fast(worker, cell, ENVELOPE_ASK) || cell->life != LIFE_RUNNING ||
                !type->is_flat || type->size > ENVELOPE_INLINE_ASK ||
                (uint64_t)wait_ns > QUICK_WAIT_NS || !is_free_to_ask(self, worker, extra),
            0))
        return ask_slowly(self, to, type, message, timeout_ns);
    /* If the sum overflows, it is negative, and ask_slowly handles it. */
    tr_time due_ns = (tr_time)((uint64_t)now_ns + (uint64_t)wait_ns);
    tr_time deadline_ns = due_ns;
    if (self->envelope->kind != ENVELOPE_NOTICE)
        deadline_ns = deadline_of(self, now_ns, due_ns);
    if (__builtin_expect(deadline_ns <= now_ns, 0))
        return ask_slowly(self, to, type, message, timeout_ns);
    struct envelope *envelope = envelope_take_free(&worker->pool);
    struct ask *ask = worker->asks.spare;
    worker->asks.spare = ask->next;
    worker->asks.spare_count--;
    uint32_t id = ++extra->asks.table.last;
    uint32_t place = self->asks.count++;
    extra->asks.table.newest = ask;
    self->asks.places[place] = (uintptr_t)ask;
    turn_require_slow_end(self);
    /*
     * Store both halves as one word. After two stores of half a word, a read of the whole word
     * would wait until both halves are in the cache.
     */
    tr_pending pending = {(uint64_t)place << 32 | id};
    ask->pending = pending.id;
    bool is_untimed = is_rough && deadline_ns == due_ns;
    ask->flags = ASK_LISTED | ASK_YOUNG | (is_untimed ? ASK_UNTIMED : 0);
    ask->tick = worker->loop.tick_seen;
    ask->turn = self;
    ask->type = type;
    ask->to = to;
    ask->asked_ns = now_ns;
    ask->timeout.deadline_ns = deadline_ns;
    ask_chain(worker, ask);
    uint32_t deadline_ms = near_deadline_ms((uint64_t)deadline_ns + (is_rough ? ASK_ROUGH_NS : 0));
    struct address address = {.kind = ENVELOPE_ASK,
                              .to = to,
                              .sender = self->cell->identity,
                              .causal = self->causal,
                              .number = id,
                              .deadline_ms = deadline_ms};
    mail_fill_inside(&worker->pool, envelope, address, type, message, type->size);
    mail_send_quickly(worker, cell, envelope);
    return pending;
}

/*
 * As ask_quickly, but reads a clock. For a worker without a watch that ticks, and for a worker that
 * has not looked at the clock since the last tick.
 */
__attribute__((__noinline__)) static tr_pending ask_by_clock(struct tr_self *self, uint64_t to,
                                                             const tr_type *type,
                                                             const void *message,
                                                             tr_time timeout_ns)
{
    tr_time now_ns = clock_bound_roughly(&self->worker->clock);
    return ask_quickly(self, to, type, message, timeout_ns, now_ns, false);
}

tr_pending tr_self_ask(tr_self *self, tr_ref to, const tr_type *type, const void *message,
                       tr_time timeout_ns)
{
    if (__builtin_expect(!self || !type || !message || self->claim, 0))
        return ask_slowly(self, to.bits, type, message, timeout_ns);
    struct worker *worker = self->worker;
    if (__builtin_expect(!worker->asks.is_ticked || loop_is_time_up(&worker->loop), 0))
        return ask_by_clock(self, to.bits, type, message, timeout_ns);
    return ask_quickly(self, to.bits, type, message, timeout_ns, worker->loop.now_ns, true);
}
