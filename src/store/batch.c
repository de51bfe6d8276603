/* SPDX-License-Identifier: Apache-2.0 */
/** Batches. A batch is an arena with a list of writes in it. */
#include "store/batch.h"

#include "store/core.h"

#include "base/assert.h"

#include <string.h>

struct store_chunk {
    struct store_chunk *next;
    _Alignas(16) char memory[];
};

enum {
    CHUNK_FIRST = 1024, /* enough for the batch, a few writes and a small state */
    CHUNK_NEXT = 4096,
    BATCH_PAGES = 2, /* pages that a batch changes: the row of the actor and its index */
    /* pages that a write changes: a leaf, and a second one if the first is full or the table has an
     * index */
    OP_PAGES = 2,
    DESTROY_PAGES = 8, /* pages that a destroy changes: a leaf of each table */
};

_Static_assert((int)CHUNK_FIRST >= (int)STORE_BATCH_NEAR + (int)sizeof(struct store_chunk) + 16,
               "the committing thread prefetches that many bytes");

tr_status tr__store_batch_new(struct store_entry *entry, struct store_batch **batch)
{
    struct store_chunk *chunk = source_resize(&entry->store->source, NULL, CHUNK_FIRST);
    if (!chunk)
        return TR_NO_MEMORY;
    chunk->next = NULL;
    struct store_batch *made = (struct store_batch *)(void *)chunk->memory;
    *made = (struct store_batch){
        .entry = entry,
        .pages = BATCH_PAGES,
        .chunks = chunk,
        .free = chunk->memory + source_round(sizeof *made),
        .free_end = (char *)chunk + CHUNK_FIRST,
    };
    made->source = entry->store->source;
    *batch = made;
    return TR_OK;
}

void tr__store_batch_free(struct store_batch *batch)
{
    if (!batch)
        return;
    struct memory_source source = batch->source;
    for (struct store_chunk *chunk = batch->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        source_resize(&source, chunk, 0);
    }
}

void *tr__store_batch_alloc(struct store_batch *batch, size_t size)
{
    if (size > TR_ALLOC_MAX)
        return NULL;
    size_t rounded = source_round(size);
    if ((size_t)(batch->free_end - batch->free) < rounded) {
        size_t chunk_size = sizeof(struct store_chunk) + rounded;
        bool is_alone = chunk_size >= CHUNK_NEXT / 2;
        if (!is_alone)
            chunk_size = CHUNK_NEXT;
        struct store_chunk *chunk = source_resize(&batch->source, NULL, chunk_size);
        if (!chunk)
            return NULL;
        if (is_alone) {
            /* This chunk is for one large value alone. Put it second in the list, because the first
             * chunk is the one whose free memory later allocations use. */
            chunk->next = batch->chunks->next;
            batch->chunks->next = chunk;
            return chunk->memory;
        }
        chunk->next = batch->chunks;
        batch->chunks = chunk;
        batch->free = chunk->memory;
        batch->free_end = (char *)chunk + chunk_size;
    }
    void *memory = batch->free;
    batch->free += rounded;
    return memory;
}

struct store_batch_mark tr__store_batch_mark(const struct store_batch *batch)
{
    return (struct store_batch_mark){
        .last = batch->last, .shapes = batch->shapes, .pages = batch->pages};
}

void tr__store_batch_cut(struct store_batch *batch, struct store_batch_mark mark)
{
    TR_ASSERT(!batch->on_done);
    batch->last = mark.last;
    batch->shapes = mark.shapes;
    batch->pages = mark.pages;
    if (mark.last)
        mark.last->next = NULL;
    else
        batch->first = NULL;
}

bool tr__store_batch_is_empty(const struct store_batch *batch)
{
    return !batch->first;
}

/* Appends a write. Copies its key, but not its value. */
static tr_status batch_add(struct store_batch *batch, const struct store_op *op)
{
    TR_ASSERT(!batch->on_done);
    struct store_op *made = tr__store_batch_alloc(batch, sizeof *made + op->key.size);
    if (!made)
        return TR_NO_MEMORY;
    *made = *op;
    made->next = NULL;
    if (op->key.size > 0) {
        made->key.data = made + 1;
        memcpy(made + 1, op->key.data, op->key.size);
    }
    if (batch->last)
        batch->last->next = made;
    else
        batch->first = made;
    batch->last = made;
    batch->pages += OP_PAGES + (op->key.size + op->value.size) / STORE_PAGE_SIZE;
    return TR_OK;
}

static tr_status check_name(const char *name, size_t max, tr_bytes *bytes)
{
    if (!name || !*name)
        return TR_INVALID_ARGUMENT;
    *bytes = (tr_bytes){name, strnlen(name, max + 1)};
    return bytes->size > max ? TR_TOO_LARGE : TR_OK;
}

tr_status tr__store_put_state(struct store_batch *batch, uint32_t version, tr_bytes state)
{
    if (state.size > TR_STATE_MAX + STORE_FRONT_MAX)
        return TR_TOO_LARGE;
    return batch_add(
        batch, &(struct store_op){.kind = STORE_PUT_STATE, .version = version, .value = state});
}

static tr_status check_key(tr_bytes key)
{
    if (key.size == 0)
        return TR_INVALID_ARGUMENT;
    return key.size > TR_KV_KEY_MAX ? TR_TOO_LARGE : TR_OK;
}

tr_status tr__store_kv_put(struct store_batch *batch, tr_bytes key, tr_bytes value)
{
    tr_status status = check_key(key);
    if (status)
        return status;
    if (value.size > TR_KV_VALUE_MAX)
        return TR_TOO_LARGE;
    return batch_add(batch, &(struct store_op){.kind = STORE_KV_PUT, .key = key, .value = value});
}

tr_status tr__store_kv_delete(struct store_batch *batch, tr_bytes key)
{
    tr_status status = check_key(key);
    return status ? status
                  : batch_add(batch, &(struct store_op){.kind = STORE_KV_DELETE, .key = key});
}

tr_status tr__store_kv_delete_range(struct store_batch *batch, tr_bytes from, tr_bytes to)
{
    if (from.size > TR_KV_KEY_MAX || to.size > TR_KV_KEY_MAX)
        return TR_TOO_LARGE;
    tr_bytes end = {NULL, 0};
    if (to.size > 0) {
        void *copy = tr__store_batch_alloc(batch, to.size);
        if (!copy)
            return TR_NO_MEMORY;
        memcpy(copy, to.data, to.size);
        end = (tr_bytes){copy, to.size};
    }
    return batch_add(batch,
                     &(struct store_op){.kind = STORE_KV_DELETE_RANGE, .key = from, .value = end});
}

tr_status tr__store_alarm_set(struct store_batch *batch, const char *name, tr_time due_wall_ns,
                              tr_bytes bytes)
{
    struct store_op op = {.kind = STORE_ALARM_SET, .due_wall_ns = due_wall_ns, .value = bytes};
    tr_status status = check_name(name, TR_ALARM_NAME_MAX, &op.key);
    if (status)
        return status;
    return bytes.size > TR_ALARM_BYTES_MAX ? TR_TOO_LARGE : batch_add(batch, &op);
}

tr_status tr__store_alarm_clear(struct store_batch *batch, const char *name)
{
    struct store_op op = {.kind = STORE_ALARM_CLEAR};
    tr_status status = check_name(name, TR_ALARM_NAME_MAX, &op.key);
    return status ? status : batch_add(batch, &op);
}

tr_status tr__store_alarm_clear_all(struct store_batch *batch)
{
    return batch_add(batch, &(struct store_op){.kind = STORE_ALARM_CLEAR_ALL});
}

tr_status tr__store_queue_push(struct store_batch *batch, const char *queue, uint64_t id,
                               tr_bytes bytes)
{
    struct store_op op = {.kind = STORE_QUEUE_PUSH, .number = id, .value = bytes};
    tr_status status = check_name(queue, TR_QUEUE_NAME_MAX + STORE_QUEUE_PREFIX_MAX, &op.key);
    if (status)
        return status;
    if (id > STORE_NUMBER_MAX)
        return TR_INVALID_ARGUMENT;
    return bytes.size > TR_QUEUE_ITEM_MAX + STORE_QUEUE_FRONT_MAX ? TR_TOO_LARGE
                                                                  : batch_add(batch, &op);
}

tr_status tr__store_queue_remove(struct store_batch *batch, const char *queue, uint64_t id)
{
    struct store_op op = {.kind = STORE_QUEUE_REMOVE, .number = id};
    tr_status status = check_name(queue, TR_QUEUE_NAME_MAX + STORE_QUEUE_PREFIX_MAX, &op.key);
    return status ? status : batch_add(batch, &op);
}

tr_status tr__store_event_append(struct store_batch *batch, uint64_t expected, tr_bytes event)
{
    if (event.size > TR_EVENT_MAX + STORE_FRONT_MAX)
        return TR_TOO_LARGE;
    if (expected >= STORE_NUMBER_MAX)
        return TR_INVALID_ARGUMENT;
    return batch_add(
        batch, &(struct store_op){.kind = STORE_EVENT_APPEND, .number = expected, .value = event});
}

tr_status tr__store_event_trim(struct store_batch *batch, uint64_t sequence)
{
    return batch_add(batch, &(struct store_op){.kind = STORE_EVENT_TRIM, .number = sequence});
}

tr_status tr__store_snapshot_put(struct store_batch *batch, uint64_t sequence, uint32_t version,
                                 tr_bytes bytes)
{
    if (bytes.size > TR_STATE_MAX + STORE_FRONT_MAX)
        return TR_TOO_LARGE;
    if (sequence > STORE_NUMBER_MAX)
        return TR_INVALID_ARGUMENT;
    return batch_add(
        batch,
        &(struct store_op){
            .kind = STORE_SNAPSHOT_PUT, .number = sequence, .version = version, .value = bytes});
}

tr_status tr__store_snapshot_trim(struct store_batch *batch, uint64_t sequence)
{
    return batch_add(batch, &(struct store_op){.kind = STORE_SNAPSHOT_TRIM, .number = sequence});
}

tr_status tr__store_shape_put(struct store_batch *batch, uint64_t number, tr_bytes text)
{
    if (number == 0 || number > STORE_NUMBER_MAX || text.size == 0)
        return TR_INVALID_ARGUMENT;
    for (const struct store_op *put = batch->shapes; put; put = put->next) {
        if (put->number == number)
            return TR_OK;
    }
    struct store_op *op = tr__store_batch_alloc(batch, sizeof *op);
    if (!op)
        return TR_NO_MEMORY;
    *op = (struct store_op){.next = batch->shapes, .number = number, .value = text};
    batch->shapes = op;
    batch->pages += OP_PAGES + text.size / STORE_PAGE_SIZE;
    return TR_OK;
}

tr_status tr__store_page_put(struct store_batch *batch, uint64_t number, tr_bytes page)
{
    if (number == 0 || number > STORE_NUMBER_MAX || page.size != STORE_PAGE_SIZE)
        return TR_INVALID_ARGUMENT;
    return batch_add(batch,
                     &(struct store_op){.kind = STORE_PAGE_PUT, .number = number, .value = page});
}

tr_status tr__store_request_put(struct store_batch *batch, tr_bytes id, uint64_t number,
                                tr_bytes value)
{
    if (id.size == 0 || number > STORE_NUMBER_MAX)
        return TR_INVALID_ARGUMENT;
    if (id.size > TR_REQUEST_ID_MAX || value.size > STORE_REQUEST_MAX)
        return TR_TOO_LARGE;
    return batch_add(
        batch,
        &(struct store_op){.kind = STORE_REQUEST_PUT, .key = id, .number = number, .value = value});
}

tr_status tr__store_request_trim(struct store_batch *batch, uint64_t number)
{
    return batch_add(batch, &(struct store_op){.kind = STORE_REQUEST_TRIM, .number = number});
}

tr_status tr__store_doom(struct store_batch *batch)
{
    return batch_add(batch, &(struct store_op){.kind = STORE_DOOM});
}

tr_status tr__store_destroy(struct store_batch *batch)
{
    tr_status status = batch_add(batch, &(struct store_op){.kind = STORE_DESTROY});
    if (status == TR_OK) {
        batch->is_destroy = true;
        batch->pages += DESTROY_PAGES;
    }
    return status;
}
