/* SPDX-License-Identifier: Apache-2.0 */
#include "net/deadline.h"

#include "actor/cell/system.h"
#include "net/channel_end.h"
#include "net/event.h"
#include "net/listener.h"
#include "net/output.h"
#include "net/pieces.h"
#include "net/protocol.h"
#include "net/worker.h"
#include "base/assert.h"

static tr_time stall_of(const struct channel *channel)
{
    /*
     * Output that waits for the end of a handshake has no deadline of its own, because the
     * handshake has one.
     */
    if (!tr__output_is_due(channel) || channel_has(channel, CHANNEL_SHAKES))
        return TR_NEVER;
    return timer_deadline(channel->work->output.since_ns, channel->endpoint->options.stall_ns);
}

/*
 * Whether a turn of this channel is working, and no turn waits for bytes of the channel. Such a
 * time does not count as idle. A channel with a protocol has its own rules.
 */
static bool is_at_work(const struct channel *channel)
{
    return !protocol_of(channel) && waits_are_empty(&channel->readers) &&
           (channel_has(channel, CHANNEL_IN_TURN) || pieces_are_open(channel));
}

static tr_time idle_of(const struct channel *channel)
{
    tr_time idle_ns = channel->endpoint->options.idle_ns;
    if (!idle_ns)
        return TR_NEVER;
    bool is_counted = channel->timer && !is_at_work(channel);
    tr_time since_ns = is_counted ? channel->timer->active_ns : channel->worker->loop.now_ns;
    return timer_deadline(since_ns, idle_ns);
}

static tr_time deadline_of(const struct channel *channel)
{
    tr_time next = channel->deadline_ns;
    if (channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM) {
        tr_time idle = idle_of(channel);
        tr_time stall = stall_of(channel);
        next = idle < next ? idle : next;
        next = stall < next ? stall : next;
    }
    return channel->state == CHANNEL_ENDED ? TR_NEVER : next;
}

void tr__channel_begin_read(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_timer *timer = channel->timer;
    if (!is_at_work(channel))
        return;
    tr_time now_ns = channel->worker->loop.now_ns;
    tr_time worked_ns = now_ns - timer->worked_ns;
    timer->active_ns =
        worked_ns < now_ns - timer->active_ns ? timer->active_ns + worked_ns : now_ns;
}

void tr__channel_end_read(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    channel->timer->worked_ns = channel->worker->loop.now_ns;
}

tr_status tr__deadline_reserve(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->timer)
        return TR_OK;
    struct channel_timer *timer =
        source_resize(&channel->worker->system->source, NULL, sizeof *timer);
    if (!timer)
        return TR_NO_MEMORY;
    *timer = (struct channel_timer){.channel = channel, .active_ns = channel->worker->loop.now_ns};
    channel->timer = timer;
    return TR_OK;
}

void tr__channel_arm(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->deadline_ns == TR_NEVER && !channel->endpoint->options.idle_ns &&
        tr__output_is_empty(channel))
        return; /* return early, because nearly all channels have no deadline */
    tr_time next = deadline_of(channel);
    /*
     * A timer that would fire too early stays in the wheel, and is armed again when it fires. So
     * activity on a channel does not change the wheel.
     */
    if (next == TR_NEVER)
        return;
    if (tr__deadline_reserve(channel) != TR_OK) {
        tr__channel_starve(channel);
        return;
    }
    struct wheel *wheel = &channel->worker->channels.net->wheel;
    struct timer_node *node = &channel->timer->node;
    if (timer_is_armed(node) && node->deadline_ns <= next)
        return;
    tr__wheel_cancel(wheel, node);
    tr__wheel_arm(wheel, node, next);
}

void tr__channel_disarm(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!channel->timer)
        return;
    if (timer_is_armed(&channel->timer->node))
        tr__wheel_cancel(&channel->worker->channels.net->wheel, &channel->timer->node);
    source_resize(&channel->worker->system->source, channel->timer, 0);
    channel->timer = NULL;
}

void tr__channel_expired(struct channel *channel, tr_time now_ns)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr_time next = deadline_of(channel);
    if (next > now_ns) {
        tr__channel_arm(channel);
        if (next == TR_NEVER && channel->kind != CHANNEL_LISTENER)
            tr__channel_disarm(channel);
        return;
    }
    if (channel->kind == CHANNEL_LISTENER) {
        tr__listener_again(channel);
        return;
    }
    bool is_stalled = channel->state == CHANNEL_OPEN && stall_of(channel) <= now_ns;
    if (channel->state == CHANNEL_OPEN && protocol_of(channel) && !is_stalled)
        protocol_of(channel)->on_deadline(channel);
    else
        tr__channel_end(channel, is_stalled ? TR_STALLED : TR_TIMEOUT, NULL);
}
