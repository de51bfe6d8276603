/* SPDX-License-Identifier: Apache-2.0 */
#include "http/h2_answer.h"

#include <stdio.h>
#include <string.h>

#include "http/answer.h"
#include "http/date.h"
#include "http/h2_inside.h"
#include "http/h2_session.h"
#include "http/h2_stream.h"

enum {
    /* enough for the fields that the library adds to those of the program */
    FIELDS_MIN = 8,
    FIELDS_LAST = 16 /* an answer without a turn has at most this many fields; more are left out */
};

/*
 * Whether a field is about the connection: RFC 9113, 8.2.2. Such a field is left out of an answer
 * of HTTP/2. So a handler that sets it for HTTP/1.1 works with HTTP/2, too.
 */
static bool is_forbidden(const char *name)
{
    static const char *const names[] = {
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

struct fields {
    nghttp2_nv *all;
    size_t count;
};

/* Adds a field. nghttp2 copies name and value, and converts the name to lower case. */
static void add_bytes(struct fields *fields, const char *name, const char *value, size_t size)
{
    fields->all[fields->count++] = (nghttp2_nv){(uint8_t *)(uintptr_t)name,
                                                (uint8_t *)(uintptr_t)value,
                                                strlen(name),
                                                size,
                                                NGHTTP2_NV_FLAG_NONE};
}

static void add(struct fields *fields, const char *name, const char *value)
{
    if (value && !is_forbidden(name))
        add_bytes(fields, name, value, strlen(value));
}

static void add_date(struct fields *fields, struct worker *worker)
{
    const char *line = tr__http_date(worker); /* "Date: ...\r\n" */
    add_bytes(fields, "date", line + 6, strlen(line) - 8);
}

/* If the session stops soon, sends GOAWAY, so that the client opens no more streams. */
static void leave_if_stopping(struct h2_session *session)
{
    const struct cell *cell = session->channel->cell;
    if (session->is_leaving || (cell && !(cell->flags & CELL_SEALED)))
        return;
    session->is_leaving = true;
    if (nghttp2_submit_goaway(session->engine,
                              NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(session->engine),
                              NGHTTP2_NO_ERROR,
                              NULL,
                              0) != 0)
        session->is_starved = true;
}

/* Called by nghttp2: returns how much of the answer can be sent now. */
static ssize_t on_read(nghttp2_session *engine, int32_t id, uint8_t *to, size_t max,
                       uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)engine;
    (void)id;
    (void)to;
    struct h2_session *session = context;
    const struct h2_stream *stream = source->ptr;
    const struct channel *channel = session->channel;
    if (!stream->out_size && !stream->is_last)
        return NGHTTP2_ERR_DEFERRED;
    if (stream->out_size && !session->is_forced &&
        channel->work->output.size >= channel->endpoint->options.output_max) {
        session->is_blocked = true;
        return NGHTTP2_ERR_PAUSE;
    }
    size_t size = stream->out_size < max ? stream->out_size : max;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (size == stream->out_size && stream->is_last)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)size;
}

/* Passes an answer to nghttp2. Returns false if out of memory. */
static bool submit(struct h2_stream *stream, const struct fields *fields, bool has_body)
{
    const nghttp2_data_provider provider = {{.ptr = stream}, on_read};
    stream->is_begun = true;
    leave_if_stopping(stream->session);
    return nghttp2_submit_response(stream->session->engine,
                                   stream->id,
                                   fields->all,
                                   fields->count,
                                   has_body ? &provider : NULL) == 0;
}

static size_t count_of(const struct http_request *request, const tr_http_response *response)
{
    size_t count = FIELDS_MIN + request->set_count;
    for (const struct tr_http_field *field = response ? response->headers : NULL;
         field && field->name;
         field++)
        count++;
    return count;
}

/* Sends the head of an answer by HTTP/2. http/answer.c sends the same head by HTTP/1.1. */
static bool send_head(struct http_request *request, const char *type,
                      const tr_http_response *response, bool has_body)
{
    char status[12], length[24];
    struct fields fields = {
        tr_scratch(request->self, count_of(request, response) * sizeof *fields.all), 0};
    snprintf(status, sizeof status, "%d", request->status);
    add(&fields, ":status", status);
    add_date(&fields, request->self->worker);
    add(&fields, "server", request->site->server);
    if (!request->has_no_body || request->head.method_id == METHOD_HEAD)
        add(&fields, "content-type", type);
    add(&fields, "location", response ? response->location : NULL);
    add(&fields, "cache-control", response ? response->cache : NULL);
    for (const struct tr_http_field *field = response ? response->headers : NULL;
         field && field->name;
         field++)
        add(&fields, field->name, field->value);
    for (uint32_t i = 0; i < request->set_count; i++)
        add(&fields, request->set[i].name, request->set[i].value);
    snprintf(length, sizeof length, "%lld", (long long)request->left);
    if (request->left >= 0 && request->status != 204 && request->status != 304)
        add(&fields, "content-length", length);
    return submit(request->stream, &fields, has_body);
}

static void require(const struct http_request *request, bool is_sent)
{
    if (!is_sent)
        tr_crash(request->self, TR_NO_MEMORY, "out of memory for an answer");
}

void tr__h2_answer_head(struct http_request *request, const char *type,
                        const tr_http_response *response)
{
    struct h2_stream *stream = request->stream;
    if (tr__h2_is_gone(stream))
        return;
    stream->is_last = request->has_no_body;
    require(request, send_head(request, type, response, !request->has_no_body));
    tr__h2_flush(stream->session);
}

void tr__h2_answer(struct http_request *request, const char *type, tr_bytes body,
                   const tr_http_response *response)
{
    struct h2_stream *stream = request->stream;
    bool has_body = body.size && !request->has_no_body;
    if (tr__h2_is_gone(stream))
        return;
    stream->is_last = true;
    stream->out = body.data;
    stream->out_size = has_body ? body.size : 0;
    bool is_sent = send_head(request, type, response, has_body);
    if (!is_sent)
        stream->out_size = 0;
    require(request, is_sent);
    tr__h2_flush(stream->session);
    (void)!tr__h2_drain(request);
}

void tr__h2_answer_bare(struct h2_stream *stream, struct http_request *request, int status)
{
    char text[12], length[24];
    nghttp2_nv all[FIELDS_LAST];
    struct fields fields = {all, 0};
    size_t size =
        tr__http_error_write(request, status, NULL, (char *)stream->last, sizeof stream->last);
    TR_ASSERT(size < sizeof stream->last);
    snprintf(text, sizeof text, "%d", status);
    snprintf(length, sizeof length, "%zu", size);
    add(&fields, ":status", text);
    add_date(&fields, stream->session->channel->worker);
    add(&fields, "content-type", "application/json");
    add(&fields, "content-length", length);
    for (uint32_t i = 0; request && i < request->own_count && fields.count < FIELDS_LAST; i++)
        add(&fields, request->set[i].name, request->set[i].value);
    bool has_body = !request || request->head.method_id != METHOD_HEAD;
    stream->is_last = true;
    stream->out = stream->last;
    stream->out_size = has_body ? size : 0;
    if (!submit(stream, &fields, has_body)) {
        stream->session->is_starved = true;
    } else if (request) {
        request->status = status;
        request->sent = stream->out_size;
        request->phase = ANSWER_DONE;
    }
}
