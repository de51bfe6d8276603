/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a channel holds, and the share of it in the budgets of its actor.
 *
 * The channels of an actor may be many, so their bytes are not added up each time a budget is
 * looked at. If a budget applies to the actor, channel.charged has what the channel has added to
 * budget.channel_bytes. Call channel_charge after the memory of a channel has changed: it adds the
 * difference. For all other actors channel.charged is 0, and nothing is done.
 *
 * These bytes count: the record of the channel, input that was not read, output that was not sent,
 * and what filters keep. A channel that was closed and lingers counts no more. Owner only.
 */
#ifndef NET_CHARGE_H
#define NET_CHARGE_H

#include "net/channel.h"

/** Returns the bytes that a channel holds. */
size_t tr__channel_bytes(const struct channel *channel);

/** Implements channel_charge for an actor to which a budget applies. */
void tr__channel_charge(struct channel *channel);
/** Charges what a channel holds now to the budgets of its actor. The actor may be over budget afterwards. */
static inline void channel_charge(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (__builtin_expect(channel->cell && channel->cell->flags & CELL_METERED, 0))
        tr__channel_charge(channel);
}

/** Takes a channel out of the budgets of its actor, because it lingers or leaves the actor. */
void tr__channel_uncharge(struct channel *channel);

/** Implement the hooks `bytes` and `on_metered` of actor/cell/channel.h. */
size_t tr__channels_bytes(const struct cell *cell);
size_t tr__channels_metered(struct worker *worker, struct cell *cell);

#endif
