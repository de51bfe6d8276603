/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Time to live: an actor that nobody has used for ttl_ns of its kind is destroyed.
 *
 * When it ends is stored as an alarm of the runtime, so the clock finds it among all other alarms, in any process. To
 * store each use would cost a write for each message. So a use is stored only if it is later than the stored one by a
 * TTL_PART of ttl_ns, and the alarm is due as much later. An actor is never destroyed less than ttl_ns after its last
 * use, and at most a TTL_PART later.
 *
 * A use is a message that the actor handles. Its own alarms and its run handler are none.
 *
 * Owner only.
 */
#ifndef DURABLE_TTL_H
#define DURABLE_TTL_H

#include "durable/actor.h"

struct store_row;

enum { TTL_PART = 16 };

/** The name of the alarm. No alarm of an application begins with that byte. */
#define TTL_ALARM "\001ttl"
/** The first byte of the names of alarms of the runtime. */
#define TTL_RESERVED '\001'

/** Takes the row of the alarm when the alarms of an actor are loaded. Returns false if it is another alarm. */
bool tr__ttl_load(struct durable_actor *actor, const struct store_row *row);
/** The actor begins to handle a message. */
void tr__ttl_use(struct worker *worker, struct durable_actor *actor);
/**
 * The open commit is about to be closed; `is_due`: it stores something. Adds the use to its batch, if it must be
 * stored.
 */
TR_MUST_CHECK tr_status tr__ttl_close(struct durable_actor *actor, bool is_due);
/** Returns when the alarm is due, or TR_NEVER. */
tr_time tr__ttl_due(const struct durable_actor *actor);
/** Handles the alarm: destroys the actor, unless it was used meanwhile. */
tr_next tr__ttl_turn(struct tr_self *self, struct durable_actor *actor);

#endif
