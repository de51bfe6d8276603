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
 * Makes the beginning of a large block, not yet touched, resident, and says how many bytes: at least
 * one, and not much more than 2 MiB, so that whoever fills a block in order has little that he does
 * not need. Huge pages are used as long as the kernel has them at hand. A virtual machine may have
 * given its free ones back to the host, and then they cost more than the small pages that it kept.
 * Any thread.
 */
size_t tr__os_memory_ready(void *memory, size_t size);

/** What lies below a stack. Better ones are greater. */
enum os_guard {
    OS_GUARD_NONE, /* another stack, or nobody knows what */
    OS_GUARD_PAGE, /* pages without access: two mappings for each stack */
    OS_GUARD_MARK, /* marks in the page table (Linux 6.13): no mapping of its own */
};

/**
 * Bytes of a guard, a multiple of all page sizes. One page would stop a recursion; this also stops a function with a
 * large local variable, whose first access is that far below. See docs/design/stacks.md.
 */
#define OS_GUARD_SIZE ((size_t)256 * 1024)

/** Guards of pages that a process makes, so that vm.max_map_count (65,530) leaves capacity for others. */
enum { OS_GUARD_PAGES_MAX = 16000 };

/**
 * A slab of `count` stacks of `stack_size` usable bytes (a multiple of the page size), with the
 * best guards that can be had: all of its stacks have the same. Touching one is SIGSEGV. NULL when
 * out of memory. Any thread.
 */
void *tr__os_stack_slab(size_t count, size_t stack_size, enum os_guard *guard);
/** The lowest usable byte of a stack of a slab. */
char *tr__os_stack_low(void *slab, size_t index, size_t stack_size);
/** Gives a slab back, with the same numbers. NULL does nothing. */
void tr__os_stack_slab_free(void *slab, size_t count, size_t stack_size, enum os_guard guard);

/** Gives the memory of a stack back and keeps its addresses: they are zero when next touched. */
void tr__os_stack_clean(const void *low, size_t stack_size);

/** From now on the process gets no better guards than this. For tests of the others. */
void tr__os_guards_limit(enum os_guard best);

#endif
