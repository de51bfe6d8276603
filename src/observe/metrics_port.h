/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The metrics of a program by HTTP, for Prometheus: GET /metrics.
 */
#ifndef OBSERVE_METRICS_PORT_H
#define OBSERVE_METRICS_PORT_H

#include <troupe/self.h>

/**
 * Whether an address can be reached only from this machine: 127.0.0.0/8, ::1, or a UNIX socket.
 * Returns false for a text that is no address.
 */
bool tr__metrics_is_local(const char *address);
/** Whether tr__metrics_port_start can read an address. */
bool tr__metrics_is_address(const char *address);

/**
 * Starts the actor that listens, as an actor of the pool. If it cannot listen, its set-up fails,
 * and tr_spawn_wait returns why. Returns the statuses of tr_try_pool_spawn.
 */
TR_MUST_CHECK tr_status tr__metrics_port_start(tr_client *client, const char *address,
                                               tr_ref *actor);

#endif
