/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Slots: the places of cells, and how a ref leads to a cell.
 *
 * A ref is a slot number and a generation. Bits 0..31 are the slot, with the system's tag above it;
 * bits 32..63 are the generation. While a tenant lives in a cell, the door of the cell shows the
 * whole ref. So one comparison with the door refuses refs of ended actors, of another system and of
 * another slot. Slot 0 is never used, so a ref of 0 is no actor. The tag has few bits, so two
 * systems may have the same tag. Therefore the first generation differs from system to system, too.
 *
 * The slot that has been free the longest is reused first. A slot whose generations are used up is
 * retired. Each worker keeps a cache of free slots. A shared list under a lock has the slots that
 * do not fit into a cache, and the slots for threads without a cache. Other workers cannot use the
 * slots in a cache. So a cache is small compared with the largest number of actors, and if that
 * number is low there are no caches.
 */
#ifndef ACTOR_CELL_SLOTS_H
#define ACTOR_CELL_SLOTS_H

#include "actor/cell/cell.h"
#include "actor/cell/worker_parts.h"
#include "mem/poison.h"
#include "os/lock.h"

enum {
    SLOTS_CHUNK_BITS = 10,
    SLOTS_CHUNK = 1 << SLOTS_CHUNK_BITS, /* number of cells that are allocated together */
    /* number of slots that move at once from the shared list to a cache */
    SLOTS_BATCH = 64
};

/** Kinds of places beside the cells of a chunk. */
enum {
    /* places for states of up to 24, 32 and 64 bytes */
    SLOTS_PLACE_24,
    SLOTS_PLACE_32,
    SLOTS_PLACE_64,
    SLOTS_PLACE_STATES,                    /* number of kinds above, which are for states */
    SLOTS_PLACE_IDLE = SLOTS_PLACE_STATES, /* for a struct cell_idle */
    /* places for an origin with a small message and without an origin_rare */
    SLOTS_PLACE_ORIGIN,
    /* places for the record that src/net keeps for an actor with channels */
    SLOTS_PLACE_CHANNELS,
    SLOTS_PLACES,
    SLOTS_STATE_MAX = 64,
    SLOTS_ORIGIN_MAX = sizeof(struct cell_origin) + 16,
    SLOTS_CHANNELS_SIZE = 32 /* size of a struct net_cell */
};

/** The cache line before the cells of a chunk. */
struct slots_chunk {
    /*
     * for each kind an array with a place for each cell of the chunk; NULL until a place is needed.
     * tr__slots_trim frees these arrays under the lock, if all slots of the chunk are in the shared
     * list. No slot leaves that list without the lock
     */
    _Alignas(64) atomptr places[SLOTS_PLACES];
    /*
     * how many slots of this chunk are in the shared list; only for tr__slots_trim, under the lock
     */
    uint32_t free_count;
};

/** Returns the size of each place of the kind `kind`. */
static inline size_t slots_place_size(unsigned kind)
{
    static const uint8_t sizes[SLOTS_PLACES] = {[SLOTS_PLACE_24] = 24,
                                                [SLOTS_PLACE_32] = 32,
                                                [SLOTS_PLACE_64] = SLOTS_STATE_MAX,
                                                [SLOTS_PLACE_IDLE] = sizeof(struct cell_idle),
                                                [SLOTS_PLACE_ORIGIN] = SLOTS_ORIGIN_MAX,
                                                [SLOTS_PLACE_CHANNELS] = SLOTS_CHANNELS_SIZE};
    return sizes[kind];
}

struct slots_block;

struct slots {
    atomptr *chunks;    /* as in struct slots_map */
    uint32_t mask;      /* as in struct slots_map */
    atom32 made;        /* number of slots in the allocated chunks */
    uint32_t tag;       /* tag of the system, in the bits above `mask` */
    uint32_t limit;     /* there are at most this many slots */
    uint32_t cache_max; /* the largest number of free slots that a worker keeps; 0: no caches */
    uint32_t generation_first;
    struct memory_source source;
    struct lock lock;
    /* Under the lock: */
    struct slot_list free;
    uint32_t used;             /* number of slots that were ever handed out */
    struct slots_block *block; /* the newest block of memory for chunks */
    char *block_next;          /* the address of the next chunk in the block */
    /* the memory of the block before this address is resident, or becomes so at its first use */
    char *block_ready;
    char *block_end;
};

/**
 * Makes slots for /user and for `actors_max` other actors and clients. `tag_seed` makes the refs of
 * this system differ from those of other systems.
 */
tr_status tr__slots_init(struct slots *slots, const struct memory_source *source,
                         uint32_t actors_max, uint64_t tag_seed);
void tr__slots_deinit(struct slots *slots);

/**
 * Takes a free slot: a cell with a closed door and a new identity. Returns TR_OK, TR_NO_MEMORY or
 * TR_LIMIT. The owner of the cache only; with `cache` NULL, any thread.
 */
TR_MUST_CHECK tr_status tr__slot_take(struct slots *slots, struct slot_cache *cache,
                                      struct cell **cell);
/**
 * Makes the slot of a cell free, because its tenant has ended. The owner of the cache only; with
 * `cache` NULL, any thread.
 */
void tr__slot_give(struct slots *slots, struct slot_cache *cache, struct cell *cell);

/**
 * Moves the slots of `cache` to the shared list, and then frees the places beside the cells of
 * chunks that have no tenants. Takes time in proportion to the free slots. The owner of the cache
 * only.
 */
void tr__slots_trim(struct slots *slots, struct slot_cache *cache);

/** Returns how many slots were ever taken, including those that are free again. For a walk over all cells. */
uint32_t tr__slots_used(struct slots *slots);

static inline struct slots_map slots_map_of(const struct slots *slots)
{
    return (struct slots_map){slots->chunks, slots->mask};
}

/** Returns the cell in a slot. If the slot does not exist, returns another cell. Any thread. */
static inline struct cell *slots_map_at(const struct slots_map *map, uint32_t slot)
{
    slot &= map->mask;
    /* pairs with fresh_range */
    void *origin = atomptr_load(&map->chunks[slot >> SLOTS_CHUNK_BITS], ATOM_ACQUIRE);
    uintptr_t address = (uintptr_t)origin + (uintptr_t)slot * sizeof(struct cell);
    if (!address)
        /* tells the compiler that the result is not NULL, so that it removes comparisons with NULL */
        __builtin_unreachable();
    return (struct cell *)address;
}

/**
 * Returns the cell of the actor with this ref, or NULL if the actor has ended. On a thread other
 * than the owner, the actor may end at any time.
 */
static inline struct cell *slots_map_find(const struct slots_map *map, uint64_t ref)
{
    struct cell *cell = slots_map_at(map, (uint32_t)ref);
    return __builtin_expect(atom64_load(&cell->door.ref, ATOM_RELAXED) == ref, 1) ? cell : NULL;
}

/** Returns the cell in a slot; NULL if the slot does not exist. Any thread. */
static inline struct cell *slots_at(const struct slots *slots, uint32_t slot)
{
    slot &= slots->mask;
    /* pairs with fresh_range */
    if (__builtin_expect(slot >= atom32_load(&slots->made, ATOM_ACQUIRE), 0))
        return NULL;
    struct slots_map map = slots_map_of(slots);
    return slots_map_at(&map, slot);
}

/** As slots_map_find, with the map of `slots`. */
static inline struct cell *slots_find(const struct slots *slots, uint64_t ref)
{
    struct slots_map map = slots_map_of(slots);
    return slots_map_find(&map, ref);
}

/** Returns the parent of an actor; NULL for /user and for clients. */
static inline struct cell *slots_parent(const struct slots *slots, const struct cell *cell)
{
    uint32_t slot = cell_parent_slot(cell);
    return slot ? slots_at(slots, slot) : NULL;
}

/** Returns the chunk of a cell. The cell must have, or have had, a tenant. */
static inline struct slots_chunk *slots_chunk_of(const struct cell *cell)
{
    const struct cell *first = cell - (cell->identity & (SLOTS_CHUNK - 1));
    return (struct slots_chunk *)(uintptr_t)first - 1;
}

/**
 * Allocates the places of one kind for a chunk, if no other thread has done so meanwhile. Returns
 * the places, or NULL if there is no memory. Any thread.
 */
char *tr__slots_places_new(struct slots *slots, struct slots_chunk *chunk, unsigned kind);

/**
 * Returns the place of the kind `kind` that is beside a cell, or NULL if there is no memory. The
 * content of the place is undefined. Each cell has one place of each kind, and only the tenant of
 * the cell uses these places. Owner only.
 */
ATOM_INLINE void *slots_place_take(struct slots *slots, const struct cell *cell, unsigned kind)
{
    struct slots_chunk *chunk = slots_chunk_of(cell);
    /* pairs with tr__slots_places_new */
    char *places = atomptr_load(&chunk->places[kind], ATOM_ACQUIRE);
    if (__builtin_expect(!places, 0))
        places = tr__slots_places_new(slots, chunk, kind);
    if (!places)
        return NULL;
    size_t size = slots_place_size(kind);
    void *place = places + (cell->identity & (SLOTS_CHUNK - 1)) * size;
    poison_clear(place, size);
    return place;
}

/** Returns the receive timeout of an actor that has CELL_IDLES. Owner only. */
static inline struct cell_idle *slots_idle(const struct cell *cell)
{
    const struct slots_chunk *chunk = slots_chunk_of(cell);
    struct cell_idle *idles = atomptr_load(&chunk->places[SLOTS_PLACE_IDLE], ATOM_RELAXED);
    return idles + (cell->identity & (SLOTS_CHUNK - 1));
}

/** Returns the channels of an actor that has CELL_CHANNELS. Owner only. */
static inline struct cell_channels *slots_channels(const struct cell *cell)
{
    const struct slots_chunk *chunk = slots_chunk_of(cell);
    char *places = atomptr_load(&chunk->places[SLOTS_PLACE_CHANNELS], ATOM_RELAXED);
    return (struct cell_channels *)(void *)(places + (cell->identity & (SLOTS_CHUNK - 1)) *
                                                         SLOTS_CHANNELS_SIZE);
}

/** Whether `memory` is the place that belongs to this cell in the array of the kind `kind`. */
ATOM_INLINE bool slots_place_is_at(const struct cell *cell, const void *memory, unsigned kind)
{
    const struct slots_chunk *chunk = slots_chunk_of(cell);
    uintptr_t number = cell->identity & (SLOTS_CHUNK - 1);
    uintptr_t places = (uintptr_t)atomptr_load(&chunk->places[kind], ATOM_RELAXED);
    return (uintptr_t)memory - places == number * slots_place_size(kind) && places;
}

/** Returns in which kind of place beside the cell a state is, or -1 if it is in none. */
static inline int slots_place_index(const struct cell *cell, const void *memory)
{
    if (slots_place_is_at(cell, memory, SLOTS_PLACE_24))
        return SLOTS_PLACE_24;
    if (slots_place_is_at(cell, memory, SLOTS_PLACE_32))
        return SLOTS_PLACE_32;
    return slots_place_is_at(cell, memory, SLOTS_PLACE_64) ? SLOTS_PLACE_64 : -1;
}

/** Whether this memory is a place beside the cell. */
static inline bool slots_place_is(const struct cell *cell, const void *memory)
{
    return slots_place_index(cell, memory) >= 0;
}

/** Gives back a place of the kind `kind`. Its tenant does not use it any more. */
static inline void slots_place_give(const void *place, unsigned kind)
{
    poison_set(place, slots_place_size(kind));
}

/** Returns the slot of a cell, 0 for NULL. */
static inline uint32_t slots_number(const struct slots *slots, const struct cell *cell)
{
    return cell ? (uint32_t)cell->identity & slots->mask : 0;
}

#endif
