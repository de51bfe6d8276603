/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How many bytes a channel holds, and how they count in the budgets of its actor.
 *
 * An actor may have many channels, so their bytes are not added up each time that a budget is
 * checked. If a budget applies to the actor, the member `charged` of a channel is the number of
 * bytes that the channel has added to budget.channel_bytes. Call channel_charge after the memory of
 * a channel has changed: channel_charge adds the difference. For all other actors `charged` is 0,
 * and channel_charge does nothing.
 *
 * These bytes count: the record of the channel, input that was not read, output that was not sent,
 * and what filters keep. A channel that lingers does not count any more. Owner only.
 */
#ifndef NET_CHARGE_H
#define NET_CHARGE_H

#include "net/channel.h"

/** Returns the bytes that a channel holds. */
size_t tr__channel_bytes(const struct channel *channel);

/** Implements channel_charge for an actor to which a budget applies. */
void tr__channel_charge(struct channel *channel);
/**
 * Adds what a channel holds now to the budgets of its actor, in the place of what it held at the last call. The actor
 * may be over budget afterwards.
 */
static inline void channel_charge(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (__builtin_expect(channel->cell && channel->cell->flags & CELL_METERED, 0))
        tr__channel_charge(channel);
}

/**
 * Subtracts a channel from the budgets of its actor, because the channel begins to linger or leaves
 * the actor.
 */
void tr__channel_uncharge(struct channel *channel);

/** Implement the hooks `bytes` and `on_metered` of actor/cell/channel.h. */
size_t tr__channels_bytes(const struct cell *cell);
size_t tr__channels_metered(struct worker *worker, struct cell *cell);

#endif
