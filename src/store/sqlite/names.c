/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/names.h"

tr_status tr__view_list_names(struct store_view *view, tr_bytes from, tr_bytes to, size_t limit,
                              store_visit *visit, void *context)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_ACTOR_NAMES, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, from);
    tr__link_bind_bytes(statement, 2, to);
    tr__link_bind_number(statement, 3, limit == 0 ? -1 : (int64_t)limit);
    for (bool goes_on = true; goes_on;) {
        int result = sqlite3_step(statement);
        status = tr__link_status(result);
        if (result != SQLITE_ROW)
            break;
        const struct store_row row = {.key = tr__link_bytes(statement, 0)};
        goes_on = visit(context, &row);
    }
    (void)sqlite3_reset(statement);
    return status;
}
