/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels that change their worker: with their actor, or when they are handed over.
 *
 * A channel on its way is packed: nobody watches its descriptor, its bytes are in memory of its own, and no timer
 * is armed. It belongs to no worker until it is unpacked.
 */
#ifndef NET_MOVE_H
#define NET_MOVE_H

#include <stdbool.h>

struct cell;
struct envelope;
struct worker;

/** Whether an actor may move to another worker with its channels. Owner only. */
bool tr__channels_may_move(const struct cell *cell);
/** Packs the channels of an actor. False: no memory, and nothing has changed. Owner only. */
bool tr__channels_leave(struct worker *worker, struct cell *cell);
/** Unpacks the channels of an actor that has arrived, or has not left after all. Owner only. */
void tr__channels_arrive(struct worker *worker, struct cell *cell);
/** Takes a channel that another actor has handed over, and its envelope. Owner only. */
void tr__channel_handed(struct worker *worker, struct cell *cell, struct envelope *envelope);

#endif
