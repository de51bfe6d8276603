/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs that write, and those that end a channel. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <troupe/net.h>

#include "actor/cell/verb.h"
#include "actor/turn/park.h"
#include "base/assert.h"
#include "net/output.h"
#include "net/pieces.h"
#include "net/wait.h"

/* ---- Writing. ---- */

/* Finds a channel to which this turn may write. */
static tr_status writable(struct tr_self *self, tr_channel handle, struct channel **found)
{
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

/* Waits as a barrier until half of the output is sent. */
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

/* Whether as much as may wait to be sent is held back behind the answers of earlier pieces. */
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

/*
 * Makes sure that there is capacity for `size` bytes more. Waits if it may. TR_LIMIT: it may not, and there is none. The
 * channel may be gone afterwards: finds it again.
 */
static tr_status make_capacity(struct tr_self *self, tr_channel handle, size_t size,
                               struct channel **found)
{
    tr_status status = writable(self, handle, found);
    while (status == TR_OK && holds_much(self, *found)) {
        if (turn_may_park(self) == TR_NOT_IN_A_TURN)
            return TR_LIMIT;
        status = wait_for_capacity(self, *found);
        if (status == TR_OK)
            status = writable(self, handle, found);
    }
    while (status == TR_OK && (*found)->output.size >= (*found)->endpoint->options.output_max) {
        struct channel *channel = *found;
        size_t max = channel->endpoint->options.output_max;
        if (channel->state == CHANNEL_OPEN)
            tr__output_flush(channel);
        if (channel->output.size < max)
            break;
        if (turn_may_park(self) == TR_NOT_IN_A_TURN)
            return channel->output.size + size > TR_OUTPUT_EXTRA * max ? TR_LIMIT : TR_OK;
        status = wait_for_capacity(self, channel);
        if (status == TR_OK)
            status = writable(self, handle, found);
    }
    return status == TR_OK ? writable(self, handle, found) : status;
}

/* Makes what the framing puts before a piece. Returns its size; SIZE_MAX: the piece is too large. */
static size_t make_head(const struct channel *channel, size_t size, unsigned char *head)
{
    const tr_framing *framing = channel->endpoint->options.framing;
    if (!framing || !framing->head)
        return 0;
    size_t length = framing->head(framing, size, head);
    TR_ASSERT(length <= TR_FRAME_HEAD_MAX || length == SIZE_MAX);
    return length;
}

/* Writes a piece with its head into a buffer: all of it, or nothing. */
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

/* Writes a piece with its head: all of it, or nothing. */
static tr_status put(struct tr_self *self, struct channel *channel, tr_bytes bytes)
{
    unsigned char head[TR_FRAME_HEAD_MAX];
    size_t length = make_head(channel, bytes.size, head);
    struct net_buffer *held = piece_held(self, channel);
    if (held && length != SIZE_MAX)
        return hold(held, head, length, bytes);
    if (!length)
        return tr__output_append(channel, bytes.data, bytes.size);
    if (length == SIZE_MAX)
        return TR_TOO_LARGE;
    unsigned char *to = tr__output_reserve(channel, length + bytes.size);
    if (!to)
        return TR_NO_MEMORY;
    memcpy(to, head, length);
    if (bytes.size)
        memcpy(to + length, bytes.data, bytes.size);
    tr__output_commit(channel, length + bytes.size);
    return TR_OK;
}

/*
 * Ends a write. The status may be ignored, so bytes that were not taken must not be missing amid others: the channel
 * ends with the reason.
 */
static tr_status written(struct tr_self *self, tr_channel handle, tr_status status)
{
    struct channel *channel;
    if (status != TR_OK && status != TR_INVALID_ARGUMENT &&
        writable(self, handle, &channel) == TR_OK)
        tr__channel_end(channel, status, NULL);
    return status;
}

tr_status tr_write(tr_self *self, tr_channel handle, tr_bytes bytes)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = make_capacity(self, handle, bytes.size, &channel);
    if (status == TR_OK)
        status = put(self, channel, bytes);
    return status == TR_OK ? TR_OK : written(self, handle, status);
}

tr_status tr_write_text(tr_self *self, tr_channel handle, const char *text)
{
    TURN_VERB(self);
    return tr_write(self, handle, (tr_bytes){text, strlen(text)});
}

tr_status tr_print(tr_self *self, tr_channel handle, const char *format, ...)
{
    TURN_VERB(self);
    char few[256];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(few, sizeof few, format, arguments);
    va_end(arguments);
    tr_status status = TR_INVALID_ARGUMENT;
    if (length >= 0 && (size_t)length < sizeof few) {
        status = tr_write(self, handle, (tr_bytes){few, (size_t)length});
    } else if (length >= 0) {
        char *text = tr_scratch(self, (size_t)length + 1);
        (void)vsnprintf(text, (size_t)length + 1, format, again);
        status = tr_write(self, handle, (tr_bytes){text, (size_t)length});
    }
    va_end(again);
    return status;
}

tr_status tr_write_buffer(tr_self *self, tr_channel handle, tr_buffer *buffer)
{
    TURN_VERB(self);
    struct channel *channel;
    if (!buffer)
        return TR_INVALID_ARGUMENT;
    tr_status status = make_capacity(self, handle, tr_buffer_size(buffer), &channel);
    if (status == TR_OK && piece_held(self, channel))
        return tr_write(self, handle, (tr_bytes){tr_buffer_data(buffer), tr_buffer_size(buffer)});
    unsigned char head[TR_FRAME_HEAD_MAX];
    size_t length = status == TR_OK ? make_head(channel, tr_buffer_size(buffer), head) : 0;
    if (length == SIZE_MAX)
        status = TR_TOO_LARGE;
    else if (status == TR_OK)
        status = tr__output_append(channel, head, length);
    if (status == TR_OK)
        status = tr__output_append_buffer(channel, buffer);
    return status == TR_OK ? TR_OK : written(self, handle, status);
}

tr_status tr_try_write(tr_self *self, tr_channel handle, tr_bytes bytes)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = writable(self, handle, &channel);
    if (status != TR_OK)
        return status;
    if (holds_much(self, channel)) {
        channel->flags |= CHANNEL_DRAINS;
        return TR_LIMIT;
    }
    if (channel->output.size >= channel->endpoint->options.output_max) {
        if (channel->state == CHANNEL_OPEN)
            tr__output_flush(channel);
        status = writable(self, handle, &channel);
        if (status != TR_OK)
            return status;
        if (channel->output.size >= channel->endpoint->options.output_max) {
            channel->flags |= CHANNEL_DRAINS;
            return TR_LIMIT;
        }
    }
    return put(self, channel, bytes);
}

void *tr_reserve(tr_self *self, tr_channel handle, size_t size)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = make_capacity(self, handle, size, &channel);
    if (status == TR_CLOSED || status == TR_RESET) /* what is written to it goes nowhere */
        return tr_scratch(self, size);
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
    if (!size || writable(self, handle, &channel) != TR_OK)
        return;
    const struct out_page *last = channel->output.last;
    if (!last || last->buffer || last->capacity - last->end < size)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_commit: %zu bytes were not reserved", size);
    tr__output_commit(channel, size);
}

tr_status tr_flush(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = writable(self, handle, &channel);
    if (status == TR_OK && channel->state == CHANNEL_OPEN)
        tr__output_flush(channel);
    while (status == TR_OK) {
        status = writable(self, handle, &channel);
        if (status != TR_OK || (tr__output_is_empty(channel) && !holds_some(self, channel)))
            return status;
        status = tr__channel_park(self, channel, &channel->writers, false, NULL);
    }
    return status;
}

/* ---- The end. ---- */

/* Finds a channel of this turn for a verb that ends it. False: it has ended. */
static bool ending(struct tr_self *self, tr_channel handle, const char *verb,
                   struct channel **channel)
{
    tr_status status = tr__channel_of(self, handle, channel);
    if (status != TR_OK && status != TR_CLOSED)
        tr_crash(self, status, "%s: %s", verb, tr_status_text(status));
    return status == TR_OK && (*channel)->state != CHANNEL_ENDED;
}

void tr_finish(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    if (ending(self, handle, "tr_finish", &channel) && channel->kind == CHANNEL_STREAM &&
        !tr__piece_delays_end(self, channel, PIECE_FINISHES))
        tr__channel_finish(channel);
}

void tr_close(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    if (ending(self, handle, "tr_close", &channel) &&
        !tr__piece_delays_end(self, channel, PIECE_CLOSES)) {
        tr__pieces_close(self, channel);
        tr__channel_close(channel);
    }
}

void tr_reset(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    if (ending(self, handle, "tr_reset", &channel))
        tr__channel_reset(channel);
}

size_t tr_output_size(tr_self *self, tr_channel handle)
{
    TURN_VERB(self);
    struct channel *channel;
    return tr__channel_of(self, handle, &channel) == TR_OK ? channel->output.size : 0;
}
