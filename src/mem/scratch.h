/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory that lasts as long as a turn: an arena that only moves forward, and back to a mark.
 *
 * A worker embeds one scratch. A turn takes a mark when it begins and resets to it when it ends, so turns may nest;
 * they end in reverse order. A turn that parks and outlives later turns needs a scratch of its own. A scratch has no
 * pointer to itself, so it may be moved by assignment. Between turns it keeps one chunk of at most 64 KiB. One owner at
 * a time, no locks.
 *
 * A mark is a position and not an address: the number of bytes allocated before it. So a mark stays
 * valid when the kept chunk is exchanged for a larger one.
 */
#ifndef MEM_SCRATCH_H
#define MEM_SCRATCH_H

#include "mem/source.h"

#include <stddef.h>
#include <stdint.h>

struct scratch_chunk;

struct scratch {
    size_t used;  /* The position: bytes allocated since the beginning. */
    size_t limit; /* The position at which the newest chunk is full. */
    /* The address of a position in the newest chunk is the position plus this. */
    uintptr_t origin;
    /* the newest chunk, linked to the older ones; NULL before the first use */
    struct scratch_chunk *newest;
    struct scratch_chunk *spare; /* The largest chunk that a reset to an inner mark removed. */
    size_t chunk_size;           /* size of the next chunk */
    size_t bytes;                /* bytes taken from the source */
    struct memory_source source;
};

/** Makes an empty scratch without memory. Copies `source`. */
void tr__scratch_init(struct scratch *scratch, const struct memory_source *source);

/** Gives all memory back. */
void tr__scratch_deinit(struct scratch *scratch);

/**
 * Returns `size` zeroed bytes, aligned to 16, valid until a reset to an earlier mark. Returns NULL,
 * with nothing changed, if out of memory or above TR_ALLOC_MAX.
 */
void *tr__scratch_alloc(struct scratch *scratch, size_t size);

/** As tr__scratch_alloc, for a text: aligned to 8 only, so that many short texts take less memory. */
char *tr__scratch_text(struct scratch *scratch, size_t size);

/** The slow path of tr__scratch_reset; call that instead. */
void tr__scratch_rewind(struct scratch *scratch, size_t mark);

/** Returns the current position, for tr__scratch_reset. */
static inline size_t tr__scratch_mark(const struct scratch *scratch)
{
    return scratch->used;
}

/** Frees what was allocated since `mark`. Costs one comparison if nothing was allocated. */
static inline void tr__scratch_reset(struct scratch *scratch, size_t mark)
{
    if (scratch->used != mark)
        tr__scratch_rewind(scratch, mark);
}

/** Returns the bytes taken from the source and not given back. */
static inline size_t tr__scratch_bytes(const struct scratch *scratch)
{
    return scratch->bytes;
}

#endif
