/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A connection to a server of HTTP/2, and the calls that share it. A call is a request and its
 * answer, on one stream.
 *
 * The channel is read outside of turns, as the channel of a server is (http/h2_session.h). Input
 * for a call wakes the turn that waits for the call. The body of a request stays in memory of its
 * turn until nghttp2 has made frames of it. The body of an answer is kept until a turn reads it.
 * Only when a turn has read bytes, the window of the stream is enlarged (see "Windows" in
 * http/h2_session.h).
 *
 * Rules
 *     1. A flow owns a call from tr__h2_call_open until tr__h2_call_free. A flow always frees its
 *        call before its turn ends.
 *     2. The actor gets tr_closed when no call is left.
 *     3. If a call ends early, its stream is reset and the connection stays. Owner only.
 */
#ifndef HTTP_H2_CLIENT_H
#define HTTP_H2_CLIENT_H

#include "net/channel.h"

struct h2_client;
struct http_conn;

/**
 * Makes an open channel a connection of HTTP/2. If this returns TR_NO_MEMORY or TR_CLOSED, the
 * caller must end the channel.
 */
TR_MUST_CHECK tr_status tr__h2_client_begin(struct channel *channel, struct http_conn *conn);
/** Whether a connection that has `count` calls can take one more. */
bool tr__h2_client_has_place(const struct h2_client *client, uint32_t count);
/** Sets the http_conn of this connection to NULL, because the http_conn is about to be freed. */
void tr__h2_client_forget(struct h2_client *client);
/** Lets nghttp2 make frames as long as the output has space for them. May end the channel. */
void tr__h2_client_flush(struct h2_client *client);
/** Notes that a connection takes no more calls. */
void tr__h2_client_leave(struct h2_client *client);
/**
 * Checks whether the server is alive: sends a ping if nothing has come from the server since
 * `since_ns`.
 */
void tr__h2_client_doubt(struct h2_client *client, tr_time since_ns);

#endif
