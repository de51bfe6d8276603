/* SPDX-License-Identifier: Apache-2.0 */
/**
 * 1. A slab is in the list `open` when it has an entry to take: a fresh one, or one that came back.
 * 2. The generation of an entry is above that of every number that was given for its place in the
 *    pool before. It goes up when the timer is removed; a slab that is freed leaves its highest one
 *    to the next slab at its place.
 * 3. An entry, or a place, whose generations have come to their end is not used again: that is 64
 *    bytes after 16 million timers.
 * 4. A free entry belongs to nobody: its owner is 0.
 */
#include "timer/loose.h"

#include "base/assert.h"
#include "mem/poison.h"
#include "os/memory.h"

#include <assert.h>

enum {
    LINE = 64,
    SLAB_LARGEST = 1 << LOOSE_SLAB_BITS,
    PLACES_FIRST = 4,
};

static_assert(sizeof(struct timer_entry) == LINE, "entries lie in an array");

static inline struct loose_slab *slab_of(const struct loose_pool *pool, uint32_t number)
{
    return &pool->slabs[number >> LOOSE_SLAB_BITS];
}

static inline struct timer_entry *entry_at(const struct loose_pool *pool, uint32_t number)
{
    return slab_of(pool, number)->entries + (number & (SLAB_LARGEST - 1));
}

static inline uint64_t number_of(const struct loose_pool *pool, uint32_t generation, uint32_t at)
{
    return (uint64_t)pool->home << LOOSE_HOME_SHIFT | (uint64_t)generation << 32 | at;
}

static inline bool slab_is_open(const struct loose_slab *slab)
{
    return slab->free || slab->fresh < slab->size;
}

/* ---- Slabs. ---- */

/* A place for a slab; 0 when out of memory, or of places. */
static uint32_t place_take(struct loose_pool *pool)
{
    for (uint32_t place = 1; place < pool->places; place++) {
        const struct loose_slab *slab = &pool->slabs[place];
        if (!slab->entries && slab->generation < LOOSE_GENERATION_END)
            return place;
    }
    uint32_t place = pool->places ? pool->places : 1;
    uint32_t room = pool->places ? 2 * pool->places : PLACES_FIRST;
    if (room > LOOSE_SLABS_MAX)
        return 0;
    struct loose_slab *slabs =
        source_resize(&pool->source, pool->slabs, room * sizeof(struct loose_slab));
    if (!slabs)
        return 0;
    for (uint32_t i = pool->places; i < room; i++)
        slabs[i] = (struct loose_slab){.generation = 1, .generation_up = 1};
    pool->slabs = slabs;
    pool->places = room;
    return place;
}

/* Opens a slab as large as all others together. False when out of memory. */
static bool slab_add(struct loose_pool *pool)
{
    size_t size = pool->made < LOOSE_SLAB_FIRST ? LOOSE_SLAB_FIRST : pool->made;
    if (size > SLAB_LARGEST)
        size = SLAB_LARGEST;
    uint32_t place = place_take(pool);
    if (!place)
        return false;
    size_t bytes = size * sizeof(struct timer_entry) + LINE;
    void *memory = source_resize(&pool->source, NULL, bytes);
    if (!memory)
        return false;
    tr__os_advise_huge(memory, bytes);
    uintptr_t aligned = ((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1);
    struct loose_slab *slab = &pool->slabs[place];
    *slab = (struct loose_slab){.entries = (struct timer_entry *)aligned,
                                .memory = memory,
                                .size = (uint32_t)size,
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
    poison_clear(slab->entries, slab->size * sizeof(struct timer_entry));
    source_resize(&pool->source, slab->memory, 0);
    *slab = (struct loose_slab){.generation = slab->generation_up,
                                .generation_up = slab->generation_up};
}

/* The last timer of a slab has gone. One such slab stays: a timer that comes and goes is cheap. */
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

void tr__loose_trim(struct loose_pool *pool)
{
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

size_t tr__loose_bytes(const struct loose_pool *pool)
{
    size_t bytes = pool->places * sizeof(struct loose_slab);
    for (uint32_t place = 1; place < pool->places; place++) {
        if (pool->slabs[place].entries)
            bytes += pool->slabs[place].size * sizeof(struct timer_entry) + LINE;
    }
    return bytes;
}

/* ---- Timers. ---- */

struct timer_entry *tr__loose_add(struct loose_list *list, struct loose_pool *pool,
                                  uint64_t *number)
{
    if (!pool->open && !slab_add(pool))
        return NULL;
    uint32_t place = pool->open;
    struct loose_slab *slab = &pool->slabs[place];
    uint32_t at = slab->free;
    struct timer_entry *entry;
    uint32_t generation = slab->generation;
    if (at) {
        entry = entry_at(pool, at);
        generation = entry->generation;
        slab->free = entry->loose.next;
    } else {
        at = place << LOOSE_SLAB_BITS | slab->fresh;
        entry = slab->entries + slab->fresh++;
    }
    slab->used++;
    if (!slab_is_open(slab))
        pool->open = slab->open_next;
    poison_clear(entry, sizeof *entry);
    *entry = (struct timer_entry){.generation = generation & LOOSE_GENERATION_END,
                                  .loose = {.next = list->first}};
    if (list->first)
        entry_at(pool, list->first)->loose.previous = at;
    list->first = at;
    list->count++;
    *number = number_of(pool, generation, at);
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
    struct timer_entry *entry = entry_at(pool, at);
    return number_of(pool, entry->generation, at) == number && entry->owner ? entry : NULL;
}

uint64_t tr__loose_number(const struct loose_list *list, const struct loose_pool *pool)
{
    return number_of(pool, entry_at(pool, list->first)->generation, list->first);
}

struct timer_entry *tr__loose_first(const struct loose_list *list, const struct loose_pool *pool)
{
    return list->first ? entry_at(pool, list->first) : NULL;
}

struct timer_entry *tr__loose_after(const struct loose_pool *pool, const struct timer_entry *entry)
{
    return entry->loose.next ? entry_at(pool, entry->loose.next) : NULL;
}

/* Takes a timer out of its list. Its neighbour knows its number. */
static uint32_t loose_unlink(struct loose_list *list, struct loose_pool *pool,
                             const struct timer_entry *entry)
{
    uint32_t next = entry->loose.next;
    uint32_t previous = entry->loose.previous;
    uint32_t *link = previous ? &entry_at(pool, previous)->loose.next : &list->first;
    uint32_t at = *link;
    TR_ASSERT(at && entry_at(pool, at) == entry); /* Else it is of another list. */
    *link = next;
    if (next)
        entry_at(pool, next)->loose.previous = previous;
    TR_ASSERT(list->count > 0);
    list->count--;
    return at;
}

void tr__loose_remove(struct loose_list *list, struct loose_pool *pool, struct timer_entry *entry)
{
    TR_ASSERT(!timer_is_armed(&entry->node));
    uint32_t at = loose_unlink(list, pool, entry);
    struct loose_slab *slab = slab_of(pool, at);
    uint32_t place = at >> LOOSE_SLAB_BITS;
    uint32_t generation = entry->generation + 1U;
    if (slab->generation_up < generation)
        slab->generation_up = generation;
    entry->generation = generation & LOOSE_GENERATION_END;
    entry->owner = 0;
    if (generation < LOOSE_GENERATION_END) {
        if (!slab_is_open(slab)) {
            slab->open_next = pool->open;
            pool->open = place;
        }
        entry->loose.next = slab->free;
        slab->free = at;
    }
    poison_set(&entry->light, sizeof entry->light);
    TR_ASSERT(slab->used > 0);
    if (--slab->used == 0)
        slab_empty(pool, place);
}
