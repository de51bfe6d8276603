/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deflates messages of WebSocket (RFC 7692), and compresses answers of HTTP by gzip (RFC 1952), with zlib. A build
 * without zlib has deflate_none.c instead. The functions in that file return TR_NOT_SUPPORTED.
 *
 *     struct deflate *state = tr__deflate_new(&source);
 *     tr__deflate_message(state, 15, bytes, &out);           each message is independent, so one object
 *     tr__inflate_message(state, bytes, message_max, &out);  serves all connections of a worker
 *     tr__deflate_free(state);
 *
 * zlib needs 264 KiB for a stream that deflates, and 40 KiB for a stream that inflates. A stream is made when it is
 * first used.
 */
#ifndef HTTP_DEFLATE_H
#define HTTP_DEFLATE_H

#include "net/buffer.h"

/**
 * Two streams of zlib, one for deflating and one for inflating. Each is used for one message after
 * the other. Owner only.
 */
struct deflate;

/** Whether the library was built with zlib. */
bool tr__deflate_is_built(void);

/** Returns a new object; the source must outlive it. Returns NULL if there is no memory. */
TR_MUST_CHECK struct deflate *tr__deflate_new(const struct memory_source *source);

/** Frees the object and its streams; NULL is allowed. */
void tr__deflate_free(struct deflate *state);

/**
 * Appends the deflated form of a message to `out`, without the four bytes 00 00 FF FF at its end (RFC 7692 7.2.1).
 * `bits` is the size of the window that both sides have agreed on, 9 to 15 bits. TR_NO_MEMORY: nothing was appended.
 */
TR_MUST_CHECK tr_status tr__deflate_message(struct deflate *state, unsigned bits, tr_bytes message,
                                            struct net_buffer *out);

/**
 * Appends the inflated form of a message to `out` (RFC 7692 7.2.2). Fails with TR_TOO_LARGE as soon
 * as the inflated form has more than `size_max` bytes, with TR_BAD_DATA if the message is malformed
 * or ends too early, or with TR_NO_MEMORY. After an error nothing was appended.
 */
TR_MUST_CHECK tr_status tr__inflate_message(struct deflate *state, tr_bytes message,
                                            size_t size_max, struct net_buffer *out);

/**
 * Inflates a body in the form of a gzip file with one member, and appends the content to `out`.
 * Fails with TR_TOO_LARGE if the content has more than `size_max` bytes, with TR_BAD_DATA if the
 * file is malformed, incomplete or followed by other bytes, or with TR_NO_MEMORY. After an error
 * nothing was appended.
 */
TR_MUST_CHECK tr_status tr__gunzip(struct deflate *state, tr_bytes body, size_t size_max,
                                   struct net_buffer *out);

/** Appends the gzip form of the body of an answer to `out`. TR_NO_MEMORY: nothing was appended. */
TR_MUST_CHECK tr_status tr__gzip(struct deflate *state, tr_bytes body, struct net_buffer *out);

#endif
