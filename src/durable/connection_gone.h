/* SPDX-License-Identifier: Apache-2.0 */
/** How a gateway notifies a durable actor of the end of a connection. */
#ifndef DURABLE_CONNECTION_GONE_H
#define DURABLE_CONNECTION_GONE_H

#include <stdint.h>
#include <troupe/durable.h>

struct worker;

/**
 * Notifies a durable actor of the end of a connection, and wakes the actor if it sleeps. If there
 * is no memory, the actor finds out when it next sends an event. On a worker.
 */
void tr__connection_gone(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                         uint64_t number, int code);
/**
 * As tr__connection_gone, for a tr_durable_connect whose reply did not come in time. The actor may
 * have accepted the connection.
 */
void tr__connection_unwanted(struct worker *worker, const tr_durable_kind *kind, tr_bytes key,
                             uint64_t session, uint64_t channel);

#endif
