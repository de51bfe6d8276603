/* SPDX-License-Identifier: Apache-2.0 */
/** A stream of HTTP/2: its body, its turn, and how its answer is sent. Owner only. */
#ifndef HTTP_H2_STREAM_H
#define HTTP_H2_STREAM_H

#include "http/request.h"
#include "net/protocol_turn.h"

struct h2_session;

/* ---- In the turn of a stream. ---- */

/**
 * Whether the client cannot get an answer any more, because the stream or the connection has ended.
 */
bool tr__h2_is_gone(const struct h2_stream *stream);
/**
 * Reads the next piece of the body. Returns false if the body has ended. If the body cannot be
 * read, ends the request with 400 or 408, and ends the turn. Waits.
 */
bool tr__h2_body_read(struct http_request *request, tr_bytes *bytes);
/**
 * Sends a piece of the answer, and waits until nghttp2 has made frames of the piece. Fails with
 * TR_CLOSED, TR_STALLED, TR_CANCELLED.
 */
TR_MUST_CHECK tr_status tr__h2_write(struct http_request *request, tr_bytes bytes);
/** Ends an answer that was sent in pieces. */
void tr__h2_end(struct http_request *request);
/**
 * Waits until nghttp2 has made frames of everything that the turn has written. Returns the statuses
 * of tr__h2_write.
 */
TR_MUST_CHECK tr_status tr__h2_drain(struct http_request *request);

/* ---- Outside of the turn of a stream. ---- */

/** The handler for the turns of streams, and the function on_turn_done of the protocol. */
extern const tr_handler tr__h2_handler;
void tr__h2_on_turn_done(struct protocol_turn *turn);
/** Makes a stream. Returns NULL if there is no memory. */
struct h2_stream *tr__h2_stream_new(struct h2_session *session, int32_t id);
/** Frees a stream, if no turn handles it and nghttp2 has closed it. */
void tr__h2_stream_rest(struct h2_stream *stream);
/**
 * Called when nghttp2 has closed a stream. `code` is the reason, a code of RFC 9113. The stream may
 * be freed.
 */
void tr__h2_stream_closed(struct h2_stream *stream, uint32_t code);
/** Keeps bytes of a request's body that the client has sent. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__h2_stream_data(struct h2_stream *stream, const uint8_t *data,
                                           size_t size);
/** Wakes the turn of a stream, if it waits. */
void tr__h2_stream_wake(struct h2_stream *stream);

#endif
