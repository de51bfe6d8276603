/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The state of a durable actor: how it is packed, and how stored bytes become a state again.
 */
#ifndef DURABLE_STATE_H
#define DURABLE_STATE_H

#include <troupe/supervision.h>
#include <troupe/wire.h>

#include "wire/tail.h"

struct durable;
struct durable_actor;
struct store_batch;
struct worker;

/**
 * In the version of a state that is stored before the first start of its key is over: if that fails, or the process
 * ends, all that it has stored is removed, and it is created anew.
 */
#define STATE_HALF UINT32_C(0x80000000)

/**
 * What a state was read into; data NULL: nothing. Fields at its end that the code does not know are in `tail`, which
 * the block owns, and are stored again with the state.
 */
struct state_block {
    void *data;
    const tr_type *type;
    size_t size; /* of the bytes it was read from */
    size_t data_size;
    struct tail tail;
    bool
        has_shape; /* it has more fields than the code, and is stored with the shape that it had: */
    uint64_t shape; /* the hash of that; 0: it had none */
};

/** Packs the state, and the tail of what it was read from, at the worker's context; gives its size. 0: it cannot be packed, and *status says why. */
size_t tr__durable_state_pack(struct worker *worker, struct durable_actor *actor,
                              tr_status *status);
/** A copy of a packed state in memory of the batch, as it is stored: with the front that names its shape. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__durable_state_copy(const struct durable_actor *actor,
                                               struct store_batch *batch, tr_bytes packed,
                                               tr_bytes *copy);
/**
 * Copies the packed state from the worker's context to *bytes, which grows if *room is less than `size`. Returns false
 * if there is no memory.
 */
TR_MUST_CHECK bool tr__durable_state_keep(struct worker *worker, const struct durable_actor *actor,
                                          size_t size, unsigned char **bytes, size_t *capacity);
/** What is packed there is what the store has of the state. False: no memory. */
TR_MUST_CHECK bool tr__durable_state_is_stored(struct worker *worker, struct durable_actor *actor,
                                               size_t size);
/**
 * From the bytes of an earlier version, or this one, to a state; what it points to is in *block or memory of the
 * application. Else *error says why. The bytes are not needed when a migration is called.
 */
TR_MUST_CHECK tr_status tr__durable_state_read(tr_self *self, const struct durable_actor *actor,
                                               uint32_t stored_version, tr_bytes bytes, void *state,
                                               struct state_block *block, tr_wire_error *error);
void tr__state_block_free(struct worker *worker, struct state_block *block);
/** durable_hooks.has_loaded. */
bool tr__durable_has_loaded(const struct durable *durable, const void *memory);

#endif
