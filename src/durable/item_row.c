/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/item_row.h"

#include <assert.h>
#include <string.h>

#include "base/assert.h"
#include "store/batch.h"
#include "wire/shape.h"

enum {
    ROW_VERSION = 1,
    PREFIX_SIZE = 2,
    CAUSE_AT = 1 + 3 * 8 + 2 * 4,
    FRONT_MIN = CAUSE_AT + 2,
    NAME_SIZE = PREFIX_SIZE + TR_QUEUE_NAME_MAX + 1,
};

static_assert(PREFIX_SIZE <= STORE_QUEUE_PREFIX_MAX, "the store takes these names");
static_assert(FRONT_MIN + TR_QUEUE_CAUSE_MAX + SHAPE_FRONT <= STORE_QUEUE_FRONT_MAX,
              "the store takes these rows");

static const char *const prefixes[] = {
    [ITEM_PLAIN] = "", [ITEM_TIMED] = "\001t", [ITEM_DEAD] = "\001d"};

static void row_name(const struct queue *queue, enum item_class class, char name[NAME_SIZE])
{
    size_t size = strlen(prefixes[class]);
    TR_ASSERT(strlen(queue->name) <= TR_QUEUE_NAME_MAX);
    memcpy(name, prefixes[class], size);
    memcpy(name + size, queue->name, strlen(queue->name) + 1);
}

static void put(unsigned char **at, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *(*at)++ = (unsigned char)(number >> 8 * i);
}

static uint64_t get(const unsigned char **at, int bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++)
        number |= (uint64_t) * (*at)++ << 8 * i;
    return number;
}

tr_status tr__item_row_put(struct store_batch *batch, struct queue_item *item)
{
    char name[NAME_SIZE];
    bool has_front = item->class != ITEM_PLAIN;
    size_t cause = item->cause ? strnlen(item->cause, TR_QUEUE_CAUSE_MAX) : 0;
    size_t shape = item->shape ? SHAPE_FRONT : 0;
    size_t size = (has_front ? FRONT_MIN + cause : 0) + item->type_size + shape + item->bytes_size;
    unsigned char *bytes = tr__store_batch_alloc(batch, size);
    if (!bytes)
        return TR_NO_MEMORY;
    unsigned char *at = bytes;
    if (has_front) {
        put(&at, ROW_VERSION, 1);
        put(&at, (uint64_t)item->due_ns, 8);
        put(&at, (uint64_t)item->span_ns, 8);
        put(&at, (uint64_t)item->failed_ns, 8);
        put(&at, item->attempts, 4);
        put(&at, (uint32_t)item->failure, 4);
        put(&at, cause, 2);
        if (cause)
            memcpy(at, item->cause, cause);
        at += cause;
    }
    memcpy(at, item->type, item->type_size);
    at += item->type_size;
    if (shape)
        tr__shape_front_write(at, item->shape);
    memcpy(at + shape, item_message(item), item->bytes_size);
    row_name(item->queue, item->class, name);
    return tr__store_queue_push(batch, name, item->id, (tr_bytes){bytes, size});
}

tr_status tr__item_row_remove(struct store_batch *batch, const struct queue_item *item,
                              enum item_class class)
{
    char name[NAME_SIZE];
    row_name(item->queue, class, name);
    return tr__store_queue_remove(batch, name, item->id);
}

/* What the front of a row contains. */
struct front {
    enum item_class class;
    tr_time due_ns;
    tr_time span_ns;
    tr_time failed_ns;
    uint32_t attempts;
    tr_status failure;
    tr_bytes cause;
    tr_bytes rest; /* what comes after the front: the type and the message */
};

static tr_status front_read(const struct store_row *row, struct front *front)
{
    const unsigned char *bytes = row->bytes.data;
    *front = (struct front){.class = ITEM_PLAIN, .rest = row->bytes};
    if (row->name[0] != QUEUE_IDS[0])
        return TR_OK;
    front->class = row->name[1] == prefixes[ITEM_DEAD][1] ? ITEM_DEAD : ITEM_TIMED;
    if (front->class == ITEM_TIMED && row->name[1] != prefixes[ITEM_TIMED][1])
        return TR_NOT_SUPPORTED;
    if (row->bytes.size < FRONT_MIN || !row->name[PREFIX_SIZE] || bytes[0] == 0)
        return TR_STORE_CORRUPT;
    if (bytes[0] > ROW_VERSION)
        return TR_NOT_SUPPORTED;
    const unsigned char *at = bytes + 1;
    front->due_ns = (tr_time)get(&at, 8);
    front->span_ns = (tr_time)get(&at, 8);
    front->failed_ns = (tr_time)get(&at, 8);
    front->attempts = (uint32_t)get(&at, 4);
    front->failure = (tr_status)get(&at, 4);
    front->cause.size = (size_t)get(&at, 2);
    front->cause.data = at;
    if (front->cause.size > row->bytes.size - FRONT_MIN || front->due_ns < 0 ||
        front->span_ns < 0 || front->failed_ns < 0)
        return TR_STORE_CORRUPT;
    at += front->cause.size;
    front->rest = (tr_bytes){at, row->bytes.size - FRONT_MIN - front->cause.size};
    return TR_OK;
}

tr_status tr__item_row_look(const struct store_row *row, struct item_look *look)
{
    struct front front;
    tr_status status = front_read(row, &front);
    if (status != TR_OK)
        return status;
    const char *type = front.rest.data;
    size_t type_size = strnlen(type, front.rest.size) + 1;
    if (type_size > front.rest.size)
        return TR_STORE_CORRUPT;
    uint64_t shape;
    tr_bytes message =
        tr__shape_front_read((tr_bytes){type + type_size, front.rest.size - type_size}, &shape);
    *look = (struct item_look){.class = front.class,
                               .queue = row->name + strlen(prefixes[front.class]),
                               .type = type,
                               .message = message,
                               .shape = shape,
                               .attempts = front.attempts,
                               .failure = front.failure,
                               .cause = front.cause,
                               .failed_ns = front.failed_ns,
                               .due_ns = front.due_ns};
    return TR_OK;
}

static bool cause_keep(struct worker *worker, struct queue_item *item, tr_bytes cause)
{
    if (!cause.size)
        return true;
    item->cause = source_resize(&worker->source, NULL, cause.size + 1);
    if (!item->cause)
        return false;
    memcpy(item->cause, cause.data, cause.size);
    item->cause[cause.size] = 0;
    return true;
}

tr_status tr__item_row_read(struct worker *worker, struct queues *queues,
                            const struct store_row *row, struct queue_item **item)
{
    struct front front;
    tr_status status = front_read(row, &front);
    if (status != TR_OK)
        return status;
    const char *type = front.rest.data;
    size_t type_size = strnlen(type, front.rest.size) + 1;
    if (type_size > front.rest.size)
        return TR_STORE_CORRUPT;
    uint64_t shape;
    tr_bytes message =
        tr__shape_front_read((tr_bytes){type + type_size, front.rest.size - type_size}, &shape);
    struct queue *queue =
        tr__items_queue_make(worker, queues, row->name + strlen(prefixes[front.class]));
    struct queue_item *made =
        queue ? tr__item_new(worker, queue, type, row->id, message.size) : NULL;
    if (!made)
        return TR_NO_MEMORY;
    memcpy(item_message(made), message.data, message.size);
    made->shape = shape;
    made->class = front.class;
    made->attempts = front.attempts;
    made->due_ns = front.due_ns;
    made->span_ns = front.span_ns;
    made->failed_ns = front.failed_ns;
    made->failure = front.failure;
    if (!cause_keep(worker, made, front.cause) || tr__items_add(worker, queues, made) != TR_OK) {
        tr__item_free(worker, made);
        return TR_NO_MEMORY;
    }
    *item = made;
    return TR_OK;
}
