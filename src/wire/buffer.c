/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Buffers: counted blocks of bytes that messages share.
 *
 * Rules:
 * 1. Only a thread that already holds a count may retain, so a retain needs no memory order.
 * 2. All reads and writes of a holder happen before its release, and the last release happens after
 *    all others (acquire and release of the same count). So the memory is freed only when nothing
 *    uses it.
 */
#include "base/assert.h"
#include "os/atomic.h"
#include "os/memory.h"

#include <troupe/message.h>

struct tr_buffer {
    size_t size;
    atom32 holders; /* Changed by any thread. */
    _Alignas(16) unsigned char data[];
};

/* A count this high means that holders leak their counts, or that freed memory was retained. */
#define HOLDERS_MAX (UINT32_MAX / 2)

tr_buffer *tr_buffer_new(size_t size)
{
    if (size > SIZE_MAX - sizeof(tr_buffer))
        return NULL;
    tr_buffer *buffer = tr__os_resize(NULL, sizeof(tr_buffer) + size);
    if (buffer != NULL) {
        buffer->size = size;
        atom32_init(&buffer->holders, 1);
    }
    return buffer;
}

void tr_buffer_retain(tr_buffer *buffer)
{
    if (buffer == NULL)
        return;
    uint32_t before = atom32_fetch_add(&buffer->holders, 1, ATOM_RELAXED);
    TR_ASSERT(before > 0);
    TR_ASSERT(before < HOLDERS_MAX);
}

void tr_buffer_release(tr_buffer *buffer)
{
    if (buffer == NULL)
        return;
    /* Acquire and release of this count pair with each other: the last release happens after all
     * others. */
    uint32_t before = atom32_fetch_sub(&buffer->holders, 1, ATOM_ACQ_REL);
    TR_ASSERT(before > 0);
    TR_ASSERT(before < HOLDERS_MAX);
    if (before == 1)
        (void)tr__os_resize(buffer, 0);
}

void *tr_buffer_data(tr_buffer *buffer)
{
    return buffer == NULL ? NULL : buffer->data;
}

size_t tr_buffer_size(const tr_buffer *buffer)
{
    return buffer == NULL ? 0 : buffer->size;
}
