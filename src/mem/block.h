/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Blocks for the payloads of messages: a pool of one worker, by size classes.
 *
 * Blocks of a class come from slabs of 64 KiB and begin on a cache line of their own, so that two
 * threads that hold neighbours do not share one. Larger ones come straight from the source. A slab
 * whose blocks are all back serves any class; beyond BLOCK_RESERVE_SLABS of them, it goes back to
 * the source. Take and give are a few loads and stores; none depends on how much the pool holds.
 *
 * A pool has one owner at a time and no locks. A block may travel, but it is given to the pool that
 * it was taken from: whoever ends up with it routes it home. A pool stays where it was made.
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
    /* Has the size that was asked for; aligned to 16 only. */
    BLOCK_LARGE = BLOCK_CLASS_COUNT,
};

enum {
    /* Slabs kept although all their blocks are back: 1 MiB per pool, one burst of messages. */
    BLOCK_RESERVE_SLABS = 16,
};

/** The largest block, 64 GiB: far above any use, and far below where sizes wrap. */
#define BLOCK_SIZE_MAX ((size_t)1 << 36)

struct slab;

struct block_pool {
    struct slab *open[BLOCK_CLASS_COUNT]; /* Slabs of the class with a block to take. */
    struct slab *empty;                   /* Slabs of no class: at most BLOCK_RESERVE_SLABS. */
    size_t empty_count;
    size_t bytes_held;   /* Taken from the source. */
    size_t blocks_taken; /* Taken from the pool and not given back, of all classes. */
    struct memory_source source;
};

/** Makes an empty pool, which holds no memory. Copies `source`. */
void tr__block_init(struct block_pool *pool, const struct memory_source *source);

/** Gives all memory back. Every block has been given back before. */
void tr__block_deinit(struct block_pool *pool);

/**
 * Gives a block of at least `size` bytes, of any content, and says its class. NULL when out of
 * memory or over BLOCK_SIZE_MAX, nothing changed.
 */
void *tr__block_take(struct block_pool *pool, size_t size, uint8_t *class_out);

/** Takes back a block of this pool, with the class it was taken with. */
void tr__block_give(struct block_pool *pool, void *block, uint8_t size_class);

/** Gives every slab that has no block out back to the source. */
void tr__block_trim(struct block_pool *pool);

/** The bytes taken from the source and not given back. */
static inline size_t tr__block_bytes(const struct block_pool *pool)
{
    return pool->bytes_held;
}

/** The usable bytes of a block of a class other than BLOCK_LARGE. */
static inline size_t block_class_size(uint8_t size_class)
{
    return (size_t)64 << size_class;
}

#endif
