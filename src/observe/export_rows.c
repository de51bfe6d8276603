/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/export_rows.h"

#include <string.h>
#include <troupe/wire.h>

#include "actor/cell/follow.h"
#include "store/batch.h"
#include "store/record.h"
#include "store/read.h"
#include "durable/alarm_move.h"
#include "durable/item_row.h"
#include "durable/request_record.h"
#include "wire/shape.h"

/* Allocates a block of memory. A pointer at the beginning of each block links the blocks. */
static void *rows_alloc(struct export_rows *rows, size_t size)
{
    void **block = source_resize(rows->source, NULL, sizeof(max_align_t) + size);
    if (!block) {
        rows->error = TR_NO_MEMORY;
        return NULL;
    }
    *block = rows->blocks;
    rows->blocks = block;
    return (char *)block + sizeof(max_align_t);
}

void tr__export_free(struct export_rows *rows)
{
    while (rows->blocks) {
        void **block = rows->blocks;
        rows->blocks = *block;
        source_resize(rows->source, block, 0);
    }
}

static tr_bytes bytes_copy(struct export_rows *rows, tr_bytes bytes)
{
    rows->bytes += bytes.size;
    if (rows->bytes > EXPORT_BYTES_MAX) {
        rows->error = TR_TOO_LARGE;
        return (tr_bytes){NULL, 0};
    }
    char *copy = rows_alloc(rows, bytes.size + 1);
    if (!copy)
        return (tr_bytes){NULL, 0};
    if (bytes.size)
        memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = '\0';
    return (tr_bytes){copy, bytes.size};
}

/* A list that is being read, and where its rows are in the message. All lists of tr_export_rows
 * have the same layout. */
struct row_list {
    struct export_rows *rows;
    const struct tr_export_row **items;
    size_t *count;
    size_t capacity;
};

#define LIST_OF(rows_, member)                                                                     \
    (struct row_list)                                                                              \
    {                                                                                              \
        .rows = (rows_), .items = &(rows_)->rows.member.items,                                     \
        .count = &(rows_)->rows.member.count                                                       \
    }

static struct tr_export_row *row_add(struct row_list *list)
{
    if (*list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        struct tr_export_row *grown = rows_alloc(list->rows, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        if (*list->count)
            memcpy(grown, *list->items, *list->count * sizeof *grown);
        *list->items = grown;
        list->capacity = capacity;
    }
    struct tr_export_row *row = (struct tr_export_row *)(uintptr_t)*list->items + (*list->count)++;
    *row = (struct tr_export_row){.number = 0};
    return row;
}

/* Copies a row of a list. Returns false if there is an error, which ends the list. */
static bool on_row(void *context, const struct store_row *read)
{
    struct row_list *list = context;
    struct tr_export_row *row = row_add(list);
    if (!row)
        return false;
    row->key = bytes_copy(list->rows, read->key);
    row->value = bytes_copy(list->rows, read->bytes);
    row->number = read->id;
    row->due = read->due_wall_ns;
    row->version = read->version;
    if (read->name)
        row->name = bytes_copy(list->rows, (tr_bytes){read->name, strlen(read->name)}).data;
    return list->rows->error == TR_OK;
}

static tr_status snapshots_read(const struct stored *stored, const char *kind, tr_bytes key,
                                struct row_list *list)
{
    uint64_t most = STORE_NUMBER_MAX;
    for (;;) {
        struct store_snapshot snapshot;
        tr_status status = tr__store_read_snapshot(stored->reader, kind, key, most, &snapshot);
        if (status != TR_OK)
            return status == TR_NOT_FOUND ? TR_OK : status;
        const struct store_row row = {
            .id = snapshot.sequence, .version = snapshot.version, .bytes = snapshot.bytes};
        if (!on_row(list, &row))
            return list->rows->error;
        if (snapshot.sequence == 0)
            return TR_OK;
        most = snapshot.sequence - 1;
    }
}

static tr_status pages_read(const struct stored *stored, const char *kind, tr_bytes key,
                            struct row_list *list)
{
    unsigned char bytes[STORE_PAGE_SIZE];
    uint32_t last = 0;
    tr_status status = tr__store_last_page(stored->reader, kind, key, &last);
    for (uint32_t i = 1; i <= last && status == TR_OK; i++) {
        const struct store_row row = {.id = i, .bytes = {bytes, sizeof bytes}};
        status = tr__store_read_page(stored->reader, kind, key, i, bytes);
        if (status == TR_OK && !on_row(list, &row))
            status = list->rows->error;
    }
    return status;
}

/* ---- Shapes of what was read. ---- */

enum { SHAPES_MAX = 64 };

struct shape_set {
    uint64_t hashes[SHAPES_MAX];
    size_t count;
    struct row_list list;
};

static void hash_note(struct shape_set *set, uint64_t hash)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->hashes[i] == hash)
            return;
    }
    if (hash && set->count == SHAPES_MAX)
        /* Fail, because a row whose shape is missing could not be read again. */
        set->list.rows->error = TR_LIMIT;
    else if (hash)
        set->hashes[set->count++] = hash;
}

/* If the bytes begin with the hash of a shape, notes that hash. */
static void shape_note(struct shape_set *set, tr_bytes bytes)
{
    uint64_t hash;
    (void)tr__shape_front_read(bytes, &hash);
    hash_note(set, hash);
}

/* Notes the shapes of all messages of alarms, items and answers. */
static void messages_note(struct shape_set *set, const struct tr_export_rows *rows)
{
    for (size_t i = 0; i < rows->alarms.count; i++) {
        tr_bytes bytes = rows->alarms.items[i].value;
        size_t at = tr__alarm_plan_end(bytes);
        const char *type = (const char *)bytes.data + at;
        size_t size = at ? strnlen(type, bytes.size - at) + 1 : bytes.size;
        if (at + size < bytes.size)
            shape_note(set, (tr_bytes){type + size, bytes.size - at - size});
    }
    for (size_t i = 0; i < rows->queues.count; i++) {
        const struct tr_export_row *item = &rows->queues.items[i];
        const struct store_row row = {.name = item->name, .id = item->number, .bytes = item->value};
        struct item_look look;
        if (strcmp(item->name, QUEUE_IDS) != 0 && tr__item_row_look(&row, &look) == TR_OK)
            hash_note(set, look.shape);
    }
    for (size_t i = 0; i < rows->requests.count; i++) {
        struct request_record record;
        if (tr__request_read(rows->requests.items[i].value, &record) == TR_OK)
            hash_note(set, record.shape);
    }
}

static bool on_shape(void *context, const struct store_row *row)
{
    struct shape_set *set = context;
    for (size_t i = 0; i < set->count; i++) {
        if (set->hashes[i] == row->id)
            return on_row(&set->list, row);
    }
    return true;
}

static tr_status shapes_read(const struct stored *stored, tr_bytes state, struct export_rows *rows)
{
    struct shape_set set = {.list = LIST_OF(rows, shapes)};
    shape_note(&set, state);
    for (size_t i = 0; i < rows->rows.events.count; i++)
        shape_note(&set, rows->rows.events.items[i].value);
    for (size_t i = 0; i < rows->rows.snapshots.count; i++)
        shape_note(&set, rows->rows.snapshots.items[i].value);
    messages_note(&set, &rows->rows);
    return tr__store_list_shapes(stored->reader, on_shape, &set);
}

tr_status tr__export_read(const struct stored *stored, const char *kind, tr_bytes key,
                          tr_bytes state, struct export_rows *rows)
{
    static const struct store_range all = {.limit = 0};
    struct store_reader *reader = stored->reader;
    *rows = (struct export_rows){.source = stored->source};
    struct row_list kv = LIST_OF(rows, kv);
    struct row_list alarms = LIST_OF(rows, alarms);
    struct row_list queues = LIST_OF(rows, queues);
    struct row_list events = LIST_OF(rows, events);
    struct row_list snapshots = LIST_OF(rows, snapshots);
    struct row_list pages = LIST_OF(rows, pages);
    struct row_list requests = LIST_OF(rows, requests);
    tr_status status = tr__store_list_kv(reader, kind, key, &all, on_row, &kv);
    if (status == TR_OK)
        status = tr__store_list_alarms(reader, kind, key, on_row, &alarms);
    if (status == TR_OK)
        status = tr__store_list_queues(reader, kind, key, NULL, 0, 0, on_row, &queues);
    if (status == TR_OK)
        status = tr__store_list_events(reader, kind, key, 0, STORE_NUMBER_MAX, 0, on_row, &events);
    if (status == TR_OK)
        status = snapshots_read(stored, kind, key, &snapshots);
    if (status == TR_OK)
        status = pages_read(stored, kind, key, &pages);
    if (status == TR_OK)
        status = tr__store_list_requests(reader, kind, key, 0, false, 0, on_row, &requests);
    if (status == TR_OK)
        status = shapes_read(stored, state, rows);
    if (status == TR_OK && rows->rows.events.count && rows->rows.events.items[0].number != 1)
        status = TR_NOT_SUPPORTED;
    return status != TR_OK ? status : rows->error;
}

/* ---- Back. ---- */

typedef tr_status row_put(struct store_batch *batch, const struct tr_export_row *row);

static tr_status put_kv(struct store_batch *batch, const struct tr_export_row *row)
{
    return tr__store_kv_put(batch, row->key, row->value);
}

static tr_status put_alarm(struct store_batch *batch, const struct tr_export_row *row)
{
    return tr__store_alarm_set(batch, row->name ? row->name : "", row->due, row->value);
}

static tr_status put_item(struct store_batch *batch, const struct tr_export_row *row)
{
    return tr__store_queue_push(batch, row->name ? row->name : "", row->number, row->value);
}

static tr_status put_event(struct store_batch *batch, const struct tr_export_row *row)
{
    if (!row->number)
        return TR_BAD_DATA;
    return tr__store_event_append(batch, row->number - 1, row->value);
}

static tr_status put_snapshot(struct store_batch *batch, const struct tr_export_row *row)
{
    return tr__store_snapshot_put(batch, row->number, row->version, row->value);
}

static tr_status put_page(struct store_batch *batch, const struct tr_export_row *row)
{
    if (row->value.size != STORE_PAGE_SIZE || !row->number)
        return TR_BAD_DATA;
    return tr__store_page_put(batch, row->number, row->value);
}

static tr_status put_request(struct store_batch *batch, const struct tr_export_row *row)
{
    return tr__store_request_put(batch, row->key, row->number, row->value);
}

static tr_status put_shape(struct store_batch *batch, const struct tr_export_row *row)
{
    if (row->number != tr__shape_hash(row->value))
        return TR_BAD_DATA;
    return tr__store_shape_put(batch, row->number, row->value);
}

tr_status tr__export_put(const struct tr_export_rows *rows, struct store_batch *batch)
{
    const struct {
        const struct tr_export_row *items;
        size_t count;
        row_put *put;
    } lists[] = {{rows->kv.items, rows->kv.count, put_kv},
                 {rows->alarms.items, rows->alarms.count, put_alarm},
                 {rows->queues.items, rows->queues.count, put_item},
                 {rows->events.items, rows->events.count, put_event},
                 {rows->snapshots.items, rows->snapshots.count, put_snapshot},
                 {rows->pages.items, rows->pages.count, put_page},
                 {rows->requests.items, rows->requests.count, put_request},
                 {rows->shapes.items, rows->shapes.count, put_shape}};
    tr_status status = TR_OK;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (size_t j = 0; j < lists[i].count && status == TR_OK; j++)
            status = lists[i].put(batch, &lists[i].items[j]);
    }
    return status;
}

tr_status tr__export_put_copies(const struct tr_export_rows *rows, struct store_batch *batch)
{
    size_t size = tr_pack(&tr_type_tr_export_rows, rows, NULL, 0, NULL);
    char *packed = size ? tr__store_batch_alloc(batch, size + 1) : NULL;
    size_t space_size = sizeof(struct tr_export_rows) + 64;
    const size_t counts[] = {rows->kv.count,
                             rows->alarms.count,
                             rows->queues.count,
                             rows->events.count,
                             rows->snapshots.count,
                             rows->pages.count,
                             rows->requests.count,
                             rows->shapes.count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        space_size += counts[i] * sizeof(struct tr_export_row) + 16;
    struct tr_export_rows *copy = packed ? tr__store_batch_alloc(batch, space_size) : NULL;
    if (!copy)
        return TR_NO_MEMORY;
    (void)tr_pack(&tr_type_tr_export_rows, rows, packed, size, NULL);
    tr_status status =
        tr_unpack_in_place(&tr_type_tr_export_rows, packed, size, copy, space_size, NULL);
    return status == TR_OK ? tr__export_put(copy, batch) : status;
}
