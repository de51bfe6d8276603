/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/timers.h"

#include <string.h>

#include "actor/extra.h"
#include "base/assert.h"

const tr_type tr__idle_type = {.name = "tr_receive_timeout",
                               .fields = tr_fields_tr_receive_timeout,
                               .file = __FILE__,
                               .line = __LINE__,
                               .size = sizeof(struct tr_receive_timeout),
                               .field_count = 1,
                               .field_size = sizeof(tr_field),
                               .abi = TR_ABI,
                               .is_flat = true};

enum {
    QUEUED = 0x80,  /* in timer_entry.kind: its envelope is in a mailbox or in a turn, */
    PARKED = 0x40,  /* and that turn waits */
    ID_SIZE = 1 + 8 /* the key of a timer without one: NUL and its number */
};

static enum timer_kind kind_of(const struct timer_entry *entry)
{
    return (enum timer_kind)(entry->kind & ~(QUEUED | PARKED));
}

static struct timer_entry *entry_of(const struct envelope *envelope)
{
    return (struct timer_entry *)(uintptr_t)envelope->sender;
}

/* The memory of a timer, without its message, in lines as mail_lines. */
static uint64_t entry_lines(const struct timer_entry *entry)
{
    return block_class_size(entry->block_class) / block_class_size(BLOCK_64);
}

/* ---- Firing. ---- */

/* An envelope that is not counted yet goes to the events of its actor. */
static void deliver(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    atom64_count(&worker->counters.accepted, 1);
    mail_count(cell, envelope);
    cell->flags |= CELL_MIXED;
    ring_push(&cell->events, envelope);
    if (mail_is_idle(cell))
        mail_make_ready(worker, cell);
}

/* Takes an envelope back that waits in a mailbox: it was never a message. */
static void make_void(struct worker *worker, struct envelope *envelope)
{
    TR_ASSERT(envelope != NULL);
    TR_ASSERT(envelope->kind == ENVELOPE_EVENT);
    atom64_count(&worker->counters.accepted, UINT64_MAX);
    envelope->kind = ENVELOPE_VOID;
    envelope->sender = 0;
}

/* The turn of this timer's message has begun: the envelope is its handler's, and nobody's after. */
static void let_go(struct timer_entry *entry)
{
    struct envelope *envelope = entry->user;
    envelope->sender = 0;
    entry->user = NULL;
    entry->kind &= (uint8_t) ~(QUEUED | PARKED);
}

/* Whether the turn of this timer's message has begun: it is the one that runs, or it waits. */
static bool is_in_hand(const struct tr_self *self, const struct timer_entry *entry)
{
    return entry->kind & QUEUED && (entry->user == self->envelope || entry->kind & PARKED);
}

void tr__timer_park(struct envelope *envelope)
{
    struct timer_entry *entry = entry_of(envelope);
    if (entry)
        entry->kind |= PARKED;
}

/* Forgets a timer whose node is not armed. */
static void entry_remove(struct worker *worker, struct cell *cell, struct timer_entry *entry)
{
    struct envelope *envelope = entry->user;
    cell->extra->timer_lines -= entry_lines(entry);
    if (entry->kind & QUEUED) {
        make_void(worker, envelope);
    } else if (envelope) {
        cell->extra->timer_lines -= mail_lines(envelope);
        envelope_give(&worker->pool, envelope);
    }
    tr__keys_remove(&cell->extra->timers, &worker->timer_pool, entry);
}

static void fire(struct worker *worker, struct timer_entry *entry)
{
    struct envelope *envelope = entry->user;
    if (kind_of(entry) == TIMER_FIXED_RATE) {
        /* Ticks that were missed altogether are one tick; the grid stays where it was. */
        tr_time deadline_ns = timer_deadline(entry->node.deadline_ns, entry->period_ns);
        tr_time late_ns = worker->loop.now_ns - deadline_ns;
        if (late_ns >= entry->period_ns)
            deadline_ns += late_ns / entry->period_ns * entry->period_ns;
        tr__wheel_arm(&worker->timers, &entry->node, deadline_ns);
    }
    if (entry->kind & QUEUED)
        return; /* the last tick still waits: one is enough */
    struct cell *cell = (struct cell *)(void *)envelope->mail.next;
    if (cell->flags & CELL_SEALED) {
        tr__wheel_cancel(&worker->timers, &entry->node);
        entry_remove(worker, cell, entry);
        return;
    }
    entry->kind |= QUEUED;
    cell->extra->timer_lines -= mail_lines(envelope); /* from now on it counts as mail */
    deliver(worker, cell, envelope);
}

/* A receive timeout whose time has come, unless a message came since, or waits. */
static void fire_idle(struct worker *worker, struct cell_extra *extra)
{
    struct cell *cell = extra->cell;
    tr_time now_ns = worker->loop.now_ns;
    tr_time due_ns = timer_deadline(extra->message_ns, extra->idle_ns);
    if (due_ns > now_ns) {
        tr__wheel_arm(&worker->idles, &extra->idle, due_ns);
        return;
    }
    if (cell->flags & CELL_SEALED)
        return;
    /* What has come and waits is a message that came. */
    struct envelope *envelope = NULL;
    if (!cell->cycle && !cell->notices && !cell->asks && !door_has_mail(&cell->door))
        envelope = envelope_take(&worker->pool);
    struct tr_receive_timeout message = {.idle_ns = extra->idle_ns};
    if (!envelope ||
        envelope_fill(&worker->pool, envelope, &tr__idle_type, &message, ENVELOPE_INLINE) !=
            TR_OK) {
        if (envelope)
            envelope_give_empty(&worker->pool, envelope);
        tr__wheel_arm(&worker->idles, &extra->idle, timer_deadline(now_ns, TR_MILLISECOND));
        return;
    }
    envelope->kind = ENVELOPE_EVENT;
    envelope->sender = 0;
    envelope->causal = 0;
    envelope->generation = cell_generation(cell);
    extra->idle_event = envelope;
    deliver(worker, cell, envelope);
}

bool tr__timers_fire(struct worker *worker, tr_time now_ns)
{
    struct timer_node *node;
    for (int i = 0; i < TIMERS_ROUND_MAX; i++) {
        node = tr__wheel_expire(&worker->timers, now_ns);
        if (!node)
            break;
        fire(worker, timer_entry_of(node));
    }
    while ((node = tr__wheel_expire(&worker->idles, now_ns))) {
        fire_idle(worker, LIST_OWNER(node, struct cell_extra, idle));
    }
    bool has_more = tr__schedules_fire(worker, now_ns);
    return has_more || tr__wheel_next(&worker->timers) <= now_ns;
}

static tr_time earlier(tr_time a_ns, tr_time b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

tr_time tr__timers_next(const struct worker *worker)
{
    tr_time own_ns = earlier(tr__wheel_next(&worker->timers), tr__wheel_next(&worker->idles));
    return earlier(earlier(own_ns, tr__wheel_next(&worker->waits)), tr__schedules_next(worker));
}

void tr__timer_return(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    struct timer_entry *entry = entry_of(envelope);
    if (!entry) {
        /* A receive timeout, or a timer that its own turn took back. */
        envelope_give(&worker->pool, envelope);
        return;
    }
    entry->kind &= (uint8_t) ~(QUEUED | PARKED);
    cell->extra->timer_lines += mail_lines(envelope);
    envelope->mail.next = (struct door_mail *)(void *)cell;
    switch (kind_of(entry)) {
    case TIMER_ONCE:
        entry_remove(worker, cell, entry);
        break;
    case TIMER_FIXED_RATE:
        break;
    case TIMER_FIXED_DELAY:
        tr__wheel_arm(&worker->timers,
                      &entry->node,
                      timer_deadline(worker->system->platform->mono_now(worker->system->platform),
                                     entry->period_ns));
        break;
    }
}

void tr__timer_detach(struct worker *worker, struct cell *cell, struct envelope *envelope)
{
    if (envelope->kind != ENVELOPE_EVENT)
        return;
    struct timer_entry *entry = entry_of(envelope);
    envelope->kind = ENVELOPE_NOTICE;
    envelope->sender = 0;
    if (!entry)
        return;
    /* A timer that ticks on gets another envelope; without memory for one it ends. */
    struct envelope *copy = NULL;
    if (kind_of(entry) != TIMER_ONCE)
        copy = envelope_take(&worker->pool);
    if (copy &&
        envelope_fill(
            &worker->pool, copy, envelope->type, envelope_data(envelope), ENVELOPE_INLINE) !=
            TR_OK) {
        envelope_give_empty(&worker->pool, copy);
        copy = NULL;
    }
    if (!copy) {
        if (kind_of(entry) != TIMER_ONCE)
            tr__log(worker->system,
                    TR_LEVEL_ERROR,
                    cell->name ? cell->name->path : NULL,
                    "a timer ended: its message was stashed and there is no memory for another");
        tr__wheel_cancel(&worker->timers, &entry->node);
        entry->user = NULL;
        entry->kind &= (uint8_t) ~(QUEUED | PARKED);
        entry_remove(worker, cell, entry);
        return;
    }
    copy->kind = ENVELOPE_EVENT;
    copy->causal = envelope->causal;
    copy->generation = envelope->generation;
    copy->sender = (uint64_t)(uintptr_t)entry;
    entry->user = copy;
    tr__timer_return(worker, cell, copy);
}

/* Takes back a signal that waits to be handled. */
static void idle_forget(struct worker *worker, struct cell_extra *extra)
{
    if (extra->idle_event)
        make_void(worker, extra->idle_event);
    extra->idle_event = NULL;
}

void tr__timers_drop(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    if (!extra)
        return;
    struct keys_walk walk = tr__keys_walk(&extra->timers);
    struct timer_entry *entry;
    while ((entry = tr__keys_walk_next(&extra->timers, &worker->timer_pool, &walk))) {
        tr__wheel_cancel(&worker->timers, &entry->node);
        if (entry->kind & QUEUED)
            make_void(worker, entry->user);
        else if (entry->user)
            envelope_give(&worker->pool, entry->user);
        tr__keys_walk_remove(&extra->timers, &worker->timer_pool, &walk);
    }
    extra->timer_lines = 0;
    tr__wheel_cancel(&worker->idles, &extra->idle);
    idle_forget(worker, extra);
    cell->flags &= (uint16_t)~CELL_IDLES;
}

/* ---- The receive timeout. ---- */

/* Not counted meanwhile: it begins anew afterwards. */
static bool idle_is_held(const struct cell *cell)
{
    return cell->life == LIFE_SUSPENDED || mail_is_parked(cell);
}

static void idle_arm(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    extra->idle_is_paused = idle_is_held(cell);
    if (!extra->idle_is_paused && !timer_is_armed(&extra->idle))
        tr__wheel_arm(
            &worker->idles, &extra->idle, timer_deadline(extra->message_ns, extra->idle_ns));
}

void tr__idle_touch(struct worker *worker, struct cell *cell)
{
    struct cell_extra *extra = cell->extra;
    struct tr_system *system = worker->system;
    /* The loop's time may be as old as the last tick: rather late than early. */
    extra->message_ns = worker->loop.now_ns + (system->watch.platform ? WATCH_TICK_NS : 0);
    idle_forget(worker, extra);
    idle_arm(worker, cell);
}

void tr__idle_pause(struct worker *worker, struct cell *cell)
{
    if (!(cell->flags & CELL_IDLES))
        return;
    struct cell_extra *extra = cell->extra;
    /* It may be paused already, for another reason. */
    extra->idle_is_paused |= tr__wheel_cancel(&worker->idles, &extra->idle) || extra->idle_event;
    idle_forget(worker, extra);
}

void tr__idle_resume(struct worker *worker, struct cell *cell)
{
    /* One that has come already comes again after the next message only. */
    if (cell->flags & CELL_IDLES && cell->extra->idle_is_paused && !idle_is_held(cell))
        tr__idle_touch(worker, cell);
}

/* Up to 292 years; what is longer, or negative, is a mistake. */
static bool is_duration(tr_time ns)
{
    return ns >= 0;
}

void tr_set_receive_timeout(tr_self *self, tr_time idle_ns)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    if (!is_duration(idle_ns))
        tr_crash(self, TR_INVALID_ARGUMENT, "a receive timeout of %lld ns", (long long)idle_ns);
    if (!idle_ns && !(cell->flags & CELL_IDLES))
        return;
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        tr_crash(self, TR_NO_MEMORY, "out of memory for a receive timeout");
    tr__wheel_cancel(&worker->idles, &extra->idle);
    idle_forget(worker, extra);
    extra->idle_ns = idle_ns;
    cell->flags &= (uint16_t)~CELL_IDLES;
    if (!idle_ns || cell->life >= LIFE_STOPPING)
        return;
    cell->flags |= CELL_IDLES;
    extra->message_ns = tr_now(self);
    idle_arm(worker, cell);
}

/* ---- Timers, in a turn. ---- */

/* An envelope with the message of a timer. */
static tr_status message_make(struct tr_self *self, const tr_type *type, const void *message,
                              struct envelope **made)
{
    struct envelope_pool *pool = &self->worker->pool;
    struct envelope *envelope = envelope_take(pool);
    if (!envelope)
        return TR_NO_MEMORY;
    tr_status status = envelope_fill(pool, envelope, type, message, ENVELOPE_INLINE);
    if (status != TR_OK) {
        envelope_give_empty(pool, envelope);
        return status;
    }
    envelope->kind = ENVELOPE_EVENT;
    envelope->causal = self->causal;
    envelope->generation = cell_generation(self->cell);
    envelope->mail.next = (struct door_mail *)(void *)self->cell;
    *made = envelope;
    return TR_OK;
}

static tr_status start(struct tr_self *self, const char *key, size_t length, tr_timer_kind kind,
                       tr_time ns, const tr_type *type, const void *message)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    if (cell->life >= LIFE_STOPPING)
        return TR_STOPPING;
    struct cell_extra *extra = tr__extra_of(worker, cell);
    if (!extra)
        return TR_NO_MEMORY;
    if (extra->timers.count >= TR_TIMERS_MAX &&
        !tr__keys_find(&extra->timers, &worker->timer_pool, key, length))
        return TR_LIMIT;
    struct envelope *envelope;
    tr_status status = message_make(self, type, message, &envelope);
    if (status != TR_OK)
        return status;
    bool is_new;
    struct timer_entry *entry =
        tr__keys_obtain(&extra->timers, &worker->timer_pool, key, length, &is_new);
    if (!entry) {
        envelope_give(&worker->pool, envelope);
        return TR_NO_MEMORY;
    }
    if (!is_new) {
        tr__wheel_cancel(&worker->timers, &entry->node);
        if (is_in_hand(self, entry))
            let_go(entry);
        else if (entry->kind & QUEUED)
            make_void(worker, entry->user);
        else {
            extra->timer_lines -= mail_lines(entry->user);
            envelope_give(&worker->pool, entry->user);
        }
    }
    extra->timer_lines += mail_lines(envelope) + (is_new ? entry_lines(entry) : 0);
    entry->user = envelope;
    entry->kind = (uint8_t)kind;
    entry->period_ns = ns;
    envelope->sender = (uint64_t)(uintptr_t)entry;
    tr__wheel_arm(&worker->timers, &entry->node, timer_deadline(tr_now(self), ns));
    return TR_OK;
}

tr_status tr_self_try_timer(tr_self *self, const char *key, tr_timer_kind kind, tr_time ns,
                            const tr_type *type, const void *message, tr_timer *timer)
{
    static_assert((int)TR_TIMER_ONCE == TIMER_ONCE, "one list");
    static_assert((int)TR_TIMER_FIXED_RATE == TIMER_FIXED_RATE, "one list");
    static_assert((int)TR_TIMER_FIXED_DELAY == TIMER_FIXED_DELAY, "one list");
    if (!self || !type || !message || !is_duration(ns))
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled)
        return TR_CANCELLED;
    if (kind > TR_TIMER_FIXED_DELAY || (kind != TR_TIMER_ONCE && ns == 0))
        return TR_INVALID_ARGUMENT;
    if (key) {
        size_t length = strlen(key);
        if (!length || length > TR_TIMER_KEY_MAX)
            return TR_INVALID_ARGUMENT;
        return start(self, key, length, kind, ns, type, message);
    }
    struct cell_extra *extra =
        self->cell->life >= LIFE_STOPPING ? NULL : tr__extra_of(self->worker, self->cell);
    if (!extra)
        return self->cell->life >= LIFE_STOPPING ? TR_STOPPING : TR_NO_MEMORY;
    char id[ID_SIZE] = {0};
    uint64_t number = ++extra->timer_last;
    memcpy(id + 1, &number, sizeof number);
    tr_status status = start(self, id, sizeof id, kind, ns, type, message);
    if (status == TR_OK && timer)
        timer->number = number;
    return status;
}

tr_timer tr_self_timer(tr_self *self, const char *key, tr_timer_kind kind, tr_time ns,
                       const tr_type *type, const void *message)
{
    tr_timer timer = {0};
    tr_status status = tr_self_try_timer(self, key, kind, ns, type, message, &timer);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "a timer of %lld ns for %s",
                 (long long)ns,
                 type ? type->name : "no message");
    return timer;
}

static tr_timer_end cancel(struct tr_self *self, const char *key, size_t length)
{
    struct worker *worker = self->worker;
    struct cell *cell = self->cell;
    if (!cell->extra)
        return TR_TIMER_NONE;
    struct timer_entry *entry =
        tr__keys_find(&cell->extra->timers, &worker->timer_pool, key, length);
    if (!entry)
        return TR_TIMER_NONE;
    tr__wheel_cancel(&worker->timers, &entry->node);
    /* In a turn of its own it has been delivered, and its envelope is still its handler's. */
    tr_timer_end end = entry->kind & QUEUED ? TR_TIMER_TAKEN_BACK : TR_TIMER_CANCELLED;
    if (is_in_hand(self, entry)) {
        end = kind_of(entry) == TIMER_ONCE ? TR_TIMER_NONE : TR_TIMER_CANCELLED;
        let_go(entry);
    }
    entry_remove(worker, cell, entry);
    return end;
}

tr_timer_end tr_timer_cancel(tr_self *self, const char *key)
{
    if (!self || !key)
        return TR_TIMER_NONE;
    size_t length = strlen(key);
    return length && length <= TR_TIMER_KEY_MAX ? cancel(self, key, length) : TR_TIMER_NONE;
}

tr_timer_end tr_timer_stop(tr_self *self, tr_timer timer)
{
    if (!self || !timer.number)
        return TR_TIMER_NONE;
    char id[ID_SIZE] = {0};
    memcpy(id + 1, &timer.number, sizeof timer.number);
    return cancel(self, id, sizeof id);
}
