/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The chunks of a scratch.
 *
 * 1. Positions grow from the oldest chunk to the newest. A chunk's `begin` is the position at which
 *    the chunk became the newest one. The bytes of the previous chunk that are still unused then
 *    have no position.
 * 2. Every byte of a chunk that is not allocated is poisoned, and a spare chunk is poisoned whole.
 * 3. At position 0 there is at most one chunk, which has at most CHUNK_SIZE_MAX bytes, and no spare
 *    chunk.
 */
#include "mem/scratch.h"

#include <troupe/limits.h>

#include "mem/poison.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum {
    /* A page: the turns of most actors need less. */
    CHUNK_SIZE_FIRST = 4 * 1024,
    /*
     * The largest chunk that is kept between turns. In most turns no chunk for small pieces is
     * larger.
     */
    CHUNK_SIZE_MAX = 64 * 1024,
    /*
     * The largest chunk for the small pieces of a turn that needs much memory. When a chunk of this
     * size is freed, the C library gives it back to the kernel.
     */
    CHUNK_SIZE_LARGE = 1024 * 1024,
    TEXT_ALIGNMENT = 8,
};

struct scratch_chunk {
    struct scratch_chunk *older;
    size_t size; /* in bytes, including this header */
    size_t begin;
    size_t unused;
};

static_assert(sizeof(struct scratch_chunk) % SOURCE_ALIGNMENT == 0, "the first piece is aligned");

static size_t chunk_capacity(const struct scratch_chunk *chunk)
{
    return chunk->size - sizeof *chunk;
}

static void chunk_free(struct scratch *scratch, struct scratch_chunk *chunk)
{
    TR_ASSERT(scratch->bytes >= chunk->size);
    scratch->bytes -= chunk->size;
    poison_clear(chunk, chunk->size);
    (void)source_resize(&scratch->source, chunk, 0);
}

/* Makes `chunk` the current chunk. The caller must have set its position and links. */
static void scratch_use(struct scratch *scratch, struct scratch_chunk *chunk)
{
    scratch->newest = chunk;
    scratch->origin = (uintptr_t)(chunk + 1) - chunk->begin;
    scratch->limit = chunk->begin + chunk_capacity(chunk);
}

static void scratch_push(struct scratch *scratch, struct scratch_chunk *chunk)
{
    scratch->used = source_round(scratch->used); /* round, because the last piece may be a text */
    chunk->older = scratch->newest;
    chunk->begin = scratch->used;
    scratch_use(scratch, chunk);
}

/*
 * Compares `chunk` with the spare chunk. Keeps the larger one as the spare chunk, and frees the
 * other one.
 */
static void scratch_retire(struct scratch *scratch, struct scratch_chunk *chunk)
{
    poison_set(chunk + 1, chunk_capacity(chunk));
    bool is_better = !scratch->spare || scratch->spare->size < chunk->size;
    if (chunk->size > CHUNK_SIZE_MAX || !is_better) {
        chunk_free(scratch, chunk);
        return;
    }
    if (scratch->spare)
        chunk_free(scratch, scratch->spare);
    scratch->spare = chunk;
}

/*
 * Gets a chunk with space for `size` bytes: the spare chunk or, if that is too small, a new one.
 * Returns false when out of memory.
 */
static bool scratch_grow(struct scratch *scratch, size_t size)
{
    struct scratch_chunk *chunk = scratch->spare;
    if (chunk && chunk_capacity(chunk) >= size) {
        scratch->spare = NULL;
        scratch_push(scratch, chunk);
        return true;
    }
    size_t chunk_size = scratch->chunk_size;
    if (scratch->bytes > 2 * (size_t)CHUNK_SIZE_MAX)
        chunk_size = CHUNK_SIZE_LARGE;
    while (chunk_size < CHUNK_SIZE_MAX && chunk_size - sizeof *chunk < size)
        chunk_size *= 2;
    bool is_regular = chunk_size - sizeof *chunk >= size;
    if (!is_regular)
        chunk_size = sizeof *chunk + source_round(size);
    chunk = source_resize(&scratch->source, NULL, chunk_size);
    if (!chunk)
        return false;
    chunk->size = chunk_size;
    scratch->bytes += chunk_size;
    if (is_regular)
        scratch->chunk_size = chunk_size < CHUNK_SIZE_MAX ? chunk_size * 2 : CHUNK_SIZE_MAX;
    poison_set(chunk + 1, chunk_capacity(chunk));
    scratch_push(scratch, chunk);
    return true;
}

void tr__scratch_init(struct scratch *scratch, const struct memory_source *source)
{
    *scratch = (struct scratch){.source = *source, .chunk_size = CHUNK_SIZE_FIRST};
}

void tr__scratch_deinit(struct scratch *scratch)
{
    while (scratch->newest) {
        struct scratch_chunk *chunk = scratch->newest;
        scratch->newest = chunk->older;
        chunk_free(scratch, chunk);
    }
    if (scratch->spare)
        chunk_free(scratch, scratch->spare);
    TR_ASSERT(scratch->bytes == 0);
    struct memory_source source = scratch->source;
    tr__scratch_init(scratch, &source);
}

/* Returns `size` zeroed bytes at the current position. The position moves by `rounded` bytes. */
static inline void *scratch_take(struct scratch *scratch, size_t size, size_t rounded)
{
    TR_ASSERT(scratch->used <= scratch->limit);
    if (scratch->limit - scratch->used < rounded && !scratch_grow(scratch, rounded))
        return NULL;
    void *memory = (void *)(scratch->origin + scratch->used);
    scratch->used += rounded;
    poison_clear(memory, size);
    memset(memory, 0, size);
    return memory;
}

void *tr__scratch_alloc(struct scratch *scratch, size_t size)
{
    if (size > TR_ALLOC_MAX)
        return NULL;
    /* Rounding cannot exceed the limit, which is a multiple of SOURCE_ALIGNMENT. */
    if (scratch->used % SOURCE_ALIGNMENT)
        scratch->used = source_round(scratch->used);
    /* A piece of size 0 takes memory too, so that each piece has an address of its own. */
    return scratch_take(scratch, size, size > 0 ? source_round(size) : SOURCE_ALIGNMENT);
}

char *tr__scratch_text(struct scratch *scratch, size_t size)
{
    if (size > TR_ALLOC_MAX)
        return NULL;
    return scratch_take(scratch, size, (size + TEXT_ALIGNMENT - 1) & ~(size_t)(TEXT_ALIGNMENT - 1));
}

void tr__scratch_rewind(struct scratch *scratch, size_t mark)
{
    TR_ASSERT(mark <= scratch->used);
    while (scratch->newest && scratch->newest->begin >= mark) {
        struct scratch_chunk *chunk = scratch->newest;
        scratch->newest = chunk->older;
        scratch_retire(scratch, chunk);
    }
    scratch->used = mark;
    if (scratch->newest) {
        scratch_use(scratch, scratch->newest);
        poison_set((void *)(scratch->origin + mark), scratch->limit - mark);
    } else if (scratch->spare) {
        struct scratch_chunk *kept = scratch->spare;
        scratch->spare = NULL;
        scratch_push(scratch, kept);
    } else {
        scratch->origin = 0;
        scratch->limit = 0;
    }
}

bool tr__scratch_has(const struct scratch *scratch, const void *memory)
{
    for (const struct scratch_chunk *chunk = scratch->newest; chunk; chunk = chunk->older) {
        if ((uintptr_t)memory - (uintptr_t)chunk < chunk->size)
            return true;
    }
    return false;
}
