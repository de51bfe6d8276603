/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stream: an answer of text/event-stream that connects a client to a durable actor.
 *
 * The turn of the request ends when the stream has begun. Events are written in turns of their own.
 * Between two events a stream keeps only its record and its connection. Owner only.
 */
#ifndef GATEWAY_STREAM_H
#define GATEWAY_STREAM_H

#include "gateway/visit.h"

/**
 * Answers an admitted visit with the events of its actor, until one side ends. Waits for the actor.
 */
void tr__stream_open(struct visit *visit);
/**
 * Sends an event to a stream of this session. Ends the stream instead if events were lost or too
 * many bytes are unsent. Returns false if no stream has this token. Does not wait.
 */
bool tr__stream_event(struct tr_self *self, uint64_t token, uint64_t number, tr_buffer *text);
/** Ends a stream of this session. Returns false if no stream has this token. Does not wait. */
bool tr__stream_close(struct tr_self *self, uint64_t token, int code, bool is_settled);

#endif
