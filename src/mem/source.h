/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where memory comes from: the platform of a system.
 *
 * Every module that allocates gets a source from its caller. So a test can refuse the n-th request,
 * and count the memory in use. A source may be copied. The platform must outlive all copies.
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
    /* the allocator of the application, used in place of the platform's; NULL: none */
    void *(*resize)(void *context, void *memory, size_t size);
    void *context;
};

/**
 * As realloc: size 0 frees, and a `memory` of NULL allocates. Returns NULL when out of memory; then
 * nothing has changed. Any thread.
 */
static inline void *source_resize(const struct memory_source *source, void *memory, size_t size)
{
    /*
     * Ask for at least SOURCE_ALIGNMENT bytes, because some allocators align a smaller block only
     * to its size.
     */
    if (size && size < SOURCE_ALIGNMENT)
        size = SOURCE_ALIGNMENT;
    void *resized = source->resize ? source->resize(source->context, memory, size)
                                   : source->platform->resize(source->platform, memory, size);
    TR_ASSERT((uintptr_t)resized % SOURCE_ALIGNMENT == 0);
    return resized;
}

/**
 * Returns `size` rounded up to a multiple of SOURCE_ALIGNMENT. `size` must not be near SIZE_MAX,
 * because the sum would overflow.
 */
static inline size_t source_round(size_t size)
{
    return (size + SOURCE_ALIGNMENT - 1) & ~(SOURCE_ALIGNMENT - 1);
}

#endif
