/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Looks at the headers of the frames of HTTP/2 before nghttp2 reads them, and finds floods. Pure functions.
 *
 * What costs the client little and the server more is counted: frames that carry nothing, streams that are reset, and
 * frames of one block of headers. A client that asks for something, or is sent something, may send more of the
 * first: it needs WINDOW_UPDATE and PRIORITY for that.
 */
#ifndef HTTP_H2_GUARD_H
#define HTTP_H2_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/status.h>

enum {
    H2_PREFACE_SIZE = 24,   /* of "PRI * HTTP/2.0..." */
    H2_FRAME_HEAD_SIZE = 9, /* RFC 9113, 4.1 */
    H2_CREDIT_STEP = 8,     /* frames that a client may send for each that carries something */
    H2_CREDIT_MAX = 8192
};

struct h2_guard {
    uint8_t preface_left; /* bytes of it that have not come */
    uint8_t head_size;    /* bytes of the head of the next frame that have come */
    uint8_t head[H2_FRAME_HEAD_SIZE];
    uint32_t left;        /* bytes of this frame that have not come */
    bool is_in_block;     /* of headers: more frames of it follow */
    bool is_in_head;      /* this frame is of such a block */
    uint32_t blocks;      /* that have begun */
    uint32_t block_bytes; /* of this block of headers */
    uint32_t block_max;
    uint32_t continuations; /* frames of it */
    tr_time since_ns;       /* when these counts began */
    uint32_t resets;
    uint32_t idle;   /* frames that carry nothing */
    uint32_t credit; /* such frames that are not counted */
    bool is_client;  /* it looks at a server: the head of an ask gives credit for its reset */
    const char *why; /* what is too much, once it is */
};

/** `block_max`: bytes of one block of headers, as they are sent. */
void tr__h2_guard_init(struct h2_guard *guard, uint32_t block_max);
/** The same, for what a server sends: it has no preface. */
void tr__h2_guard_init_client(struct h2_guard *guard, uint32_t block_max);
/** Looks at bytes that have come. Returns how many of them may be read; if those are not all, guard->why is set. */
size_t tr__h2_guard_look(struct h2_guard *guard, const unsigned char *data, size_t size,
                         tr_time now_ns);
/** A frame with data was sent. */
void tr__h2_guard_sent(struct h2_guard *guard);
/** A stream was reset because of what the client did. Sets guard->why if that was one too many. */
void tr__h2_guard_reset(struct h2_guard *guard, tr_time now_ns);

/** Whether a head is under way: the preface, or a block of headers. */
static inline bool h2_guard_is_amid(const struct h2_guard *guard)
{
    return guard->preface_left || guard->is_in_block || (guard->is_in_head && guard->left);
}

#endif
