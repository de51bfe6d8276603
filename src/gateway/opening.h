/* SPDX-License-Identifier: Apache-2.0 */
/** How a connection begins: its session asks the actor, which takes or refuses it. Owner only. */
#ifndef GATEWAY_OPENING_H
#define GATEWAY_OPENING_H

#include "durable/connections.h"
#include "gateway/order.h"
#include "gateway/visit.h"

struct opening {
    struct ordered_ask ask; /* must be first */
    tr_status status;
    uint64_t channel; /* by which the actor names the connection: tr__http_events_token */
    struct tr_durable_connection reply;
    tr_error why;
};

/** Asks the actor of a visit. `last` is the number of the last event that the client has seen, as text, or NULL. False: it was answered. Waits. */
bool tr__opening_ask(struct visit *visit, struct opening *opening, const char *last);
/**
 * Notifies the actor that a connection has ended with this code. The actor has taken the connection
 * before.
 */
void tr__opening_undo(const struct visit *visit, const struct opening *opening, int code);

#endif
