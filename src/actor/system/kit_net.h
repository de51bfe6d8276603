/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The network of a kit: peers and listeners of a test. See troupe/kit_net.h.
 *
 * One thread.
 */
#ifndef ACTOR_SYSTEM_KIT_NET_H
#define ACTOR_SYSTEM_KIT_NET_H

#include <troupe/kit_net.h>

struct virtual_socket;

/**
 * Closes and frees all peers of a kit. Drops everything that is still on its way in the network of
 * the kit.
 */
void tr__kit_net_free(tr_kit *kit);

/**
 * Runs the system until `is_done` returns true or the deadline is reached. Calls `is_done` whenever
 * the system has nothing to do, and also after many steps of a system that is never idle. If the
 * system has nothing to do and `is_done` returns false, moves the clock.
 */
void tr__kit_wait_until(tr_kit *kit, tr_time deadline_ns, bool (*is_done)(void *context),
                        void *context);
/** Returns the deadline of a wait that begins now. */
tr_time tr__kit_deadline(const tr_kit *kit, tr_time timeout_ns);
/**
 * Makes a peer with the socket of a child process. When the child ends, *socket becomes NULL.
 * Returns NULL when out of memory.
 */
tr_kit_peer *tr__kit_peer_of_child(tr_kit *kit, struct virtual_socket **socket);

#endif
