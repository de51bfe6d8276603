/* SPDX-License-Identifier: Apache-2.0 */
#include "http/ws_upgrade.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/verb.h"
#include "http/answer.h"
#include "http/deflate.h"
#include "http/ws_handshake.h"
#include "http/ws_session.h"
#include "net/channel_end.h"

enum { HEAD_MIN = 192 /* enough bytes for the answer, without the texts of the program */ };

/* Returns the value of a header; empty if there is none. */
static tr_bytes header(struct http_request *request, const char *name)
{
    const char *text = tr_http_header(request->self, name);
    return text ? (tr_bytes){text, strlen(text)} : (tr_bytes){"", 0};
}

bool tr__ws_is_upgrade(struct http_request *request)
{
    return request->head.method_id == METHOD_GET &&
           tr__ws_list_has(header(request, "upgrade"), "websocket");
}

/* Answers a handshake with an error. Returns false. */
static bool handshake_refuse(struct http_request *request, int status, const char *text)
{
    tr__http_answer_error(request, status, text, NULL);
    return false;
}

bool tr__ws_check(struct http_request *request)
{
    const struct http_head *head = &request->head;
    tr_bytes host = {head->host, head->host_size};
    if (head->is_http_10 || !tr__ws_list_has(header(request, "connection"), "upgrade"))
        return handshake_refuse(request, 400, "Connection: Upgrade is missing");
    if (!request->body_is_over)
        return handshake_refuse(request, 400, "a handshake of WebSocket has no body");
    if (!tr__ws_version_is_valid(header(request, "sec-websocket-version"))) {
        tr_http_set(request->self, "sec-websocket-version", WS_VERSION);
        return handshake_refuse(request, 426, "this version of WebSocket is not served");
    }
    if (!tr__ws_key_is_valid(header(request, "sec-websocket-key")))
        return handshake_refuse(request, 400, "Sec-WebSocket-Key is not the base64 of 16 bytes");
    if (!tr__ws_origin_is_allowed(header(request, "origin"), host, request->site->options.origins))
        return handshake_refuse(request, 403, "pages of this origin may not connect");
    return true;
}

bool tr__ws_answer_upgrade(struct http_request *request)
{
    char allow[HTTP_ALLOW_MAX];
    const struct http_route *other;
    if (!request->site->has_websockets || request->head.method_id != METHOD_GET ||
        !tr__http_site_find(request->site, METHOD_WEBSOCKET, request->path, &other, allow))
        return false;
    if (request->stream) {
        (void)handshake_refuse(request, 400, "WebSockets are served over HTTP/1.1");
        return true;
    }
    tr_http_set(request->self, "upgrade", "websocket");
    (void)handshake_refuse(request, 426, "only WebSockets are served here");
    return true;
}

/* ---- Accepting. ---- */

/* Writes the answer that accepts a handshake. */
static void put_answer(struct http_request *request, const char *protocol, const char *extension)
{
    char accept[WS_ACCEPT_SIZE + 1];
    tr_channel handle = {channel_bits(request->channel)};
    size_t size = HEAD_MIN + (protocol ? strlen(protocol) : 0) + WS_DEFLATE_ANSWER_MAX;
    for (uint32_t i = 0; i < request->set_count; i++)
        size += strlen(request->set[i].name) + strlen(request->set[i].value) + 4;
    tr__ws_accept_write(header(request, "sec-websocket-key"), accept);
    char *begin = tr_reserve(request->self, handle, size);
    char *to = stpcpy(begin,
                      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                      "Connection: Upgrade\r\nSec-WebSocket-Accept: ");
    to = stpcpy(stpcpy(to, accept), "\r\n");
    if (protocol)
        to += sprintf(to, "Sec-WebSocket-Protocol: %s\r\n", protocol);
    if (extension[0])
        to += sprintf(to, "Sec-WebSocket-Extensions: %s\r\n", extension);
    for (uint32_t i = 0; i < request->set_count; i++)
        to += sprintf(to, "%s: %s\r\n", request->set[i].name, request->set[i].value);
    to = stpcpy(to, "\r\n");
    tr_commit(request->self, handle, (size_t)(to - begin));
}

/* Sends the answer to a handshake, and makes the channel a WebSocket. */
static tr_status accept_with(struct http_request *request, const char *protocol,
                             const tr_handler *row)
{
    struct channel *channel;
    char extension[WS_DEFLATE_ANSWER_MAX] = "";
    struct ws_deflate deflate = {.is_agreed = false};
    if (request->site->options.ws_compresses && tr__deflate_is_built())
        deflate = tr__ws_deflate_answer(header(request, "sec-websocket-extensions"), extension);
    put_answer(request, protocol, extension);
    request->phase = ANSWER_DONE;
    request->status = 101;
    request->keeps = true;
    tr_channel handle = {channel_bits(request->channel)};
    if (tr__channel_of(request->self, handle, &channel) != TR_OK || channel->state != CHANNEL_OPEN)
        return TR_CLOSED; /* the client is gone; the actor will get tr_closed */
    const tr_http_options *options = &request->site->options;
    const struct ws_setup setup = {.role = WS_SERVER,
                                   .row = row,
                                   .message_max = options->ws_message_max,
                                   .deflate = deflate,
                                   .protocol = protocol};
    tr_status status = tr__ws_session_begin(channel, &setup);
    if (status != TR_OK)
        /* nothing of the answer was sent yet, so reset the connection */
        tr__channel_reset(channel);
    return status;
}

tr_status tr__ws_accept_above(struct http_request *request, const tr_handler *row,
                              struct ws_above *above)
{
    tr_status status = accept_with(request, NULL, row);
    if (status == TR_OK)
        ws_session_of(request->channel)->above = above;
    return status;
}

static tr_next accept_as(struct tr_self *self, const char *verb, const char *protocol)
{
    struct http_request *request = tr__http_request_need(self, verb);
    const struct http_route *route = request->route;
    if (!route || route->method != METHOD_WEBSOCKET)
        tr_crash(self, TR_INVALID_TRANSITION, "%s: this request is for no TR_WEBSOCKET", verb);
    if (request->phase != ANSWER_NONE)
        return TR_SAME;
    const tr_handler *row = route->is_message ? route->row : request->site->messages;
    if (accept_with(request, protocol, row) == TR_NO_MEMORY)
        tr_crash(self, TR_NO_MEMORY, "%s: out of memory", verb);
    return TR_SAME;
}

tr_next tr_ws_accept(tr_self *self)
{
    TURN_VERB(self);
    return accept_as(self, "tr_ws_accept", NULL);
}

tr_next tr_ws_accept_as(tr_self *self, const char *protocol)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "tr_ws_accept_as");
    if (!protocol || !tr__http_is_clean(protocol) ||
        !tr__ws_list_has(header(request, "sec-websocket-protocol"), protocol))
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_ws_accept_as: the client has not offered this");
    return accept_as(self, "tr_ws_accept_as", protocol);
}
