/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rare.h"

#include "actor/cell/system.h"
#include "base/assert.h"
#include "net/filter.h"
#include "net/protocol.h"

const struct channel_rare tr__no_rare;

struct channel_rare *tr__rare_of(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (rare_is_there(channel))
        return channel->rare;
    const struct memory_source *source = &channel->worker->system->source;
    struct channel_rare *rare = source_resize(source, NULL, sizeof *rare);
    if (!rare)
        return NULL;
    *rare = (struct channel_rare){.channel = channel,
                                  .filter = {.raw = NET_BUFFER(source), .out = NET_BUFFER(source)}};
    list_init(&rare->shaking);
    channel->rare = rare;
    return rare;
}

void tr__rare_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_rare *rare = channel->rare;
    if (!rare_is_there(channel))
        return;
    TR_ASSERT(!rare->exchanges && !rare->looks && !rare->datagrams);
    const struct memory_source *source = &channel->worker->system->source;
    list_remove(&rare->shaking);
    if (rare->streams)
        protocol_of(channel)->streams_free(channel);
    if (rare->filter.table)
        rare->filter.table->free(rare->filter.state);
    tr__net_buffer_free(&rare->filter.raw);
    tr__net_buffer_free(&rare->filter.out);
    source_resize(source, rare->text, 0);
    source_resize(source, rare, 0);
    channel->rare = (struct channel_rare *)(uintptr_t)&tr__no_rare;
}
