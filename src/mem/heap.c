/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Layout of a heap.
 *
 *     first chunk: | struct heap | header block | header block | ... | unused |
 *     other chunk: | struct chunk, 8 bytes | header block | ... | unused |
 *     large block: | struct large, with its header | block |
 *
 * 1. A header is the 8 bytes before its block, and a block is aligned to 16. So `fresh`, where the
 *    next header will be, is 8 bytes after a multiple of 16. A stride is the size of a block with
 *    its header, and is a multiple of 16.
 * 2. The seal in a header is the seal of the heap while the block is in use, and its complement
 *    while the block is free. So the heap notices at once when a block is freed twice, and when a
 *    block belongs to another heap.
 * 3. Headers, free blocks, and the bytes between the size of a block and its stride are poisoned. A
 *    free block starts with the link to the next free block of its class.
 */
#include "mem/heap.h"

#include <troupe/limits.h>

#include "mem/poison.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum {
    HEADER_SIZE = 8,
    /* The first chunk is small, because most actors allocate little. It has space for four blocks of 64 bytes. */
    CHUNK_SIZE_FIRST = 512,
    CHUNK_SIZE_MAX = 16 * 1024,
    /*
     * Size classes: four strides that are 16 apart, then two strides for each doubling. Each stride
     * is 16 larger than a power of two, or than the middle between two powers of two. So a block of
     * such a size fits with its header of 8 bytes.
     */
    CLASSES_LINEAR = 4,
    CLASS_COUNT = 14,
    CLASS_LARGE = CLASS_COUNT,
    SMALL_MAX = 2048 + 16 - HEADER_SIZE,
};

static const uint16_t strides[CLASS_COUNT] = {
    32, 48, 64, 80, 112, 144, 208, 272, 400, 528, 784, 1040, 1552, 2064};

struct header {
    uint32_t seal;
    uint16_t size; /* requested size of a small block */
    uint8_t size_class;
    uint8_t is_array; /* 1 if tr__heap_mark_array has marked the block, otherwise 0 */
};

struct large {
    struct large *next;
    struct large *previous; /* NULL for the first large block */
    size_t size;
    struct header header;
};

struct chunk {
    struct chunk *next;
    size_t size;
};

struct free_block {
    struct free_block *next;
};

struct cleaner {
    struct cleaner *next; /* the cleaner that was registered before this one */
    void *resource;
    void (*release)(void *resource);
};

struct heap {
    struct chunk first; /* first.next is the newest chunk */
    struct large *large;
    struct cleaner *cleaners;
    char *fresh; /* the first byte that no block has used yet; there are `fresh_size` such bytes */
    size_t fresh_size;
    size_t bytes;
    uint32_t seal;
    uint32_t chunk_size; /* size of the next chunk */
    struct free_block *free[CLASS_COUNT];
};

static_assert(sizeof(struct header) == HEADER_SIZE, "the header is what the layout says");
static_assert(sizeof(struct large) % SOURCE_ALIGNMENT == 0, "large blocks are aligned");
static_assert(sizeof(struct heap) % SOURCE_ALIGNMENT == 0, "the first header follows the heap");
static_assert(sizeof(struct heap) + HEADER_SIZE + 4 * 80 <= CHUNK_SIZE_FIRST, "four fit");

/* Returns the class of a small size. */
static unsigned size_class_of(size_t size)
{
    /* minus 1, so that a size that just fills a stride gets the class of this stride */
    size_t units = size <= HEADER_SIZE ? 0 : size - HEADER_SIZE - 1;
    if (units < CLASSES_LINEAR * SOURCE_ALIGNMENT)
        return (unsigned)(units / SOURCE_ALIGNMENT);
    unsigned log2 = 63U - (unsigned)__builtin_clzll(units);
    unsigned is_upper_half = (unsigned)(units >> (log2 - 1)) & 1U;
    return CLASSES_LINEAR + 2 * (log2 - 6) + is_upper_half;
}

static size_t class_capacity(unsigned size_class)
{
    return (size_t)strides[size_class] - HEADER_SIZE;
}

static struct header *header_of(const void *memory)
{
    return (struct header *)((uintptr_t)memory - HEADER_SIZE);
}

/*
 * Returns a copy of the header of a block in use. If `memory` is no such block of this heap, ends
 * the process.
 */
static struct header header_check(const struct heap *heap, const void *memory)
{
    TR_ASSERT(heap != NULL);
    TR_ASSERT((uintptr_t)memory % SOURCE_ALIGNMENT == 0);
    struct header *header = header_of(memory);
    poison_clear(header, HEADER_SIZE);
    struct header copy = *header;
    poison_set(header, HEADER_SIZE);
    TR_ASSERT(copy.seal == heap->seal);
    TR_ASSERT(copy.size_class <= CLASS_LARGE);
    return copy;
}

static void header_write(void *memory, struct header header)
{
    poison_clear(header_of(memory), HEADER_SIZE);
    *header_of(memory) = header;
    poison_set(header_of(memory), HEADER_SIZE);
}

/* Sets the size of a small block. The bytes of its stride after this size may not be used. */
static void small_resize(struct heap *heap, void *memory, unsigned size_class, size_t size)
{
    TR_ASSERT(heap != NULL);
    poison_clear(memory, size);
    poison_set((char *)memory + size, class_capacity(size_class) - size);
    header_write(memory,
                 (struct header){
                     .seal = heap->seal,
                     .size = (uint16_t)size,
                     .size_class = (uint8_t)size_class,
                 });
}

static void small_push_free(struct heap *heap, void *memory, unsigned size_class)
{
    header_write(memory, (struct header){.seal = ~heap->seal, .size_class = (uint8_t)size_class});
    struct free_block *block = memory;
    poison_clear(block, sizeof *block);
    block->next = heap->free[size_class];
    heap->free[size_class] = block;
    poison_set(memory, class_capacity(size_class));
}

/* Takes a block from the fresh memory of the newest chunk. */
static void *fresh_take(struct heap *heap, unsigned size_class)
{
    TR_ASSERT(heap->fresh_size >= strides[size_class]);
    char *memory = heap->fresh + HEADER_SIZE;
    heap->fresh += strides[size_class];
    heap->fresh_size -= strides[size_class];
    return memory;
}

/*
 * Turns the unused rest of a chunk into free blocks, the largest first. Called before another chunk
 * is used.
 */
static void fresh_retire(struct heap *heap)
{
    for (unsigned size_class = CLASS_COUNT; size_class-- > 0;) {
        while (heap->fresh_size >= strides[size_class])
            small_push_free(heap, fresh_take(heap, size_class), size_class);
    }
}

/*
 * Returns `size` or a larger size for a chunk. In a chunk of this size, a block of `stride` fits
 * after `used` bytes.
 */
static size_t chunk_size_for(size_t size, size_t used, size_t stride)
{
    while (size < used + HEADER_SIZE + stride)
        size *= 2;
    return size;
}

/*
 * Allocates the next chunk, in which a block of `stride` fits after `used` bytes. Poisons the bytes
 * after `used`.
 */
static struct chunk *chunk_new(const struct memory_source *source, size_t size, size_t used,
                               size_t stride)
{
    size = chunk_size_for(size, used, stride);
    struct chunk *chunk = source_resize(source, NULL, size);
    if (!chunk)
        return NULL;
    chunk->next = NULL;
    chunk->size = size;
    poison_set((char *)chunk + used, size - used);
    return chunk;
}

static void chunk_free(const struct memory_source *source, struct chunk *chunk)
{
    poison_clear(chunk, chunk->size);
    (void)source_resize(source, chunk, 0);
}

/* Makes the bytes of a chunk after `used` the fresh memory of the heap. */
static void heap_use_chunk(struct heap *heap, struct chunk *chunk, size_t used)
{
    heap->fresh = (char *)chunk + used + HEADER_SIZE;
    heap->fresh_size = chunk->size - used - HEADER_SIZE;
    heap->bytes += chunk->size;
    size_t next_size = chunk->size * 2;
    heap->chunk_size = next_size < CHUNK_SIZE_MAX ? (uint32_t)next_size : CHUNK_SIZE_MAX;
}

/* Makes a heap. A block of `stride` fits into its first chunk. */
static struct heap *heap_new(const struct memory_source *source, size_t stride)
{
    struct chunk *chunk = chunk_new(source, CHUNK_SIZE_FIRST, sizeof(struct heap), stride);
    if (!chunk)
        return NULL;
    struct heap *heap = (struct heap *)chunk;
    *heap = (struct heap){.first = *chunk};
    /*
     * The seal is made from the address of the heap by a multiplication, because the addresses of
     * heaps differ in few bits only.
     */
    heap->seal = (uint32_t)(((uintptr_t)heap * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    heap_use_chunk(heap, chunk, sizeof *heap);
    return heap;
}

/*
 * Makes a small block from fresh memory, because no block of its class is free. Returns NULL when
 * out of memory.
 */
static void *small_new(struct heap **heap, const struct memory_source *source, unsigned size_class)
{
    if (!*heap) {
        *heap = heap_new(source, strides[size_class]);
        if (!*heap)
            return NULL;
    }
    if ((*heap)->fresh_size < strides[size_class]) {
        struct chunk *chunk =
            chunk_new(source, (*heap)->chunk_size, sizeof(struct chunk), strides[size_class]);
        if (!chunk)
            return NULL;
        fresh_retire(*heap);
        chunk->next = (*heap)->first.next;
        (*heap)->first.next = chunk;
        heap_use_chunk(*heap, chunk, sizeof *chunk);
    }
    return fresh_take(*heap, size_class);
}

static void *small_alloc(struct heap **heap, const struct memory_source *source, size_t size)
{
    unsigned size_class = size_class_of(size);
    void *memory;
    if (*heap && (*heap)->free[size_class]) {
        struct free_block *block = (*heap)->free[size_class];
        poison_clear(block, sizeof *block);
        (*heap)->free[size_class] = block->next;
        memory = block;
    } else {
        memory = small_new(heap, source, size_class);
        if (!memory)
            return NULL;
    }
    small_resize(*heap, memory, size_class, size);
    memset(memory, 0, size);
    return memory;
}

static struct large *large_of(void *memory)
{
    return (struct large *)((char *)memory - sizeof(struct large));
}

/*
 * Links a block that is new, or that the source has moved. The links of the block name its
 * neighbours already. This function makes the links of the neighbours point to the block.
 */
static void large_link(struct heap *heap, struct large *large)
{
    TR_ASSERT(heap != NULL);
    if (large->previous)
        large->previous->next = large;
    else
        heap->large = large;
    if (large->next)
        large->next->previous = large;
}

static void *large_alloc(struct heap **heap, const struct memory_source *source, size_t size)
{
    struct large *large = source_resize(source, NULL, sizeof *large + size);
    if (!large)
        return NULL;
    if (!*heap) {
        *heap = heap_new(source, 0);
        if (!*heap) {
            (void)source_resize(source, large, 0);
            return NULL;
        }
    }
    large->next = (*heap)->large;
    large->previous = NULL;
    large->size = size;
    large_link(*heap, large);
    (*heap)->bytes += sizeof *large + size;
    void *memory = large + 1;
    header_write(memory, (struct header){.seal = (*heap)->seal, .size_class = CLASS_LARGE});
    memset(memory, 0, size);
    return memory;
}

static void *large_realloc(struct heap *heap, const struct memory_source *source, void *memory,
                           size_t size)
{
    struct large *large = large_of(memory);
    size_t old_size = large->size;
    poison_clear(&large->header, HEADER_SIZE); /* the source may copy the header, so unpoison it */
    struct large *resized = source_resize(source, large, sizeof *large + size);
    if (!resized) {
        poison_set(&large->header, HEADER_SIZE);
        if (size > old_size)
            return NULL;
        /*
         * The memory of the block keeps its size. Zero the part that is cut off now, because it
         * must be zero if the block grows again.
         */
        memset((char *)memory + size, 0, old_size - size);
        return memory;
    }
    resized->size = size;
    resized->header.is_array = 0;
    large_link(heap, resized);
    heap->bytes = heap->bytes - old_size + size;
    memory = resized + 1;
    if (size > old_size)
        memset((char *)memory + old_size, 0, size - old_size);
    poison_set(&resized->header, HEADER_SIZE);
    return memory;
}

static void large_free(struct heap *heap, const struct memory_source *source, void *memory)
{
    struct large *large = large_of(memory);
    if (large->previous)
        large->previous->next = large->next;
    else
        heap->large = large->next;
    if (large->next)
        large->next->previous = large->previous;
    TR_ASSERT(heap->bytes >= sizeof *large + large->size);
    heap->bytes -= sizeof *large + large->size;
    poison_clear(&large->header, HEADER_SIZE);
    large->header.seal = ~heap->seal;
    (void)source_resize(source, large, 0);
}

/* Frees a block whose header is known. */
static void block_free(struct heap *heap, const struct memory_source *source, void *memory,
                       unsigned size_class)
{
    if (size_class == CLASS_LARGE)
        large_free(heap, source, memory);
    else
        small_push_free(heap, memory, size_class);
}

void *tr__heap_alloc(struct heap **heap, const struct memory_source *source, size_t size)
{
    if (size <= SMALL_MAX)
        return small_alloc(heap, source, size);
    if (size > TR_ALLOC_MAX)
        return NULL;
    return large_alloc(heap, source, size);
}

void *tr__heap_realloc(struct heap **heap, const struct memory_source *source, void *memory,
                       size_t size)
{
    if (!memory)
        return tr__heap_alloc(heap, source, size);
    struct header header = header_check(*heap, memory);
    if (size > TR_ALLOC_MAX)
        return NULL;
    if (header.size_class == CLASS_LARGE && size > SMALL_MAX)
        return large_realloc(*heap, source, memory, size);

    bool is_small = header.size_class != CLASS_LARGE;
    size_t old_size = is_small ? header.size : large_of(memory)->size;
    void *moved = NULL;
    if (!is_small || size > SMALL_MAX || size_class_of(size) != header.size_class) {
        moved = tr__heap_alloc(heap, source, size);
        if (!moved && size > old_size)
            return NULL;
    }
    if (moved) {
        memcpy(moved, memory, size < old_size ? size : old_size);
        block_free(*heap, source, memory, header.size_class);
        return moved;
    }
    if (!is_small) /* if there is no memory for a smaller copy, the block stays where it is */
        return large_realloc(*heap, source, memory, size);
    small_resize(*heap, memory, header.size_class, size);
    if (size > old_size)
        memset((char *)memory + old_size, 0, size - old_size);
    return memory;
}

void tr__heap_free(struct heap **heap, const struct memory_source *source, void *memory)
{
    if (!memory)
        return;
    struct header header = header_check(*heap, memory);
    block_free(*heap, source, memory, header.size_class);
}

/* ---- Arrays. ---- */

void tr__heap_mark_array(const struct heap *heap, void *memory)
{
    struct header header = header_check(heap, memory);
    header.is_array = 1;
    header_write(memory, header);
}

/*
 * Returns the large block at `memory`, and moves the block to the front of the list, because it
 * will soon be looked up again.
 */
static struct large *large_find(struct heap *heap, const void *memory)
{
    struct large *large = heap->large;
    while (large && (const void *)(large + 1) != memory)
        large = large->next;
    if (!large || !large->previous)
        return large;
    large->previous->next = large->next;
    if (large->next)
        large->next->previous = large->previous;
    large->next = heap->large;
    large->previous = NULL;
    large_link(heap, large);
    return large;
}

/*
 * Whether `memory` is an address in a chunk where a small block could begin. Moves that chunk to
 * the front of the list.
 */
static bool is_in_chunk(struct heap *heap, const void *memory)
{
    uintptr_t at = (uintptr_t)memory;
    uintptr_t begin = (uintptr_t)heap + sizeof *heap + HEADER_SIZE;
    if (at >= begin && at - begin < heap->first.size - sizeof *heap - HEADER_SIZE)
        return true;
    struct chunk *before = &heap->first;
    for (struct chunk *chunk = before->next; chunk; before = chunk, chunk = chunk->next) {
        begin = (uintptr_t)chunk + sizeof *chunk + HEADER_SIZE;
        if (at < begin || at - begin >= chunk->size - sizeof *chunk - HEADER_SIZE)
            continue;
        before->next = chunk->next;
        chunk->next = heap->first.next;
        heap->first.next = chunk;
        return true;
    }
    return false;
}

/*
 * Returns the bytes before `memory`, where the header of a block at `memory` would be. These bytes
 * may belong to another block, and may be poisoned.
 */
POISON_IGNORED static struct header header_peek(const void *memory)
{
    const struct header *header = header_of(memory);
    return (struct header){.seal = header->seal,
                           .size = header->size,
                           .size_class = header->size_class,
                           .is_array = header->is_array};
}

size_t tr__heap_array(struct heap *heap, const void *memory)
{
    if (!heap || !memory || (uintptr_t)memory % SOURCE_ALIGNMENT != 0)
        return 0;
    const struct large *large = large_find(heap, memory);
    if (large)
        return header_peek(memory).is_array == 1 ? large->size : 0;
    if (!is_in_chunk(heap, memory))
        return 0;
    /*
     * The bytes before `memory` count as a header only if they have the heap's seal. Bytes inside
     * another block cannot imitate it, because no other code knows the seal.
     */
    struct header header = header_peek(memory);
    bool is_array = header.seal == heap->seal && header.is_array == 1 &&
                    header.size_class < CLASS_LARGE && header.size <= SMALL_MAX &&
                    size_class_of(header.size) == header.size_class;
    return is_array ? header.size : 0;
}

bool tr__heap_on_end(struct heap **heap, const struct memory_source *source, void *resource,
                     void (*release)(void *resource))
{
    TR_ASSERT(release != NULL);
    struct cleaner *cleaner = tr__heap_alloc(heap, source, sizeof *cleaner);
    if (!cleaner)
        return false;
    *cleaner = (struct cleaner){
        .next = (*heap)->cleaners,
        .resource = resource,
        .release = release,
    };
    (*heap)->cleaners = cleaner;
    return true;
}

bool tr__heap_has_cleaners(const struct heap *heap)
{
    return heap && heap->cleaners;
}

void tr__heap_drop(struct heap **heap, const struct memory_source *source)
{
    if (!*heap)
        return;
    while ((*heap)->cleaners) {
        struct cleaner cleaner = *(*heap)->cleaners;
        tr__heap_free(heap, source, (*heap)->cleaners);
        (*heap)->cleaners = cleaner.next;
        cleaner.release(cleaner.resource);
    }
    while ((*heap)->large)
        large_free(*heap, source, (*heap)->large + 1);
    for (struct chunk *chunk = (*heap)->first.next; chunk;) {
        struct chunk *next = chunk->next;
        chunk_free(source, chunk);
        chunk = next;
    }
    chunk_free(source, &(*heap)->first);
    *heap = NULL;
}

/* Returns how many bytes a large block of this size would take from the source. */
static size_t block_need(const struct heap *heap, size_t size)
{
    if (size > TR_ALLOC_MAX)
        return 0; /* refused */
    if (size > SMALL_MAX)
        return sizeof(struct large) + size +
               (heap ? 0 : chunk_size_for(CHUNK_SIZE_FIRST, sizeof(struct heap), 0));
    unsigned size_class = size_class_of(size);
    size_t stride = strides[size_class];
    if (!heap)
        return chunk_size_for(CHUNK_SIZE_FIRST, sizeof(struct heap), stride);
    if (heap->free[size_class] || heap->fresh_size >= stride)
        return 0;
    return chunk_size_for(heap->chunk_size, sizeof(struct chunk), stride);
}

size_t tr__heap_need(const struct heap *heap, const void *memory, size_t size)
{
    if (!memory)
        return block_need(heap, size);
    struct header header = header_check(heap, memory);
    bool is_small = header.size_class != CLASS_LARGE;
    if (!is_small && size > SMALL_MAX) {
        const struct large *large = (const struct large *)memory - 1;
        return size > large->size && size <= TR_ALLOC_MAX ? size - large->size : 0;
    }
    if (is_small && size <= SMALL_MAX && size_class_of(size) == header.size_class)
        return 0;
    return block_need(heap, size);
}

size_t tr__heap_bytes(const struct heap *heap)
{
    return heap ? heap->bytes : 0;
}
