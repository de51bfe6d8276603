/* SPDX-License-Identifier: Apache-2.0 */
/** What an actor may do with its own database, and which status it gets for a result of SQLite. */
#include "store/sqlite/engine_rules.h"

/* Whether a PRAGMA only describes tables. All other PRAGMAs are refused. */
static bool is_harmless(const char *pragma)
{
    static const char *const names[] = {
        "foreign_key_check",
        "foreign_key_list",
        "index_info",
        "index_list",
        "index_xinfo",
        "integrity_check",
        "quick_check",
        "table_info",
        "table_list",
        "table_xinfo",
    };
    for (size_t i = 0; pragma && i < sizeof names / sizeof *names; i++) {
        if (sqlite3_stricmp(pragma, names[i]) == 0)
            return true;
    }
    return false;
}

static const char *engine_refusal(int action, const char *first, const char *second)
{
    switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return "BEGIN, COMMIT or SAVEPOINT (the turn already is a transaction)";
    case SQLITE_ATTACH: /* VACUUM attaches a database too */
    case SQLITE_DETACH:
        return "ATTACH or VACUUM";
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_TEMP_TRIGGER:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_TEMP_TRIGGER:
    case SQLITE_DROP_TEMP_VIEW:
        return "a temporary table, index, trigger or view";
    case SQLITE_CREATE_VTABLE:
    case SQLITE_DROP_VTABLE:
        return "a virtual table";
    case SQLITE_PRAGMA:
        return is_harmless(first) ? NULL : "this PRAGMA";
    case SQLITE_FUNCTION:
        return second && sqlite3_stricmp(second, "load_extension") == 0 ? "load_extension" : NULL;
    default:
        return NULL;
    }
}

int tr__engine_authorize(void *context, int action, const char *first, const char *second,
                         const char *database, const char *trigger)
{
    struct sql_engine *engine = context;
    (void)database;
    (void)trigger;
    if (engine->is_own)
        return SQLITE_OK;
    const char *refused = engine_refusal(action, first, second);
    if (!refused)
        return SQLITE_OK;
    engine->refused = refused;
    return SQLITE_DENY;
}

tr_status tr__engine_status(const struct sql_engine *engine, int result)
{
    switch (result & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return TR_OK;
    case SQLITE_NOMEM:
        return TR_NO_MEMORY;
    case SQLITE_IOERR:
        return engine->io != TR_OK ? engine->io : TR_STORE_CORRUPT;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return TR_STORE_CORRUPT;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return TR_CONSTRAINT;
    case SQLITE_AUTH:
        return TR_NOT_SUPPORTED;
    case SQLITE_FULL:
        return TR_LIMIT;
    case SQLITE_TOOBIG:
        return TR_TOO_LARGE;
    case SQLITE_INTERRUPT:
        return engine->io != TR_OK ? engine->io : TR_OVER_BUDGET;
    default:
        return engine->refused ? TR_NOT_SUPPORTED : TR_INVALID_ARGUMENT;
    }
}
