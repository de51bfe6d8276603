/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The state of a durable actor: how it is packed, and how stored bytes become a state again.
 */
#ifndef DURABLE_STATE_H
#define DURABLE_STATE_H

#include <troupe/supervision.h>
#include <troupe/wire.h>

#include "store/store.h"
#include "wire/tail.h"

struct durable;
struct durable_actor;
struct store_batch;
struct worker;

/**
 * Bit in the stored version of a state: the first start of its key has not finished. If that start
 * fails or the process ends, everything that it has stored is removed, and the key is created
 * again.
 */
#define STATE_HALF STORE_VERSION_HALF

/**
 * The memory that a state was read into; `data` is NULL if no state was read. Fields at the end of
 * the stored state that the code does not know are in `tail`. The block owns them, and they are
 * stored again with the state.
 */
struct state_block {
    void *data;
    const tr_type *type;
    size_t size; /* size of the stored bytes */
    size_t data_size;
    struct tail tail;
    /* the stored state has fields that the code does not know; it keeps the shape that it was read
     * with */
    bool has_shape;
    /* with has_shape: the hash of that shape; 0: the state was stored without a shape */
    uint64_t shape;
};

/**
 * Packs the state into the worker's context, and behind it the tail of the block from which the
 * state was read. Returns the size. If the state cannot be packed, returns 0 and sets *status.
 */
size_t tr__durable_state_pack(struct worker *worker, struct durable_actor *actor,
                              tr_status *status);
/**
 * Writes the text of a status with which a commit has failed. If the state could not be packed, the
 * text names the field that is the reason.
 */
void tr__durable_state_why(struct worker *worker, struct durable_actor *actor, tr_status status,
                           char *text, size_t size);
/**
 * Copies a packed state into memory of the batch in its stored form: the hash of its shape, then
 * the packed state. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__durable_state_copy(const struct durable_actor *actor,
                                               struct store_batch *batch, tr_bytes packed,
                                               tr_bytes *copy);
/**
 * Copies the packed state from the worker's context to *bytes, which grows if *capacity is less than `size`. Returns
 * false if there is no memory.
 */
TR_MUST_CHECK bool tr__durable_state_keep(struct worker *worker, const struct durable_actor *actor,
                                          size_t size, unsigned char **bytes, size_t *capacity);
/**
 * Notes that the store has the state that is packed in the worker's context. Returns false if there
 * is no memory.
 */
TR_MUST_CHECK bool tr__durable_state_is_stored(struct worker *worker, struct durable_actor *actor,
                                               size_t size);
/**
 * Reads the bytes of this version or an earlier one into `state`. What the state points to is in
 * *block or in memory of the application. On failure *error says why. The bytes need not stay valid
 * after the first migration was called.
 */
TR_MUST_CHECK tr_status tr__durable_state_read(tr_self *self, const struct durable_actor *actor,
                                               uint32_t stored_version, tr_bytes bytes, void *state,
                                               struct state_block *block, tr_wire_error *error);
void tr__state_block_free(struct worker *worker, struct state_block *block);
/**
 * Implements durable_hooks.has_loaded. Returns whether `memory` is inside the block of the state.
 */
bool tr__durable_has_loaded(const struct durable *durable, const void *memory);

#endif
