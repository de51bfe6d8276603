/* SPDX-License-Identifier: Apache-2.0 */
#include "http/events.h"

#include <stdio.h>

#include "actor/cell/system.h"
#include "http/h2_events.h"
#include "http/websocket.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/net_cell.h"
#include "net/output.h"
#include "base/assert.h"

/* ---- Names. ---- */

uint64_t tr__http_events_token(const struct http_request *request)
{
    struct tr_system *system = request->self->worker->system;
    if (!request->stream)
        return channel_bits(request->channel);
    /*
     * No token of HTTP/2 has the same value as the bits of a channel: the lower half of a token is
     * 0, and no channel has slot 0.
     */
    return (atom64_fetch_add(&system->gateway.streams, 1, ATOM_RELAXED) + 1) << 32;
}

struct http_events *tr__http_events_find(const struct tr_self *self, uint64_t token)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct channel *channel;
    if ((uint32_t)token) {
        tr_status status = tr__channel_of(self, (tr_channel){token}, &channel);
        return status == TR_OK ? http_events_of(channel) : NULL;
    }
    const struct net_cell *record = net_cell_of(self->cell);
    if (!record)
        return NULL;
    LIST_EACH (link, &record->channels) {
        channel = LIST_OWNER((uintptr_t)link, struct channel, link);
        struct http_events *found =
            channel->rare->streams ? tr__h2_events_find(channel, token) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

/* ---- Writing. ---- */

tr_status tr__http_events_begin(struct http_request *request, struct http_events *events)
{
    struct channel *channel = request->channel;
    events->kept = HTTP_KEPT_EVENTS;
    events->channel = channel;
    events->stream = request->stream;
    if (request->stream)
        return tr__h2_events_begin(events);
    if (channel->state != CHANNEL_OPEN)
        return TR_CLOSED;
    events->has_chunks = request->has_chunks;
    channel->session = events;
    return TR_OK;
}

size_t tr__http_events_unsent(const struct http_events *events)
{
    return events->stream ? tr__h2_events_unsent(events) : events->channel->work->output.size;
}

/* Writes a piece of an answer of HTTP/1.1. An empty piece ends the answer. */
static tr_status put(struct http_events *events, const char *text, size_t size)
{
    struct channel *channel = events->channel;
    char head[24];
    int length = snprintf(head, sizeof head, "%zx\r\n", size);
    tr_status status = TR_OK;
    if (events->has_chunks)
        status = tr__output_append(channel, head, (size_t)length);
    if (status == TR_OK && size)
        status = tr__output_append(channel, text, size);
    if (status == TR_OK && events->has_chunks)
        status = tr__output_append(channel, "\r\n", 2);
    if (status == TR_OK)
        tr__output_touch(channel);
    return status;
}

tr_status tr__http_events_write(struct http_events *events, const char *text, size_t size)
{
    if (events->stream)
        return tr__h2_events_write(events, text, size);
    return events->channel->state == CHANNEL_OPEN ? put(events, text, size) : TR_OK;
}

/* ---- Ends. ---- */

/* Ends a stream of events: gives the record back to the layer above. */
static void leave(struct http_events *events, unsigned code)
{
    if (events->stream)
        tr__h2_events_leave(events);
    else
        events->channel->session = NULL;
    events->on_end(events, code);
}

void tr__http_events_close(struct http_events *events, unsigned code)
{
    struct channel *channel = events->channel;
    struct h2_stream *stream = events->stream;
    if (stream) {
        leave(events, code);
        tr__h2_events_close(stream);
        return;
    }
    bool is_whole = !events->has_chunks || put(events, "", 0) == TR_OK;
    leave(events, code);
    if (is_whole)
        tr__channel_close(channel);
    else
        tr__channel_reset(channel);
}

void tr__http_events_cut(struct http_events *events, unsigned code)
{
    struct channel *channel = events->channel;
    struct h2_stream *stream = events->stream;
    leave(events, code);
    if (stream)
        tr__h2_events_cut(stream);
    else
        tr__channel_reset(channel);
}

void tr__http_events_on_close(struct channel *channel, bool has_failed)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct http_events *events = http_events_of(channel);
    if (!has_failed && events->has_chunks)
        /* if this fails because memory is missing, the client notices that the answer is cut off */
        (void)!put(events, "", 0);
    leave(events, has_failed ? WS_CODE_FAILED : WS_CODE_GOING_AWAY);
}

void tr__http_events_on_free(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    bool is_in_order = channel->status == TR_OK || channel->status == TR_CLOSED;
    leave(http_events_of(channel), is_in_order ? WS_CODE_GOING_AWAY : WS_CODE_LOST);
}

/* ---- Times. ---- */

void tr__http_events_wait(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    channel->flags &= ~(uint32_t)CHANNEL_IN_PART;
    channel->deadline_ns = timer_deadline(channel->worker->loop.now_ns, EVENTS_COMMENT_NS);
    tr__channel_arm(channel);
}

void tr__http_events_deadline(struct channel *channel)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    struct http_events *events = http_events_of(channel);
    tr__http_events_wait(channel);
    if (put(events, ":\n\n", 3) != TR_OK)
        tr__http_events_cut(events, WS_CODE_TRY_LATER);
}
