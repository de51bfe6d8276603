/* SPDX-License-Identifier: Apache-2.0 */
#include "net/peer.h"

#include <string.h>

#include "actor/cell/system.h"
#include "base/assert.h"

tr_status tr__peer_set(struct channel *channel, const tr_address *peer)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr_address *far = NULL;
    bool is_far = peer->family == TR_FAMILY_V6;
    if (is_far) {
        far = source_resize(&channel->worker->system->source, NULL, sizeof *far);
        if (!far)
            return TR_NO_MEMORY;
        *far = *peer;
    }
    tr__peer_free(channel);
    if (is_far) {
        channel->flags |= CHANNEL_PEER_FAR;
        channel->peer.far = far;
    } else if (peer->family == TR_FAMILY_V4) {
        channel->flags |= CHANNEL_PEER_V4;
        channel->peer.v4.port = peer->port;
        memcpy(channel->peer.v4.host, peer->host, sizeof channel->peer.v4.host);
    }
    /* do not note the address of a UNIX socket, because the kernel can always be asked for that */
    return TR_OK;
}

tr_address tr__channel_peer(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const tr_platform *platform = channel->worker->loop.platform;
    tr_address peer = {.family = TR_FAMILY_NONE};
    if (channel_has(channel, CHANNEL_PEER_FAR)) {
        peer = *channel->peer.far;
    } else if (channel_has(channel, CHANNEL_PEER_V4)) {
        peer.family = TR_FAMILY_V4;
        peer.port = channel->peer.v4.port;
        memcpy(peer.host, channel->peer.v4.host, sizeof channel->peer.v4.host);
    } else if (channel->fd >= 0) {
        (void)platform->socket_address(platform, channel->fd, true, &peer);
    }
    return peer;
}

void tr__peer_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel_has(channel, CHANNEL_PEER_FAR))
        source_resize(&channel->worker->system->source, channel->peer.far, 0);
    channel->flags &= ~(uint32_t)(CHANNEL_PEER_FAR | CHANNEL_PEER_V4);
}
