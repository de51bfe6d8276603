/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/salvage_copy.h"

#include "store/sqlite/seal.h"
#include "store/sqlite/session.h"

#include <assert.h>

/* How the rows of one table are sealed and copied. */
struct salvage_table {
    enum seal_kind kind;
    /* SQL that reads the rows of the actor ?1. The columns are: key, number, other number, seal,
     * value. */
    const char *read;
    /* SQL that writes a row. ?1 is the actor, and ?2 to ?6 are the five columns of `read`. */
    const char *write;
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
static_assert(sizeof salvage_tables / sizeof *salvage_tables == SALVAGE_TABLES,
              "each has its statements");

tr_status tr__salvage_statement(struct store_session *session, const char *text,
                                sqlite3_stmt **statement)
{
    return tr__link_status(sqlite3_prepare_v2(session->writer.database, text, -1, statement, NULL));
}

/* Prepares a statement. If its table does not exist, because the store has an earlier format, sets
 * *statement to NULL. */
static tr_status prepare_read(struct salvage *salvage, const char *text, sqlite3_stmt **statement)
{
    sqlite3 *database = salvage->from->writer.database;
    int result = sqlite3_prepare_v2(database, text, -1, statement, NULL);
    return result == SQLITE_ERROR ? TR_OK : tr__link_status(result);
}

tr_status tr__salvage_prepare(struct salvage *salvage)
{
    tr_status status =
        tr__salvage_statement(salvage->from,
                              "SELECT id, name, seal, version, sequence, state FROM actor "
                              "WHERE id >= ?1 ORDER BY id LIMIT 1",
                              &salvage->next);
    if (status == TR_OK)
        status = tr__salvage_statement(salvage->into,
                                       "INSERT INTO actor (name, seal, version, sequence, state) "
                                       "VALUES (?1, ?2, ?3, ?4, ?5)",
                                       &salvage->add);
    if (status == TR_OK)
        status = tr__salvage_statement(
            salvage->into, "SELECT 1 FROM actor WHERE name = ?1", &salvage->has);
    if (status == TR_OK)
        status = tr__salvage_statement(
            salvage->into, "SELECT 1 FROM temp.noted WHERE name = ?1", &salvage->miss);
    for (size_t i = 0; i < SALVAGE_TABLES && status == TR_OK; i++) {
        /* If a table cannot be read, it is not known which actors have rows in it. So each actor
         * that may have such rows counts as damaged. */
        status = prepare_read(salvage, salvage_tables[i].read, &salvage->reads[i]);
        if (status == TR_OK)
            status =
                tr__salvage_statement(salvage->into, salvage_tables[i].write, &salvage->writes[i]);
    }
    if (status == TR_OK)
        status = prepare_read(salvage, "SELECT id, seal, text FROM shape", &salvage->shapes);
    if (status == TR_OK)
        status = tr__salvage_statement(
            salvage->into,
            "INSERT OR IGNORE INTO shape (id, seal, text) VALUES (?1, ?2, ?3)",
            &salvage->add_shape);
    return status;
}

void tr__salvage_finish(struct salvage *salvage)
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

tr_status tr__salvage_copy_shapes(struct salvage *salvage)
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

/* Copies the row at which `read` stands. Returns TR_STORE_CORRUPT if the row does not match its
 * seal. */
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

/* Copies the rows of one table. Events must have no gaps, and the last event must have the number
 * that is in the actor's row. */
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

/*
 * Copies an actor's row, which is the row at which the statement `next` stands. Sets *into_id to
 * the number of the actor in the new store.
 */
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

tr_status tr__salvage_copy_actor(struct salvage *salvage)
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
        return TR_OK; /* skip a remaining row of a destroyed actor; see bury.h */
    tr_status status = is_there(salvage->has, name, &is_copied);
    if (status == TR_OK && salvage->is_second && !salvage->takes_all)
        /* Copy only actors whose names the first run has noted. If a name was not noted, the log
         * says that the actor was destroyed after this state. */
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
