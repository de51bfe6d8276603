/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a kit does with the network of its platform; see troupe/kit_net.h.
 *
 * One thread.
 */
#ifndef ACTOR_SYSTEM_KIT_NET_H
#define ACTOR_SYSTEM_KIT_NET_H

#include <troupe/kit_net.h>

struct virtual_socket;

/** Closes and frees all peers of a kit, and what is on its way in its network. */
void tr__kit_net_free(tr_kit *kit);

/**
 * Runs the system until it has nothing to do, or has not come to an end for long. Then moves the clock,
 * until `is_done` says so or the deadline is reached.
 */
void tr__kit_wait_until(tr_kit *kit, tr_time deadline_ns, bool (*is_done)(void *context),
                        void *context);
/** Returns when a wait that begins now ends. */
tr_time tr__kit_deadline(const tr_kit *kit, tr_time timeout_ns);
/**
 * Makes a peer of a socket that belongs to a child process. *socket is NULL when the child has ended. NULL: out of
 * memory.
 */
tr_kit_peer *tr__kit_peer_of_child(tr_kit *kit, struct virtual_socket **socket);

#endif
