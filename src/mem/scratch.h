/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory that lasts as long as a turn: an arena, in which each allocation moves a position forward,
 * and a reset moves the position back to a mark.
 *
 * A worker embeds one scratch. A turn takes a mark when it begins, and resets the scratch to this
 * mark when it ends. So turns may be inside each other, and the inner turn ends first. A turn that
 * parks outlives later turns, so it needs a scratch of its own. A scratch has no pointer to itself,
 * so it may be moved by assignment. Between turns a scratch keeps one chunk of at most 64 KiB. A
 * scratch has one owner at a time, and no locks.
 *
 * A mark is a position and not an address: the number of bytes that were allocated before it. So a
 * mark stays valid when the chunk that is kept is exchanged for a larger one.
 */
#ifndef MEM_SCRATCH_H
#define MEM_SCRATCH_H

#include "mem/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scratch_chunk;

struct scratch {
    size_t used;  /* the position: how many bytes were allocated since the beginning */
    size_t limit; /* the position at which the newest chunk is full */
    /* In the newest chunk, an address is the position plus this number. */
    uintptr_t origin;
    /* the newest chunk, which has a link to the one before; NULL before the first use */
    struct scratch_chunk *newest;
    /*
     * the largest chunk that a reset to a mark above 0 has emptied; used again when more is needed
     */
    struct scratch_chunk *spare;
    size_t chunk_size; /* size of the next chunk */
    size_t bytes;      /* how many bytes were taken from the source and not given back */
    struct memory_source source;
};

/** Makes an empty scratch without memory. Copies `source`. */
void tr__scratch_init(struct scratch *scratch, const struct memory_source *source);

/** Returns all memory to the source. */
void tr__scratch_deinit(struct scratch *scratch);

/**
 * Returns `size` zeroed bytes, aligned to 16, which are valid until a reset to an earlier mark.
 * Returns NULL when out of memory, or if `size` is above TR_ALLOC_MAX; then nothing has changed.
 */
void *tr__scratch_alloc(struct scratch *scratch, size_t size);

/**
 * As tr__scratch_alloc, but for a text: aligned to 8 only, so that many short texts take less
 * memory.
 */
char *tr__scratch_text(struct scratch *scratch, size_t size);

/** The slow path of tr__scratch_reset. To be called by tr__scratch_reset only. */
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

/** Whether `memory` is in a chunk of this scratch. It may be any address. */
bool tr__scratch_has(const struct scratch *scratch, const void *memory);

/** Returns the bytes taken from the source and not given back. */
static inline size_t tr__scratch_bytes(const struct scratch *scratch)
{
    return scratch->bytes;
}

#endif
