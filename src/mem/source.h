/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where memory comes from: the platform of a system.
 *
 * Every module that allocates is given a source, so that a test can refuse the n-th request and
 * count what is held. A source may be copied; the platform must outlive it.
 */
#ifndef MEM_SOURCE_H
#define MEM_SOURCE_H

#include "base/assert.h"

#include <troupe/platform.h>

#include <stddef.h>
#include <stdint.h>

/** Every address from a source, and from pools on top of it, is a multiple of this. */
#define SOURCE_ALIGNMENT ((size_t)16)

struct memory_source {
    const tr_platform *platform;
    /* The application's allocator, used instead of the platform's; NULL for none. */
    void *(*resize)(void *context, void *memory, size_t size);
    void *context;
};

/**
 * As realloc; size 0 frees, NULL allocates. Returns NULL, with nothing changed, if out of memory.
 * Any thread.
 */
static inline void *source_resize(const struct memory_source *source, void *memory, size_t size)
{
    /* Ask for at least SOURCE_ALIGNMENT bytes, because some allocators align smaller blocks only to their size. */
    if (size && size < SOURCE_ALIGNMENT)
        size = SOURCE_ALIGNMENT;
    void *resized = source->resize ? source->resize(source->context, memory, size)
                                   : source->platform->resize(source->platform, memory, size);
    TR_ASSERT((uintptr_t)resized % SOURCE_ALIGNMENT == 0);
    return resized;
}

/**
 * Returns `size` rounded up to a multiple of SOURCE_ALIGNMENT. Must not be called for sizes near SIZE_MAX, which would
 * overflow.
 */
static inline size_t source_round(size_t size)
{
    return (size + SOURCE_ALIGNMENT - 1) & ~(SOURCE_ALIGNMENT - 1);
}

#endif
