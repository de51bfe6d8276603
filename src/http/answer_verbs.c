/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs that answer: with a whole body, or in pieces. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/verb.h"
#include "base/sized.h"
#include "http/answer.h"
#include "http/check.h"
#include "http/h2_stream.h"
#include "net/write.h"

void tr_http_status(tr_self *self, int status)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_of(self);
    if (status < 200 || status > 599)
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_http_status: %d is no status of an answer", status);
    if (request && request->phase == ANSWER_NONE)
        request->status = status;
}

static bool is_token(const char *text)
{
    const char *at = text;
    while (tr__http_token[(unsigned char)*at])
        at++;
    return at > text && !*at;
}

void tr_http_set(tr_self *self, const char *name, const char *value)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_of(self);
    if (!name || !value || !is_token(name) || !tr__http_is_clean(value))
        tr_crash(
            self, TR_INVALID_ARGUMENT, "tr_http_set: a name or a value that no header may have");
    if (!request || request->phase != ANSWER_NONE)
        return;
    if (!request->set)
        request->set = tr_scratch(self, TR_HTTP_SET_MAX * sizeof *request->set);
    if (request->set_count == TR_HTTP_SET_MAX)
        tr_crash(self, TR_LIMIT, "tr_http_set: more than %d headers", TR_HTTP_SET_MAX);
    size_t name_size = strlen(name) + 1;
    size_t size = name_size + strlen(value) + 1;
    char *copy = tr_scratch(self, size);
    memcpy(copy, name, name_size);
    memcpy(copy + name_size, value, size - name_size);
    request->set[request->set_count++] = (struct tr_http_field){copy, copy + name_size};
}

/* Returns a copy of an answer of the program, with the members that this library knows. */
static tr_http_response read_response(tr_self *self, const tr_http_response *response,
                                      const char *verb)
{
    tr_http_response whole;
    if (!sized_read(&whole, sizeof whole, response, response->size ? response->size : sizeof whole))
        tr_crash(self, TR_INVALID_ARGUMENT, "%s: members of a later version", verb);
    return whole;
}

tr_next tr_self_http_reply(tr_self *self, const tr_http_response *response)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "tr_http_reply");
    if (request->phase != ANSWER_NONE)
        return TR_SAME;
    const tr_http_response given = read_response(self, response, "tr_http_reply");
    tr_bytes body = given.body;
    const char *type = given.type;
    if (given.text) {
        body = (tr_bytes){given.text, strlen(given.text)};
        type = type ? type : "text/plain; charset=utf-8";
    } else if (!type && body.size) {
        type = "application/octet-stream";
    }
    tr__http_answer(request, given.status, type, body, &given);
    return TR_SAME;
}

tr_next tr_self_http_reply_json(tr_self *self, int status, const tr_type *type, const void *message)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "tr_http_reply_json");
    if (request->phase != ANSWER_NONE)
        return TR_SAME;
    tr_status outcome = tr__http_answer_json(request, status, type, message);
    if (outcome != TR_OK)
        return tr_fail(self, outcome, "tr_http_reply_json: %s cannot be written", type->name);
    return TR_SAME;
}

/* ---- Answers in pieces. ---- */

void tr_self_http_begin(tr_self *self, const tr_http_response *response)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "tr_http_begin");
    if (request->phase != ANSWER_NONE)
        return;
    const tr_http_response given = read_response(self, response, "tr_http_begin");
    tr__http_answer_head(request,
                         given.status,
                         given.type ? given.type : "application/octet-stream",
                         given.length > 0 ? given.length : -1,
                         &given);
}

/*
 * Writes bytes of the body. If the client has gone, returns TR_CLOSED, no matter how its connection
 * has ended.
 */
static tr_status write_bytes(const struct http_request *request, tr_bytes bytes)
{
    tr_status status = tr_write(request->self, (tr_channel){channel_bits(request->channel)}, bytes);
    return status == TR_RESET ? TR_CLOSED : status;
}

/* Writes a piece of the body; as a chunk if the body is chunked. */
static tr_status write_piece(struct http_request *request, tr_bytes bytes)
{
    char size[24];
    if (request->channel->state != CHANNEL_OPEN)
        return TR_CLOSED;
    if (request->has_no_body || !bytes.size)
        return TR_OK;
    if (request->left >= 0 && (uint64_t)request->left - request->sent < bytes.size)
        tr_crash(request->self,
                 TR_LIMIT,
                 "tr_http_write: more than the %lld bytes of .length",
                 (long long)request->left);
    request->sent += bytes.size;
    if (request->stream)
        return tr__h2_write(request, bytes);
    if (!request->has_chunks)
        return write_bytes(request, bytes);
    int length = snprintf(size, sizeof size, "%zx\r\n", bytes.size);
    tr_status status = write_bytes(request, (tr_bytes){size, (size_t)length});
    if (status == TR_OK)
        status = write_bytes(request, bytes);
    if (status == TR_OK)
        status = write_bytes(request, TR_BYTES("\r\n"));
    return status;
}

tr_status tr_http_write(tr_self *self, tr_bytes bytes)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "tr_http_write");
    if (request->phase != ANSWER_BEGUN)
        return TR_INVALID_TRANSITION;
    return write_piece(request, bytes);
}

tr_status tr_http_print(tr_self *self, const char *format, ...)
{
    TURN_VERB(self);
    char few[TEXT_FEW];
    tr_bytes text;
    va_list arguments;
    va_start(arguments, format);
    tr_status status = tr__text_format(self, few, format, arguments, &text);
    va_end(arguments);
    return status == TR_OK ? tr_http_write(self, text) : status;
}

tr_status tr_http_event(tr_self *self, const char *event, const char *data)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "tr_http_event");
    if (!data || (event && strpbrk(event, "\r\n")) || strchr(data, '\r'))
        tr_crash(self, TR_INVALID_ARGUMENT, "tr_http_event: no data, or a CR in it");
    if (request->phase == ANSWER_NONE)
        tr_http_begin(self, 200, .type = "text/event-stream", .cache = "no-cache");
    if (request->phase != ANSWER_BEGUN)
        return TR_INVALID_TRANSITION;
    size_t lines = 1;
    for (const char *at = data; (at = strchr(at, '\n')); at++)
        lines++;
    size_t size = (event ? strlen(event) + 8 : 0) + strlen(data) + 7 * lines + 2;
    char *text = tr_scratch(self, size + 1);
    char *to = text;
    if (event)
        to += sprintf(to, "event: %s\n", event);
    while (data) {
        size_t length = strcspn(data, "\n");
        to += sprintf(to, "data: %.*s\n", (int)length, data);
        data = data[length] ? data + length + 1 : NULL;
    }
    *to++ = '\n';
    return write_piece(request, (tr_bytes){text, (size_t)(to - text)});
}

tr_next tr_http_end(tr_self *self)
{
    TURN_VERB(self);
    struct http_request *request = tr__http_request_need(self, "tr_http_end");
    if (request->phase != ANSWER_BEGUN)
        return TR_SAME;
    bool is_short =
        request->left >= 0 && !request->has_no_body && (uint64_t)request->left != request->sent;
    if (is_short)
        return tr_fail(self, TR_INVALID_TRANSITION, "tr_http_end: fewer bytes than .length says");
    if (request->stream)
        tr__h2_end(request);
    if (request->has_chunks)
        (void)tr_write(self, (tr_channel){channel_bits(request->channel)}, TR_BYTES("0\r\n\r\n"));
    request->phase = ANSWER_DONE;
    return TR_SAME;
}
