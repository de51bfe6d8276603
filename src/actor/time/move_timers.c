/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The timers of an actor that moves. The memory of a timer belongs to its worker. So the timers
 * travel as copies in a parcel, and get new places on the other worker. The application knows a
 * timer without a key by the number of its first place. An alias maps that number to the number of
 * the current place.
 */
#include "actor/time/move_timers.h"

#include <assert.h>
#include <string.h>

#include "actor/cell/cell.h"
#include "actor/cell/slots.h"
#include "actor/cell/worker.h"
#include "actor/time/timer_event.h"
#include "base/assert.h"
#include "mem/source.h"
#include "timer/entry.h"
#include "timer/keys.h"
#include "timer/loose.h"
#include "timer/wheel.h"

struct cell_extra;
struct timer_entry;

static_assert(TR_MOVED_TIMERS_MAX <= UINT8_MAX, "their order is kept in bytes");

/* A copy of a timer of an actor that moves. The timer is only this copy until the other worker gives it a place. */
struct packed_timer {
    uint64_t handle; /* the number that the application has for a timer without a key */
    tr_time due_ns;
    struct timer_context context;
    uint32_t state; /* enum timer_state */
    uint8_t key_length;
    bool is_armed;
    union {
        unsigned char bytes[TIMER_LIGHT_MAX];
        struct envelope *envelope;
    };
    char key[TR_TIMER_KEY_MAX + 1];
};

struct timer_alias {
    uint64_t handle;
    uint64_t number;
};

struct timer_parcel {
    uint32_t count;
    struct packed_timer timers[];
};

struct timer_aliases {
    uint32_t count;
    struct timer_alias list[];
};

static uint32_t timer_count(const struct cell_extra *extra)
{
    return extra->timers.keys.count + extra->timers.loose.count;
}

/*
 * Whether any two timers of the actor are due at the same nanosecond. Such timers fire in the order
 * in which they were armed, and only the wheel knows that order.
 */
static bool has_equals(struct worker *worker, const struct cell_extra *extra)
{
    tr_time due_ns[TR_MOVED_TIMERS_MAX];
    uint32_t count = 0;
    /*
     * walk over a copy, because tr__keys_walk_next takes no const; the walk changes nothing before
     * its end
     */
    struct timer_keys keys = extra->timers.keys;
    struct keys_walk walk = tr__keys_walk(&keys);
    for (uint32_t i = 0; i < extra->timers.keys.count; i++) {
        const struct timer_entry *entry = tr__keys_walk_next(&keys, &worker->timers.pool, &walk);
        if (timer_is_armed(&entry->node))
            due_ns[count++] = entry->node.deadline_ns;
    }
    const struct loose_pool *pool = &worker->timers.pool.loose;
    const struct timer_entry *entry = tr__loose_first(&extra->timers.loose, pool);
    for (; entry; entry = tr__loose_after(pool, entry)) {
        if (timer_is_armed(&entry->node))
            due_ns[count++] = entry->node.deadline_ns;
    }
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (due_ns[i] == due_ns[j])
                return true;
        }
    }
    return false;
}

bool tr__timers_reserve(struct worker *worker, const struct cell *cell,
                        struct timer_parcel **parcel)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    *parcel = NULL;
    if (!cell->extra)
        return true;
    uint32_t count = timer_count(cell->extra);
    if (count > TR_MOVED_TIMERS_MAX || (count > 1 && has_equals(worker, cell->extra)))
        return false;
    if (!count)
        return true;
    size_t size = sizeof **parcel + count * sizeof(struct packed_timer);
    *parcel = source_resize(&worker->source, NULL, size);
    if (*parcel)
        **parcel = (struct timer_parcel){.count = 0};
    return *parcel;
}

void tr__timers_unreserve(struct worker *worker, struct timer_parcel *parcel)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    source_resize(&worker->source, parcel, 0);
}

/*
 * Returns the number that the application has for a timer. `number` is the timer's current number.
 */
static uint64_t handle_of(const struct timer_aliases *aliases, uint64_t number)
{
    for (uint32_t i = 0; aliases && i < aliases->count; i++) {
        if (aliases->list[i].number == number)
            return aliases->list[i].handle;
    }
    return number;
}

uint64_t tr__timer_number(const struct cell *cell, uint64_t handle)
{
    const struct timer_aliases *aliases = cell->extra ? cell->extra->timers.aliases : NULL;
    for (uint32_t i = 0; aliases && i < aliases->count; i++) {
        if (aliases->list[i].handle == handle)
            return aliases->list[i].number;
    }
    return handle;
}

static struct packed_timer *pack(struct worker *worker, struct timer_parcel *parcel,
                                 struct timer_entry *entry)
{
    struct packed_timer *packed = &parcel->timers[parcel->count++];
    TR_ASSERT(!timer_has(entry, TIMER_PARKED)); /* an actor with a waiting turn does not move */
    *packed =
        (struct packed_timer){.due_ns = entry->node.deadline_ns,
                              .context = *timer_context(&worker->timers.pool, entry),
                              .state = entry->state,
                              .is_armed = tr__wheel_cancel(&worker->timers.wheel, &entry->node)};
    if (timer_has(entry, TIMER_LIGHT))
        memcpy(packed->bytes, entry->bytes, sizeof packed->bytes);
    else
        packed->envelope = entry->envelope;
    if (timer_has(entry, TIMER_KEYED)) {
        packed->key_length = entry->keyed.key_length;
        memcpy(packed->key, keyed_of(entry)->key, packed->key_length);
    }
    return packed;
}

void tr__timers_pack(struct worker *worker, struct cell *cell, struct timer_parcel *parcel)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    struct cell_extra *extra = cell->extra;
    struct timer_pool *pool = &worker->timers.pool;
    if (cell->flags & CELL_IDLES)
        slots_idle(cell)->is_moving =
            tr__wheel_cancel(&worker->timers.idles, &slots_idle(cell)->node);
    if (!parcel)
        return;
    struct keys_walk walk = tr__keys_walk(&extra->timers.keys);
    struct timer_entry *entry;
    while ((entry = tr__keys_walk_next(&extra->timers.keys, pool, &walk))) {
        (void)pack(worker, parcel, entry);
        tr__keys_walk_remove(&extra->timers.keys, pool, &walk);
    }
    while ((entry = tr__loose_first(&extra->timers.loose, &pool->loose))) {
        uint64_t number = tr__loose_number(&pool->loose, entry);
        pack(worker, parcel, entry)->handle = handle_of(extra->timers.aliases, number);
        tr__loose_remove(&extra->timers.loose, &pool->loose, entry);
    }
    source_resize(&worker->source, extra->timers.aliases, 0);
    extra->timers.aliases = NULL;
    extra->timers.parcel = parcel;
}

/* Returns a new place for a packed timer. Returns NULL if there is no memory. */
static struct timer_entry *place_new(struct worker *worker, struct cell_extra *extra,
                                     const struct packed_timer *packed)
{
    bool is_new;
    uint64_t number;
    struct timer_entry *entry;
    if (packed->state & TIMER_KEYED) {
        entry = tr__keys_obtain(
            &extra->timers.keys, &worker->timers.pool, packed->key, packed->key_length, &is_new);
        if (!entry)
            return NULL;
        struct timer_context *own = &keyed_of(entry)->context;
        uint32_t mark = own->mark; /* the hash of the key, if the keys are in a hash table */
        *own = packed->context;
        own->mark = mark;
        return entry;
    }
    const struct timer_context *context = &packed->context;
    entry = tr__loose_add(&extra->timers.loose,
                          &worker->timers.pool.loose,
                          context->type,
                          context->value,
                          context->owner,
                          &number);
    struct timer_aliases *aliases = extra->timers.aliases;
    if (entry && number != packed->handle)
        aliases->list[aliases->count++] = (struct timer_alias){packed->handle, number};
    return entry;
}

static bool unpack(struct worker *worker, struct cell_extra *extra,
                   const struct packed_timer *packed)
{
    struct timer_entry *entry = place_new(worker, extra, packed);
    if (!entry)
        return false;
    timer_set_own(entry, packed->state & TIMER_OWN);
    if (packed->state & TIMER_LIGHT) {
        memcpy(entry->bytes, packed->bytes, sizeof entry->bytes);
    } else {
        entry->envelope = packed->envelope;
        if (packed->envelope)
            packed->envelope->sender = (uint64_t)(uintptr_t)entry;
    }
    if (packed->is_armed)
        tr__wheel_arm(&worker->timers.wheel, &entry->node, packed->due_ns);
    return true;
}

/*
 * Drops the message of a timer that is lost, because the new worker has no memory for it: voids or
 * frees the envelope.
 */
static void spill(struct worker *worker, const struct packed_timer *packed)
{
    struct envelope *envelope = packed->state & TIMER_LIGHT ? NULL : packed->envelope;
    if (!envelope)
        return;
    if (packed->state & TIMER_QUEUED)
        timer_event_void(worker, envelope);
    else
        envelope_give(&worker->pool, envelope);
}

/*
 * Sorts the timers by deadline, because they are armed in this order. Some timers may be due
 * already, and the wheel fires timers that are due in the order in which they were armed.
 */
static void by_deadline(const struct timer_parcel *parcel, uint8_t *order)
{
    for (uint32_t i = 0; i < parcel->count; i++) {
        tr_time due_ns = parcel->timers[i].due_ns;
        uint32_t at = i;
        for (; at && parcel->timers[order[at - 1]].due_ns > due_ns; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)i;
    }
}

bool tr__timers_unpack(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    uint8_t order[TR_MOVED_TIMERS_MAX];
    struct cell_extra *extra = cell->extra;
    struct timer_parcel *parcel = extra ? extra->timers.parcel : NULL;
    struct cell_idle *idle = cell->flags & CELL_IDLES ? slots_idle(cell) : NULL;
    if (idle && idle->is_moving) {
        idle->is_moving = false;
        tr__wheel_arm(&worker->timers.idles, &idle->node, idle->node.deadline_ns);
    }
    if (!parcel)
        return true;
    extra->timers.parcel = NULL;
    bool has_all = true;
    uint32_t loose = 0;
    for (uint32_t i = 0; i < parcel->count; i++)
        loose += !(parcel->timers[i].state & TIMER_KEYED);
    if (loose) {
        size_t size = sizeof *extra->timers.aliases + loose * sizeof(struct timer_alias);
        extra->timers.aliases = source_resize(&worker->source, NULL, size);
        has_all = extra->timers.aliases;
        if (has_all)
            extra->timers.aliases->count = 0;
    }
    by_deadline(parcel, order);
    for (uint32_t i = 0; i < parcel->count; i++) {
        const struct packed_timer *packed = &parcel->timers[order[i]];
        has_all = has_all && unpack(worker, extra, packed);
        if (!has_all)
            spill(worker, packed);
    }
    source_resize(&worker->source, parcel, 0);
    return has_all;
}
