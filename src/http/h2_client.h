/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A connection of HTTP/2 of the client, and the calls that share it, each a stream.
 *
 * The channel is read outside of turns, as on the side of a server (http/h2_session.h). What is
 * read wakes the turns that wait for it. The bytes of a body lie in memory of the turn until
 * nghttp2 has made frames of them. What comes of a body is kept until a turn reads it, and its
 * stream gets new window only then (http/h2_session.h: windows).
 *
 * Rules
 *     1. A call is owned by a flow, from tr__h2_call_open until tr__h2_call_free. No turn ends without one of these.
 *     2. The end of the channel, tr_closed, comes when no call is left.
 *     3. A call that ends early is reset, and the connection stays.
 * Owner only.
 */
#ifndef HTTP_H2_CLIENT_H
#define HTTP_H2_CLIENT_H

#include "net/channel.h"

struct h2_client;
struct http_conn;

/** Makes an open channel a connection of HTTP/2. TR_NO_MEMORY, TR_CLOSED: the caller ends the channel. */
TR_MUST_CHECK tr_status tr__h2_client_begin(struct channel *channel, struct http_conn *conn);
/** Whether the connection takes another call besides `count` others. */
bool tr__h2_client_has_place(const struct h2_client *client, uint32_t count);
/** Forgets the http_conn of this connection, which is about to be freed. */
void tr__h2_client_forget(struct h2_client *client);
/** Lets nghttp2 make frames as long as the output has space for them. May end the channel. */
void tr__h2_client_flush(struct h2_client *client);
/** Marks a connection that takes no further calls. */
void tr__h2_client_leave(struct h2_client *client);
/** Sends a ping to a server that has sent nothing since `since_ns`. */
void tr__h2_client_doubt(struct h2_client *client, tr_time since_ns);

#endif
