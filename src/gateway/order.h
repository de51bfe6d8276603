/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A session asks an actor in such a way that outcomes and events of the actor come in the order in
 * which the actor has sent them.
 *
 * The turn that asks waits. The outcome is queued among the other messages of the session, and a
 * turn of its own handles it. That turn wakes the turn that asks, before the session handles its
 * next message. Owner only.
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
     * Called once with the outcome. If `status` is TR_OK, `reply` is valid until this function
     * returns. Otherwise `why` is the reason, or NULL.
     */
    void (*on_outcome)(struct ordered_ask *ask, tr_status status, const void *reply,
                       const tr_error *why);
    void *context;
    /* the request has an id, so it may be sent again even if a handler may have handled it */
    bool has_id;
    /* The next members are set by tr__ask_in_order. */
    struct tr_self *turn;
    bool is_done;
    /* the actor has fallen asleep before it could handle the request, so the request is sent again */
    bool is_again;
};

/**
 * Sends the request, waits, and calls on_outcome once, unless the turn is cancelled. If the turn
 * cannot wait, ends the turn. In a turn.
 */
void tr__ask_in_order(struct tr_self *self, struct ordered_ask *ask);

#endif
