/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The shapes of stored messages. Such messages belong to alarms, to items of queues and to kept
 * answers. In front of a stored message is the hash of its shape (wire/shape.h), as in front of a
 * state. Messages that an earlier version of the library has stored have no hash. They are read by
 * the positions of their fields.
 *
 * When a kind is declared, the library does not know which messages it will store. So each worker
 * collects the types that its actors have stored or read. As long as a shape is not known to be on
 * disk, the worker puts it into each of its batches.
 *
 * Only the thread that runs the worker uses them.
 */
#ifndef DURABLE_MESSAGE_SHAPE_H
#define DURABLE_MESSAGE_SHAPE_H

#include "durable/host.h"

struct durable_actor;
struct store_batch;

/**
 * Sets *hash to the hash with which messages of a type are stored, or to 0 if the type has no
 * shape. If the shape is not known to be stored, adds it to the batch of the message. The shape is
 * added now and not when the batch is submitted, because the actor may move to another worker
 * before that. Fails with TR_NO_MEMORY, also if `batch` is NULL.
 */
TR_MUST_CHECK tr_status tr__message_shape(struct worker *worker, const struct durable_host *host,
                                          struct store_batch *batch, const tr_type *type,
                                          uint64_t *hash);
/**
 * Returns TR_OK if a message that was stored with the shape `hash` can be read as `type`. Returns
 * TR_WRONG_SHAPE if it cannot be read. In that case why[SHAPE_WHY_SIZE] names the difference, and
 * the log has both shapes. Can also fail with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__message_shape_check(struct worker *worker,
                                                const struct durable_actor *actor,
                                                const tr_type *type, uint64_t hash, char *why);

/**
 * Adds all shapes that are not known to be on disk to a batch. Sets *count, which the caller later
 * passes to tr__message_shapes_stored. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__message_shapes_put(struct worker_context *context,
                                               struct store_batch *batch, uint32_t *count);
/**
 * Notes that a batch with the first `count` shapes is on disk. `count` comes from
 * tr__message_shapes_put.
 */
void tr__message_shapes_stored(struct worker_context *context, uint32_t count);
void tr__message_shapes_free(const struct memory_source *source, struct worker_context *context);

#endif
