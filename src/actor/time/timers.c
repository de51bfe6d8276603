/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/time/timers.h"

#include <string.h>

#include "actor/cell/extra.h"
#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/verb.h"
#include "actor/mail/mail.h"
#include "actor/time/move_timers.h"
#include "actor/time/receive_timeout.h"
#include "actor/time/timer_event.h"
#include "base/assert.h"
#include "actor/mail/address.h"
#include "actor/mail/kind.h"

static struct timer_entry *entry_of(const struct envelope *envelope)
{
    return (struct timer_entry *)(uintptr_t)envelope->sender;
}

/* Returns the part of a timer that it may share with other timers; see timer/entry.h. */
static const struct timer_context *context_of(const struct worker *worker,
                                              const struct timer_entry *entry)
{
    return timer_context(&worker->timers.pool, entry);
}

/*
 * Returns how much memory a timer takes, in lines of 64 bytes as mail_lines does. A message in an
 * envelope is not included.
 */
static uint64_t entry_lines(const struct timer_entry *entry)
{
    if (!timer_has(entry, TIMER_KEYED))
        return 1;
    return block_class_size(entry->keyed.block_class) / block_class_size(BLOCK_64);
}

/*
 * Returns how much memory the message of a timer takes in its envelope, in lines. Returns 0 while
 * that message is queued, because then it counts as mail.
 */
static uint64_t message_lines(const struct timer_entry *entry)
{
    bool has_one = !timer_has(entry, TIMER_LIGHT | TIMER_QUEUED) && entry->envelope;
    return has_one ? mail_lines(entry->envelope) : 0;
}

/* ---- Firing. ---- */

/* Makes an envelope with the message of a timer. Returns TR_OK, TR_NO_MEMORY or TR_TOO_LARGE. */
static tr_status event_new(struct worker *worker, const struct cell *cell, const tr_type *type,
                           const void *message, uint64_t causal, struct envelope **made)
{
    struct address address = {.kind = ENVELOPE_EVENT, .to = cell->identity, .causal = causal};
    return mail_new(&worker->pool, address, type, message, made);
}

/* Gives an envelope to a timer. From now on the envelope has the message of the timer. */
static void entry_own(struct timer_entry *entry, struct envelope *envelope)
{
    envelope->sender = (uint64_t)(uintptr_t)entry;
    entry->state &= ~(uint32_t)TIMER_LIGHT;
    entry->envelope = envelope;
}

/* Whether the turn of this timer's message has started and is not over. */
static bool is_current(const struct tr_self *self, const struct timer_entry *entry)
{
    return timer_has(entry, TIMER_QUEUED) &&
           (entry->envelope == self->envelope || timer_has(entry, TIMER_PARKED));
}

void tr__timer_park(struct envelope *envelope)
{
    struct timer_entry *entry = entry_of(envelope);
    if (entry)
        entry->state |= TIMER_PARKED;
}

/*
 * Separates a timer from its envelope, because the turn of its message has started. The envelope
 * belongs to that turn, which frees it at its end.
 */
static void entry_let_go(struct timer_entry *entry)
{
    entry->envelope->sender = 0;
    entry->envelope = NULL;
    entry->state &= ~(uint32_t)(TIMER_QUEUED | TIMER_PARKED | TIMER_MISSED);
}

/* Drops the message of a timer, which is either in a mailbox or with the timer. */
static void entry_clear(struct worker *worker, struct timer_entry *entry)
{
    if (timer_has(entry, TIMER_LIGHT))
        return;
    if (timer_has(entry, TIMER_QUEUED))
        timer_event_void(worker, entry->envelope);
    else if (entry->envelope)
        envelope_give(&worker->pool, entry->envelope);
}

/* Removes a timer whose node is not armed. */
static void entry_remove(struct worker *worker, struct cell *cell, struct timer_entry *entry)
{
    cell->extra->timers.lines -= entry_lines(entry) + message_lines(entry);
    entry_clear(worker, entry);
    if (timer_has(entry, TIMER_KEYED))
        tr__keys_remove(&cell->extra->timers.keys, &worker->timers.pool, entry);
    else
        tr__loose_remove(&cell->extra->timers.loose, &worker->timers.pool.loose, entry);
}

/* Makes the envelope of a light timer. Returns false if out of memory. */
static bool entry_load(struct worker *worker, const struct cell *cell, struct timer_entry *entry)
{
    const struct timer_context *context = context_of(worker, entry);
    struct envelope *envelope;
    tr_status status =
        event_new(worker, cell, context->type, entry->bytes, context->value, &envelope);
    if (status != TR_OK)
        return false;
    entry_own(entry, envelope);
    return true;
}

static void fire(struct worker *worker, struct timer_entry *entry)
{
    const struct timer_context *context = context_of(worker, entry);
    if (timer_kind(entry) == TIMER_FIXED_RATE) {
        /*
         * If several ticks were missed, they become one tick. The deadlines stay whole periods
         * apart.
         */
        tr_time period_ns = (tr_time)context->value;
        tr_time deadline_ns = timer_deadline(entry->node.deadline_ns, period_ns);
        tr_time late_ns = worker->loop.now_ns - deadline_ns;
        if (late_ns >= period_ns)
            deadline_ns += late_ns / period_ns * period_ns;
        tr__wheel_arm(&worker->timers.wheel, &entry->node, deadline_ns);
    }
    if (timer_has(entry, TIMER_QUEUED)) {
        /*
         * The actor has not handled the last tick yet, so this tick is not delivered. But if the
         * turn of the last tick waits, this tick is delivered when that turn has ended.
         */
        if (timer_has(entry, TIMER_PARKED))
            entry->state |= TIMER_MISSED;
        return;
    }
    struct cell *cell = slots_at(worker->slots, context->owner);
    if (cell->flags & CELL_SEALED) {
        tr__wheel_cancel(&worker->timers.wheel, &entry->node);
        entry_remove(worker, cell, entry);
        return;
    }
    /* from now on the message counts as mail, and not as memory of the timer */
    cell->extra->timers.lines -= message_lines(entry);
    if (timer_has(entry, TIMER_LIGHT) && !entry_load(worker, cell, entry)) {
        tr__wheel_arm(&worker->timers.wheel,
                      &entry->node,
                      timer_deadline(worker->loop.now_ns, TIMER_RETRY_NS));
        return;
    }
    entry->state |= TIMER_QUEUED;
    timer_event_deliver(worker, cell, entry->envelope);
}

bool tr__timers_fire(struct worker *worker, tr_time now_ns)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct timer_node *node;
    for (int i = 0; i < TIMERS_ROUND_MAX; i++) {
        node = tr__wheel_expire(&worker->timers.wheel, now_ns);
        if (!node)
            break;
        fire(worker, timer_entry_of(node));
    }
    while ((node = tr__wheel_expire(&worker->timers.idles, now_ns))) {
        tr__idle_fire(worker, LIST_OWNER(node, struct cell_idle, node));
    }
    return tr__wheel_next(&worker->timers.wheel) <= now_ns;
}

void tr__timer_return(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct timer_entry *entry = entry_of(envelope);
    if (!entry) {
        /* a receive timeout has no timer; nor has a timer that was cancelled in this turn */
        envelope_give(&worker->pool, envelope);
        return;
    }
    bool is_missed = timer_has(entry, TIMER_MISSED);
    entry->state &= ~(uint32_t)(TIMER_QUEUED | TIMER_PARKED | TIMER_MISSED);
    switch (timer_kind(entry)) {
    case TIMER_ONCE:
        cell->extra->timers.lines += message_lines(entry);
        entry_remove(worker, cell, entry);
        return;
    case TIMER_FIXED_RATE:
        if (is_missed && !(cell->flags & CELL_SEALED) && cell->life < LIFE_STOPPING) {
            entry->state |= TIMER_QUEUED;
            timer_event_deliver(worker, cell, envelope);
            return;
        }
        break;
    case TIMER_FIXED_DELAY:
        tr__wheel_arm(
            &worker->timers.wheel,
            &entry->node,
            timer_deadline(clock_bound(&worker->clock), (tr_time)context_of(worker, entry)->value));
        break;
    }
    cell->extra->timers.lines += message_lines(entry);
}

void tr__timer_detach(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    if (envelope->kind != ENVELOPE_EVENT)
        return;
    struct timer_entry *entry = entry_of(envelope);
    envelope->kind = ENVELOPE_NOTICE;
    envelope->sender = 0;
    if (!entry)
        return;
    if (timer_kind(entry) != TIMER_ONCE) {
        /*
         * A repeating timer gets another envelope. If there is no memory for the envelope, the
         * timer ends.
         */
        struct envelope *copy;
        tr_status status = event_new(
            worker, cell, envelope->type, envelope_data(envelope), envelope->causal, &copy);
        if (status == TR_OK) {
            entry_own(entry, copy);
            tr__timer_return(worker, cell, copy);
            return;
        }
        tr__log(worker->system,
                TR_LEVEL_ERROR,
                cell->name ? cell->name->path : NULL,
                "a timer was cancelled: its message is stashed, and out of memory for a copy");
    }
    tr__wheel_cancel(&worker->timers.wheel, &entry->node);
    entry->envelope = NULL;
    entry->state &= ~(uint32_t)(TIMER_QUEUED | TIMER_PARKED | TIMER_MISSED);
    entry_remove(worker, cell, entry);
}

void tr__timers_drop(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    tr__idle_drop(worker, cell);
    if (!extra)
        return;
    struct keys_walk walk = tr__keys_walk(&extra->timers.keys);
    struct timer_entry *entry;
    while ((entry = tr__keys_walk_next(&extra->timers.keys, &worker->timers.pool, &walk))) {
        tr__wheel_cancel(&worker->timers.wheel, &entry->node);
        entry_clear(worker, entry);
        tr__keys_walk_remove(&extra->timers.keys, &worker->timers.pool, &walk);
        atom64_count(&worker->shutdown.steps, 1);
    }
    while ((entry = tr__loose_first(&extra->timers.loose, &worker->timers.pool.loose))) {
        tr__wheel_cancel(&worker->timers.wheel, &entry->node);
        entry_remove(worker, cell, entry);
        atom64_count(&worker->shutdown.steps, 1);
    }
    extra->timers.lines = 0;
}

/* ---- Timers, in a turn. ---- */

/* Whether a timer is light. A light timer contains its message itself until it fires. */
static bool is_light(tr_timer_kind kind, const tr_type *type)
{
    return kind == TR_TIMER_ONCE && type->is_flat && type->size <= TIMER_LIGHT_MAX;
}

/* Starts a timer whose message is in `envelope`. If `envelope` is NULL, the timer is light. */
static void entry_start(struct tr_self *self, struct timer_entry *entry, tr_timer_kind kind,
                        tr_time ns, struct envelope *envelope, const tr_type *type,
                        const void *message)
{
    timer_set_own(entry, (uint32_t)kind | (envelope ? 0 : TIMER_LIGHT));
    if (envelope) {
        entry_own(entry, envelope);
    } else {
        if (type->size == TIMER_LIGHT_MAX)
            memcpy(entry->bytes, message, TIMER_LIGHT_MAX);
        else
            memcpy(entry->bytes, message, type->size);
    }
    self->cell->extra->timers.lines += message_lines(entry);
    struct worker *worker = self->worker;
    tr__wheel_arm(
        &worker->timers.wheel, &entry->node, timer_deadline(clock_bound(&worker->clock), ns));
}

/*
 * Gets the entry for a timer that is about to start. This is a new entry, or the emptied entry of
 * an earlier timer with the same key. Returns TR_OK, TR_LIMIT or TR_NO_MEMORY.
 */
static tr_status entry_obtain(struct tr_self *self, struct cell_extra *extra, const char *key,
                              size_t length, struct timer_context context,
                              struct timer_entry **obtained, tr_timer *timer)
{
    struct worker *worker = self->worker;
    struct timer_pool *pool = &worker->timers.pool;
    bool is_full = extra->timers.keys.count + extra->timers.loose.count >= TR_TIMERS_MAX;
    bool is_new = true;
    struct timer_entry *entry;
    if (key) {
        if (is_full && !tr__keys_find(&extra->timers.keys, pool, key, length))
            return TR_LIMIT;
        entry = tr__keys_obtain(&extra->timers.keys, pool, key, length, &is_new);
    } else {
        uint64_t number;
        if (is_full)
            return TR_LIMIT;
        entry = tr__loose_add(&extra->timers.loose,
                              &pool->loose,
                              context.type,
                              context.value,
                              context.owner,
                              &number);
        if (entry && timer)
            timer->number = number;
    }
    if (!entry)
        return TR_NO_MEMORY;
    if (is_new) {
        extra->timers.lines += entry_lines(entry);
    } else {
        tr__wheel_cancel(&worker->timers.wheel, &entry->node);
        extra->timers.lines -= message_lines(entry);
        if (is_current(self, entry))
            entry_let_go(entry);
        else
            entry_clear(worker, entry);
    }
    if (key) {
        struct timer_context *own = &keyed_of(entry)->context;
        *own = (struct timer_context){context.type, context.value, context.owner, own->mark};
    }
    *obtained = entry;
    return TR_OK;
}

tr_status tr_self_try_timer(tr_self *self, const char *key, tr_timer_kind kind, tr_time ns,
                            const tr_type *type, const void *message, tr_timer *timer)
{
    TURN_VERB(self);
    static_assert((int)TR_TIMER_ONCE == TIMER_ONCE, "one list");
    static_assert((int)TR_TIMER_FIXED_RATE == TIMER_FIXED_RATE, "one list");
    static_assert((int)TR_TIMER_FIXED_DELAY == TIMER_FIXED_DELAY, "one list");
    if (!self || !type || !message || !timer_is_duration(ns))
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    if (kind > TR_TIMER_FIXED_DELAY || (kind != TR_TIMER_ONCE && ns == 0))
        return TR_INVALID_ARGUMENT;
    size_t length = key ? strlen(key) : 0;
    if (key && (!length || length > TR_TIMER_KEY_MAX))
        return TR_INVALID_ARGUMENT;
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    if (cell->life >= LIFE_STOPPING)
        return TR_STOPPING;
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return TR_NO_MEMORY;
    struct envelope *envelope = NULL;
    struct timer_entry *entry;
    struct timer_context context = {type, self->causal, (uint32_t)cell->identity, 0};
    tr_status status = TR_OK;
    if (!is_light(kind, type)) {
        context.type = NULL;
        context.value = kind == TR_TIMER_ONCE ? 0 : (uint64_t)ns;
        status = event_new(worker, cell, type, message, self->causal, &envelope);
    }
    if (status == TR_OK)
        status = entry_obtain(self, extra, key, length, context, &entry, timer);
    if (status == TR_OK)
        entry_start(self, entry, kind, ns, envelope, type, message);
    else if (envelope)
        envelope_give(&worker->pool, envelope);
    return status;
}

tr_timer tr_self_timer(tr_self *self, const char *key, tr_timer_kind kind, tr_time ns,
                       const tr_type *type, const void *message)
{
    TURN_VERB(self);
    tr_timer timer = {0};
    tr_status status = tr_self_try_timer(self, key, kind, ns, type, message, &timer);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot start a timer of %lld ns for %s",
                 (long long)ns,
                 type ? type->name : "no message");
    return timer;
}

/*
 * Ends a timer of this actor. Returns what the cancellation has achieved, as tr_timer_cancel does.
 */
static tr_timer_end entry_end(struct worker *worker, struct cell *cell, struct timer_entry *entry)
{
    tr__wheel_cancel(&worker->timers.wheel, &entry->node);
    tr_timer_end end = timer_has(entry, TIMER_QUEUED) ? TR_TIMER_TAKEN_BACK : TR_TIMER_CANCELLED;
    /*
     * If the turn of the timer's message has started, the message counts as delivered, and its
     * envelope belongs to that turn.
     */
    if (is_current(worker->turns.message, entry)) {
        end = timer_kind(entry) == TIMER_ONCE ? TR_TIMER_NONE : TR_TIMER_CANCELLED;
        entry_let_go(entry);
    }
    entry_remove(worker, cell, entry);
    return end;
}

tr_timer_end tr_timer_cancel(tr_self *self, const char *key)
{
    TURN_VERB(self);
    if (!self || !key || !self->cell->extra)
        return TR_TIMER_NONE;
    size_t length = strlen(key);
    if (!length || length > TR_TIMER_KEY_MAX)
        return TR_TIMER_NONE;
    struct timer_entry *entry =
        tr__keys_find(&self->cell->extra->timers.keys, &self->worker->timers.pool, key, length);
    return entry ? entry_end(self->worker, self->cell, entry) : TR_TIMER_NONE;
}

/* Finds a timer without a key. Returns NULL if the timer is over, or belongs to another actor. */
static struct timer_entry *loose_of(struct worker *worker, const struct cell *cell, tr_timer timer)
{
    uint64_t number = tr__timer_number(cell, timer.number);
    struct timer_entry *entry = tr__loose_find(&worker->timers.pool.loose, number);
    bool is_mine = entry && context_of(worker, entry)->owner == (uint32_t)cell->identity;
    return is_mine ? entry : NULL;
}

bool tr__timer_is_there(struct worker *worker, const struct cell *cell, tr_timer timer)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    return loose_of(worker, cell, timer);
}

tr_timer_end tr__timer_end(struct worker *worker, struct cell *cell, tr_timer timer)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct timer_entry *entry = loose_of(worker, cell, timer);
    return entry ? entry_end(worker, cell, entry) : TR_TIMER_NONE;
}

tr_timer_end tr_timer_stop(tr_self *self, tr_timer timer)
{
    TURN_VERB(self);
    return self ? tr__timer_end(self->worker, self->cell, timer) : TR_TIMER_NONE;
}
