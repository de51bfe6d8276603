/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/shared.h"

#include <assert.h>
#include <string.h>

#include "base/assert.h"
#include "os/atomic.h"
#include "wire/copy.h"

struct shared {
    atom32 holders; /* written by any thread */
    _Alignas(16) unsigned char data[];
};

static_assert(sizeof(struct shared) % SOURCE_ALIGNMENT == 0, "the message is aligned");

void *tr__shared_new(const struct memory_source *source, const tr_type *type, const void *message,
                     uint32_t holders, uint32_t *size, tr_status *status)
{
    TR_ASSERT(holders > 0);
    size_t bytes = type->is_flat ? type->size : tr__copy_size(type, message);
    *status = TR_TOO_LARGE;
    if (bytes > TR_PAYLOAD_MAX)
        return NULL;
    struct shared *shared = source_resize(source, NULL, sizeof *shared + bytes);
    *status = shared ? TR_OK : TR_NO_MEMORY;
    if (!shared)
        return NULL;
    atom32_init(&shared->holders, holders);
    if (type->is_flat)
        memcpy(shared->data, message, bytes);
    else
        tr__copy_into(type, message, shared->data, bytes);
    *size = (uint32_t)bytes;
    return shared->data;
}

void tr__shared_release(void *data, const tr_type *type, const struct memory_source *source)
{
    struct shared *shared = (struct shared *)(void *)((char *)data - sizeof *shared);
    /* Acquire and release pair with each other here: the last release comes after all others. */
    uint32_t before = atom32_fetch_sub(&shared->holders, 1, ATOM_ACQ_REL);
    TR_ASSERT(before > 0);
    if (before > 1)
        return;
    if (!type->is_flat)
        tr__copy_drop(type, data);
    source_resize(source, shared, 0);
}
