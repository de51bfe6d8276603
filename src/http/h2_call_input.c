/* SPDX-License-Identifier: Apache-2.0 */
/** The functions that nghttp2 calls for the input and the output of calls of this client. */
#include "http/h2_call_input.h"

#include <string.h>

#include "actor/turn/park.h"
#include "base/assert.h"
#include "http/client_hosts.h"
#include "http/h2_client.h"
#include "http/h2_input.h"
#include "net/output.h"
#include "net/wait.h"

static struct h2_call *call_of(nghttp2_session *engine, int32_t id)
{
    return nghttp2_session_get_stream_user_data(engine, id);
}

void tr__h2_call_wake(struct h2_call *call)
{
    const struct h2_client *client = call->client;
    /* If the channel has no actor any more, the turn that waits has ended with the actor. */
    if (call->waiter && client && client->base.channel->cell)
        turn_wake(call->waiter, TR_OK);
}

void tr__h2_call_fail(struct h2_call *call, tr_status status, const char *why, uint32_t code)
{
    struct h2_session *session = &call->client->base;
    if (call->status == TR_OK) {
        call->status = status;
        call->why = why;
    }
    if (call->id && !call->is_closed)
        tr__h2_refuse(session, call->id, code);
    tr__h2_call_wake(call);
}

/* ---- Heads. ---- */

static int on_begin_headers(nghttp2_session *engine, const nghttp2_frame *frame, void *context)
{
    (void)context;
    struct h2_call *call = call_of(engine, frame->hd.stream_id);
    if (!call || call->has_final || frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    tr__net_buffer_free(&call->head);
    call->field_count = 0;
    call->number = 0;
    return 0;
}

/* Appends a line of the head. */
static tr_status keep_line(struct net_buffer *head, const char *before, tr_bytes name,
                           const char *between, tr_bytes value)
{
    char *to =
        net_buffer_reserve(head, strlen(before) + name.size + strlen(between) + value.size + 2);
    if (!to)
        return TR_NO_MEMORY;
    char *end = stpcpy(to, before);
    if (name.size)
        memcpy(end, name.data, name.size);
    end = stpcpy(end + name.size, between);
    if (value.size)
        memcpy(end, value.data, value.size);
    end += value.size;
    *end++ = '\r';
    *end++ = '\n';
    net_buffer_commit(head, (size_t)(end - to));
    return TR_OK;
}

/* Notes the status of the answer. nghttp2 has checked that the status has three digits. */
static tr_status keep_status(struct h2_call *call, tr_bytes value)
{
    const char *digits = value.data;
    call->number = 0;
    for (size_t i = 0; i < value.size && i < 3; i++)
        call->number = call->number * 10 + (digits[i] - '0');
    return keep_line(&call->head, "HTTP/1.1 ", (tr_bytes){"", 0}, "", value);
}

static int on_header(nghttp2_session *engine, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *context)
{
    (void)flags;
    (void)context;
    struct h2_call *call = call_of(engine, frame->hd.stream_id);
    if (!call || call->has_final || call->status != TR_OK || frame->hd.type != NGHTTP2_HEADERS)
        return 0; /* drop fields of trailers, which come behind the body */
    bool is_pseudo = name_size && name[0] == ':';
    size_t there = net_buffer_size(&call->head);
    if (there + name_size + value_size + 6 > call->limits.head_max ||
        (!is_pseudo && call->field_count == call->limits.headers_max)) {
        tr__h2_call_fail(call, TR_TOO_LARGE, "the head is too large", NGHTTP2_CANCEL);
        return 0;
    }
    call->field_count += !is_pseudo;
    tr_bytes text = {value, value_size};
    tr_status status = is_pseudo
                           ? keep_status(call, text)
                           : keep_line(&call->head, "", (tr_bytes){name, name_size}, ": ", text);
    if (status != TR_OK)
        tr__h2_call_fail(call, status, NULL, NGHTTP2_CANCEL);
    return 0;
}

/*
 * Makes the call fail, because the answer has a field that RFC 9113 forbids. nghttp2 would only
 * leave out the field.
 */
static int on_invalid_header(nghttp2_session *engine, const nghttp2_frame *frame,
                             const uint8_t *name, size_t name_size, const uint8_t *value,
                             size_t value_size, uint8_t flags, void *context)
{
    (void)name;
    (void)name_size;
    (void)value;
    (void)value_size;
    (void)flags;
    (void)context;
    struct h2_call *call = call_of(engine, frame->hd.stream_id);
    if (call && !call->has_final) /* trailers are dropped, so wrong fields in them do not matter */
        tr__h2_call_fail(call, TR_BAD_DATA, "a header that HTTP/2 forbids", NGHTTP2_PROTOCOL_ERROR);
    return 0;
}

/* Handles the end of a head: of an interim answer (1xx), or of the final one. */
static void on_head(struct h2_call *call)
{
    if (call->has_final || call->status != TR_OK)
        return;
    if (call->number >= 200) {
        call->has_final = true;
        return;
    }
    call->has_continue |= call->number == 100;
    tr__net_buffer_free(&call->head);
    if (++call->interims > TR_HTTP_INTERIM_MAX)
        tr__h2_call_fail(call, TR_BAD_DATA, "there are too many answers of 1xx", NGHTTP2_CANCEL);
}

/* ---- Bodies of answers, and the ends of streams. ---- */

static int on_data(nghttp2_session *engine, uint8_t flags, int32_t id, const uint8_t *data,
                   size_t size, void *context)
{
    (void)flags;
    (void)context;
    struct h2_call *call = call_of(engine, id);
    if (call && call->status == TR_OK) {
        /*
         * If bytes beyond the window of the stream come, nghttp2 passes them on, and resets the
         * stream only later. So make the call fail now.
         */
        if (size > TR_HTTP2_WINDOW - net_buffer_size(&call->in))
            tr__h2_call_fail(call,
                             TR_BAD_DATA,
                             "the server has sent more than it may",
                             NGHTTP2_FLOW_CONTROL_ERROR);
        else if (tr__net_buffer_append(&call->in, data, size) == TR_OK)
            tr__h2_call_wake(call);
        else
            tr__h2_call_fail(call, TR_NO_MEMORY, NULL, NGHTTP2_CANCEL);
    }
    /* see "windows" in http/h2_session.h */
    return nghttp2_session_consume_connection(engine, size);
}

/* Handles a frame that concerns the whole connection. */
static void on_connection(struct h2_client *client, const nghttp2_frame *frame)
{
    switch (frame->hd.type) {
    case NGHTTP2_GOAWAY:
        if (frame->goaway.error_code != NGHTTP2_NO_ERROR)
            client->why = nghttp2_http2_strerror(frame->goaway.error_code);
        tr__h2_client_leave(client);
        break;
    case NGHTTP2_SETTINGS: /* the server may now allow more streams */
        if (client->conn)
            tr__waits_wake_one(&client->conn->host->line);
        break;
    default:
        break;
    }
}

static int on_frame(nghttp2_session *engine, const nghttp2_frame *frame, void *context)
{
    uint8_t type = frame->hd.type;
    if (!frame->hd.stream_id) {
        on_connection(context, frame);
        return 0;
    }
    struct h2_call *call = call_of(engine, frame->hd.stream_id);
    if (!call)
        return 0;
    if (type == NGHTTP2_RST_STREAM) {
        call->was_reset = true;
        call->code = frame->rst_stream.error_code;
    }
    if (type == NGHTTP2_HEADERS)
        on_head(call);
    if ((type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) &&
        frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        call->is_input_over = true;
    if (type == NGHTTP2_HEADERS || call->is_input_over)
        tr__h2_call_wake(call);
    return 0;
}

static int on_closed(nghttp2_session *engine, int32_t id, uint32_t code, void *context)
{
    (void)context;
    struct h2_call *call = call_of(engine, id);
    if (!call)
        return 0;
    call->is_closed = true;
    if (call->status == TR_OK && !call->is_input_over) {
        bool is_unprocessed = code == NGHTTP2_REFUSED_STREAM;
        call->is_unprocessed = is_unprocessed && !call->has_final;
        call->status = call->was_reset ? TR_RESET : is_unprocessed ? TR_CLOSED : TR_BAD_DATA;
        call->why = nghttp2_http2_strerror(code);
    }
    tr__h2_call_wake(call);
    return 0;
}

/* ---- What leaves. ---- */

ssize_t tr__h2_call_on_read(nghttp2_session *engine, int32_t id, uint8_t *to, size_t max,
                            uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)to;
    (void)source;
    struct h2_session *session = context;
    const struct channel *channel = session->channel;
    const struct h2_call *call = call_of(engine, id);
    if (!call)
        /* the turn of the call has given up, and will reset the stream */
        return NGHTTP2_ERR_DEFERRED;
    if (!call->out_size && !call->is_last)
        return NGHTTP2_ERR_DEFERRED;
    if (call->out_size && channel->work->output.size >= channel->endpoint->options.output_max) {
        session->is_blocked = true;
        return NGHTTP2_ERR_PAUSE;
    }
    size_t size = call->out_size < max ? call->out_size : max;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (size == call->out_size && call->is_last)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)size;
}

/* Writes a frame with data: the head of the frame, then bytes from memory of the turn. */
static int on_send_data(nghttp2_session *engine, nghttp2_frame *frame, const uint8_t *head,
                        size_t size, nghttp2_data_source *source, void *context)
{
    (void)source;
    struct h2_session *session = context;
    struct h2_call *call = call_of(engine, frame->hd.stream_id);
    if (!call || call->out_size < size)
        /* the turn of the call has ended, so there are no bytes to send */
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    /* the bytes belong to a turn of this actor, so the actor has not ended */
    TR_ASSERT(!size || session->channel->cell);
    unsigned char *to = tr__output_reserve(session->channel, H2_FRAME_HEAD_SIZE + size);
    if (!to)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    memcpy(to, head, H2_FRAME_HEAD_SIZE);
    if (size)
        memcpy(to + H2_FRAME_HEAD_SIZE, call->out, size);
    call->out += size;
    call->out_size -= size;
    if (!call->out_size)
        tr__h2_call_wake(call);
    tr__h2_guard_sent(&session->guard);
    tr__output_commit(session->channel, H2_FRAME_HEAD_SIZE + size);
    return 0;
}

/*
 * nghttp2 calls this if the head of a request cannot be sent, because the server has sent GOAWAY or
 * the head is too large. After this nghttp2 closes the stream.
 */
static int on_unsent(nghttp2_session *engine, const nghttp2_frame *frame, int problem,
                     void *context)
{
    (void)context;
    struct h2_call *call = call_of(engine, frame->hd.stream_id);
    if (frame->hd.type != NGHTTP2_HEADERS || !call || call->status != TR_OK)
        return 0;
    bool is_large = problem == NGHTTP2_ERR_FRAME_SIZE_ERROR;
    call->status = is_large ? TR_TOO_LARGE : TR_CLOSED;
    call->why =
        is_large ? "the head of the request has more than 64 KiB" : nghttp2_strerror(problem);
    call->is_unprocessed = !is_large;
    return 0;
}

/*
 * nghttp2 calls this when it has sent a frame. A GOAWAY that nghttp2 sends because the server has
 * broken a rule ends the connection: notes the reason.
 */
static int on_sent(nghttp2_session *engine, const nghttp2_frame *frame, void *context)
{
    (void)engine;
    struct h2_client *client = context;
    if (frame->hd.type == NGHTTP2_HEADERS)
        tr__h2_guard_sent(&client->base.guard);
    if (frame->hd.type != NGHTTP2_GOAWAY || frame->goaway.error_code == NGHTTP2_NO_ERROR ||
        client->status != TR_OK)
        return 0;
    client->status = TR_BAD_DATA;
    client->why = nghttp2_http2_strerror(frame->goaway.error_code);
    return 0;
}

void tr__h2_call_set(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, on_invalid_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_closed);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_unsent);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, on_send_data);
}
