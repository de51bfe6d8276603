/* SPDX-License-Identifier: Apache-2.0 */
/** A buffer: bytes are appended at its end and consumed at its beginning. */
#include "net/buffer.h"

#include <string.h>

enum { BUFFER_MIN = 512 };

void *tr__net_buffer_grow(struct net_buffer *buffer, size_t size)
{
    size_t used = net_buffer_size(buffer);
    if (size > SIZE_MAX / 4 || used > SIZE_MAX / 4)
        return NULL;
    if (buffer->data && buffer->capacity - used >= size && buffer->begin >= used) {
        memcpy(buffer->data, buffer->data + buffer->begin, used);
    } else {
        size_t capacity = buffer->capacity > BUFFER_MIN ? buffer->capacity : BUFFER_MIN;
        while (capacity - used < size)
            capacity *= 2;
        unsigned char *data = source_resize(buffer->source, NULL, capacity);
        if (!data)
            return NULL;
        if (used > 0 && buffer->data)
            memcpy(data, buffer->data + buffer->begin, used);
        source_resize(buffer->source, buffer->data, 0);
        buffer->data = data;
        buffer->capacity = capacity;
    }
    buffer->begin = 0;
    buffer->end = used;
    return buffer->data + used;
}

tr_status tr__net_buffer_append(struct net_buffer *buffer, const void *data, size_t size)
{
    if (size == 0)
        return TR_OK;
    void *to = net_buffer_reserve(buffer, size);
    if (!to)
        return TR_NO_MEMORY;
    memcpy(to, data, size);
    net_buffer_commit(buffer, size);
    return TR_OK;
}

void tr__net_buffer_free(struct net_buffer *buffer)
{
    source_resize(buffer->source, buffer->data, 0);
    *buffer = NET_BUFFER(buffer->source);
}
