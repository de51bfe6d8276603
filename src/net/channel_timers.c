/* SPDX-License-Identifier: Apache-2.0 */
#include "net/channel_timers.h"

#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/time/timers.h"

struct channel_timers {
    uint32_t count;
    tr_timer list[TR_CHANNEL_TIMERS_MAX];
};

void tr__channel_timers_end(struct channel *channel)
{
    struct channel_timers *timers = channel->timers;
    if (!timers)
        return;
    channel->timers = NULL;
    for (uint32_t i = 0; channel->cell && i < timers->count; i++)
        (void)tr__timer_end(channel->worker, channel->cell, timers->list[i]);
    source_resize(&channel->worker->system->source, timers, 0);
}

/* Forgets the timers that are over. */
static void tidy(struct channel *channel)
{
    struct channel_timers *timers = channel->timers;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < timers->count; i++) {
        if (tr__timer_is_there(channel->worker, channel->cell, timers->list[i]))
            timers->list[kept++] = timers->list[i];
    }
    timers->count = kept;
}

static tr_status add(struct channel *channel, tr_timer timer)
{
    if (!channel->timers) {
        const struct memory_source *source = &channel->worker->system->source;
        channel->timers = source_resize(source, NULL, sizeof *channel->timers);
        if (!channel->timers)
            return TR_NO_MEMORY;
        channel->timers->count = 0;
    }
    tidy(channel);
    if (channel->timers->count == TR_CHANNEL_TIMERS_MAX)
        return TR_LIMIT;
    channel->timers->list[channel->timers->count++] = timer;
    return TR_OK;
}

tr_status tr_timer_ends_with(tr_self *self, tr_timer timer, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = tr__channel_of(self, handle, &channel);
    if (status == TR_NOT_OWNER)
        return status;
    if (!tr__timer_is_there(self->worker, self->cell, timer))
        return TR_NOT_FOUND;
    bool is_over =
        status != TR_OK || channel->state == CHANNEL_LINGERING || channel->state == CHANNEL_ENDED;
    if (is_over)
        (void)tr__timer_end(self->worker, self->cell, timer);
    return is_over ? TR_CLOSED : add(channel, timer);
}
