/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Slabs, their records, and the runs of timers.
 *
 * Rules:
 * 1. A slab is in the list `open` if a record can be taken from it: a fresh record, or one that
 *    came back.
 * 2. The generation of a record is above the generation of every number that was given before for
 *    the record's place in the pool. It is incremented when the timer is removed. A slab that is
 *    freed passes its highest generation to the next slab at its place. A run has no number, and
 *    leaves the generation of its record unchanged.
 * 3. When the generations of a record or of a place are used up, it is not used again. That wastes
 *    40 bytes after 16 million timers.
 * 4. TIMER_LOOSE is set in records that are timers. It is not set in runs and in free records.
 * 5. A group is LOOSE_GROUP records in a row, and is aligned. All timers of a run are in one group,
 *    in whatever order they were taken. The run itself may be elsewhere. A run has at least one
 *    timer.
 */
#include "timer/loose.h"

#include "base/assert.h"
#include "mem/poison.h"
#include "os/memory.h"

#include <assert.h>

enum {
    SLAB_LARGEST = 1 << LOOSE_SLAB_BITS,
    PLACES_FIRST = 4,
    /*
     * Slabs of this many records or more are made resident in pieces. Smaller slabs are cheap to
     * touch for the first time.
     */
    READY_MIN = 1 << 15,
};

static_assert(sizeof(union loose_record) == sizeof(struct timer_entry), "runs cost no more");
static_assert(offsetof(struct timer_run, state) == sizeof(struct timer_node), "of both");
static_assert(LOOSE_SLAB_FIRST % LOOSE_GROUP == 0, "a group is in one slab");

static inline struct loose_slab *slab_of(const struct loose_pool *pool, uint32_t number)
{
    return &pool->slabs[number >> LOOSE_SLAB_BITS];
}

static inline uint64_t number_of(const struct loose_pool *pool, uint32_t generation, uint32_t at)
{
    return (uint64_t)pool->home << LOOSE_HOME_SHIFT | (uint64_t)generation << 32 | at;
}

static inline uint32_t generation_of(const struct timer_entry *entry)
{
    return entry->state >> TIMER_GENERATION_SHIFT;
}

static inline bool slab_is_open(const struct loose_slab *slab)
{
    return slab->free || slab->fresh < slab->size;
}

/* ---- Slabs. ---- */

/* Returns a free place for a slab; 0 if there is no memory or no place left. */
static uint32_t place_take(struct loose_pool *pool)
{
    for (uint32_t place = 1; place < pool->places; place++) {
        const struct loose_slab *slab = &pool->slabs[place];
        if (!slab->records && slab->generation < LOOSE_GENERATION_END)
            return place;
    }
    uint32_t place = pool->places ? pool->places : 1;
    uint32_t capacity = pool->places ? 2 * pool->places : PLACES_FIRST;
    if (capacity > LOOSE_SLABS_MAX)
        return 0;
    struct loose_slab *slabs =
        source_resize(&pool->source, pool->slabs, capacity * sizeof(struct loose_slab));
    if (!slabs)
        return 0;
    for (uint32_t i = pool->places; i < capacity; i++)
        slabs[i] = (struct loose_slab){.generation = 1, .generation_up = 1};
    pool->slabs = slabs;
    pool->places = capacity;
    return place;
}

/* Opens a slab that is as large as all other slabs together. Returns false when out of memory. */
static bool slab_add(struct loose_pool *pool)
{
    size_t size = pool->made < LOOSE_SLAB_FIRST ? LOOSE_SLAB_FIRST : pool->made;
    if (size > SLAB_LARGEST)
        size = SLAB_LARGEST;
    uint32_t place = place_take(pool);
    if (!place)
        return false;
    void *memory = source_resize(&pool->source, NULL, size * sizeof(union loose_record));
    if (!memory)
        return false;
    struct loose_slab *slab = &pool->slabs[place];
    *slab = (struct loose_slab){.records = memory,
                                .size = (uint32_t)size,
                                .ready = size < READY_MIN ? (uint32_t)size : 0,
                                .open_next = pool->open,
                                .generation = slab->generation,
                                .generation_up = slab->generation_up};
    pool->open = place;
    pool->made += size;
    return true;
}

static void slab_free(struct loose_pool *pool, uint32_t place)
{
    struct loose_slab *slab = &pool->slabs[place];
    TR_ASSERT(slab->used == 0);
    uint32_t *open = &pool->open;
    while (*open && *open != place)
        open = &pool->slabs[*open].open_next;
    if (*open)
        *open = slab->open_next;
    if (pool->empty == place)
        pool->empty = 0;
    pool->made -= slab->size;
    poison_clear(slab->records, slab->size * sizeof(union loose_record));
    source_resize(&pool->source, slab->records, 0);
    *slab = (struct loose_slab){.generation = slab->generation_up,
                                .generation_up = slab->generation_up};
}

/*
 * Makes the memory of the next fresh record resident, before the record is used for the first time.
 */
static void slab_ready(struct loose_slab *slab)
{
    size_t size = sizeof(union loose_record);
    size_t bytes =
        tr__os_memory_ready(slab->records + slab->fresh, (slab->size - slab->fresh) * size);
    uint32_t count = (uint32_t)(bytes / size);
    slab->ready = slab->fresh + (count ? count : 1);
}

/*
 * Handles a slab whose last timer was removed. Keeps the slab if there is no other empty slab and a
 * record can still be taken from it, otherwise frees it. With one empty slab, a single timer that
 * comes and goes is cheap.
 */
static void slab_empty(struct loose_pool *pool, uint32_t place)
{
    bool has_other = pool->empty != place && pool->empty && pool->slabs[pool->empty].used == 0;
    if (has_other || !slab_is_open(&pool->slabs[place]))
        slab_free(pool, place);
    else
        pool->empty = place;
}

void tr__loose_init(struct loose_pool *pool, const struct memory_source *source)
{
    *pool = (struct loose_pool){.source = *source};
}

size_t tr__loose_bytes(const struct loose_pool *pool)
{
    size_t bytes = pool->places * sizeof(struct loose_slab);
    for (uint32_t place = 1; place < pool->places; place++) {
        if (pool->slabs[place].records)
            bytes += pool->slabs[place].size * sizeof(union loose_record);
    }
    return bytes;
}

/* ---- Records. ---- */

/* A record and its number. The number 0 means that there is no record. */
struct taken {
    union loose_record *record;
    uint32_t at;
};

/* Takes a record for a timer or for a run. Returns no record when out of memory. */
static inline struct taken record_take(struct loose_pool *pool)
{
    if (!pool->open && !slab_add(pool))
        return (struct taken){NULL, 0};
    uint32_t place = pool->open;
    struct loose_slab *slab = &pool->slabs[place];
    uint32_t at = slab->free;
    union loose_record *record;
    if (at) {
        record = slab->records + (at & (SLAB_LARGEST - 1));
        poison_clear(record, sizeof *record);
        slab->free = record->entry.run;
    } else {
        if (slab->fresh == slab->ready)
            slab_ready(slab);
        at = place << LOOSE_SLAB_BITS | slab->fresh;
        record = slab->records + slab->fresh++;
        record->entry.state = slab->generation << TIMER_GENERATION_SHIFT;
    }
    slab->used++;
    if (!slab_is_open(slab))
        pool->open = slab->open_next;
    return (struct taken){record, at};
}

static inline void record_give(struct loose_pool *pool, struct timer_entry *entry, uint32_t at)
{
    uint32_t place = at >> LOOSE_SLAB_BITS;
    struct loose_slab *slab = &pool->slabs[place];
    if (generation_of(entry) < LOOSE_GENERATION_END) {
        if (!slab_is_open(slab)) {
            slab->open_next = pool->open;
            pool->open = place;
        }
        entry->run = slab->free;
        slab->free = at;
    }
    poison_set(&entry->node, sizeof entry->node);
    poison_set(&entry->bytes, sizeof entry->bytes);
    TR_ASSERT(slab->used > 0);
    if (--slab->used == 0)
        slab_empty(pool, place);
}

/* ---- Runs. ---- */

static inline struct timer_run *run_at(const struct loose_pool *pool, uint32_t number)
{
    return &loose_record_at(pool, number)->run;
}

/* Gives back the record of the spare run. */
static void spare_give(struct loose_pool *pool)
{
    uint32_t spare = pool->spare;
    pool->spare = 0;
    if (spare)
        record_give(pool, &loose_record_at(pool, spare)->entry, spare);
}

/* Whether a record can become a timer of this run. */
static inline bool run_takes(const struct timer_run *run, const tr_type *type, uint64_t value,
                             uint32_t at)
{
    return at - run->context.mark < LOOSE_GROUP && run->context.value == value &&
           run->context.type == type;
}

/*
 * Begins a run for a timer. If there is a spare run, the record `taken` becomes the timer.
 * Otherwise `taken` becomes the run itself, and the timer gets another record. So the records that
 * follow the run in memory are for its timers. Returns NULL when out of memory.
 */
static inline struct timer_run *run_begin(struct loose_list *list, struct loose_pool *pool,
                                          struct timer_context context, struct taken *taken)
{
    uint32_t number = pool->spare;
    if (number) {
        pool->spare = 0;
    } else {
        struct taken other = record_take(pool);
        if (!other.at) {
            record_give(pool, &taken->record->entry, taken->at);
            return NULL;
        }
        number = taken->at;
        *taken = other;
    }
    struct timer_run *run = run_at(pool, number);
    run->context.type = context.type;
    run->context.value = context.value;
    run->context.owner = context.owner;
    run->context.mark = taken->at & ~(uint32_t)(LOOSE_GROUP - 1);
    run->next = list->first;
    run->previous = 0;
    run->used = 0;
    if (list->first)
        run_at(pool, list->first)->previous = number;
    list->first = number;
    return run;
}

/*
 * Ends a run whose last timer was removed. Keeps the run as the spare run, because often a single
 * timer comes and goes.
 */
static void run_end(struct loose_list *list, struct loose_pool *pool, const struct timer_run *run,
                    uint32_t number)
{
    uint32_t *link = run->previous ? &run_at(pool, run->previous)->next : &list->first;
    TR_ASSERT(*link == number); /* if this fails, the run belongs to another list */
    *link = run->next;
    if (run->next)
        run_at(pool, run->next)->previous = run->previous;
    if (pool->spare)
        spare_give(pool);
    pool->spare = number;
}

/* Returns the index of a timer in the group of its run. */
static inline uint32_t run_index(const struct loose_pool *pool, const struct timer_run *run,
                                 const struct timer_entry *entry)
{
    const union loose_record *first = loose_record_at(pool, run->context.mark);
    return (uint32_t)((const union loose_record *)entry - first);
}

void tr__loose_trim(struct loose_pool *pool)
{
    spare_give(pool);
    if (pool->empty && pool->slabs[pool->empty].used == 0)
        slab_free(pool, pool->empty);
}

void tr__loose_deinit(struct loose_pool *pool)
{
    tr__loose_trim(pool);
    TR_ASSERT(pool->made == 0);
    source_resize(&pool->source, pool->slabs, 0);
    pool->slabs = NULL;
    pool->places = 0;
}

/* ---- Timers. ---- */

struct timer_entry *tr__loose_add(struct loose_list *list, struct loose_pool *pool,
                                  const tr_type *type, uint64_t value, uint32_t owner,
                                  uint64_t *number)
{
    struct taken taken = record_take(pool);
    if (!taken.at)
        return NULL;
    struct timer_run *run = list->first ? run_at(pool, list->first) : NULL;
    if (!run || !run_takes(run, type, value, taken.at)) {
        struct timer_context context = {type, value, owner, 0};
        run = run_begin(list, pool, context, &taken);
        if (!run)
            return NULL;
    }
    TR_ASSERT(run->context.owner == owner);
    run->used |= UINT32_C(1) << (taken.at - run->context.mark);
    list->count++;
    struct timer_entry *entry = &taken.record->entry;
    *number = number_of(pool, generation_of(entry), taken.at);
    entry->node = (struct timer_node){0};
    entry->state |= TIMER_LOOSE;
    entry->run = list->first;
    entry->envelope = NULL;
    return entry;
}

struct timer_entry *tr__loose_find(const struct loose_pool *pool, uint64_t number)
{
    uint32_t at = (uint32_t)number;
    if (at >> LOOSE_SLAB_BITS >= pool->places)
        return NULL;
    const struct loose_slab *slab = slab_of(pool, at);
    if ((at & (SLAB_LARGEST - 1)) >= slab->fresh)
        return NULL;
    struct timer_entry *entry = &loose_record_at(pool, at)->entry;
    bool is_it = number_of(pool, generation_of(entry), at) == number;
    return is_it && timer_has(entry, TIMER_LOOSE) ? entry : NULL;
}

uint64_t tr__loose_number(const struct loose_pool *pool, const struct timer_entry *entry)
{
    const struct timer_run *run = run_at(pool, entry->run);
    return number_of(pool, generation_of(entry), run->context.mark + run_index(pool, run, entry));
}

/* Returns the first of the timers of a run whose bits are set in `used`. */
static struct timer_entry *run_pick(const struct loose_pool *pool, const struct timer_run *run,
                                    uint32_t used)
{
    return &loose_record_at(pool, run->context.mark + (uint32_t)__builtin_ctz(used))->entry;
}

struct timer_entry *tr__loose_first(const struct loose_list *list, const struct loose_pool *pool)
{
    if (!list->first)
        return NULL;
    const struct timer_run *run = run_at(pool, list->first);
    return run_pick(pool, run, run->used);
}

struct timer_entry *tr__loose_after(const struct loose_pool *pool, const struct timer_entry *entry)
{
    const struct timer_run *run = run_at(pool, entry->run);
    uint32_t after = run->used & ~((UINT32_C(2) << run_index(pool, run, entry)) - 1);
    if (after)
        return run_pick(pool, run, after);
    if (!run->next)
        return NULL;
    run = run_at(pool, run->next);
    return run_pick(pool, run, run->used);
}

void tr__loose_remove(struct loose_list *list, struct loose_pool *pool, struct timer_entry *entry)
{
    TR_ASSERT(!timer_is_armed(&entry->node));
    uint32_t number = entry->run;
    struct timer_run *run = run_at(pool, number);
    uint32_t index = run_index(pool, run, entry);
    uint32_t at = run->context.mark + index;
    /* if this fails, the record was overwritten */
    TR_ASSERT(index < LOOSE_GROUP && run->used >> index & 1);
    /* if this fails, the timer belongs to another list */
    TR_ASSERT(list->count > 0);
    list->count--;
    run->used &= ~(UINT32_C(1) << index);
    if (!run->used)
        run_end(list, pool, run, number);
    uint32_t generation = generation_of(entry) + 1;
    struct loose_slab *slab = slab_of(pool, at);
    if (slab->generation_up < generation)
        slab->generation_up = generation;
    entry->state = generation << TIMER_GENERATION_SHIFT;
    record_give(pool, entry, at);
}
