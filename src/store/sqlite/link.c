/* SPDX-License-Identifier: Apache-2.0 */
/** Connections to SQLite. */
#include "store/sqlite/link.h"

#include "store/sqlite/page_sum.h"

#include "base/assert.h"

#include <stdio.h>

#define LINK_TEXT_(name, text) text,
static const char *const statement_texts[] = {LINK_STATEMENTS(LINK_TEXT_)};
#undef LINK_TEXT_

tr_status tr__link_status(int result)
{
    switch (result) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return TR_OK;
    case SQLITE_NOMEM:
    case SQLITE_IOERR_NOMEM:
        return TR_NO_MEMORY;
    /* a page that cannot be read counts as corrupt, because other data may be intact */
    case SQLITE_IOERR_READ:
    case SQLITE_IOERR_SHORT_READ:
    case SQLITE_IOERR_CORRUPTFS:
    case SQLITE_IOERR_DATA:
        return TR_STORE_CORRUPT;
    default:
        break;
    }
    switch (result & 0xff) {
    case SQLITE_NOMEM:
        return TR_NO_MEMORY;
    case SQLITE_FULL:
        return TR_STORE_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:      /* the statements are correct, so the schema is not that of a store */
    case SQLITE_CONSTRAINT: /* the statements never insert a row that exists */
    case SQLITE_MISMATCH:
        return TR_STORE_CORRUPT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return TR_STORE_BUSY;
    case SQLITE_TOOBIG:
        return TR_TOO_LARGE;
    default:
        return TR_STORE_FAILED;
    }
}

tr_status tr__link_execute(struct link *link, const char *text)
{
    return tr__link_status(sqlite3_exec(link->database, text, NULL, NULL, NULL));
}

tr_status tr__link_number(struct link *link, const char *text, int64_t *number)
{
    sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(link->database, text, -1, &statement, NULL);
    if (result != SQLITE_OK)
        return tr__link_status(result);
    result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        *number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return result == SQLITE_DONE ? TR_STORE_CORRUPT : tr__link_status(result);
}

tr_status tr__link_open(struct link *link, const struct vfs *vfs, const char *path)
{
    *link = (struct link){0};
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    int result = sqlite3_open_v2(path, &link->database, flags, vfs->name);
    if (result != SQLITE_OK)
        return tr__link_status(result);
    int reserved = PAGE_SUM; /* has an effect only if this connection makes the database */
    (void)sqlite3_file_control(link->database, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    (void)sqlite3_db_config(link->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(link->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return TR_OK;
}

tr_status tr__link_settle(struct link *link, size_t cache_bytes)
{
    enum { KIB = 1024 };
    char text[200];
    (void)snprintf(text,
                   sizeof text,
                   "PRAGMA page_size = %d; PRAGMA cache_size = -%zu; PRAGMA temp_store = MEMORY; "
                   "PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA secure_delete = FAST",
                   PAGE_SIZE,
                   (cache_bytes + KIB - 1) / KIB);
    return tr__link_execute(link, text);
}

void tr__link_close(struct link *link)
{
    for (size_t i = 0; i < SQL_COUNT; i++)
        (void)sqlite3_finalize(link->statements[i]);
    int result = sqlite3_close(link->database);
    TR_ASSERT(result == SQLITE_OK);
}

sqlite3_stmt *tr__link_statement(struct link *link, enum link_statement which, tr_status *status)
{
    sqlite3_stmt **statement = &link->statements[which];
    if (!*statement) {
        int result = sqlite3_prepare_v3(
            link->database, statement_texts[which], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
        if (result != SQLITE_OK) {
            *status = tr__link_status(result);
            return NULL;
        }
    }
    return *statement;
}

tr_status tr__link_ready(struct link *link)
{
    tr_status status = TR_OK;
    for (int which = SQL_BEGIN; which <= SQL_ROLLBACK && status == TR_OK; which++)
        (void)tr__link_statement(link, (enum link_statement)which, &status);
    return status;
}

tr_status tr__link_run(sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);
    TR_ASSERT(result != SQLITE_ROW);
    (void)sqlite3_reset(statement);
    return tr__link_status(result);
}

tr_status tr__link_do(struct link *link, enum link_statement which)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(link, which, &status);
    return statement ? tr__link_run(statement) : status;
}

void tr__link_bind_bytes(sqlite3_stmt *statement, int index, tr_bytes bytes)
{
    /* A NULL pointer would bind SQL's NULL instead of an empty value. */
    int result = sqlite3_bind_blob64(
        statement, index, bytes.size > 0 ? bytes.data : "", bytes.size, SQLITE_STATIC);
    TR_ASSERT(result == SQLITE_OK);
}

void tr__link_bind_number(sqlite3_stmt *statement, int index, int64_t number)
{
    int result = sqlite3_bind_int64(statement, index, number);
    TR_ASSERT(result == SQLITE_OK);
}

tr_bytes tr__link_bytes(sqlite3_stmt *statement, int column)
{
    tr_bytes bytes = {.data = sqlite3_column_blob(statement, column)};
    bytes.size = (size_t)sqlite3_column_bytes(statement, column);
    return bytes;
}
