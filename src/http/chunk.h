/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decodes chunked bodies: RFC 9112, 7.1. The decoder takes bytes as they come, and needs no memory
 * but its struct.
 *
 *     struct http_chunk chunk = {0};
 *     do {
 *         size_t used = tr__http_chunk_next(&chunk, bytes, &data);
 *         ...                     data has bytes of the body; the rest is at bytes + used
 *     } while (used && !chunk.is_over);
 *
 * The decoder is strict: a size is at most 15 hexadecimal digits and nothing else; extensions have
 * the form of the RFC; each line ends with CR LF. Trailers are checked and dropped.
 */
#ifndef HTTP_CHUNK_H
#define HTTP_CHUNK_H

#include <troupe/message.h>

struct http_chunk {
    uint64_t left;     /* how many bytes of the current chunk have not come yet */
    uint32_t trailers; /* how many bytes of trailers have come */
    uint8_t state;     /* what comes next, by the states in chunk.c; 0: the size of a chunk */
    bool is_over;      /* the body and its trailers have ended */
    bool is_bad;       /* the body is malformed: answer 400 */
};

/**
 * Takes bytes. Returns how many it has used. Returns 0 if it needs more bytes. Sets *data to a part
 * of the body within `bytes`, which may be empty. When is_bad or is_over is set, it uses no bytes.
 */
size_t tr__http_chunk_next(struct http_chunk *chunk, tr_bytes bytes, tr_bytes *data);

/**
 * Takes bytes as tr__http_chunk_next does, until it has found a part of the body of at most `most`
 * bytes, and what follows is no small chunk. Moves the data of small chunks together, within
 * `bytes`, so that a body of many small chunks takes few reads. Sets *data to the part, which is
 * empty if more bytes are needed. If a chunk behind the part is malformed, sets is_bad as well.
 * Returns how many bytes it has used; the others are unchanged.
 */
size_t tr__http_chunks_take(struct http_chunk *chunk, tr_bytes bytes, size_t most, tr_bytes *data);

#endif
