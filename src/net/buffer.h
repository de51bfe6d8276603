/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A buffer of bytes. The caller appends bytes at its end and consumes bytes at its beginning. For
 * instance, a buffer holds the bytes that a filter has made.
 *
 *     struct net_buffer buffer = NET_BUFFER(&source);
 *     void *at = net_buffer_reserve(&buffer, 100);      NULL: out of memory, or over the limit
 *     net_buffer_commit(&buffer, strlen(strcpy(at, "hello")));
 *     net_buffer_consume(&buffer, 2);
 *     tr__net_buffer_free(&buffer);
 *
 * The bytes are contiguous. Reserving may move them. If all bytes are consumed, the buffer is
 * filled from its beginning again. Owner only.
 */
#ifndef NET_BUFFER_H
#define NET_BUFFER_H

#include <troupe/message.h>

#include "mem/source.h"

struct net_buffer {
    const struct memory_source *source; /* the source of the buffer's memory */
    unsigned char *data;
    size_t begin; /* index of the first byte that is not consumed */
    size_t end;
    size_t capacity;
};

/** An empty buffer, which has no memory yet. */
#define NET_BUFFER(source_) ((struct net_buffer){.source = (source_)})

static inline tr_bytes net_buffer_bytes(const struct net_buffer *buffer)
{
    const unsigned char *begin = buffer->data ? buffer->data + buffer->begin : NULL;
    return (tr_bytes){begin, buffer->end - buffer->begin};
}

static inline size_t net_buffer_size(const struct net_buffer *buffer)
{
    return buffer->end - buffer->begin;
}

/**
 * Makes at least `size` bytes free at the end of the buffer: moves the bytes of the buffer, or
 * takes more memory. Returns the free bytes. Returns NULL if there is no memory.
 */
TR_MUST_CHECK void *tr__net_buffer_grow(struct net_buffer *buffer, size_t size);

/** Returns `size` free bytes at the end. Returns NULL if there is no memory. */
TR_MUST_CHECK static inline void *net_buffer_reserve(struct net_buffer *buffer, size_t size)
{
    if (buffer->capacity - buffer->end >= size && buffer->data)
        return buffer->data + buffer->end;
    return tr__net_buffer_grow(buffer, size);
}

/** Appends the first `size` bytes of the reserved memory, which the caller has filled in. */
static inline void net_buffer_commit(struct net_buffer *buffer, size_t size)
{
    buffer->end += size;
}

/** Removes bytes from the beginning. */
static inline void net_buffer_consume(struct net_buffer *buffer, size_t size)
{
    buffer->begin += size;
    if (buffer->begin == buffer->end)
        buffer->begin = buffer->end = 0;
}

/** Appends a copy of `data`. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__net_buffer_append(struct net_buffer *buffer, const void *data,
                                              size_t size);

/** Frees the memory of a buffer. The buffer can be used again. */
void tr__net_buffer_free(struct net_buffer *buffer);

/**
 * The memory of one freed buffer, kept for the next buffer that needs memory. All zero: none is
 * kept. Any channel whose memory comes from the same source may use the memory.
 */
struct net_spare {
    unsigned char *data;
    size_t capacity;
};

enum { SPARE_MAX = 4096 }; /* larger memory is not kept, but freed */

/** Gives the spare memory, if there is some, to a buffer that has no memory. */
static inline void net_buffer_use(struct net_buffer *buffer, struct net_spare *spare)
{
    if (buffer->data || !spare->data)
        return;
    buffer->data = spare->data;
    buffer->capacity = spare->capacity;
    spare->data = NULL;
}

/** Makes the memory of a buffer the spare memory, or frees it. */
static inline void net_buffer_spare(struct net_buffer *buffer, struct net_spare *spare)
{
    if (spare->data || buffer->capacity > SPARE_MAX) {
        tr__net_buffer_free(buffer);
        return;
    }
    spare->data = buffer->data;
    spare->capacity = buffer->capacity;
    *buffer = NET_BUFFER(buffer->source);
}

#endif
