/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A connection of a client that uses HTTP/2: how its frames are read and written.
 *
 * nghttp2 reads and writes frames; only the files http/h2_*.c include its headers. The connection
 * is read outside of turns. A turn of the session handles each request, and several of these turns
 * may wait at the same time. A turn that answers waits until nghttp2 has made frames of its bytes.
 * So no memory is used for a client that does not read. nghttp2 makes frames while the output of
 * the channel has capacity and the client's window is open. The body of a request is kept until its
 * turn reads it.
 *
 * Windows. The window of a stream is enlarged when a turn has read bytes of the stream. The window
 * of the connection is enlarged as soon as bytes come. So the windows of the streams limit the
 * memory, and a stream whose turn does not read does not stop the other streams.
 *
 * Ends. A stream that ends before its answer is complete gets RST_STREAM. A connection that ends
 * gets GOAWAY with the number of the last handled stream; then the channel ends in order. Owner
 * only.
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
 * Checks how a connection without TLS begins. Returns 1 for the preface of HTTP/2, 0 for other
 * bytes, and -1 if more bytes are needed to decide.
 */
int tr__h2_preface(tr_bytes bytes);

/**
 * Returns the connection of HTTP/2 of a channel. Returns NULL if the channel speaks another
 * protocol.
 */
static inline struct h2_session *h2_session_of(const struct channel *channel)
{
    return (struct h2_session *)(void *)channel->rare->streams;
}

/**
 * Makes a channel a connection of HTTP/2. If this returns TR_NO_MEMORY, the caller must end the
 * channel.
 */
TR_MUST_CHECK tr_status tr__h2_begin(struct channel *channel);
/**
 * Reads bytes that have come. May end the channel. Returns how many bytes at the end of them must
 * be read later, after other connections had their turn.
 */
size_t tr__h2_read(struct channel *channel, tr_bytes bytes);
/** Returns the last `size` bytes of the piece to the channel, which is read again soon. */
void tr__h2_read_later(struct channel *channel, size_t size);
/** What the functions of the protocol with these names do for HTTP/2. */
void tr__h2_on_input(struct channel *channel);
void tr__h2_on_drained(struct channel *channel);
void tr__h2_on_ended(struct channel *channel);
void tr__h2_on_deadline(struct channel *channel);
void tr__h2_on_close(struct channel *channel, bool has_failed);
void tr__h2_free(struct channel *channel);

/** Lets nghttp2 make frames as long as the output has space for them. May end the channel. */
void tr__h2_flush(struct h2_session *session);
/**
 * Writes the frames of nghttp2, as many as the output takes. Returns 0, or an error of nghttp2,
 * which is negative.
 */
ssize_t tr__h2_send_frames(struct h2_session *session);
/** Makes options for a session of nghttp2. Returns NULL if there is no memory. */
struct nghttp2_option *tr__h2_options_new(void);

#endif
