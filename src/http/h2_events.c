/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h2_events.h"

#include "http/h2_inside.h"
#include "http/h2_session.h"
#include "http/h2_stream.h"
#include "http/websocket.h"

static struct h2_stream *stream_at(const struct list *link)
{
    return LIST_OWNER((uintptr_t)link, struct h2_stream, link);
}

struct http_events *tr__h2_events_find(const struct channel *channel, uint64_t token)
{
    const struct h2_session *session = h2_session_of(channel);
    LIST_EACH (link, &session->all) {
        struct http_events *events = stream_at(link)->events;
        if (events && events->token == token)
            return events;
    }
    return NULL;
}

tr_status tr__h2_events_begin(struct http_events *events)
{
    struct h2_stream *stream = events->stream;
    if (tr__h2_is_gone(stream))
        return TR_CLOSED;
    stream->events = events;
    stream->has_events = true;
    stream->session->events_count++;
    return TR_OK;
}

size_t tr__h2_events_unsent(const struct http_events *events)
{
    return events->stream->out_size;
}

/* Makes nghttp2 ask again for bytes to send on this stream. */
static void resume(struct h2_stream *stream)
{
    struct h2_session *session = stream->session;
    if (nghttp2_session_resume_data(session->engine, stream->id) == NGHTTP2_ERR_NOMEM)
        session->is_starved = true;
}

/* Appends a text to the events that wait to be sent. */
static tr_status append(struct h2_stream *stream, const char *text, size_t size)
{
    struct net_buffer *waiting = &stream->waiting;
    net_buffer_consume(waiting, net_buffer_size(waiting) - stream->out_size);
    tr_status status = tr__net_buffer_append(waiting, text, size);
    /* read the address again, because appending may have moved the bytes */
    tr_bytes all = net_buffer_bytes(waiting);
    stream->out = all.data;
    stream->out_size = all.size;
    return status;
}

tr_status tr__h2_events_write(struct http_events *events, const char *text, size_t size)
{
    struct h2_stream *stream = events->stream;
    if (tr__h2_is_gone(stream))
        return TR_OK; /* there is nothing to send, and the end of the stream follows */
    tr_status status = append(stream, text, size);
    if (status != TR_OK)
        return status;
    resume(stream);
    tr__h2_flush(stream->session);
    return TR_OK;
}

void tr__h2_events_leave(struct http_events *events)
{
    struct h2_stream *stream = events->stream;
    stream->events = NULL;
    if (stream->session)
        stream->session->events_count--;
}

void tr__h2_events_close(struct h2_stream *stream)
{
    if (tr__h2_is_gone(stream))
        return;
    stream->is_last = true;
    resume(stream);
    tr__h2_flush(stream->session);
}

void tr__h2_events_cut(struct h2_stream *stream)
{
    struct h2_session *session = stream->session;
    if (tr__h2_is_gone(stream))
        return;
    stream->out_size = 0;
    if (nghttp2_submit_rst_stream(
            session->engine, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_ENHANCE_YOUR_CALM) != 0)
        session->is_starved = true;
    tr__h2_flush(session);
}

void tr__h2_events_gone(struct h2_stream *stream, unsigned code)
{
    struct http_events *events = stream->events;
    if (!events)
        return;
    tr__h2_events_leave(events);
    events->on_end(events, code);
}

void tr__h2_events_end_all(struct h2_session *session, bool has_failed)
{
    LIST_EACH (link, &session->all) {
        struct h2_stream *stream = stream_at(link);
        if (!stream->events)
            continue;
        tr__h2_events_gone(stream, has_failed ? WS_CODE_FAILED : WS_CODE_GOING_AWAY);
        if (has_failed || tr__h2_is_gone(stream))
            continue;
        stream->is_last = true;
        resume(stream);
    }
}

void tr__h2_events_comment(struct h2_session *session)
{
    LIST_EACH (link, &session->all) {
        struct h2_stream *stream = stream_at(link);
        if (!stream->events || tr__h2_is_gone(stream) || stream->out_size)
            /*
             * the stream has no events, or bytes wait to be sent on this stream, so no comment is
             * needed
             */
            continue;
        if (append(stream, ":\n\n", 3) == TR_OK)
            resume(stream);
        else
            session->is_starved = true;
    }
    tr__h2_flush(session);
}
