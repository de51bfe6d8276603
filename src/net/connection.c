/* SPDX-License-Identifier: Apache-2.0 */
#include "net/connection.h"

#include "actor/cell/system.h"
#include "net/channel.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/dial.h"
#include "net/filters.h"
#include "net/listener_shared.h"
#include "net/peer.h"
#include "net/proxy.h"
#include "net/rare.h"
#include "base/assert.h"

/* Puts the filters of the endpoint on a channel. */
static tr_status filters_attach(struct channel *channel)
{
    const tr_endpoint *options = &channel->endpoint->options;
    if (options->has_proxy_header) {
        if (!tr__rare_of(channel))
            return TR_NO_MEMORY;
        channel->rare->filter.state = tr__proxy_new(&channel->worker->system->source);
        if (!channel->rare->filter.state)
            return TR_NO_MEMORY;
        channel->rare->filter.table = &tr__proxy_filter;
        return TR_OK; /* the other filters are added when the PROXY header was read */
    }
    return tr__filters_attach(channel);
}

/* Notes the address from which a connection comes. */
static tr_status note_peer(struct channel *channel, const tr_address *peer)
{
    if (channel->endpoint->options.connections_per_peer_max) {
        struct channel_rare *rare = tr__rare_of(channel);
        if (!rare)
            return TR_NO_MEMORY;
        rare->accepted_from = *peer;
    }
    return tr__peer_set(channel, peer);
}

tr_status tr__connection_make(struct worker *worker, struct listener_shared *shared,
                              const struct accepted *accepted, struct channel **made)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    const tr_platform *platform = worker->loop.platform;
    struct channel *channel;
    tr_status status = tr__channel_new(worker, NULL, CHANNEL_STREAM, shared->endpoint, &channel);
    if (status != TR_OK) {
        platform->socket_close(platform, accepted->fd, true);
        return status;
    }
    channel->flags |= CHANNEL_ACCEPTED | CHANNEL_WRITABLE;
    tr__channel_change(channel, CHANNEL_DIALING);
    status = tr__channel_watch(channel, accepted->fd);
    if (status != TR_OK)
        platform->socket_close(platform, accepted->fd, true);
    if (status == TR_OK)
        status = note_peer(channel, &accepted->peer);
    if (status == TR_OK)
        status = filters_attach(channel);
    if (status != TR_OK) {
        tr__channel_free(channel);
        return status;
    }
    *made = channel;
    return TR_OK;
}

void tr__connection_begin(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const tr_endpoint *options = &channel->endpoint->options;
    if (!channel->rare->filter.table) {
        tr__channel_opened(channel);
        return;
    }
    channel->deadline_ns = timer_deadline(channel->worker->loop.now_ns, options->connect_ns);
    tr_status status = tr__deadline_reserve(channel);
    tr__channel_arm(channel);
    if (status == TR_OK)
        status = channel->rare->filter.table->begin(channel->rare->filter.state,
                                                    &channel->rare->filter.out);
    if (status != TR_OK)
        tr__channel_end(channel, status, NULL);
    else
        tr__channel_shake(channel);
}
