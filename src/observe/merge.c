/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/merge.h"

#include <stdio.h>
#include <string.h>
#include <troupe/wire.h>

#include "wire/msgpack_read.h"
#include "wire/msgpack_write.h"
#include "wire/type.h"

/* ---- Members of an object. ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the position after the string that begins at `at`. */
static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

/* Returns the position after the value that begins at `at`. */
static const char *value_end(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        char c = *at;
        if (!depth && (c == ',' || c == '}' || c == ']'))
            break;
        if (c == '"') {
            at = string_end(at, end);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at++;
    }
    return at;
}

bool tr__json_member(tr_bytes *at, tr_bytes *name, tr_bytes *value)
{
    const char *here = at->data;
    const char *end = here + at->size;
    while (here < end && (is_space(*here) || *here == ',' || *here == '{'))
        here++;
    if (here == end || *here != '"')
        return false;
    const char *after = string_end(here, end);
    *name = (tr_bytes){here + 1, (size_t)(after - here) >= 2 ? (size_t)(after - here) - 2 : 0};
    while (after < end && (is_space(*after) || *after == ':'))
        after++;
    const char *stop = value_end(after, end);
    const char *last = stop;
    while (last > after && is_space(last[-1]))
        last--;
    *value = (tr_bytes){after, (size_t)(last - after)};
    *at = (tr_bytes){stop, (size_t)(end - stop)};
    return true;
}

/* ---- The change. ---- */

static const tr_field *field_find(const tr_type *type, tr_bytes name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const tr_field *field = tr__type_field(type, i);
        if (strlen(field->name) == name.size && memcmp(field->name, name.data, name.size) == 0)
            return field;
    }
    return NULL;
}

static tr_status merge_refuse(struct merge *merge, tr_status status, const tr_wire_error *error)
{
    snprintf(merge->why,
             sizeof merge->why,
             "%s%s%s",
             error->path,
             error->path[0] ? ": " : "",
             error->text[0] ? error->text : tr_status_text(status));
    return status;
}

/* Refuses a new value that may contain "..." in place of a secret value. The tool and the pages
 * show secret values as "...". */
static tr_status secrets_guard(struct merge *merge, const tr_field *field, tr_bytes value)
{
    static const char hidden[] = "\"...\"";
    const char *why = NULL;
    if (merge->takes_secrets)
        return TR_OK;
    if (tr__type_has_secrets(field->message))
        why = "has secret fields, which a new value would replace; --secrets allows it";
    else if (tr__field_is_secret(merge->type, field) && value.size == sizeof hidden - 1 &&
             memcmp(value.data, hidden, value.size) == 0)
        why = "is secret, and \"...\" only stands for its value; leave it out, and it stays as it "
              "is";
    if (!why)
        return TR_OK;
    snprintf(merge->why, sizeof merge->why, "%s %s", field->name, why);
    return TR_NOT_PERMITTED;
}

/* Copies fields from `changed` to `mixed`, but only those that the JSON has as members. */
static tr_status fields_mix(struct merge *merge, const void *changed, void *mixed)
{
    tr_bytes at = merge->json;
    tr_bytes name;
    tr_bytes value;
    while (tr__json_member(&at, &name, &value)) {
        const tr_field *field = field_find(merge->type, name);
        if (!field) {
            snprintf(merge->why,
                     sizeof merge->why,
                     "the state has no field \"%.*s\"",
                     name.size < 64 ? (int)name.size : 64,
                     (const char *)name.data);
            return TR_BAD_DATA;
        }
        tr_status status = secrets_guard(merge, field, value);
        if (status != TR_OK)
            return status;
        memcpy((char *)mixed + field->offset, (const char *)changed + field->offset, field->size);
    }
    return TR_OK;
}

/* Packs `mixed`, which is the new state. */
static tr_status mixed_pack(struct merge *merge, const void *mixed, const struct tail *tail)
{
    tr_wire_error error = {.status = TR_OK};
    size_t size = tr__pack_tail(merge->type, mixed, tail, NULL, 0, &error);
    if (!size || size > TR_STATE_MAX) {
        error.status = size ? TR_TOO_LARGE : error.status;
        return merge_refuse(merge, error.status, &error);
    }
    merge->packed = source_resize(merge->source, NULL, size);
    if (!merge->packed)
        return TR_NO_MEMORY;
    merge->size = tr__pack_tail(merge->type, mixed, tail, merge->packed, size, &error);
    return TR_OK;
}

static tr_status merge_with(struct merge *merge, const void *before, const void *changed,
                            const struct tail *tail)
{
    size_t size = merge->type->size;
    void *mixed = source_resize(merge->source, NULL, size);
    if (!mixed)
        return TR_NO_MEMORY;
    /* A shallow copy is enough. The memory to which both states point lives until the new state is
     * packed. */
    memset(mixed, 0, size);
    if (before)
        memcpy(mixed, before, size);
    tr_status status = fields_mix(merge, changed, mixed);
    if (status == TR_OK)
        status = mixed_pack(merge, mixed, tail);
    source_resize(merge->source, mixed, 0);
    return status;
}

tr_status tr__merge(struct merge *merge)
{
    tr_wire_error error = {.status = TR_OK};
    struct tail tail = {.count = 0};
    void *before = NULL;
    void *changed;
    tr_status status = TR_OK;
    merge->why[0] = '\0';
    if (merge->before.size)
        status = tr__unpack_tail(merge->type, merge->before, &before, &tail, &error);
    if (status != TR_OK)
        return merge_refuse(merge, status, &error);
    status = tr_json_read(merge->type, merge->json, &changed, &error);
    if (status == TR_OK) {
        status = merge_with(merge, before, changed, &tail);
        tr_message_free(merge->type, changed);
    } else {
        (void)merge_refuse(merge, status, &error);
    }
    if (before)
        tr_message_free(merge->type, before);
    if (status != TR_OK && !merge->why[0])
        snprintf(merge->why, sizeof merge->why, "%s", tr_status_text(status));
    return status;
}
