/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The heap, pages and guarded stacks, over the C library and mmap.
 */
#include "os/memory.h"

#include "os/atomic.h"
#include "os/clock.h"

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The size of a huge page of x86-64, and of arm64 with pages of 4 KiB. Smaller blocks cannot have
 * one.
 */
#define HUGE_PAGE_SIZE ((size_t)2 << 20)

/* Linux 5.14: makes pages resident, as a write to each page would do, at two thirds of the cost. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/*
 * Linux 6.13: makes a guard that takes no mapping, so that vm.max_map_count does not limit the
 * number of guards.
 */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

void *tr__os_resize(void *memory, size_t size)
{
    if (size == 0) {
        free(memory);
        return NULL;
    }
    return realloc(memory, size);
}

void tr__os_memory_trim(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

size_t tr__os_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void tr__os_advise_huge(void *memory, size_t size)
{
    if (size < 2 * HUGE_PAGE_SIZE)
        return;
    size_t page = tr__os_page_size();
    uintptr_t begin = ((uintptr_t)memory + page - 1) & ~(uintptr_t)(page - 1);
    uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(page - 1);
    /* A kernel without huge pages returns an error. The memory then has small pages. */
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

/*
 * How long it may take to make a huge page resident: 1 µs for each 4 KiB of the page. A page that
 * takes longer is a slow one. If the kernel only has to clear the page, it takes a quarter of this
 * time. If the host of a virtual machine has to find memory for the page, it takes several times as
 * long.
 */
#define HUGE_PAGE_NS (512 * TR_MICROSECOND)

enum {
    /*
     * After a slow huge page, the next HUGE_WAIT blocks of 2 MiB get small pages, before a huge
     * page is tried again. Each further slow huge page doubles this number, up to HUGE_WAIT_MAX.
     * The kernel first hands out pages that the host has not taken back. So a slow page shows that
     * there are no fast pages until some are freed.
     */
    HUGE_WAIT = 32,
    HUGE_WAIT_MAX = 256,
    /*
     * How many bytes of small pages are made resident at once. They are still in the processor's
     * cache when the caller uses them.
     */
    SMALL_STEP = 128 * 1024,
};

/*
 * huge_wait is the number of blocks that still get small pages before a huge page is tried again.
 * After a slow huge page it is set to huge_wait_next.
 */
static atom32 huge_wait;
static atom32 huge_wait_next = {HUGE_WAIT};

static bool memory_populate(uintptr_t begin, uintptr_t end)
{
    return begin >= end || madvise((void *)begin, end - begin, MADV_POPULATE_WRITE) == 0;
}

/* Whether the next block should try a huge page. */
static bool huge_is_wanted(void)
{
    uint32_t wait = atom32_load(&huge_wait, ATOM_RELAXED);
    if (wait > 0)
        atom32_store(&huge_wait, wait - 1, ATOM_RELAXED);
    return wait == 0;
}

static bool huge_populate(uintptr_t block)
{
    (void)madvise((void *)block, HUGE_PAGE_SIZE, MADV_HUGEPAGE);
    tr_time begin_ns = tr__real_mono_now(NULL);
    bool is_ready = memory_populate(block, block + HUGE_PAGE_SIZE);
    uint32_t next = HUGE_WAIT;
    if (tr__real_mono_now(NULL) - begin_ns > HUGE_PAGE_NS) {
        uint32_t wait = atom32_load(&huge_wait_next, ATOM_RELAXED);
        atom32_store(&huge_wait, wait, ATOM_RELAXED);
        next = wait < HUGE_WAIT_MAX ? 2 * wait : HUGE_WAIT_MAX;
    }
    atom32_store(&huge_wait_next, next, ATOM_RELAXED);
    return is_ready;
}

size_t tr__os_memory_ready(void *memory, size_t size)
{
    size_t page = tr__os_page_size();
    uintptr_t address = (uintptr_t)memory;
    uintptr_t end = address + size;
    uintptr_t begin = (address + page - 1) & ~(uintptr_t)(page - 1);
    uintptr_t block = (address + HUGE_PAGE_SIZE - 1) & ~(uintptr_t)(HUGE_PAGE_SIZE - 1);
    bool is_block = begin == block && block + HUGE_PAGE_SIZE <= end;
    bool is_ready;
    if (is_block && huge_is_wanted()) {
        end = block + HUGE_PAGE_SIZE;
        is_ready = huge_populate(block);
    } else {
        if (is_block)
            (void)madvise((void *)block, HUGE_PAGE_SIZE, MADV_NOHUGEPAGE);
        if (block > begin && block < end)
            end = block;
        if (begin + SMALL_STEP < end)
            end = begin + SMALL_STEP;
        is_ready = memory_populate(begin, end & ~(uintptr_t)(page - 1));
    }
    if (is_ready)
        return end - address;
    /*
     * A kernel before Linux 5.14 cannot make pages resident ahead of their use. It provides each page when the page is
     * first touched.
     */
    tr__os_advise_huge(memory, size);
    return size;
}

/*
 * guard_best is the best kind of guard that this kernel may have. guard_pages is the number of guards of kind
 * OS_GUARD_PAGE in use.
 */
static atom32 guard_best = {OS_GUARD_MARK};
static atom32 guard_pages;

static bool guards_mark(char *slab, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++) {
        if (madvise(slab + i * stride, OS_GUARD_SIZE, MADV_GUARD_INSTALL) != 0)
            return false;
    }
    return true;
}

static bool guards_protect(char *slab, size_t count, size_t stride)
{
    uint32_t wanted = (uint32_t)count;
    if (atom32_fetch_add(&guard_pages, wanted, ATOM_RELAXED) + wanted <= OS_GUARD_PAGES_MAX) {
        size_t i = 0;
        while (i < count && mprotect(slab + i * stride, OS_GUARD_SIZE, PROT_NONE) == 0)
            i++;
        if (i == count)
            return true;
        /*
         * The process has reached its limit of mappings. Make the guards that this slab has so far accessible again, so
         * that the kernel joins the mappings of the slab.
         */
        while (i-- > 0)
            (void)mprotect(slab + i * stride, OS_GUARD_SIZE, PROT_READ | PROT_WRITE);
    }
    atom32_fetch_sub(&guard_pages, wanted, ATOM_RELAXED);
    return false;
}

static enum os_guard guards_install(char *slab, size_t count, size_t stride)
{
    uint32_t best = atom32_load(&guard_best, ATOM_RELAXED);
    if (best >= OS_GUARD_MARK) {
        if (guards_mark(slab, count, stride))
            return OS_GUARD_MARK;
        if (errno == EINVAL) /* this older kernel has no such guards, so never ask for them again */
            atom32_store(&guard_best, OS_GUARD_PAGE, ATOM_RELAXED);
    }
    if (best >= OS_GUARD_PAGE && guards_protect(slab, count, stride))
        return OS_GUARD_PAGE;
    return OS_GUARD_NONE;
}

void tr__os_guards_limit(enum os_guard best)
{
    atom32_store(&guard_best, best, ATOM_RELAXED);
}

void *tr__os_stack_slab(size_t count, size_t stack_size, enum os_guard *guard)
{
    size_t page = tr__os_page_size();
    if (count == 0 || count > OS_GUARD_PAGES_MAX || stack_size == 0 || stack_size % page != 0)
        return NULL;
    size_t stride = stack_size + OS_GUARD_SIZE;
    if (stride < stack_size || count > SIZE_MAX / stride)
        return NULL;
    /* Most of the memory of stacks is never touched, so reserve none for it. */
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE;
    char *slab = mmap(NULL, count * stride, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (slab == MAP_FAILED)
        return NULL;
    /* A huge page would make many stacks resident at the first touch of one. */
    (void)madvise(slab, count * stride, MADV_NOHUGEPAGE);
    *guard = guards_install(slab, count, stride);
    return slab;
}

char *tr__os_stack_low(void *slab, size_t index, size_t stack_size)
{
    return (char *)slab + index * (stack_size + OS_GUARD_SIZE) + OS_GUARD_SIZE;
}

void tr__os_stack_slab_free(void *slab, size_t count, size_t stack_size, enum os_guard guard)
{
    if (!slab)
        return;
    (void)munmap(slab, count * (stack_size + OS_GUARD_SIZE));
    if (guard == OS_GUARD_PAGE)
        atom32_fetch_sub(&guard_pages, (uint32_t)count, ATOM_RELAXED);
}

void tr__os_stack_clean(const void *low, size_t stack_size)
{
    (void)madvise((void *)(uintptr_t)low, stack_size, MADV_DONTNEED);
}
