/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The deadline of a channel: it dials, lingers, is idle or cannot send for too long. The timer is memory of its own,
 * which most channels never need: without .idle_ns only those that cannot send at once do. Owner only.
 */
#ifndef NET_DEADLINE_H
#define NET_DEADLINE_H

#include "net/channel.h"
#include "timer/wheel.h"

struct channel_timer {
    struct timer_node node; /* in net_worker.wheel */
    struct channel *channel;
    tr_time active_ns; /* when bytes were last received or sent */
};

/** Makes sure that tr__channel_arm needs no memory. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__deadline_reserve(struct channel *channel);
/** Arms the timer of a channel for its next deadline. Without memory, the loop tries again soon. */
void tr__channel_arm(struct channel *channel);
/** Takes the timer from a channel. */
void tr__channel_disarm(struct channel *channel);
/** Handles the timer of a channel, which has fired. The channel may be freed. */
void tr__channel_expired(struct channel *channel, tr_time now_ns);

/** Notes that bytes were received or sent. */
static inline void channel_note_active(struct channel *channel)
{
    if (channel->timer)
        channel->timer->active_ns = channel->worker->loop.now_ns;
}

#endif
