/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory of the real world: the C library's heap, and slabs of stacks with guards.
 *
 * Used by the platforms and for stacks. Everything else allocates through the platform table of its
 * system, so that a test can count and refuse it.
 */
#ifndef OS_MEMORY_H
#define OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/** As realloc, but size 0 frees and gives NULL. NULL when out of memory: the old block stays. */
void *tr__os_resize(void *memory, size_t size);

/** The size of a page: 4,096 on most machines. */
size_t tr__os_page_size(void);

/**
 * Asks the kernel to back a large block, not yet touched, with huge pages: a flood then costs one
 * page fault for each 2 MiB and not for each 4 KiB. Only advice; blocks below 4 MiB are left alone.
 */
void tr__os_advise_huge(void *memory, size_t size);

/**
 * A slab of `count` stacks of `stack_size` usable bytes (a multiple of the page size). Below each
 * lies a guard page: touching it ends the process. NULL when out of memory.
 */
void *tr__os_stack_slab(size_t count, size_t stack_size);
/** The lowest usable byte of a stack of a slab. */
char *tr__os_stack_low(void *slab, size_t index, size_t stack_size);
/** Gives a slab back, with the same numbers. NULL does nothing. */
void tr__os_stack_slab_free(void *slab, size_t count, size_t stack_size);

#endif
