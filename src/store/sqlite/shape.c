/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of shapes. It has a text for each number. The texts belong to the store, not to an
 * actor.
 */
#include "store/sqlite/shape.h"

static const tr_bytes none = {NULL, 0};

tr_status tr__session_put_shapes(struct store_session *session, const struct store_batch *batch)
{
    struct store_generation generation = batch->entry->generation;
    tr_status status = TR_OK;
    for (const struct store_op *op = batch->shapes; op && status == TR_OK; op = op->next) {
        unsigned char sealed[SEAL_SIZE];
        sqlite3_stmt *statement = tr__link_statement(&session->writer, SQL_SHAPE_PUT, &status);
        if (!statement)
            return status;
        struct seal seal =
            seal_row(session->key, SEAL_SHAPE, none, generation, none, op->number, 0, op->value);
        seal_end(&seal, generation, sealed);
        tr__link_bind_number(statement, 1, (int64_t)op->number);
        tr__link_bind_bytes(statement, 2, (tr_bytes){sealed, SEAL_SIZE});
        tr__link_bind_bytes(statement, 3, op->value);
        status = tr__link_run(statement);
    }
    return status;
}

tr_status tr__view_list_shapes(struct store_view *view, store_visit *visit, void *context)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_SHAPE_LIST, &status);
    if (!statement)
        return status;
    for (bool goes_on = true; goes_on;) {
        int result = sqlite3_step(statement);
        status = tr__link_status(result);
        if (result != SQLITE_ROW)
            break;
        struct store_row row = {.id = (uint64_t)sqlite3_column_int64(statement, 0),
                                .bytes = tr__link_bytes(statement, 2)};
        tr_bytes sealed = tr__link_bytes(statement, 1);
        if (tr__view_fits(view, SEAL_SHAPE, none, sealed, none, row.id, 0, row.bytes))
            goes_on = visit(context, &row);
    }
    (void)sqlite3_reset(statement);
    return status;
}
