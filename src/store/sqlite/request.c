/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/request.h"

static int64_t request_number(uint64_t number)
{
    return (int64_t)(number < STORE_NUMBER_MAX ? number : STORE_NUMBER_MAX);
}

tr_status tr__session_write_request(struct store_session *session, const struct store_entry *entry,
                                    int64_t actor, const struct store_op *op)
{
    unsigned char sealed[SEAL_SIZE];
    tr_status status = TR_OK;
    bool is_put = op->kind == STORE_REQUEST_PUT;
    sqlite3_stmt *statement =
        tr__link_statement(&session->writer, is_put ? SQL_REQUEST_PUT : SQL_REQUEST_TRIM, &status);
    if (!statement)
        return status;
    tr__link_bind_number(statement, 1, actor);
    if (!is_put) {
        tr__link_bind_number(statement, 2, request_number(op->number));
        return tr__link_run(statement);
    }
    const tr_bytes name = {entry->name, entry->name_size};
    struct seal seal = seal_row(
        session->key, SEAL_REQUEST, name, entry->generation, op->key, op->number, 0, op->value);
    seal_end(&seal, entry->generation, sealed);
    tr__link_bind_bytes(statement, 2, op->key);
    tr__link_bind_number(statement, 3, (int64_t)op->number);
    tr__link_bind_bytes(statement, 4, (tr_bytes){sealed, SEAL_SIZE});
    tr__link_bind_bytes(statement, 5, op->value);
    return tr__link_run(statement);
}

/* Reads the row at which a statement stands. Returns false if the row cannot be trusted. */
static bool take_request(const struct store_view *view, sqlite3_stmt *statement, tr_bytes name,
                         struct store_row *row)
{
    *row = (struct store_row){.key = tr__link_bytes(statement, 0),
                              .id = (uint64_t)sqlite3_column_int64(statement, 1),
                              .bytes = tr__link_bytes(statement, 3)};
    tr_bytes sealed = tr__link_bytes(statement, 2);
    return tr__view_fits(view, SEAL_REQUEST, name, sealed, row->key, row->id, 0, row->bytes);
}

tr_status tr__view_read_request(struct store_view *view, tr_bytes name, tr_bytes request,
                                struct store_row *row)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_REQUEST_READ, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, name);
    tr__link_bind_bytes(statement, 2, request);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        struct store_row found;
        bool fits = take_request(view, statement, name, &found);
        status = fits ? tr__view_keep(view, found.bytes, &row->bytes) : TR_STORE_CORRUPT;
        row->key = request;
        row->id = found.id;
    } else {
        status = result == SQLITE_DONE ? TR_NOT_FOUND : tr__link_status(result);
    }
    (void)sqlite3_reset(statement);
    return status;
}

tr_status tr__view_list_requests(struct store_view *view, tr_bytes name, uint64_t from,
                                 bool is_last, size_t limit, store_visit *visit, void *context)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement =
        tr__link_statement(&view->link, is_last ? SQL_REQUEST_LAST : SQL_REQUEST_LIST, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, name);
    tr__link_bind_number(statement, 2, request_number(from));
    tr__link_bind_number(statement, 3, limit == 0 && !is_last ? -1 : is_last ? 1 : (int64_t)limit);
    for (bool goes_on = true; goes_on;) {
        struct store_row row;
        int result = sqlite3_step(statement);
        status = tr__link_status(result);
        if (result != SQLITE_ROW)
            break;
        if (!take_request(view, statement, name, &row)) {
            status = TR_STORE_CORRUPT;
            break;
        }
        goes_on = visit(context, &row);
    }
    (void)sqlite3_reset(statement);
    return status;
}
