/* SPDX-License-Identifier: Apache-2.0 */
/** The record of the channels of one actor, in a place beside its cell. */
#ifndef NET_NET_CELL_H
#define NET_NET_CELL_H

#include "actor/cell/slots.h"

/** The channels of an actor. */
struct net_cell {
    struct cell_channels base; /* must be the first member */
    struct list channels;      /* list of struct channel, oldest first */
    /*
     * if a listener has made the actor for a connection: bits of the channel of that connection; 0:
     * none
     */
    uint64_t peer;
};

static_assert(sizeof(struct net_cell) == SLOTS_CHANNELS_SIZE, "it is a place beside the cell");

static inline struct net_cell *net_cell_of(const struct cell *cell)
{
    bool has_channels = cell->flags & CELL_CHANNELS;
    return has_channels ? (struct net_cell *)(void *)slots_channels(cell) : NULL;
}

#endif
