/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/event.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "observe/actors.h"
#include "observe/visitor.h"
#include "wire/shape.h"
#include "wire/type.h"

/* ---- Finding messages. ---- */

/* The messages that were found so far. Each is in the table once. */
struct found {
    const struct memory_source *memory;
    const tr_type **types;
    size_t count;
    size_t capacity;
    tr_status status;
};

static bool found_grow(struct found *found)
{
    if (found->count < found->capacity)
        return true;
    size_t capacity = found->capacity ? 2 * found->capacity : 64;
    const tr_type **types =
        source_resize(found->memory, (void *)found->types, capacity * sizeof *types);
    if (!types)
        return false;
    found->types = types;
    found->capacity = capacity;
    return true;
}

/* Adds a message. Later, found_close adds the messages inside it. */
static void found_add(struct found *found, const tr_type *type)
{
    if (!type || found->status != TR_OK || strncmp(type->name, "tr_", 3) == 0)
        return;
    for (size_t i = 0; i < found->count; i++) {
        if (tr_type_is_equal(found->types[i], type))
            return;
    }
    if (found->count == TR_SCHEMA_MESSAGES_MAX)
        found->status = TR_LIMIT;
    else if (!found_grow(found))
        found->status = TR_NO_MEMORY;
    else
        found->types[found->count++] = type;
}

/* Adds the messages that are inside of the messages found so far, and their replies. */
static void found_close(struct found *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const tr_type *type = found->types[i];
        found_add(found, type->reply);
        for (size_t at = 0; at < type->field_count; at++)
            found_add(found, tr__type_field(type, at)->message);
    }
}

static void behavior_add(struct found *found, const tr_behavior *behavior, unsigned depth)
{
    const char *why;
    if (!behavior || depth > TR_DEPTH_MAX || !tr__behavior_is_valid(behavior, &why))
        return;
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_handler *handler =
            (const tr_handler *)(const void *)((const char *)behavior->handlers +
                                               i * behavior->handler_size);
        found_add(found, handler->type);
    }
    found_add(found, behavior->setup.type);
    for (size_t i = 0; i < behavior->child_count; i++)
        behavior_add(found, behavior->children[i].behavior, depth + 1);
}

static void found_fill(struct found *found, const struct schema_source *source)
{
    behavior_add(found, source->root, 0);
    for (const tr_child_spec *spec = source->pool; spec && spec->behavior; spec++)
        behavior_add(found, spec->behavior, 0);
    for (const tr_behavior *const *at = source->behaviors; at < source->behaviors_end; at++)
        behavior_add(found, *at, 0);
    const tr_durable_kind *const *kinds = source->durables ? source->durables->kinds : NULL;
    for (; kinds && *kinds; kinds++)
        behavior_add(found, (*kinds)->behavior, 0);
    found_close(found);
}

/* ---- Writing. ---- */

/* Writes the shape of a type as a member. If the type has no shape, writes null. */
static void shape_put(struct json_line *text, const char *name, const tr_type *type,
                      const struct memory_source *memory)
{
    size_t size = tr__shape_write(type, NULL, 0);
    char *shape = size ? source_resize(memory, NULL, size + 1) : NULL;
    if (size && !shape) {
        text->has_failed = true;
        return;
    }
    if (shape) {
        (void)tr__shape_write(type, shape, size);
        shape[size] = '\0';
    }
    tr__json_string(text, name, shape);
    source_resize(memory, shape, 0);
}

/* Writes the type of a field, such as "u64", "[item]", "[f64*3]" or "?str". */
static void field_put(struct json_line *text, const tr_type *type, const tr_field *field)
{
    static const char *const kinds[] = {"bool",
                                        "i8",
                                        "i16",
                                        "i32",
                                        "i64",
                                        "u8",
                                        "u16",
                                        "u32",
                                        "u64",
                                        "f32",
                                        "f64",
                                        "str",
                                        "bytes",
                                        "buffer",
                                        "ref"};
    const char *name = field->kind == TR_KIND_MESSAGE ? field->message->name : kinds[field->kind];
    char whole[TR_NAME_MAX + 32];
    if (field->shape == TR_SHAPE_LIST)
        (void)snprintf(whole, sizeof whole, "[%.128s]", name);
    else if (field->shape == TR_SHAPE_ARRAY)
        (void)snprintf(whole, sizeof whole, "[%.128s*%u]", name, (unsigned)field->count);
    else
        (void)snprintf(
            whole, sizeof whole, "%s%.128s", field->shape == TR_SHAPE_OPTIONAL ? "?" : "", name);
    tr__json_open(text, NULL, '{');
    tr__json_string(text, "name", field->name);
    tr__json_string(text, "type", whole);
    if (tr__field_is_secret(type, field))
        tr__json_bool(text, "secret", true);
    tr__json_close(text, '}');
}

static void fields_put(struct json_line *text, const tr_type *type)
{
    tr__json_open(text, "fields", '[');
    for (size_t i = 0; i < type->field_count; i++)
        field_put(text, type, tr__type_field(type, i));
    tr__json_close(text, ']');
}

static void message_put(struct json_line *text, const tr_type *type,
                        const struct memory_source *memory)
{
    tr__json_open(text, NULL, '{');
    tr__json_string(text, "name", type->name);
    if (type->reply)
        tr__json_string(text, "reply", type->reply->name);
    shape_put(text, "shape", type, memory);
    fields_put(text, type);
    tr__json_close(text, '}');
}

static void migrations_put(struct json_line *text, const tr_migration *const *migrations,
                           const struct memory_source *memory)
{
    tr__json_open(text, "migrations", '[');
    for (; migrations && *migrations; migrations++) {
        tr__json_open(text, NULL, '{');
        tr__json_unsigned(text, "from", (*migrations)->from);
        shape_put(text, "shape", (*migrations)->from_type, memory);
        tr__json_close(text, '}');
    }
    tr__json_close(text, ']');
}

static void kind_put(struct json_line *text, const tr_durable_kind *kind,
                     const struct memory_source *memory)
{
    const tr_events *events = kind->options.events;
    tr__json_open(text, NULL, '{');
    tr__json_string(text, "name", kind->name);
    tr__json_unsigned(text, "version", kind->options.version ? kind->options.version : 1);
    tr__json_string(text, "state", kind->state->name);
    shape_put(text, "shape", kind->state, memory);
    fields_put(text, kind->state);
    migrations_put(text, kind->options.migrations, memory);
    if (events) {
        tr__json_open(text, "events", '[');
        for (size_t i = 0; i < events->row_count; i++) {
            const tr_event_row *row = &events->rows[i];
            tr__json_open(text, NULL, '{');
            tr__json_string(text, "name", row->type->name);
            tr__json_unsigned(text, "version", row->version ? row->version : 1);
            shape_put(text, "shape", row->type, memory);
            migrations_put(text, row->migrations, memory);
            tr__json_close(text, '}');
        }
        tr__json_close(text, ']');
    }
    tr__json_close(text, '}');
}

/* ---- Order. ---- */

static int compare_types(const void *left, const void *right)
{
    const tr_type *a = *(const tr_type *const *)left;
    const tr_type *b = *(const tr_type *const *)right;
    int order = strcmp(a->name, b->name);
    for (size_t i = 0; !order && i < a->field_count && i < b->field_count; i++) {
        const tr_field *x = tr__type_field(a, i);
        const tr_field *y = tr__type_field(b, i);
        order = strcmp(x->name, y->name);
        order = order ? order : (int)x->kind - (int)y->kind;
        order = order ? order : (int)x->offset - (int)y->offset;
    }
    return order ? order : (int)a->field_count - (int)b->field_count;
}

/* Writes the kinds in the order of their names. There are few kinds, so all of them are searched
 * for each next one. */
static void kinds_put(struct json_line *text, const struct tr_durables *durables,
                      const struct memory_source *memory)
{
    const tr_durable_kind *last = NULL;
    for (;;) {
        const tr_durable_kind *next = NULL;
        for (const tr_durable_kind *const *at = durables ? durables->kinds : NULL; at && *at;
             at++) {
            bool is_later = !last || strcmp((*at)->name, last->name) > 0;
            if (is_later && (!next || strcmp((*at)->name, next->name) < 0))
                next = *at;
        }
        if (!next)
            return;
        kind_put(text, next, memory);
        last = next;
    }
}

tr_status tr__schema_write(struct json_line *text, const struct schema_source *source,
                           const struct memory_source *memory)
{
    struct found found = {.memory = memory};
    found_fill(&found, source);
    if (found.status == TR_OK) {
        if (found.count)
            qsort((void *)found.types, found.count, sizeof *found.types, compare_types);
        tr__json_open(text, NULL, '{');
        tr__json_unsigned(text, "troupe_schema", 1);
        tr__json_string(text, "app", source->app);
        tr__json_open(text, "messages", '[');
        for (size_t i = 0; i < found.count; i++)
            message_put(text, found.types[i], memory);
        tr__json_close(text, ']');
        tr__json_open(text, "durable", '[');
        kinds_put(text, source->durables, memory);
        tr__json_close(text, ']');
        tr__json_close(text, '}');
    }
    source_resize(memory, (void *)found.types, 0);
    return text->has_failed ? TR_NO_MEMORY : found.status;
}

void tr__verb_schema(struct visitor *visitor, const struct control_request *request)
{
    const struct memory_source *memory = &visitor->observer->system->source;
    struct json_line text;
    tr__json_line_init(&text, memory);
    tr_status status = TR_NOT_FOUND;
    if (visitor->observer->schema)
        status = tr__schema_write(&text, visitor->observer->schema, memory);
    tr__json_put(&text, "", 1);
    if (status == TR_OK && text.length > VISITOR_PAGE_MAX) {
        tr__visitor_refuse(
            visitor,
            request->id,
            TR_TOO_LARGE,
            "the schema has %zu bytes, too many for an answer; start the program with "
            "--schema",
            text.length);
    } else if (status != TR_OK || text.has_failed) {
        tr__visitor_refuse(visitor,
                           request->id,
                           status,
                           "the schema cannot be written: %s",
                           tr_status_text(status));
    } else {
        visitor->output.needs_comma = false;
        tr__json_open(&visitor->output, NULL, '{');
        tr__json_unsigned(&visitor->output, "id", request->id);
        tr__json_raw(&visitor->output, "ok", text.data);
        tr__json_put(&visitor->output, "}\n", 2);
    }
    tr__json_line_free(&text);
}

void tr__verb_messages(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    struct json_line *line = &visitor->output;
    struct actor_glance glance;
    tr_ref actor = tr__visitor_actor(visitor, request);
    if (!actor.bits)
        return;
    bool is_there = tr__actor_glance(system, (uint32_t)actor.bits & system->slots->mask, &glance) &&
                    glance.ref == actor.bits;
    const tr_behavior *behavior = is_there ? glance.behavior : NULL;
    tr__visitor_begin(visitor, request->id, false);
    tr__json_string(line, "behavior", behavior ? behavior->name : NULL);
    tr__json_open(line, "messages", '[');
    for (size_t i = 0; behavior && i < behavior->handler_count; i++) {
        const tr_handler *handler =
            (const tr_handler *)(const void *)((const char *)behavior->handlers +
                                               i * behavior->handler_size);
        /* Leave out messages of the runtime, because clients must not send them. */
        if (handler->type && strncmp(handler->type->name, "tr_", 3) != 0)
            message_put(line, handler->type, visitor->observer->source);
    }
    tr__json_close(line, ']');
    tr__visitor_end(visitor);
}
