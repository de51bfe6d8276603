/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where memory comes from: the platform of a system.
 *
 * Every module that allocates is given a source, so that a test can refuse the n-th request, count
 * what is held and own all of it. A source is copied freely; the platform outlives it.
 */
#ifndef MEM_SOURCE_H
#define MEM_SOURCE_H

#include "base/assert.h"

#include <troupe/platform.h>

#include <stddef.h>
#include <stdint.h>

/** What every address from a source, and from what is built upon it, is a multiple of. */
#define SOURCE_ALIGNMENT ((size_t)16)

struct memory_source {
    const tr_platform *platform;
    /* Of the application, instead of the platform's; NULL for none. */
    void *(*resize)(void *context, void *memory, size_t size);
    void *context;
};

/** As realloc; size 0 frees, NULL allocates. NULL: out of memory, nothing changed. Any thread. */
static inline void *source_resize(const struct memory_source *source, void *memory, size_t size)
{
    /* Some allocators align what is smaller by its size only. */
    if (size && size < SOURCE_ALIGNMENT)
        size = SOURCE_ALIGNMENT;
    void *resized = source->resize ? source->resize(source->context, memory, size)
                                   : source->platform->resize(source->platform, memory, size);
    TR_ASSERT((uintptr_t)resized % SOURCE_ALIGNMENT == 0);
    return resized;
}

/** `size` rounded up to the next multiple of SOURCE_ALIGNMENT; sizes near SIZE_MAX wrap. */
static inline size_t source_round(size_t size)
{
    return (size + SOURCE_ALIGNMENT - 1) & ~(SOURCE_ALIGNMENT - 1);
}

#endif
