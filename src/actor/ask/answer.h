/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Answers: what becomes of a request on the side of the actor that handles it.
 *
 * A request is answered once: by a reply, by an error, or by the actor to which it is forwarded.
 * All functions: owner only.
 */
#ifndef ACTOR_ASK_ANSWER_H
#define ACTOR_ASK_ANSWER_H

#include <troupe/ask.h>
#include <troupe/status.h>
#include <troupe/message.h>

struct cell;
struct envelope;
struct tr_self;
struct worker;

/**
 * Returns the status that the asker gets when this turn has failed: TR_FAILED. If a durable actor
 * could not read or store its data, returns the status of that operation instead.
 */
tr_status tr__ask_failed_status(const struct tr_self *self);
/**
 * Replies to the request of this turn. Returns a status of tr_tell, TR_WRONG_TYPE or TR_CANCELLED.
 */
tr_status tr__ask_reply(struct tr_self *self, const tr_type *type, const void *message);
/**
 * Refuses the request of this turn. If the message of the turn is no request, logs the refusal
 * instead.
 */
void tr__turn_refuse(struct tr_self *self, int code, const char *text);
/**
 * Forwards the request of this turn to another actor, which then answers the asker. Returns what
 * tr_tell returns.
 */
tr_status tr__ask_forward(struct tr_self *self, uint64_t to);
/**
 * Defers the reply to a request, as tr_reply_later does. `request` has the asker and the number of
 * the ask. Returns all zero when out of memory; then the request fails with TR_NO_MEMORY when the
 * turn ends.
 */
tr_later tr__later_new(struct tr_self *self, const struct envelope *request, const tr_type *type);
/**
 * Answers all requests whose reply was deferred, because the actor ends (TR_STOPPED) or is
 * restarted (TR_RESTARTED).
 */
void tr__laters_refuse(struct worker *worker, struct cell *cell);
/**
 * Refuses the queued requests of an actor that begins to stop, so that their askers need not wait
 * for the end of its children.
 */
void tr__asks_refuse_queued(struct worker *worker, struct cell *cell);

#endif
