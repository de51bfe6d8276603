/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Layout of a slab.
 *
 *     | struct slab | unused | page | page | page | page, cut off |
 *
 * 1. A page is aligned to its size, although sources align to 16 only, and starts with a pointer to
 *    its slab. So the address of a block is enough to find its slab. The last page ends where the
 *    slab ends. Memory before the first page is never touched.
 * 2. Blocks that were never used are taken in the order of their addresses (`fresh`), so that a
 *    slab costs only the memory that was used. Blocks that came back are in a list, and are taken
 *    from there first.
 * 3. A slab with a free block (used < total) is in the list `open` of its class. A slab without a
 *    used block (used == 0) may be in the list `empty` instead. A full slab is in no list, because
 *    its blocks lead back to it.
 * 4. When used falls to 0, the slab leaves its class: it moves to `empty` or, if that is full, back to
 *    the source. But the only open slab of a class stays. Otherwise a single message that comes and
 *    goes would move a slab each time.
 */
#include "mem/block.h"

#include "mem/poison.h"

#include <assert.h>
#include <stdbool.h>

/*
 * Whether free blocks get a mark. The slow assertion that finds a block that is given back twice
 * needs it.
 */
#ifdef TR_DEBUG
enum { HAS_MARKS = 1 };
#else
enum { HAS_MARKS = 0 };
#endif

enum {
    SLAB_SIZE = 64 * 1024,
    SLAB_PAGE_SIZE = 16 * 1024,
    /* The header takes a cache line, so that every block begins on a cache line. */
    PAGE_HEADER_SIZE = 64,
};

struct page {
    struct slab *slab;
};

struct free_block {
    struct free_block *next;
    uint64_t mark; /* See HAS_MARKS. */
};

struct slab {
    struct slab *next;
    struct slab *previous; /* NULL for the first slab of `open`; not valid in the list `empty` */
    struct block_pool *pool;
    struct free_block *free;
    uintptr_t fresh; /* the address of the next block that was never taken */
    /* 32 bits are needed here: with 16 bits, take and give are 1.5 times as slow with clang 14 */
    uint32_t used;
    uint32_t total;
    uint8_t size_class;
};

struct large {
    size_t size;
    struct block_pool *pool;
};

static_assert(sizeof(struct large) == SOURCE_ALIGNMENT, "large blocks are aligned");
static_assert(sizeof(struct page) <= PAGE_HEADER_SIZE, "the header fits");

static uint8_t size_class_of(size_t size)
{
    if (size <= 64)
        return BLOCK_64;
    return (uint8_t)(58U - (unsigned)__builtin_clzll(size - 1));
}

/*
 * Returns the mark of a free block. The mark depends on the address of the block, so that a used
 * block hardly ever contains the mark by chance.
 */
static uint64_t free_mark(const struct free_block *block)
{
    return (uint64_t)(uintptr_t)block ^ UINT64_C(0xf4eeb10cf4eeb10c);
}

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(SLAB_PAGE_SIZE - 1);
}

static uintptr_t slab_end(const struct slab *slab)
{
    return (uintptr_t)slab + SLAB_SIZE;
}

static uintptr_t slab_first_page(const struct slab *slab)
{
    return page_of((uintptr_t)slab + sizeof *slab + SLAB_PAGE_SIZE - 1);
}

/* Returns how many blocks of `size` a page has. The end of the slab may cut the page off. */
static size_t page_block_count(const struct slab *slab, uintptr_t page, size_t size)
{
    uintptr_t end = page + SLAB_PAGE_SIZE < slab_end(slab) ? page + SLAB_PAGE_SIZE : slab_end(slab);
    return end < page + PAGE_HEADER_SIZE ? 0 : (end - page - PAGE_HEADER_SIZE) / size;
}

/* Prepares a slab for `size_class`. No block of the slab may be in use. */
static void slab_format(struct slab *slab, uint8_t size_class)
{
    TR_ASSERT(slab->used == 0);
    size_t size = block_class_size(size_class);
    size_t total = 0;
    for (uintptr_t page = slab_first_page(slab); page < slab_end(slab); page += SLAB_PAGE_SIZE)
        total += page_block_count(slab, page, size);
    slab->size_class = size_class;
    slab->total = (uint32_t)total;
    slab->free = NULL;
    slab->fresh = slab_first_page(slab) + PAGE_HEADER_SIZE;
}

/* Returns the next block that was never taken. The slab must have such a block. */
static void *slab_take_fresh(struct slab *slab)
{
    size_t size = block_class_size(slab->size_class);
    uintptr_t block = slab->fresh;
    uintptr_t page = page_of(block);
    if (block == page || block + size > page + SLAB_PAGE_SIZE) { /* This page is full. */
        if (block != page)
            page += SLAB_PAGE_SIZE;
        block = page + PAGE_HEADER_SIZE;
    }
    TR_ASSERT(block + size <= slab_end(slab));
    if (block == page + PAGE_HEADER_SIZE) {
        poison_clear((void *)page, sizeof(struct page));
        ((struct page *)page)->slab = slab;
    }
    slab->fresh = block + size;
    return (void *)block;
}

static void list_push(struct slab **list, struct slab *slab)
{
    slab->previous = NULL;
    slab->next = *list;
    if (slab->next)
        slab->next->previous = slab;
    *list = slab;
}

static void list_remove(struct slab **list, struct slab *slab)
{
    if (slab->previous)
        slab->previous->next = slab->next;
    else
        *list = slab->next;
    if (slab->next)
        slab->next->previous = slab->previous;
    slab->next = NULL;
    slab->previous = NULL;
}

static void slab_free(struct block_pool *pool, struct slab *slab)
{
    TR_ASSERT(slab->used == 0);
    TR_ASSERT(pool->bytes_held >= SLAB_SIZE);
    pool->bytes_held -= SLAB_SIZE;
    poison_clear(slab, SLAB_SIZE);
    (void)source_resize(&pool->source, slab, 0);
}

/*
 * Takes a slab without used blocks out of its class. The slab goes into the reserve or, if that is
 * full, back to the source.
 */
static void slab_empty(struct block_pool *pool, struct slab *slab)
{
    list_remove(&pool->open[slab->size_class], slab);
    if (pool->empty_count >= BLOCK_RESERVE_SLABS) {
        slab_free(pool, slab);
        return;
    }
    slab->next = pool->empty;
    pool->empty = slab;
    pool->empty_count++;
}

/* Opens a slab for `size_class`. Returns NULL if out of memory. */
static struct slab *slab_open(struct block_pool *pool, uint8_t size_class)
{
    struct slab *slab = pool->empty;
    if (slab) {
        TR_ASSERT(pool->empty_count > 0);
        pool->empty = slab->next;
        pool->empty_count--;
    } else {
        slab = source_resize(&pool->source, NULL, SLAB_SIZE);
        if (!slab)
            return NULL;
        pool->bytes_held += SLAB_SIZE;
        *slab = (struct slab){.pool = pool};
        poison_set(slab + 1, SLAB_SIZE - sizeof *slab);
    }
    slab_format(slab, size_class);
    list_push(&pool->open[size_class], slab);
    return slab;
}

static void *large_take(struct block_pool *pool, size_t size)
{
    if (size > BLOCK_SIZE_MAX)
        return NULL;
    struct large *large = source_resize(&pool->source, NULL, sizeof *large + size);
    if (!large)
        return NULL;
    *large = (struct large){.size = size, .pool = pool};
    pool->bytes_held += sizeof *large + size;
    return large + 1;
}

static void large_give(struct block_pool *pool, void *block)
{
    struct large *large = (struct large *)block - 1;
    TR_ASSERT(large->pool == pool);
    TR_ASSERT(pool->bytes_held >= sizeof *large + large->size);
    pool->bytes_held -= sizeof *large + large->size;
    large->pool = NULL;
    (void)source_resize(&pool->source, large, 0);
}

/* Adds a block of the slab to its free list. */
static void slab_push_free(struct slab *slab, void *memory)
{
    struct free_block *block = memory;
    if (HAS_MARKS)
        block->mark = free_mark(block);
    block->next = slab->free;
    slab->free = block;
    poison_set(block, block_class_size(slab->size_class));
}

/* Ends the process if `block` is free, or was not taken from this pool with this class. */
static void block_check(const struct block_pool *pool, const void *block, uint8_t size_class)
{
    uintptr_t page = page_of((uintptr_t)block);
    uintptr_t offset = (uintptr_t)block - page - PAGE_HEADER_SIZE;
    /* use a mask, because % would be a division */
    TR_ASSERT((offset & (block_class_size(size_class) - 1)) == 0);
    const struct slab *slab = ((const struct page *)page)->slab;
    TR_ASSERT(slab->pool == pool);
    TR_ASSERT(slab->size_class == size_class);
    TR_ASSERT(slab->used > 0);
    TR_ASSERT(!poison_is_set(block));
    TR_ASSERT_SLOW(((const struct free_block *)block)->mark != free_mark(block));
}

void tr__block_init(struct block_pool *pool, const struct memory_source *source)
{
    *pool = (struct block_pool){.source = *source};
}

void tr__block_deinit(struct block_pool *pool)
{
    TR_ASSERT(pool->blocks_taken == 0);
    tr__block_trim(pool);
    TR_ASSERT(pool->bytes_held == 0);
}

void *tr__block_take(struct block_pool *pool, size_t size, uint8_t *class_out)
{
    if (size > block_class_size(BLOCK_1024)) {
        void *large = large_take(pool, size);
        if (large) {
            pool->blocks_taken++;
            *class_out = BLOCK_LARGE;
        }
        return large;
    }
    uint8_t size_class = size_class_of(size);
    struct slab *slab = pool->open[size_class];
    if (!slab) {
        slab = slab_open(pool, size_class);
        if (!slab)
            return NULL;
    }
    struct free_block *block = slab->free;
    if (block) {
        poison_clear(block, block_class_size(size_class));
        slab->free = block->next;
    } else {
        block = slab_take_fresh(slab);
        poison_clear(block, block_class_size(size_class));
    }
    if (HAS_MARKS)
        /* needed for a fresh block too, because its memory may have been a free block before */
        block->mark = 0;
    slab->used++;
    if (slab->used == slab->total)
        list_remove(&pool->open[size_class], slab);
    pool->blocks_taken++;
    *class_out = size_class;
    return block;
}

void tr__block_give(struct block_pool *pool, void *block, uint8_t size_class)
{
    TR_ASSERT(size_class <= BLOCK_LARGE);
    TR_ASSERT(pool->blocks_taken > 0);
    if (size_class == BLOCK_LARGE) {
        large_give(pool, block);
        pool->blocks_taken--;
        return;
    }
    block_check(pool, block, size_class);
    pool->blocks_taken--;
    struct slab *slab = ((struct page *)page_of((uintptr_t)block))->slab;
    slab_push_free(slab, block);
    if (slab->used == slab->total)
        list_push(&pool->open[size_class], slab);
    slab->used--;
    if (slab->used == 0 && (slab->next || slab->previous))
        slab_empty(pool, slab);
}

void tr__block_trim(struct block_pool *pool)
{
    while (pool->empty) {
        struct slab *slab = pool->empty;
        pool->empty = slab->next;
        pool->empty_count--;
        slab_free(pool, slab);
    }
    TR_ASSERT(pool->empty_count == 0);
    for (uint8_t size_class = 0; size_class < BLOCK_CLASS_COUNT; size_class++) {
        struct slab *slab = pool->open[size_class];
        while (slab) {
            struct slab *next = slab->next;
            if (slab->used == 0) {
                list_remove(&pool->open[size_class], slab);
                slab_free(pool, slab);
            }
            slab = next;
        }
    }
}
