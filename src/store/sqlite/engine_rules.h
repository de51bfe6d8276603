/* SPDX-License-Identifier: Apache-2.0 */
/** What an actor may do with its own database, and which status it gets for a result of SQLite. */
#ifndef STORE_SQLITE_ENGINE_RULES_H
#define STORE_SQLITE_ENGINE_RULES_H

#include "store/sqlite/engine.h"

/** Decides what an actor may do with its database; for sqlite3_set_authorizer. */
int tr__engine_authorize(void *engine, int action, const char *first, const char *second,
                         const char *database, const char *trigger);
/** Returns the status that an actor gets for a result of SQLite. */
tr_status tr__engine_status(const struct sql_engine *engine, int result);

#endif
