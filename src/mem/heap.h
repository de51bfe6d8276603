/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory of one incarnation of an actor, and the cleaners of what it holds.
 *
 * An actor that never allocates has no heap: the pointer is NULL until the first allocation. Small
 * blocks have size classes and come from chunks. A freed block is reused first in its class, so
 * churn at a constant size takes no more memory from the source. Chunks start at 512 bytes,
 * including the heap itself, or at what the first block needs, and double up to 16 KiB. A larger
 * block is separate and goes back to the source when it is freed. Chunks go back when the heap is
 * dropped.
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
 * Returns `size` zeroed bytes, aligned to 16. Returns NULL, with nothing changed, if out of memory
 * or above TR_ALLOC_MAX. Size 0 is allowed.
 */
void *tr__heap_alloc(struct heap **heap, const struct memory_source *source, size_t size);

/**
 * Resizes a block, which may move. The bytes by which it grows are zeroed. NULL `memory` allocates.
 *
 * Returns NULL if out of memory or above TR_ALLOC_MAX; then the block is unchanged and still the
 * caller's. Never NULL if the size does not grow.
 */
void *tr__heap_realloc(struct heap **heap, const struct memory_source *source, void *memory,
                       size_t size);

/**
 * Frees a block of this heap; NULL does nothing. Freeing twice, or freeing a block of another heap,
 * is a bug.
 */
void tr__heap_free(struct heap **heap, const struct memory_source *source, void *memory);

/**
 * Marks a block of this heap as a growing array, so that tr__heap_array knows it. tr__heap_realloc
 * returns blocks without the mark.
 */
void tr__heap_mark_array(const struct heap *heap, void *memory);
/**
 * Returns the size of the marked block that begins at `memory`; 0 if there is none in this heap.
 * `memory` may be any address, and nothing outside the heap is read. `heap` may be NULL.
 */
size_t tr__heap_array(struct heap *heap, const void *memory);

/**
 * Registers a cleaner: when the heap is dropped, `release(resource)` runs once, the last registered first, while the
 * blocks of the heap still exist. Returns false if out of memory: then the cleaner is not registered.
 */
bool tr__heap_on_end(struct heap **heap, const struct memory_source *source, void *resource,
                     void (*release)(void *resource));

/**
 * Runs the cleaners, frees every block and sets `*heap` to NULL. A NULL heap does nothing.
 *
 * A cleaner is removed before it runs. If a cleaner never returns, because it faulted, another drop continues with the
 * next one. A cleaner that a cleaner registers runs next.
 */
void tr__heap_drop(struct heap **heap, const struct memory_source *source);

/** Whether a drop would run a cleaner. `heap` may be NULL. */
bool tr__heap_has_cleaners(const struct heap *heap);

/**
 * Returns how many bytes tr__heap_realloc(&heap, source, memory, size) would take from the source,
 * without subtracting what it gives back. `memory` and `heap` may be NULL.
 */
size_t tr__heap_need(const struct heap *heap, const void *memory, size_t size);

/** Returns the bytes taken from the source and not given back. 0 for NULL. */
size_t tr__heap_bytes(const struct heap *heap);

#endif
