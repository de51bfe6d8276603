/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h2_call.h"

#include <string.h>
#include <strings.h>

#include "actor/turn/park.h"
#include "http/client_flow.h"
#include "http/h2_call_input.h"
#include "http/h2_client.h"
#include "http/h2_input.h"

static bool is_up(const struct h2_call *call)
{
    return call->client && h2_session_is_up(&call->client->base);
}

/* Returns TR_OK if a call can continue; otherwise the status with which the call has failed. */
static tr_status status_of(struct http_flow *flow)
{
    const struct h2_call *call = flow->call;
    const struct h2_client *client = call->client;
    flow->is_unprocessed = call->is_unprocessed;
    flow->is_reset = call->was_reset;
    if (call->status != TR_OK) {
        flow->why = call->why;
        return call->status;
    }
    if (call->is_input_over || is_up(call))
        return TR_OK;
    flow->why = client ? client->why : NULL;
    return client && client->status != TR_OK ? client->status : TR_CLOSED;
}

/* Lets the turn wait for the next event of the call. */
static tr_status wait_for(struct http_flow *flow, tr_time deadline_ns)
{
    struct h2_call *call = flow->call;
    tr_status status = turn_may_park(flow->self);
    if (status != TR_OK)
        return status;
    if (deadline_ns <= clock_bound(&flow->self->worker->clock))
        return TR_TIMEOUT;
    call->waiter = flow->self;
    status = turn_park_at(flow->self, deadline_ns, NULL);
    call->waiter = NULL;
    return status;
}

/* ---- The request. ---- */

tr_status tr__h2_call_open(struct http_flow *flow)
{
    struct h2_client *client = flow->conn->h2;
    const struct memory_source *source = client->base.source;
    struct h2_call *call = source_resize(source, NULL, sizeof *call);
    if (!call)
        return TR_NO_MEMORY;
    *call = (struct h2_call){.client = client,
                             .limits = flow->limits,
                             .head = NET_BUFFER(source),
                             .in = NET_BUFFER(source)};
    list_push_last(&client->base.all, &call->link);
    client->base.streams.open++;
    flow->call = call;
    return TR_OK;
}

struct fields {
    nghttp2_nv *all;
    size_t count;
};

/* Adds a field. nghttp2 copies name and value, and converts the name to lower case. */
static void add(struct fields *fields, const char *name, size_t name_size, const char *value,
                size_t size)
{
    fields->all[fields->count++] = (nghttp2_nv){(uint8_t *)(uintptr_t)name,
                                                (uint8_t *)(uintptr_t)value,
                                                name_size,
                                                size,
                                                NGHTTP2_NV_FLAG_NONE};
}

/*
 * Whether a header is left out of a request of HTTP/2, because the header is about a connection of
 * HTTP/1.1: RFC 9113, 8.2.2.
 */
static bool is_dropped(const char *name, size_t size)
{
    static const char *const names[] = {"host", "transfer-encoding", "proxy-connection"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == size && strncasecmp(names[i], name, size) == 0)
            return true;
    }
    return false;
}

/*
 * Makes the fields of HTTP/2 from a head of HTTP/1.1 that this client has written: "GET /a
 * HTTP/1.1\r\nHost: b\r\nName: value\r\n...\r\n\r\n", with Host first. So requests are the same in
 * both versions.
 */
static void fields_make(struct fields *fields, const char *text, bool is_tls)
{
    const char *target = strchr(text, ' ') + 1;
    const char *version = strchr(target, ' ');
    const char *host = strchr(version, ':') + 2;
    const char *scheme = is_tls ? "https" : "http";
    add(fields, ":method", 7, text, (size_t)(target - 1 - text));
    add(fields, ":scheme", 7, scheme, strlen(scheme));
    add(fields, ":authority", 10, host, strcspn(host, "\r"));
    add(fields, ":path", 5, target, (size_t)(version - target));
    for (const char *line = strchr(version, '\n') + 1; *line != '\r';
         line = strchr(line, '\n') + 1) {
        const char *colon = strchr(line, ':');
        size_t size = (size_t)(colon - line);
        if (!is_dropped(line, size))
            add(fields, line, size, colon + 2, strcspn(colon + 2, "\r"));
    }
}

tr_status tr__h2_call_ask(struct http_flow *flow, tr_bytes head)
{
    struct h2_call *call = flow->call;
    const nghttp2_data_provider provider = {{.ptr = NULL}, tr__h2_call_on_read};
    bool has_body = flow->has_chunks || flow->to_send;
    size_t lines = 4;
    if (!is_up(call))
        return status_of(flow);
    for (size_t i = 0; i < head.size; i++)
        lines += ((const char *)head.data)[i] == '\n';
    struct fields fields = {tr_try_scratch(flow->self, lines * sizeof *fields.all), 0};
    if (!fields.all)
        return TR_NO_MEMORY;
    fields_make(&fields, head.data, flow->is_tls);
    nghttp2_session *engine = call->client->base.engine;
    int32_t id = nghttp2_submit_request(
        engine, NULL, fields.all, fields.count, has_body ? &provider : NULL, call);
    call->asked_ns = call->client->base.channel->worker->loop.now_ns;
    if (id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE) {
        tr__h2_client_leave(call->client);
        call->is_unprocessed = true;
        call->status = TR_CLOSED;
    } else if (id < 0) {
        call->client->base.is_starved = true;
        call->status = TR_NO_MEMORY;
    } else {
        call->id = id;
    }
    tr__h2_client_flush(call->client);
    return status_of(flow);
}

bool tr__h2_call_has_begun(const struct h2_call *call)
{
    return call->has_final;
}

/* Waits until nghttp2 has made frames of all bytes of `out`. */
static tr_status drain(struct http_flow *flow)
{
    struct h2_call *call = flow->call;
    while (call->out_size) {
        tr_status status = status_of(flow);
        if (call->has_final) {
            flow->has_begun = true;
            return TR_CLOSED;
        }
        if (status == TR_OK)
            status = wait_for(flow, flow->deadline_ns);
        if (status != TR_OK)
            return status;
    }
    return call->has_final ? TR_OK : status_of(flow);
}

tr_status tr__h2_call_send(struct http_flow *flow, tr_bytes bytes, bool is_last)
{
    struct h2_call *call = flow->call;
    if (!is_up(call) || call->status != TR_OK)
        return status_of(flow);
    call->out = bytes.data;
    call->out_size = bytes.size;
    call->is_last = is_last;
    if (nghttp2_session_resume_data(call->client->base.engine, call->id) == NGHTTP2_ERR_NOMEM)
        call->client->base.is_starved = true;
    tr__h2_client_flush(call->client);
    tr_status status = drain(flow);
    if (call->out_size) {
        /* the bytes belong to the turn, and may be freed before they are sent; so forget them */
        call->out_size = 0;
        call->is_last = false;
    }
    return status;
}

/* ---- The answer. ---- */

tr_status tr__h2_call_expect(struct http_flow *flow)
{
    const struct h2_call *call = flow->call;
    tr_time soon_ns = timer_deadline(clock_bound(&flow->self->worker->clock), TR_HTTP_CONTINUE_NS);
    bool is_short = soon_ns < flow->deadline_ns;
    while (!call->has_continue && !call->has_final) {
        tr_status status = status_of(flow);
        if (status == TR_OK)
            status = wait_for(flow, is_short ? soon_ns : flow->deadline_ns);
        if (status == TR_TIMEOUT && is_short)
            /*
             * return no error: not every server answers Expect (RFC 9110, 10.1.1), so the request
             * continues
             */
            return TR_OK;
        if (status != TR_OK)
            return status;
    }
    flow->has_begun = call->has_final;
    return call->has_final ? TR_CLOSED : TR_OK;
}

tr_status tr__h2_call_head(struct http_flow *flow, struct http_answer_head *answer)
{
    struct h2_call *call = flow->call;
    while (!call->has_final) {
        tr_status status = status_of(flow);
        if (status == TR_OK)
            status = wait_for(flow, flow->deadline_ns);
        if (status != TR_OK)
            return status;
    }
    flow->has_begun = true;
    flow->has_any = true;
    if (call->status != TR_OK && call->status != TR_RESET)
        /* the call has failed, because the answer is malformed or too large */
        return status_of(flow);
    tr_bytes head = net_buffer_bytes(&call->head);
    char *copy = tr_try_scratch(flow->self, head.size + 3);
    answer->head.fields =
        tr_try_scratch(flow->self, flow->limits.headers_max * sizeof *answer->head.fields);
    if (!copy || !answer->head.fields)
        return TR_NO_MEMORY;
    if (head.data)
        memcpy(copy, head.data, head.size);
    memcpy(copy + head.size, "\r\n", 3);
    size_t size = head.size + 2;
    tr__net_buffer_free(&call->head);
    tr_status status = tr__http_answer_parse(copy, size, &flow->limits, answer);
    if (status != TR_OK)
        flow->why = answer->head.why;
    return status;
}

/*
 * Enlarges the window of the stream by the bytes that the turn has read, so that the server may
 * send more.
 */
static void consume(struct h2_call *call)
{
    size_t size = call->lent;
    if (!size)
        return;
    call->lent = 0;
    net_buffer_consume(&call->in, size);
    if (!net_buffer_size(&call->in))
        tr__net_buffer_free(&call->in);
    if (!is_up(call) || call->is_closed)
        return;
    int problem = nghttp2_session_consume_stream(call->client->base.engine, call->id, size);
    call->client->base.is_starved |= problem != 0;
    tr__h2_client_flush(call->client);
}

tr_status tr__h2_call_read(struct http_flow *flow, size_t max, tr_bytes *piece)
{
    struct h2_call *call = flow->call;
    consume(call);
    while (!net_buffer_size(&call->in)) {
        if (call->is_input_over)
            return TR_OK;
        tr_status status = status_of(flow);
        if (status == TR_OK)
            status = wait_for(flow, flow->deadline_ns);
        if (status != TR_OK)
            return status;
    }
    *piece = net_buffer_bytes(&call->in);
    piece->size = piece->size < max ? piece->size : max;
    call->lent = piece->size;
    return TR_OK;
}

bool tr__h2_call_is_over(const struct h2_call *call)
{
    return call->is_input_over && net_buffer_size(&call->in) == call->lent;
}

/* ---- The end. ---- */

void tr__h2_call_cancel(struct h2_call *call)
{
    if (is_up(call))
        tr__h2_call_fail(call, TR_CANCELLED, NULL, NGHTTP2_CANCEL);
}

void tr__h2_call_drop(struct h2_call *call)
{
    const struct memory_source *source = call->in.source;
    tr__net_buffer_free(&call->head);
    tr__net_buffer_free(&call->in);
    source_resize(source, call, 0);
}

void tr__h2_call_free(struct h2_call *call, bool is_late)
{
    struct h2_client *client = call->client;
    if (!client) {
        tr__h2_call_drop(call);
        return;
    }
    struct h2_session *session = &client->base;
    if (is_up(call) && call->id && !call->is_closed) {
        (void)nghttp2_session_set_stream_user_data(session->engine, call->id, NULL);
        tr__h2_refuse(session, call->id, NGHTTP2_CANCEL);
    }
    if (is_late)
        tr__h2_client_doubt(client, call->asked_ns);
    list_remove(&call->link);
    session->streams.open--;
    tr__h2_call_drop(call);
    struct channel *channel = session->channel;
    tr__h2_client_flush(client);
    /* the actor may get tr_closed only now, because this was the last call */
    tr__channel_call(channel);
}
