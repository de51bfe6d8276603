/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Timers without a key, which are identified by a number.
 *
 * A number contains the place of an entry and the generation of the timer in it. So the number leads to its timer
 * without a search, and never to another timer: an entry whose generations are used up is not reused. Entries are in
 * slabs in the order in which they were first taken, so arming many timers writes memory in order. Each new slab is as
 * large as all others together. Empty slabs go back to the source, except one.
 *
 * Timers of one actor that have the same context and nearby places form a run. The run has the
 * context, and an actor's list is a list of runs. A single timer is a run of one.
 *
 * There are no locks: only the worker of the actor may use its list and the pool.
 */
#ifndef TIMER_LOOSE_H
#define TIMER_LOOSE_H

#include "mem/source.h"
#include "timer/entry.h"

enum {
    LOOSE_SLAB_FIRST = 64,     /* Records of the first slab: 2.5 KiB. */
    LOOSE_SLAB_BITS = 18,      /* The largest slab has 2^18 records: 10 MiB. */
    LOOSE_SLABS_MAX = 1 << 14, /* With 2^18 records each, as many as 32 bits can number. */
    LOOSE_HOME_SHIFT = 32 + TIMER_GENERATION_BITS,
    LOOSE_GENERATION_END = (1 << TIMER_GENERATION_BITS) - 1, /* No number has this generation. */
    /*
     * number of records of a group; all timers of a run are in one group, and `used` has a bit for
     * each record
     */
    LOOSE_GROUP = 32,
};

/** A run of timers. It occupies a record, and leaves the generation of that record unchanged. */
struct timer_run {
    struct timer_context context; /* `mark` is the number of the first record of its group. */
    uint32_t state;               /* state of the record: only its generation */
    /* The next run in the list of its actor, as a number; 0 for none. */
    uint32_t next;
    uint32_t previous;
    uint32_t used; /* A bit for each record of the group that is a timer of this run. */
};

union loose_record {
    struct timer_entry entry;
    struct timer_run run;
};

struct loose_slab {
    union loose_record *records; /* NULL: there is no slab at this place. */
    uint32_t size;
    uint32_t used;
    uint32_t fresh; /* Records from here on were never taken. */
    /* Before the record at this index is taken, more memory is made resident. */
    uint32_t ready;
    uint32_t free;          /* Number of a free record, linked by `run`; 0 for none. */
    uint32_t open_next;     /* Place of the next slab with a free record; 0 for none. */
    uint32_t generation;    /* generation of fresh records */
    uint32_t generation_up; /* Above the generations of all numbers that this place has given. */
};

struct loose_pool {
    /* Place 0 is not used. The table never shrinks, so that numbers stay valid. */
    struct loose_slab *slabs;
    uint32_t places;
    uint32_t open;  /* Place of a slab with a free record; 0 for none. */
    uint32_t empty; /* Place of a slab that has no timers, or had none a while ago; 0 for none. */
    uint32_t spare; /* Number of a record that is kept for the next run; 0 for none. */
    size_t made;    /* Records in all slabs. */
    struct memory_source source;
    uint8_t home; /* Part of all numbers, so that numbers of different pools differ; 0 at first. */
};

/** The timers of one actor. All zero is an empty list. */
struct loose_list {
    uint32_t first; /* Number of a run; 0 for none. */
    uint32_t count; /* Number of timers. */
};

/** Makes a pool without memory. Copies `source`. */
void tr__loose_init(struct loose_pool *pool, const struct memory_source *source);
/** Gives all memory back. Every list must be empty. */
void tr__loose_deinit(struct loose_pool *pool);
/** Gives the last empty slab and the spare run back. Called before the worker sleeps. */
void tr__loose_trim(struct loose_pool *pool);
/** Returns the bytes taken from the source and not given back. */
size_t tr__loose_bytes(const struct loose_pool *pool);

/**
 * Adds a timer to a list and writes its number, which is not 0. The result is borrowed until it is
 * removed. All timers of a list have one owner. Returns NULL, with nothing changed, if out of
 * memory.
 */
struct timer_entry *tr__loose_add(struct loose_list *list, struct loose_pool *pool,
                                  const tr_type *type, uint64_t value, uint32_t owner,
                                  uint64_t *number);

/** Returns the timer of a number, in any list; NULL if it is gone or never existed. */
struct timer_entry *tr__loose_find(const struct loose_pool *pool, uint64_t number);

/** Returns a timer of a list, or NULL if it is empty. */
struct timer_entry *tr__loose_first(const struct loose_list *list, const struct loose_pool *pool);

/** Returns the next timer of its list, or NULL. */
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
