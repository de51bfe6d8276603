/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Saves the intact actors of a damaged store. It copies each actor whose rows all match their seals
 * into a new store.
 *
 * The damaged store is not changed, except that the log of an earlier format is renamed. The new
 * store gets the key of the damaged store, so rows are copied unchanged, with their seals. A seal
 * contains the name of the actor, but not the number of its row. So the numbers in the copy may
 * differ.
 *
 * The first run reads the database with the valid part of its log. If something was missing, a
 * second run reads the database without the log, because a page that is damaged in the log may be
 * intact in the database file.
 *
 * If an actor is marked to be destroyed, only its row with the mark is copied. The next opening of
 * the new store destroys the actor. Because this row is in the new store, the second run does not
 * copy an earlier state of the actor. Rows that are left of destroyed actors are not copied.
 */
#include "store/sqlite/salvage.h"

#include "store/sqlite/log.h"
#include "store/sqlite/make.h"
#include "store/sqlite/place.h"
#include "store/sqlite/salvage_copy.h"

#include <stdio.h>

/* Moves `next` to the first actor whose number is `id` or above. Returns SQLITE_ROW, SQLITE_DONE if
 * there is no such actor, or an error. */
static int step_from(struct salvage *salvage, int64_t id)
{
    (void)sqlite3_reset(salvage->next);
    tr__link_bind_number(salvage->next, 1, id);
    return sqlite3_step(salvage->next);
}

static bool is_readable(int result)
{
    return result == SQLITE_ROW || result == SQLITE_DONE;
}

/* Returns the first number after `id` from which the table can be read again, or 0 if there is no
 * such number. The caller has found that the table cannot be read at `id`. An unreadable page has
 * rows with neighbouring numbers. So this tries the next numbers one by one, then in growing steps,
 * and then searches the last step by halves. */
static int64_t find_after_gap(struct salvage *salvage, int64_t id)
{
    enum { TRIES = 10000 };
    for (int i = 0; i < TRIES && id < INT64_MAX; i++) {
        if (is_readable(step_from(salvage, ++id)))
            return id;
    }
    int64_t low = id; /* the highest number so far at which the table cannot be read */
    int64_t high = 0;
    for (int64_t step = 1; high == 0 && low <= INT64_MAX - step; step *= 2) {
        if (is_readable(step_from(salvage, low + step)))
            high = low + step;
        else
            low += step;
        if (step > INT64_MAX / 2)
            break;
    }
    while (high - low > 1 && high != 0) {
        int64_t middle = low + (high - low) / 2;
        if (is_readable(step_from(salvage, middle)))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static tr_status copy_actors(struct salvage *salvage)
{
    for (int64_t id = INT64_MIN;;) {
        int result = step_from(salvage, id);
        if (result == SQLITE_DONE)
            return TR_OK;
        if (result != SQLITE_ROW) {
            if (tr__link_status(result) == TR_NO_MEMORY)
                return TR_NO_MEMORY;
            salvage->report->gaps += !salvage->is_second;
            id = find_after_gap(salvage, id < 0 ? 0 : id);
            if (id == 0)
                return TR_OK;
            continue;
        }
        id = sqlite3_column_int64(salvage->next, 0);
        tr_status status = tr__salvage_copy_actor(salvage);
        if (status != TR_OK && status != TR_STORE_CORRUPT)
            return status;
        if (id == INT64_MAX)
            return TR_OK;
        id++;
    }
}

/* Notes the names of all actors. Reads them from the index of the table, first forwards until a
 * name cannot be read, then backwards from the end. */
static tr_status note_names(struct salvage *salvage)
{
    static const char *const texts[] = {
        "SELECT name FROM actor WHERE name >= x'01' ORDER BY name",
        "SELECT name FROM actor WHERE name >= x'01' ORDER BY name DESC",
    };
    sqlite3_stmt *note = NULL;
    int result = SQLITE_OK;
    tr_status status = tr__salvage_statement(
        salvage->into, "INSERT OR IGNORE INTO temp.noted (name) VALUES (?1)", &note);
    for (size_t i = 0; i < 2 && status == TR_OK && result != SQLITE_DONE; i++) {
        sqlite3_stmt *read = NULL;
        status = tr__salvage_statement(salvage->from, texts[i], &read);
        while (status == TR_OK && (result = sqlite3_step(read)) == SQLITE_ROW) {
            tr__link_bind_bytes(note, 1, tr__link_bytes(read, 0));
            status = tr__link_run(note);
        }
        (void)sqlite3_finalize(read);
    }
    (void)sqlite3_finalize(note);
    return status;
}

/*
 * Opens the damaged store for reading only, with or without its log. Even after a failure, the
 * caller must close its connection.
 */
static tr_status source_open(struct salvage *salvage, const struct store_options *options,
                             tr_error *error)
{
    const char *why;
    int is_log_there = 0;
    struct store_session *from = salvage->from;
    struct vfs *vfs = &from->vfs;
    vfs->is_read_only = true;
    tr_status status = tr__link_open(&from->writer, vfs, from->path);
    sqlite3_file *file = status == TR_OK ? tr__make_file_of(&from->writer) : NULL;
    if (!file)
        return tr__make_refuse_by(error, from, &from->writer, status ? status : TR_STORE_FAILED);
    if (tr__vfs_look(vfs, file) ==
        VFS_LOOK_PLAIN) /* if there are two logs, the newer one is used */
        status = tr__place_adopt_log(from, error);
    if (status != TR_OK && status != TR_STORE_CORRUPT)
        return status;
    if (!salvage->is_second)
        salvage->report->is_log_whole = tr__log_check(vfs, file, &why) == TR_OK;
    (void)vfs->base.xAccess(&vfs->base, vfs->log_path, SQLITE_ACCESS_EXISTS, &is_log_there);
    vfs->has_no_log = salvage->is_second || !is_log_there;
    (void)sqlite3_db_config(from->writer.database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    status = tr__link_settle(&from->writer, from->cache_bytes);
    if (status == TR_OK)
        status = tr__link_execute(&from->writer, "PRAGMA query_only = ON");
    if (status)
        return tr__make_refuse_by(error, from, &from->writer, status);
    return tr__make_read_row(from, options->program, salvage->program, error);
}

/* Copies everything from the opened damaged store, in one transaction. */
static tr_status copy_source(struct salvage *salvage, tr_error *error)
{
    struct store_session *into = salvage->into;
    if (salvage->from->epoch > salvage->epoch_max)
        salvage->epoch_max = salvage->from->epoch;
    tr_status status = tr__link_execute(&into->writer, "BEGIN IMMEDIATE");
    if (status == TR_OK)
        status = tr__salvage_prepare(salvage);
    if (status == TR_OK)
        status = tr__salvage_copy_shapes(salvage);
    if (status == TR_OK)
        status = copy_actors(salvage);
    if (status == TR_OK && (!salvage->is_second || salvage->takes_all))
        status = note_names(salvage);
    if (status == TR_OK)
        status = tr__make_adopt(into, salvage->from->key, salvage->epoch_max, salvage->program);
    tr__salvage_finish(salvage);
    if (status == TR_OK)
        status = tr__link_execute(&into->writer, "COMMIT");
    if (status)
        (void)tr__make_refuse_by(error, into, &into->writer, status);
    if (!sqlite3_get_autocommit(into->writer.database))
        (void)sqlite3_exec(into->writer.database, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Makes one run. The first run uses the log, the second does not. */
static tr_status salvage_run(struct salvage *salvage, const struct store_options *options,
                             tr_error *error)
{
    struct store_session *from = salvage->from;
    tr_status status =
        tr__vfs_init(&from->vfs, &from->source, from->disk, from->path, options->hook);
    if (status)
        return tr__make_refuse(error, status, "SQLite: %s", tr_status_text(status));
    status = source_open(salvage, options, error);
    salvage->is_open = status == TR_OK;
    if (salvage->is_open)
        status = copy_source(salvage, error);
    tr__link_close(&from->writer);
    tr__vfs_deinit(&from->vfs);
    return status;
}

/* Reports each name that was noted and that the new store does not have. */
static tr_status report_lost(struct salvage *salvage, store_salvage_lost *on_lost, void *context)
{
    sqlite3_stmt *read = NULL;
    tr_status status =
        tr__salvage_statement(salvage->into,
                              "SELECT name FROM temp.noted n WHERE NOT EXISTS (SELECT 1 FROM "
                              "actor a WHERE a.name = n.name)",
                              &read);
    int result = SQLITE_DONE;
    while (status == TR_OK && (result = sqlite3_step(read)) == SQLITE_ROW) {
        tr_bytes name = tr__link_bytes(read, 0);
        const char *kind = name.data;
        size_t kind_size = kind ? strnlen(kind, name.size) : 0;
        salvage->report->lost++;
        if (on_lost && kind_size < name.size)
            on_lost(context, kind, (tr_bytes){kind + kind_size + 1, name.size - kind_size - 1});
    }
    (void)sqlite3_finalize(read);
    return status ? status : tr__link_status(result);
}

/* Copies the damaged store in one or two runs. The places of both stores must be taken. */
static tr_status salvage_all(struct salvage *salvage, const struct store_options *options,
                             tr_error *error)
{
    int64_t actors = 0;
    struct link *into = &salvage->into->writer;
    tr_status status = tr__link_number(into, "SELECT count(*) FROM actor", &actors);
    if (status == TR_OK && actors > 0)
        return tr__make_refuse(error, TR_INVALID_ARGUMENT, "%s is not empty", salvage->into->path);
    if (status == TR_OK)
        status =
            tr__link_execute(into, "CREATE TEMP TABLE noted (name BLOB PRIMARY KEY) WITHOUT ROWID");
    if (status)
        return tr__make_refuse_by(error, salvage->into, into, status);
    status = salvage_run(salvage, options, error);
    if (status != TR_OK && salvage->is_open)
        return status;
    int64_t missing = 0;
    tr_status counted = tr__link_number(into,
                                        "SELECT count(*) FROM temp.noted n WHERE NOT EXISTS "
                                        "(SELECT 1 FROM actor a WHERE a.name = n.name)",
                                        &missing);
    if (counted != TR_OK)
        return tr__make_refuse_by(error, salvage->into, into, counted);
    if (status == TR_OK && missing == 0 && salvage->report->gaps == 0 && !salvage->misses_shapes)
        return TR_OK;
    /* The second run copies everything if the first run could not start, because that run has noted
     * no names then. The same holds if the first run has found gaps. */
    salvage->takes_all = status != TR_OK || salvage->report->gaps > 0;
    salvage->is_second = true;
    tr_status second = salvage_run(salvage, options, error);
    return second == TR_OK || status == TR_OK ? TR_OK : second;
}

/*
 * Checks that there is a store to salvage. Without this check, the caller would make a new, empty
 * store at the path.
 */
static tr_status check_source(const struct store_options *options, tr_error *error)
{
    struct os_file_id id;
    char path[OS_PATH_SIZE];
    if (options->disk)
        return TR_OK;
    if (!options->path)
        return tr__make_refuse(error, TR_INVALID_ARGUMENT, "no store found to salvage");
    (void)snprintf(path, sizeof path, "%s/troupe.db", options->path);
    tr_status status = tr__os_file_find(path, &id, error);
    if (status != TR_NOT_FOUND)
        return status;
    return tr__make_refuse(
        error, TR_STORE_CORRUPT, "%s is missing: nothing can be saved without the database", path);
}

tr_status tr__session_salvage(const struct store_options *from_options,
                              const struct store_options *into_options,
                              struct store_salvage *report, store_salvage_lost *on_lost,
                              void *context, tr_error *error)
{
    uint64_t epoch;
    struct store_session *into;
    struct store_session *from;
    tr_status status = check_source(from_options, error);
    if (status == TR_OK)
        status = tr__session_take(from_options, &from, error);
    if (status)
        return status;
    struct salvage salvage = {.from = from, .report = report};
    *report = (struct store_salvage){0};
    status = tr__session_open(into_options, &into, &epoch, error);
    if (status)
        goto free_from;
    salvage.into = into;
    status = salvage_all(&salvage, from_options, error);
    if (status == TR_OK) {
        status = report_lost(&salvage, on_lost, context);
        if (status)
            (void)tr__make_refuse_by(error, into, &into->writer, status);
    }
    tr__session_close(into);
free_from:
    tr__session_free(from);
    return status;
}
