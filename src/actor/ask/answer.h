/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Answers: what becomes of a request on the side of the actor that handles it.
 *
 * A request is answered once: by a reply, by an error, or by the actor to which it is forwarded. Owner only, all of it.
 */
#ifndef ACTOR_ASK_ANSWER_H
#define ACTOR_ASK_ANSWER_H

#include <troupe/status.h>
#include <troupe/message.h>

struct cell;
struct tr_self;
struct worker;

/**
 * What those who asked hear of a turn that has failed: TR_FAILED. Of a durable actor whose data could not be read or
 * stored it is the status that says why.
 */
tr_status tr__ask_failed_status(const struct tr_self *self);
/** Replies to the request of this turn. TR_WRONG_TYPE, TR_CANCELLED, and as tr_tell. */
tr_status tr__ask_reply(struct tr_self *self, const tr_type *type, const void *message);
/** Says no to the request of this turn; of a message that nobody asked it is a line of the log. */
void tr__turn_refuse(struct tr_self *self, int code, const char *text);
/** Passes the request of this turn on; who asked is then answered by the other. As tr_tell. */
tr_status tr__ask_forward(struct tr_self *self, uint64_t to);
/** The actor ends: nobody will answer what it put off. */
void tr__laters_refuse(struct worker *worker, struct cell *cell);
/** An actor begins to stop and waits for its children: who asked it and was not heard need not. */
void tr__asks_refuse_queued(struct worker *worker, struct cell *cell);

#endif
