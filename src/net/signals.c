/* SPDX-License-Identifier: Apache-2.0 */
#include "net/signals.h"

#include <troupe/process.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/signal.h"
#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "mem/envelope.h"
#include "base/assert.h"

const tr_type *const tr__signal_type = &tr_type_tr_signal;

bool tr__signal_put(struct channel *channel, struct envelope *envelope)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    static_assert(sizeof(struct tr_signal) <= ENVELOPE_INLINE,
                  "events have no memory of their own");
    const tr_platform *platform = channel->worker->loop.platform;
    int signal;
    if (channel->state != CHANNEL_OPEN || !channel_has(channel, CHANNEL_READABLE))
        return false;
    if (platform->signals_read(platform, channel->fd, &signal) != TR_OK) {
        channel->flags &= ~(uint32_t)CHANNEL_READABLE;
        return false;
    }
    struct tr_signal message = {.channel = {channel_bits(channel)}, .signal = signal};
    envelope->type = &tr_type_tr_signal;
    envelope_copy(envelope, &message, sizeof message);
    return true;
}

static tr_status may_take(const struct tr_self *self, size_t count)
{
    if (!count || count > TR_SIGNALS_MAX)
        return TR_INVALID_ARGUMENT;
    if (cell_durable(self->cell))
        /*
         * refuse a durable actor: a signal, and the changes that the actor makes because of it,
         * could not be stored together
         */
        return TR_NOT_SUPPORTED;
    if (self->cell->life >= LIFE_STOPPING)
        return TR_STOPPING;
    bool is_handled =
        self->cell->dispatch &&
        dispatch_find(&self->worker->dispatches, self->cell->dispatch, &tr_type_tr_signal);
    return is_handled ? TR_OK : TR_INVALID_ARGUMENT;
}

static tr_status channel_make(struct tr_self *self, struct channel **made)
{
    static const tr_endpoint options = {
        .size = sizeof options, .kind = TR_ENDPOINT_UNIX, .address = "signals"};
    const struct memory_source *source = &self->worker->system->source;
    struct endpoint *endpoint;
    tr_status status = tr__endpoint_new(source, &options, ENDPOINT_CONNECTS, &endpoint);
    if (status != TR_OK)
        return status;
    status = tr__channel_new(self->worker, self->cell, CHANNEL_SIGNALS, endpoint, made);
    tr__endpoint_drop(source, endpoint);
    if (status == TR_OK)
        tr__channel_change(*made, CHANNEL_OPEN);
    return status;
}

tr_status tr_self_try_signals(tr_self *self, const int *signals, size_t count, tr_channel *channel)
{
    TURN_VERB(self);
    const tr_platform *platform = self->worker->loop.platform;
    struct channel *made;
    int fd;
    if (!signals || !channel)
        return TR_INVALID_ARGUMENT;
    tr_status status = may_take(self, count);
    if (status == TR_OK)
        status = channel_make(self, &made);
    if (status != TR_OK)
        return status;
    status = platform->signals_open(platform, signals, count, &fd);
    if (status == TR_OK) {
        status = tr__channel_watch(made, fd);
        if (status == TR_OK) {
            *channel = (tr_channel){channel_bits(made)};
            return TR_OK;
        }
        platform->signals_close(platform, fd);
    }
    tr__channel_free(made);
    return status;
}

tr_channel tr_self_signals(tr_self *self, const int *signals, size_t count)
{
    TURN_VERB(self);
    tr_channel channel = TR_NO_CHANNEL;
    tr_status status = tr_self_try_signals(self, signals, count, &channel);
    if (status != TR_OK)
        tr_crash(self, status, "tr_signals: %s", tr_status_text(status));
    return channel;
}
