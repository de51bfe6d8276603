/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Time to live: an actor that nobody has used for ttl_ns of its kind is destroyed.
 *
 * The time to destroy it is stored as an alarm of the runtime, which the clock of any process finds
 * like other alarms. Storing each use would cost a write for each message. Therefore a use is
 * stored only if the stored one is older by more than ttl_ns / TTL_PART, and the alarm is due by as
 * much later. An actor is destroyed between ttl_ns and ttl_ns + ttl_ns / TTL_PART after its last
 * use.
 *
 * A use is a message that the actor handles. Alarms of the actor and its run handler do not count
 * as uses.
 *
 * Owner only.
 */
#ifndef DURABLE_TTL_H
#define DURABLE_TTL_H

#include "durable/actor.h"

struct store_row;

enum { TTL_PART = 16 };

/** The name of the alarm. No alarm of an application has a name that begins with the byte 1. */
#define TTL_ALARM "\001ttl"
/** The first byte of the names of alarms of the runtime. */
#define TTL_RESERVED '\001'

/**
 * Reads the row of the alarm TTL_ALARM when the alarms of an actor are loaded. Returns false if the
 * row belongs to another alarm.
 */
bool tr__ttl_load(struct durable_actor *actor, const struct store_row *row);
/** Notes that the actor is used now, because it begins to handle a message. */
void tr__ttl_use(struct worker *worker, struct durable_actor *actor);
/**
 * Adds the time of the last use to the batch of the open commit, if it must be stored. `is_due` says that the commit
 * stores something anyway.
 */
TR_MUST_CHECK tr_status tr__ttl_close(struct durable_actor *actor, bool is_due);
/** Returns when the alarm of the time to live is due, or TR_NEVER. */
tr_time tr__ttl_due(const struct durable_actor *actor);
/**
 * Handles the alarm of the time to live: destroys the actor, unless it was used since the alarm was
 * set.
 */
tr_next tr__ttl_turn(struct tr_self *self, struct durable_actor *actor);

#endif
