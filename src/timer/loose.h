/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Timers without a key, which are identified by a number.
 *
 * A number contains the place of an entry and the generation of the timer there. So the number
 * leads to its timer without a search. It never leads to another timer, because an entry whose
 * generations are used up is not used again. The entries of a slab are first taken in the order of
 * their addresses, so arming many timers writes memory in order. Each new slab is as large as all
 * others together. One empty slab is kept, and all others go back to the source.
 *
 * Timers of one actor that have the same context and nearby places form a run. The run has the
 * context, and the list of an actor is a list of its runs. A single timer is a run with one timer.
 *
 * There are no locks: only the worker of the actor may use its list and the pool.
 */
#ifndef TIMER_LOOSE_H
#define TIMER_LOOSE_H

#include "mem/source.h"
#include "timer/entry.h"

enum {
    LOOSE_SLAB_FIRST = 64, /* how many records the first slab has: 2.5 KiB */
    LOOSE_SLAB_BITS = 18,  /* the largest slab has 2^18 records: 10 MiB */
    /* with 2^18 records in each slab, 32 bits can just number all records */
    LOOSE_SLABS_MAX = 1 << 14,
    LOOSE_HOME_SHIFT = 32 + TIMER_GENERATION_BITS,
    LOOSE_GENERATION_END = (1 << TIMER_GENERATION_BITS) - 1, /* no number has this generation */
    /*
     * How many records a group has. All timers of a run are in one group, and `used` of the run has
     * a bit for each record of the group.
     */
    LOOSE_GROUP = 32,
};

/**
 * A run of timers. It takes the place of a record, and leaves the generation of that record
 * unchanged.
 */
struct timer_run {
    /* `mark` is the number of the first record in the group of the run */
    struct timer_context context;
    uint32_t state; /* the state of the record, of which only the generation is set */
    /* The number of the next run in the list of the actor; 0 for none. */
    uint32_t next;
    uint32_t previous;
    /* a bit for each record of the group: set if the record is a timer of this run */
    uint32_t used;
};

union loose_record {
    struct timer_entry entry;
    struct timer_run run;
};

struct loose_slab {
    union loose_record *records; /* NULL: there is no slab at this place */
    uint32_t size;
    uint32_t used;
    /*
     * the index of the first record that was never taken; the records from here to `size` are
     * called fresh
     */
    uint32_t fresh;
    /* The index of the first record whose memory is not resident yet. */
    uint32_t ready;
    /* the number of a free record, whose `run` leads to the next free one; 0 for none */
    uint32_t free;
    uint32_t open_next;     /* the place of the next slab with a record to take; 0 for none */
    uint32_t generation;    /* the generation of the fresh records */
    uint32_t generation_up; /* above the generations of all numbers that this place has given */
};

struct loose_pool {
    /*
     * The slabs by place. Place 0 is not used. The table never shrinks, so that numbers stay valid.
     */
    struct loose_slab *slabs;
    uint32_t places;
    uint32_t open; /* the place of a slab with a record to take; 0 for none */
    /* the place of the slab that was last left without timers; it may have timers again; 0 for
     * none */
    uint32_t empty;
    uint32_t spare; /* the number of a record that is kept for the next run; 0 for none */
    size_t made;    /* how many records all slabs have */
    struct memory_source source;
    /* every number of this pool contains this value, so that the numbers of different pools differ;
     * 0 at first */
    uint8_t home;
};

/** The timers of one actor. All zero is an empty list. */
struct loose_list {
    uint32_t first; /* the number of the first run; 0 for none */
    uint32_t count; /* how many timers there are */
};

/** Makes a pool without memory. Copies `source`. */
void tr__loose_init(struct loose_pool *pool, const struct memory_source *source);
/** Returns all memory to the source. Every list must be empty. */
void tr__loose_deinit(struct loose_pool *pool);
/** Frees the last empty slab and the spare run. Called before the worker sleeps. */
void tr__loose_trim(struct loose_pool *pool);
/** Returns the bytes taken from the source and not given back. */
size_t tr__loose_bytes(const struct loose_pool *pool);

/**
 * Adds a timer to a list and writes its number, which is not 0. The entry that this returns is
 * borrowed until the timer is removed. All timers of a list must have the same owner. Returns NULL
 * when out of memory; then nothing has changed.
 */
struct timer_entry *tr__loose_add(struct loose_list *list, struct loose_pool *pool,
                                  const tr_type *type, uint64_t value, uint32_t owner,
                                  uint64_t *number);

/**
 * Returns the timer with this number, in whatever list it is. Returns NULL if the timer is gone or
 * never existed.
 */
struct timer_entry *tr__loose_find(const struct loose_pool *pool, uint64_t number);

/** Returns a timer of a list; NULL if the list is empty. */
struct timer_entry *tr__loose_first(const struct loose_list *list, const struct loose_pool *pool);

/** Returns the next timer of the same list; NULL if there is none. */
struct timer_entry *tr__loose_after(const struct loose_pool *pool, const struct timer_entry *entry);

/** Returns the number of a timer. */
uint64_t tr__loose_number(const struct loose_pool *pool, const struct timer_entry *entry);

/** Removes and frees a timer of this list. The node of the timer must not be armed. Never fails. */
void tr__loose_remove(struct loose_list *list, struct loose_pool *pool, struct timer_entry *entry);

static inline union loose_record *loose_record_at(const struct loose_pool *pool, uint32_t number)
{
    uint32_t at = number & ((UINT32_C(1) << LOOSE_SLAB_BITS) - 1);
    return pool->slabs[number >> LOOSE_SLAB_BITS].records + at;
}

static inline const struct timer_context *loose_context(const struct loose_pool *pool,
                                                        const struct timer_entry *entry)
{
    return &loose_record_at(pool, entry->run)->run.context;
}

#endif
