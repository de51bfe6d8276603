/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Timers without a key, which are known by a number: where they are, and whose.
 *
 * A number is the place of an entry and the generation of its tenant, so it leads to its timer
 * without a search, and never to another: an entry whose generations are used up is given up.
 * Entries lie in slabs in the order in which they were first taken, so arming many writes memory in
 * order. Slabs grow with the pool and go back to the source when they are empty, all but one.
 *
 * One owner at a time and no locks, as timer/keys.h.
 */
#ifndef TIMER_LOOSE_H
#define TIMER_LOOSE_H

#include "mem/source.h"
#include "timer/entry.h"

enum {
    LOOSE_SLAB_FIRST = 64,     /* Entries of the first slab: 4 KiB. */
    LOOSE_SLAB_BITS = 18,      /* The largest has 2^18: 16 MiB, most of it in huge pages. */
    LOOSE_SLABS_MAX = 1 << 14, /* With 2^18 entries each, all that 32 bits can number. */
    LOOSE_HOME_SHIFT = 32 + TIMER_GENERATION_BITS,
    LOOSE_GENERATION_END = (1 << TIMER_GENERATION_BITS) - 1, /* No number has it. */
};

struct loose_slab {
    struct timer_entry *entries; /* NULL: there is none at this place. */
    void *memory;                /* What the source gave; `entries` are aligned inside it. */
    uint32_t size;
    uint32_t used;
    uint32_t fresh;         /* Entries from here on were never taken. */
    uint32_t free;          /* Number of an entry, linked by loose.next; 0 for none. */
    uint32_t open_next;     /* Place of the next slab that has room; 0 for none. */
    uint32_t generation;    /* Of fresh entries. */
    uint32_t generation_up; /* Above those of all numbers that this place has given. */
};

struct loose_pool {
    struct loose_slab *slabs; /* Place 0 is not used. Never fewer places, so that numbers stay. */
    uint32_t places;
    uint32_t open;  /* Place of a slab that has room; 0 for none. */
    uint32_t empty; /* Place of a slab that has no timers, or had none; 0 for none. */
    size_t made;    /* Entries in all slabs. */
    struct memory_source source;
    uint8_t home; /* Part of all numbers, so that those of several pools differ; 0 at first. */
};

/** The timers of one actor. Zeroes are none. */
struct loose_list {
    uint32_t first; /* Number of an entry; 0 for none. */
    uint32_t count;
};

/** Makes a pool that holds no memory. Copies `source`. */
void tr__loose_init(struct loose_pool *pool, const struct memory_source *source);
/** Gives all memory back. Every list is empty. */
void tr__loose_deinit(struct loose_pool *pool);
/** Gives the last empty slab back. Before the worker sleeps. */
void tr__loose_trim(struct loose_pool *pool);
/** The bytes taken from the source and not given back. */
size_t tr__loose_bytes(const struct loose_pool *pool);

/**
 * Adds a timer to a list and says its number, which is not 0; borrowed until it is removed. NULL
 * when out of memory, nothing changed.
 */
struct timer_entry *tr__loose_add(struct loose_list *list, struct loose_pool *pool,
                                  uint64_t *number);

/** The timer of a number, in whatever list; NULL when it is gone, or never was. */
struct timer_entry *tr__loose_find(const struct loose_pool *pool, uint64_t number);

/** A timer of a list, or NULL when it has none. */
struct timer_entry *tr__loose_first(const struct loose_list *list, const struct loose_pool *pool);

/** The next one of its list, or NULL. */
struct timer_entry *tr__loose_after(const struct loose_pool *pool, const struct timer_entry *entry);
/** The number of the first one; the list has one. */
uint64_t tr__loose_number(const struct loose_list *list, const struct loose_pool *pool);

/** Removes and frees a timer of this list whose node is not armed. Never fails. */
void tr__loose_remove(struct loose_list *list, struct loose_pool *pool, struct timer_entry *entry);

#endif
