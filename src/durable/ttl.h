/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Time to live: an actor that nobody has used for ttl_ns of its kind is destroyed.
 *
 * The time of its end is stored as an alarm of the runtime. So the clock finds it among all other alarms, in any
 * process. To store each use would cost a write for each message. So a use is stored only if it is later than the
 * stored one by a TTL_PART of ttl_ns, and the alarm is due as much later. An actor is never destroyed less than ttl_ns
 * after its last use, and at most a TTL_PART later.
 *
 * A use is a message that the actor handles. Alarms of the actor and its run handler do not count as uses.
 *
 * Owner only.
 */
#ifndef DURABLE_TTL_H
#define DURABLE_TTL_H

#include "durable/actor.h"

struct store_row;

enum { TTL_PART = 16 };

/** The name of the alarm. No alarm of an application has a name that begins with that byte. */
#define TTL_ALARM "\001ttl"
/** The first byte of the names of alarms of the runtime. */
#define TTL_RESERVED '\001'

/**
 * Reads the row of the alarm TTL_ALARM when the alarms of an actor are loaded. Returns false if the
 * row belongs to another alarm.
 */
bool tr__ttl_load(struct durable_actor *actor, const struct store_row *row);
/** Notes that the actor is used now: it begins to handle a message. */
void tr__ttl_use(struct worker *worker, struct durable_actor *actor);
/**
 * Adds the time of the last use to the batch of the open commit, if it must be stored. `is_due` says that the commit
 * stores something anyway.
 */
TR_MUST_CHECK tr_status tr__ttl_close(struct durable_actor *actor, bool is_due);
/** Returns when the alarm of the time to live is due, or TR_NEVER. */
tr_time tr__ttl_due(const struct durable_actor *actor);
/** Handles the alarm of the time to live: destroys the actor, unless it was used meanwhile. */
tr_next tr__ttl_turn(struct tr_self *self, struct durable_actor *actor);

#endif
