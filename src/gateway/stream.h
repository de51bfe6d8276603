/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stream: an answer of text/event-stream that is a connection of a durable actor.
 *
 * Its turn ends as soon as it has begun. Events are written in turns of their own; what a stream keeps meanwhile is its
 * record, beside its connection. Owner only.
 */
#ifndef GATEWAY_STREAM_H
#define GATEWAY_STREAM_H

#include "gateway/visit.h"

/** Answers a visit that was admitted with the events of its actor, until one side ends. Waits for the actor. */
void tr__stream_open(struct visit *visit);
/**
 * Sends an event to a stream of the session, or ends the stream. False: no stream has this token.
 * Does not wait.
 */
bool tr__stream_event(struct tr_self *self, uint64_t token, uint64_t number, tr_buffer *text);
/** Ends a stream of the session. False: no stream has this token. Does not wait. */
bool tr__stream_close(struct tr_self *self, uint64_t token, int code, bool is_settled);

#endif
