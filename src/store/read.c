/* SPDX-License-Identifier: Apache-2.0 */
/** Readers. The functions here check the arguments, and the driver does the rest. */
#include "store/read.h"

#include "store/core.h"
#include "store/entry.h"

#include <string.h>

tr_status tr__store_reader_new(struct store *store, struct store_reader **reader)
{
    if (tr__store_status(store) != TR_OK)
        return TR_STORE_FAILED;
    struct store_reader *made = source_resize(&store->source, NULL, sizeof *made);
    if (!made)
        return TR_NO_MEMORY;
    *made = (struct store_reader){.store = store};
    tr_status status = store->driver->view_new(store->session, &made->view);
    if (status) {
        source_resize(&store->source, made, 0);
        return status;
    }
    *reader = made;
    return TR_OK;
}

struct store *tr__store_of(const struct store_reader *reader)
{
    return reader->store;
}

void tr__store_reader_free(struct store_reader *reader)
{
    if (!reader)
        return;
    reader->store->driver->view_free(reader->view);
    source_resize(&reader->store->source, reader, 0);
}

tr_status tr__store_reader_hold(struct store_reader *reader)
{
    tr_status status = tr__store_status(reader->store);
    if (status == TR_OK)
        status = reader->store->driver->view_hold(reader->view, true);
    reader->is_held = status == TR_OK;
    return status;
}

void tr__store_reader_release(struct store_reader *reader)
{
    reader->is_held = false;
    (void)reader->store->driver->view_hold(reader->view, false);
}

/* Whether commits wait until this reader is released, by rule 4 of store/tidy.h. */
static bool is_in_the_way(const struct store_reader *reader)
{
    return reader->is_held && atom32_load(&reader->store->is_log_full, ATOM_RELAXED);
}

static tr_status reader_status(const struct store_reader *reader)
{
    tr_status status = tr__store_status(reader->store);
    return status == TR_OK && is_in_the_way(reader) ? TR_STORE_BUSY : status;
}

/* A visitor of a list. It ends the list when commits wait for the reader. */
struct visitor {
    const struct store_reader *reader;
    store_visit *visit;
    void *context;
    bool is_ended;
};

static bool visit_on(void *context, const struct store_row *row)
{
    struct visitor *visitor = context;
    visitor->is_ended = is_in_the_way(visitor->reader);
    return !visitor->is_ended && visitor->visit(visitor->context, row);
}

static tr_status visited(const struct visitor *visitor, tr_status status)
{
    return status == TR_OK && visitor->is_ended ? TR_STORE_BUSY : status;
}

/* The name of an actor as it is stored: its kind and its key. (A tag of its own: gdb finds structs by their tags.) */
struct full_name {
    size_t size;
    unsigned char bytes[STORE_NAME_MAX];
};

static tr_status read_begin(const struct store_reader *reader, const char *kind, tr_bytes key,
                            struct full_name *name)
{
    name->size = tr__store_name(kind, key, name->bytes);
    if (name->size == 0)
        return TR_INVALID_ARGUMENT;
    return reader_status(reader);
}

static tr_bytes bytes_of(const struct full_name *name)
{
    return (tr_bytes){name->bytes, name->size};
}

tr_status tr__store_read_state(struct store_reader *reader, const char *kind, tr_bytes key,
                               struct store_state *state)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    return status ? status
                  : reader->store->driver->read_state(reader->view, bytes_of(&name), state);
}

tr_status tr__store_read_kv(struct store_reader *reader, const char *kind, tr_bytes key,
                            tr_bytes kv_key, tr_bytes *value)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    if (status)
        return status;
    if (kv_key.size == 0)
        return TR_INVALID_ARGUMENT;
    if (kv_key.size > TR_KV_KEY_MAX)
        return TR_TOO_LARGE;
    return reader->store->driver->read_kv(reader->view, bytes_of(&name), kv_key, value);
}

tr_status tr__store_read_snapshot(struct store_reader *reader, const char *kind, tr_bytes key,
                                  uint64_t sequence_max, struct store_snapshot *snapshot)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    snapshot->sequence = 0;
    return status ? status
                  : reader->store->driver->read_snapshot(
                        reader->view, bytes_of(&name), sequence_max, snapshot);
}

tr_status tr__store_last_page(struct store_reader *reader, const char *kind, tr_bytes key,
                              uint32_t *last)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    return status ? status : reader->store->driver->last_page(reader->view, bytes_of(&name), last);
}

tr_status tr__store_read_page(struct store_reader *reader, const char *kind, tr_bytes key,
                              uint32_t number, void *bytes)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    return status ? status
                  : reader->store->driver->read_page(reader->view, bytes_of(&name), number, bytes);
}

static int bytes_compare(tr_bytes a, tr_bytes b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* Returns the lowest key that is greater than all keys that begin with `prefix`. If every byte of
 * the prefix is 255, there is no such key, and the function returns no bytes. */
static tr_bytes end_of_prefix(tr_bytes prefix, unsigned char memory[TR_KV_KEY_MAX])
{
    size_t size = prefix.size;
    memcpy(memory, prefix.data, size);
    while (size > 0 && memory[size - 1] == UINT8_MAX)
        size--;
    if (size > 0)
        memory[size - 1]++;
    return (tr_bytes){memory, size};
}

tr_status tr__store_list_kv(struct store_reader *reader, const char *kind, tr_bytes key,
                            const struct store_range *range, store_visit *visit, void *context)
{
    struct full_name name;
    unsigned char memory[TR_KV_KEY_MAX];
    tr_status status = read_begin(reader, kind, key, &name);
    if (status)
        return status;
    if (range->prefix.size > TR_KV_KEY_MAX || range->from.size > TR_KV_KEY_MAX ||
        range->to.size > TR_KV_KEY_MAX)
        return TR_TOO_LARGE;
    struct store_range bounds = *range;
    if (range->prefix.size > 0) {
        tr_bytes end = end_of_prefix(range->prefix, memory);
        if (bytes_compare(bounds.from, range->prefix) < 0)
            bounds.from = range->prefix;
        if (end.size > 0 && (bounds.to.size == 0 || bytes_compare(end, bounds.to) < 0))
            bounds.to = end;
    }
    struct visitor on = {reader, visit, context, false};
    status = reader->store->driver->list_kv(reader->view, bytes_of(&name), &bounds, visit_on, &on);
    return visited(&on, status);
}

tr_status tr__store_list_alarms(struct store_reader *reader, const char *kind, tr_bytes key,
                                store_visit *visit, void *context)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    struct visitor on = {reader, visit, context, false};
    if (status == TR_OK)
        status = reader->store->driver->list_alarms(reader->view, bytes_of(&name), visit_on, &on);
    return visited(&on, status);
}

tr_status tr__store_list_queue(struct store_reader *reader, const char *kind, tr_bytes key,
                               const char *queue, uint64_t from, size_t limit, store_visit *visit,
                               void *context)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    if (status)
        return status;
    if (!queue || !*queue || strnlen(queue, TR_QUEUE_NAME_MAX + 1) > TR_QUEUE_NAME_MAX)
        return TR_INVALID_ARGUMENT;
    struct visitor on = {reader, visit, context, false};
    status = reader->store->driver->list_queue(
        reader->view, bytes_of(&name), queue, false, from, limit, visit_on, &on);
    return visited(&on, status);
}

tr_status tr__store_list_queues(struct store_reader *reader, const char *kind, tr_bytes key,
                                const char *name_from, uint64_t id_from, size_t limit,
                                store_visit *visit, void *context)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    if (status)
        return status;
    struct visitor on = {reader, visit, context, false};
    status = reader->store->driver->list_queue(reader->view,
                                               bytes_of(&name),
                                               name_from ? name_from : "",
                                               true,
                                               id_from,
                                               limit,
                                               visit_on,
                                               &on);
    return visited(&on, status);
}

tr_status tr__store_list_events(struct store_reader *reader, const char *kind, tr_bytes key,
                                uint64_t from, uint64_t to, size_t limit, store_visit *visit,
                                void *context)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    struct visitor on = {reader, visit, context, false};
    if (status == TR_OK)
        status = reader->store->driver->list_events(
            reader->view, bytes_of(&name), from, to, limit, visit_on, &on);
    return visited(&on, status);
}

tr_status tr__store_list_shapes(struct store_reader *reader, store_visit *visit, void *context)
{
    tr_status status = reader_status(reader);
    return status ? status : reader->store->driver->list_shapes(reader->view, visit, context);
}

tr_status tr__store_read_request(struct store_reader *reader, const char *kind, tr_bytes key,
                                 tr_bytes request, struct store_row *row)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    if (status)
        return status;
    if (request.size == 0 || request.size > TR_REQUEST_ID_MAX)
        return TR_INVALID_ARGUMENT;
    return reader->store->driver->read_request(reader->view, bytes_of(&name), request, row);
}

tr_status tr__store_list_requests(struct store_reader *reader, const char *kind, tr_bytes key,
                                  uint64_t from, bool is_last, size_t limit, store_visit *visit,
                                  void *context)
{
    struct full_name name;
    tr_status status = read_begin(reader, kind, key, &name);
    struct visitor on = {reader, visit, context, false};
    if (status == TR_OK)
        status = reader->store->driver->list_requests(
            reader->view, bytes_of(&name), from, is_last, limit, visit_on, &on);
    return visited(&on, status);
}

/* A visitor of names that passes the key of each name to another visitor. */
struct keyed {
    size_t kind_size; /* length of the kind, with its NUL */
    store_visit *visit;
    void *context;
};

static bool visit_keyed(void *context, const struct store_row *row)
{
    const struct keyed *keyed = context;
    struct store_row shown = *row;
    shown.key = (tr_bytes){(const char *)row->key.data + keyed->kind_size,
                           row->key.size - keyed->kind_size};
    return keyed->visit(keyed->context, &shown);
}

tr_status tr__store_list_keys(struct store_reader *reader, const char *kind, tr_bytes prefix,
                              tr_bytes after, size_t limit, store_visit *visit, void *context)
{
    unsigned char from[STORE_NAME_MAX + 1];
    unsigned char to[STORE_NAME_MAX];
    tr_status status = reader_status(reader);
    size_t kind_size = kind ? strnlen(kind, TR_NAME_MAX + 1) + 1 : 0;
    if (status)
        return status;
    if (kind_size < 2 || kind_size > TR_NAME_MAX + 1 || prefix.size > TR_KEY_MAX ||
        after.size > TR_KEY_MAX)
        return TR_INVALID_ARGUMENT;
    memcpy(from, kind, kind_size);
    memcpy(to, kind, kind_size);
    if (prefix.size > 0)
        memcpy(to + kind_size, prefix.data, prefix.size);
    /* `to` becomes the first name after all names that begin with the kind and the prefix. The loop
     * ends at the NUL of the kind at the latest. */
    size_t to_size = kind_size + prefix.size;
    while (to[to_size - 1] == UINT8_MAX)
        to_size--;
    to[to_size - 1]++;
    bool is_first = bytes_compare(after, prefix) < 0;
    tr_bytes start = is_first ? prefix : after;
    if (start.size > 0)
        memcpy(from + kind_size, start.data, start.size);
    size_t from_size = kind_size + start.size;
    if (!is_first && after.size > 0)
        from[from_size++] = 0; /* with one more NUL, `from` is the first name after that key */
    struct keyed keyed = {kind_size, visit, context};
    return reader->store->driver->list_names(reader->view,
                                             (tr_bytes){from, from_size},
                                             (tr_bytes){to, to_size},
                                             limit,
                                             visit_keyed,
                                             &keyed);
}

static bool visit_kind(void *context, const struct store_row *row)
{
    char *kind = context;
    size_t size = strnlen(row->key.data, row->key.size);
    size = size < TR_NAME_MAX ? size : TR_NAME_MAX;
    memcpy(kind, row->key.data, size);
    kind[size] = '\0';
    return false;
}

tr_status tr__store_next_kind(struct store_reader *reader, const char *after,
                              char kind[TR_NAME_MAX + 1])
{
    static const unsigned char last[] = {UINT8_MAX, UINT8_MAX};
    /* Begin with the byte 1, because names that begin with 0 belong to the store itself. */
    unsigned char from[TR_NAME_MAX + 1] = {1};
    size_t size = after ? strnlen(after, TR_NAME_MAX + 1) : 0;
    tr_status status = reader_status(reader);
    if (status)
        return status;
    if (size > TR_NAME_MAX)
        return TR_INVALID_ARGUMENT;
    if (size) {
        memcpy(from, after, size);
        /* with 1 in place of the NUL, `from` comes after all names of the kind `after` */
        from[size] = 1;
    }
    kind[0] = '\0';
    status = reader->store->driver->list_names(reader->view,
                                               (tr_bytes){from, size + 1},
                                               (tr_bytes){last, sizeof last},
                                               1,
                                               visit_kind,
                                               kind);
    return status == TR_OK && !kind[0] ? TR_NOT_FOUND : status;
}

tr_status tr__store_list_due(struct store_reader *reader, const struct store_alarm_place *after,
                             tr_time until_wall_ns, size_t limit, store_visit_due *visit,
                             void *context)
{
    tr_status status = reader_status(reader);
    return status ? status
                  : reader->store->driver->list_due(
                        reader->view, after, until_wall_ns, limit, visit, context);
}

tr_status tr__store_list_queued(struct store_reader *reader, int64_t after, const char *behind,
                                size_t limit, store_visit_queued *visit, void *context)
{
    tr_status status = reader_status(reader);
    return status ? status
                  : reader->store->driver->list_queued(
                        reader->view, after, behind, limit, visit, context);
}
