/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Saves what is intact in a damaged store: copies each actor whose rows all match their seals into
 * a new store.
 *
 * The damaged store is only read. Rows are copied unchanged, with their seals, because the new
 * store gets the key of the old one. Seals contain the actor's name, not the number of its row, so
 * the copy may have other numbers.
 *
 * First the database is read with the valid part of its log. If something is missing then, it is
 * read again without the log, because a page that is damaged in one may be intact in the other.
 *
 * Of an actor that is marked to be destroyed only its row with the mark is copied, and the next
 * opening destroys it. So the second run does not copy an earlier state of it. Rows of destroyed
 * actors are left out.
 */
#include "store/sqlite/salvage.h"

#include "store/sqlite/log.h"
#include "store/sqlite/make.h"
#include "store/sqlite/place.h"
#include "store/sqlite/seal.h"

#include <stdio.h>

/* The rows of one table: what is sealed of them, and how they are copied. */
struct salvage_table {
    enum seal_kind kind;
    const char *read;  /* by ?1: key, number, other number, seal, value */
    const char *write; /* by ?1: the actor, and the five as ?2 to ?6 */
};

static const struct salvage_table salvage_tables[] = {
    {SEAL_KV,
     "SELECT key, 0, 0, seal, value FROM kv WHERE actor = ?1",
     "INSERT INTO kv (actor, key, seal, value) VALUES (?1, ?2, ?5, ?6)"},
    {SEAL_ALARM,
     "SELECT name, due, 0, seal, bytes FROM alarm WHERE actor = ?1",
     "INSERT INTO alarm (actor, name, due, seal, bytes) VALUES (?1, ?2, ?3, ?5, ?6)"},
    {SEAL_QUEUE,
     "SELECT name, id, 0, seal, bytes FROM queue WHERE actor = ?1",
     "INSERT INTO queue (actor, name, id, seal, bytes) VALUES (?1, ?2, ?3, ?5, ?6)"},
    {SEAL_EVENT,
     "SELECT x'', sequence, 0, seal, bytes FROM event WHERE actor = ?1 ORDER BY sequence",
     "INSERT INTO event (actor, sequence, seal, bytes) VALUES (?1, ?3, ?5, ?6)"},
    {SEAL_SNAPSHOT,
     "SELECT x'', sequence, version, seal, bytes FROM snapshot WHERE actor = ?1",
     "INSERT INTO snapshot (actor, sequence, version, seal, bytes) VALUES (?1, ?3, ?4, ?5, ?6)"},
    {SEAL_PAGE,
     "SELECT x'', number, 0, seal, bytes FROM page WHERE actor = ?1",
     "INSERT INTO page (actor, number, seal, bytes) VALUES (?1, ?3, ?5, ?6)"},
    {SEAL_REQUEST,
     "SELECT id, number, 0, seal, bytes FROM request WHERE actor = ?1",
     "INSERT INTO request (actor, id, number, seal, bytes) VALUES (?1, ?2, ?3, ?5, ?6)"},
};
enum { SALVAGE_TABLES = sizeof salvage_tables / sizeof *salvage_tables };

/* One run over the damaged store. */
struct salvage {
    struct store_session *from;
    struct store_session *into;
    struct store_salvage *report;
    sqlite3_stmt *next; /* finds the first actor from a number on */
    sqlite3_stmt *reads[SALVAGE_TABLES];
    sqlite3_stmt *writes[SALVAGE_TABLES];
    sqlite3_stmt *add;  /* adds an actor to the new store */
    sqlite3_stmt *has;  /* whether the actor is in the new store */
    sqlite3_stmt *miss; /* whether its name was noted */
    sqlite3_stmt *shapes;
    sqlite3_stmt *add_shape;
    bool is_open;       /* The source could be read. */
    bool is_second;     /* runs without the log */
    bool takes_all;     /* in the second run: not only what the first one missed */
    bool misses_shapes; /* Not all shapes could be read. */
    uint64_t epoch_max; /* greatest epoch of all rows */
};

static tr_status salvage_statement(struct store_session *session, const char *text,
                                   sqlite3_stmt **statement)
{
    return tr__link_status(sqlite3_prepare_v2(session->writer.database, text, -1, statement, NULL));
}

/* Prepares a statement. It is NULL if the table does not exist, in a store of an earlier format. */
static tr_status prepare_read(struct salvage *salvage, const char *text, sqlite3_stmt **statement)
{
    sqlite3 *database = salvage->from->writer.database;
    int result = sqlite3_prepare_v2(database, text, -1, statement, NULL);
    return result == SQLITE_ERROR ? TR_OK : tr__link_status(result);
}

static tr_status salvage_prepare(struct salvage *salvage)
{
    tr_status status =
        salvage_statement(salvage->from,
                          "SELECT id, name, seal, version, sequence, state FROM actor "
                          "WHERE id >= ?1 ORDER BY id LIMIT 1",
                          &salvage->next);
    if (status == TR_OK)
        status = salvage_statement(salvage->into,
                                   "INSERT INTO actor (name, seal, version, sequence, state) "
                                   "VALUES (?1, ?2, ?3, ?4, ?5)",
                                   &salvage->add);
    if (status == TR_OK)
        status =
            salvage_statement(salvage->into, "SELECT 1 FROM actor WHERE name = ?1", &salvage->has);
    if (status == TR_OK)
        status = salvage_statement(
            salvage->into, "SELECT 1 FROM temp.noted WHERE name = ?1", &salvage->miss);
    for (size_t i = 0; i < SALVAGE_TABLES && status == TR_OK; i++) {
        /*
         * If a table cannot be read, actors with rows in it count as damaged; it is not known
         * which.
         */
        status = prepare_read(salvage, salvage_tables[i].read, &salvage->reads[i]);
        if (status == TR_OK)
            status = salvage_statement(salvage->into, salvage_tables[i].write, &salvage->writes[i]);
    }
    if (status == TR_OK)
        status = prepare_read(salvage, "SELECT id, seal, text FROM shape", &salvage->shapes);
    if (status == TR_OK)
        status =
            salvage_statement(salvage->into,
                              "INSERT OR IGNORE INTO shape (id, seal, text) VALUES (?1, ?2, ?3)",
                              &salvage->add_shape);
    return status;
}

static void salvage_finish(struct salvage *salvage)
{
    (void)sqlite3_finalize(salvage->next);
    (void)sqlite3_finalize(salvage->add);
    (void)sqlite3_finalize(salvage->has);
    (void)sqlite3_finalize(salvage->miss);
    (void)sqlite3_finalize(salvage->shapes);
    (void)sqlite3_finalize(salvage->add_shape);
    salvage->next = salvage->add = salvage->has = salvage->miss = NULL;
    salvage->shapes = salvage->add_shape = NULL;
    for (size_t i = 0; i < SALVAGE_TABLES; i++) {
        (void)sqlite3_finalize(salvage->reads[i]);
        (void)sqlite3_finalize(salvage->writes[i]);
        salvage->reads[i] = salvage->writes[i] = NULL;
    }
}

static void see_generation(struct salvage *salvage, struct store_generation generation)
{
    if (generation.epoch > salvage->epoch_max)
        salvage->epoch_max = generation.epoch;
}

/*
 * Copies the shapes that can be read. A shape from the database is as good as one from its log,
 * because the text belongs to the number.
 */
static tr_status copy_shapes(struct salvage *salvage)
{
    static const tr_bytes none = {NULL, 0};
    sqlite3_stmt *read = salvage->shapes;
    sqlite3_stmt *add = salvage->add_shape;
    tr_status status = TR_OK;
    int result = SQLITE_DONE;
    while (read && status == TR_OK && (result = sqlite3_step(read)) == SQLITE_ROW) {
        struct store_generation generation;
        int64_t id = sqlite3_column_int64(read, 0);
        tr_bytes sealed = tr__link_bytes(read, 1);
        tr_bytes text = tr__link_bytes(read, 2);
        struct hash_key key = salvage->from->key;
        bool fits = seal_generation(sealed, &generation);
        if (fits) {
            struct seal seal =
                seal_row(key, SEAL_SHAPE, none, generation, none, (uint64_t)id, 0, text);
            fits = seal_fits(&seal, sealed);
        }
        salvage->misses_shapes |= !fits;
        if (!fits)
            continue;
        tr__link_bind_number(add, 1, id);
        tr__link_bind_bytes(add, 2, sealed);
        tr__link_bind_bytes(add, 3, text);
        status = tr__link_run(add);
    }
    salvage->misses_shapes |= tr__link_status(result) != TR_OK;
    return tr__link_status(result) == TR_NO_MEMORY ? TR_NO_MEMORY : status;
}

/* Copies the row that `read` is at. TR_STORE_CORRUPT: it does not match its seal. */
static tr_status copy_row(struct salvage *salvage, size_t table, tr_bytes name, int64_t actor,
                          sqlite3_stmt *read)
{
    sqlite3_stmt *write = salvage->writes[table];
    struct store_generation generation;
    tr_bytes key = tr__link_bytes(read, 0);
    int64_t number = sqlite3_column_int64(read, 1);
    int64_t other = sqlite3_column_int64(read, 2);
    tr_bytes sealed = tr__link_bytes(read, 3);
    tr_bytes value = tr__link_bytes(read, 4);
    if (!seal_generation(sealed, &generation))
        return TR_STORE_CORRUPT;
    struct seal seal = seal_row(salvage->from->key,
                                salvage_tables[table].kind,
                                name,
                                generation,
                                key,
                                (uint64_t)number,
                                (uint64_t)other,
                                value);
    if (!seal_fits(&seal, sealed))
        return TR_STORE_CORRUPT;
    see_generation(salvage, generation);
    tr__link_bind_number(write, 1, actor);
    tr__link_bind_bytes(write, 2, key);
    tr__link_bind_number(write, 3, number);
    tr__link_bind_number(write, 4, other);
    tr__link_bind_bytes(write, 5, sealed);
    tr__link_bind_bytes(write, 6, value);
    return tr__link_run(write);
}

/*
 * Copies the rows of one table. Events must have no gaps, up to the last one that the actor's row
 * names.
 */
static tr_status copy_rows(struct salvage *salvage, size_t table, tr_bytes name, int64_t from_id,
                           int64_t into_id, int64_t sequence)
{
    sqlite3_stmt *read = salvage->reads[table];
    bool is_event = salvage_tables[table].kind == SEAL_EVENT;
    int64_t last = 0;
    tr_status status = TR_OK;
    int result;
    if (!read)
        return TR_OK;
    tr__link_bind_number(read, 1, from_id);
    while ((result = sqlite3_step(read)) == SQLITE_ROW && status == TR_OK) {
        int64_t number = sqlite3_column_int64(read, 1);
        if (is_event && last != 0 && number != last + 1)
            status = TR_STORE_CORRUPT;
        last = number;
        if (status == TR_OK)
            status = copy_row(salvage, table, name, into_id, read);
    }
    if (status == TR_OK && result != SQLITE_DONE)
        status = tr__link_status(result);
    (void)sqlite3_reset(read);
    return status == TR_OK && is_event && last != 0 && last != sequence ? TR_STORE_CORRUPT : status;
}

/* Copies the row of the actor that `next` is at, and returns its number in the new store. */
static tr_status copy_state(struct salvage *salvage, tr_bytes name, int64_t *into_id)
{
    sqlite3_stmt *next = salvage->next;
    sqlite3_stmt *add = salvage->add;
    struct store_generation generation;
    tr_bytes sealed = tr__link_bytes(next, 2);
    int64_t version = sqlite3_column_int64(next, 3);
    int64_t sequence = sqlite3_column_int64(next, 4);
    bool has_state = sqlite3_column_type(next, 5) != SQLITE_NULL;
    tr_bytes state = tr__link_bytes(next, 5);
    if (!seal_generation(sealed, &generation))
        return TR_STORE_CORRUPT;
    struct hash_key key = salvage->from->key;
    struct seal seal = seal_actor(key,
                                  name,
                                  generation,
                                  (uint64_t)version,
                                  (uint64_t)sequence,
                                  has_state,
                                  seal_state_sum(key, state));
    if (!seal_fits(&seal, sealed))
        return TR_STORE_CORRUPT;
    see_generation(salvage, generation);
    tr__link_bind_bytes(add, 1, name);
    tr__link_bind_bytes(add, 2, sealed);
    tr__link_bind_number(add, 3, version);
    tr__link_bind_number(add, 4, sequence);
    if (has_state)
        tr__link_bind_bytes(add, 5, state);
    else
        (void)sqlite3_bind_null(add, 5);
    tr_status status = tr__link_run(add);
    *into_id = sqlite3_last_insert_rowid(salvage->into->writer.database);
    return status;
}

static tr_status is_there(sqlite3_stmt *has, tr_bytes name, bool *result)
{
    tr__link_bind_bytes(has, 1, name);
    int step = sqlite3_step(has);
    *result = step == SQLITE_ROW;
    (void)sqlite3_reset(has);
    return tr__link_status(step);
}

/*
 * Copies the actor that `next` is at, completely or not at all. TR_STORE_CORRUPT: it is not intact.
 * Any other failure is of the new store, or of memory.
 */
static tr_status copy_actor(struct salvage *salvage)
{
    struct link *into = &salvage->into->writer;
    int64_t from_id = sqlite3_column_int64(salvage->next, 0);
    tr_bytes name = tr__link_bytes(salvage->next, 1);
    bool is_doomed = sqlite3_column_int64(salvage->next, 3) & (int64_t)SEAL_DOOMED;
    int64_t sequence = sqlite3_column_int64(salvage->next, 4);
    int64_t into_id = 0;
    bool is_copied = false;
    bool is_wanted = true;
    if (name.size > 0 && *(const char *)name.data == '\0')
        return TR_OK; /* the rest of a destroyed actor: bury.h */
    tr_status status = is_there(salvage->has, name, &is_copied);
    if (status == TR_OK && salvage->is_second && !salvage->takes_all)
        /* Other actors were destroyed since then. */
        status = is_there(salvage->miss, name, &is_wanted);
    if (status != TR_OK || is_copied || !is_wanted)
        return status;
    status = tr__link_execute(into, "SAVEPOINT salvage");
    if (status != TR_OK)
        return status;
    status = copy_state(salvage, name, &into_id);
    for (size_t i = 0; i < SALVAGE_TABLES && status == TR_OK && !is_doomed; i++)
        status = copy_rows(salvage, i, name, from_id, into_id, sequence);
    if (status == TR_OK) {
        salvage->report->copied += !is_doomed;
        salvage->report->older += salvage->is_second && !is_doomed;
        return tr__link_execute(into, "RELEASE salvage");
    }
    tr_status undone = tr__link_execute(into, "ROLLBACK TO salvage; RELEASE salvage");
    return undone ? undone : status;
}

/*
 * Finds the first actor from a number on. Returns SQLITE_ROW, SQLITE_DONE if there is none, or an
 * error.
 */
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

/*
 * Called when the table cannot be read from number `id` on. Returns the first later number from
 * which it can be read again; 0 if there is no such number. A page of the table has rows with
 * neighbouring numbers, so the next numbers are tried one by one, then in growing steps, and then
 * the last step is bisected.
 */
static int64_t find_after_gap(struct salvage *salvage, int64_t id)
{
    enum { TRIES = 10000 };
    for (int i = 0; i < TRIES && id < INT64_MAX; i++) {
        if (is_readable(step_from(salvage, ++id)))
            return id;
    }
    int64_t low = id; /* cannot be read */
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
        tr_status status = copy_actor(salvage);
        if (status != TR_OK && status != TR_STORE_CORRUPT)
            return status;
        if (id == INT64_MAX)
            return TR_OK;
        id++;
    }
}

/* Notes the names in the index of the table, forwards up to what cannot be read, and backwards. */
static tr_status note_names(struct salvage *salvage)
{
    static const char *const texts[] = {
        "SELECT name FROM actor WHERE name >= x'01' ORDER BY name",
        "SELECT name FROM actor WHERE name >= x'01' ORDER BY name DESC",
    };
    sqlite3_stmt *note = NULL;
    int result = SQLITE_OK;
    tr_status status = salvage_statement(
        salvage->into, "INSERT OR IGNORE INTO temp.noted (name) VALUES (?1)", &note);
    for (size_t i = 0; i < 2 && status == TR_OK && result != SQLITE_DONE; i++) {
        sqlite3_stmt *read = NULL;
        status = salvage_statement(salvage->from, texts[i], &read);
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
 * Opens the damaged store for reading only, with or without its log. Its connection must be closed
 * even after a failure.
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
        VFS_LOOK_PLAIN) /* If there are two logs, the newer one is used. */
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
    return tr__make_read_row(from, options->program, error);
}

/* Copies everything from the opened source, in one transaction. */
static tr_status copy_source(struct salvage *salvage, const char *program, tr_error *error)
{
    struct store_session *into = salvage->into;
    if (salvage->from->epoch > salvage->epoch_max)
        salvage->epoch_max = salvage->from->epoch;
    tr_status status = tr__link_execute(&into->writer, "BEGIN IMMEDIATE");
    if (status == TR_OK)
        status = salvage_prepare(salvage);
    if (status == TR_OK)
        status = copy_shapes(salvage);
    if (status == TR_OK)
        status = copy_actors(salvage);
    if (status == TR_OK && (!salvage->is_second || salvage->takes_all))
        status = note_names(salvage);
    if (status == TR_OK)
        status = tr__make_adopt(into, salvage->from->key, salvage->epoch_max, program);
    salvage_finish(salvage);
    if (status == TR_OK)
        status = tr__link_execute(&into->writer, "COMMIT");
    if (status)
        (void)tr__make_refuse_by(error, into, &into->writer, status);
    if (!sqlite3_get_autocommit(into->writer.database))
        (void)sqlite3_exec(into->writer.database, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Makes one run: with the log, or without it. */
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
        status = copy_source(salvage, options->program, error);
    tr__link_close(&from->writer);
    tr__vfs_deinit(&from->vfs);
    return status;
}

/* Reports the names that were noted and are not in the new store. */
static tr_status report_lost(struct salvage *salvage, store_salvage_lost *on_lost, void *context)
{
    sqlite3_stmt *read = NULL;
    tr_status status =
        salvage_statement(salvage->into,
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

/* Salvages with both places open. */
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
    /* A run that could not start leaves no names, so everything is copied. */
    salvage->takes_all = status != TR_OK || salvage->report->gaps > 0;
    salvage->is_second = true;
    tr_status second = salvage_run(salvage, options, error);
    return second == TR_OK || status == TR_OK ? TR_OK : second;
}

/* Checks that a store exists, so that nothing is made in its place. */
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
    return status == TR_NOT_FOUND ? TR_STORE_CORRUPT : status;
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
