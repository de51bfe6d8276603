/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The shapes of stored messages: the messages of alarms, items of queues and kept answers. They are
 * stored with the hash of their shape in front (wire/shape.h), as a state is stored. Messages that
 * an earlier version of the library has stored have no hash, and are read by the positions of their
 * fields.
 *
 * Which messages a kind stores is not known when it is declared. So each worker collects the types
 * that its actors have stored or read. A shape that is not known to be stored is put into every
 * batch of that worker, until one of these batches is on disk.
 *
 * Owner of the worker only.
 */
#ifndef DURABLE_MESSAGE_SHAPE_H
#define DURABLE_MESSAGE_SHAPE_H

#include "durable/host.h"

struct durable_actor;
struct store_batch;

/**
 * Writes the hash with which messages of a type are stored; 0: none. If the shape is not known to
 * be stored, adds it to the batch of the message at once, because the actor may move to another
 * worker before the batch is submitted. Fails with TR_NO_MEMORY, also if `batch` is NULL.
 */
TR_MUST_CHECK tr_status tr__message_shape(struct worker *worker, const struct durable_host *host,
                                          struct store_batch *batch, const tr_type *type,
                                          uint64_t *hash);
/**
 * Returns TR_OK if a message that was stored with the shape `hash` can be read as `type`.
 * TR_WRONG_SHAPE: it cannot be read; why[SHAPE_WHY_SIZE] names the difference, and the log has both
 * shapes. TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__message_shape_check(struct worker *worker,
                                                const struct durable_actor *actor,
                                                const tr_type *type, uint64_t hash, char *why);

/**
 * Adds all shapes that are not known to be on disk to a batch. Pass *count to
 * tr__message_shapes_stored. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__message_shapes_put(struct worker_context *context,
                                               struct store_batch *batch, uint32_t *count);
/** Notes that a batch with the first `count` shapes, from tr__message_shapes_put, is on disk. */
void tr__message_shapes_stored(struct worker_context *context, uint32_t count);
void tr__message_shapes_free(const struct memory_source *source, struct worker_context *context);

#endif
