/* SPDX-License-Identifier: Apache-2.0 */
#include "http/routing.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "actor/turn/follow_turn.h"
#include "actor/verbs/self_memory.h"
#include "http/access_log.h"
#include "http/answer.h"
#include "http/body.h"
#include "http/call.h"
#include "http/face.h"
#include "http/fill.h"
#include "http/id.h"
#include "http/later.h"
#include "http/openapi.h"
#include "http/trace.h"
#include "http/ws_upgrade.h"
#include "net/listener_shared.h"

enum {
    /* the longest text of a 404, in bytes; a path that would make the text longer is cut */
    NOWHERE_MAX = 256
};

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
     * If this path has a row of another method, the face of that row says what an error looks like
     * here.
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
