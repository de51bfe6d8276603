/* SPDX-License-Identifier: Apache-2.0 */
#include "net/held.h"

#include <string.h>

#include "actor/mail/outbox.h"
#include "base/assert.h"
#include "net/channel_end.h"
#include "net/output.h"
#include "net/table.h"
#include "net/wait.h"

struct channel_effect {
    uint64_t channel; /* bits of the channel */
    enum held_what what;
    /* HELD_BYTES: how many bytes of the output are held; HELD_DATAGRAM: size of `bytes` */
    size_t size;
    tr_address to; /* HELD_DATAGRAM: the address to which the datagram is sent */
    unsigned char bytes[];
};

bool tr__held_applies(const struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const struct worker *worker = channel->worker;
    return worker->outbox_turn && worker->outbox_turn->cell == channel->cell &&
           outbox_holds(worker);
}

/* ---- Holding. ---- */

static tr_status hold(struct channel *channel, enum held_what what, const tr_address *to,
                      tr_bytes bytes)
{
    struct worker *worker = channel->worker;
    struct channel_effect *effect =
        source_resize(&worker->source, NULL, sizeof *effect + bytes.size);
    if (!effect)
        return TR_NO_MEMORY;
    *effect =
        (struct channel_effect){.channel = channel_bits(channel), .what = what, .size = bytes.size};
    if (to)
        effect->to = *to;
    if (bytes.size)
        memcpy(effect->bytes, bytes.data, bytes.size);
    tr_status status = tr__outbox_hold(worker, effect);
    if (status != TR_OK)
        source_resize(&worker->source, effect, 0);
    return status;
}

/*
 * If the last effect in the outbox is about bytes of this channel, returns that effect, so that
 * more bytes are counted in it. Otherwise returns NULL.
 */
static struct channel_effect *bytes_before(const struct channel *channel)
{
    struct channel_effect *last = tr__outbox_last_effect(channel->worker);
    bool is_it = last && last->what == HELD_BYTES && last->channel == channel_bits(channel);
    return is_it ? last : NULL;
}

tr_status tr__held_prepare(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!tr__held_applies(channel) || bytes_before(channel))
        return TR_OK;
    return hold(channel, HELD_BYTES, NULL, (tr_bytes){NULL, 0});
}

void tr__held_count(struct channel *channel, size_t size)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct channel_output *output = &channel->work->output;
    if (tr__held_applies(channel)) {
        struct channel_effect *effect = bytes_before(channel);
        TR_ASSERT(effect);
        effect->size += size;
        output->held += size;
    } else if (output->held)
        output->behind += size;
}

tr_status tr__held_end_later(struct channel *channel, enum held_what what)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr_status status = hold(channel, what, NULL, (tr_bytes){NULL, 0});
    if (status != TR_OK)
        return status;
    channel->flags |= CHANNEL_FINISHING | CHANNEL_END_HELD;
    if (what != HELD_FINISH)
        channel->flags |= CHANNEL_CLOSE_HELD;
    return TR_OK;
}

tr_status tr__held_send(struct channel *channel, const tr_address *to, tr_bytes bytes)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    return hold(channel, HELD_DATAGRAM, to, bytes);
}

/* ---- Releasing. ---- */

void tr__held_end(struct channel *channel, enum held_what what)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (what == HELD_FINISH)
        tr__channel_finish(channel);
    else if (what == HELD_CLOSE)
        tr__channel_close(channel);
    else
        tr__channel_reset(channel);
}

static void bytes_release(struct channel *channel, size_t size)
{
    struct channel_output *output = &channel->work->output;
    if (!output->held)
        return; /* nothing is held any more, because the channel has ended */
    TR_ASSERT(size <= output->held);
    if (!tr__output_is_due(channel))
        output->since_ns = channel->worker->loop.now_ns;
    output->held -= size;
    if (!output->held)
        output->behind = 0;
    tr__output_touch(channel);
    tr__waits_wake(&channel->writers); /* a turn may wait until nothing is held */
}

static void end_release(struct channel *channel, enum held_what what)
{
    if (what == HELD_FINISH && channel_has(channel, CHANNEL_CLOSE_HELD))
        /* do nothing for tr_finish, because a tr_close or tr_reset follows it in the outbox */
        return;
    channel->flags &= ~(uint32_t)(CHANNEL_END_HELD | CHANNEL_CLOSE_HELD);
    if (what == HELD_FINISH)
        channel->flags &= ~(uint32_t)CHANNEL_FINISHING; /* tr__channel_finish sets it again */
    if (channel->state == CHANNEL_ENDED)
        return;
    tr__output_touch(channel);
    tr__held_end(channel, what);
}

/*
 * Sends a held datagram, as tr_send_to does. If the socket takes no datagram now, this one is lost.
 */
static void datagram_release(struct channel *channel, struct channel_effect *effect)
{
    const tr_platform *platform = channel->worker->loop.platform;
    size_t sent = 0;
    tr_packet packet = {.data = effect->bytes, .size = effect->size, .address = effect->to};
    if (channel->fd >= 0)
        (void)platform->socket_send_many(platform, channel->fd, &packet, 1, &sent);
}

void tr__held_release(struct worker *worker, struct channel_effect *effect)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    struct channel *channel = tr__table_find(worker->system, effect->channel);
    if (channel) {
        TR_ASSERT(channel->worker == worker); /* durable actors do not move */
        if (effect->what == HELD_BYTES)
            bytes_release(channel, effect->size);
        else if (effect->what == HELD_DATAGRAM)
            datagram_release(channel, effect);
        else
            end_release(channel, effect->what);
    }
    source_resize(&worker->source, effect, 0);
}

void tr__held_drop(struct worker *worker, struct channel_effect *effect)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    /* the bytes in the output stay held, and tr__channel_orphan will reset the channel */
    source_resize(&worker->source, effect, 0);
}
