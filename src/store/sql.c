/* SPDX-License-Identifier: Apache-2.0 */
/** An actor's own database: the functions that do not depend on the driver. */
#include "store/sql.h"

#include "store/core.h"
#include "store/entry.h"

#include <stdio.h>
#include <string.h>

tr_status tr__store_sql_new(struct store *store, const char *kind, tr_bytes key,
                            const struct store_sql_options *options, struct store_sql **sql)
{
    unsigned char name[STORE_NAME_MAX];
    size_t name_size = tr__store_name(kind, key, name);
    if (name_size == 0)
        return TR_INVALID_ARGUMENT;
    struct store_sql *made = source_resize(&store->source, NULL, sizeof *made + name_size);
    if (!made)
        return TR_NO_MEMORY;
    *made =
        (struct store_sql){.driver = store->driver, .options = *options, .name_size = name_size};
    tr__pages_init(&made->pages, &store->source);
    memcpy(made->name, name, name_size);
    *sql = made;
    return TR_OK;
}

void tr__store_sql_free(struct store_sql *sql)
{
    if (!sql)
        return;
    sql->driver->sql_close(sql);
    tr__pages_deinit(&sql->pages);
    struct memory_source source = sql->pages.source;
    source_resize(&source, sql, 0);
}

void tr__store_sql_undo(struct store_sql *sql)
{
    if (pages_are_kept(&sql->pages))
        /* The engine has read pages that the undo drops, so close it. */
        sql->driver->sql_close(sql);
    tr__pages_undo(&sql->pages);
}

tr_status tr__store_sql_run(struct store_sql *sql, struct store_reader *reader,
                            struct store_sql_call *call)
{
    call->columns = 0;
    call->changes = 0;
    call->id = 0;
    call->error[0] = '\0';
    tr_status status = tr__store_status(reader->store);
    /* If the reader is held and the log is full, commits wait for the reader (rule 4 of
     * store/tidy.h). Then the statement must end. */
    call->ends = reader->is_held ? &reader->store->is_log_full : NULL;
    if (status == TR_OK)
        status = sql->driver->sql_run(sql, reader->view, call);
    if (status != TR_OK && !call->error[0])
        (void)snprintf(call->error, sizeof call->error, "%s", tr_status_text(status));
    return status;
}
