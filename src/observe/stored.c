/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/stored.h"

#include <stdio.h>
#include <string.h>
#include <troupe/observe.h>
#include <troupe/wire.h>

#include "calendar/alarm_bytes.h"
#include "durable/alarm.h"
#include "durable/item_row.h"
#include "durable/kind.h"
#include "durable/shapes.h"
#include "observe/key_text.h"
#include "store/read.h"
#include "store/record.h"
#include "wire/json_write.h"
#include "wire/shape.h"
#include "wire/shape_show.h"

struct durable_kind *tr__stored_kind(const struct stored *stored, const char *name)
{
    int number = stored->host && name ? tr__host_kind(stored->host, name) : -1;
    return number < 0 ? NULL : &stored->host->kinds[number];
}

const tr_type *tr__stored_message_type(const struct durable_kind *kind, const char *name)
{
    const tr_behavior *behavior = kind ? kind->declared->behavior : NULL;
    for (size_t i = 0; behavior && i < behavior->handler_count; i++) {
        const tr_type *type = behavior->handlers[i].type;
        if (type && strcmp(type->name, name) == 0)
            return type;
    }
    return NULL;
}

bool tr__stored_is_awake(const struct stored *stored, const char *kind, tr_bytes key)
{
    char path[TR_PATH_MAX + 1];
    const struct durable_kind *known = tr__stored_kind(stored, kind);
    return known && tr__durable_path(known, key, path) &&
           tr_system_find(stored->host->system, path).bits != 0;
}

tr_time tr__stored_now(const struct stored *stored)
{
    const tr_platform *platform = stored->source->platform;
    return platform->wall_now(platform);
}

/* ---- Values. ---- */

/* If a value is larger than value_max, writes its size in place of the value, and returns true. */
static bool large_write(const struct stored *stored, const char *member, size_t size,
                        struct json_line *line)
{
    char name[64];
    if (!stored->value_max || size <= stored->value_max)
        return false;
    (void)snprintf(name, sizeof name, "%s_bytes", member);
    tr__json_raw(line, member, "null");
    tr__json_unsigned(line, name, size);
    return true;
}

/* Writes a message by its descriptor. Returns false if the bytes do not fit the descriptor. */
static bool typed_write(const struct stored *stored, const tr_type *type, const char *member,
                        tr_bytes packed, struct json_line *line)
{
    void *message;
    if (tr_unpack(type, packed, &message, NULL) != TR_OK)
        return false;
    size_t size = stored->shows_secrets ? tr_json_write(type, message, NULL, 0, NULL)
                                        : tr__json_show(type, message, NULL, 0);
    bool is_large = large_write(stored, member, size, line);
    char *text = size && !is_large ? source_resize(stored->source, NULL, size + 1) : NULL;
    if (text && stored->shows_secrets)
        (void)tr_json_write(type, message, text, size + 1, NULL);
    else if (text)
        (void)tr__json_show(type, message, text, size + 1);
    tr_message_free(type, message);
    if (text)
        tr__json_raw(line, member, text);
    source_resize(stored->source, text, 0);
    return text || is_large;
}

void tr__stored_message(const struct stored *stored, const tr_type *type, const char *member,
                        tr_bytes packed, struct json_line *line)
{
    if (!type || !typed_write(stored, type, member, packed, line))
        tr__json_string(line, member, "...");
}

/* A search in the store for the shape that has this hash. */
struct wanted_shape {
    uint64_t hash;
    struct json_line text;
};

static bool on_shape(void *context, const struct store_row *row)
{
    struct wanted_shape *wanted = context;
    if (row->id != wanted->hash)
        return true;
    tr__json_put(&wanted->text, row->bytes.data, row->bytes.size);
    return false;
}

static void line_put(void *context, const char *text, size_t size)
{
    tr__json_put(context, text, size);
}

/* Writes a value by the shape with which it was stored. Returns false if this is not possible. */
static bool shaped_write(const struct stored *stored, const tr_type *known, uint64_t hash,
                         const char *member, tr_bytes packed, struct json_line *line)
{
    struct wanted_shape wanted = {.hash = hash};
    struct json_line text;
    tr__json_line_init(&wanted.text, stored->source);
    tr__json_line_init(&text, stored->source);
    bool is_there = hash && tr__store_list_shapes(stored->reader, on_shape, &wanted) == TR_OK &&
                    wanted.text.length && !wanted.text.has_failed;
    const struct shape_show show = {.shape = {wanted.text.data, wanted.text.length},
                                    .document = packed,
                                    .known = known,
                                    .shows_all = stored->shows_secrets,
                                    .put = line_put,
                                    .context = &text};
    bool is_good = is_there && tr__shape_show(&show);
    tr__json_put(&text, "", 1);
    if (is_good && !text.has_failed && !large_write(stored, member, text.length - 1, line))
        tr__json_raw(line, member, text.data);
    line->has_failed |= text.has_failed;
    tr__json_line_free(&text);
    tr__json_line_free(&wanted.text);
    return is_good;
}

void tr__stored_value(const struct stored *stored, const struct durable_kind *kind,
                      const tr_type *type, const char *member, tr_bytes bytes,
                      struct json_line *line)
{
    uint64_t hash;
    tr_bytes packed = tr__shape_front_read(bytes, &hash);
    /* Copy the bytes, because they belong to the reader, and the reader is used for the shape
     * next. */
    void *copy = source_resize(stored->source, NULL, packed.size ? packed.size : 1);
    if (!copy) {
        line->has_failed = true;
        return;
    }
    if (packed.size)
        memcpy(copy, packed.data, packed.size);
    packed.data = copy;
    bool is_same = kind && type && (!hash || hash == tr__shape_of(kind, type));
    if (!(is_same && typed_write(stored, type, member, packed, line)) &&
        !shaped_write(stored, type, hash, member, packed, line))
        tr__json_string(line, member, "...");
    source_resize(stored->source, copy, 0);
}

/* ---- Keys and values. ---- */

struct kv_list {
    struct json_line *line;
    size_t count;
};

static bool on_kv(void *context, const struct store_row *row)
{
    struct kv_list *list = context;
    if (list->count++ == STORED_ROWS)
        return false;
    tr__json_open(list->line, NULL, '{');
    tr__json_key(list->line, "key", row->key);
    tr__json_bytes(list->line, "value", row->bytes, STORED_VALUE);
    tr__json_unsigned(list->line, "size", row->bytes.size);
    tr__json_close(list->line, '}');
    return true;
}

static tr_status kv_write(const struct stored *stored, const char *kind, tr_bytes key,
                          struct json_line *line)
{
    const struct store_range range = {.limit = STORED_ROWS + 1};
    struct kv_list list = {.line = line};
    tr__json_open(line, "kv", '[');
    tr_status status = tr__store_list_kv(stored->reader, kind, key, &range, on_kv, &list);
    tr__json_close(line, ']');
    tr__json_bool(line, "kv_more", list.count > STORED_ROWS);
    return status;
}

/* ---- Alarms. ---- */

void tr__stored_alarm_write(const struct stored *stored, const char *kind, const char *name,
                            tr_time due_wall_ns, tr_bytes bytes, struct json_line *line)
{
    static const char *const kinds[] = {
        [ALARM_AT] = "at", [ALARM_AFTER] = "after", [ALARM_EVERY] = "every", [ALARM_CRON] = "cron"};
    struct alarm_plan plan;
    const unsigned char *at = bytes.data;
    size_t plan_size = bytes.size >= ALARM_PLAN_AT ? at[0] | (size_t)at[1] << 8 : 0;
    tr__json_key(line, "name", (tr_bytes){name, strlen(name)});
    tr__json_signed(line, "due_unix_ms", due_wall_ns / TR_MILLISECOND);
    tr__json_signed(line, "in_ms", (due_wall_ns - tr__stored_now(stored)) / TR_MILLISECOND);
    if (name[0] == '\001') {
        tr__json_string(line, "how", "of the runtime");
        return;
    }
    if (plan_size > bytes.size - ALARM_PLAN_AT ||
        tr__alarm_plan_read(at + ALARM_PLAN_AT, plan_size, &plan) != TR_OK)
        return;
    const char *type = (const char *)at + ALARM_PLAN_AT + plan_size;
    size_t left = bytes.size - ALARM_PLAN_AT - plan_size;
    size_t type_size = strnlen(type, left) + 1;
    tr__json_string(line, "how", kinds[plan.kind]);
    tr__json_unsigned(line, "failures", plan.failures);
    if (type_size > left)
        return;
    tr__json_string(line, "message", type);
    const tr_type *known = tr__stored_message_type(tr__stored_kind(stored, kind), type);
    uint64_t shape;
    tr__stored_message(stored,
                       known,
                       "value",
                       tr__shape_front_read((tr_bytes){type + type_size, left - type_size}, &shape),
                       line);
}

struct alarm_list {
    const struct stored *stored;
    const char *kind;
    struct json_line *line;
};

static bool on_alarm(void *context, const struct store_row *row)
{
    const struct alarm_list *list = context;
    tr__json_open(list->line, NULL, '{');
    tr__stored_alarm_write(
        list->stored, list->kind, row->name, row->due_wall_ns, row->bytes, list->line);
    tr__json_close(list->line, '}');
    return true;
}

/* ---- Queues. ---- */

struct queue_list {
    struct stored_queue *queues;
    size_t max;
    size_t count;
    uint64_t items;
    uint64_t bytes;
    bool is_cut;
};

static bool on_item(void *context, const struct store_row *row)
{
    struct queue_list *list = context;
    struct item_look look;
    if (strcmp(row->name, QUEUE_IDS) == 0)
        return true;
    if (list->items == QUEUE_ITEMS_MAX || list->bytes > QUEUE_BYTES_MAX) {
        list->is_cut = true;
        return false;
    }
    list->items++;
    list->bytes += row->bytes.size;
    if (tr__item_row_look(row, &look) != TR_OK)
        return true;
    size_t at = 0;
    while (at < list->count && strcmp(list->queues[at].name, look.queue) != 0)
        at++;
    if (at == list->max)
        return true;
    struct stored_queue *queue = &list->queues[at];
    if (at == list->count) {
        *queue = (struct stored_queue){.items = 0};
        snprintf(queue->name, sizeof queue->name, "%s", look.queue);
        list->count++;
    }
    queue->bytes += row->bytes.size;
    if (look.failed_ns > queue->failed_ns)
        queue->failed_ns = look.failed_ns;
    if (look.class == ITEM_DEAD) {
        queue->dead++;
        return true;
    }
    queue->items++;
    if (!queue->oldest || row->id < queue->oldest) {
        queue->oldest = row->id;
        snprintf(queue->oldest_type, sizeof queue->oldest_type, "%s", look.type);
    }
    return true;
}

tr_status tr__stored_queues(const struct stored *stored, const char *kind, tr_bytes key,
                            struct stored_queue *queues, size_t max, size_t *count, bool *is_cut)
{
    struct queue_list list = {.queues = queues, .max = max};
    tr_status status = tr__store_list_queues(stored->reader, kind, key, NULL, 0, 0, on_item, &list);
    *count = list.count;
    *is_cut = list.is_cut;
    return status;
}

void tr__stored_queue_write(const struct stored *stored, const struct stored_queue *queue,
                            struct json_line *line)
{
    tr__json_string(line, "queue", queue->name);
    tr__json_unsigned(line, "items", queue->items);
    tr__json_unsigned(line, "bytes", queue->bytes);
    tr__json_unsigned(line, "dead", queue->dead);
    tr__json_string(line, "oldest", queue->oldest ? queue->oldest_type : NULL);
    if (queue->failed_ns)
        tr__json_signed(
            line, "failed_ms_ago", (tr__stored_now(stored) - queue->failed_ns) / TR_MILLISECOND);
}

static tr_status queues_write(const struct stored *stored, const char *kind, tr_bytes key,
                              struct json_line *line)
{
    enum { QUEUES = 16 };
    struct stored_queue queues[QUEUES];
    size_t count;
    bool is_cut;
    tr_status status = tr__stored_queues(stored, kind, key, queues, QUEUES, &count, &is_cut);
    tr__json_open(line, "queues", '[');
    for (size_t i = 0; i < count; i++) {
        tr__json_open(line, NULL, '{');
        tr__stored_queue_write(stored, &queues[i], line);
        tr__json_close(line, '}');
    }
    tr__json_close(line, ']');
    tr__json_bool(line, "queues_more", is_cut);
    return status;
}

/* ---- All data of an actor. ---- */

static void state_write(const struct stored *stored, const struct durable_kind *kind,
                        const struct store_state *state, struct json_line *line)
{
    const tr_type *type = kind ? kind->declared->state : NULL;
    bool is_current = kind && (state->version & ~STORE_VERSION_HALF) == kind->version;
    tr__json_unsigned(line, "version", state->version & ~STORE_VERSION_HALF);
    tr__json_unsigned(line, "opened", state->generation.epoch);
    tr__json_unsigned(line, "generation", state->generation.counter);
    tr__json_unsigned(line, "events", state->sequence);
    tr__json_unsigned(line, "bytes", state->bytes.size);
    if (state->version & STORE_VERSION_HALF)
        tr__json_bool(line, "half_made", true);
    if (state->has_state)
        tr__stored_value(stored, is_current ? kind : NULL, type, "value", state->bytes, line);
    else
        tr__json_raw(line, "value", "null");
}

static tr_status snapshot_write(const struct stored *stored, const struct durable_kind *kind,
                                const char *name, tr_bytes key, struct json_line *line)
{
    struct store_snapshot snapshot;
    tr_status status =
        tr__store_read_snapshot(stored->reader, name, key, STORE_NUMBER_MAX, &snapshot);
    if (status == TR_NOT_FOUND)
        return TR_OK;
    if (status != TR_OK)
        return status;
    bool is_current = kind && snapshot.version == kind->version;
    tr__json_unsigned(line, "snapshot_at", snapshot.sequence);
    tr__stored_value(stored,
                     is_current ? kind : NULL,
                     kind ? kind->declared->state : NULL,
                     "snapshot",
                     snapshot.bytes,
                     line);
    return TR_OK;
}

tr_status tr__stored_write(const struct stored *stored, const char *kind, tr_bytes key,
                           struct json_line *line)
{
    struct store_state state;
    const struct durable_kind *known = tr__stored_kind(stored, kind);
    tr_status status = tr__store_read_state(stored->reader, kind, key, &state);
    if (status != TR_OK || state.is_doomed)
        return status != TR_OK ? status : TR_NOT_FOUND;
    tr__json_string(line, "kind", kind);
    tr__json_key(line, "key", key);
    tr__json_bool(line, "awake", tr__stored_is_awake(stored, kind, key));
    bool has_events = state.sequence > 0;
    state_write(stored, known, &state, line);
    if (has_events)
        status = snapshot_write(stored, known, kind, key, line);
    if (status == TR_OK)
        status = kv_write(stored, kind, key, line);
    if (status != TR_OK)
        return status;
    struct alarm_list alarms = {stored, kind, line};
    tr__json_open(line, "alarms", '[');
    status = tr__store_list_alarms(stored->reader, kind, key, on_alarm, &alarms);
    tr__json_close(line, ']');
    return status == TR_OK ? queues_write(stored, kind, key, line) : status;
}
