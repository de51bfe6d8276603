/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A heap: the memory of one incarnation of an actor, and cleaners, which are functions that run
 * when the incarnation ends.
 *
 * An actor that never allocates has no heap: the pointer is NULL until the first allocation. Small
 * blocks have size classes and come from chunks. A block that was freed is the next to be used in
 * its class. So an actor that allocates and frees blocks of the same size takes no more memory from
 * the source. The first chunk has 512 bytes, including the heap itself, or more if the first block
 * needs more. The next chunks double, up to 16 KiB. A block that is too large for a chunk is
 * separate, and goes back to the source when it is freed. Chunks go back when the heap is dropped.
 *
 * A heap has one owner at a time and no locks. `heap` is the variable in which its owner keeps it.
 * All calls for one heap pass the same source.
 */
#ifndef MEM_HEAP_H
#define MEM_HEAP_H

#include "mem/source.h"

#include <stdbool.h>
#include <stddef.h>

struct heap;

/**
 * Returns `size` zeroed bytes, aligned to 16. `size` may be 0. Returns NULL when out of memory, or
 * if `size` is above TR_ALLOC_MAX; then nothing has changed.
 */
void *tr__heap_alloc(struct heap **heap, const struct memory_source *source, size_t size);

/**
 * Resizes a block, which may move. The bytes by which it grows are zeroed. If `memory` is NULL,
 * allocates a block.
 *
 * Returns NULL when out of memory, or if `size` is above TR_ALLOC_MAX. Then the block is unchanged
 * and still the caller's. Never returns NULL if the size does not grow.
 */
void *tr__heap_realloc(struct heap **heap, const struct memory_source *source, void *memory,
                       size_t size);

/**
 * Frees a block of this heap. NULL does nothing. Freeing a block twice, or freeing a block of
 * another heap, is a bug.
 */
void tr__heap_free(struct heap **heap, const struct memory_source *source, void *memory);

/**
 * Marks a block of this heap as a growing array, so that tr__heap_array finds it. Blocks that
 * tr__heap_realloc returns have no mark.
 */
void tr__heap_mark_array(const struct heap *heap, void *memory);
/**
 * Returns the size of the marked block that begins at `memory`. Returns 0 if there is no such block
 * in this heap. `memory` may be any address: nothing outside the heap is read. `heap` may be NULL.
 */
size_t tr__heap_array(struct heap *heap, const void *memory);

/**
 * Registers a cleaner. When the heap is dropped, `release(resource)` runs once, while the blocks of
 * the heap still exist. The cleaner that was registered last runs first. Returns false when out of
 * memory; then the cleaner is not registered.
 */
bool tr__heap_on_end(struct heap **heap, const struct memory_source *source, void *resource,
                     void (*release)(void *resource));

/**
 * Runs the cleaners, frees every block and sets `*heap` to NULL. Does nothing if `*heap` is NULL.
 *
 * A cleaner is removed before it runs. So if a cleaner never returns, because it has faulted,
 * another drop continues with the next cleaner. If a cleaner registers another one, that one runs
 * next.
 */
void tr__heap_drop(struct heap **heap, const struct memory_source *source);

/** Whether a drop would run a cleaner. `heap` may be NULL. */
bool tr__heap_has_cleaners(const struct heap *heap);

/**
 * Returns how many bytes tr__heap_realloc(&heap, source, memory, size) would take from the source.
 * Does not subtract the bytes that it would give back. `memory` and `heap` may be NULL.
 */
size_t tr__heap_need(const struct heap *heap, const void *memory, size_t size);

/**
 * Returns how many bytes the heap has taken from the source and not given back. Returns 0 if `heap`
 * is NULL.
 */
size_t tr__heap_bytes(const struct heap *heap);

#endif
