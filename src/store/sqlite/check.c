/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks a store without changing it.
 *
 * SQLite's integrity_check reads every page of every table and index through the VFS. The VFS
 * compares each page with its sum. If the log has a newer version of a page, integrity_check reads
 * that version. So a torn page of the database does not count as damage if the log has a newer
 * version. After integrity_check, each row is compared with its seal.
 */
#include "store/sqlite/check.h"

#include "store/sqlite/log.h"
#include "store/sqlite/make.h"
#include "store/sqlite/seal.h"

#include <stdarg.h>
#include <stdio.h>

struct check {
    struct store_session *session;
    struct store_check *report;
    store_check_damage *on_damage;
    void *context;
};

/* The rows of a table, each with the name of its actor. The columns are: name, key, number, other
 * number, seal, value. The query leaves out rows of destroyed actors, because they will be deleted.
 * The names of destroyed actors are below x'01'. */
struct check_table {
    const char *name;
    enum seal_kind kind;
    const char *columns;
    const char *table;
};

static const struct check_table check_tables[] = {
    {"key", SEAL_KV, "t.key, 0, 0, t.seal, t.value", "kv"},
    {"alarm", SEAL_ALARM, "t.name, t.due, 0, t.seal, t.bytes", "alarm"},
    {"queue item", SEAL_QUEUE, "t.name, t.id, 0, t.seal, t.bytes", "queue"},
    {"event", SEAL_EVENT, "x'', t.sequence, 0, t.seal, t.bytes", "event"},
    {"snapshot", SEAL_SNAPSHOT, "x'', t.sequence, t.version, t.seal, t.bytes", "snapshot"},
    {"page of its tables", SEAL_PAGE, "x'', t.number, 0, t.seal, t.bytes", "page"},
    {"request", SEAL_REQUEST, "t.id, t.number, 0, t.seal, t.bytes", "request"},
};

__attribute__((__format__(__printf__, 2, 3))) static void check_found(struct check *check,
                                                                      const char *format, ...)
{
    char text[600];
    va_list arguments;
    check->report->damages++;
    if (!check->on_damage)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    check->on_damage(check->context, text);
}

/* Writes a name as kind/key, with '?' for bytes that cannot be printed. */
static const char *text_of(tr_bytes name, char text[TR_NAME_MAX + 64])
{
    const unsigned char *bytes = name.data;
    size_t size = name.size < TR_NAME_MAX + 63 ? name.size : TR_NAME_MAX + 63;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(bytes[i] == 0 ? '/' : bytes[i] < ' ' || bytes[i] > '~' ? '?' : bytes[i]);
    text[size] = '\0';
    return text;
}

/* Frees a statement whose last step returned `result`. If `result` means that not all rows could be
 * read, reports damage. */
static tr_status check_end(struct check *check, sqlite3_stmt *statement, int result,
                           const char *what)
{
    tr_status status = tr__link_status(result);
    (void)sqlite3_finalize(statement);
    if (status == TR_STORE_CORRUPT) {
        check_found(check, "not all of %s can be read (SQLite %d)", what, result);
        return TR_OK;
    }
    return status;
}

static tr_status check_structure(struct check *check)
{
    enum { DAMAGES_MAX = 1000 };
    char text[64];
    sqlite3_stmt *statement = NULL;
    sqlite3 *database = check->session->writer.database;
    (void)snprintf(text, sizeof text, "PRAGMA integrity_check(%d)", DAMAGES_MAX);
    int result = sqlite3_prepare_v2(database, text, -1, &statement, NULL);
    if (result == SQLITE_OK)
        while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
            const char *line = (const char *)sqlite3_column_text(statement, 0);
            if (line && strcmp(line, "ok") != 0)
                check_found(check, "%s", line);
        }
    return check_end(check, statement, result, "the database");
}

/* Compares each actor with its seal. */
static tr_status check_actors(struct check *check)
{
    static const char sql[] =
        "SELECT name, seal, version, sequence, state FROM actor WHERE name >= x'01'";
    sqlite3_stmt *statement = NULL;
    struct hash_key key = check->session->key;
    int result = sqlite3_prepare_v2(check->session->writer.database, sql, -1, &statement, NULL);
    if (result == SQLITE_OK)
        while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
            char text[TR_NAME_MAX + 64];
            struct store_generation generation;
            tr_bytes name = tr__link_bytes(statement, 0);
            tr_bytes sealed = tr__link_bytes(statement, 1);
            bool has_state = sqlite3_column_type(statement, 4) != SQLITE_NULL;
            uint64_t sum = seal_state_sum(key, tr__link_bytes(statement, 4));
            bool fits = seal_generation(sealed, &generation);
            if (fits) {
                struct seal seal = seal_actor(key,
                                              name,
                                              generation,
                                              (uint64_t)sqlite3_column_int64(statement, 2),
                                              (uint64_t)sqlite3_column_int64(statement, 3),
                                              has_state,
                                              sum);
                fits = seal_fits(&seal, sealed);
            }
            check->report->actors++;
            if (!fits)
                check_found(check, "%s: the state does not match its seal", text_of(name, text));
        }
    return check_end(check, statement, result, "the states");
}

static void check_row(struct check *check, const struct check_table *table, sqlite3_stmt *row)
{
    char text[TR_NAME_MAX + 64];
    struct store_generation generation;
    tr_bytes name = tr__link_bytes(row, 0);
    tr_bytes key = tr__link_bytes(row, 1);
    tr_bytes sealed = tr__link_bytes(row, 4);
    tr_bytes value = tr__link_bytes(row, 5);
    check->report->rows++;
    bool fits = seal_generation(sealed, &generation);
    if (fits) {
        struct seal seal = seal_row(check->session->key,
                                    table->kind,
                                    name,
                                    generation,
                                    key,
                                    (uint64_t)sqlite3_column_int64(row, 2),
                                    (uint64_t)sqlite3_column_int64(row, 3),
                                    value);
        fits = seal_fits(&seal, sealed);
    }
    if (sqlite3_column_type(row, 0) == SQLITE_NULL)
        check_found(check, "a %s belongs to no actor", table->name);
    else if (!fits)
        check_found(check, "%s: a %s does not match its seal", text_of(name, text), table->name);
}

/* Compares each row of a table with its seal. */
static tr_status check_rows(struct check *check, const struct check_table *table)
{
    char sql[300];
    sqlite3_stmt *statement = NULL;
    sqlite3 *database = check->session->writer.database;
    (void)snprintf(sql,
                   sizeof sql,
                   "SELECT a.name, %s FROM %s t LEFT JOIN actor a ON a.id = t.actor "
                   "WHERE a.name IS NULL OR a.name >= x'01'",
                   table->columns,
                   table->table);
    int result = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (result == SQLITE_ERROR) /* a store of an earlier format lacks some tables */
        return TR_OK;
    if (result == SQLITE_OK)
        while ((result = sqlite3_step(statement)) == SQLITE_ROW)
            check_row(check, table, statement);
    return check_end(check, statement, result, table->table);
}

/* Finds actors whose events have gaps, and actors whose last event does not have the number that is
 * in the actor's row. */
static tr_status check_events(struct check *check)
{
    static const char sql[] = "SELECT a.name FROM event e JOIN actor a ON a.id = e.actor "
                              "WHERE a.name >= x'01' GROUP BY e.actor HAVING "
                              "max(e.sequence) - min(e.sequence) + 1 <> count(*) OR "
                              "max(e.sequence) <> a.sequence";
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(check->session->writer.database, sql, -1, &statement, NULL);
    if (result == SQLITE_OK)
        while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
            char text[TR_NAME_MAX + 64];
            tr_bytes name = tr__link_bytes(statement, 0);
            check_found(check, "%s: events are missing", text_of(name, text));
        }
    return check_end(check, statement, result, "the events");
}

static tr_status check_all(struct check *check)
{
    int64_t pages = 0;
    tr_status status = tr__link_number(&check->session->writer, "PRAGMA page_count", &pages);
    check->report->pages = (uint64_t)pages;
    if (status == TR_OK)
        status = check_structure(check);
    if (status == TR_OK)
        status = check_actors(check);
    for (size_t i = 0; i < sizeof check_tables / sizeof *check_tables && status == TR_OK; i++)
        status = check_rows(check, &check_tables[i]);
    return status ? status : check_events(check);
}

/* Opens the store for reading only. Even after a failure, the caller must close its connection. */
static tr_status check_open(struct check *check, const struct store_options *options,
                            tr_error *error)
{
    const char *why;
    int64_t format = 0;
    struct store_session *session = check->session;
    struct vfs *vfs = &session->vfs;
    struct link *link = &session->writer;
    vfs->is_read_only = true;
    tr_status status = tr__link_open(link, vfs, session->path);
    sqlite3_file *file = status == TR_OK ? tr__make_file_of(link) : NULL;
    if (!file)
        return tr__make_refuse_by(error, session, link, status ? status : TR_STORE_FAILED);
    if (tr__vfs_look(vfs, file) != VFS_LOOK_MARKED)
        return tr__make_refuse(
            error, TR_STORE_FOREIGN, "%s is no store of this version of Troupe", session->path);
    status = tr__log_check(vfs, file, &why);
    if (status == TR_STORE_CORRUPT)
        check_found(check, "%s %s", vfs->log_path, why);
    else if (status != TR_OK)
        return tr__make_refuse(error, status, "%s %s", vfs->log_path, why);
    (void)sqlite3_db_config(link->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    status = tr__link_settle(link, session->cache_bytes);
    if (status == TR_OK)
        status = tr__link_execute(link, "PRAGMA query_only = ON");
    if (status == TR_OK)
        status = tr__link_number(link, "PRAGMA user_version", &format);
    if (status)
        return tr__make_refuse_by(error, session, link, status);
    if (format > SESSION_FORMAT)
        return tr__make_refuse(
            error, TR_STORE_NEWER, "%s has format %lld", session->path, (long long)format);
    return tr__make_read_row(session, options->program, NULL, error);
}

tr_status tr__check_place(const struct store_options *options, uint64_t *bytes, tr_error *error)
{
    static const char *const names[] = {"troupe.db", "troupe.db-log"};
    *bytes = 0;
    for (size_t i = 0; i < 2; i++) {
        struct os_file_id id;
        char path[OS_PATH_SIZE];
        if (options->disk) {
            *bytes += tr__disk_size(options->disk, names[i]);
            continue;
        }
        if (!options->path)
            return tr__make_refuse(error, TR_INVALID_ARGUMENT, "no store: no path");
        (void)snprintf(path, sizeof path, "%s/%s", options->path, names[i]);
        tr_status status = tr__os_file_find(path, &id, error);
        if (status == TR_OK)
            *bytes += id.size;
        else if (i == 0 || status != TR_NOT_FOUND)
            return status;
    }
    return TR_OK;
}

tr_status tr__session_check(const struct store_options *options, struct store_check *report,
                            store_check_damage *on_damage, void *context, tr_error *error)
{
    uint64_t bytes;
    struct store_session *session = NULL;
    *report = (struct store_check){0};
    tr_status status = tr__check_place(options, &bytes, error);
    if (status == TR_OK)
        status = tr__session_take(options, &session, error);
    if (status || !session)
        return status;
    struct check check = {session, report, on_damage, context};
    status =
        tr__vfs_init(&session->vfs, &session->source, session->disk, session->path, options->hook);
    if (status) {
        (void)tr__make_refuse(error, status, "SQLite: %s", tr_status_text(status));
        goto free_session;
    }
    status = check_open(&check, options, error);
    if (status == TR_OK) {
        status = check_all(&check);
        if (status)
            (void)tr__make_refuse_by(error, session, &session->writer, status);
    }
    tr__link_close(&session->writer);
    tr__vfs_deinit(&session->vfs);
free_session:
    tr__session_free(session);
    return status;
}
