/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a connection begins: the session of the request asks the durable actor, which accepts or
 * refuses the connection. Owner only.
 */
#ifndef GATEWAY_OPENING_H
#define GATEWAY_OPENING_H

#include "durable/connections.h"
#include "gateway/order.h"
#include "gateway/visit.h"

struct opening {
    struct ordered_ask ask; /* must be the first member */
    tr_status status;
    /* token by which the actor names the connection; see tr__http_events_token */
    uint64_t channel;
    struct tr_durable_connection reply;
    tr_error why;
};

/**
 * Asks the actor of a visit whether it accepts a connection. `last` is the number of the last event
 * that the client has seen, as text, or NULL. Returns false if the request was refused and
 * answered. Waits.
 */
bool tr__opening_ask(struct visit *visit, struct opening *opening, const char *last);
/**
 * Notifies the actor of a visit that a connection, which the actor has accepted, has ended with
 * this code.
 */
void tr__opening_undo(const struct visit *visit, const struct opening *opening, int code);

#endif
