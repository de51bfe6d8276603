/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/follow.h"

#include <string.h>

#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "actor/cell/worker.h"
#include "base/assert.h"
#include "base/hash.h"

void tr__follow_init(struct follow *follow)
{
    lock_init(&follow->lock);
    atom32_init(&follow->is_on, 0);
    atomptr_init(&follow->exports, NULL);
    atomptr_init(&follow->rings, NULL);
    atom64_init(&follow->number, 0);
    atom64_init(&follow->turn, 0);
    atom64_init(&follow->given_up, 0);
    atom32_init(&follow->mark_count, 0);
    for (size_t i = 0; i < TR_FOLLOWED_MAX; i++)
        atom64_init(&follow->marks[i], 0);
    for (size_t i = 0; i < FOLLOW_CAUSALS; i++)
        atom64_init(&follow->causals[i], 0);
    atom32_init(&follow->trials_left, 0);
    for (size_t i = 0; i < FOLLOW_TRIALS; i++) {
        atom64_init(&follow->trials[i].causal, 0);
        atom32_init(&follow->trials[i].left, 0);
    }
}

static struct follow_ring **rings_of(struct tr_system *system)
{
    return atomptr_load(&system->follow->rings,
                        ATOM_ACQUIRE); /* pairs with tr__follow_rings_make */
}

static void rings_free(struct tr_system *system, struct follow_ring **rings)
{
    for (uint32_t i = 0; rings && i < system->worker_count; i++)
        source_resize(&system->source, rings[i], 0);
    source_resize(&system->source, rings, 0);
}

void tr__follow_deinit(struct tr_system *system)
{
    rings_free(system, rings_of(system));
    atomptr_store(&system->follow->rings, NULL, ATOM_RELAXED);
    source_resize(&system->source, follow_export_of(system->follow), 0);
    atomptr_store(&system->follow->exports, NULL, ATOM_RELAXED);
}

tr_status tr__follow_rings_make(struct tr_system *system)
{
    if (rings_of(system))
        return TR_OK;
    uint32_t capacity = FOLLOW_ALL_MAX / system->worker_count;
    capacity = capacity > TR_FOLLOW_RECORDS_MAX ? TR_FOLLOW_RECORDS_MAX : capacity;
    capacity = capacity < FOLLOW_LEAST ? FOLLOW_LEAST : capacity;
    struct follow_ring **rings =
        source_resize(&system->source, NULL, system->worker_count * sizeof(struct follow_ring *));
    if (!rings)
        return TR_NO_MEMORY;
    memset(rings, 0, system->worker_count * sizeof(struct follow_ring *));
    for (uint32_t i = 0; i < system->worker_count; i++) {
        size_t size = sizeof(struct follow_ring) + capacity * sizeof(struct follow_event);
        rings[i] = source_resize(&system->source, NULL, size);
        if (!rings[i]) {
            rings_free(system, rings);
            return TR_NO_MEMORY;
        }
        memset(rings[i], 0, sizeof(struct follow_ring));
        lock_init(&rings[i]->lock);
        rings[i]->capacity = capacity;
    }
    atomptr_store(&system->follow->rings, rings, ATOM_RELEASE); /* pairs with rings_of */
    return TR_OK;
}

/* ---- Which turns are followed. ---- */

static atom64 *causal_place(struct follow *follow, uint64_t causal)
{
    return &follow->causals[(causal ^ causal >> 32) % FOLLOW_CAUSALS];
}

void tr__follow_causal(struct follow *follow, uint64_t causal)
{
    atom64 *place = causal_place(follow, causal);
    uint64_t before = atom64_load(place, ATOM_RELAXED);
    if (before && before != causal)
        (void)atom64_fetch_add(&follow->given_up, 1, ATOM_RELAXED);
    atom64_store(place, causal, ATOM_RELAXED);
}

/*
 * Whether this causal id is one of those that follow_export.every chooses. The result depends only
 * on the id and the export's seed, so all workers choose the same ids.
 */
static bool is_sampled(const struct follow *follow, uint64_t causal)
{
    const struct follow_export *export = follow_export_of(follow);
    return export && export->every && (causal & FOLLOW_UNSAMPLED) != FOLLOW_UNSAMPLED &&
           hash_mix(causal ^ export->seed) % export->every == 0;
}

/* ---- Trials. ---- */

static struct follow_trial *trial_place(struct follow *follow, uint64_t causal)
{
    return &follow->trials[(causal ^ causal >> 32) % FOLLOW_TRIALS];
}

void tr__follow_trials_allow(struct follow *follow, uint32_t count)
{
    atom32_store(&follow->trials_left, count, ATOM_RELAXED);
}

/*
 * Subtracts 1 from *left, and returns true. If *left is 0, returns false. If two threads do this at
 * the same time, *left may go down by 1 only. The bound need not be exact, and this is cheaper than
 * an exact count.
 */
static bool count_down(atom32 *left)
{
    uint32_t before = atom32_load(left, ATOM_RELAXED);
    if (!before)
        return false;
    atom32_store(left, before - 1, ATOM_RELAXED);
    return true;
}

bool tr__follow_trial_take(struct follow *follow)
{
    return count_down(&follow->trials_left);
}

void tr__follow_trial_begin(struct follow *follow, uint64_t causal)
{
    struct follow_trial *trial = trial_place(follow, causal);
    atom32_store(&trial->left, FOLLOW_TRIAL_TURNS, ATOM_RELAXED);
    atom64_store(&trial->causal, causal, ATOM_RELAXED);
}

static bool is_tried(struct follow *follow, uint64_t causal)
{
    struct follow_trial *trial = trial_place(follow, causal);
    return atom64_load(&trial->causal, ATOM_RELAXED) == causal && count_down(&trial->left);
}

bool tr__follow_wants(struct follow *follow, uint64_t causal, uint64_t actor)
{
    if (causal && (atom64_load(causal_place(follow, causal), ATOM_RELAXED) == causal ||
                   is_sampled(follow, causal) || is_tried(follow, causal)))
        return true;
    uint32_t count = atom32_load(&follow->mark_count, ATOM_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (atom64_load(&follow->marks[i], ATOM_RELAXED) != actor)
            continue;
        if (causal)
            tr__follow_causal(follow, causal);
        return true;
    }
    return false;
}

/* ---- Writing. ---- */

/* Copies a path. If it is too long, cuts off its beginning. */
static void path_copy(char to[FOLLOW_PATH_MAX + 1], const char *path)
{
    size_t length = strlen(path);
    if (length <= FOLLOW_PATH_MAX) {
        memcpy(to, path, length + 1);
        return;
    }
    memset(to, '.', 3);
    memcpy(to + 3, path + length - (FOLLOW_PATH_MAX - 3), FOLLOW_PATH_MAX - 3 + 1);
}

/* Writes the path of the actor with this ref, which may live on another worker or be gone. */
static void other_name(struct tr_system *system, uint64_t ref, char to[FOLLOW_PATH_MAX + 1])
{
    char path[TR_PATH_MAX + 1];
    const struct cell *cell = view_find(system->slots, ref);
    *to = '\0';
    if (!cell)
        return;
    tr__view_path(system, cell, path);
    /* Only the path of a client begins so, because a client has neither a parent nor a name. */
    path_copy(to, path[0] == '/' && path[1] == '$' ? "a client" : path);
}

static void ring_write(struct worker *worker, const struct follow_event *event)
{
    struct follow *follow = worker->system->follow;
    struct follow_ring *ring = rings_of(worker->system)[worker->index];
    lock_take(&ring->lock);
    struct follow_event *place = &ring->events[ring->written++ % ring->capacity];
    *place = *event;
    place->number = atom64_fetch_add(&follow->number, 1, ATOM_RELAXED) + 1;
    lock_give(&ring->lock);
}

void tr__follow_record(struct worker *worker, const struct cell *cell, struct follow_event *event)
{
    struct tr_system *system = worker->system;
    char path[TR_PATH_MAX + 1];
    TR_ASSERT_SLOW(worker_is_mine(worker));
    tr__cell_path(system, cell, path);
    path_copy(event->path, path);
    event->other_path[0] = '\0';
    if (event->other)
        other_name(system, event->other, event->other_path);
    event->actor = cell->identity;
    if (!event->time_ns)
        event->time_ns = system->platform->mono_now(system->platform);
    event->worker = (uint16_t)worker->index;
    ring_write(worker, event);
}

void tr__follow_sent(struct worker *worker, const struct follow_event *sent, tr_status status)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    const struct tr_self *turn = worker->outbox_turn;
    struct follow_event event = *sent;
    event.what = FOLLOW_SENT;
    event.status = status;
    event.turn = turn->followed;
    tr__follow_record(worker, turn->cell, &event);
}

/* ---- Reading. ---- */

/*
 * Searches a ring from index *at on for a record whose number is above `after`. Returns the first
 * such record and sets *at to its index. Returns NULL if there is none. The caller holds the lock
 * of the ring.
 */
static const struct follow_event *ring_next(const struct follow_ring *ring, uint64_t after,
                                            uint64_t *at)
{
    uint64_t oldest = ring->written > ring->capacity ? ring->written - ring->capacity : 0;
    *at = *at < oldest ? oldest : *at;
    for (; *at < ring->written; ++*at) {
        const struct follow_event *event = &ring->events[*at % ring->capacity];
        if (event->number > after)
            return event;
    }
    return NULL;
}

/*
 * Returns the record with the smallest number above `after` in all rings. Under the locks of all
 * rings.
 */
static const struct follow_event *next_of_all(struct follow_ring **rings, uint32_t count,
                                              uint64_t after, uint64_t *places)
{
    const struct follow_event *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct follow_event *event = ring_next(rings[i], after, &places[i]);
        if (event && (!first || event->number < first->number))
            first = event;
    }
    return first;
}

uint64_t tr__follow_oldest(struct tr_system *system, uint32_t worker)
{
    struct follow_ring **rings = rings_of(system);
    uint64_t at = 0;
    if (!rings)
        return UINT64_MAX;
    lock_take(&rings[worker]->lock);
    const struct follow_event *event = ring_next(rings[worker], 0, &at);
    uint64_t number = event ? event->number : UINT64_MAX;
    lock_give(&rings[worker]->lock);
    return number;
}

static void rings_lock(struct follow_ring **rings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        lock_take(&rings[i]->lock);
}

static void rings_unlock(struct follow_ring **rings, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;)
        lock_give(&rings[i]->lock);
}

uint64_t tr__follow_each(struct tr_system *system, uint64_t *oldest,
                         void (*take)(void *context, const struct follow_event *event),
                         void *context)
{
    struct follow_ring **rings = rings_of(system);
    *oldest = 1;
    if (!rings)
        return 0;
    rings_lock(rings, system->worker_count);
    uint64_t newest = atom64_load(&system->follow->number, ATOM_RELAXED);
    for (uint32_t i = 0; i < system->worker_count; i++) {
        const struct follow_ring *ring = rings[i];
        uint64_t at = 0;
        const struct follow_event *event = ring_next(ring, 0, &at);
        if (event && ring->written > ring->capacity && event->number > *oldest)
            *oldest = event->number;
        for (; event; at++, event = ring_next(ring, 0, &at))
            take(context, event);
    }
    rings_unlock(rings, system->worker_count);
    return newest;
}

size_t tr__follow_read(struct tr_system *system, uint64_t after, struct follow_event *events,
                       size_t max, uint64_t *missed)
{
    struct follow_ring **rings = rings_of(system);
    uint64_t places[TR_WORKERS_MAX] = {0};
    const struct follow_event *event;
    size_t count = 0;
    *missed = 0;
    if (!rings)
        return 0;
    rings_lock(rings, system->worker_count);
    while (count < max && (event = next_of_all(rings, system->worker_count, after, places))) {
        *missed += event->number - after - 1;
        after = event->number;
        events[count++] = *event;
    }
    rings_unlock(rings, system->worker_count);
    return count;
}

/* ---- Traces that other programs began, and the export. ---- */

tr_status tr__follow_export_make(struct tr_system *system, uint32_t every)
{
    const tr_platform *platform = system->platform;
    TR_ASSERT(!follow_export_of(system->follow));
    struct follow_export *export = source_resize(&system->source, NULL, sizeof *export);
    if (!export)
        return TR_NO_MEMORY;
    memset(export, 0, sizeof *export);
    export->seed = platform->random(platform) | 1;
    export->every = every;
    lock_init(&export->lock);
    atom64_init(&export->sent, 0);
    atom64_init(&export->dropped, 0);
    atomptr_store(&system->follow->exports, export, ATOM_RELEASE); /* pairs with follow_export_of */
    return TR_OK;
}

static struct follow_context *context_place(struct follow_export *export, uint64_t causal)
{
    return &export->contexts[(causal ^ causal >> 32) % FOLLOW_CAUSALS];
}

void tr__follow_adopt(struct follow_export *export, const struct follow_context *context)
{
    lock_take(&export->lock);
    *context_place(export, context->causal) = *context;
    lock_give(&export->lock);
}

struct follow_context tr__follow_context(struct follow_export *export, uint64_t causal)
{
    struct follow_context context = {.causal = causal};
    lock_take(&export->lock);
    const struct follow_context *place = context_place(export, causal);
    if (place->causal == causal)
        context = *place;
    lock_give(&export->lock);
    if (!context.trace_high && !context.trace_low) {
        context.trace_high = export->seed;
        context.trace_low = causal;
    }
    return context;
}

uint64_t tr__follow_span(const struct follow_export *export, uint64_t turn)
{
    uint64_t span = hash_mix(export->seed + turn);
    return span ? span : 1;
}
