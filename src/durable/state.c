/* SPDX-License-Identifier: Apache-2.0 */
/** Packs the state of a durable actor, reads it, and migrates it to the version of the code. */
#include "durable/state.h"

#include <stdio.h>
#include <string.h>

#include "durable/events.h"
#include "durable/shapes.h"
#include "store/store.h"
#include "wire/shape.h"
#include "store/batch.h"
#include "wire/msgpack_read.h"
#include "wire/msgpack_write.h"
#include "actor/cell/worker.h"
#include "base/assert.h"

_Static_assert(SHAPE_FRONT <= STORE_FRONT_MAX, "a front fits into a row of the store");

/* ---- Packing. ---- */

/* Returns the block into which the state was read. */
static const struct state_block *block_of(const struct durable_actor *actor)
{
    bool has_snapshot = actor->events && actor->events->block.data;
    return has_snapshot ? &actor->events->block : &actor->block;
}

size_t tr__durable_state_pack(struct worker *worker, struct durable_actor *actor, tr_status *status)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, actor->durable.cell));
    struct worker_context *context = host_context(actor->kind->host, worker);
    const tr_type *type = actor->kind->declared->state;
    const struct tail *tail = &block_of(actor)->tail;
    tr_wire_error error;
    for (;;) {
        size_t size = tr__pack_tail(
            type, actor->durable.cell->state, tail, context->bytes, context->size, &error);
        if (!size)
            context->fault = error;
        if (!size || size > TR_STATE_MAX) {
            *status = size ? TR_TOO_LARGE : error.status;
            return 0;
        }
        if (size <= context->size)
            return size;
        void *bytes = source_resize(&worker->source, context->bytes, 2 * size);
        if (!bytes) {
            *status = TR_NO_MEMORY;
            return 0;
        }
        context->bytes = bytes;
        context->size = 2 * size;
    }
}

void tr__durable_state_why(struct worker *worker, struct durable_actor *actor, tr_status status,
                           char *text, size_t size)
{
    tr_wire_error *fault = &host_context(actor->kind->host, worker)->fault;
    if (fault->status == status && status != TR_OK && fault->path[0])
        snprintf(
            text, size, "%s: the field %s: %s", tr_status_text(status), fault->path, fault->text);
    else
        snprintf(text, size, "%s", tr_status_text(status));
    fault->status = TR_OK;
}

tr_status tr__durable_state_copy(const struct durable_actor *actor, struct store_batch *batch,
                                 tr_bytes packed, tr_bytes *copy)
{
    const struct durable_kind *kind = actor->kind;
    const struct state_block *block = block_of(actor);
    uint64_t hash = block->has_shape ? block->shape : tr__shape_of(kind, kind->declared->state);
    size_t header = hash ? SHAPE_FRONT : 0;
    unsigned char *bytes = tr__store_batch_alloc(batch, header + packed.size);
    if (!bytes)
        return TR_NO_MEMORY;
    if (hash)
        tr__shape_front_write(bytes, hash);
    memcpy(bytes + header, packed.data, packed.size);
    *copy = (tr_bytes){bytes, header + packed.size};
    return TR_OK;
}

bool tr__durable_state_keep(struct worker *worker, const struct durable_actor *actor, size_t size,
                            unsigned char **bytes, size_t *capacity)
{
    if (size > *capacity) {
        void *grown = source_resize(&worker->source, *bytes, size);
        if (!grown)
            return false;
        *bytes = grown;
        *capacity = size;
    }
    if (size)
        memcpy(*bytes, host_context(actor->kind->host, worker)->bytes, size);
    return true;
}

bool tr__durable_state_is_stored(struct worker *worker, struct durable_actor *actor, size_t size)
{
    if (!tr__durable_state_keep(worker, actor, size, &actor->stored, &actor->stored_capacity))
        return false;
    actor->stored_size = size;
    return true;
}

/* ---- Reading. ---- */

void tr__state_block_free(struct worker *worker, struct state_block *block)
{
    tr_message_free(block->type, block->data);
    source_resize(&worker->source, (void *)(uintptr_t)block->tail.bytes.data, 0);
    *block = (struct state_block){.data = NULL};
}

static bool is_inside(const struct state_block *block, const void *memory)
{
    return block->data && (uintptr_t)memory - (uintptr_t)block->data < block->data_size;
}

bool tr__durable_has_loaded(const struct durable *durable, const void *memory)
{
    const struct durable_actor *actor = (const struct durable_actor *)(const void *)durable;
    return is_inside(&actor->block, memory) ||
           (actor->events && is_inside(&actor->events->block, memory));
}

/* Copies the fields that the code does not know into the block, because `tail` only borrows their
 * bytes. */
static tr_status tail_keep(struct worker *worker, struct state_block *block,
                           const struct tail *tail)
{
    void *bytes = source_resize(&worker->source, NULL, tail->bytes.size);
    if (!bytes)
        return TR_NO_MEMORY;
    memcpy(bytes, tail->bytes.data, tail->bytes.size);
    block->tail = (struct tail){.bytes = {bytes, tail->bytes.size}, .count = tail->count};
    return TR_OK;
}

/* Reads the bytes into block->data, as block->type. Keeps fields at the end that the type does not
 * have. If the state was stored with a shape, refuses such fields if the state is to be migrated,
 * or if they are in nested messages, because they could not be stored again then. */
static tr_status block_read(tr_self *self, const struct durable_actor *actor, tr_bytes bytes,
                            bool is_migrated, struct state_block *block, tr_wire_error *error)
{
    struct tail tail;
    uint64_t hash;
    bool is_longer;
    tr_bytes document = tr__shape_front_read(bytes, &hash);
    tr_status status =
        tr__shape_check(actor->kind, block->type, hash, tr_path(self), &is_longer, error->text);
    if (status != TR_OK)
        return status;
    status = tr__unpack_tail(block->type, document, &block->data, &tail, error);
    if (status != TR_OK)
        return status;
    block->data_size = tail.message_size;
    bool is_known = hash != 0;
    if (is_known && (tail.is_nested || (is_migrated && tail.count))) {
        snprintf(error->text,
                 sizeof error->text,
                 is_migrated ? "the stored data has fields that its migration does not have"
                             : "nested messages have fields that the code does not have");
        tr__shape_log(actor->kind, block->type, hash, tr_path(self));
        return is_migrated ? TR_WRONG_SHAPE : TR_STALE;
    }
    if (is_migrated)
        return TR_OK;
    block->has_shape = is_longer || tail.count;
    block->shape = hash;
    return tail.count ? tail_keep(self->worker, block, &tail) : TR_OK;
}

/* Converts the result of a migration to the type that the next step expects. */
static tr_status block_convert(tr_self *self, const struct durable_actor *actor,
                               const tr_type *made_type, const void **made, const tr_type *wanted,
                               struct state_block *block, tr_wire_error *error)
{
    void *converted;
    size_t size;
    if (tr_type_is_equal(made_type, wanted))
        return TR_OK;
    tr_status status = tr__shape_convert(
        self->worker, actor->kind->host, made_type, *made, wanted, &converted, &size, error);
    if (status != TR_OK)
        return status;
    /* Free the old block, because `converted` has copies of everything that the old block points
     * to. */
    tr_message_free(block->type, block->data);
    block->type = wanted;
    block->data = converted;
    block->data_size = size;
    *made = converted;
    return TR_OK;
}

/*
 * Reads the bytes of a version and migrates them to the version of the code. The results of migrations are in memory of
 * the application. The block into which the last step was read belongs to the actor, and lives as long as the
 * generation.
 */
tr_status tr__durable_state_read(tr_self *self, const struct durable_actor *actor,
                                 uint32_t stored_version, tr_bytes bytes, void *state,
                                 struct state_block *block, tr_wire_error *error)
{
    const struct durable_kind *kind = actor->kind;
    const tr_migration *const *migrations = kind->declared->options.migrations;
    *error = (tr_wire_error){.status = TR_OK};
    uint32_t version = tr__migration_readable(migrations, stored_version, kind->version);
    const tr_migration *step = tr__migration_from(migrations, version);
    block->type = step ? step->from_type : kind->declared->state;
    block->size = bytes.size;
    tr_status status = block_read(self, actor, bytes, step != NULL, block, error);
    const void *from = block->data;
    while (step && status == TR_OK) {
        void *to = tr_alloc(self, step->to_type->size);
        status = step->call(self, from, to);
        if (status != TR_OK) {
            snprintf(error->text,
                     sizeof error->text,
                     "the migration from version %u failed",
                     step->from);
            return status;
        }
        from = to;
        const tr_type *made_type = step->to_type;
        version = tr__migration_readable(migrations, version + 1, kind->version);
        step = tr__migration_from(migrations, version);
        const tr_type *wanted = step ? step->from_type : kind->declared->state;
        status = block_convert(self, actor, made_type, &from, wanted, block, error);
    }
    if (status == TR_OK)
        memcpy(state, from, kind->declared->state->size);
    return status;
}
