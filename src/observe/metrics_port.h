/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The metrics of a program by HTTP, for Prometheus: GET /metrics.
 */
#ifndef OBSERVE_METRICS_PORT_H
#define OBSERVE_METRICS_PORT_H

#include <troupe/self.h>

/** Whether an address can be reached from this machine only: 127.0.0.0/8, ::1, or a UNIX socket. False: also if it is none. */
bool tr__metrics_is_local(const char *address);
/** Whether tr__metrics_port_start can read an address. */
bool tr__metrics_is_address(const char *address);

/**
 * Starts the actor that listens, as an actor of the pool. Its set-up fails if it cannot: tr_spawn_wait says why. Statuses
 * of tr_try_pool_spawn.
 */
TR_MUST_CHECK tr_status tr__metrics_port_start(tr_client *client, const char *address,
                                               tr_ref *actor);

#endif
