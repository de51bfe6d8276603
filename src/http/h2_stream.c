/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h2_stream.h"

#include <string.h>

#include "actor/cell/system.h"
#include "actor/cell/verb.h"
#include "actor/turn/park.h"
#include "http/access_log.h"
#include "http/body.h"
#include "http/h2_answer.h"
#include "http/h2_events.h"
#include "http/h2_head.h"
#include "http/h2_inside.h"
#include "http/h2_session.h"
#include "http/routing.h"
#include "http/session.h"
#include "http/websocket.h"

/*
 * The type of a request of HTTP/2. No other file has its descriptor, so no program can have a
 * handler for this type.
 */
TR_MESSAGE(tr_http2_stream_, (channel, channel));

static const struct memory_source *source_of(const struct h2_stream *stream)
{
    return stream->head.source;
}

struct h2_stream *tr__h2_stream_new(struct h2_session *session, int32_t id)
{
    const struct memory_source *source = &session->channel->worker->system->source;
    struct h2_stream *stream = source_resize(source, NULL, sizeof *stream);
    if (!stream)
        return NULL;
    *stream = (struct h2_stream){.session = session,
                                 .id = id,
                                 .head = NET_BUFFER(source),
                                 .cookies = NET_BUFFER(source),
                                 .in = NET_BUFFER(source),
                                 .waiting = NET_BUFFER(source),
                                 .lent = NET_BUFFER(source)};
    stream->turn.protocol = &tr__http_protocol;
    stream->turn.channel = session->channel;
    list_init(&stream->turn.link);
    list_push_last(&session->all, &stream->link);
    session->count++;
    return stream;
}

void tr__h2_stream_rest(struct h2_stream *stream)
{
    if (h2_stream_has_turn(stream) || !stream->is_closed)
        return;
    struct h2_session *session = stream->session;
    tr__net_buffer_free(&stream->in);
    tr__net_buffer_free(&stream->lent);
    tr__net_buffer_free(&stream->head);
    tr__net_buffer_free(&stream->cookies);
    tr__net_buffer_free(&stream->waiting);
    list_remove(&stream->link);
    if (session)
        session->count--;
    source_resize(source_of(stream), stream, 0);
}

void tr__h2_stream_closed(struct h2_stream *stream, uint32_t code)
{
    bool is_in_order = code == NGHTTP2_NO_ERROR || code == NGHTTP2_CANCEL;
    stream->is_closed = true;
    stream->out_size = 0;
    tr__h2_events_gone(stream, is_in_order ? WS_CODE_GOING_AWAY : WS_CODE_LOST);
    /* if the turn of the stream has not started, it never starts */
    tr__protocol_turn_forget(&stream->turn);
    tr__h2_stream_wake(stream);
    tr__h2_stream_rest(stream);
}

void tr__h2_stream_wake(struct h2_stream *stream)
{
    if (stream->waiter)
        turn_wake(stream->waiter, TR_OK);
}

bool tr__h2_is_gone(const struct h2_stream *stream)
{
    return stream->is_closed || !h2_session_is_up(stream->session);
}

/* Lets the turn of a stream wait for the next event of the stream. */
static tr_status wait_for(struct h2_stream *stream, struct tr_self *self, tr_time within_ns)
{
    tr_status status = turn_may_park(self);
    if (status != TR_OK)
        return status;
    stream->waiter = self;
    status = turn_park_at(self, timer_deadline(clock_bound(&self->worker->clock), within_ns), NULL);
    stream->waiter = NULL;
    return status;
}

/* ---- Bodies. ---- */

tr_status tr__h2_stream_data(struct h2_stream *stream, const uint8_t *data, size_t size)
{
    tr_status status = tr__net_buffer_append(&stream->in, data, size);
    tr__h2_stream_wake(stream);
    return status;
}

/*
 * Enlarges the window of the stream by the bytes that the turn has read, so that the client may
 * send more.
 */
static void consume(struct h2_stream *stream)
{
    size_t size = net_buffer_size(&stream->lent);
    struct h2_session *session = stream->session;
    if (!size)
        return;
    tr__net_buffer_free(&stream->lent);
    if (tr__h2_is_gone(stream))
        return;
    session->is_starved |= nghttp2_session_consume_stream(session->engine, stream->id, size) != 0;
    tr__h2_flush(session);
}

/* Sends 100 Continue, if the client waits for that and no byte of the body has come. */
static void continue_send(struct http_request *request, struct h2_stream *stream)
{
    const nghttp2_nv field = {(uint8_t *)":status", (uint8_t *)"100", 7, 3, NGHTTP2_NV_FLAG_NONE};
    if (request->is_told)
        return;
    request->is_told = true;
    if (request->phase != ANSWER_NONE || stream->is_input_over || tr__h2_is_gone(stream))
        return;
    if (nghttp2_submit_headers(
            stream->session->engine, NGHTTP2_FLAG_NONE, stream->id, NULL, &field, 1, NULL) < 0)
        stream->session->is_starved = true;
    tr__h2_flush(stream->session);
}

bool tr__h2_body_read(struct http_request *request, tr_bytes *bytes)
{
    struct h2_stream *stream = request->stream;
    consume(stream);
    while (!net_buffer_size(&stream->in)) {
        bool is_lost = tr__h2_is_gone(stream) || stream->session->is_cut;
        if (stream->is_input_over) {
            request->body_is_over = true;
            return false;
        }
        if (is_lost)
            tr__http_body_fail(request, 400, "the body ended before its length");
        continue_send(request, stream);
        tr_status status = wait_for(stream, request->self, request->site->options.body_ns);
        if (status == TR_TIMEOUT)
            tr__http_body_fail(request, 408, "the body took too long");
        if (status != TR_OK)
            tr__http_body_fail(request, 400, "the body ended before its length");
    }
    struct net_buffer empty = stream->lent;
    stream->lent = stream->in;
    stream->in = empty;
    *bytes = net_buffer_bytes(&stream->lent);
    request->there.size = 0;
    if (request->body_left)
        request->body_left -= bytes->size < request->body_left ? bytes->size : request->body_left;
    if (stream->is_input_over)
        request->body_is_over = true;
    return true;
}

/* Prepares to read the body of a request whose head was parsed. */
static void body_begin(struct http_request *request, const struct h2_stream *stream)
{
    const struct http_head *head = &request->head;
    size_t there = net_buffer_size(&stream->in);
    request->is_told = !head->expects || there;
    if (stream->is_input_over && !there) {
        request->body_is_over = true;
        return;
    }
    request->body_left = head->length > 0 ? (uint64_t)head->length : 0;
    if (stream->is_input_over && head->length > 0) {
        request->there = net_buffer_bytes(&stream->in); /* the whole body has come already */
        request->body_left = 0;
    }
}

/* ---- Writing. ---- */

/*
 * Whether nothing more can be sent: the client is gone, or has ended its output and so will not
 * enlarge its window.
 */
static bool is_hopeless(const struct h2_stream *stream)
{
    return tr__h2_is_gone(stream) || (stream->session->is_cut && !stream->session->is_blocked);
}

tr_status tr__h2_drain(struct http_request *request)
{
    struct h2_stream *stream = request->stream;
    tr_time stall_ns = request->channel->endpoint->options.stall_ns;
    while (stream->out_size) {
        size_t before = stream->out_size;
        tr_status status =
            is_hopeless(stream) ? TR_CLOSED : wait_for(stream, request->self, stall_ns);
        bool has_moved = stream->out_size < before;
        if (status == TR_OK || (status == TR_TIMEOUT && has_moved))
            continue;
        /* forget the bytes that were not sent, because their memory is freed when the turn ends */
        stream->out_size = 0;
        if (tr__h2_is_gone(stream))
            return TR_CLOSED;
        if (nghttp2_submit_rst_stream(stream->session->engine,
                                      NGHTTP2_FLAG_NONE,
                                      stream->id,
                                      status == TR_TIMEOUT ? NGHTTP2_ENHANCE_YOUR_CALM
                                                           : NGHTTP2_INTERNAL_ERROR) != 0)
            stream->session->is_starved = true;
        tr__h2_flush(stream->session);
        return status == TR_TIMEOUT ? TR_STALLED : status;
    }
    return tr__h2_is_gone(stream) ? TR_CLOSED : TR_OK;
}

/* Passes bytes of the answer to nghttp2, which sends as many of them as possible now. */
static void offer(struct h2_stream *stream, tr_bytes bytes, bool is_last)
{
    stream->out = bytes.data;
    stream->out_size = bytes.size;
    stream->is_last = is_last;
    int problem = nghttp2_session_resume_data(stream->session->engine, stream->id);
    if (problem == NGHTTP2_ERR_NOMEM)
        stream->session->is_starved = true;
    tr__h2_flush(stream->session);
}

tr_status tr__h2_write(struct http_request *request, tr_bytes bytes)
{
    struct h2_stream *stream = request->stream;
    if (tr__h2_is_gone(stream))
        return TR_CLOSED;
    offer(stream, bytes, false);
    return tr__h2_drain(request);
}

void tr__h2_end(struct http_request *request)
{
    struct h2_stream *stream = request->stream;
    if (!request->has_no_body && !tr__h2_is_gone(stream))
        offer(stream, (tr_bytes){"", 0}, true);
}

/* ---- Turns. ---- */

static tr_next on_stream(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    (void)message;
    struct h2_stream *stream = (struct h2_stream *)(void *)protocol_turn_of(self->envelope);
    struct http_request *request = tr__http_request_new(self, stream->turn.channel, SIZE_MAX);
    request->stream = stream;
    stream->turn.request = request;
    int refusal = tr__h2_head_parse(stream, request);
    if (!refusal)
        body_begin(request, stream);
    return tr__http_request_run(request, state, refusal);
}

const tr_handler tr__h2_handler = {
    .type = &tr_type_tr_http2_stream_, .call = on_stream, .name = "an HTTP/2 request"};

/*
 * Call when the turn of a stream has ended. If the request has no answer, answers with an error. If
 * the answer is incomplete, resets the stream.
 */
static void finish(struct h2_stream *stream, struct http_request *request)
{
    struct h2_session *session = stream->session;
    enum answer_phase phase = request ? request->phase : ANSWER_NONE;
    int problem = 0;
    stream->out_size = 0;
    if (phase == ANSWER_NONE)
        tr__h2_answer_bare(stream, request, request && request->self->is_cancelled ? 503 : 500);
    else if (phase == ANSWER_BEGUN)
        problem = nghttp2_submit_rst_stream(
            session->engine, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_INTERNAL_ERROR);
    else if (!stream->is_input_over) /* RFC 9113, 8.1: the client need not send the rest */
        problem = nghttp2_submit_rst_stream(
            session->engine, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
    session->is_starved |= problem != 0;
}

void tr__h2_on_turn_done(struct protocol_turn *turn)
{
    struct h2_stream *stream = (struct h2_stream *)(void *)turn;
    struct h2_session *session = stream->session;
    struct http_request *request = turn->request;
    if (request)
        tr__http_request_end(request);
    turn->request = NULL;
    stream->waiter = NULL;
    if (!tr__h2_is_gone(stream) && !stream->has_events)
        finish(stream, request);
    if (request && turn->channel)
        tr__http_access_log(request, turn->channel);
    tr__net_buffer_free(&stream->in); /* no turn will read the rest of the body */
    tr__net_buffer_free(&stream->lent);
    tr__h2_stream_rest(stream);
    if (session)
        tr__h2_flush(session);
}
