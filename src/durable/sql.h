/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a commit does with the SQL tables of an actor. All functions may be called for an actor that has no tables.
 */
#ifndef DURABLE_SQL_H
#define DURABLE_SQL_H

#include "durable/actor.h"

/** Returns whether the open commit or a finished one has changed tables. */
bool tr__durable_sql_has_changed(const struct durable_actor *actor);
/** The open commit has become finished: it is stored later. */
void tr__durable_sql_finish(struct durable_actor *actor);
/** Adds the changes of tables to the batch of the open commit. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__durable_sql_put(struct durable_actor *actor);
/** The batch was submitted as the commit with this number. */
void tr__durable_sql_submitted(struct durable_actor *actor, uint64_t commit);
/** The commit with this number is on disk. */
void tr__durable_sql_stored(struct durable_actor *actor, uint64_t commit);
/** The open commit has failed: takes its changes of tables back. */
void tr__durable_sql_undo(struct durable_actor *actor);
/** The generation has ended and no commit is on its way: frees what the tables need. */
void tr__durable_sql_drop(struct durable_actor *actor);

#endif
