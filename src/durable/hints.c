/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/hints.h"

#include <string.h>

#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "base/assert.h"

enum { BUCKETS_FIRST = 64 };

struct hint {
    struct list link;  /* link in hint_kind.waking or hint_kind.waiting */
    struct hint *next; /* next hint in the same bucket */
    uint64_t ticket;
    uint64_t ref; /* the actor that got the hint */
    /* In `waking`: when the hint was sent. In `waiting`: when the hint may be sent again. */
    tr_time at_ns;
    uint32_t kind;
    uint16_t tries;
    bool is_waking;
};

tr_status tr__hints_init(struct hints *hints, struct worker *worker, size_t kind_count)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    size_t size = kind_count * sizeof *hints->kinds;
    *hints = (struct hints){.kind_count = kind_count, .bucket_count = BUCKETS_FIRST};
    hints->kinds = source_resize(&worker->source, NULL, size ? size : 1);
    hints->buckets = source_resize(&worker->source, NULL, BUCKETS_FIRST * sizeof *hints->buckets);
    if (!hints->kinds || !hints->buckets) {
        source_resize(&worker->source, hints->kinds, 0);
        source_resize(&worker->source, hints->buckets, 0);
        *hints = (struct hints){.buckets = NULL};
        return TR_NO_MEMORY;
    }
    memset(hints->kinds, 0, size);
    memset(hints->buckets, 0, BUCKETS_FIRST * sizeof *hints->buckets);
    for (size_t i = 0; i < kind_count; i++) {
        list_init(&hints->kinds[i].waking);
        list_init(&hints->kinds[i].waiting);
    }
    return TR_OK;
}

void tr__hints_deinit(struct hints *hints, struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    for (size_t i = 0; hints->buckets && i < hints->bucket_count; i++) {
        for (struct hint *hint = hints->buckets[i], *next; hint; hint = next) {
            next = hint->next;
            source_resize(&worker->source, hint, 0);
        }
    }
    source_resize(&worker->source, hints->buckets, 0);
    source_resize(&worker->source, hints->kinds, 0);
    *hints = (struct hints){.buckets = NULL};
}

uint64_t tr__hints_ticket(const struct worker *worker, const struct store_alarm_place *place)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    uint64_t hash = hash_bytes(worker->system->names->key, place->name, strlen(place->name));
    hash = hash_mix(hash ^ hash_mix((uint64_t)place->actor));
    return hash ? hash : 1;
}

static struct hint **place_of(const struct hints *hints, uint64_t ticket)
{
    struct hint **place = &hints->buckets[ticket & (hints->bucket_count - 1)];
    while (*place && (*place)->ticket != ticket)
        place = &(*place)->next;
    return place;
}

/* Doubles the size of the table. If there is no memory, the table keeps its size. */
static void hints_grow(struct hints *hints, struct worker *worker)
{
    size_t count = hints->bucket_count * 2;
    struct hint **buckets = source_resize(&worker->source, NULL, count * sizeof *buckets);
    if (!buckets)
        return;
    memset(buckets, 0, count * sizeof *buckets);
    for (size_t i = 0; i < hints->bucket_count; i++) {
        for (struct hint *hint = hints->buckets[i], *next; hint; hint = next) {
            next = hint->next;
            hint->next = buckets[hint->ticket & (count - 1)];
            buckets[hint->ticket & (count - 1)] = hint;
        }
    }
    source_resize(&worker->source, hints->buckets, 0);
    hints->buckets = buckets;
    hints->bucket_count = count;
}

/* Removes a hint from the lists of its kind. */
static void hint_leave(struct hints *hints, struct hint *hint)
{
    struct hint_kind *kind = &hints->kinds[hint->kind];
    list_remove(&hint->link);
    if (hint->is_waking)
        kind->waking_count--;
    else
        kind->waiting_count--;
}

static void hint_free(struct hints *hints, struct worker *worker, struct hint *hint)
{
    struct hint **place = place_of(hints, hint->ticket);
    TR_ASSERT(*place == hint);
    *place = hint->next;
    hint_leave(hints, hint);
    struct hint_kind *kind = &hints->kinds[hint->kind];
    if (!kind->waking_count && !kind->waiting_count)
        kind->is_named = false;
    source_resize(&worker->source, hint, 0);
}

/* Moves a hint to `waiting`, where it does not take one of the kind's places. The hint is sent
 * again later. */
static void hint_wait(struct hints *hints, struct worker *worker, struct hint *hint, tr_time now_ns)
{
    struct hint_kind *kind = &hints->kinds[hint->kind];
    tr_time after_ns = HINTS_BACK_OFF_NS;
    for (int i = 0; i < hint->tries && after_ns < HINTS_BACK_OFF_MAX_NS; i++)
        after_ns *= 2;
    if (after_ns > HINTS_BACK_OFF_MAX_NS)
        after_ns = HINTS_BACK_OFF_MAX_NS;
    hint->is_waking = false;
    hint->at_ns = now_ns + after_ns;
    list_push_last(&kind->waiting, &hint->link);
    if (++kind->waiting_count <= HINTS_WAITING)
        return;
    if (kind->again_ns <= now_ns)
        kind->again_ns = now_ns + HINTS_BACK_OFF_MAX_NS;
    hint_free(hints, worker, LIST_OWNER(list_first(&kind->waiting), struct hint, link));
}

enum hint_verdict tr__hints_decide(const struct hints *hints, uint64_t ticket, size_t kind,
                                   bool is_again, tr_time now_ns)
{
    const struct hint *hint = *place_of(hints, ticket);
    if (hint)
        return hint->is_waking || now_ns < hint->at_ns ? HINT_SKIP : HINT_TELL;
    return is_again && now_ns < hints->kinds[kind].again_ns ? HINT_SKIP : HINT_TELL;
}

tr_status tr__hints_add(struct hints *hints, struct worker *worker, uint64_t ticket, size_t kind,
                        uint64_t ref, bool is_awake, tr_time now_ns, bool *is_late)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct hint_kind *of = &hints->kinds[kind];
    struct hint *hint = *place_of(hints, ticket);
    *is_late = false;
    if (hint) {
        hint_leave(hints, hint);
        if (hint->tries < UINT16_MAX)
            hint->tries++;
        *is_late = hint->tries > 1 && !of->is_named;
    } else {
        hint = source_resize(&worker->source, NULL, sizeof *hint);
        if (!hint)
            return TR_NO_MEMORY;
        *hint = (struct hint){.ticket = ticket, .kind = (uint32_t)kind};
        list_init(&hint->link);
        if (of->waking_count + of->waiting_count >= hints->bucket_count)
            hints_grow(hints, worker);
        struct hint **place = place_of(hints, ticket);
        hint->next = *place;
        *place = hint;
    }
    hint->ref = ref;
    if (is_awake) {
        hint_wait(hints, worker, hint, now_ns);
    } else {
        hint->is_waking = true;
        hint->at_ns = now_ns;
        list_push_last(&of->waking, &hint->link);
        of->waking_count++;
    }
    of->is_named |= *is_late;
    return TR_OK;
}

int tr__hints_answer(struct hints *hints, struct worker *worker, uint64_t ticket)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct hint *hint = *place_of(hints, ticket);
    if (!hint)
        return -1;
    int kind = (int)hint->kind;
    hint_free(hints, worker, hint);
    return kind;
}

void tr__hints_pass(struct hints *hints, struct worker *worker, tr_time now_ns)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    for (size_t i = 0; i < hints->kind_count; i++) {
        LIST_EACH (link, &hints->kinds[i].waking) {
            struct hint *hint = LIST_OWNER(link, struct hint, link);
            bool is_late = now_ns - hint->at_ns >= HINTS_PATIENCE_NS;
            if (!is_late && slots_find(worker->slots, hint->ref))
                continue;
            hint_leave(hints, hint);
            hint_wait(hints, worker, hint, now_ns);
        }
    }
}

void tr__hints_forget(struct hints *hints, struct worker *worker, tr_time since_ns)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    for (size_t i = 0; i < hints->kind_count; i++) {
        LIST_EACH (link, &hints->kinds[i].waiting) {
            struct hint *hint = LIST_OWNER(link, struct hint, link);
            if (hint->at_ns < since_ns)
                hint_free(hints, worker, hint);
        }
    }
}
