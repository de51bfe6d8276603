/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What flows do on connections of HTTP/2; see http/h2_client.h. In turns, unless a comment says
 * otherwise. Owner only.
 */
#ifndef HTTP_H2_CALL_H
#define HTTP_H2_CALL_H

#include "http/head.h"

struct h2_call;
struct http_flow;

/** Makes a call for a flow. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__h2_call_open(struct http_flow *flow);
/**
 * Sends the head of a request, which is given in the form of HTTP/1.1. Fails with TR_CLOSED,
 * TR_NO_MEMORY, or with TR_INVALID_ARGUMENT if the head is not valid.
 */
TR_MUST_CHECK tr_status tr__h2_call_ask(struct http_flow *flow, tr_bytes head);
/**
 * Sends a piece of the body. Waits until nghttp2 has made frames of the piece. If this returns
 * TR_CLOSED and flow->has_begun is set, an answer has begun to come.
 */
TR_MUST_CHECK tr_status tr__h2_call_send(struct http_flow *flow, tr_bytes bytes, bool is_last);
/** What tr__http_flow_expect does for HTTP/2. */
TR_MUST_CHECK tr_status tr__h2_call_expect(struct http_flow *flow);
/** What tr__http_flow_head does for HTTP/2, except that the members of the flow are not set. */
TR_MUST_CHECK tr_status tr__h2_call_head(struct http_flow *flow, struct http_answer_head *answer);
/** What tr__http_flow_read does for HTTP/2. The piece is borrowed until the next read or wait. */
TR_MUST_CHECK tr_status tr__h2_call_read(struct http_flow *flow, size_t max, tr_bytes *piece);
/** Whether the server has begun to answer. */
bool tr__h2_call_has_begun(const struct h2_call *call);
/** Whether the whole answer has come and was read. */
bool tr__h2_call_is_over(const struct h2_call *call);
/** Cancels a call. The turn that waits for the call gets TR_CANCELLED. */
void tr__h2_call_cancel(struct h2_call *call);
/**
 * Frees a call. If its stream has not ended, resets the stream; `is_late` says that the reason is a
 * timeout.
 */
void tr__h2_call_free(struct h2_call *call, bool is_late);
/** Frees the memory of a call, and does nothing else. May be called outside of turns. */
void tr__h2_call_drop(struct h2_call *call);

#endif
