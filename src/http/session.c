/* SPDX-License-Identifier: Apache-2.0 */
#include "http/session.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "actor/turn/follow_turn.h"
#include "actor/verbs/self_memory.h"
#include "base/sized.h"
#include "http/access_log.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/call.h"
#include "http/events.h"
#include "http/face.h"
#include "http/fill.h"
#include "http/h2_guard.h"
#include "http/h2_session.h"
#include "http/h2_stream.h"
#include "http/id.h"
#include "http/later.h"
#include "http/openapi.h"
#include "http/trace.h"
#include "http/ws_session.h"
#include "http/ws_upgrade.h"
#include "net/channel_end.h"
#include "net/deadline.h"
#include "net/dial.h"
#include "net/listener_shared.h"

/*
 * The type of a piece of input, which is a head. No other file has its descriptor, so no program
 * can have a handler for this type.
 */
TR_MESSAGE(tr_http_piece_, (channel, channel), (bytes, bytes));
static_assert(sizeof(struct tr_http_piece_) == sizeof(struct tr_received),
              "net fills in a struct tr_received");

enum { NOWHERE_MAX = 256 /* the most bytes of the text of a 404; a longer path is cut */ };

static const struct http_site *site_of(const struct channel *channel)
{
    return channel->endpoint->site;
}

/* ---- Making a site. ---- */

static bool offers_h2(const char *alpn)
{
    for (const char *at = alpn; at && *at; at += strspn(at, ",")) {
        size_t size = strcspn(at, ",");
        if (size == 2 && memcmp(at, "h2", 2) == 0)
            return true;
        at += size;
    }
    return false;
}

/*
 * Copies the options of the program. Returns false if the program was compiled with more options
 * than this library has, and has set one of these.
 */
static bool options_read(const tr_endpoint *endpoint, tr_http_options *options)
{
    *options = (tr_http_options){.size = sizeof *options};
    return !endpoint->http ||
           sized_read(options, sizeof *options, endpoint->http, endpoint->http_size);
}

static tr_status on_open_listener(struct tr_self *self, struct endpoint *endpoint,
                                  const tr_behavior *behavior)
{
    struct http_site *site = NULL;
    const tr_handler *row;
    const char *why;
    tr_http_options options;
    if (!tr__http_is_built())
        return TR_NOT_SUPPORTED;
    if (!options_read(&endpoint->options, &options)) {
        tr_log_error(
            self, "cannot listen: an option of HTTP is not known to this version of the library");
        return TR_INVALID_ARGUMENT;
    }
    if (!tr__h2_is_built() && offers_h2(endpoint->options.alpn)) {
        tr_log_error(self, "cannot listen: .alpn has h2, and HTTP/2 was not built");
        return TR_NOT_SUPPORTED;
    }
    tr_status status =
        tr__http_site_new(&self->worker->system->source, &options, behavior, &site, &row, &why);
    /* clear the pointer: the site has a copy of the options, and the program may free them */
    endpoint->options.http = NULL;
    endpoint->site = site;
    if (status == TR_INVALID_ARGUMENT && row)
        tr_log_error(self,
                     "cannot listen: %s: TR_%s(\"%s\", %s, %s): %s",
                     behavior->name,
                     row->place ? "FILES" : row->method,
                     row->path,
                     row->type ? row->type->name : "any",
                     row->name,
                     why);
    else if (status == TR_INVALID_ARGUMENT)
        tr_log_error(self, "cannot listen: %s: %s", behavior->name, why);
    return status;
}

static void site_drop(const struct memory_source *source, void *site)
{
    source_resize(source, site, 0);
}

/* ---- Between requests. ---- */

/* Checks whether a new connection begins with HTTP/2. Returns the result of tr__h2_preface. */
static int begins_h2(const struct channel *channel, tr_bytes bytes)
{
    bool is_first = !channel_has(channel, CHANNEL_ANSWERED);
    return is_first && !site_of(channel)->options.has_no_http2 ? tr__h2_preface(bytes) : 0;
}

static size_t cut(const struct channel *channel, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    const struct ws_session *session = ws_session_of(channel);
    *piece = bytes;
    if (session)
        return tr__ws_cut(session, bytes, piece);
    if (h2_session_of(channel) || http_events_of(channel))
        return bytes.size;
    int is_h2 = begins_h2(channel, bytes);
    if (is_h2) {
        piece->size = H2_PREFACE_SIZE;
        return is_h2 > 0 ? H2_PREFACE_SIZE : 0;
    }
    if (bytes.size <= H2_PREFACE_SIZE)
        /*
         * until now these bytes could be the preface of HTTP/2, and no search has looked at them,
         * so search all of them
         */
        seen = 0;
    return tr__http_head_cut(bytes, seen, site_of(channel)->limits.head_max, piece);
}

/*
 * Sets the deadline for the next request of the connection. Arms the timer only if it would fire
 * too late; if it fires too early, it is armed again then.
 */
static void wait_for_request(struct channel *channel)
{
    channel->flags &= ~(uint32_t)CHANNEL_IN_PART;
    channel->deadline_ns =
        timer_deadline(channel->worker->loop.now_ns, site_of(channel)->options.keep_ns);
    tr__channel_arm(channel);
}

static void on_part(struct channel *channel)
{
    if (ws_session_of(channel)) {
        tr__ws_wait(channel);
        return;
    }
    if (channel_has(channel, CHANNEL_IN_PART))
        return;
    channel->flags |= CHANNEL_IN_PART;
    channel->deadline_ns =
        timer_deadline(channel->worker->loop.now_ns, site_of(channel)->options.head_ns);
    tr__channel_arm(channel);
}

static tr_time within(const struct channel *channel)
{
    const struct http_request *request = channel->request;
    return request->reads_body ? request->site->options.body_ns : 0;
}

/* Called when a connection has opened: prepares it for its first request. */
static void on_open(struct channel *channel)
{
    const char *protocol = tr__channel_protocol(channel);
    if (!protocol || strcmp(protocol, "h2") != 0)
        wait_for_request(channel);
    else if (tr__h2_begin(channel) != TR_OK)
        tr__channel_end(channel, TR_NO_MEMORY, NULL);
}

static void on_close(struct channel *channel, bool has_failed)
{
    if (h2_session_of(channel))
        tr__h2_on_close(channel, has_failed);
    else if (http_events_of(channel))
        tr__http_events_on_close(channel, has_failed);
    else
        tr__ws_on_close(channel, has_failed);
}

static void on_deadline(struct channel *channel)
{
    if (channel->deadline_ns > channel->worker->loop.now_ns) {
        /* the deadline is not reached, so the channel was idle for .idle_ns of the endpoint */
        tr__channel_end(channel, TR_TIMEOUT, NULL);
        return;
    }
    if (ws_session_of(channel)) {
        tr__ws_deadline(channel);
        return;
    }
    if (h2_session_of(channel)) {
        tr__h2_on_deadline(channel);
        return;
    }
    if (http_events_of(channel)) {
        tr__http_events_deadline(channel);
        return;
    }
    channel->deadline_ns = TR_NEVER;
    if (channel->request) /* a turn handles a request now, and such a turn has limits of its own */
        return;
    if (channel_has(channel, CHANNEL_IN_PART))
        tr__http_answer_bare(channel, 408);
    tr__channel_close(channel);
}

/* ---- Routing. ---- */

/*
 * Whether new requests can be sent here: neither the listener nor the session is about to end. For
 * /readyz.
 */
static bool is_ready(const struct http_request *request)
{
    const struct listener_shared *listener = request->channel->endpoint->listener;
    return listener && !atom32_load(&listener->is_paused, ATOM_RELAXED) &&
           !(request->self->cell->flags & CELL_SEALED);
}

/* Answers /healthz and /readyz. Returns false for any other path. */
static bool answer_health(struct http_request *request)
{
    bool is_get = request->head.method_id == METHOD_GET || request->head.method_id == METHOD_HEAD;
    if (!request->site->options.has_health || !is_get || request->path->count != 1 ||
        request->path->segments[0].size > sizeof "healthz")
        return false;
    bool is_good = true;
    if (strcmp(request->path->text, "/readyz") == 0)
        is_good = is_ready(request);
    else if (strcmp(request->path->text, "/healthz") != 0)
        return false;
    tr_bytes body = is_good ? TR_BYTES("ok\n") : TR_BYTES("not ready\n");
    tr__http_answer(request, is_good ? 200 : 503, "text/plain; charset=utf-8", body, NULL);
    return true;
}

static void document_free(void *text)
{
    tr__net_buffer_free(text);
}

/* Answers /openapi.json. Returns false for any other path, or if the option is not set. */
static bool answer_openapi(struct http_request *request)
{
    bool is_get = request->head.method_id == METHOD_GET || request->head.method_id == METHOD_HEAD;
    if (!request->site->options.openapi || !is_get ||
        strcmp(request->path->text, "/openapi.json") != 0)
        return false;
    struct net_buffer *text = tr_scratch(request->self, sizeof *text);
    *text = NET_BUFFER(&request->self->worker->system->source);
    tr__turn_defer(request->self, text, document_free);
    if (tr__http_openapi_write(request->site, text) != TR_OK)
        tr_crash(request->self, TR_NO_MEMORY, "out of memory for /openapi.json");
    tr__http_answer(request, 200, "application/json", net_buffer_bytes(text), NULL);
    return true;
}

/* Calls the handler of a request's row. */
static tr_next call_row(struct http_request *request, const tr_handler *row, void *state)
{
    const void *message = request->raw ? (const void *)request->raw : request->message;
    return http_call_user(request->self, row, state, message);
}

/* Finds the route of a request. If the request asks for a WebSocket, prefers a route of
 * TR_WEBSOCKET. */
static const struct http_route *route_find(struct http_request *request,
                                           const struct http_route **other, char *allow)
{
    const struct http_site *site = request->site;
    const struct http_route *route = NULL;
    if (site->has_websockets && tr__ws_is_upgrade(request))
        route = tr__http_site_find(site, METHOD_WEBSOCKET, request->path, other, allow);
    if (route)
        return route;
    return tr__http_site_find(site, request->head.method_id, request->path, other, allow);
}

/* Call when the row of a request is known. Sets the headers that each answer of the row has. */
static void begin(struct http_request *request)
{
    const struct tr_http_face_ *face = http_face_of(request);
    if (face)
        face->begin(request);
    request->own_count = request->set_count;
}

/* Makes the message that the row of a request needs, and calls the handler of the row. */
static tr_next take(struct http_request *request, const tr_handler *row, void *state)
{
    const struct http_route *route = request->route;
    if (route && route->method == METHOD_WEBSOCKET) {
        if (!tr__ws_check(request))
            return TR_SAME;
        if (route->is_message)
            return tr_ws_accept(request->self);
    }
    if (!route || route->is_raw)
        tr__http_fill_raw(request);
    else if (!tr__http_fill_typed(request))
        return TR_SAME;
    return call_row(request, row, state);
}

/*
 * Answers 404. The text names the path that was received, so that a client can see whether a proxy has changed the path
 * on its way.
 */
static void answer_nowhere(struct http_request *request)
{
    const struct http_head *head = &request->head;
    char text[NOWHERE_MAX];
    snprintf(text, sizeof text, "nothing is served at %.*s", (int)head->path_size, head->path);
    tr__http_answer_error(request, 404, text, NULL);
}

/* Finds the row of the request, and calls its handler. */
static tr_next route(struct http_request *request, void *state)
{
    struct http_head *head = &request->head;
    char allow[HTTP_ALLOW_MAX];
    const struct http_route *other;
    size_t bytes = tr__http_path_bytes(head->path, head->path_size);
    request->path = tr_scratch(request->self, bytes + head->path_size + 2);
    char *text = (char *)request->path + bytes;
    if (!tr__http_path_decode(head->path, head->path_size, text, request->path)) {
        tr__http_answer_error(request, 400, "the path is malformed", NULL);
        return TR_SAME;
    }
    if (answer_health(request))
        return TR_SAME;
    if (request->self->cell->dispatch->behavior != request->site->behavior) {
        tr_log_error(request->self, "a session of HTTP has another behavior: its paths are gone");
        tr__http_answer_error(request, 500, "the server has failed", NULL);
        return TR_SAME;
    }
    request->route = route_find(request, &other, allow);
    const tr_handler *row = request->route ? request->route->row : request->site->rest;
    if (!request->route && answer_openapi(request))
        return TR_SAME;
    if (row) {
        begin(request);
        return take(request, row, state);
    }
    /*
     * this path has a row of another method; the face of that row says what an error looks like
     * here
     */
    request->route = other;
    begin(request);
    bool is_there = other;
    if (is_there && tr__ws_answer_upgrade(request))
        return TR_SAME;
    if (head->method_id == METHOD_OPTIONS && (is_there || head->is_asterisk)) {
        tr_http_set(request->self,
                    "allow",
                    head->is_asterisk ? "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" : allow);
        tr__http_answer(request, 204, NULL, (tr_bytes){"", 0}, NULL);
    } else if (is_there) {
        tr__http_answer_error(request, 405, "this method is not served here", allow);
    } else {
        answer_nowhere(request);
    }
    return TR_SAME;
}

/* ---- Turns. ---- */

/* Completes the answer after the handler has returned. The turn may still wait here. */
static void answer_finish(struct http_request *request, tr_next next)
{
    if (request->has_later && request->phase == ANSWER_NONE && next.code != TR_NEXT_FAILED)
        tr__http_later_answer(request);
    if (request->phase == ANSWER_NONE && next.code != TR_NEXT_FAILED &&
        !request->self->is_cancelled) {
        if (next.code == TR_NEXT_UNHANDLED) {
            answer_nowhere(request);
        } else {
            tr_log_warn(request->self,
                        "no answer to %s %.*s: the handler has ended without one",
                        request->head.method,
                        tr__http_logged_size(request->head.target),
                        request->head.target);
            tr__http_answer_error(request, 500, "the server has failed", NULL);
        }
    }
    if (request->phase == ANSWER_DONE && request->keeps && !request->body_is_over)
        request->keeps = tr__http_body_drop(request);
}

tr_next tr__http_request_run(struct http_request *request, void *state, int refusal)
{
    tr_next next = TR_SAME;
    tr__http_access_note(request);
    if (refusal) {
        request->body_is_over = true;
        request->keeps = false;
        tr__http_answer_error(request, refusal, request->head.why, NULL);
    } else {
        if (request->site->options.has_ids)
            tr__http_request_identify(request);
        bool is_traced = tr__http_trace_is_on(request->self);
        if (is_traced)
            tr__http_trace_begin(request);
        next = route(request, state);
        answer_finish(request, next);
        if (is_traced)
            tr__follow_end(request->self, next);
    }
    return next.code == TR_NEXT_UNHANDLED || next.code == TR_NEXT_STASHED ? TR_SAME : next;
}

/*
 * Makes a connection without TLS, which has begun with the preface of HTTP/2, a connection of
 * HTTP/2.
 */
static void switch_to_h2(struct channel *channel, tr_bytes preface)
{
    channel->flags &= ~(uint32_t)CHANNEL_IN_PART;
    if (tr__h2_begin(channel) != TR_OK)
        tr__channel_end(channel, TR_NO_MEMORY, NULL);
    else
        tr__h2_read(channel, preface);
}

static tr_next on_head(tr_self *self, void *state, const void *data)
{
    TURN_VERB(self);
    const struct tr_received *piece = data;
    struct channel *channel;
    if (tr__channel_of(self, piece->channel, &channel) != TR_OK)
        return TR_SAME;
    if (ws_session_of(channel))
        return tr__ws_turn(self, channel, state, piece);
    if (http_events_of(channel)) {
        /* if the client sends anything during a stream of events, end the stream */
        tr__http_events_close(http_events_of(channel), WS_CODE_GOING_AWAY);
        return TR_SAME;
    }
    if (begins_h2(channel, piece->bytes) > 0) {
        switch_to_h2(channel, piece->bytes);
        return TR_SAME;
    }
    const struct http_site *site = site_of(channel);
    channel->flags &= ~(uint32_t)(CHANNEL_IN_PART | CHANNEL_ANSWERED);
    channel->deadline_ns = TR_NEVER;
    struct http_request *request = tr__http_request_new(self, channel, piece->bytes.size);
    channel->request = request;
    char *bytes = (char *)(uintptr_t)piece->bytes.data;
    int refusal = tr__http_head_parse(bytes, piece->bytes.size, &site->limits, &request->head);
    if (!refusal) {
        request->keeps = request->head.keeps;
        tr__http_body_begin(request, bytes, piece->bytes.size);
    }
    return tr__http_request_run(request, state, refusal);
}

/* Decides what happens to the connection when a turn has ended, in whatever way. */
static void settle(struct channel *channel, struct http_request *request)
{
    if (channel->state != CHANNEL_OPEN)
        return;
    if (http_events_of(channel)) {
        tr__http_events_wait(channel);
        return;
    }
    if (request->phase == ANSWER_BEGUN) {
        /* the answer is incomplete, and a reset shows this to the client */
        tr__channel_reset(channel);
        return;
    }
    if (request->phase == ANSWER_NONE) {
        request->keeps = false;
        tr__http_answer_last(request, request->self->is_cancelled ? 503 : 500);
    }
    channel->flags |= CHANNEL_ANSWERED;
    if (ws_session_of(channel))
        tr__ws_wait(channel);
    else if (request->keeps)
        wait_for_request(channel);
    else
        tr__channel_close(channel);
}

static void on_turn_end(struct channel *channel)
{
    struct http_request *request = channel->request;
    tr__http_request_end(request);
    settle(channel, request);
    tr__http_access_log(request, channel);
}

/* Frees the record of the WebSocket or of the events of a channel that is about to be freed. */
static void on_free(struct channel *channel)
{
    if (http_events_of(channel))
        tr__http_events_on_free(channel);
    else
        tr__ws_on_free(channel);
}

/* ---- Replies, refusals and forwards in turns of HTTP. ---- */

static tr_status reply(struct tr_self *self, const tr_type *type, const void *message)
{
    struct http_request *request = tr__http_request_of(self);
    if (!request || request->phase != ANSWER_NONE)
        return TR_NO_SENDER;
    const tr_type *asked = request->type;
    if (asked && asked->reply && asked->reply != type && !tr_type_is_equal(asked->reply, type))
        return TR_WRONG_TYPE;
    int status = request->status ? request->status : 200;
    if (tr__http_answer_json(request, status, type, message) != TR_OK)
        tr__http_answer_error(request, 500, "the server has failed", NULL);
    return TR_OK;
}

static void request_refuse(struct tr_self *self, int code, const char *text)
{
    struct http_request *request = tr__http_request_of(self);
    if (!request || request->phase != ANSWER_NONE)
        return;
    bool is_status = code >= 400 && code <= 599;
    request->status = 0;
    if (is_status)
        tr__http_answer_error(request, code, text, NULL);
    else
        tr__http_answer_error(request, 422, text, NULL);
}

static const struct {
    tr_status status;
    int code;
    const char *text;
} failures[] = {
    {TR_TIMEOUT, 504, "the answer took too long"},
    {TR_MAILBOX_FULL, 503, "the server is busy"},
    {TR_STOPPED, 503, "the server is stopping"},
    {TR_STOPPING, 503, "the server is stopping"},
};

static tr_next forward(struct tr_self *self, tr_ref to)
{
    struct http_request *request = tr__http_request_of(self);
    if (!request || request->raw || !request->message)
        return tr_fail(self, TR_INVALID_TRANSITION, "tr_forward: this turn has no typed request");
    const void *answer = NULL;
    tr_pending ask = tr_self_ask(self, to, request->type, request->message, 0);
    tr_status status = tr_self_try_await(self, ask, &answer);
    if (status == TR_OK) {
        (void)reply(self, request->type->reply, answer);
        return TR_SAME;
    }
    const tr_error *error = tr_self_ask_error(self, ask);
    if (status == TR_REFUSED) {
        request_refuse(self, error ? error->code : 422, error ? error->text : "");
        return TR_SAME;
    }
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        if (failures[i].status == status) {
            request_refuse(self, failures[i].code, failures[i].text);
            return TR_SAME;
        }
    }
    request_refuse(self, 502, "the server has failed");
    return TR_SAME;
}

static const tr_handler head_handler = {
    .type = &tr_type_tr_http_piece_, .call = on_head, .name = "an HTTP request"};

const struct tr_protocol tr__http_protocol = {
    .open = on_open_listener,
    .drop = site_drop,
    .handler = &head_handler,
    .cut = cut,
    .on_open = on_open,
    .on_part = on_part,
    .on_deadline = on_deadline,
    .within = within,
    .on_turn_end = on_turn_end,
    .on_close = on_close,
    .on_free = on_free,
    .session_free = tr__ws_session_free,
    .on_input = tr__h2_on_input,
    .on_drained = tr__h2_on_drained,
    .on_ended = tr__h2_on_ended,
    .streams_free = tr__h2_free,
    .turn_handler = &tr__h2_handler,
    .on_turn_done = tr__h2_on_turn_done,
    .reply = reply,
    .refuse = request_refuse,
    .forward = forward,
    .later = tr__http_later,
};

const tr_endpoint *tr_http_endpoint_sized(tr_endpoint *endpoint, size_t http_size)
{
    const char *address = endpoint->address;
    endpoint->http_size = http_size;
    endpoint->protocol = &tr__http_protocol;
    bool has_h2 = tr__h2_is_built() && !(endpoint->http && endpoint->http->has_no_http2);
    if (endpoint->kind == TR_ENDPOINT_TLS && !endpoint->alpn && has_h2)
        endpoint->alpn = "h2,http/1.1";
    if (endpoint->kind == TR_ENDPOINT_TCP && address && (strchr(address, '/') || address[0] == '@'))
        endpoint->kind = TR_ENDPOINT_UNIX;
    return endpoint;
}
