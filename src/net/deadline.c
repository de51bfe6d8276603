/* SPDX-License-Identifier: Apache-2.0 */
#include "net/deadline.h"

#include "net/listener.h"
#include "net/output.h"
#include "net/worker.h"

static tr_time deadline_of(const struct channel *channel)
{
    const tr_endpoint *options = &channel->endpoint->options;
    tr_time next = channel->deadline_ns;
    if (channel->state == CHANNEL_OPEN && channel->kind == CHANNEL_STREAM) {
        tr_time idle =
            options->idle_ns ? timer_deadline(channel->active_ns, options->idle_ns) : TR_NEVER;
        tr_time stall = tr__output_is_due(channel)
                            ? timer_deadline(channel->output.since_ns, options->stall_ns)
                            : TR_NEVER;
        next = idle < next ? idle : next;
        next = stall < next ? stall : next;
    }
    return channel->state == CHANNEL_ENDED ? TR_NEVER : next;
}

void tr__channel_arm(struct channel *channel)
{
    struct wheel *wheel = &channel->worker->channels.net->wheel;
    tr_time next = deadline_of(channel);
    /* A node that fires too early is armed again: an active channel costs no change of the wheel. */
    if (next == TR_NEVER || (timer_is_armed(&channel->timer) && channel->timer.deadline_ns <= next))
        return;
    tr__wheel_cancel(wheel, &channel->timer);
    tr__wheel_arm(wheel, &channel->timer, next);
}

void tr__channel_expired(struct channel *channel, tr_time now_ns)
{
    const tr_endpoint *options = &channel->endpoint->options;
    if (deadline_of(channel) > now_ns) {
        tr__channel_arm(channel);
        return;
    }
    if (channel->kind == CHANNEL_LISTENER) {
        tr__listener_again(channel);
        return;
    }
    bool is_stalled = tr__output_is_due(channel) &&
                      timer_deadline(channel->output.since_ns, options->stall_ns) <= now_ns;
    if (channel->state == CHANNEL_LINGERING)
        tr__channel_end(channel, TR_TIMEOUT, NULL);
    else if (channel->state == CHANNEL_OPEN && is_stalled)
        tr__channel_end(channel, TR_STALLED, NULL);
    else
        tr__channel_end(channel, TR_TIMEOUT, NULL);
}
