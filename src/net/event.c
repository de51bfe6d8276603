/* SPDX-License-Identifier: Apache-2.0 */
#include "net/event.h"

#include "net/worker.h"

void tr__channel_starve(struct channel *channel)
{
    list_remove(&channel->starved);
    list_push_last(&channel->worker->channels.net->starved, &channel->starved);
}

void tr__event_lend(struct envelope *event, const tr_type *type, void *message)
{
    event->type = type;
    event->block_class = ENVELOPE_LENT;
    event->payload.block.data = message;
    event->payload.block.size = 0;
}
