/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A connection of HTTP/2: what its channel keeps, and how frames come and go.
 *
 * nghttp2 reads and writes frames; its headers are for the files http/h2_*.c alone. The connection
 * is read outside of turns, and each request is a turn of the session, of which several may wait at
 * once. Nothing is kept for a client that does not read: a turn that answers waits until nghttp2
 * has made frames of its bytes, which stay where they are. nghttp2 makes frames while the output of
 * the channel is below its mark and the client's window is open. What a client sends of a body is
 * kept until its turn reads it.
 *
 * Windows. A stream gets new window when a turn has read its bytes, and the connection gets it when they come. So the windows
 * of the streams bound the memory, and a stream that nobody reads does not stop the others.
 *
 * Ends are of two kinds. A stream that ends before its answer is whole gets RST_STREAM. A connection gets GOAWAY with the
 * last stream that was handled, then the end of the channel in order. Owner only.
 */
#ifndef HTTP_H2_SESSION_H
#define HTTP_H2_SESSION_H

#include <sys/types.h>

#include "net/channel.h"

struct h2_session;
struct nghttp2_option;

/** Whether the library was built with nghttp2. */
bool tr__h2_is_built(void);
/**
 * Says how a connection without TLS begins. 1: with the preface of HTTP/2. 0: with something else. -1: more bytes must
 * come.
 */
int tr__h2_preface(tr_bytes bytes);

/** Returns the connection of HTTP/2 of a channel; NULL: it speaks something else. */
static inline struct h2_session *h2_session_of(const struct channel *channel)
{
    return (struct h2_session *)(void *)channel->rare->streams;
}

/** Makes a channel a connection of HTTP/2. TR_NO_MEMORY: the caller ends the channel. */
TR_MUST_CHECK tr_status tr__h2_begin(struct channel *channel);
/** Reads bytes that have come. May end the channel. */
void tr__h2_read(struct channel *channel, tr_bytes bytes);
/** The functions of the protocol. */
void tr__h2_on_input(struct channel *channel);
void tr__h2_on_drained(struct channel *channel);
void tr__h2_on_ended(struct channel *channel);
void tr__h2_on_deadline(struct channel *channel);
void tr__h2_on_close(struct channel *channel, bool has_failed);
void tr__h2_free(struct channel *channel);

/** Lets nghttp2 make frames as long as the output has space for them. May end the channel. */
void tr__h2_flush(struct h2_session *session);
/** Sends what nghttp2 has, as far as the output takes it. Negative: an error of nghttp2. */
ssize_t tr__h2_send_frames(struct h2_session *session);
/** Makes options for a session of nghttp2. NULL: out of memory. */
struct nghttp2_option *tr__h2_options_new(void);

#endif
