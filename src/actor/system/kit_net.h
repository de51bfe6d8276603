/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a kit does with the network of its platform; see troupe/kit_net.h.
 *
 * One thread.
 */
#ifndef ACTOR_SYSTEM_KIT_NET_H
#define ACTOR_SYSTEM_KIT_NET_H

#include <troupe/kit.h>

/** Closes and frees all peers of a kit, and what is on its way in its network. */
void tr__kit_net_free(tr_kit *kit);

#endif
