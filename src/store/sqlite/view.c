/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads single rows. The results are copies, so no transaction stays open after a call. An open
 * transaction would keep the log from restarting.
 */
#include "store/sqlite/view.h"

enum { BUFFER_KEPT = 16 * 1024 };

tr_status tr__view_new(struct store_session *session, struct store_view **view)
{
    struct store_view *made = source_resize(&session->source, NULL, sizeof *made);
    if (!made)
        return TR_NO_MEMORY;
    *made = (struct store_view){.session = session};
    tr_status status = tr__session_link(session, &made->link);
    if (status == TR_OK)
        status = tr__link_execute(&made->link, "PRAGMA query_only = ON");
    if (status) {
        tr__view_free(made);
        return status;
    }
    *view = made;
    return TR_OK;
}

void tr__view_free(struct store_view *view)
{
    struct memory_source source = view->session->source;
    tr__link_close(&view->link);
    source_resize(&source, view->buffer, 0);
    source_resize(&source, view, 0);
}

tr_status tr__view_hold(struct store_view *view, bool is_held)
{
    int64_t ignored;
    if (!is_held)
        return tr__link_execute(&view->link, "ROLLBACK");
    tr_status status = tr__link_execute(&view->link, "BEGIN");
    /* Read something now, because the transaction gets its state of the store at its first read. */
    if (status == TR_OK)
        status = tr__link_number(&view->link, "PRAGMA user_version", &ignored);
    if (status != TR_OK)
        (void)!tr__link_execute(&view->link, "ROLLBACK");
    return status;
}

tr_status tr__view_keep(struct store_view *view, tr_bytes bytes, tr_bytes *kept)
{
    bool is_too_large = view->buffer_size > BUFFER_KEPT && bytes.size <= BUFFER_KEPT;
    if (bytes.size > view->buffer_size || is_too_large) {
        size_t size = bytes.size < 256 ? 256 : bytes.size;
        void *buffer = source_resize(&view->session->source, NULL, size);
        if (!buffer)
            return TR_NO_MEMORY;
        source_resize(&view->session->source, view->buffer, 0);
        view->buffer = buffer;
        view->buffer_size = size;
    }
    if (bytes.size > 0)
        memcpy(view->buffer, bytes.data, bytes.size);
    *kept = (tr_bytes){view->buffer, bytes.size};
    return TR_OK;
}

bool tr__view_fits(const struct store_view *view, enum seal_kind kind, tr_bytes name, tr_bytes seal,
                   tr_bytes key, uint64_t number, uint64_t other_number, tr_bytes value)
{
    struct store_generation generation;
    if (!seal_generation(seal, &generation))
        return false;
    struct seal made =
        seal_row(view->session->key, kind, name, generation, key, number, other_number, value);
    return seal_fits(&made, seal);
}

/* Reads the row at which a statement of the actor table stands. */
static tr_status take_state(struct store_view *view, sqlite3_stmt *statement, tr_bytes name,
                            struct store_state *state)
{
    struct store_state found = {0};
    tr_bytes sealed = tr__link_bytes(statement, 1);
    uint64_t version = (uint64_t)sqlite3_column_int64(statement, 2);
    found.version = (uint32_t)version;
    found.is_doomed = version & SEAL_DOOMED;
    found.sequence = (uint64_t)sqlite3_column_int64(statement, 3);
    found.has_state = sqlite3_column_type(statement, 4) != SQLITE_NULL;
    tr_bytes bytes = tr__link_bytes(statement, 4);
    if (!seal_generation(sealed, &found.generation))
        return TR_STORE_CORRUPT;
    struct seal seal = seal_actor(view->session->key,
                                  name,
                                  found.generation,
                                  version,
                                  found.sequence,
                                  found.has_state,
                                  seal_state_sum(view->session->key, bytes));
    if (!seal_fits(&seal, sealed))
        return TR_STORE_CORRUPT;
    tr_status status = tr__view_keep(view, bytes, &found.bytes);
    if (status == TR_OK)
        *state = found;
    return status;
}

tr_status tr__view_read_state(struct store_view *view, tr_bytes name, struct store_state *state)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_ACTOR_FIND, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, name);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        status = take_state(view, statement, name, state);
    else
        status = result == SQLITE_DONE ? TR_NOT_FOUND : tr__link_status(result);
    (void)sqlite3_reset(statement);
    return status;
}

tr_status tr__view_read_kv(struct store_view *view, tr_bytes name, tr_bytes key, tr_bytes *value)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_KV_READ, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, name);
    tr__link_bind_bytes(statement, 2, key);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        tr_bytes sealed = tr__link_bytes(statement, 1);
        tr_bytes found = tr__link_bytes(statement, 2);
        status = tr__view_fits(view, SEAL_KV, name, sealed, key, 0, 0, found)
                     ? tr__view_keep(view, found, value)
                     : TR_STORE_CORRUPT;
    } else {
        status = result == SQLITE_DONE ? TR_NOT_FOUND : tr__link_status(result);
    }
    (void)sqlite3_reset(statement);
    return status;
}

tr_status tr__view_read_snapshot(struct store_view *view, tr_bytes name, uint64_t sequence_max,
                                 struct store_snapshot *snapshot)
{
    static const tr_bytes none = {NULL, 0};
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_SNAPSHOT_READ, &status);
    if (!statement)
        return status;
    uint64_t max = sequence_max < STORE_NUMBER_MAX ? sequence_max : STORE_NUMBER_MAX;
    tr__link_bind_bytes(statement, 1, name);
    tr__link_bind_number(statement, 2, (int64_t)max);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        struct store_snapshot found;
        found.sequence = (uint64_t)sqlite3_column_int64(statement, 0);
        tr_bytes sealed = tr__link_bytes(statement, 1);
        found.version = (uint32_t)sqlite3_column_int64(statement, 2);
        tr_bytes bytes = tr__link_bytes(statement, 3);
        bool fits = tr__view_fits(
            view, SEAL_SNAPSHOT, name, sealed, none, found.sequence, found.version, bytes);
        status = fits ? tr__view_keep(view, bytes, &found.bytes) : TR_STORE_CORRUPT;
        if (status == TR_OK)
            *snapshot = found;
        else if (status == TR_STORE_CORRUPT)
            snapshot->sequence = found.sequence;
    } else {
        status = result == SQLITE_DONE ? TR_NOT_FOUND : tr__link_status(result);
    }
    (void)sqlite3_reset(statement);
    return status;
}
