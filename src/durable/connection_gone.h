/* SPDX-License-Identifier: Apache-2.0 */
/** How a gateway notifies a durable actor of the end of a connection. */
#ifndef DURABLE_CONNECTION_GONE_H
#define DURABLE_CONNECTION_GONE_H

#include <stdint.h>
#include <troupe/durable.h>

struct worker;

/**
 * Notifies a durable actor that a connection has ended, and wakes the actor if it sleeps. If there
 * is no memory, the actor finds out when it sends its next event to the connection. On a worker.
 */
void tr__connection_gone(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                         uint64_t number, int code);
/**
 * Notifies a durable actor that a connection has ended, when the reply to its tr_durable_connect
 * did not come in time. The actor may have accepted the connection, but the gateway does not know
 * the number. On a worker.
 */
void tr__connection_unwanted(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                             uint64_t session, uint64_t channel);

#endif
