/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a commit does with the SQL tables of an actor. All functions may be called for an actor
 * without tables.
 */
#ifndef DURABLE_SQL_H
#define DURABLE_SQL_H

#include "durable/actor.h"

/** Whether the open commit or a finished commit has changed tables. */
bool tr__durable_sql_has_changed(const struct durable_actor *actor);
/** Returns whether the open commit has changed tables. */
bool tr__durable_sql_is_kept(const struct durable_actor *actor);
/**
 * Notes that the open commit is finished and is stored later. If the next commit fails, this
 * commit's changes of tables are not undone.
 */
void tr__durable_sql_finish(struct durable_actor *actor);
/** Adds the changes of tables to the batch of the open commit. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__durable_sql_put(struct durable_actor *actor);
/** Notes that the changes of tables were submitted, with the commit of this number. */
void tr__durable_sql_submitted(struct durable_actor *actor, uint64_t commit);
/** Notes that the commit with this number is on disk. Frees the copies of its pages. */
void tr__durable_sql_stored(struct durable_actor *actor, uint64_t commit);
/** Undoes the changes of tables that the open commit has made, because the commit has failed. */
void tr__durable_sql_undo(struct durable_actor *actor);
/**
 * Frees all memory of the tables. The generation must have ended, and no commit may be on its way.
 */
void tr__durable_sql_drop(struct durable_actor *actor);

#endif
