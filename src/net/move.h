/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels that change their worker, together with their actor or because they are handed over to
 * an actor of another worker.
 *
 * A channel is packed while it is on its way: no worker watches its descriptor, its bytes are in
 * memory of the channel, and it has no timer. A packed channel belongs to no worker.
 */
#ifndef NET_MOVE_H
#define NET_MOVE_H

#include <stdbool.h>

struct cell;
struct envelope;
struct worker;

/** Whether an actor may move to another worker with its channels. Owner only. */
bool tr__channels_may_move(const struct cell *cell);
/**
 * Packs the channels of an actor. Returns false and changes nothing if there is no memory. Owner
 * only.
 */
bool tr__channels_leave(struct worker *worker, struct cell *cell);
/**
 * Unpacks the channels of an actor that has arrived on this worker, or that could not leave it.
 * Owner only.
 */
void tr__channels_arrive(struct worker *worker, struct cell *cell);
/**
 * Takes over a channel that another actor has handed over, and the envelope that has brought the
 * channel. Owner only.
 */
void tr__channel_handed(struct worker *worker, struct cell *cell, struct envelope *envelope);

#endif
