/* SPDX-License-Identifier: Apache-2.0 */
/** Reads the pages of an actor's own database. */
#include "store/sqlite/view_page.h"

tr_status tr__view_read_page(struct store_view *view, tr_bytes name, uint32_t number, void *bytes)
{
    static const tr_bytes none = {NULL, 0};
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_PAGE_READ, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, name);
    tr__link_bind_number(statement, 2, number);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        tr_bytes sealed = tr__link_bytes(statement, 0);
        tr_bytes found = tr__link_bytes(statement, 1);
        bool is_sound = found.size == STORE_PAGE_SIZE &&
                        tr__view_fits(view, SEAL_PAGE, name, sealed, none, number, 0, found);
        if (is_sound)
            memcpy(bytes, found.data, STORE_PAGE_SIZE);
        else
            status = sqlite3_errcode(view->link.database) == SQLITE_NOMEM ? TR_NO_MEMORY
                                                                          : TR_STORE_CORRUPT;
    } else {
        status = result == SQLITE_DONE ? TR_NOT_FOUND : tr__link_status(result);
    }
    (void)sqlite3_reset(statement);
    return status;
}

tr_status tr__view_last_page(struct store_view *view, tr_bytes name, uint32_t *number)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_PAGE_LAST, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, name);
    int result = sqlite3_step(statement);
    sqlite3_int64 last = result == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_reset(statement);
    if (result != SQLITE_DONE && result != SQLITE_ROW)
        return tr__link_status(result);
    if (last < 0 || last > UINT32_MAX)
        return TR_STORE_CORRUPT;
    *number = (uint32_t)last;
    return TR_OK;
}
