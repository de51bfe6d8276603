/* SPDX-License-Identifier: Apache-2.0 */
#include "net/channel_end.h"

#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "net/channel.h"
#include "net/channel_timers.h"
#include "net/charge.h"
#include "net/deadline.h"
#include "net/event.h"
#include "net/exchange.h"
#include "net/filters.h"
#include "net/input.h"
#include "net/listener.h"
#include "net/output.h"
#include "net/pieces.h"
#include "net/process.h"
#include "net/protocol.h"
#include "net/protocol_turn.h"
#include "net/rare.h"
#include "net/shutdown.h"
#include "net/wait.h"
#include "net/worker.h"
#include "base/assert.h"

void tr__channel_set_text(struct channel *channel, const char *text)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (!text || !text[0] || channel->rare->text)
        return;
    size_t size = strlen(text) + 1;
    struct channel_rare *rare = tr__rare_of(channel);
    char *copy = rare ? source_resize(&channel->worker->system->source, NULL, size) : NULL;
    if (copy) /* if memory is missing, tr_closed has no text */
        rare->text = memcpy(copy, text, size);
}

void tr__channel_end(struct channel *channel, tr_status status, const char *text)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->state == CHANNEL_ENDED)
        return;
    /* A connection that has ended with TR_RESET cannot be reset again. */
    bool resets = status != TR_OK && status != TR_CLOSED && status != TR_RESET;
    channel->status = status;
    tr__channel_set_text(channel, text || !resets ? text : tr__filters_text(channel));
    if (channel->rare->filter.table && resets)
        tr__output_send_last(channel); /* an alert */
    tr__channel_close_socket(channel, resets);
    tr__channel_change(channel, CHANNEL_ENDED);
    channel->flags &= ~(uint32_t)(CHANNEL_READABLE | CHANNEL_WRITABLE | CHANNEL_DRAINS);
    channel->flags |= CHANNEL_INPUT_OVER;
    tr__output_free(channel);
    tr__pieces_drop(channel);
    tr__channel_disarm(channel);
    if (!channel->cell) {
        tr__channel_free(channel);
        return;
    }
    channel_charge(channel);
    tr__session_uncount(channel);
    tr__channel_timers_end(channel);
    if (!channel_has(channel, CHANNEL_WAITS_OPEN))
        channel->flags |= CHANNEL_CLOSES;
    if (channel->rare->process)
        tr__process_channel_ended(channel, status);
    tr__exchanges_fail(channel, status == TR_OK ? TR_CANCELLED : status);
    tr__waits_wake(&channel->readers);
    tr__waits_wake(&channel->writers);
    if (channel->rare->streams)
        protocol_of(channel)->on_ended(channel);
    tr__channel_call(channel);
}

void tr__channel_linger(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr__output_flush(channel);
    if (channel->state != CHANNEL_LINGERING)
        return;
    if (channel->work->input.borrower)
        /* a turn still uses bytes of the channel; the end of that turn calls this function again */
        return;
    for (int reads = 0;
         channel_has(channel, CHANNEL_READABLE) && !channel_has(channel, CHANNEL_INPUT_OVER);
         reads++) {
        if (reads == TR_LINGER_READS_MAX) {
            tr__channel_again(channel);
            return;
        }
        size_t before = net_buffer_size(&channel->work->input.buffer);
        tr_status status = tr__input_peek(channel);
        size_t got = net_buffer_size(&channel->work->input.buffer) - before;
        tr__input_drop(channel);
        if (status == TR_WOULD_BLOCK)
            break;
        if (status != TR_OK && status != TR_CLOSED) {
            tr__channel_end(channel, status, NULL);
            return;
        }
        channel->drop_left -= got < channel->drop_left ? (uint32_t)got : channel->drop_left;
        if (!channel->drop_left) {
            tr__channel_close_socket(channel, true);
            tr__channel_end(channel, TR_RESET, NULL);
            return;
        }
    }
    if (tr__output_is_empty(channel) && channel_has(channel, CHANNEL_INPUT_OVER) &&
        !channel_has(channel, CHANNEL_FILE))
        tr__channel_end(channel, channel->status, NULL);
}

/*
 * Lets a channel linger: it sends the rest of its output, then ends with this status. This may free
 * the channel.
 */
static void linger_begin(struct channel *channel, tr_status status)
{
    channel->status = status;
    channel->flags |= CHANNEL_FINISHING;
    channel->flags &= ~(uint32_t)CHANNEL_DRAINS;
    channel->deadline_ns =
        timer_deadline(channel->worker->loop.now_ns, channel->endpoint->options.linger_ns);
    tr__shutdown_limit(channel);
    tr__input_drop(channel); /* a lingering channel keeps no input */
    tr__channel_uncharge(channel);
    tr__channel_change(channel, CHANNEL_LINGERING);
    channel->drop_left = TR_LINGER_BYTES_MAX;
    tr__channel_timers_end(channel);
    tr__waits_wake(&channel->readers);
    tr__waits_wake(&channel->writers);
    if (channel->cell)
        /* send the output when the run of the actor ends, unless the run fails */
        tr__output_touch(channel);
    else
        tr__channel_linger(channel);
}

void tr__channel_hang_up(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->state != CHANNEL_OPEN)
        return;
    tr__exchanges_fail(channel, TR_CLOSED);
    if (tr__output_is_empty(channel) && !channel->rare->filter.table)
        tr__channel_end(channel, TR_CLOSED, NULL);
    else
        linger_begin(channel, TR_CLOSED);
}

void tr__channel_finish(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel_has(channel, CHANNEL_FINISHING))
        return;
    channel->flags |= CHANNEL_FINISHING;
    tr__output_touch(channel);
}

/*
 * Lets the protocol write a last piece. During this call nothing is sent, because a send that fails
 * would end the channel: a channel without an actor would be freed, together with the data that the
 * protocol is using.
 */
static void protocol_closes(struct channel *channel, bool has_failed)
{
    uint32_t writable = channel->flags & CHANNEL_WRITABLE;
    if (!protocol_of(channel) || channel->state != CHANNEL_OPEN ||
        channel_has(channel, CHANNEL_FINISHING))
        return;
    channel->flags &= ~(uint32_t)CHANNEL_WRITABLE;
    protocol_of(channel)->on_close(channel, has_failed);
    channel->flags |= writable;
}

void tr__channel_close(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    if (channel->state == CHANNEL_LINGERING || channel->state == CHANNEL_ENDED)
        return;
    bool is_stream = channel->kind == CHANNEL_STREAM && channel->state == CHANNEL_OPEN;
    tr__exchanges_fail(channel, TR_CANCELLED);
    if (channel->state == CHANNEL_DIALING && channel->work->output.size) {
        /* when the channel is open, tr__channel_opened closes it */
        channel->flags |= CHANNEL_FINISHING | CHANNEL_CLOSES_OPENED;
        return;
    }
    if (!is_stream) {
        tr__channel_end(channel, TR_OK, NULL);
        return;
    }
    protocol_closes(channel, false);
    linger_begin(channel, TR_OK);
}

void tr__channel_reset(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    tr__process_kill(channel);
    tr__channel_close_socket(channel, true);
    tr__channel_end(channel, TR_OK, NULL);
}

/*
 * Logs that output of a channel is lost, because its actor has ended before the channel was open.
 */
static void say_unsent(const struct channel *channel)
{
    struct tr_system *system = channel->worker->system;
    char path[TR_PATH_MAX + 1];
    tr__cell_path(system, channel->cell, path);
    tr__log(system,
            TR_LEVEL_WARN,
            path,
            "%zu bytes for %s were not sent: the actor has ended before the channel was open",
            channel->work->output.size,
            channel->endpoint->options.address);
}

void tr__channel_orphan(struct channel *channel, bool resets)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct net_worker *net = channel->worker->channels.net;
    bool is_opening = channel->state == CHANNEL_DIALING && channel->kind == CHANNEL_STREAM;
    bool has_unsent =
        is_opening && !resets && channel->work->output.size > channel->work->output.held;
    if (has_unsent && channel->fd < 0)
        say_unsent(channel);
    tr__channel_forget_event(channel);
    /*
     * The turns that waited for the channel have ended. The records of their waits were on their
     * stacks, so forget these records.
     */
    channel->readers.first = channel->writers.first = NULL;
    tr__input_abandon(channel);
    tr__exchanges_free(channel);
    if (!resets)
        tr__pieces_release(channel);
    tr__pieces_free(channel);
    tr__protocol_turns_forget(channel);
    tr__channel_disown(channel);
    channel->flags &= ~(uint32_t)(CHANNEL_IN_TURN | CHANNEL_CLOSES | CHANNEL_OPENS);
    list_push_last(&net->lingering, &channel->link);
    /*
     * Output that is still held is never sent. So reset the connection: after a normal end the
     * other side would believe that it has got all of the output.
     */
    resets |= channel->work->output.held || channel_has(channel, CHANNEL_END_HELD);
    if (resets)
        protocol_closes(channel, true);
    bool cuts = resets && !channel_has(channel, CHANNEL_ANSWERED);
    bool is_whole = channel->kind == CHANNEL_STREAM &&
                    (channel->state == CHANNEL_OPEN || channel->state == CHANNEL_LINGERING);
    if (channel->kind == CHANNEL_LISTENER && channel->state != CHANNEL_ENDED)
        tr__channel_end(channel, TR_OK, NULL);
    else if (has_unsent && !resets && channel->fd >= 0)
        /* the channel was accepted, and its handshake is still running: close it when it is open */
        tr__channel_close(channel);
    else if (cuts || !is_whole || channel->rare->process || channel_has(channel, CHANNEL_FILE)) {
        bool is_all_sent = channel_has(channel, CHANNEL_FINISHED) && tr__output_is_empty(channel);
        if (cuts && !is_all_sent)
            /* this also resets a channel that was closed before and still lingers */
            tr__channel_close_socket(channel, true);
        tr__channel_free(channel);
    } else if (channel->state == CHANNEL_OPEN)
        tr__channel_close(channel);
    else
        /* the channel lingers, and the run that has failed has not sent its output, so send it */
        tr__output_touch(channel);
}
