/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of sessions whose outcomes come in the same order as the events of the actor.
 *
 * The turn that asks waits. The outcome is queued among the other messages of the session and
 * handled in a turn of its own. That turn wakes the one that asks, before the next message is
 * handled. Owner only.
 */
#ifndef GATEWAY_ORDER_H
#define GATEWAY_ORDER_H

#include <troupe/durable.h>

struct ordered_ask {
    const tr_durable_kind *kind;
    tr_bytes key;
    const tr_type *type;
    const void *message;
    /**
     * Called with the outcome. With TR_OK, `reply` is valid until this function returns. Otherwise
     * `why` is the reason, or NULL.
     */
    void (*on_outcome)(struct ordered_ask *ask, tr_status status, const void *reply,
                       const tr_error *why);
    void *context;
    bool has_id; /* the request may be sent again, even if a handler may have handled it */
    /* tr__ask_in_order sets the following members. */
    struct tr_self *turn;
    bool is_done;
    bool is_again; /* the actor has fallen asleep before it could handle the request */
};

/**
 * Asks, waits, and calls on_outcome once, unless the turn is cancelled. If the turn cannot wait,
 * ends it. In a turn.
 */
void tr__ask_in_order(struct tr_self *self, struct ordered_ask *ask);

#endif
