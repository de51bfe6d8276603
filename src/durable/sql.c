/* SPDX-License-Identifier: Apache-2.0 */
/** SQL tables of a durable actor. Here are the verbs, and what a commit does with changed pages. */
#include "durable/sql.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "durable/actor.h"
#include "durable/commit.h"
#include "store/sql.h"
#include "actor/cell/verb.h"

/* ---- Commits. ---- */

bool tr__durable_sql_has_changed(const struct durable_actor *actor)
{
    return actor->sql &&
           (pages_are_kept(&actor->sql->pages) || pages_are_finished(&actor->sql->pages));
}

bool tr__durable_sql_is_kept(const struct durable_actor *actor)
{
    return actor->sql && pages_are_kept(&actor->sql->pages);
}

void tr__durable_sql_finish(struct durable_actor *actor)
{
    if (actor->sql)
        tr__pages_finish(&actor->sql->pages);
}

tr_status tr__durable_sql_put(struct durable_actor *actor)
{
    struct store_batch *batch = tr__commit_batch(actor);
    return batch ? tr__pages_put(&actor->sql->pages, batch) : TR_NO_MEMORY;
}

void tr__durable_sql_submitted(struct durable_actor *actor, uint64_t commit)
{
    if (actor->sql)
        tr__pages_submitted(&actor->sql->pages, commit);
}

void tr__durable_sql_stored(struct durable_actor *actor, uint64_t commit)
{
    if (actor->sql)
        tr__pages_stored(&actor->sql->pages, commit);
}

void tr__durable_sql_undo(struct durable_actor *actor)
{
    if (actor->sql)
        tr__store_sql_undo(actor->sql);
}

void tr__durable_sql_drop(struct durable_actor *actor)
{
    tr__store_sql_free(actor->sql);
    actor->sql = NULL;
}

/* ---- Rows. ---- */

/* The rows that a statement has returned, in memory of the turn. */
struct rows {
    tr_self *self;
    tr_sql_value *values;
    size_t count; /* number of values in all rows together */
    size_t capacity;
    size_t bytes; /* size of all values together, in bytes */
};

static bool rows_grow(struct rows *rows, size_t more)
{
    if (rows->count + more <= rows->capacity)
        return true;
    size_t capacity = rows->capacity ? 2 * rows->capacity : 16;
    while (capacity < rows->count + more)
        capacity *= 2;
    tr_sql_value *values = tr_try_scratch(rows->self, capacity * sizeof *values);
    if (!values)
        return false;
    if (rows->count)
        memcpy(values, rows->values, rows->count * sizeof *values);
    rows->values = values;
    rows->capacity = capacity;
    return true;
}

static tr_status on_sql_row(void *context, const tr_sql_value *values, size_t count)
{
    struct rows *rows = context;
    if (!rows_grow(rows, count))
        return TR_NO_MEMORY;
    rows->bytes += count * sizeof *values;
    for (size_t i = 0; i < count; i++) {
        tr_sql_value *value = &rows->values[rows->count + i];
        size_t size = values[i].bytes.size;
        *value = values[i];
        rows->bytes += size;
        if (rows->bytes > TR_SQL_RESULT_MAX)
            return TR_TOO_LARGE;
        if (value->type != TR_SQL_TYPE_TEXT && value->type != TR_SQL_TYPE_BYTES)
            continue;
        /* Allocate one byte more, for the NUL behind a text. */
        char *bytes = tr_try_scratch(rows->self, size + 1);
        if (!bytes)
            return TR_NO_MEMORY;
        if (size)
            memcpy(bytes, values[i].bytes.data, size);
        value->bytes = (tr_bytes){bytes, size};
        if (value->type == TR_SQL_TYPE_TEXT)
            value->text = bytes;
    }
    rows->count += count;
    return TR_OK;
}

/* ---- The verbs. ---- */

/* A statement that runs on the large stack, and its result. */
struct errand {
    struct store_sql *sql;
    struct store_reader *reader;
    struct store_sql_call call;
    tr_status status;
};

static_assert(ASIDE_STACK_SIZE >= STORE_SQL_STACK, "a statement fits");

static void run_errand(void *context)
{
    struct errand *errand = context;
    errand->status = tr__store_sql_run(errand->sql, errand->reader, &errand->call);
}

static tr_status open_sql(struct durable_actor *actor)
{
    const struct durable_kind *kind = actor->kind;
    const tr_durable_options *options = &kind->declared->options;
    const struct store_sql_options wanted = {
        .schema = options->sql_schema,
        .steps_max = options->sql_steps_max ? options->sql_steps_max : TR_SQL_STEPS_MAX};
    if (actor->sql)
        return TR_OK;
    return tr__store_sql_new(
        kind->host->store, kind->declared->name, actor_key(actor), &wanted, &actor->sql);
}

static tr_status may_run(const tr_self *self, const struct durable_actor *actor,
                         const tr_sql_value *values, size_t count, const char **why)
{
    *why = "";
    if (!actor) {
        *why = "this actor is not durable";
        return TR_NOT_SUPPORTED;
    }
    if (!self->frame) {
        *why = "not allowed in a set-up or a signal";
        return TR_NOT_IN_A_TURN;
    }
    if (self->is_cancelled) {
        *why = "the turn was cancelled";
        return TR_CANCELLED;
    }
    if (!count || values[0].type != TR_SQL_TYPE_TEXT) {
        *why = "the statement is missing";
        return TR_INVALID_ARGUMENT;
    }
    return TR_OK;
}

static tr_status sql_notify(tr_self *self, tr_error *error, tr_status status, const char *why)
{
    if (!error || status == TR_OK)
        return status;
    *error = (tr_error){.status = status, .actor = tr_me(self)};
    (void)snprintf(
        error->text, sizeof error->text, "tr_sql: %s", *why ? why : tr_status_text(status));
    return status;
}

tr_status tr_self_try_sql(tr_self *self, tr_sql_result *result, tr_error *error,
                          const tr_sql_value *values, size_t count)
{
    TURN_VERB(self);
    TR_ASSERT(self); /* without a turn there is no actor, and without an actor no tables */
    struct durable_actor *actor = durable_of(self);
    const char *why;
    tr_status status = may_run(self, actor, values, count, &why);
    if (status != TR_OK)
        return sql_notify(self, error, status, why);
    struct worker *worker = self->worker;
    struct worker_context *context = host_context(actor->kind->host, worker);
    status = open_sql(actor);
    if (status == TR_OK)
        status = tr__aside_init(&context->aside, &worker->stacks.pool);
    if (status != TR_OK)
        return sql_notify(self, error, status, "");
    struct rows rows = {.self = self};
    struct errand errand = {.sql = actor->sql,
                            .reader = context->reader,
                            .call = {.text = values[0].text,
                                     .values = values + 1,
                                     .count = count - 1,
                                     .visit = on_sql_row,
                                     .context = &rows}};
    tr__aside_call(&context->aside, &worker->stacks.host, run_errand, &errand);
    if (errand.status != TR_OK)
        return sql_notify(self, error, errand.status, errand.call.error);
    if (result)
        *result = (tr_sql_result){.values = rows.values,
                                  .count = rows.count ? rows.count / errand.call.columns : 0,
                                  .columns = errand.call.columns,
                                  .changes = errand.call.changes,
                                  .id = errand.call.id};
    return TR_OK;
}

tr_sql_result tr_self_sql(tr_self *self, const tr_sql_value *values, size_t count)
{
    TURN_VERB(self);
    tr_sql_result result;
    tr_error error;
    if (tr_self_try_sql(self, &result, &error, values, count) != TR_OK)
        tr_crash(self, error.status, "%s", error.text);
    return result;
}

tr_sql_value tr_self_sql_one(tr_self *self, const tr_sql_value *values, size_t count)
{
    TURN_VERB(self);
    tr_sql_result result = tr_self_sql(self, values, count);
    return result.count ? result.values[0] : TR_SQL_NULL;
}
