/* SPDX-License-Identifier: Apache-2.0 */
#include "net/charge.h"

#include "actor/turn/budget.h"
#include "base/assert.h"
#include "net/filter.h"
#include "net/net_cell.h"
#include "net/pieces.h"
#include "net/rare.h"
#include "net/work.h"

static size_t work_bytes(const struct channel_work *work)
{
    /* memory of an area does not count, because the area belongs to the worker */
    size_t input = work->input.area ? 0 : work->input.buffer.capacity;
    return sizeof *work + input + work->output.memory;
}

static size_t rare_bytes(const struct channel *channel)
{
    const struct channel_rare *rare = channel->rare;
    const struct channel_filter *filter = &rare->filter;
    size_t bytes = sizeof *rare + filter->raw.capacity + filter->out.capacity;
    if (filter->table && filter->table->bytes)
        bytes += filter->table->bytes(filter->state);
    return bytes + tr__pieces_bytes(channel);
}

size_t tr__channel_bytes(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    size_t bytes = sizeof *channel;
    if (work_is_there(channel))
        bytes += work_bytes(channel->work);
    if (rare_is_there(channel))
        bytes += rare_bytes(channel);
    return bytes;
}

/* Returns the value of channel.charged for this number of bytes. */
static uint32_t charge_of(size_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static void charge(struct channel *channel, size_t bytes)
{
    if (channel->state == CHANNEL_LINGERING)
        /*
         * when the channel began to linger, its bytes were subtracted; now drop_left is in the
         * place of `charged`
         */
        return;
    int64_t more = (int64_t)charge_of(bytes) - channel->charged;
    if (!more)
        return;
    channel->charged = charge_of(bytes);
    tr__budget_channels(channel->worker, channel->cell, more);
}

void tr__channel_charge(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    charge(channel, tr__channel_bytes(channel));
}

void tr__channel_uncharge(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->cell && channel->cell->flags & CELL_METERED)
        charge(channel, 0);
}

size_t tr__channels_bytes(const struct cell *cell)
{
    size_t bytes = 0;
    LIST_EACH (link, &net_cell_of(cell)->channels) {
        const struct channel *channel = LIST_OWNER(link, const struct channel, link);
        if (channel->state != CHANNEL_LINGERING)
            bytes += tr__channel_bytes(channel);
    }
    return bytes;
}

size_t tr__channels_metered(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    size_t bytes = 0;
    LIST_EACH (link, &net_cell_of(cell)->channels) {
        struct channel *channel = LIST_OWNER(link, struct channel, link);
        if (channel->state == CHANNEL_LINGERING)
            continue;
        channel->charged = charge_of(tr__channel_bytes(channel));
        bytes += channel->charged;
    }
    return bytes;
}
