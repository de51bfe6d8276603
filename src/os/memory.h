/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory from the kernel and the C library: the heap, and slabs of stacks with guards.
 *
 * Used by the platforms and for stacks. All other code allocates through the platform table of its
 * tr_system, so that a test can count allocations and make them fail.
 */
#ifndef OS_MEMORY_H
#define OS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Does what realloc does, but size 0 frees the block and returns NULL. If there is not enough memory, returns NULL and
 * leaves the old block as it was.
 */
void *tr__os_resize(void *memory, size_t size);

/**
 * Gives freed memory of the C library's heap back to the kernel, where the C library can do that.
 * Takes time in proportion to the heap. Any thread.
 */
void tr__os_memory_trim(void);

/** Returns the size of a page: 4,096 on most machines. */
size_t tr__os_page_size(void);

/**
 * Asks the kernel to back a large untouched block with huge pages. Then the first use costs one
 * page fault for each 2 MiB, and not one for each 4 KiB. The kernel may ignore this. Blocks below 4
 * MiB are left alone.
 */
void tr__os_advise_huge(void *memory, size_t size);

/**
 * Makes the beginning of a large untouched block resident. Returns how many bytes are resident: at
 * least one, and not much more than 2 MiB. So a caller that fills the block in order, and calls
 * this again after those bytes, has little memory that is resident and unused.
 *
 * Huge pages are used while the kernel has free ones. A virtual machine may have given its free
 * huge pages back to the host. Then a huge page costs more than the small pages that the machine
 * has kept. Any thread.
 */
size_t tr__os_memory_ready(void *memory, size_t size);

/** What is below the lowest byte of a stack. A greater value is a better guard. */
enum os_guard {
    OS_GUARD_NONE, /* no guard: below is another stack, or memory that may be in use */
    OS_GUARD_PAGE, /* pages without access: two mappings for each stack */
    OS_GUARD_MARK, /* marks in the page table (Linux 6.13), which take no mapping */
};

/**
 * The size of a guard in bytes, a multiple of all page sizes. A guard of one page would stop a
 * recursion. A guard of this size also stops a function with a large local variable, whose first
 * access may be that far below the stack. See docs/design/stacks.md.
 */
#define OS_GUARD_SIZE ((size_t)256 * 1024)

/**
 * How many guards of kind OS_GUARD_PAGE a process makes at most, so that vm.max_map_count (65,530) leaves mappings for
 * other uses.
 */
enum { OS_GUARD_PAGES_MAX = 16000 };

/**
 * Returns a slab of `count` stacks with `stack_size` usable bytes each (a multiple of the page
 * size); NULL if out of memory. All stacks of a slab have the same guard, the best available.
 * Touching a guard is SIGSEGV. Any thread.
 */
void *tr__os_stack_slab(size_t count, size_t stack_size, enum os_guard *guard);
/** Returns the lowest usable byte of a stack of a slab. */
char *tr__os_stack_low(void *slab, size_t index, size_t stack_size);
/**
 * Frees a slab. `count` and `stack_size` must be those that it was made with, `guard` the one that
 * tr__os_stack_slab has returned. NULL does nothing.
 */
void tr__os_stack_slab_free(void *slab, size_t count, size_t stack_size, enum os_guard guard);

/**
 * Gives the memory of a stack back to the kernel. The addresses stay valid, and are zero when they
 * are read again.
 */
void tr__os_stack_clean(const void *low, size_t stack_size);

/** Limits the guards of the process to this kind or worse. For tests. */
void tr__os_guards_limit(enum os_guard best);

#endif
