/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A connection of HTTP/2 of the client, and the calls that share it, each a stream.
 *
 * The channel is read outside of turns, as that of a server (http/h2_session.h), and wakes the turns that wait for their
 * calls. The bytes of a body lie in memory of the turn until nghttp2 has made frames of them. What comes of a body is kept
 * until a turn reads it, and the server gets new window only then.
 *
 * Rules
 *     1. A call is owned by a flow, from tr__h2_call_open until tr__h2_call_free. No turn ends without one of these.
 *     2. The end of the channel, tr_closed, comes when no call is left.
 *     3. A call that ends early is reset, and the connection stays.
 * Owner only.
 */
#ifndef HTTP_H2_CLIENT_H
#define HTTP_H2_CLIENT_H

#include "http/head.h"
#include "net/channel.h"

struct h2_call;
struct h2_client;
struct http_conn;
struct http_flow;

/** Makes an open channel a connection of HTTP/2. TR_NO_MEMORY, TR_CLOSED: the caller ends the channel. */
TR_MUST_CHECK tr_status tr__h2_client_begin(struct channel *channel, struct http_conn *conn);
/** Whether the connection takes another call beside `count` ones. */
bool tr__h2_client_has_place(const struct h2_client *client, uint32_t count);
/** The http_conn of this connection is about to be freed. */
void tr__h2_client_forget(struct h2_client *client);

/** Makes a call for a flow. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__h2_call_open(struct http_flow *flow);
/** Sends the head of a request, which is given as that of HTTP/1.1. TR_CLOSED, TR_NO_MEMORY, TR_INVALID_ARGUMENT: no such head. */
TR_MUST_CHECK tr_status tr__h2_call_ask(struct http_flow *flow, tr_bytes head);
/** Sends a piece of the body; waits until it is in frames. TR_CLOSED with flow->has_begun: an answer comes already. */
TR_MUST_CHECK tr_status tr__h2_call_send(struct http_flow *flow, tr_bytes bytes, bool is_last);
/** As tr__http_flow_expect. */
TR_MUST_CHECK tr_status tr__h2_call_expect(struct http_flow *flow);
/** As tr__http_flow_head, without what the head means for the flow. */
TR_MUST_CHECK tr_status tr__h2_call_head(struct http_flow *flow, struct http_answer_head *answer);
/** As tr__http_flow_read. The piece is borrowed until the next read, or wait. */
TR_MUST_CHECK tr_status tr__h2_call_read(struct http_flow *flow, size_t max, tr_bytes *piece);
/** Whether the server has begun to answer. */
bool tr__h2_call_has_begun(const struct h2_call *call);
/** Whether nothing more of the answer comes, and all of it was read. */
bool tr__h2_call_is_over(const struct h2_call *call);
/** Ends a call for a turn that waits for it: TR_CANCELLED. */
void tr__h2_call_cancel(struct h2_call *call);
/** Frees a call, and resets its stream if that is not over. `is_late`: its time was over. */
void tr__h2_call_free(struct h2_call *call, bool is_late);

#endif
