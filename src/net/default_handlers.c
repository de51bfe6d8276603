/* SPDX-License-Identifier: Apache-2.0 */
#include "net/default_handlers.h"

#include "net/dial.h"
#include "net/event.h"
#include "net/pieces.h"
#include "net/protocol.h"
#include "net/protocol_turn.h"
#include "base/assert.h"

#include <troupe/net.h>
#include <troupe/process.h>

static tr_next on_closed_session(tr_self *self, void *state, const void *message)
{
    (void)self;
    (void)state;
    (void)message;
    return TR_STOP;
}

static tr_next on_closed_dialed(tr_self *self, void *state, const void *message)
{
    (void)state;
    const struct tr_closed *closed = message;
    if (closed->status == TR_OK)
        return TR_SAME;
    return tr_fail(self,
                   closed->status,
                   "a channel has ended: %s%s%s",
                   tr_status_text(closed->status),
                   closed->text ? ": " : "",
                   closed->text ? closed->text : "");
}

static tr_next on_process_ended(tr_self *self, void *state, const void *message)
{
    (void)state;
    const struct tr_process_ended *ended = message;
    if (ended->status != TR_OK)
        return tr_fail(self,
                       ended->status,
                       "the channel of a child process has ended: %s",
                       tr_status_text(ended->status));
    if (ended->signal)
        return tr_fail(
            self, TR_PROCESS_FAILED, "signal %d has ended a child process", (int)ended->signal);
    if (ended->code)
        return tr_fail(self,
                       TR_PROCESS_FAILED,
                       "a child process has failed with the exit code %d",
                       (int)ended->code);
    return TR_SAME;
}

static tr_next on_ignored(tr_self *self, void *state, const void *message)
{
    (void)self;
    (void)state;
    (void)message;
    return TR_SAME;
}

static const tr_handler closed_session = {
    .type = &tr_type_tr_closed, .call = on_closed_session, .name = "tr_closed"};
static const tr_handler closed_dialed = {
    .type = &tr_type_tr_closed, .call = on_closed_dialed, .name = "tr_closed"};
static const tr_handler process_ended = {
    .type = &tr_type_tr_process_ended, .call = on_process_ended, .name = "tr_process_ended"};
static const tr_handler ignored = {
    .type = &tr_type_tr_drained, .call = on_ignored, .name = "tr_drained"};

/* Returns the handler of tr_closed for an actor that has no handler for it. */
static const tr_handler *closed_handler(const struct channel *channel)
{
    if (channel->rare->process && channel->status == TR_CLOSED)
        /*
         * the channel was for the error output of a process, and the process has closed that output
         */
        return &ignored;
    if (channel_has(channel, CHANNEL_TAKEN))
        /*
         * the actor has accepted this channel by tr_accept; it is no session, and continues with
         * its other channels
         */
        return &ignored;
    return channel_has(channel, CHANNEL_ACCEPTED) ? &closed_session : &closed_dialed;
}

const tr_handler *tr__default_handler(struct tr_self *self, const struct envelope *envelope,
                                      const tr_handler *any)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    (void)self;
    if (envelope->sender & PIECE_TAG)
        return any;
    if (protocol_turn_is(envelope))
        return protocol_turn_of(envelope)->protocol->turn_handler;
    const struct channel *channel = event_channel(envelope);
    const struct tr_protocol *protocol = protocol_of(channel);
    const tr_type *type = envelope->type;
    if (protocol && type == protocol->handler->type)
        return protocol->handler;
    if (any)
        return any;
    if (type == &tr__dialing_type)
        return &tr__dial_handler;
    if (type == tr__event_types.process_ended)
        return &process_ended;
    if (type == tr__event_types.closed)
        return closed_handler(channel);
    if (type == tr__event_types.drained || type == tr__event_types.opened)
        return &ignored;
    return NULL;
}
