/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads the headers of frames of HTTP/2 before nghttp2 does, to detect floods. Pure functions.
 *
 * Counts what costs the client little and the server more: frames that carry nothing, frames of
 * settings, streams that are reset, and the frames of one block of headers. A client that makes
 * requests or receives data may send more frames that carry nothing, because it needs WINDOW_UPDATE
 * and PRIORITY.
 */
#ifndef HTTP_H2_GUARD_H
#define HTTP_H2_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/status.h>

enum {
    H2_PREFACE_SIZE = 24,   /* size of "PRI * HTTP/2.0..." */
    H2_FRAME_HEAD_SIZE = 9, /* RFC 9113, 4.1 */
    /* number of empty frames that a client may send for each frame that carries something */
    H2_CREDIT_STEP = 8,
    H2_CREDIT_MAX = 8192
};

struct h2_guard {
    uint8_t preface_left; /* bytes of the preface that have not come */
    uint8_t head_size;    /* bytes of the head of the next frame that have come */
    uint8_t head[H2_FRAME_HEAD_SIZE];
    uint32_t left;        /* bytes of this frame that have not come */
    bool is_in_block;     /* a block of headers has begun, and more of its frames follow */
    bool is_in_head;      /* this frame is a part of a block of headers */
    uint32_t blocks;      /* number of blocks of headers that have begun */
    uint32_t block_bytes; /* bytes of this block of headers */
    uint32_t block_max;
    uint32_t continuations; /* number of frames of this block of headers */
    tr_time since_ns;       /* when the period of the next counts began */
    uint32_t resets;
    uint32_t settings; /* number of frames of settings that are no acknowledgements */
    uint32_t idle;     /* number of frames that carry nothing */
    uint32_t
        credit; /* number of frames that carry nothing and may still come without being counted */
    /* the guard checks a server: each request that is sent gives credit for its reset */
    bool is_client;
    const char *why; /* why it is a flood; NULL: it is none */
};

/**
 * Prepares a guard for input from a client. A block of headers may have at most `block_max` bytes,
 * compressed.
 */
void tr__h2_guard_init(struct h2_guard *guard, uint32_t block_max);
/**
 * Prepares a guard for input from a server, which sends no preface. `block_max` as in
 * tr__h2_guard_init.
 */
void tr__h2_guard_init_client(struct h2_guard *guard, uint32_t block_max);
/**
 * Checks bytes that have come. Returns how many of them may be read. If these are not all, sets
 * guard->why.
 */
size_t tr__h2_guard_look(struct h2_guard *guard, const unsigned char *data, size_t size,
                         tr_time now_ns);
/** Notes that a frame with data was sent, which gives the client credit. */
void tr__h2_guard_sent(struct h2_guard *guard);
/**
 * Counts a stream that was reset because of a fault of the client. If there are too many, sets
 * guard->why.
 */
void tr__h2_guard_reset(struct h2_guard *guard, tr_time now_ns);

/** Whether the preface or a block of headers has begun and not ended. */
static inline bool h2_guard_is_amid(const struct h2_guard *guard)
{
    return guard->preface_left || guard->is_in_block || (guard->is_in_head && guard->left);
}

#endif
