/* SPDX-License-Identifier: Apache-2.0 */
#include "net/event.h"

#include "net/worker.h"

void tr__channel_starve(struct channel *channel)
{
    channel->flags |= CHANNEL_STARVED;
    if (channel_has(channel, CHANNEL_DIRTY))
        return; /* it is in the list of dirty channels; the flush moves it to the starved ones */
    list_remove(&channel->listed);
    list_push_last(&channel->worker->channels.net->starved, &channel->listed);
}

void tr__event_lend(struct envelope *event, const tr_type *type, void *message)
{
    event->type = type;
    event->block_class = ENVELOPE_LENT;
    event->payload.block.data = message;
    event->payload.block.size = 0;
}
