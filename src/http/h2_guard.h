/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads the heads of frames of HTTP/2 before nghttp2 does, to detect floods: input that is meant to
 * keep the server busy. Pure functions.
 *
 * Counts what costs the client little and the server more: frames that carry nothing, frames of
 * settings, streams that are reset, and the frames of one block of headers. A client that makes
 * requests or receives data may send more frames that carry nothing, because it must send
 * WINDOW_UPDATE, and may send PRIORITY.
 */
#ifndef HTTP_H2_GUARD_H
#define HTTP_H2_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/status.h>

enum {
    H2_PREFACE_SIZE = 24,   /* size of "PRI * HTTP/2.0...", with which a client begins */
    H2_FRAME_HEAD_SIZE = 9, /* RFC 9113, 4.1 */
    /*
     * For each frame that carries something, the client may send this many frames that carry
     * nothing.
     */
    H2_CREDIT_STEP = 8,
    H2_CREDIT_MAX = 8192,
    /*
     * How many frames that carry nothing are handled before other connections are served. A frame
     * of settings counts as H2_SETTINGS_WEIGHT frames, because it costs that many times as much.
     */
    H2_BURST_MAX = 64,
    H2_SETTINGS_WEIGHT = 8
};

struct h2_guard {
    uint8_t preface_left; /* how many bytes of the preface have not come yet */
    uint8_t head_size;    /* how many bytes of the next frame's head have come */
    uint8_t head[H2_FRAME_HEAD_SIZE];
    uint32_t left;        /* how many bytes of the current frame have not come yet */
    bool is_in_block;     /* a block of headers has begun, and more of its frames follow */
    bool is_in_head;      /* the current frame is a part of a block of headers */
    uint32_t blocks;      /* number of blocks of headers that have begun */
    uint32_t block_bytes; /* bytes of the last block of headers so far */
    uint32_t block_max;
    /* number of frames of the last block of headers after its first frame */
    uint32_t continuations;
    tr_time since_ns; /* when the present period of the counts below has begun */
    uint32_t resets;
    uint32_t settings; /* number of frames of settings that are no acknowledgements */
    uint32_t idle;     /* number of frames that carry nothing and for which there was no credit */
    /* how many frames that carry nothing may still come without being counted in `idle` */
    uint32_t credit;
    uint32_t burst; /* number of frames that carry nothing since h2_guard_next */
    /*
     * The guard checks input from a server, on the side of the client. Each request that is sent
     * gives credit, because the server may reset the request's stream.
     */
    bool is_client;
    const char *why; /* text: why the input is a flood; NULL: it is none */
};

/**
 * Prepares a guard for input from a client. `block_max` is the most bytes of a compressed block of
 * headers.
 */
void tr__h2_guard_init(struct h2_guard *guard, uint32_t block_max);
/**
 * Prepares a guard for input from a server, which sends no preface. `block_max` as in
 * tr__h2_guard_init.
 */
void tr__h2_guard_init_client(struct h2_guard *guard, uint32_t block_max);
/**
 * Checks bytes that have come. Returns how many of them may be read now. If these are not all,
 * either guard->why is set, or H2_BURST_MAX is reached: other connections go first, then the caller
 * calls h2_guard_next and passes the rest again.
 */
size_t tr__h2_guard_look(struct h2_guard *guard, const unsigned char *data, size_t size,
                         tr_time now_ns);
/** Call when a frame with data was sent. Gives the other side credit. */
void tr__h2_guard_sent(struct h2_guard *guard);
/**
 * Counts a stream that was reset because the client has broken a rule. If too many were reset, sets
 * guard->why.
 */
void tr__h2_guard_reset(struct h2_guard *guard, tr_time now_ns);

/** Notes that other connections have gone first. */
static inline void h2_guard_next(struct h2_guard *guard)
{
    guard->burst = 0;
}

/** Whether the guard is in the middle of the preface or of a block of headers. */
static inline bool h2_guard_is_amid(const struct h2_guard *guard)
{
    return guard->preface_left || guard->is_in_block || (guard->is_in_head && guard->left);
}

#endif
