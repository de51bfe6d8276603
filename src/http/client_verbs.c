/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs by which a program sends requests. They check their arguments, and ask the client of
 * this worker.
 */
#include "http/client_verbs.h"

#include <string.h>
#include <strings.h>

#include "actor/ask/ask.h"
#include "actor/ask/turn_asks.h"
#include "actor/cell/verb.h"
#include "actor/verbs/self_memory.h"
#include "base/sized.h"
#include "http/client.h"
#include "http/h2_session.h"
#include "http/trace.h"

enum { CALL_HEAD_MAX = 64 * 1024 /* largest .head_max */ };

static tr_http_call_ask failed(tr_status status)
{
    return (tr_http_call_ask){.any = {PENDING_IS_STATUS | (uint32_t)-status}};
}

/* ---- Checks of arguments. ---- */

bool tr__http_by_is_good(const tr_endpoint *by)
{
    tr_endpoint copy = {.size = 0};
    if (!sized_read(&copy, sizeof copy, by, by->size ? by->size : sizeof copy))
        /* the program was compiled with a larger struct, and has set a member that this library does not have */
        return false;
    bool has_stream = copy.framing || copy.frame_max || copy.output_max || copy.connect_ns ||
                      copy.idle_ns || copy.stall_ns || copy.linger_ns || copy.delays ||
                      copy.in_flight_max || copy.filters.filters[0] || copy.interleaves ||
                      copy.answers_in_order;
    bool has_listener = copy.only_v6 || copy.reuses_port || copy.connections_max ||
                        copy.connections_per_peer_max || copy.backlog || copy.has_proxy_header ||
                        copy.accepted_by.bits || copy.hosts || copy.verify != TR_VERIFY_NONE;
    return !has_stream && !has_listener && !copy.source && !copy.alpn && !copy.starts_plain &&
           !copy.http && !copy.protocol;
}

static bool numbers_are_good(const tr_http_call *call)
{
    return call->within_ns >= 0 && call->idle_ns >= 0 && call->length >= 0 &&
           call->head_max <= CALL_HEAD_MAX && call->body_max <= TR_PAYLOAD_MAX &&
           (unsigned)call->version <= TR_HTTP_VERSION_2;
}

static bool bodies_are_good(const tr_http_call *call)
{
    int bodies = (call->text != NULL) + (call->body.data != NULL) + (call->json.type != NULL);
    return bodies <= 1 && (call->body.data || !call->body.size);
}

static bool call_is_good(const char *url, const tr_http_call *call, bool opens)
{
    if (!url || !numbers_are_good(call) || !bodies_are_good(call) ||
        (call->by && !tr__http_by_is_good(call->by)))
        return false;
    bool has_body = call->text || call->body.data || call->json.type;
    if (opens)
        return !has_body && !call->streams && !call->redirects_max;
    return !call->length;
}

static void fill_by(struct tr_http_call_ *message, const tr_endpoint *by)
{
    message->address = by->address && by->address[0] ? by->address : NULL;
    message->trusts = by->trusts;
    message->certificate = by->certificate;
    message->key = by->key;
    message->server_name = by->server_name;
    message->flags |= by->insecure ? CALL_INSECURE : 0;
}

/* Fills in the body of the request. Fails with TR_NO_MEMORY, or with a status of tr_json_write. */
static tr_status fill_body(struct tr_self *self, struct tr_http_call_ *message,
                           const tr_http_call *call)
{
    const char *type = "application/octet-stream";
    message->body = call->body;
    if (call->text) {
        message->body = (tr_bytes){call->text, strlen(call->text)};
        type = "text/plain; charset=utf-8";
    } else if (call->json.type) {
        tr_wire_error error;
        size_t size = tr_json_write(call->json.type, call->json.data, NULL, 0, &error);
        char *text = size ? tr_try_scratch(self, size + 1) : NULL;
        if (!text)
            return size ? TR_NO_MEMORY : error.status;
        message->body =
            (tr_bytes){text, tr_json_write(call->json.type, call->json.data, text, size + 1, NULL)};
        type = "application/json";
    }
    message->has_body = call->text || call->body.data || call->json.type;
    message->type = call->type ? call->type : type;
    return TR_OK;
}

static void fill_numbers(struct tr_http_call_ *message, const tr_http_call *call)
{
    message->head_max = call->head_max ? call->head_max : TR_HTTP_HEAD_MAX;
    message->body_max = call->body_max ? call->body_max : TR_HTTP_BODY_MAX;
    message->redirects_max = call->redirects_max;
    message->length = call->length;
    message->connections_max =
        call->connections_max ? call->connections_max : TR_HTTP_CONNECTIONS_MAX;
    message->waiting_max = call->waiting_max ? call->waiting_max : TR_HTTP_WAITING_MAX;
    message->idle_ns = call->idle_ns ? call->idle_ns : TR_HTTP_IDLE_NS;
    message->flags |= call->streams ? CALL_STREAMS : 0;
    message->flags |= call->version == TR_HTTP_VERSION_1   ? CALL_VERSION_1
                      : call->version == TR_HTTP_VERSION_2 ? CALL_VERSION_2
                                                           : 0;
    message->flags |= call->may_downgrade ? CALL_DOWNGRADES : 0;
    message->flags |= call->expects ? CALL_EXPECTS : 0;
}

/* Whether the program has given a header of this name. */
static bool is_given(const tr_http_call *call, const char *name)
{
    for (const struct tr_http_field *field = call->headers; field && field->name; field++) {
        if (strcasecmp(field->name, name) == 0)
            return true;
    }
    return false;
}

/*
 * Fills in the headers. If this turn handles a request, adds the id and the trace of that request,
 * so that logs and spans of the two requests can be matched. If the turn has a span, the trace
 * names this span as the parent. Fails with TR_NO_MEMORY.
 */
static tr_status fill_headers(struct tr_self *self, struct tr_http_call_ *message,
                              const tr_http_call *call)
{
    uint32_t count = 0;
    while (call->headers && call->headers[count].name)
        count++;
    message->headers.items = (struct tr_http_field *)(uintptr_t)call->headers;
    message->headers.count = count;
    char span[TRACE_PARENT_SIZE];
    bool has_span = tr__http_trace_is_on(self) && tr__http_trace_out(self, span);
    const char *id = tr_http_request_id(self);
    if (!id && !has_span)
        return TR_OK;
    const char *trace =
        has_span ? tr_format(self, "%s", span) : tr_http_header(self, "traceparent");
    const char *vendors = trace ? tr_http_header(self, "tracestate") : NULL;
    struct tr_http_field *fields = tr_try_scratch(self, (count + 3) * sizeof *fields);
    if (!fields)
        return TR_NO_MEMORY;
    if (count)
        memcpy(fields, call->headers, count * sizeof *fields);
    if (id && !is_given(call, "x-request-id"))
        fields[count++] = (struct tr_http_field){"X-Request-Id", id};
    if (trace && !is_given(call, "traceparent")) {
        fields[count++] = (struct tr_http_field){"traceparent", trace};
        if (vendors && !is_given(call, "tracestate"))
            fields[count++] = (struct tr_http_field){"tracestate", vendors};
    }
    message->headers.items = fields;
    message->headers.count = count;
    return TR_OK;
}

/* Makes the message for the client of this worker. */
static tr_status fill(struct tr_self *self, const char *url, const tr_http_call *call, bool opens,
                      struct tr_http_call_ *message)
{
    if (!call_is_good(url, call, opens))
        return TR_INVALID_ARGUMENT;
    *message = (struct tr_http_call_){.url = url, .flags = opens ? CALL_OPENS : 0};
    tr_status status = fill_body(self, message, call);
    if (status != TR_OK)
        return status;
    message->method = call->method ? call->method : message->has_body || opens ? "POST" : "GET";
    message->authorization = call->authorization;
    status = fill_headers(self, message, call);
    if (status != TR_OK)
        return status;
    fill_numbers(message, call);
    if (call->by)
        fill_by(message, call->by);
    return TR_OK;
}

/* Sends the request to the client of this worker, as an ask. */
static tr_http_call_ask begin(struct tr_self *self, const char *url, const tr_http_call *given,
                              bool opens)
{
    struct tr_http_call_ message;
    uint64_t client;
    tr_http_call call = {.size = sizeof call};
    bool is_good = self && given &&
                   sized_read(&call, sizeof call, given, given->size ? given->size : sizeof call);
    tr_status status = is_good ? TR_OK : TR_INVALID_ARGUMENT;
    bool is_built = tr__http_is_built() && (call.version != TR_HTTP_VERSION_2 || tr__h2_is_built());
    if (status == TR_OK && !is_built)
        status = TR_NOT_SUPPORTED;
    if (status == TR_OK)
        status = fill(self, url, &call, opens, &message);
    if (status == TR_OK)
        status = tr__http_client_of(self, &client);
    if (status != TR_OK)
        return failed(status);
    tr_time within_ns = call.within_ns ? call.within_ns : TR_HTTP_CALL_NS;
    return (tr_http_call_ask){
        .any = tr_self_ask(
            self, tr_ref_from_bits(client), &tr_type_tr_http_call_, &message, within_ns)};
}

tr_http_call_ask tr_self_http_ask(tr_self *self, const char *url, const tr_http_call *call)
{
    TURN_VERB(self);
    return begin(self, url, call, false);
}

/* ---- Answers. ---- */

const char *tr_http_answer_header(const struct tr_http_answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->headers.count; i++) {
        if (strcasecmp(answer->headers.items[i].name, name) == 0)
            return answer->headers.items[i].value;
    }
    return NULL;
}

/* A message that was decoded, and the type of the message. */
struct read_message {
    const tr_type *type;
    void *block;
};

static void read_free(void *data)
{
    struct read_message *message = data;
    tr_message_free(message->type, message->block);
}

tr_status tr_self_http_answer_json(tr_self *self, const struct tr_http_answer *answer,
                                   const tr_type *type, const void **message)
{
    TURN_VERB(self);
    tr_wire_error error;
    struct read_message *read = tr_try_scratch(self, sizeof *read);
    if (!read)
        return TR_NO_MEMORY;
    read->type = type;
    tr_status status = tr_json_read(type, answer->body, &read->block, &error);
    if (status != TR_OK) {
        tr_log_info(self,
                    "the answer of %s is no %s: %s%s%s",
                    answer->url,
                    type->name,
                    error.path,
                    error.path[0] ? ": " : "",
                    error.text);
        return status;
    }
    tr__turn_defer(self, read, read_free);
    *message = read->block;
    return TR_OK;
}

/* ---- Streams. ---- */

/*
 * Frees the reply of the ask that this turn has made last. Otherwise the memory of the turn would
 * grow with each piece of the stream.
 */
static void forget(struct tr_self *self, tr_pending ask)
{
    uint64_t at = ask.id >> 32;
    if (at + 1 != self->asks.count || !place_is_answered(self->asks.places[at]))
        return;
    envelope_give(&self->worker->pool, place_answer(self->asks.places[at]));
    self->asks.count--;
}

tr_status tr_self_http_open(tr_self *self, struct tr_http_stream *stream, const char *url,
                            const tr_http_call *call)
{
    TURN_VERB(self);
    const void *reply;
    if (!stream)
        return TR_INVALID_ARGUMENT;
    tr_http_call_ask asked = begin(self, url, call, true);
    tr_status status = tr_self_try_await(self, asked.any, &reply);
    if (status == TR_OK)
        *stream = ((const struct tr_http_answer *)reply)->stream;
    return status;
}

tr_status tr_http_send(tr_self *self, struct tr_http_stream stream, tr_bytes bytes)
{
    TURN_VERB(self);
    const struct tr_http_send_ message = {.number = stream.number, .bytes = bytes};
    if (!stream.number)
        return TR_NOT_FOUND;
    if (bytes.size > TR_HTTP_PIECE_MAX)
        return TR_TOO_LARGE;
    tr_pending ask =
        tr_self_ask(self, stream.keeper, &tr_type_tr_http_send_, &message, TR_HTTP_CALL_NS);
    tr_status status = tr_self_try_await(self, ask, NULL);
    if (status == TR_OK)
        forget(self, ask);
    if (status == TR_TIMEOUT)
        tr_http_drop(self, stream);
    return status == TR_STOPPED || status == TR_RESTARTED ? TR_NOT_FOUND : status;
}

tr_http_call_ask tr_http_finish(tr_self *self, struct tr_http_stream stream, bool streams)
{
    TURN_VERB(self);
    const struct tr_http_finish_ message = {.number = stream.number, .streams = streams};
    if (!stream.number)
        return failed(TR_NOT_FOUND);
    return (tr_http_call_ask){
        .any =
            tr_self_ask(self, stream.keeper, &tr_type_tr_http_finish_, &message, TR_HTTP_CALL_NS)};
}

tr_status tr_http_receive(tr_self *self, struct tr_http_stream stream, void *buffer, size_t size,
                          size_t *got)
{
    TURN_VERB(self);
    const struct tr_http_next_ message = {.number = stream.number, .max = size};
    const void *reply;
    *got = 0;
    if (!buffer || !size)
        return TR_INVALID_ARGUMENT;
    if (!stream.number) /* the answer has no body, so no stream was made */
        return TR_OK;
    tr_pending ask =
        tr_self_ask(self, stream.keeper, &tr_type_tr_http_next_, &message, TR_HTTP_CALL_NS);
    tr_status status = tr_self_try_await(self, ask, &reply);
    if (status == TR_OK) {
        tr_bytes bytes = ((const struct tr_http_portion_ *)reply)->bytes;
        if (bytes.size)
            memcpy(buffer, bytes.data, bytes.size);
        *got = bytes.size;
        forget(self, ask);
        return TR_OK;
    }
    if (status != TR_INVALID_TRANSITION && status != TR_NOT_FOUND)
        /*
         * this piece may be lost, so the program must get no later one
         */
        tr_http_drop(self, stream);
    return status == TR_STOPPED || status == TR_RESTARTED ? TR_NOT_FOUND : status;
}

void tr_http_drop(tr_self *self, struct tr_http_stream stream)
{
    TURN_VERB(self);
    const struct tr_http_drop_ message = {.number = stream.number};
    if (stream.number)
        (void)tr_self_tell(self, stream.keeper, &tr_type_tr_http_drop_, &message);
}
