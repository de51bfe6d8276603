/* SPDX-License-Identifier: Apache-2.0 */
/** W3C Trace Context for requests whose turns are followed (actor/cell/follow.h). */
#ifndef HTTP_TRACE_H
#define HTTP_TRACE_H

#include "http/trace_parent.h"

struct http_request;
struct tr_self;

/** Whether messages are followed now, so that requests need the two functions below. Any thread. */
bool tr__http_trace_is_on(const struct tr_self *self);
/**
 * Call when the turn of a request begins. Gives the turn a causal id, takes over the trace of the
 * client, and follows the turn if the program or the client wants that. tr__follow_end undoes this.
 * Owner only.
 */
void tr__http_trace_begin(struct http_request *request);
/**
 * Writes the value of traceparent for a request that this turn sends. Returns false if the turn has no span. Owner
 * only.
 */
bool tr__http_trace_out(const struct tr_self *self, char text[TRACE_PARENT_SIZE]);

#endif
