/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Handlers whose effect on what is stored is whole or none: tr_connected and tr_disconnected.
 *
 * Such a handler may wait as long as it has changed nothing that is stored. A wait after a change is
 * refused. So all its changes are in one commit, together with the row that says that the handler
 * has ended. If the end of the process interrupts the handler, it runs again, and nothing of its
 * first run is stored. Owner only.
 */
#ifndef DURABLE_WHOLE_H
#define DURABLE_WHOLE_H

#include <troupe/status.h>

#include "store/batch.h"

struct durable_actor;
struct durable_frame;
struct tr_self;
struct worker;

/** What the open commit had when the present part of such a handler began. */
struct whole {
    const char *name;               /* of the handler, for the log; NULL: none runs */
    struct store_batch_mark before; /* the end of the batch */
    /* If the open commit had changes of the state before this handler began: a copy of the packed
     * state from that moment. Its memory is kept until the frame ends. */
    unsigned char *state;
    size_t size;
    size_t capacity;
    /* `state` is valid. False: the state was the one that was stored or finished last. */
    bool has_state;
};

/**
 * Begins a handler of tr_connected or tr_disconnected. `is_fresh` says that the open commit has no
 * change of the state or of a table. Fails with TR_NO_MEMORY, or as a commit does.
 */
TR_MUST_CHECK tr_status tr__whole_begin(struct tr_self *self, const char *name, bool is_fresh);
/** Ends the handler, after its user code has returned. */
void tr__whole_end(struct tr_self *self);
/**
 * Begins a new part of the handler: a wait is over, or tr__whole_may_wait has returned TR_OK and
 * the open commit has ended since.
 */
void tr__whole_continue(struct tr_self *self);
/**
 * Returns TR_OK if the turn may wait now, or TR_INVALID_TRANSITION: its handler has changed what is
 * stored. Logs why.
 */
TR_MUST_CHECK tr_status tr__whole_may_wait(struct tr_self *self);
/** Frees the memory of a frame that ends. */
void tr__whole_free(struct worker *worker, struct durable_frame *frame);

#endif
