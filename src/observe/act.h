/* SPDX-License-Identifier: Apache-2.0 */
/** Verbs that change the running program. Each leaves a line in the log. */
#ifndef OBSERVE_ACT_H
#define OBSERVE_ACT_H

#include "observe/visitor.h"

void tr__verb_order(struct visitor *visitor, const struct control_request *request);
void tr__verb_tell(struct visitor *visitor, const struct control_request *request);
void tr__verb_ask(struct visitor *visitor, const struct control_request *request);
void tr__verb_log(struct visitor *visitor, const struct control_request *request);

/**
 * Sends an ask; tr__ask_continue then looks for its reply. If the request has no time-out and the
 * worker of the actor is stuck, refuses the request at once and names the turn in which the worker
 * is stuck.
 */
void tr__ask_begin(struct visitor *visitor, const struct control_request *request, tr_ref actor,
                   const tr_type *type, const void *message, tr_time timeout_ns);
/**
 * Checks whether an ask was answered. If the ask has ended, writes its result to the output and
 * returns true.
 */
bool tr__ask_continue(struct visitor *visitor);
/** Ends an ask whose client has gone: cancels it, and leaves a line in the log. */
void tr__ask_leave(struct visitor *visitor);

#endif
