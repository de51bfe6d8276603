/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The deadline of a channel: for dialing, for lingering, for being idle, or for output that cannot
 * be sent. The timer is in a memory block of its own, because most channels never need one. Without
 * .idle_ns, an open channel needs this block only if its output cannot be sent at once. Owner only.
 */
#ifndef NET_DEADLINE_H
#define NET_DEADLINE_H

#include "net/channel.h"
#include "timer/wheel.h"

struct channel_timer {
    struct timer_node node; /* in net_worker.wheel */
    struct channel *channel;
    /*
     * When bytes were last received or sent, or when a turn of the channel ended. The time for
     * which a turn has worked since then is added, because it does not count as idle.
     */
    tr_time active_ns;
    /*
     * when a turn has last ended a read from the channel; the turn works since then, until it reads
     * again
     */
    tr_time worked_ns;
};

/**
 * Makes the timer record of a channel, so that a later tr__channel_arm needs no memory. Fails with
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__deadline_reserve(struct channel *channel);
/**
 * Arms the timer of a channel for its next deadline. If there is no memory, the loop tries again
 * soon.
 */
void tr__channel_arm(struct channel *channel);
/** Frees the timer of a channel. */
void tr__channel_disarm(struct channel *channel);
/** Handles the timer of a channel, which has fired. The channel may be freed. */
void tr__channel_expired(struct channel *channel, tr_time now_ns);

/**
 * Note that a turn begins to wait for bytes (begin), and that the turn has got bytes or has given
 * up (end). The time between counts as idle. The time for which a turn works does not. Only for a
 * channel that has a timer.
 */
void tr__channel_begin_read(struct channel *channel);
void tr__channel_end_read(struct channel *channel);

/** Notes that bytes were received or sent, or that a turn of the channel has ended. */
static inline void channel_note_active(struct channel *channel)
{
    if (channel->timer)
        channel->timer->active_ns = channel->worker->loop.now_ns;
}

#endif
