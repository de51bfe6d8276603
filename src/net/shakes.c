/* SPDX-License-Identifier: Apache-2.0 */
#include "net/shakes.h"

#include "net/dial.h"
#include "net/worker.h"
#include "base/assert.h"

void tr__shakes_add(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct net_worker *net = channel->worker->channels.net;
    if (channel->endpoint->options.kind != TR_ENDPOINT_TLS) {
        tr__channel_shake(channel);
    } else if (net->shakes_left && list_is_empty(&net->shaking)) {
        net->shakes_left--;
        tr__channel_shake(channel);
    } else if (list_is_empty(&channel->rare->shaking)) {
        list_push_last(&net->shaking, &channel->rare->shaking);
        channel->worker->loop.wants_round = true;
    }
}

bool tr__shakes_round(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct net_worker *net = worker->channels.net;
    net->shakes_left = SHAKES_MAX;
    while (net->shakes_left && !list_is_empty(&net->shaking)) {
        struct list *link = list_pop_first(&net->shaking);
        struct channel *channel = LIST_OWNER(link, struct channel_rare, shaking)->channel;
        if (channel->state != CHANNEL_DIALING)
            continue;
        net->shakes_left--;
        tr__channel_shake(channel);
    }
    return !list_is_empty(&net->shaking);
}
