/* SPDX-License-Identifier: Apache-2.0 */
#include "net/channel_timers.h"

#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/time/timers.h"
#include "net/rare.h"
#include "base/assert.h"

struct channel_timers {
    uint32_t count;
    tr_timer list[TR_CHANNEL_TIMERS_MAX];
};

void tr__channel_timers_end(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_timers *timers = channel->rare->timers;
    if (!timers)
        return;
    channel->rare->timers = NULL;
    for (uint32_t i = 0; channel->cell && i < timers->count; i++)
        (void)tr__timer_end(channel->worker, channel->cell, timers->list[i]);
    source_resize(&channel->worker->system->source, timers, 0);
}

/* Removes timers that have ended from the list of the channel. */
static void tidy(struct channel *channel)
{
    struct channel_timers *timers = channel->rare->timers;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < timers->count; i++) {
        if (tr__timer_is_there(channel->worker, channel->cell, timers->list[i]))
            timers->list[kept++] = timers->list[i];
    }
    timers->count = kept;
}

static tr_status add(struct channel *channel, tr_timer timer)
{
    struct channel_rare *rare = tr__rare_of(channel);
    if (rare && !rare->timers) {
        const struct memory_source *source = &channel->worker->system->source;
        rare->timers = source_resize(source, NULL, sizeof *rare->timers);
        if (rare->timers)
            rare->timers->count = 0;
    }
    if (!rare || !rare->timers)
        return TR_NO_MEMORY;
    tidy(channel);
    if (rare->timers->count == TR_CHANNEL_TIMERS_MAX)
        return TR_LIMIT;
    rare->timers->list[rare->timers->count++] = timer;
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
