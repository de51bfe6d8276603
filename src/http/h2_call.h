/* SPDX-License-Identifier: Apache-2.0 */
/** Calls of HTTP/2, as flows of the client use them: http/h2_client.h. In turns, unless they say otherwise. Owner only. */
#ifndef HTTP_H2_CALL_H
#define HTTP_H2_CALL_H

#include "http/head.h"

struct h2_call;
struct http_flow;

/** Makes a call for a flow. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__h2_call_open(struct http_flow *flow);
/**
 * Sends the head of a request, which is given in the form of HTTP/1.1. TR_CLOSED, TR_NO_MEMORY, TR_INVALID_ARGUMENT:
 * the head is not valid.
 */
TR_MUST_CHECK tr_status tr__h2_call_ask(struct http_flow *flow, tr_bytes head);
/** Sends a piece of the body; waits until it is in frames. TR_CLOSED with flow->has_begun: an answer comes already. */
TR_MUST_CHECK tr_status tr__h2_call_send(struct http_flow *flow, tr_bytes bytes, bool is_last);
/** Does what tr__http_flow_expect does. */
TR_MUST_CHECK tr_status tr__h2_call_expect(struct http_flow *flow);
/** Does what tr__http_flow_head does, but does not note in the flow what the head means. */
TR_MUST_CHECK tr_status tr__h2_call_head(struct http_flow *flow, struct http_answer_head *answer);
/** Does what tr__http_flow_read does. The piece is borrowed until the next read or wait. */
TR_MUST_CHECK tr_status tr__h2_call_read(struct http_flow *flow, size_t max, tr_bytes *piece);
/** Whether the server has begun to answer. */
bool tr__h2_call_has_begun(const struct h2_call *call);
/** Whether nothing more of the answer comes, and all of it was read. */
bool tr__h2_call_is_over(const struct h2_call *call);
/** Cancels a call, so that the turn that waits for it gets TR_CANCELLED. */
void tr__h2_call_cancel(struct h2_call *call);
/** Frees a call, and resets its stream if it has not ended. `is_late`: the call has timed out. */
void tr__h2_call_free(struct h2_call *call, bool is_late);
/** Frees the memory of a call. Outside of turns too. */
void tr__h2_call_drop(struct h2_call *call);

#endif
