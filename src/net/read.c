/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs that read. */
#include "net/read.h"

#include <troupe/limits.h>
#include <troupe/net.h>

#include "actor/cell/verb.h"
#include "net/channel_end.h"
#include "net/exchange.h"
#include "net/plain.h"
#include "net/rare.h"
#include "net/shutdown.h"
#include "net/wait.h"
#include "base/assert.h"

/* To receive so many bytes takes about as long as a short turn. */
enum { TURN_BYTES = 8192 };

/* Returns the status for a read from a channel that lingers or has ended. */
static tr_status end_status(const struct channel *channel)
{
    if (channel->state == CHANNEL_LINGERING)
        return TR_CLOSED;
    return channel->status == TR_OK ? TR_CLOSED : channel->status;
}

/* Takes a piece by tr__input_take, or by the short path (net/plain.h) if the channel is plain. */
static tr_status take(struct tr_self *self, struct channel *channel, const struct cutter *cutter,
                      tr_bytes *piece, bool *is_cut)
{
    if (cutter->how == CUT_PIECE && channel_is_plain(channel) && channel_is_raw(channel)) {
        turn_require_slow_end(self);
        tr_status status = tr__plain_receive(self, channel, piece);
        if (status == TR_OK || status == TR_WOULD_BLOCK)
            return status;
        if (status != TR_NOT_SUPPORTED && status != TR_CLOSED)
            return status;
    }
    return tr__input_take(self, channel, cutter, piece, is_cut);
}

/*
 * Counts a read as a turn of the actor's run. Returns true if the run has used up its turns or its time. Then the turn
 * must give way, because a client that sends without a pause would keep the worker for as long as it sends.
 */
static inline bool count_read(const struct tr_self *self)
{
    const struct worker *worker = self->worker;
    return ++worker->turns.message->turns > TR_RUN_TURNS_MAX || loop_is_time_up(&worker->loop);
}

/* Waits for a piece and takes it. Turns get pieces in the order in which they began to wait. */
tr_status tr__channel_take(struct tr_self *self, tr_channel handle, const struct cutter *cutter,
                           tr_bytes *piece, bool *is_cut)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct channel *channel;
    *is_cut = false;
    tr_status status = tr__channel_of(self, handle, &channel);
    if (status != TR_OK)
        return status;
    if (channel->kind != CHANNEL_STREAM)
        return TR_INVALID_ARGUMENT;
    if (channel_has(channel, CHANNEL_GONE) && channel->work->input.borrower != self)
        return end_status(channel);
    bool is_first = waits_are_empty(&channel->readers);
    bool has_waited = is_first;
    if (is_first && __builtin_expect(count_read(self), 0) &&
        tr__channel_give_way(self, channel) != TR_OK)
        return TR_CANCELLED;
    for (;;) {
        if (channel->state == CHANNEL_LINGERING ||
            channel_has(channel, CHANNEL_CLOSE_HELD | CHANNEL_CLOSES_OPENED))
            return TR_CLOSED;
        status = TR_WOULD_BLOCK;
        bool may_read = channel->state == CHANNEL_OPEN || channel->state == CHANNEL_ENDED;
        if (may_read && is_first && !exchanges_are_first(channel))
            status = take(self, channel, cutter, piece, is_cut);
        if (status == TR_OK)
            self->worker->turns.message->turns += (uint32_t)(piece->size / TURN_BYTES);
        if (status == TR_OK && channel->rare->exchanges)
            status = tr__exchanges_pass(self, channel, piece);
        if (status == TR_CLOSED && channel->state == CHANNEL_ENDED) {
            tr__waits_wake_one(&channel->readers);
            tr__channel_call(channel);
            return end_status(channel);
        }
        if (status != TR_WOULD_BLOCK)
            break;
        if (tr__shutdown_ends_read(self, channel)) {
            tr__waits_wake_one(&channel->readers);
            return TR_STOPPING;
        }
        status = tr__channel_park(self, channel, &channel->readers, has_waited, NULL);
        if (status != TR_OK) {
            /* this turn gives up and does not use the event that has woken it, so wake the next turn */
            if (tr__channel_of(self, handle, &channel) == TR_OK) {
                if (channel_has(channel, CHANNEL_READABLE | CHANNEL_INPUT_OVER) ||
                    tr__input_has_bytes(channel))
                    tr__waits_wake_one(&channel->readers);
                if (channel->rare->exchanges)
                    /* this turn may have waited for a piece before a reply, so read the reply now */
                    tr__exchanges_read(channel);
                tr__channel_call(channel);
            }
            return status;
        }
        has_waited = true;
        is_first = true; /* a turn is woken only when it is the first in the list */
    }
    /* There may be something left to read for the next turn that waits. */
    if (!waits_are_empty(&channel->readers) && (status == TR_OK || status == TR_CLOSED) &&
        (channel_has(channel, CHANNEL_READABLE | CHANNEL_INPUT_OVER) ||
         tr__input_has_bytes(channel)))
        tr__waits_wake_one(&channel->readers);
    if (status == TR_CLOSED)
        /* the turn may still write, so do not end the channel now; the end of the turn does that */
        tr__input_watch_end(self, channel);
    else if (status != TR_OK)
        tr__channel_end(channel, status, NULL);
    return status;
}

/* Takes a piece for the verbs that return bool. Returns false if the other side has ended in order,
 * or the system shuts down. Any other error ends the turn. */
static bool take_or_end(struct tr_self *self, tr_channel handle, const struct cutter *cutter,
                        tr_bytes *piece, const char *verb)
{
    bool is_cut;
    tr_status status = tr__channel_take(self, handle, cutter, piece, &is_cut);
    if (status == TR_OK)
        return true;
    if ((status == TR_CLOSED && !is_cut) || status == TR_STOPPING)
        return false;
    tr_crash(self, status, "%s: %s", verb, tr_status_text(status));
}

bool tr_read(tr_self *self, tr_channel channel, tr_bytes *bytes)
{
    TURN_VERB(self);
    static const struct cutter cutter = {.how = CUT_PIECE};
    return take_or_end(self, channel, &cutter, bytes, "tr_read");
}

bool tr_read_exactly(tr_self *self, tr_channel channel, size_t size, tr_bytes *bytes)
{
    TURN_VERB(self);
    const struct cutter cutter = {.how = CUT_EXACTLY, .size = size};
    if (!size) {
        *bytes = (tr_bytes){"", 0};
        return true;
    }
    return take_or_end(self, channel, &cutter, bytes, "tr_read_exactly");
}

bool tr_read_line(tr_self *self, tr_channel channel, tr_bytes *line)
{
    TURN_VERB(self);
    static const struct cutter cutter = {.how = CUT_LINE};
    return take_or_end(self, channel, &cutter, line, "tr_read_line");
}

bool tr_read_until(tr_self *self, tr_channel channel, tr_bytes end, tr_bytes *bytes)
{
    TURN_VERB(self);
    const struct cutter cutter = {.how = CUT_UNTIL, .end = end};
    if (!end.size)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_read_until: no bytes to look for");
    return take_or_end(self, channel, &cutter, bytes, "tr_read_until");
}

tr_status tr_try_read(tr_self *self, tr_channel channel, tr_bytes *bytes)
{
    TURN_VERB(self);
    static const struct cutter cutter = {.how = CUT_PIECE};
    bool is_cut;
    return tr__channel_take(self, channel, &cutter, bytes, &is_cut);
}

void tr_unread(tr_self *self, tr_channel handle, size_t size)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = tr__channel_of(self, handle, &channel);
    if (status != TR_OK && status != TR_CLOSED)
        tr_crash(self, status, "tr_unread: %s", tr_status_text(status));
    if (status == TR_OK && !tr__input_unread(channel, size))
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_unread: %zu bytes are more than were read", size);
}

void tr_channel_within(tr_self *self, tr_channel handle, tr_time ns)
{
    TURN_VERB(self);
    struct channel *channel;
    tr_status status = tr__channel_of(self, handle, &channel);
    if ((status != TR_OK && status != TR_CLOSED) || ns < 0)
        tr_crash(self, ns < 0 ? TR_INVALID_ARGUMENT : status, "tr_channel_within: no such channel");
    if (status != TR_OK || channel->rare->within_ns == ns)
        return;
    struct channel_rare *rare = tr__rare_of(channel);
    if (!rare)
        tr_crash(self, TR_NO_MEMORY, "tr_channel_within: %s", tr_status_text(TR_NO_MEMORY));
    rare->within_ns = ns;
}
