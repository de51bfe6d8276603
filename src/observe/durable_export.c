/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/durable_export.h"

#include <stdio.h>
#include <string.h>
#include <troupe/wire.h>

#include "durable/shapes.h"
#include "observe/audit.h"
#include "observe/durable_change.h"
#include "observe/durables.h"
#include "observe/export_rows.h"
#include "observe/key_text.h"
#include "observe/merge.h"
#include "store/batch.h"
#include "store/read.h"
#include "wire/shape.h"
#include "wire/type.h"

enum { GATHERED_MAX = 8 * 1024 * 1024 };

/** The members of a line of an export, without "state". state_find finds the JSON of the state. */
TR_MESSAGE(tr_export_line, (str, kind), (str, key), (u32, version), (bool, whole),
           (optional(bytes), state64), (message(tr_export_rows), rows));

/* ---- Which kinds have secrets. ---- */

/* Whether a kind has no secret fields. Returns false for a kind that the program does not have,
 * because it may have secret fields. */
static bool kind_is_open(const struct durable_kind *kind)
{
    if (!kind || tr__type_has_secrets(kind->declared->state))
        return false;
    const tr_behavior *behavior = kind->declared->behavior;
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_type *type = behavior->handlers[i].type;
        if (tr__type_has_secrets(type) || (type && tr__type_has_secrets(type->reply)))
            return false;
    }
    for (size_t i = 0; i < kind->shape_count; i++) { /* types of events, and of earlier states */
        if (tr__type_has_secrets(kind->shapes[i].type))
            return false;
    }
    return true;
}

/* ---- Export. ---- */

/* The progress of an export of several actors. */
struct export_list {
    struct stored stored;
    bool is_of_one_kind;
    char kind[TR_NAME_MAX + 1]; /* kind of the last actor; "": none yet */
    struct request_key prefix;
    struct request_key after;
    uint64_t listed;
    uint64_t parts; /* number of lines with "whole":false */
};

static void export_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

/* Writes the state of an actor. Writes it as JSON if this version of the program has stored it,
 * otherwise packed. */
static void state_write(const struct stored *stored, const struct durable_kind *kind,
                        const struct store_state *state, tr_bytes bytes, bool is_whole,
                        struct json_line *line)
{
    uint64_t hash;
    const tr_type *type = kind ? kind->declared->state : NULL;
    if (!state->has_state)
        return;
    (void)tr__shape_front_read(bytes, &hash);
    bool is_current =
        kind && state->version == kind->version && hash && hash == tr__shape_of(kind, type);
    if (is_current || !is_whole) {
        tr__stored_value(stored, is_current ? kind : NULL, type, "state", bytes, line);
        return;
    }
    struct json_line text;
    tr__json_line_init(&text, stored->source);
    tr__json_base64(&text, bytes);
    tr__json_open(line, "state64", '"');
    tr__json_put(line, text.data ? text.data : "", text.length);
    tr__json_close(line, '"');
    tr__json_line_free(&text);
}

static void rows_write(const struct stored *stored, const struct tr_export_rows *rows,
                       struct json_line *line)
{
    size_t size = tr_json_write(&tr_type_tr_export_rows, rows, NULL, 0, NULL);
    char *text = size ? source_resize(stored->source, NULL, size + 1) : NULL;
    if (text) {
        (void)tr_json_write(&tr_type_tr_export_rows, rows, text, size + 1, NULL);
        tr__json_raw(line, "rows", text);
    }
    line->has_failed |= size && !text;
    source_resize(stored->source, text, 0);
}

/* Writes the members of a line for one actor. */
static tr_status actor_write(struct export_list *list, const char *name, tr_bytes key,
                             struct json_line *line)
{
    const struct stored *stored = &list->stored;
    const struct durable_kind *kind = tr__stored_kind(stored, name);
    struct export_rows rows = {.source = stored->source};
    struct store_state state;
    bool is_whole = stored->shows_secrets || kind_is_open(kind);
    tr_status status = tr__store_read_state(stored->reader, name, key, &state);
    if (status != TR_OK)
        return status;
    /* Copy the bytes, because they belong to the reader, and the reader is used for the rows
     * next. */
    void *copy = source_resize(stored->source, NULL, state.bytes.size + 1);
    if (!copy)
        return TR_NO_MEMORY;
    if (state.bytes.size)
        memcpy(copy, state.bytes.data, state.bytes.size);
    tr_bytes bytes = {copy, state.bytes.size};
    tr_status read = is_whole ? tr__export_read(stored, name, key, bytes, &rows) : TR_OK;
    is_whole = is_whole && read == TR_OK;
    list->parts += !is_whole;
    tr__json_string(line, "kind", name);
    tr__json_key(line, "key", key);
    tr__json_unsigned(line, "version", state.version);
    tr__json_bool(line, "whole", is_whole);
    if (read != TR_OK)
        tr__json_string(line, "why", tr_status_name(read));
    state_write(stored, kind, &state, bytes, is_whole, line);
    if (is_whole)
        rows_write(stored, &rows.rows, line);
    tr__export_free(&rows);
    source_resize(stored->source, copy, 0);
    return TR_OK;
}

static bool on_next(void *context, const struct store_row *row)
{
    struct request_key *key = context;
    memcpy(key->bytes, row->key.data, row->key.size);
    key->size = row->key.size;
    return false;
}

/* Finds the next actor. Returns TR_NOT_FOUND if there is none. */
static tr_status export_next(struct export_list *list)
{
    for (;;) {
        struct request_key next = {.size = 0};
        tr_status status = TR_OK;
        if (list->kind[0])
            status = tr__store_list_keys(list->stored.reader,
                                         list->kind,
                                         request_key_bytes(&list->prefix),
                                         request_key_bytes(&list->after),
                                         1,
                                         on_next,
                                         &next);
        if (status != TR_OK)
            return status;
        list->after = next;
        if (next.size)
            return TR_OK;
        if (list->is_of_one_kind)
            return TR_NOT_FOUND;
        char before[TR_NAME_MAX + 1];
        memcpy(before, list->kind, sizeof before);
        status = tr__store_next_kind(list->stored.reader, before[0] ? before : NULL, list->kind);
        if (status != TR_OK)
            return status;
    }
}

static bool export_step(struct visitor *visitor)
{
    struct export_list *list = visitor->work;
    const struct control_request *request = visitor->request;
    struct json_line *line = &visitor->output;
    tr_status status = tr__store_reader_hold(list->stored.reader);
    if (status == TR_OK) {
        status = export_next(list);
        size_t begin = line->length;
        if (status == TR_OK) {
            tr__visitor_begin(visitor, request->id, true);
            status = actor_write(list, list->kind, request_key_bytes(&list->after), line);
            tr__visitor_end(visitor);
            list->listed++;
        }
        if (status != TR_OK)
            line->length = begin;
        tr__store_reader_release(list->stored.reader);
    }
    if (status == TR_OK)
        return false;
    if (status != TR_NOT_FOUND) {
        tr__stored_refuse(visitor, request, status);
        return true;
    }
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(line, "count", list->listed);
    tr__json_unsigned(line, "not_whole", list->parts);
    tr__visitor_end(visitor);
    return true;
}

void tr__verb_durable_export(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    struct request_key prefix = {.size = tr__key_read(request->key, prefix.bytes)};
    bool has_kind = request->kind && *request->kind;
    if (!tr__stored_begin(visitor, request, &stored))
        return;
    if ((request->key && *request->key && !prefix.size) ||
        (has_kind && strlen(request->kind) > TR_NAME_MAX)) {
        tr__visitor_refuse(
            visitor, request->id, TR_INVALID_ARGUMENT, "\"kind\" or \"key\" is not valid");
        return;
    }
    struct export_list *list = source_resize(stored.source, NULL, sizeof *list);
    if (!list) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the list");
        return;
    }
    *list = (struct export_list){.stored = stored, .is_of_one_kind = has_kind, .prefix = prefix};
    if (has_kind)
        snprintf(list->kind, sizeof list->kind, "%s", request->kind);
    tr__visitor_steps(visitor, JOB_STEPS, export_step, list, export_free);
}

/* ---- Import. ---- */

/* A line that an import has read and has not stored yet. */
struct import {
    const struct tr_export_line *line;
    const struct durable_kind *kind;
    struct request_key key;
    tr_bytes json; /* the JSON of the state; no bytes: the line has no state */
};

static void import_refuse(struct visitor *visitor, const struct control_request *request,
                          tr_status status, const char *why)
{
    tr__audit(visitor, request, status);
    tr__visitor_refuse(visitor, request->id, status, "the line is not imported: %s", why);
}

/* Finds the member "state" in a line. Its value is the JSON of the state. */
static tr_bytes state_find(tr_bytes text)
{
    tr_bytes name;
    tr_bytes value;
    while (tr__json_member(&text, &name, &value)) {
        if (name.size == 5 && memcmp(name.data, "state", 5) == 0)
            return value;
    }
    return (tr_bytes){NULL, 0};
}

static const char *import_check(const struct stored *stored, struct import *import)
{
    const struct tr_export_line *line = import->line;
    import->kind = tr__stored_kind(stored, line->kind);
    import->key.size = tr__key_read(line->key, import->key.bytes);
    if (!line->kind || !import->key.size)
        return "it has no kind or no key";
    if (!line->whole)
        return "it is not whole: it was exported without --secrets, or was too large";
    if (!import->kind)
        return "the program has no such kind";
    if (import->json.size && line->version != import->kind->version)
        return "its state is of another version than that of this program";
    return NULL;
}

/* Puts the state of a line into the batch. */
static tr_status import_state(const struct stored *stored, const struct import *import,
                              struct store_batch *batch, char why[MERGE_WHY_SIZE])
{
    const struct durable_kind *kind = import->kind;
    const tr_type *type = kind->declared->state;
    const struct tr_export_line *line = import->line;
    if (!import->json.size && !line->state64.has)
        return TR_OK;
    if (!import->json.size)
        return tr__store_put_state(batch, line->version, line->state64.value);
    struct merge merge = {
        .source = stored->source, .type = type, .json = import->json, .takes_secrets = true};
    uint64_t hash = tr__shape_of(kind, type);
    size_t front = hash ? SHAPE_FRONT : 0;
    tr_status status = tr__merge(&merge);
    if (status != TR_OK) {
        snprintf(why, MERGE_WHY_SIZE, "%s", merge.why);
        return status;
    }
    unsigned char *bytes = tr__store_batch_alloc(batch, front + merge.size);
    if (bytes) {
        if (hash)
            tr__shape_front_write(bytes, hash);
        memcpy(bytes + front, merge.packed, merge.size);
        status = tr__store_put_state(batch, line->version, (tr_bytes){bytes, front + merge.size});
    }
    source_resize(stored->source, merge.packed, 0);
    if (!bytes)
        return TR_NO_MEMORY;
    return status == TR_OK ? tr__shapes_put(kind, batch) : status;
}

/* Checks whether the import may write the actor. The actor must not exist, unless the request says
 * that it is to be replaced. */
static tr_status import_may(const struct stored *stored, const struct import *import, bool replaces,
                            struct store_batch *batch, char why[MERGE_WHY_SIZE])
{
    struct store_state state;
    tr_status status = tr__store_read_state(
        stored->reader, import->line->kind, request_key_bytes(&import->key), &state);
    if (status == TR_NOT_FOUND)
        return TR_OK;
    if (status != TR_OK)
        return status;
    if (!replaces && !state.is_doomed) {
        snprintf(why, MERGE_WHY_SIZE, "the actor exists; --replace replaces it");
        return TR_NAME_EXISTS;
    }
    return tr__store_destroy(batch);
}

static void import_run(struct visitor *visitor, const struct control_request *request,
                       const struct stored *stored, struct import *import)
{
    char why[MERGE_WHY_SIZE] = "";
    struct store_batch *batch;
    const char *fault = import_check(stored, import);
    struct control_request named = *request; /* the log line of this request names the actor */
    named.kind = import->line->kind;
    named.key = import->line->key;
    if (fault) {
        import_refuse(visitor, &named, TR_BAD_DATA, fault);
        return;
    }
    struct change *change = tr__change_begin(
        visitor, &named, stored, named.kind, request_key_bytes(&import->key), &batch);
    if (!change)
        return;
    tr_status status = import_may(stored, import, request->writes, batch, why);
    if (status == TR_OK)
        status = import_state(stored, import, batch, why);
    if (status == TR_OK)
        status = tr__export_put_copies(&import->line->rows, batch);
    if (status == TR_OK) {
        tr__change_submit(visitor, change, NULL);
        return;
    }
    import_refuse(visitor, &named, status, why[0] ? why : tr_status_text(status));
    tr__change_drop(change);
}

void tr__verb_durable_import(struct visitor *visitor, const struct control_request *request)
{
    struct stored stored;
    struct json_line *text = &visitor->gathered;
    const char *piece = request->json ? request->json : "";
    tr__json_put(text, piece, strlen(piece));
    bool is_too_large = text->has_failed || text->length > GATHERED_MAX;
    if (request->more && !is_too_large) {
        tr__visitor_begin(visitor, request->id, false);
        tr__json_unsigned(&visitor->output, "gathered", text->length);
        tr__visitor_end(visitor);
        return;
    }
    if (is_too_large) {
        tr__json_line_free(text);
        import_refuse(visitor, request, TR_TOO_LARGE, "it is longer than 8 MiB");
        return;
    }
    tr_wire_error error;
    void *line = NULL;
    tr_bytes bytes = {text->data, text->length};
    tr_status status = tr_json_read(&tr_type_tr_export_line, bytes, &line, &error);
    if (status != TR_OK) {
        import_refuse(visitor, request, status, error.text);
    } else if (tr__stored_begin(visitor, request, &stored)) {
        struct import import = {.line = line, .json = state_find(bytes)};
        import_run(visitor, request, &stored, &import);
    }
    tr_message_free(&tr_type_tr_export_line, line);
    tr__json_line_free(text);
}
