/* SPDX-License-Identifier: Apache-2.0 */
#include "durable/message_shape.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/names.h"
#include "actor/cell/worker.h"
#include "durable/actor.h"
#include "durable/shapes.h"
#include "store/batch.h"
#include "wire/shape.h"
#include "base/assert.h"

struct message_shape {
    const tr_type *type;
    uint64_t hash; /* hash of the type's shape; 0: the type has no shape */
    bool is_stored;
    size_t size;
    char text[];
};

static struct message_shape *shape_make(struct worker *worker, const struct durable_host *host,
                                        const tr_type *type)
{
    size_t size = tr__shape_write(type, NULL, 0);
    struct message_shape *shape = source_resize(&worker->source, NULL, sizeof *shape + size);
    if (!shape)
        return NULL;
    *shape = (struct message_shape){.type = type, .size = size, .is_stored = !size};
    if (!size)
        return shape;
    (void)tr__shape_write(type, shape->text, size);
    shape->hash = tr__shape_hash((tr_bytes){shape->text, size});
    shape->is_stored = tr__shape_is_stored(host, shape->hash);
    return shape;
}

static struct message_shape *shape_of(struct worker *worker, const struct durable_host *host,
                                      const tr_type *type)
{
    struct message_shapes *shapes = &host_context(host, worker)->messages;
    for (uint32_t i = 0; i < shapes->count; i++) {
        if (shapes->items[i]->type == type)
            return shapes->items[i];
    }
    if (shapes->count == shapes->capacity) {
        uint32_t capacity = shapes->capacity ? 2 * shapes->capacity : 8;
        void *items =
            source_resize(&worker->source, shapes->items, capacity * sizeof shapes->items[0]);
        if (!items)
            return NULL;
        shapes->items = items;
        shapes->capacity = capacity;
    }
    struct message_shape *made = shape_make(worker, host, type);
    if (made)
        shapes->items[shapes->count++] = made;
    return made;
}

tr_status tr__message_shape(struct worker *worker, const struct durable_host *host,
                            struct store_batch *batch, const tr_type *type, uint64_t *hash)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    const struct message_shape *shape = batch ? shape_of(worker, host, type) : NULL;
    if (!shape)
        return TR_NO_MEMORY;
    *hash = shape->hash;
    if (shape->is_stored)
        return TR_OK;
    return tr__store_shape_put(batch, shape->hash, (tr_bytes){shape->text, shape->size});
}

tr_status tr__message_shape_check(struct worker *worker, const struct durable_actor *actor,
                                  const tr_type *type, uint64_t hash, char *why)
{
    TR_ASSERT_SLOW(durable_is_mine(actor));
    char path[TR_PATH_MAX + 1];
    bool is_longer;
    const struct durable_host *host = actor->kind->host;
    if (!hash)
        return TR_OK;
    const struct message_shape *shape = shape_of(worker, host, type);
    if (!shape) {
        snprintf(why, SHAPE_WHY_SIZE, "out of memory");
        return TR_NO_MEMORY;
    }
    if (!shape->hash || shape->hash == hash)
        return TR_OK;
    tr__cell_path(host->system, actor->durable.cell, path);
    tr_status status = tr__shape_compare_stored(
        host, (tr_bytes){shape->text, shape->size}, hash, path, &is_longer, why);
    /*
     * TR_STORE_CORRUPT means that the host has read no shape with this hash from the store. Here this is not damage.
     * The message was stored after the host had started, by another file of this program, which has another type of the
     * same name.
     */
    return status == TR_STORE_CORRUPT ? TR_WRONG_SHAPE : status;
}

tr_status tr__message_shapes_put(struct worker_context *context, struct store_batch *batch,
                                 uint32_t *count)
{
    const struct message_shapes *shapes = &context->messages;
    tr_status status = TR_OK;
    for (uint32_t i = shapes->stored_count; i < shapes->count && status == TR_OK; i++) {
        const struct message_shape *shape = shapes->items[i];
        if (!shape->is_stored)
            status = tr__store_shape_put(batch, shape->hash, (tr_bytes){shape->text, shape->size});
    }
    *count = shapes->count;
    return status;
}

void tr__message_shapes_stored(struct worker_context *context, uint32_t count)
{
    struct message_shapes *shapes = &context->messages;
    for (; shapes->stored_count < count; shapes->stored_count++)
        shapes->items[shapes->stored_count]->is_stored = true;
}

void tr__message_shapes_free(const struct memory_source *source, struct worker_context *context)
{
    for (uint32_t i = 0; i < context->messages.count; i++)
        source_resize(source, context->messages.items[i], 0);
    source_resize(source, context->messages.items, 0);
    context->messages = (struct message_shapes){0};
}
