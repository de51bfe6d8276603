/* SPDX-License-Identifier: Apache-2.0 */
#include "net/worker.h"

#include "actor/cell/system.h"
#include "actor/cell/worker.h"
#include "net/channel.h"
#include "net/channel_end.h"
#include "net/hooks.h"
#include "net/output.h"
#include "net/shakes.h"
#include "net/work.h"
#include "base/assert.h"

struct net_worker *tr__net_worker_of(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct net_worker *net = worker->channels.net;
    if (net)
        return net;
    net = source_resize(&worker->source, NULL, sizeof *net);
    if (!net)
        return NULL;
    net->area = NULL;
    net->pages = NULL;
    net->page_count = 0;
    net->spare_input = net->spare_output = (struct net_spare){.data = NULL};
    net->works = NULL;
    net->datagrams = NULL;
    net->work_count = 0;
    net->date_until_ns = 0;
    net->http_client = 0;
    net->deflate = NULL;
    tr__wheel_init(&net->wheel, worker->loop.now_ns);
    list_init(&net->dirty);
    list_init(&net->lingering);
    list_init(&net->starved);
    net->has_more = false;
    list_init(&net->shaking);
    net->shakes_left = SHAKES_MAX;
    worker->channels.net = net;
    worker->channels.hooks = &tr__net_hooks;
    return net;
}

void tr__net_worker_end(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct net_worker *net = worker->channels.net;
    struct list *link;
    while ((link = list_first(&net->lingering))) {
        struct channel *channel = LIST_OWNER(link, struct channel, link);
        if (tr__output_is_empty(channel))
            tr__channel_free(channel);
        else
            /*
             * reset the connection, so that the other side does not believe that it has got the
             * whole output
             */
            tr__channel_end(channel, TR_TIMEOUT, NULL);
    }
    tr__pages_free(worker);
    tr__works_free(worker);
    if (net->deflate)
        net->deflate_free(net->deflate);
    source_resize(&worker->system->source, net->spare_input.data, 0);
    source_resize(&worker->system->source, net->spare_output.data, 0);
    source_resize(&worker->system->source, net->datagrams, 0);
    source_resize(&worker->source, net->area, 0);
    source_resize(&worker->source, net, 0);
    worker->channels = (struct worker_channels){0};
}
