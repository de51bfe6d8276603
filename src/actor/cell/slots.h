/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Slots: where cells live, and how a ref finds one.
 *
 * A ref is a slot number and a generation: bits 0..31 are the slot with the system's tag above it,
 * bits 32..63 the generation. A cell shows the whole ref at its door while a tenant lives there, so
 * one comparison refuses the dead, the wrong system and the wrong slot alike. Slot 0 is never used:
 * all zero is nobody. The tag has few bits, so generations also begin at a number of the system's
 * own.
 *
 * Slots are reused oldest first; one whose generations are used up is retired. Each worker keeps a
 * cache of free slots; what it has too many of, and what other threads need, goes through a shared
 * list under a lock. A cache is small beside the limit, and there is none where that is low: what
 * lies in the caches of some workers is capacity that others cannot find.
 */
#ifndef ACTOR_CELL_SLOTS_H
#define ACTOR_CELL_SLOTS_H

#include "actor/cell/cell.h"
#include "mem/poison.h"
#include "os/lock.h"

enum {
    SLOTS_CHUNK_BITS = 10,
    SLOTS_CHUNK = 1 << SLOTS_CHUNK_BITS, /* cells that are allocated together */
    SLOTS_BATCH = 64                     /* slots that move between a cache and the shared list */
};

/** Places beside the cells of a chunk, for states: of 32 bytes each, and of 64. */
enum {
    SLOTS_PLACE_MIN = 32,
    SLOTS_PLACE_MAX = 64,
    SLOTS_PLACES = 2,
};

/** The line before the cells of a chunk. */
struct slots_chunk {
    _Alignas(64) atomptr places[SLOTS_PLACES]; /* a place for each cell; NULL until one is wanted */
};

struct slot_list {
    uint32_t first; /* slots, linked through the cells' sibling_next; 0 for none */
    uint32_t last;
    uint32_t count;
};

/** The free slots of one worker. */
struct slot_cache {
    struct slot_list free;
    uint32_t fresh_next; /* slots that were never used */
    uint32_t fresh_end;
    /* What was found of the last parent for whose child a slot was taken; see actor/life/spawn.c. */
    uint64_t parent;
    size_t path_length;
};

struct slots_block;

/*
 * Where cells are: what a ref is looked up in, and so what each worker has a copy of at hand.
 *
 * Of each chunk there is the address where slot 0 would be if all chunks lay in a row with it. In place of
 * one that is not there yet stands the first, as if it lay there; and the first cell, which is nobody's,
 * shows a ref that is none of its own. So a ref always leads to some cell, and only its own can show it,
 * since a ref holds the number of its slot.
 */
struct slots_map {
    atomptr *chunks; /* written under the lock, read by anybody */
    uint32_t mask;   /* of the slot's number in a ref */
};

struct slots {
    atomptr *chunks;    /* as in the map, */
    uint32_t mask;      /* and this too */
    atom32 made;        /* slots in the chunks that are there */
    uint32_t tag;       /* of the system, above the mask */
    uint32_t limit;     /* slots at most */
    uint32_t cache_max; /* free slots that a worker keeps; 0: none */
    uint32_t generation_first;
    struct memory_source source;
    struct lock lock;
    /* Under the lock. */
    struct slot_list free;
    uint32_t used;             /* slots handed out as fresh so far */
    struct slots_block *block; /* the newest of those that chunks lie in */
    char *block_next;          /* where its next chunk begins */
    char *block_ready;         /* up to here its memory is resident, or comes as it is touched */
    char *block_end;
};

/**
 * Room for /user and `actors_max` more actors and clients. `tag_seed` makes this system's refs differ
 * from another's.
 */
tr_status tr__slots_init(struct slots *slots, const struct memory_source *source,
                         uint32_t actors_max, uint64_t tag_seed);
void tr__slots_deinit(struct slots *slots);

/** A closed cell with a new identity. TR_NO_MEMORY, TR_LIMIT. Owner of the cache only. */
TR_MUST_CHECK tr_status tr__slot_take(struct slots *slots, struct slot_cache *cache,
                                      struct cell **cell);
/** Gives a cell back whose tenant is gone. Owner of the cache only. */
void tr__slot_give(struct slots *slots, struct slot_cache *cache, struct cell *cell);
/** The cache of a thread that is no worker: nothing is kept. `cache` NULL in the two above. */

/** How many slots exist so far, used or not: for those who look at all cells. */
uint32_t tr__slots_used(struct slots *slots);

static inline struct slots_map slots_map_of(const struct slots *slots)
{
    return (struct slots_map){slots->chunks, slots->mask};
}

/** The cell in a slot; if there is no such slot, another one. Any thread. */
static inline struct cell *slots_map_at(const struct slots_map *map, uint32_t slot)
{
    slot &= map->mask;
    /* partner: fresh_range */
    void *origin = atomptr_load(&map->chunks[slot >> SLOTS_CHUNK_BITS], ATOM_ACQUIRE);
    uintptr_t address = (uintptr_t)origin + (uintptr_t)slot * sizeof(struct cell);
    if (!address)
        __builtin_unreachable(); /* who compares it with NULL need not */
    return (struct cell *)address;
}

/** The cell of a live actor; NULL for the dead. What another thread answers is old at once. */
static inline struct cell *slots_map_find(const struct slots_map *map, uint64_t ref)
{
    struct cell *cell = slots_map_at(map, (uint32_t)ref);
    return __builtin_expect(atom64_load(&cell->door.ref, ATOM_RELAXED) == ref, 1) ? cell : NULL;
}

/** The cell in a slot; NULL when there is none. Any thread. */
static inline struct cell *slots_at(const struct slots *slots, uint32_t slot)
{
    slot &= slots->mask;
    /* partner: fresh_range */
    if (__builtin_expect(slot >= atom32_load(&slots->made, ATOM_ACQUIRE), 0))
        return NULL;
    struct slots_map map = slots_map_of(slots);
    return slots_map_at(&map, slot);
}

/** As slots_map_find. */
static inline struct cell *slots_find(const struct slots *slots, uint64_t ref)
{
    struct slots_map map = slots_map_of(slots);
    return slots_map_find(&map, ref);
}

/** The parent of an actor; NULL of /user and of clients. */
static inline struct cell *slots_parent(const struct slots *slots, const struct cell *cell)
{
    uint32_t slot = cell_parent_slot(cell);
    return slot ? slots_at(slots, slot) : NULL;
}

/** The chunk of a cell that has, or had, a tenant. */
static inline struct slots_chunk *slots_chunk_of(const struct cell *cell)
{
    const struct cell *first = cell - (cell->identity & (SLOTS_CHUNK - 1));
    return (struct slots_chunk *)(uintptr_t)first - 1;
}

/** Makes the places of a chunk. NULL when out of memory. Any thread. */
void *tr__slots_places_new(struct slots *slots, struct slots_chunk *chunk, unsigned index);

/**
 * The place of this size beside a cell, of any content; NULL when out of memory. One for each size, and
 * the tenant's alone. Owner only.
 */
static inline void *slots_place_take(struct slots *slots, const struct cell *cell, size_t size)
{
    unsigned index = size > SLOTS_PLACE_MIN;
    struct slots_chunk *chunk = slots_chunk_of(cell);
    char *places = atomptr_load(&chunk->places[index], ATOM_ACQUIRE); /* partner: places_new */
    if (__builtin_expect(!places, 0))
        places = tr__slots_places_new(slots, chunk, index);
    if (!places)
        return NULL;
    void *place =
        places + (cell->identity & (SLOTS_CHUNK - 1)) * ((size_t)SLOTS_PLACE_MIN << index);
    poison_clear(place, size);
    return place;
}

/** The number of the place, of either size, that this memory is beside a cell; -1: it is none. */
static inline int slots_place_index(const struct cell *cell, const void *memory)
{
    const struct slots_chunk *chunk = slots_chunk_of(cell);
    uintptr_t number = cell->identity & (SLOTS_CHUNK - 1);
    for (int i = 0; i < SLOTS_PLACES; i++) {
        uintptr_t places = (uintptr_t)atomptr_load(&chunk->places[i], ATOM_RELAXED);
        if (places && (uintptr_t)memory == places + number * ((uintptr_t)SLOTS_PLACE_MIN << i))
            return i;
    }
    return -1;
}

/** Whether this memory is a place beside a cell. */
static inline bool slots_place_is(const struct cell *cell, const void *memory)
{
    return slots_place_index(cell, memory) >= 0;
}

/** Gives it back; false when it is none. Owner only. */
static inline bool slots_place_give(const struct cell *cell, const void *memory)
{
    int index = slots_place_index(cell, memory);
    if (index >= 0)
        poison_set(memory, (size_t)SLOTS_PLACE_MIN << index);
    return index >= 0;
}

/** The slot of a cell, 0 for none. */
static inline uint32_t slots_number(const struct slots *slots, const struct cell *cell)
{
    return cell ? (uint32_t)cell->identity & slots->mask : 0;
}

#endif
