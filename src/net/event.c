/* SPDX-License-Identifier: Apache-2.0 */
#include "net/event.h"

#include "net/worker.h"
#include "base/assert.h"

#include <troupe/process.h>

const struct event_types tr__event_types = {.opened = &tr_type_tr_opened,
                                            .drained = &tr_type_tr_drained,
                                            .closed = &tr_type_tr_closed,
                                            .process_ended = &tr_type_tr_process_ended};

void tr__channel_starve(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    channel->flags |= CHANNEL_STARVED;
    if (channel_has(channel, CHANNEL_DIRTY))
        /*
         * the channel is in the list of dirty channels; the next flush moves it to the list of
         * starved ones
         */
        return;
    list_remove(&channel->listed);
    list_push_last(&channel->worker->channels.net->starved, &channel->listed);
}

void tr__channel_again(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct worker *worker = channel->worker;
    tr__channel_starve(channel);
    worker->channels.net->has_more = true;
    worker->loop.wants_round = true;
}

void tr__event_lend(struct envelope *event, const tr_type *type, void *message)
{
    event->type = type;
    event->block_class = ENVELOPE_LENT;
    event->payload.block.data = message;
    event->payload.block.size = 0;
}
