/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Answers: what becomes of a request on the side of the actor that handles the request.
 *
 * A request is answered once: by a reply, by an error, or by the actor to which it is forwarded.
 * All functions but answer_is_report: owner only.
 */
#ifndef ACTOR_ASK_ANSWER_H
#define ACTOR_ASK_ANSWER_H

#include <troupe/ask.h>
#include <troupe/status.h>
#include <troupe/message.h>

#include "mem/envelope.h"

struct cell;
struct tr_self;
struct worker;

/** The answer to a WHY: a report of the kind that was asked for, up to the last byte in use. */
TR_MESSAGE(tr_why_told, (bytes, report));
/**
 * Whether an envelope is the reply to a WHY. When no turn waits for it any more, such a reply does
 * not become a dead letter. Any thread.
 */
static inline bool answer_is_report(const struct envelope *reply)
{
    return tr_type_is_equal(reply->type, &tr_type_tr_why_told);
}

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
 * Refuses all requests whose reply was deferred: with TR_STOPPED when the actor ends, with
 * TR_RESTARTED when it is restarted.
 */
void tr__laters_refuse(struct worker *worker, struct cell *cell);
/**
 * Refuses the queued requests of an actor that begins to stop. Otherwise the askers would wait
 * until the children of the actor have ended.
 */
void tr__asks_refuse_queued(struct worker *worker, struct cell *cell);

#endif
