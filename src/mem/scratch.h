/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory that lasts as long as a turn: an arena that only moves forward, and back to a mark.
 *
 * A worker embeds one. A turn takes a mark when it begins and resets to it when it ends, so turns
 * may nest; they end in the reverse order. A turn that parks and outlives later ones needs a
 * scratch of its own: none holds a pointer to itself, so it may be moved by assignment. At rest it
 * keeps one chunk of at most 64 KiB. One owner at a time, no locks.
 *
 * Positions, not addresses, mark a place: the bytes given before it. So a mark stays good when the
 * chunk that was kept is exchanged for a larger one.
 */
#ifndef MEM_SCRATCH_H
#define MEM_SCRATCH_H

#include "mem/source.h"

#include <stddef.h>
#include <stdint.h>

struct scratch_chunk;

struct scratch {
    size_t used;                  /* The position: the bytes given since the beginning. */
    size_t limit;                 /* The position at which the newest chunk is full. */
    uintptr_t origin;             /* A position in the newest chunk, plus this, is its address. */
    struct scratch_chunk *newest; /* Linked to the older ones; NULL before the first use. */
    struct scratch_chunk *spare;  /* The largest of what a reset to a mark within took away. */
    size_t chunk_size;            /* Of the next chunk. */
    size_t bytes;                 /* Taken from the source. */
    struct memory_source source;
};

/** Makes an empty scratch, which holds no memory. Copies `source`. */
void tr__scratch_init(struct scratch *scratch, const struct memory_source *source);

/** Gives all memory back. */
void tr__scratch_deinit(struct scratch *scratch);

/**
 * Gives `size` zeroed bytes, aligned to 16, until a reset to a mark taken before. NULL when out of
 * memory or over TR_ALLOC_MAX, nothing changed.
 */
void *tr__scratch_alloc(struct scratch *scratch, size_t size);

/** Takes back what was given since `mark`. tr__scratch_reset is the one to call. */
void tr__scratch_rewind(struct scratch *scratch, size_t mark);

/** The place to which a reset goes back. */
static inline size_t tr__scratch_mark(const struct scratch *scratch)
{
    return scratch->used;
}

/** Takes back what was given since `mark`. One compare when that is nothing. */
static inline void tr__scratch_reset(struct scratch *scratch, size_t mark)
{
    if (scratch->used != mark)
        tr__scratch_rewind(scratch, mark);
}

/** The bytes taken from the source and not given back. */
static inline size_t tr__scratch_bytes(const struct scratch *scratch)
{
    return scratch->bytes;
}

#endif
