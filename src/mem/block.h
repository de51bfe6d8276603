/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Blocks for the payloads of messages: a pool of one worker, by size classes.
 *
 * Blocks of a class come from slabs of 64 KiB and begin on a cache line. So two threads that have
 * neighbouring blocks do not share a cache line. Larger blocks come directly from the source. When
 * all blocks of a slab are back, the slab can serve any class. The pool keeps BLOCK_RESERVE_SLABS
 * such slabs, and returns further ones to the source. Take and give are a few loads and stores,
 * however much the pool holds.
 *
 * A pool has one owner at a time and no locks. A block may travel to other threads, but must be
 * given back to the pool that it was taken from. A pool must stay at its address.
 */
#ifndef MEM_BLOCK_H
#define MEM_BLOCK_H

#include "mem/source.h"

#include <stddef.h>
#include <stdint.h>

enum block_class {
    BLOCK_64,
    BLOCK_128,
    BLOCK_256,
    BLOCK_512,
    BLOCK_1024,
    BLOCK_CLASS_COUNT,
    /* a block of exactly the size that was asked for; aligned to 16 only */
    BLOCK_LARGE = BLOCK_CLASS_COUNT,
};

enum {
    /*
     * How many slabs a pool keeps although all their blocks are back: 1 MiB for each pool, which is
     * enough for one burst of messages.
     */
    BLOCK_RESERVE_SLABS = 16,
};

/** The largest block, 64 GiB: far above any use, and far below where sizes overflow. */
#define BLOCK_SIZE_MAX ((size_t)1 << 36)

struct slab;

struct block_pool {
    struct slab *open[BLOCK_CLASS_COUNT]; /* for each class: the slabs with a free block */
    /* slabs without a class and without used blocks; at most BLOCK_RESERVE_SLABS */
    struct slab *empty;
    size_t empty_count;
    size_t bytes_held; /* bytes taken from the source and not given back */
    /* blocks of all classes that were taken from the pool and not given back */
    size_t blocks_taken;
    struct memory_source source;
};

/** Makes an empty pool without memory. Copies `source`. */
void tr__block_init(struct block_pool *pool, const struct memory_source *source);

/** Returns all memory to the source. Every block must have been given back before. */
void tr__block_deinit(struct block_pool *pool);

/**
 * Returns a block of at least `size` bytes with undefined contents, and writes its class. Returns
 * NULL when out of memory, or if `size` is above BLOCK_SIZE_MAX; then nothing has changed.
 */
void *tr__block_take(struct block_pool *pool, size_t size, uint8_t *class_out);

/** Gives back a block of this pool. `size_class` must be the class with which it was taken. */
void tr__block_give(struct block_pool *pool, void *block, uint8_t size_class);

/** Returns every slab without used blocks to the source. */
void tr__block_trim(struct block_pool *pool);

/** Returns the bytes taken from the source and not given back. */
static inline size_t tr__block_bytes(const struct block_pool *pool)
{
    return pool->bytes_held;
}

/** Returns how many bytes of a block can be used. For all classes except BLOCK_LARGE. */
static inline size_t block_class_size(uint8_t size_class)
{
    return (size_t)64 << size_class;
}

#endif
