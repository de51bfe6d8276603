/* SPDX-License-Identifier: Apache-2.0 */
#include "net/work.h"

#include "actor/cell/system.h"
#include "net/worker.h"
#include "base/assert.h"

const struct channel_work tr__no_work = {
    .input = {.piece = UINT32_MAX, .nul = UINT32_MAX},
};

/* A record of struct channel_work that no channel has. */
union free_work {
    /* link in the list of free records; it is in the place of input.buffer.source */
    union free_work *next;
    struct channel_work work;
};

struct channel_work *tr__work_new(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct net_worker *net = channel->worker->channels.net;
    const struct memory_source *source = &channel->worker->system->source;
    struct channel_work *work;
    union free_work *record = net->works;
    if (record) {
        net->works = record->next;
        net->work_count--;
        /* all other members are empty already, because only empty records become free */
        work = &record->work;
        work->input.buffer.source = source;
        work->input.seen = work->input.needs = 0;
    } else {
        record = source_resize(source, NULL, sizeof *record);
        if (!record)
            return NULL;
        work = &record->work;
        *work = (struct channel_work){
            .input = {.buffer = NET_BUFFER(source), .piece = UINT32_MAX, .nul = UINT32_MAX}};
    }
    work->output.since_ns = channel->worker->loop.now_ns;
    channel->work = work;
    return work;
}

void tr__work_give(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct net_worker *net = channel->worker->channels.net;
    union free_work *record = (union free_work *)(void *)channel->work;
    channel->work = (struct channel_work *)(uintptr_t)&tr__no_work;
    if (net && net->work_count < WORKS_KEPT) {
        record->next = net->works;
        net->works = record;
        net->work_count++;
    } else {
        source_resize(&channel->worker->system->source, record, 0);
    }
}

void tr__works_free(struct worker *worker)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct net_worker *net = worker->channels.net;
    while (net->works) {
        union free_work *record = net->works;
        net->works = record->next;
        source_resize(&worker->system->source, record, 0);
    }
    net->work_count = 0;
}
