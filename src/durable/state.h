/* SPDX-License-Identifier: Apache-2.0 */
/** The state of a durable actor. Packs it, and makes it again from stored bytes. */
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
 * A bit in the stored version of a state. It says that the first start of the key has not finished.
 * If that start fails or the process ends, everything that it has stored is removed, and the key is
 * created again.
 */
#define STATE_HALF STORE_VERSION_HALF

/**
 * The memory into which a state was read. `data` is NULL if no state was read. The stored state may
 * have fields at its end that the code does not know. The block keeps these in `tail`, and they are
 * stored again with the state.
 */
struct state_block {
    void *data;
    const tr_type *type;
    size_t size; /* size of the stored bytes */
    size_t data_size;
    struct tail tail;
    /* The stored state has fields that the code does not know. So it is stored again with the shape
     * with which it was read. */
    bool has_shape;
    /* With has_shape: the hash of that shape. 0: the state was stored without a shape. */
    uint64_t shape;
};

/**
 * Packs the state into the worker's context. Puts the unknown fields of the stored state behind it.
 * Returns the size. If the state cannot be packed, returns 0 and sets *status.
 */
size_t tr__durable_state_pack(struct worker *worker, struct durable_actor *actor,
                              tr_status *status);
/**
 * Writes the error text for a commit that has failed with this status. If the reason is a state
 * that could not be packed, the text names the field.
 */
void tr__durable_state_why(struct worker *worker, struct durable_actor *actor, tr_status status,
                           char *text, size_t size);
/**
 * Copies a packed state into memory of the batch, in its stored form. That is the hash of its shape
 * and the packed state. Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__durable_state_copy(const struct durable_actor *actor,
                                               struct store_batch *batch, tr_bytes packed,
                                               tr_bytes *copy);
/**
 * Copies the packed state of `size` bytes from the worker's context to *bytes. If *capacity is less than `size`, *bytes
 * grows. Returns false if there is no memory.
 */
TR_MUST_CHECK bool tr__durable_state_keep(struct worker *worker, const struct durable_actor *actor,
                                          size_t size, unsigned char **bytes, size_t *capacity);
/**
 * Notes that the store now has the state that is packed in the worker's context. Returns false if
 * there is no memory.
 */
TR_MUST_CHECK bool tr__durable_state_is_stored(struct worker *worker, struct durable_actor *actor,
                                               size_t size);
/**
 * Reads bytes of this version into `state`. The version may be earlier than that of the code. Data
 * to which the state points are in *block, or in memory of the application. On failure *error says
 * why. The bytes need not stay valid after the first migration was called.
 */
TR_MUST_CHECK tr_status tr__durable_state_read(tr_self *self, const struct durable_actor *actor,
                                               uint32_t stored_version, tr_bytes bytes, void *state,
                                               struct state_block *block, tr_wire_error *error);
void tr__state_block_free(struct worker *worker, struct state_block *block);
/** Implements durable_hooks.has_loaded: whether `memory` is inside the block of the state. */
bool tr__durable_has_loaded(const struct durable *durable, const void *memory);

#endif
