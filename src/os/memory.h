/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory of the real world: the C library's heap, pages, and slabs of stacks with guards.
 *
 * Used by the platforms and by modules that need whole pages. Everything else allocates through the
 * platform table of its system, so that a test can count and refuse it.
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
 * Zeroed pages, `size` rounded up to whole ones; NULL when out of memory. From 2 MiB on the kernel
 * is asked for huge pages.
 */
void *tr__os_pages(size_t size);
/** Gives back what tr__os_pages gave, with the same size. NULL does nothing. */
void tr__os_pages_free(void *memory, size_t size);

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
