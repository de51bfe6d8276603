/* SPDX-License-Identifier: Apache-2.0 */
/** Reads many rows. Each row is checked against its seal and passed to a visitor. */
#include "store/sqlite/lists.h"

#include "store/batch.h"

#include <assert.h>

static const tr_bytes no_bytes = {NULL, 0};

/* Reads a row from a statement. Returns false if the row cannot be trusted. */
typedef bool take_row(const struct store_view *view, sqlite3_stmt *statement, tr_bytes name,
                      struct store_row *row);

static tr_status lists_run(struct store_view *view, sqlite3_stmt *statement, tr_bytes name,
                           take_row *take, store_visit *visit, void *context)
{
    tr_status status = TR_OK;
    for (bool goes_on = true; goes_on;) {
        struct store_row row = {0};
        int result = sqlite3_step(statement);
        if (result != SQLITE_ROW) {
            status = tr__link_status(result);
            goes_on = false;
        } else if (!take(view, statement, name, &row)) {
            status = TR_STORE_CORRUPT;
            goes_on = false;
        } else {
            goes_on = visit(context, &row);
        }
    }
    (void)sqlite3_reset(statement);
    return status;
}

static int64_t limit_of(size_t limit)
{
    return limit == 0 || limit > (size_t)INT64_MAX ? -1 : (int64_t)limit;
}

static int64_t number_of(uint64_t number)
{
    return (int64_t)(number < STORE_NUMBER_MAX ? number : STORE_NUMBER_MAX);
}

/* Copies a text and adds a NUL, because texts in the database have none. */
static bool text_of(tr_bytes bytes, char *text, size_t size)
{
    if (bytes.size >= size)
        return false;
    if (bytes.size > 0)
        memcpy(text, bytes.data, bytes.size);
    text[bytes.size] = '\0';
    return true;
}

static bool take_kv(const struct store_view *view, sqlite3_stmt *statement, tr_bytes name,
                    struct store_row *row)
{
    row->key = tr__link_bytes(statement, 0);
    row->bytes = tr__link_bytes(statement, 2);
    return tr__view_fits(
        view, SEAL_KV, name, tr__link_bytes(statement, 1), row->key, 0, 0, row->bytes);
}

tr_status tr__view_list_kv(struct store_view *view, tr_bytes name, const struct store_range *range,
                           store_visit *visit, void *context)
{
    unsigned char no_bound[TR_KV_KEY_MAX + 1];
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(
        &view->link, range->is_reverse ? SQL_KV_LIST_DOWN : SQL_KV_LIST, &status);
    if (!statement)
        return status;
    tr_bytes to = range->to;
    if (to.size == 0) {
        /* No end was given, so the end of the range is all 255 and longer than every key. It comes
         * after all keys. */
        memset(no_bound, UINT8_MAX, sizeof no_bound);
        to = (tr_bytes){no_bound, sizeof no_bound};
    }
    tr__link_bind_bytes(statement, 1, name);
    tr__link_bind_bytes(statement, 2, range->from);
    tr__link_bind_bytes(statement, 3, to);
    tr__link_bind_number(statement, 4, limit_of(range->limit));
    return lists_run(view, statement, name, take_kv, visit, context);
}

/* A visitor that passes each row to another visitor, with the name of the row as a text. */
struct named {
    store_visit *visit;
    void *context;
};

static bool visit_named(void *context, const struct store_row *row)
{
    const struct named *named = context;
    char text[TR_QUEUE_NAME_MAX + STORE_QUEUE_PREFIX_MAX + 1];
    struct store_row shown = *row;
    static_assert(TR_ALARM_NAME_MAX < sizeof text, "fits");
    if (!text_of(row->key, text, sizeof text))
        return true; /* Skip the row. No store writes such a name, so its seal would not match. */
    shown.key = no_bytes;
    shown.name = text;
    return named->visit(named->context, &shown);
}

static bool take_alarm(const struct store_view *view, sqlite3_stmt *statement, tr_bytes name,
                       struct store_row *row)
{
    row->key = tr__link_bytes(statement, 0);
    row->due_wall_ns = sqlite3_column_int64(statement, 1);
    row->bytes = tr__link_bytes(statement, 3);
    return tr__view_fits(view,
                         SEAL_ALARM,
                         name,
                         tr__link_bytes(statement, 2),
                         row->key,
                         (uint64_t)row->due_wall_ns,
                         0,
                         row->bytes);
}

tr_status tr__view_list_alarms(struct store_view *view, tr_bytes name, store_visit *visit,
                               void *context)
{
    struct named named = {visit, context};
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_ALARM_LIST, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, name);
    return lists_run(view, statement, name, take_alarm, visit_named, &named);
}

static bool take_item(const struct store_view *view, sqlite3_stmt *statement, tr_bytes name,
                      struct store_row *row)
{
    row->key = tr__link_bytes(statement, 0);
    row->id = (uint64_t)sqlite3_column_int64(statement, 1);
    row->bytes = tr__link_bytes(statement, 3);
    return tr__view_fits(
        view, SEAL_QUEUE, name, tr__link_bytes(statement, 2), row->key, row->id, 0, row->bytes);
}

tr_status tr__view_list_queue(struct store_view *view, tr_bytes name, const char *queue,
                              bool has_later, uint64_t from, size_t limit, store_visit *visit,
                              void *context)
{
    struct named named = {visit, context};
    tr_status status = TR_OK;
    sqlite3_stmt *statement =
        tr__link_statement(&view->link, has_later ? SQL_QUEUE_LIST_ALL : SQL_QUEUE_LIST, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, name);
    tr__link_bind_bytes(statement, 2, (tr_bytes){queue, strlen(queue)});
    tr__link_bind_number(statement, 3, number_of(from));
    tr__link_bind_number(statement, 4, limit_of(limit));
    return lists_run(view, statement, name, take_item, visit_named, &named);
}

static bool take_event(const struct store_view *view, sqlite3_stmt *statement, tr_bytes name,
                       struct store_row *row)
{
    row->id = (uint64_t)sqlite3_column_int64(statement, 0);
    row->bytes = tr__link_bytes(statement, 2);
    return tr__view_fits(
        view, SEAL_EVENT, name, tr__link_bytes(statement, 1), no_bytes, row->id, 0, row->bytes);
}

tr_status tr__view_list_events(struct store_view *view, tr_bytes name, uint64_t from, uint64_t to,
                               size_t limit, store_visit *visit, void *context)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_EVENT_LIST, &status);
    if (!statement)
        return status;
    tr__link_bind_bytes(statement, 1, name);
    tr__link_bind_number(statement, 2, number_of(from));
    tr__link_bind_number(statement, 3, number_of(to));
    tr__link_bind_number(statement, 4, limit_of(limit));
    return lists_run(view, statement, name, take_event, visit, context);
}

/* Splits a name into the kind and the key of an actor. Returns false if the name has no NUL between
 * kind and key, or if kind or key is too long. */
static bool name_split(tr_bytes name, char kind[TR_NAME_MAX + 1], tr_bytes *key)
{
    const char *kind_end = name.size > 0 ? memchr(name.data, '\0', name.size) : NULL;
    if (!kind_end)
        return false;
    size_t kind_size = (size_t)(kind_end - (const char *)name.data);
    if (!text_of((tr_bytes){name.data, kind_size}, kind, TR_NAME_MAX + 1))
        return false;
    *key = (tr_bytes){kind_end + 1, name.size - kind_size - 1};
    return true;
}

/* Reads the alarm at which the statement stands. The alarm may belong to any actor. */
static bool take_due(const struct store_view *view, sqlite3_stmt *statement,
                     char kind[TR_NAME_MAX + 1], struct store_due *due)
{
    *due = (struct store_due){.is_corrupt = true};
    due->place.due_wall_ns = sqlite3_column_int64(statement, 0);
    due->place.actor = sqlite3_column_int64(statement, 1);
    tr_bytes alarm = tr__link_bytes(statement, 2);
    due->bytes = tr__link_bytes(statement, 4);
    tr_bytes name = tr__link_bytes(statement, 5);
    if (!text_of(alarm, due->place.name, sizeof due->place.name))
        /* end the list, because the name of the alarm is a part of the position at which the list
         * would continue */
        return false;
    if (!name_split(name, kind, &due->key))
        return true;
    due->kind = kind;
    due->is_corrupt = !tr__view_fits(view,
                                     SEAL_ALARM,
                                     name,
                                     tr__link_bytes(statement, 3),
                                     alarm,
                                     (uint64_t)due->place.due_wall_ns,
                                     0,
                                     due->bytes);
    return true;
}

tr_status tr__view_list_due(struct store_view *view, const struct store_alarm_place *after,
                            tr_time until_wall_ns, size_t limit, store_visit_due *visit,
                            void *context)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_ALARM_DUE, &status);
    if (!statement)
        return status;
    tr__link_bind_number(statement, 1, after ? after->due_wall_ns : INT64_MIN);
    tr__link_bind_number(statement, 2, after ? after->actor : INT64_MIN);
    tr__link_bind_bytes(
        statement, 3, after ? (tr_bytes){after->name, strlen(after->name)} : no_bytes);
    tr__link_bind_number(statement, 4, until_wall_ns);
    tr__link_bind_number(statement, 5, limit_of(limit));
    for (bool goes_on = true; goes_on;) {
        struct store_due due;
        char kind[TR_NAME_MAX + 1];
        int result = sqlite3_step(statement);
        if (result != SQLITE_ROW) {
            status = tr__link_status(result);
            goes_on = false;
        } else if (!take_due(view, statement, kind, &due)) {
            status = TR_STORE_CORRUPT;
            goes_on = false;
        } else {
            goes_on = visit(context, &due);
        }
    }
    (void)sqlite3_reset(statement);
    return status;
}

tr_status tr__view_list_queued(struct store_view *view, int64_t after, const char *behind,
                               size_t limit, store_visit_queued *visit, void *context)
{
    tr_status status = TR_OK;
    sqlite3_stmt *statement = tr__link_statement(&view->link, SQL_QUEUE_ACTORS, &status);
    if (!statement)
        return status;
    tr__link_bind_number(statement, 1, after);
    tr__link_bind_bytes(statement, 2, (tr_bytes){behind, strlen(behind)});
    tr__link_bind_number(statement, 3, limit_of(limit));
    for (bool goes_on = true; goes_on;) {
        char kind[TR_NAME_MAX + 1];
        struct store_queued queued = {.kind = NULL};
        int result = sqlite3_step(statement);
        if (result != SQLITE_ROW) {
            status = tr__link_status(result);
            break;
        }
        queued.actor = sqlite3_column_int64(statement, 0);
        if (name_split(tr__link_bytes(statement, 1), kind, &queued.key))
            queued.kind = kind;
        uint64_t version = (uint64_t)sqlite3_column_int64(statement, 3);
        /* Actors with SEAL_DOOMED have no items here, because they will be deleted. */
        queued.has_items = sqlite3_column_int64(statement, 2) != 0 && !(version & SEAL_DOOMED);
        queued.version = (uint32_t)version;
        goes_on = visit(context, &queued);
    }
    (void)sqlite3_reset(statement);
    return status;
}
