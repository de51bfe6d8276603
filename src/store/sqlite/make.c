/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Makes the tables, and checks which program may open them.
 *
 * A database is made in two steps, and a power cut may come after each of them. First the file gets
 * the application id of a store, without a log. Then it gets its tables in one transaction. So a
 * database that has tables and another id was never a store. If a database has the id of a store
 * and no tables, a power cut came between the two steps; such a database is completed.
 */
#include "store/sqlite/make.h"

#include "store/sqlite/bury.h"
#include "store/sqlite/log.h"
#include "store/sqlite/page_sum.h"
#include "store/sqlite/place.h"
#include "store/sqlite/seal.h"
#include "store/sqlite/vfs_watch.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

/* Numbers of session.h as SQL texts. */
#define FORMAT_TEXT "4"
#define APPLICATION_TEXT "1416778613"
static_assert(SESSION_FORMAT == 4, "FORMAT_TEXT is the same");
static_assert(SESSION_APPLICATION == 1416778613, "APPLICATION_TEXT is the same");

/* The table of the pages of actors' own databases. It exists since format 2. */
#define PAGE_TABLE                                                                                 \
    "CREATE TABLE IF NOT EXISTS page (actor INTEGER NOT NULL, number INTEGER NOT NULL, seal BLOB " \
    "NOT NULL,"                                                                                    \
    " bytes BLOB NOT NULL, PRIMARY KEY (actor, number)) WITHOUT ROWID;"

/* The table of shapes. A shape is the text for the number in the front of states, snapshots and
 * events. The table exists since format 3. */
#define SHAPE_TABLE                                                                                \
    "CREATE TABLE IF NOT EXISTS shape (id INTEGER PRIMARY KEY, seal BLOB NOT NULL, text BLOB NOT " \
    "NULL);"

/* The index of the actors that are to be destroyed (SEAL_DOOMED in their version). It exists since
 * format 3. */
#define DOOMED_INDEX                                                                               \
    "CREATE INDEX IF NOT EXISTS actor_doomed ON actor (version) WHERE version >= 4294967296;"
static_assert(SEAL_DOOMED == 4294967296, "DOOMED_INDEX and ACTOR_DOOMED have the same");

/* The table of the answers to requests that have an id. An answer is found by that id. An index
 * lists answers in the order of their numbers. The table exists since format 4. */
#define REQUEST_TABLE                                                                              \
    "CREATE TABLE IF NOT EXISTS request (actor INTEGER NOT NULL, id BLOB NOT NULL,"                \
    " number INTEGER NOT NULL, seal BLOB NOT NULL, bytes BLOB NOT NULL,"                           \
    " PRIMARY KEY (actor, id)) WITHOUT ROWID;"                                                     \
    "CREATE INDEX IF NOT EXISTS request_number ON request (actor, number);"

/* The index of the actors that lists of keys leave out (STORE_VERSION_HALF or SEAL_DOOMED in their
 * version). It exists since format 4. */
#define HALF_INDEX                                                                                 \
    "CREATE INDEX IF NOT EXISTS actor_half ON actor (version) WHERE version >= 2147483648;"
static_assert(STORE_VERSION_HALF == 2147483648, "HALF_INDEX and ACTOR_NAMES have the same");

static const char tables[] =
    "BEGIN IMMEDIATE;"
    /* The table `store` has only one row, whose id is 1. */
    "CREATE TABLE store (id INTEGER PRIMARY KEY, program BLOB NOT NULL, epoch INTEGER NOT NULL,"
    " key BLOB NOT NULL, seal BLOB NOT NULL);"
    /* `name` is kind, NUL, key. The seal comes before the state, so that SQLite can read the seal
     * without reading the state. */
    "CREATE TABLE actor (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, seal BLOB NOT NULL,"
    " version INTEGER NOT NULL, sequence INTEGER NOT NULL, state BLOB);"
    "CREATE TABLE kv (actor INTEGER NOT NULL, key BLOB NOT NULL, seal BLOB NOT NULL,"
    " value BLOB NOT NULL, PRIMARY KEY (actor, key)) WITHOUT ROWID;"
    "CREATE TABLE alarm (actor INTEGER NOT NULL, name BLOB NOT NULL, due INTEGER NOT NULL,"
    " seal BLOB NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (actor, name)) WITHOUT ROWID;"
    "CREATE INDEX alarm_due ON alarm (due, actor, name);"
    "CREATE TABLE queue (actor INTEGER NOT NULL, name BLOB NOT NULL, id INTEGER NOT NULL,"
    " seal BLOB NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (actor, name, id)) WITHOUT ROWID;"
    "CREATE TABLE event (actor INTEGER NOT NULL, sequence INTEGER NOT NULL, seal BLOB NOT NULL,"
    " bytes BLOB NOT NULL, PRIMARY KEY (actor, sequence)) WITHOUT ROWID;"
    "CREATE TABLE snapshot (actor INTEGER NOT NULL, sequence INTEGER NOT NULL,"
    " seal BLOB NOT NULL, version INTEGER NOT NULL, bytes BLOB NOT NULL,"
    " PRIMARY KEY (actor, sequence)) WITHOUT ROWID;" PAGE_TABLE SHAPE_TABLE DOOMED_INDEX
        REQUEST_TABLE HALF_INDEX;

/* Brings a database of an earlier format to the current format. */
static const char more_tables[] =
    "BEGIN IMMEDIATE;" PAGE_TABLE SHAPE_TABLE DOOMED_INDEX REQUEST_TABLE HALF_INDEX
    "PRAGMA user_version = " FORMAT_TEXT "; COMMIT";

tr_status tr__make_refuse(tr_error *error, tr_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        *error = (tr_error){.status = status};
        va_start(arguments, format);
        (void)vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return status;
}

void tr__make_text_by(struct vfs *vfs, const struct link *link, char *text, size_t size)
{
    char cause[300] = "";
    int result = link->database ? sqlite3_extended_errcode(link->database) : SQLITE_NOMEM;
    int kind = result & 0xff;
    if (kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN || kind == SQLITE_FULL)
        tr__vfs_failure(vfs, cause, sizeof cause);
    (void)snprintf(text,
                   size,
                   "%s%s%s (SQLite %d)",
                   cause,
                   *cause ? "; " : "",
                   link->database ? sqlite3_errmsg(link->database) : "no memory",
                   result);
}

tr_status tr__make_refuse_by(tr_error *error, struct store_session *session,
                             const struct link *link, tr_status status)
{
    char text[200];
    tr__make_text_by(&session->vfs, link, text, sizeof text);
    return tr__make_refuse(error, status, "%s: %s", session->path, text);
}

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

sqlite3_file *tr__make_file_of(const struct link *link)
{
    sqlite3_file *file = NULL;
    int result =
        sqlite3_file_control(link->database, "main", SQLITE_FCNTL_FILE_POINTER, (void *)&file);
    return result == SQLITE_OK && file && file->pMethods ? file : NULL;
}

enum look { LOOK_NOTHING, LOOK_GARBAGE, LOOK_FOREIGN, LOOK_OURS };

/*
 * Reads the first bytes of the file before SQLite does anything else with it. A foreign database
 * must not be changed, not even by recovering an unfinished transaction in it.
 */
static enum look look_at(sqlite3_file *file)
{
    enum { HEADER = 100, RESERVED_AT = 20, APPLICATION_AT = 68 };
    static const char magic[] = "SQLite format 3";
    unsigned char header[HEADER];
    if (file->pMethods->xRead(file, header, HEADER, 0) != SQLITE_OK)
        return LOOK_NOTHING; /* the file is empty or too short; SQLite finds out which */
    if (memcmp(header, magic, sizeof magic) != 0)
        /* A first page that was torn while the database was made may look like this too. */
        return LOOK_GARBAGE;
    bool is_ours = header[RESERVED_AT] == PAGE_SUM &&
                   big_endian(header + APPLICATION_AT) == SESSION_APPLICATION;
    return is_ours ? LOOK_OURS : LOOK_FOREIGN;
}

#define UPDATE_ROW "UPDATE store SET program = ?1, epoch = ?2, key = ?3, seal = ?4 WHERE id = 1"

static struct seal seal_store(struct hash_key key, tr_bytes program, uint64_t epoch)
{
    return seal_row(
        key,
        SEAL_STORE,
        program,
        (struct store_generation){0},
        (tr_bytes){NULL, 0},
        epoch,
        /* The seal of this row has the number of the first format in every format, because the row
         * never changed. */
        1,
        (tr_bytes){NULL, 0});
}

/* Writes the row that names the program of the store and counts how often the store was opened. */
static tr_status write_row(struct store_session *session, const char *text, tr_bytes program,
                           uint64_t epoch)
{
    sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(session->writer.database, text, -1, &statement, NULL);
    if (result != SQLITE_OK)
        return tr__link_status(result);
    unsigned char sealed[SEAL_SIZE];
    struct seal seal = seal_store(session->key, program, epoch);
    seal_end(&seal, (struct store_generation){.epoch = epoch}, sealed);
    tr__link_bind_bytes(statement, 1, program);
    tr__link_bind_number(statement, 2, (int64_t)epoch);
    tr__link_bind_bytes(statement, 3, (tr_bytes){&session->key, sizeof session->key});
    tr__link_bind_bytes(statement, 4, (tr_bytes){sealed, sizeof sealed});
    tr_status status = tr__link_run(statement);
    (void)sqlite3_finalize(statement);
    return status;
}

static tr_status make_tables(struct store_session *session, tr_bytes program)
{
    const tr_platform *platform = session->source.platform;
    session->key.low = platform->random(platform);
    session->key.high = platform->random(platform);
    tr_status status = tr__link_execute(&session->writer, tables);
    if (status == TR_OK)
        status = write_row(session,
                           "INSERT INTO store (id, program, epoch, key, seal) "
                           "VALUES (1, ?1, ?2, ?3, ?4)",
                           program,
                           0);
    if (status == TR_OK)
        status =
            tr__link_execute(&session->writer, "PRAGMA user_version = " FORMAT_TEXT "; COMMIT");
    return status;
}

tr_status tr__make_read_row(struct store_session *session, const char *name, char *owner_name,
                            tr_error *error)
{
    tr_bytes program = {name, name ? strlen(name) : 0};
    sqlite3_stmt *statement;
    static const char text[] = "SELECT program, epoch, key, seal FROM store WHERE id = 1";
    int result = sqlite3_prepare_v2(session->writer.database, text, -1, &statement, NULL);
    if (result != SQLITE_OK)
        return tr__make_refuse_by(error, session, &session->writer, tr__link_status(result));
    tr_status status = TR_OK;
    result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        tr_bytes owner = tr__link_bytes(statement, 0);
        session->epoch = (uint64_t)sqlite3_column_int64(statement, 1);
        tr_bytes key = tr__link_bytes(statement, 2);
        tr_bytes sealed = tr__link_bytes(statement, 3);
        if (key.size == sizeof session->key)
            memcpy(&session->key, key.data, key.size);
        struct seal seal = seal_store(session->key, owner, session->epoch);
        if (key.size != sizeof session->key || !seal_fits(&seal, sealed) ||
            (owner_name && owner.size > TR_NAME_MAX))
            status = tr__make_refuse(
                error,
                TR_STORE_CORRUPT,
                "%s is corrupt: the row with the name of its program does not match its checksum",
                session->path);
        else if (!name)
            (void)0; /* nothing to check, because the store may belong to any program */
        else if (owner.size != program.size || memcmp(owner.data, program.data, owner.size) != 0)
            status = tr__make_refuse(error,
                                     TR_STORE_FOREIGN,
                                     "%s belongs to the program %.*s, not to %.*s",
                                     session->path,
                                     (int)owner.size,
                                     (const char *)owner.data,
                                     (int)program.size,
                                     (const char *)program.data);
        if (status == TR_OK && owner_name)
            (void)snprintf(
                owner_name, TR_NAME_MAX + 1, "%.*s", (int)owner.size, (const char *)owner.data);
    } else {
        status = result == SQLITE_DONE ? TR_STORE_CORRUPT : tr__link_status(result);
        (void)tr__make_refuse_by(error, session, &session->writer, status);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* Checks the files before SQLite reads them. Finds out whether they belong to the program and
 * whether the log is complete. */
static tr_status check_files(struct store_session *session, sqlite3_file *file, tr_error *error)
{
    struct vfs *vfs = &session->vfs;
    (void)tr__vfs_look(vfs, file);
    enum look look = look_at(file);
    if (look == LOOK_FOREIGN)
        return tr__make_refuse(
            error, TR_STORE_FOREIGN, "%s is a database, but not a store of Troupe", session->path);
    tr_status status = TR_OK;
    if (look != LOOK_NOTHING && !vfs->is_marked)
        status = tr__place_adopt_log(session, error);
    if (status)
        return status;
    const char *why;
    status = tr__log_check(vfs, file, &why);
    if (status)
        return tr__make_refuse(error,
                               status,
                               "the log %s %s; restore the directory from a backup",
                               vfs->log_path,
                               why);
    return TR_OK;
}

/* Checks that the database is a store, and that its format is known. */
static tr_status check_marks(struct store_session *session, int64_t *format, tr_error *error)
{
    struct link *link = &session->writer;
    sqlite3_file *file = tr__make_file_of(link);
    int64_t application = 0;
    int64_t pages = 0;
    *format = 0;
    tr_status status = file ? check_files(session, file, error) : TR_OK;
    if (status)
        return status;
    status = tr__link_settle(link, session->cache_bytes * (size_t)SESSION_WRITER_CACHES);
    if (status == TR_OK)
        status = tr__link_number(link, "PRAGMA page_count", &pages);
    if (status == TR_OK)
        status = tr__link_number(link, "PRAGMA application_id", &application);
    if (status == TR_OK)
        status = tr__link_number(link, "PRAGMA user_version", format);
    if (status == TR_STORE_CORRUPT && file && look_at(file) == LOOK_GARBAGE)
        return tr__make_refuse(error,
                               TR_STORE_FOREIGN,
                               "%s is not a database, or its beginning is destroyed",
                               session->path);
    if (status)
        return tr__make_refuse_by(error, session, link, status);
    if (pages > 0 && application != SESSION_APPLICATION)
        return tr__make_refuse(
            error, TR_STORE_FOREIGN, "%s is a database, but not a store of Troupe", session->path);
    if (*format > SESSION_FORMAT || *format < 0)
        return tr__make_refuse(error,
                               TR_STORE_NEWER,
                               "%s has format %lld; this version of Troupe reads formats up to %d",
                               session->path,
                               (long long)*format,
                               SESSION_FORMAT);
    return TR_OK;
}

tr_status tr__make_look(struct store_session *session, const char *program, tr_error *error)
{
    int64_t format;
    tr_status status = check_marks(session, &format, error);
    if (status)
        return status;
    if (format != SESSION_FORMAT)
        return tr__make_refuse(
            error,
            TR_NOT_SUPPORTED,
            "%s has format %lld and not %d: its program brings it to that when it starts",
            session->path,
            (long long)format,
            SESSION_FORMAT);
    status = tr__link_execute(&session->writer, "PRAGMA query_only = ON");
    if (status)
        return tr__make_refuse_by(error, session, &session->writer, status);
    return tr__make_read_row(session, program, NULL, error);
}

tr_status tr__make_database(struct store_session *session, const struct store_options *options,
                            tr_error *error)
{
    struct link *link = &session->writer;
    tr_bytes program = {options->program, strlen(options->program)};
    int64_t format;
    tr_status status = check_marks(session, &format, error);
    if (status)
        return status;
    if (format == 0)
        status = tr__link_execute(
            link, "PRAGMA auto_vacuum = NONE; PRAGMA application_id = " APPLICATION_TEXT);
    if (status == TR_OK)
        status = tr__link_execute(link, "PRAGMA journal_mode = WAL");
    if (status == TR_OK)
        status = tr__link_execute(
            link, options->is_sync_off ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = FULL");
    if (status == TR_OK && format == 0)
        status = make_tables(session, program);
    if (status == TR_OK && format > 0 && format < SESSION_FORMAT)
        status = tr__link_execute(link, more_tables);
    if (status)
        return tr__make_refuse_by(error, session, link, status);
    status = tr__make_read_row(session, options->program, NULL, error);
    if (status)
        return status;
    session->epoch++;
    status = write_row(session, UPDATE_ROW, program, session->epoch);
    if (status == TR_OK)
        status = tr__bury_doomed(session);
    if (status)
        return tr__make_refuse_by(error, session, link, status);
    return TR_OK;
}

tr_status tr__make_adopt(struct store_session *session, struct hash_key key, uint64_t epoch,
                         const char *program)
{
    if (epoch > session->epoch)
        session->epoch = epoch;
    session->key = key;
    return write_row(session, UPDATE_ROW, (tr_bytes){program, strlen(program)}, session->epoch);
}

tr_status tr__make_mark(struct store_session *session, tr_error *error)
{
    struct link *link = &session->writer;
    struct vfs *vfs = &session->vfs;
    if (vfs->is_marked)
        return TR_OK;
    /* The mark is on the first page. This statement changes that page, and the mark then gets to
     * the file as every page does, through the log. */
    tr_status status = tr__link_execute(link, "PRAGMA user_version = " FORMAT_TEXT);
    vfs->is_marked = status == TR_OK;
    if (status == TR_OK)
        status = tr__link_status(
            sqlite3_wal_checkpoint_v2(link->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL));
    if (status)
        return tr__make_refuse_by(error, session, link, status);
    sqlite3_file *file = tr__make_file_of(link);
    if (!file || tr__vfs_look(vfs, file) != VFS_LOOK_MARKED)
        return tr__make_refuse(
            error, TR_STORE_FAILED, "%s: the first page could not be marked", session->path);
    return TR_OK;
}
