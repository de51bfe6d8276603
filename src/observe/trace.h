/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The verb "trace". It follows the messages of an actor, and lists the records of these messages (actor/cell/follow.h).
 *
 *     {"id":1,"do":"trace","path":"/user/bank","after":17}     follows from now on, and lists records above 17
 *     {"id":2,"do":"trace","causal":"4f3a900000000001"}        lists the records of this causal id, and follows it
 *
 * A client follows one actor at a time, until the client's connection ends. The last line of an answer has "last" and
 * "missed". The next request sends "last" as "after". "missed" is how many records were replaced before they could be
 * listed.
 */
#ifndef OBSERVE_TRACE_H
#define OBSERVE_TRACE_H

#include "observe/visitor.h"

void tr__verb_trace(struct visitor *visitor, const struct control_request *request);
/** Stops recording messages for a visitor, because its client is gone. */
void tr__trace_leave(struct visitor *visitor);

/**
 * Reads a causal id, which has up to 16 hexadecimal digits. Returns 0 if the text is not a causal
 * id.
 */
uint64_t tr__causal_read(const char *text);
/** Refuses a request whose causal id is not valid. */
void tr__causal_refuse(struct visitor *visitor, const struct control_request *request);

/**
 * Makes workers record the messages of turns until the connection of the visitor ends. Returns
 * TR_OK or TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__trace_join(struct visitor *visitor);

#endif
