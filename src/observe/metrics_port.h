/* SPDX-License-Identifier: Apache-2.0 */
/** Serves the metrics of a program by HTTP, for Prometheus: GET /metrics. */
#ifndef OBSERVE_METRICS_PORT_H
#define OBSERVE_METRICS_PORT_H

#include <troupe/self.h>

/**
 * Whether an address can be reached only from this machine. Such addresses are 127.0.0.0/8, ::1,
 * and UNIX sockets. Returns false for a text that is not an address.
 */
bool tr__metrics_is_local(const char *address);
/** Whether tr__metrics_port_start can read an address. */
bool tr__metrics_is_address(const char *address);

/**
 * Starts the actor that listens, as an actor of the pool. If the actor cannot listen, its set-up
 * fails, and tr_spawn_wait returns the reason. Returns the statuses of tr_try_pool_spawn.
 */
TR_MUST_CHECK tr_status tr__metrics_port_start(tr_client *client, const char *address,
                                               tr_ref *actor);

#endif
