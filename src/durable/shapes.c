/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/shapes.h"

#include <stdio.h>
#include <string.h>

#include "wire/shape.h"
#include "wire/tail.h"
#include "actor/cell/log.h"
#include "store/read.h"
#include "store/batch.h"
#include "wire/msgpack_read.h"

enum {
    STEP_SHAPE_MAX = 400, /* how many bytes of a shape the log shows; two shapes fit into a line */
    /* how many bytes of a shape an error text shows; two fit into SHAPE_WHY_SIZE */
    CHECK_SHAPE_MAX = 50,
};
_Static_assert(2 * STEP_SHAPE_MAX + 200 <= TR_LOG_MAX, "a line names both");
_Static_assert(2 * CHECK_SHAPE_MAX + 45 <= SHAPE_WHY_SIZE, "a text names both");

static int cut_length(tr_bytes text, size_t max)
{
    return (int)(text.size < max ? text.size : max);
}

/* ---- Migrations. ---- */

const tr_migration *tr__migration_from(const tr_migration *const *migrations, uint32_t version)
{
    for (size_t i = 0; migrations && migrations[i]; i++) {
        if (migrations[i]->from == version)
            return migrations[i];
    }
    return NULL;
}

uint32_t tr__migration_readable(const tr_migration *const *migrations, uint32_t version,
                                uint32_t last)
{
    while (version < last && !tr__migration_from(migrations, version))
        version++;
    return version;
}

tr_status tr__shape_convert(struct worker *worker, const struct durable_host *host,
                            const tr_type *from_type, const void *from, const tr_type *to_type,
                            void **to, size_t *to_size, tr_wire_error *error)
{
    struct worker_context *context = host_context(host, worker);
    size_t size = tr_pack(from_type, from, context->bytes, context->size, error);
    if (size > context->size) {
        void *bytes = source_resize(&worker->source, context->bytes, size);
        if (!bytes)
            return TR_NO_MEMORY;
        context->bytes = bytes;
        context->size = size;
        size = tr_pack(from_type, from, context->bytes, context->size, error);
    }
    if (!size)
        return error->status;
    struct tail tail;
    tr_status status = tr__unpack_tail(to_type, (tr_bytes){context->bytes, size}, to, &tail, error);
    *to_size = tail.message_size;
    return status;
}

/* ---- The table of shapes. ---- */

static tr_bytes text_of(const struct shape *shape)
{
    return (tr_bytes){shape->text, shape->size};
}

static const struct shape *shape_find(const struct durable_host *host, uint64_t hash)
{
    for (const struct shape *shape = host->shapes; shape; shape = shape->next) {
        if (shape->hash == hash)
            return shape;
    }
    return NULL;
}

static struct shape *shape_new(struct durable_host *host, size_t size)
{
    struct shape *shape = source_resize(&host->system->source, NULL, sizeof *shape + size);
    if (shape)
        *shape = (struct shape){.size = size};
    return shape;
}

static void shape_add(struct durable_host *host, struct shape *shape)
{
    shape->hash = tr__shape_hash(text_of(shape));
    shape->next = host->shapes;
    host->shapes = shape;
}

/* Finds the shape of a type. If it is not known yet, makes it. If the type has no shape, returns
 * TR_OK and sets *found to NULL. */
static tr_status shape_of_type(struct durable_host *host, const tr_type *type,
                               const struct shape **found)
{
    size_t size = tr__shape_write(type, NULL, 0);
    *found = NULL;
    if (!size)
        return TR_OK;
    struct shape *shape = shape_new(host, size);
    if (!shape)
        return TR_NO_MEMORY;
    (void)tr__shape_write(type, shape->text, size);
    *found = shape_find(host, tr__shape_hash(text_of(shape)));
    if (*found) {
        source_resize(&host->system->source, shape, 0);
        return TR_OK;
    }
    shape_add(host, shape);
    *found = shape;
    return TR_OK;
}

void tr__shapes_free(struct durable_host *host)
{
    while (host->shapes) {
        struct shape *shape = host->shapes;
        host->shapes = shape->next;
        source_resize(&host->system->source, shape, 0);
    }
}

/* ---- Shapes of a kind. ---- */

static const struct kind_shape *kind_shape_of(const struct durable_kind *kind, const tr_type *type)
{
    for (size_t i = 0; i < kind->shape_count; i++) {
        if (kind->shapes[i].type == type)
            return &kind->shapes[i];
    }
    return NULL;
}

static size_t count_migrations(const tr_migration *const *migrations)
{
    size_t count = 0;
    while (migrations && migrations[count])
        count++;
    return count;
}

static tr_status kind_add(struct durable_kind *kind, const tr_type *type)
{
    if (kind_shape_of(kind, type))
        return TR_OK;
    struct kind_shape *made = &kind->shapes[kind->shape_count];
    made->type = type;
    tr_status status = shape_of_type(kind->host, type, &made->shape);
    kind->shape_count += status == TR_OK;
    return status;
}

static tr_bytes shape_text(const struct durable_kind *kind, const tr_type *type)
{
    const struct kind_shape *found = kind_shape_of(kind, type);
    return found && found->shape ? text_of(found->shape) : (tr_bytes){"{...}", 5};
}

/* Whether the result of a migration can be read as the type that the next step expects. */
static bool step_fits(const struct durable_kind *kind, const tr_type *made, const tr_type *wanted)
{
    unsigned fit = tr__shape_compare(shape_text(kind, made), shape_text(kind, wanted), NULL);
    return tr_type_is_equal(made, wanted) || fit == SHAPE_EQUAL || fit == SHAPE_SECOND_LONGER;
}

static void step_refuse(const struct durable_kind *kind, const char *what, const tr_migration *step,
                        uint32_t next, const tr_type *wanted)
{
    tr_bytes made = shape_text(kind, step->to_type);
    tr_bytes text = shape_text(kind, wanted);
    tr__log(kind->host->system,
            TR_LEVEL_ERROR,
            NULL,
            "the durable kind %s: the migration of %s from version %u makes %.*s, but version %u "
            "has %.*s; it must have the same fields first, more may follow",
            kind->declared->name,
            what,
            step->from,
            cut_length(made, STEP_SHAPE_MAX),
            (const char *)made.data,
            next,
            cut_length(text, STEP_SHAPE_MAX),
            (const char *)text.data);
}

/* Adds the types of a chain of migrations. `last` is the type at its end. Checks that each step can
 * read the result of the step before. */
static tr_status chain_add(struct durable_kind *kind, const char *what,
                           const tr_migration *const *migrations, uint32_t version,
                           const tr_type *last)
{
    tr_status status = kind_add(kind, last);
    for (size_t i = 0; migrations && migrations[i] && status == TR_OK; i++) {
        status = kind_add(kind, migrations[i]->from_type);
        if (status == TR_OK)
            status = kind_add(kind, migrations[i]->to_type);
    }
    for (size_t i = 0; migrations && migrations[i] && status == TR_OK; i++) {
        const tr_migration *step = migrations[i];
        uint32_t next = tr__migration_readable(migrations, step->from + 1, version);
        const tr_migration *after = tr__migration_from(migrations, next);
        const tr_type *wanted = after ? after->from_type : last;
        if (tr__migration_from(migrations, step->from) != step) {
            tr__log(kind->host->system,
                    TR_LEVEL_ERROR,
                    NULL,
                    "the durable kind %s: %s has two migrations from version %u",
                    kind->declared->name,
                    what,
                    step->from);
            status = TR_INVALID_ARGUMENT;
        } else if (!step_fits(kind, step->to_type, wanted)) {
            step_refuse(kind, what, step, next, wanted);
            status = TR_INVALID_ARGUMENT;
        }
    }
    return status;
}

tr_status tr__shapes_of_kind(struct durable_kind *kind)
{
    const tr_durable_kind *declared = kind->declared;
    const tr_durable_options *options = &declared->options;
    const tr_events *events = options->events;
    size_t count = 1 + 2 * count_migrations(options->migrations);
    for (size_t i = 0; events && i < events->row_count; i++)
        count += 1 + 2 * count_migrations(events->rows[i].migrations);
    kind->shapes = source_resize(&kind->host->system->source, NULL, count * sizeof kind->shapes[0]);
    if (!kind->shapes)
        return TR_NO_MEMORY;
    tr_status status =
        chain_add(kind, "its state", options->migrations, kind->version, declared->state);
    for (size_t i = 0; events && i < events->row_count && status == TR_OK; i++) {
        const tr_event_row *row = &events->rows[i];
        if (row->apply)
            status = chain_add(
                kind, row->type->name, row->migrations, row->version ? row->version : 1, row->type);
    }
    return status;
}

void tr__shapes_of_kind_free(struct durable_kind *kind)
{
    source_resize(&kind->host->system->source, kind->shapes, 0);
}

/* ---- Shapes of the store. ---- */

struct shapes_loading {
    struct durable_host *host;
    tr_status status;
};

static bool on_shape(void *context, const struct store_row *row)
{
    struct shapes_loading *loading = context;
    for (struct shape *shape = loading->host->shapes; shape; shape = shape->next) {
        if (shape->hash != row->id)
            continue;
        shape->is_stored = shape->size == row->bytes.size &&
                           memcmp(shape->text, row->bytes.data, row->bytes.size) == 0;
        return true;
    }
    if (row->bytes.size > SHAPE_TEXT_MAX)
        return true;
    struct shape *shape = shape_new(loading->host, row->bytes.size);
    if (!shape) {
        loading->status = TR_NO_MEMORY;
        return false;
    }
    memcpy(shape->text, row->bytes.data, row->bytes.size);
    shape_add(loading->host, shape);
    shape->hash = row->id;
    shape->is_stored = true;
    return true;
}

tr_status tr__shapes_load(struct durable_host *host)
{
    struct shapes_loading loading = {host, TR_OK};
    tr_status status = tr__store_list_shapes(host->contexts[0].reader, on_shape, &loading);
    if (status == TR_STORE_CORRUPT) {
        /* Leave out a shape that cannot be read. Actors that need it do not start. */
        tr__log(host->system,
                TR_LEVEL_WARN,
                NULL,
                "the store's table of shapes cannot be read completely: %s",
                tr_status_text(status));
        status = TR_OK;
    }
    for (size_t i = 0; i < host->kind_count; i++) {
        struct durable_kind *kind = &host->kinds[i];
        bool is_stored = true;
        for (size_t k = 0; k < kind->shape_count; k++)
            is_stored = is_stored && (!kind->shapes[k].shape || kind->shapes[k].shape->is_stored);
        atom32_store(&kind->are_shapes_stored, is_stored, ATOM_RELAXED);
    }
    return status == TR_OK ? loading.status : status;
}

tr_status tr__shapes_put(const struct durable_kind *kind, struct store_batch *batch)
{
    tr_status status = TR_OK;
    for (size_t i = 0; i < kind->shape_count && status == TR_OK; i++) {
        const struct shape *shape = kind->shapes[i].shape;
        if (shape && !shape->is_stored)
            status = tr__store_shape_put(batch, shape->hash, text_of(shape));
    }
    return status;
}

/* ---- Checks of what was stored. ---- */

uint64_t tr__shape_of(const struct durable_kind *kind, const tr_type *type)
{
    const struct kind_shape *found = kind_shape_of(kind, type);
    return found && found->shape ? found->shape->hash : 0;
}

bool tr__shape_is_stored(const struct durable_host *host, uint64_t hash)
{
    const struct shape *shape = shape_find(host, hash);
    return shape && shape->is_stored;
}

static void log_both(const struct durable_host *host, tr_bytes text, uint64_t hash,
                     const char *path)
{
    struct tr_system *system = host->system;
    const struct shape *stored = shape_find(host, hash);
    if (stored)
        tr__log(system, TR_LEVEL_ERROR, path, "stored as %.*s", (int)stored->size, stored->text);
    tr__log(system, TR_LEVEL_ERROR, path, "read as %.*s", (int)text.size, (const char *)text.data);
}

void tr__shape_log(const struct durable_kind *kind, const tr_type *type, uint64_t hash,
                   const char *path)
{
    log_both(kind->host, shape_text(kind, type), hash, path);
}

tr_status tr__shape_compare_stored(const struct durable_host *host, tr_bytes text, uint64_t hash,
                                   const char *path, bool *is_longer, char *why)
{
    const struct shape *stored = shape_find(host, hash);
    if (!stored) {
        snprintf(why, SHAPE_WHY_SIZE, "the store has no record of the shape of this data");
        return TR_STORE_CORRUPT;
    }
    struct shape_place place = {.first = {NULL, 0}};
    unsigned fit = tr__shape_compare(text_of(stored), text, &place);
    *is_longer = fit == SHAPE_FIRST_LONGER;
    if (fit == SHAPE_EQUAL || fit == SHAPE_FIRST_LONGER || fit == SHAPE_SECOND_LONGER)
        return TR_OK;
    log_both(host, text, hash, path);
    if (fit != SHAPE_DIFFERENT) /* both shapes have fields that the other does not have */
        place = (struct shape_place){text_of(stored), text};
    if (stored->size <= CHECK_SHAPE_MAX && text.size <= CHECK_SHAPE_MAX)
        place = (struct shape_place){text_of(stored), text};
    snprintf(why,
             SHAPE_WHY_SIZE,
             "stored as %.*s, but the code has %.*s",
             cut_length(place.first, CHECK_SHAPE_MAX),
             (const char *)place.first.data,
             cut_length(place.second, CHECK_SHAPE_MAX),
             (const char *)place.second.data);
    return TR_WRONG_SHAPE;
}

tr_status tr__shape_check(const struct durable_kind *kind, const tr_type *type, uint64_t hash,
                          const char *path, bool *is_longer, char *why)
{
    uint64_t own = tr__shape_of(kind, type);
    *is_longer = false;
    if (!hash || !own || hash == own)
        return TR_OK;
    return tr__shape_compare_stored(kind->host, shape_text(kind, type), hash, path, is_longer, why);
}
