/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory of one incarnation of an actor, and the cleaners of what it holds.
 *
 * An actor that never allocates has no heap: the pointer is NULL until the first allocation. Small
 * blocks have size classes and come from chunks; a freed one is the next of its class, so that
 * churn at a constant size takes nothing more from the source. Chunks start at 512 bytes, the heap
 * included, or with what the first block needs, and double up to 16 KiB. A larger block stands
 * alone and goes back when it is freed; chunks go back when the heap is dropped.
 *
 * A heap has one owner at a time and no locks. `heap` is the place where its owner keeps it. All
 * calls for one heap pass the same source.
 */
#ifndef MEM_HEAP_H
#define MEM_HEAP_H

#include "mem/source.h"

#include <stdbool.h>
#include <stddef.h>

struct heap;

/**
 * Gives `size` zeroed bytes, aligned to 16. NULL when out of memory or over TR_ALLOC_MAX, nothing
 * changed. A block of size 0 is a block.
 */
void *tr__heap_alloc(struct heap **heap, const struct memory_source *source, size_t size);

/**
 * Takes a block and gives it back with another size, perhaps elsewhere; what it grew by is zeroed.
 *
 * NULL `memory` allocates. NULL when out of memory or over TR_ALLOC_MAX: the block is as it was
 * and the caller's. Never NULL when the size does not grow.
 */
void *tr__heap_realloc(struct heap **heap, const struct memory_source *source, void *memory,
                       size_t size);

/** Takes a block of this heap; NULL does nothing. A second time, or another heap's, is a bug. */
void tr__heap_free(struct heap **heap, const struct memory_source *source, void *memory);

/**
 * Marks a block of this heap as an array that grows: from now on tr__heap_array knows it. A block that
 * tr__heap_realloc gives is not marked.
 */
void tr__heap_mark_array(const struct heap *heap, void *memory);
/**
 * The size of the marked block that begins at `memory`. 0: no such block of this heap begins there; `memory` may
 * be any address, and nothing outside of the heap is read. `heap` may be NULL.
 */
size_t tr__heap_array(struct heap *heap, const void *memory);

/**
 * Registers a cleaner: when the heap is dropped, `release(resource)` runs once, the last registered
 * first, while the blocks of the heap are still there. False when out of memory: it will not run.
 */
bool tr__heap_on_end(struct heap **heap, const struct memory_source *source, void *resource,
                     void (*release)(void *resource));

/**
 * Runs the cleaners, frees every block and sets `*heap` to NULL. A NULL heap does nothing.
 *
 * A cleaner is forgotten before it runs: if it never returns, because it faulted, another drop goes
 * on with the one after it. One that a cleaner registers runs next.
 */
void tr__heap_drop(struct heap **heap, const struct memory_source *source);

/** Whether something is registered that a drop would run. `heap` may be NULL. */
bool tr__heap_has_cleaners(const struct heap *heap);

/**
 * The bytes that tr__heap_realloc(&heap, source, memory, size) would take from the source; `memory`
 * may be NULL, as the heap may. What it gives back is not taken off.
 */
size_t tr__heap_need(const struct heap *heap, const void *memory, size_t size);

/** The bytes taken from the source and not given back. 0 for NULL. */
size_t tr__heap_bytes(const struct heap *heap);

#endif
