/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/tables.h"

#include <stdio.h>
#include <string.h>

#include "observe/audit.h"
#include "observe/durable_change.h"
#include "observe/durables.h"
#include "observe/key_text.h"
#include "store/read.h"
#include "store/sql.h"

enum {
    ROWS_DEFAULT = 1000,
    /* all rows have at most this many bytes, because no more may wait to be sent */
    ROWS_BYTES_MAX = VISITOR_PAGE_MAX / 2,
    ROWS_BYTES_OFFLINE = 1024 * 1024, /* as ROWS_BYTES_MAX, while no program runs */
    /* a statement may take at most this long, because the thread of the socket has other clients */
    SQL_MS = 50
};

struct sql_output {
    struct visitor *visitor;
    uint64_t rows;
    uint64_t limit;
    size_t columns;
    size_t begin; /* where the answer begins in the visitor's output */
    size_t most;  /* all rows may have at most this many bytes */
    bool is_cut;
    bool is_full; /* with is_cut: the next row would have exceeded `most` */
    char names[TR_SQL_COLUMNS_MAX][64];
};

static void on_columns(void *context, const char *const *names, size_t count)
{
    struct sql_output *output = context;
    output->columns = count;
    for (size_t i = 0; i < count; i++) {
        size_t length = strnlen(names[i], sizeof output->names[i] - 1);
        memcpy(output->names[i], names[i], length);
        for (char *at = output->names[i]; at < output->names[i] + length; at++) {
            if (*at == '"' || *at == '\\' || (unsigned char)*at < 0x20)
                /* the name is written into JSON without escapes, so replace this character */
                *at = '?';
        }
        output->names[i][length] = '\0';
    }
}

static void value_write(struct json_line *line, const char *name, const tr_sql_value *value)
{
    switch (value->type) {
    case TR_SQL_TYPE_INTEGER:
        tr__json_signed(line, name, value->integer);
        break;
    case TR_SQL_TYPE_REAL: {
        char text[40];
        snprintf(text, sizeof text, "%.17g", value->real);
        tr__json_raw(line, name, value->real - value->real == 0 ? text : "null");
        break;
    }
    case TR_SQL_TYPE_TEXT:
    case TR_SQL_TYPE_BYTES:
        tr__json_bytes(line, name, value->bytes, 0);
        break;
    default:
        tr__json_raw(line, name, "null");
        break;
    }
}

static tr_status on_sql_row(void *context, const tr_sql_value *values, size_t count)
{
    struct sql_output *output = context;
    struct visitor *visitor = output->visitor;
    struct json_line *line = &visitor->output;
    if (output->rows == output->limit) {
        output->is_cut = true;
        return TR_LIMIT;
    }
    size_t begin = line->length;
    size_t end = output->begin + output->most;
    tr__visitor_begin(visitor, visitor->request->id, true);
    for (size_t i = 0; i < count && line->length <= end; i++)
        value_write(line, output->names[i], &values[i]);
    tr__visitor_end(visitor);
    if (line->length > end) {
        line->length = begin;
        output->is_cut = true;
        output->is_full = true;
        return TR_LIMIT;
    }
    output->rows++;
    return TR_OK;
}

/* Runs the statement, and writes its rows to the output. */
static tr_status sql_run(struct sql_output *output, const struct stored *stored,
                         const struct control_request *request, struct store_sql *sql)
{
    struct store_sql_call call = {.text = request->text,
                                  .visit = on_sql_row,
                                  .on_columns = on_columns,
                                  .context = output,
                                  .is_reading = !request->writes};
    struct visitor *visitor = output->visitor;
    output->begin = visitor->output.length;
    tr_status status = tr__store_reader_hold(stored->reader);
    if (status == TR_OK) {
        status = tr__store_sql_run(sql, stored->reader, &call);
        tr__store_reader_release(stored->reader);
    }
    if (output->is_full && !output->rows) {
        tr__visitor_refuse(
            visitor,
            request->id,
            TR_TOO_LARGE,
            "the first row has more than %zu bytes; substr() takes a part of a value",
            output->most);
        return TR_TOO_LARGE;
    }
    if (status == TR_OK || output->is_cut)
        return TR_OK;
    visitor->output.length = output->begin;
    const char *advice = status == TR_NOT_PERMITTED ? "; --write allows it" : "";
    if (status == TR_OVER_BUDGET && visitor->observer->system)
        advice = ", for which other clients wait; ask for less, or ask a backup by --store DIR";
    tr__visitor_refuse(visitor,
                       request->id,
                       status,
                       "%s%s",
                       call.error[0] ? call.error : tr_status_text(status),
                       advice);
    return status;
}

static void sql_end(struct visitor *visitor, const struct sql_output *output)
{
    struct json_line *line = &visitor->output;
    tr__visitor_begin(visitor, visitor->request->id, false);
    tr__json_unsigned(line, "count", output->rows);
    tr__json_bool(line, "more", output->is_cut);
    tr__json_bool(line, "full", output->is_full);
    tr__json_open(line, "columns", '[');
    for (size_t i = 0; i < output->columns; i++)
        tr__json_string(line, NULL, output->names[i]);
    tr__json_close(line, ']');
    tr__visitor_end(visitor);
}

/* Runs a statement that may change tables. The actor must be asleep. */
static void sql_write(struct sql_output *output, const struct stored *stored,
                      const struct control_request *request, tr_bytes key, struct store_sql *sql)
{
    struct visitor *visitor = output->visitor;
    struct store_batch *batch;
    struct change *change = tr__change_begin(visitor, request, stored, request->kind, key, &batch);
    if (!change) {
        tr__store_sql_free(sql);
        return;
    }
    tr_status status = sql_run(output, stored, request, sql);
    if (status == TR_OK && output->is_cut) {
        /* The output was full, so the statement was stopped before its end. */
        tr__visitor_refuse(visitor, request->id, TR_LIMIT, "too many rows for a change");
        status = TR_LIMIT;
    } else if (status == TR_OK) {
        status = tr__pages_put(&sql->pages, batch);
        if (status != TR_OK)
            tr__stored_refuse(visitor, request, status);
    }
    if (status == TR_OK) {
        tr__change_submit(visitor, change, sql);
        return;
    }
    tr__audit(visitor, request, status);
    tr__store_sql_free(sql);
    tr__change_drop(change);
}

/* Whether the request is complete. If it is not, refuses the request. */
static bool sql_may(struct visitor *visitor, const struct control_request *request)
{
    const char *why = NULL;
    if (!request->text || !*request->text)
        why = "the statement is missing";
    else if (request->writes && !visitor->observer->system)
        why = "the tables of a program that does not run are only read";
    else if (request->writes && !request->may)
        why = "sql with \"writes\" changes tables: the request needs \"may\":true";
    if (why)
        tr__visitor_refuse(visitor, request->id, TR_NOT_PERMITTED, "%s", why);
    return !why;
}

void tr__verb_sql(struct visitor *visitor, const struct control_request *request)
{
    bool is_offline = !visitor->observer->system;
    const struct store_sql_options options = {.steps_max = TR_SQL_STEPS_MAX,
                                              .time_max_ns =
                                                  is_offline ? 0 : SQL_MS * TR_MILLISECOND,
                                              .takes_any_schema = true};
    struct stored stored;
    struct request_key key;
    struct store_state state;
    struct store_sql *sql;
    if (!sql_may(visitor, request) || !tr__request_name(visitor, request, &key) ||
        !tr__stored_begin(visitor, request, &stored))
        return;
    tr_bytes bytes = request_key_bytes(&key);
    tr_status status = tr__store_read_state(stored.reader, request->kind, bytes, &state);
    if (status == TR_OK)
        status =
            tr__store_sql_new(tr__store_of(stored.reader), request->kind, bytes, &options, &sql);
    struct sql_output *output =
        status == TR_OK ? source_resize(stored.source, NULL, sizeof *output) : NULL;
    if (status == TR_OK && !output) {
        tr__store_sql_free(sql);
        status = TR_NO_MEMORY;
    }
    if (status != TR_OK) {
        tr__stored_refuse(visitor, request, status);
        return;
    }
    *output = (struct sql_output){.visitor = visitor,
                                  .most = is_offline ? ROWS_BYTES_OFFLINE : ROWS_BYTES_MAX,
                                  .limit = request->limit ? request->limit : ROWS_DEFAULT};
    if (request->writes) {
        sql_write(output, &stored, request, bytes, sql);
    } else {
        if (sql_run(output, &stored, request, sql) == TR_OK)
            sql_end(visitor, output);
        tr__store_sql_free(sql);
    }
    source_resize(stored.source, output, 0);
}
