/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Time to live. An actor that was not used for ttl_ns of its kind is destroyed.
 *
 * The time at which the actor is to be destroyed is stored as an alarm of the runtime. The clock of
 * any later process finds this alarm like other alarms. Storing each use would cost a write for
 * each message. Therefore a use is stored only if the stored use is older by more than ttl_ns /
 * TTL_PART. To make up for this, the alarm is due ttl_ns / TTL_PART later. So an actor is destroyed
 * between ttl_ns and ttl_ns + ttl_ns / TTL_PART after its last use.
 *
 * A use is a message that the actor handles. Alarms of the actor and its run handler do not count
 * as uses.
 *
 * Only the owner of the actor uses this.
 */
#ifndef DURABLE_TTL_H
#define DURABLE_TTL_H

#include "durable/actor.h"

struct store_row;

enum { TTL_PART = 16 };

/** The name of the alarm. The name of an application's alarm never begins with the byte 1. */
#define TTL_ALARM "\001ttl"
/** The first byte in the names of all alarms of the runtime. */
#define TTL_RESERVED '\001'

/**
 * Reads a row when the alarms of an actor are loaded. Returns false if the row is not that of the
 * alarm TTL_ALARM.
 */
bool tr__ttl_load(struct durable_actor *actor, const struct store_row *row);
/** Notes that the actor is used now. The caller is about to handle a message, or has handled it. */
void tr__ttl_use(struct worker *worker, struct durable_actor *actor);
/**
 * If the time of the last use must be stored, adds it to the batch of the open commit. `is_due` says that the commit
 * stores something anyway.
 */
TR_MUST_CHECK tr_status tr__ttl_close(struct durable_actor *actor, bool is_due);
/** Returns when the alarm of the time to live is due. Returns TR_NEVER if there is none. */
tr_time tr__ttl_due(const struct durable_actor *actor);
/**
 * Handles the alarm of the time to live. Destroys the actor, unless it was used since the alarm was
 * set, is busy, or its kind no longer has a time to live.
 */
tr_next tr__ttl_turn(struct tr_self *self, struct durable_actor *actor);

#endif
