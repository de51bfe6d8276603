/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs that write to a channel, and the verbs that end one. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <troupe/net.h>

#include "actor/cell/verb.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "net/channel_end.h"
#include "net/charge.h"
#include "net/held.h"
#include "net/output.h"
#include "net/pieces.h"
#include "net/plain.h"
#include "net/wait.h"
#include "net/write.h"

/* ---- Writing. ---- */

tr_status tr__writable(struct tr_self *self, tr_channel handle, struct channel **found)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_status status = tr__channel_of(self, handle, found);
    if (status != TR_OK)
        return status;
    const struct channel *channel = *found;
    if (channel->kind != CHANNEL_STREAM)
        return TR_INVALID_ARGUMENT;
    if (channel->state == CHANNEL_ENDED)
        return channel->status == TR_OK ? TR_CLOSED : channel->status;
    if (channel->state == CHANNEL_LINGERING || channel_has(channel, CHANNEL_FINISHING))
        return TR_CLOSED;
    return TR_OK;
}

/*
 * Waits until half of the output is sent. During the wait the turn is a barrier, so that no later
 * turn writes before it.
 */
static tr_status wait_for_capacity(struct tr_self *self, struct channel *channel)
{
    bool is_barrier = self->is_barrier;
    if (!is_barrier && turn_may_park(self) == TR_OK && tr__turn_prepare(self))
        tr__barrier_begin(self);
    tr_status status = tr__channel_park(self, channel, &channel->writers, false, NULL);
    if (!is_barrier && self->is_barrier)
        tr__barrier_end(self);
    return status;
}

/*
 * Whether the answer of this turn is held back, and has as many bytes already as the output of the
 * channel may have.
 */
static bool holds_much(const struct tr_self *self, const struct channel *channel)
{
    const struct net_buffer *held = piece_held(self, channel);
    return held && net_buffer_size(held) >= channel->endpoint->options.output_max;
}

static bool holds_some(const struct tr_self *self, const struct channel *channel)
{
    const struct net_buffer *held = piece_held(self, channel);
    return held && net_buffer_size(held);
}

/* Whether a write must wait, because the output is full or a file is being written. */
static bool is_full(struct channel *channel)
{
    size_t max = channel->endpoint->options.output_max;
    if (channel_has(channel, CHANNEL_FILE))
        return true;
    if (channel->work->output.size >= max && channel->state == CHANNEL_OPEN)
        tr__output_flush(channel);
    return channel->work->output.size >= max;
}

/*
 * Whether it is certain that a write need not wait. If this is false, tr__write_capacity sends
 * output first, and then checks again.
 */
static bool has_capacity(const struct tr_self *self, const struct channel *channel)
{
    return !channel_has(channel, CHANNEL_FILE) && !holds_much(self, channel) &&
           channel->work->output.size < channel->endpoint->options.output_max;
}

tr_status tr__write_capacity(struct tr_self *self, tr_channel handle, size_t size,
                             struct channel **found)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    tr_status status = tr__writable(self, handle, found);
    while (status == TR_OK && holds_much(self, *found)) {
        if (turn_may_park(self) == TR_NOT_IN_A_TURN)
            return TR_LIMIT;
        status = wait_for_capacity(self, *found);
        if (status == TR_OK)
            status = tr__writable(self, handle, found);
    }
    while (status == TR_OK && is_full(*found)) {
        struct channel *channel = *found;
        size_t max = channel->endpoint->options.output_max;
        if (turn_may_park(self) == TR_NOT_IN_A_TURN)
            return channel_has(channel, CHANNEL_FILE) ||
                           channel->work->output.size + size > TR_OUTPUT_EXTRA * max
                       ? TR_LIMIT
                       : TR_OK;
        status = wait_for_capacity(self, channel);
        if (status == TR_OK)
            status = tr__writable(self, handle, found);
    }
    return status;
}

size_t tr__write_head(const struct channel *channel, size_t size, unsigned char *head)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    const tr_framing *framing = channel->endpoint->options.framing;
    if (!framing || !framing->head)
        return 0;
    size_t length = framing->head(framing, size, head);
    TR_ASSERT(length <= TR_FRAME_HEAD_MAX || length == SIZE_MAX);
    return length;
}

/* Appends a piece with its head to a buffer. Appends either all of it or nothing. */
static tr_status hold(struct net_buffer *held, const unsigned char *head, size_t length,
                      tr_bytes bytes)
{
    unsigned char *to = net_buffer_reserve(held, length + bytes.size + 1);
    if (!to)
        return TR_NO_MEMORY;
    memcpy(to, head, length);
    if (bytes.size)
        memcpy(to + length, bytes.data, bytes.size);
    net_buffer_commit(held, length + bytes.size);
    return TR_OK;
}

/* Writes a piece with its head to a channel. Writes either all of it or nothing. */
static tr_status put_with(struct tr_self *self, struct channel *channel, const unsigned char *head,
                          size_t length, tr_bytes bytes)
{
    struct net_buffer *held = piece_held(self, channel);
    if (length == SIZE_MAX)
        return TR_TOO_LARGE;
    tr_status status = held ? hold(held, head, length, bytes) : held_prepare(channel);
    if (held) {
        channel_charge(channel);
        return status;
    }
    if (status != TR_OK)
        return status;
    if (!length)
        return tr__output_append(channel, bytes.data, bytes.size);
    unsigned char *to = tr__output_reserve(channel, length + bytes.size);
    if (!to)
        return TR_NO_MEMORY;
    memcpy(to, head, length);
    if (bytes.size)
        memcpy(to + length, bytes.data, bytes.size);
    tr__output_commit(channel, length + bytes.size);
    return TR_OK;
}

static tr_status put(struct tr_self *self, struct channel *channel, tr_bytes bytes)
{
    unsigned char head[TR_FRAME_HEAD_MAX];
    size_t length = tr__write_head(channel, bytes.size, head);
    return put_with(self, channel, head, length, bytes);
}

/*
 * Ends a write. Programs may ignore the status of a write. If a piece could not be written, the
 * channel ends with the reason, so that no later piece follows a gap. A piece that was written may
 * have been sent at once. The channel may have ended because that failed.
 */
static tr_status written(struct tr_self *self, tr_channel handle, tr_status status)
{
    struct channel *channel;
    tr_status now = tr__writable(self, handle, &channel);
    if (status == TR_OK)
        return now;
    if (status != TR_INVALID_ARGUMENT && now == TR_OK)
        tr__channel_end(channel, status, NULL);
    return status;
}

tr_status tr_write(tr_self *self, tr_channel handle, tr_bytes bytes)
{
    TURN_VERB(self);
    if (__builtin_expect(tr__plain_write(self, handle, bytes), 1))
        return TR_OK;
    struct channel *channel;
    tr_status status = tr__write_capacity(self, handle, bytes.size, &channel);
    if (status == TR_OK)
        status = put(self, channel, bytes);
    return written(self, handle, status);
}

tr_status tr__write_with(struct tr_self *self, struct channel *channel, tr_bytes head,
                         tr_bytes bytes)
{
    TR_ASSERT_SLOW(turn_is_mine(self) && channel_is_mine(channel));
    tr_channel handle = {channel_bits(channel)};
    tr_status status = TR_OK;
    if (!has_capacity(self, channel))
        status = tr__write_capacity(self, handle, head.size + bytes.size, &channel);
    if (status == TR_OK)
        status = put_with(self, channel, head.data, head.size, bytes);
    return written(self, handle, status);
}

tr_status tr_write_text(tr_self *self, tr_channel handle, const char *text)
{
    TURN_VERB(self);
    return tr_write(self, handle, (tr_bytes){text, strlen(text)});
}

tr_status tr__text_format(tr_self *self, char few[TEXT_FEW], const char *format, va_list arguments,
                          tr_bytes *text)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(few, TEXT_FEW, format, arguments);
    *text = (tr_bytes){few, length < 0 ? 0 : (size_t)length};
    if (length >= TEXT_FEW) {
        char *all = tr_scratch(self, (size_t)length + 1);
        (void)vsnprintf(all, (size_t)length + 1, format, again);
        text->data = all;
    }
    va_end(again);
    return length < 0 ? TR_INVALID_ARGUMENT : TR_OK;
}

tr_status tr_print(tr_self *self, tr_channel handle, const char *format, ...)
{
    TURN_VERB(self);
    char few[TEXT_FEW];
    tr_bytes text;
    va_list arguments;
    va_start(arguments, format);
    tr_status status = tr__text_format(self, few, format, arguments, &text);
    va_end(arguments);
    return status == TR_OK ? tr_write(self, handle, text) : status;
}

tr_status tr_write_buffer(tr_self *self, tr_channel handle, tr_buffer *buffer)
{
    TURN_VERB(self);
    struct channel *channel;
    if (!buffer)
        return TR_INVALID_ARGUMENT;
    tr_status status = tr__write_capacity(self, handle, tr_buffer_size(buffer), &channel);
    if (status == TR_OK && piece_held(self, channel))
        return tr_write(self, handle, (tr_bytes){tr_buffer_data(buffer), tr_buffer_size(buffer)});
    unsigned char head[TR_FRAME_HEAD_MAX];
    size_t length = status == TR_OK ? tr__write_head(channel, tr_buffer_size(buffer), head) : 0;
    if (length == SIZE_MAX)
        status = TR_TOO_LARGE;
    if (status == TR_OK)
        status = held_prepare(channel);
    if (status == TR_OK)
        status = tr__output_append(channel, head, length);
    if (status == TR_OK)
        status = tr__output_append_buffer(channel, buffer, false);
    return written(self, handle, status);
}

tr_status tr_try_write(tr_self *self, tr_channel handle, tr_bytes bytes)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = tr__writable(self, handle, &channel);
    if (status != TR_OK)
        return status;
    bool has_to_wait = holds_much(self, channel) || is_full(channel);
    status = tr__writable(self, handle, &channel);
    if (status != TR_OK)
        return status;
    if (has_to_wait) {
        channel->flags |= CHANNEL_DRAINS;
        return TR_LIMIT;
    }
    status = put(self, channel, bytes);
    return status == TR_OK ? tr__writable(self, handle, &channel) : status;
}

/* Whether a write has failed only because the channel has ended or is being closed. */
static bool is_over(const struct tr_self *self, tr_channel handle, tr_status status)
{
    struct channel *channel;
    if (status == TR_OK || status == TR_CLOSED)
        return status == TR_CLOSED;
    return tr__channel_of(self, handle, &channel) == TR_OK && channel->state == CHANNEL_ENDED;
}

void *tr_reserve(tr_self *self, tr_channel handle, size_t size)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = tr__write_capacity(self, handle, size, &channel);
    if (is_over(self, handle, status))
        return tr_scratch(self, size); /* what is written to this memory is dropped */
    if (status == TR_OK &&
        (channel->endpoint->options.answers_in_order ||
         (channel->endpoint->options.framing && channel->endpoint->options.framing->head)))
        status = TR_NOT_SUPPORTED;
    void *memory = status == TR_OK ? tr__output_reserve(channel, size) : NULL;
    if (!memory)
        tr_crash(self, status == TR_OK ? TR_NO_MEMORY : status, "tr_reserve: %zu bytes", size);
    return memory;
}

void tr_commit(tr_self *self, tr_channel handle, size_t size)
{
    TURN_VERB(self);
    struct channel *channel;
    if (!size || tr__writable(self, handle, &channel) != TR_OK)
        return;
    const struct out_page *last = channel->work->output.last;
    if (!last || last->buffer || last->capacity - last->end < size)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_commit: %zu bytes were not reserved", size);
    tr_status status = held_prepare(channel);
    if (status != TR_OK)
        tr_crash(self, status, "tr_commit: %zu bytes", size);
    tr__output_commit(channel, size);
}

tr_status tr_flush(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = tr__writable(self, handle, &channel);
    if (status == TR_OK && channel->state == CHANNEL_OPEN)
        tr__output_flush(channel);
    while (status == TR_OK) {
        status = tr__writable(self, handle, &channel);
        if (status != TR_OK || (tr__output_is_empty(channel) && !holds_some(self, channel)))
            return status;
        status = tr__channel_park(self, channel, &channel->writers, false, NULL);
    }
    return status;
}

/* ---- The end. ---- */

/*
 * Finds a channel of this turn for a verb that ends channels. Returns false if the channel has
 * ended already.
 */
static bool ending(struct tr_self *self, tr_channel handle, const char *verb,
                   struct channel **channel)
{
    tr_status status = tr__channel_of(self, handle, channel);
    if (status != TR_OK && status != TR_CLOSED)
        tr_crash(self, status, "%s: %s", verb, tr_status_text(status));
    return status == TR_OK && (*channel)->state != CHANNEL_ENDED;
}

/*
 * Ends a channel as `what` says: now, or, in a turn of a durable actor, when the changes of the
 * turn are stored.
 */
static void end_or_hold(struct tr_self *self, struct channel *channel, enum held_what what,
                        const char *verb)
{
    if (!tr__held_applies(channel)) {
        tr__held_end(channel, what);
        return;
    }
    if (channel_has(channel, CHANNEL_CLOSE_HELD) && what != HELD_RESET)
        return;
    if (tr__held_end_later(channel, what) != TR_OK)
        tr_crash(self, TR_NO_MEMORY, "%s: %s", verb, tr_status_text(TR_NO_MEMORY));
}

void tr_finish(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    if (!ending(self, handle, "tr_finish", &channel) || channel->kind != CHANNEL_STREAM ||
        channel_has(channel, CHANNEL_FINISHING) ||
        tr__piece_delays_end(self, channel, PIECE_FINISHES))
        return;
    end_or_hold(self, channel, HELD_FINISH, "tr_finish");
}

void tr_close(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    if (!ending(self, handle, "tr_close", &channel) ||
        tr__piece_delays_end(self, channel, PIECE_CLOSES))
        return;
    tr__pieces_close(self, channel);
    end_or_hold(self, channel, HELD_CLOSE, "tr_close");
}

void tr_reset(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    if (ending(self, handle, "tr_reset", &channel))
        end_or_hold(self, channel, HELD_RESET, "tr_reset");
}

size_t tr_output_size(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    return tr__channel_of(self, handle, &channel) == TR_OK ? channel->work->output.size : 0;
}
