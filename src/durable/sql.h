/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a commit does with the SQL tables of an actor. All functions may be called for an actor that has no tables.
 */
#ifndef DURABLE_SQL_H
#define DURABLE_SQL_H

#include "durable/actor.h"

/** Whether the commit that runs, or one that is to be stored later, has changed its tables. */
bool tr__durable_sql_has_changed(const struct durable_actor *actor);
/** The commit that runs has ended well, and is to be stored later. */
void tr__durable_sql_finish(struct durable_actor *actor);
/** Adds that to the batch. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__durable_sql_put(struct durable_actor *actor);
/** The batch was submitted as this commit. */
void tr__durable_sql_submitted(struct durable_actor *actor, uint64_t commit);
/** It is on disk. */
void tr__durable_sql_stored(struct durable_actor *actor, uint64_t commit);
/** The commit that runs has failed. */
void tr__durable_sql_undo(struct durable_actor *actor);
/** The generation is over; nothing is on its way. */
void tr__durable_sql_drop(struct durable_actor *actor);

#endif
