/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of sessions whose outcomes come in order with the events of the actor.
 *
 * The turn that asks waits. The outcome is handled in a turn of its own. It comes in its place
 * among the messages of the session, and wakes the turn that asks before the next message is
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
     * Gets the outcome: with TR_OK the reply, which is valid until the function returns; otherwise
     * the reason, which may be NULL.
     */
    void (*on_outcome)(struct ordered_ask *ask, tr_status status, const void *reply,
                       const tr_error *why);
    void *context;
    bool has_id; /* it can be sent again, also if a handler may have seen it */
    /* The rest is filled in by tr__ask_in_order. */
    struct tr_self *turn;
    bool is_done;
    bool is_again; /* the actor has fallen asleep before it has seen the request */
};

/** Asks, waits, and calls on_outcome once; not if the turn is cancelled. Ends the turn if it cannot wait. In a turn. */
void tr__ask_in_order(struct tr_self *self, struct ordered_ask *ask);

#endif
