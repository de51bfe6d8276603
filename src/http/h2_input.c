/* SPDX-License-Identifier: Apache-2.0 */
/** The functions that nghttp2 calls for the input of a connection of a server. */
#include "http/h2_input.h"

#include "http/h2_head.h"
#include "http/h2_inside.h"
#include "http/h2_stream.h"
#include "http/site.h"

static const struct http_site *site_of(const struct h2_session *session)
{
    return session->channel->endpoint->site;
}

void tr__h2_refuse(struct h2_session *session, int32_t id, uint32_t code)
{
    if (nghttp2_submit_rst_stream(session->engine, NGHTTP2_FLAG_NONE, id, code) != 0)
        session->is_starved = true;
}

static int on_begin_headers(nghttp2_session *engine, const nghttp2_frame *frame, void *context)
{
    struct h2_session *session = context;
    int32_t id = frame->hd.stream_id;
    const struct cell *cell = session->channel->cell;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    bool is_stopping = !cell || cell->flags & CELL_SEALED || cell->life >= LIFE_STOPPING;
    if (is_stopping || session->count >= site_of(session)->options.streams_max) {
        tr__h2_refuse(session, id, NGHTTP2_REFUSED_STREAM);
        return 0;
    }
    struct h2_stream *stream = tr__h2_stream_new(session, id);
    if (!stream)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    return nghttp2_session_set_stream_user_data(engine, id, stream);
}

static int on_header(nghttp2_session *engine, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *context)
{
    (void)flags;
    const struct h2_session *session = context;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(engine, frame->hd.stream_id);
    /* drop fields of trailers, which come behind the body */
    if (!stream || frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    tr_status status = tr__h2_head_add(stream,
                                       &site_of(session)->limits,
                                       (tr_bytes){name, name_size},
                                       (tr_bytes){value, value_size});
    return status == TR_OK ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/*
 * Resets the stream, because the request has a field that RFC 9113 forbids. nghttp2 would only
 * leave out the field.
 */
static int on_invalid_header(nghttp2_session *engine, const nghttp2_frame *frame,
                             const uint8_t *name, size_t name_size, const uint8_t *value,
                             size_t value_size, uint8_t flags, void *context)
{
    (void)engine;
    (void)name;
    (void)name_size;
    (void)value;
    (void)value_size;
    (void)flags;
    tr__h2_refuse(context, frame->hd.stream_id, NGHTTP2_PROTOCOL_ERROR);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_data(nghttp2_session *engine, uint8_t flags, int32_t id, const uint8_t *data,
                   size_t size, void *context)
{
    (void)flags;
    struct h2_session *session = context;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(engine, id);
    bool is_read = stream && h2_stream_has_turn(stream);
    size_t unread = is_read ? net_buffer_size(&stream->in) + net_buffer_size(&stream->lent) : 0;
    /*
     * If bytes beyond the window of the stream come, nghttp2 passes them on, and resets the stream
     * only later. So refuse the stream now.
     */
    if (is_read && size > TR_HTTP2_WINDOW - unread)
        tr__h2_refuse(session, id, NGHTTP2_FLOW_CONTROL_ERROR);
    else if (is_read && tr__h2_stream_data(stream, data, size) != TR_OK)
        tr__h2_refuse(session, id, NGHTTP2_INTERNAL_ERROR);
    /* see "windows" in http/h2_session.h */
    return nghttp2_session_consume_connection(engine, size);
}

/* Queues the turn of a request whose head has come completely. */
static void on_request(struct h2_session *session, struct h2_stream *stream)
{
    if (!tr__h2_head_agrees(stream)) {
        tr__h2_refuse(session, stream->id, NGHTTP2_PROTOCOL_ERROR); /* RFC 9113, 8.3.1 */
        return;
    }
    /* Give all streams the same priority, so that nghttp2 sends their frames in turn. */
    static const nghttp2_extpri alike = {.urgency = NGHTTP2_EXTPRI_DEFAULT_URGENCY, .inc = 1};
    (void)nghttp2_session_change_extpri_stream_priority(session->engine, stream->id, &alike, 1);
    tr_status status = tr__protocol_turn_queue(&stream->turn);
    if (status != TR_OK)
        tr__h2_refuse(session,
                      stream->id,
                      status == TR_STOPPING ? NGHTTP2_REFUSED_STREAM : NGHTTP2_INTERNAL_ERROR);
}

static int on_frame(nghttp2_session *engine, const nghttp2_frame *frame, void *context)
{
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(engine, frame->hd.stream_id);
    if (!stream || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
        return 0;
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
        stream->is_input_over = true;
        tr__h2_stream_wake(stream);
    }
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        on_request(context, stream);
    return 0;
}

static int on_closed(nghttp2_session *engine, int32_t id, uint32_t code, void *context)
{
    (void)context;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(engine, id);
    if (stream)
        tr__h2_stream_closed(stream, code);
    return 0;
}

void tr__h2_input_set(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, on_invalid_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_closed);
}
