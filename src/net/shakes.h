/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A queue of handshakes. A step of a TLS handshake takes up to a millisecond. So a worker makes at
 * most SHAKES_MAX such steps in a round of its loop, in the order in which they became possible. It
 * handles other channels between them. Worker only.
 */
#ifndef NET_SHAKES_H
#define NET_SHAKES_H

#include "net/channel.h"

enum { SHAKES_MAX = 4 /* one round does at most this many steps of handshakes */ };

/** Continues a handshake, now or in a later round. The channel may open or end. */
void tr__shakes_add(struct channel *channel);
/**
 * Continues the handshakes that wait. Call at the beginning of a round. Returns whether some still
 * wait afterwards.
 */
bool tr__shakes_round(struct worker *worker);

#endif
