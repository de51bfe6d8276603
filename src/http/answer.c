/* SPDX-License-Identifier: Apache-2.0 */
#include "http/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "http/body.h"
#include "http/check.h"
#include "http/compress.h"
#include "http/date.h"
#include "http/face.h"
#include "http/h2_answer.h"
#include "net/output.h"

enum {
    HEAD_MIN = 256, /* enough bytes for a head, without the texts of the program */
    /*
     * Enough bytes for the head of an answer that is written outside of a turn. Also enough for the
     * body of such an answer.
     */
    BARE_MIN = 256,
    TOGETHER_MAX = 2048 /* a body of at most this size is sent together with its head */
};

TR_MESSAGE(tr_http_problem_, (i32, code), (str, message));
TR_MESSAGE(tr_http_error_, (message(tr_http_problem_), error));

static const struct {
    int status;
    const char *text;
} reasons[] = {
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *tr__http_reason(int status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].status == status)
            return reasons[i].text;
    }
    return "Other";
}

/* ---- Heads. ---- */

bool tr__http_is_clean(const char *text)
{
    return http_value_is_clean(text, strlen(text));
}

/*
 * Functions that write a head are inlined, so that the compiler knows the sizes of names and
 * punctuation.
 */
#define PUT_INLINE __attribute__((__always_inline__)) static inline

PUT_INLINE char *put(char *to, const char *text)
{
    /* returns the place behind the text, where the next text is written */
    return mempcpy(to, text, strlen(text));
}

static char *put_number(char *to, uint64_t number)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count)
        *to++ = digits[--count];
    return to;
}

PUT_INLINE char *put_field(char *to, const char *name, const char *value)
{
    to = put(to, name);
    to = put(to, ": ");
    to = put(to, value);
    return put(to, "\r\n");
}

static size_t size_of(const char *text)
{
    /* besides the text, a field has a name and punctuation; 24 bytes are enough for these */
    return text ? strlen(text) + 24 : 0;
}

/* Returns the most bytes that a head can have. */
static size_t head_size(const struct http_request *request, const char *type,
                        const tr_http_response *response)
{
    size_t size = HEAD_MIN + size_of(request->site->server) + size_of(type);
    for (uint32_t i = 0; i < request->set_count; i++)
        size += strlen(request->set[i].name) + size_of(request->set[i].value);
    if (!response)
        return size;
    size += size_of(response->location) + size_of(response->cache);
    for (const struct tr_http_field *field = response->headers; field && field->name; field++)
        size += strlen(field->name) + size_of(field->value);
    return size;
}

/* Whether the connection can be kept after an answer that begins now. */
static bool may_keep(const struct http_request *request)
{
    if (!request->keeps || request->self->cell->flags & CELL_SEALED)
        return false;
    return request->body_is_over || tr__http_body_is_small(request);
}

/*
 * Sets the members of a request that say how its answer's body ends, and whether the connection is
 * kept: RFC 9112, 6.
 */
static void settle(struct http_request *request, int status, int64_t length)
{
    request->status = status;
    request->phase = ANSWER_BEGUN;
    request->left = length;
    request->has_no_body =
        request->head.method_id == METHOD_HEAD || status == 204 || status == 304 || status < 200;
    request->has_chunks =
        length < 0 && !request->has_no_body && !request->head.is_http_10 && !request->stream;
    if (length < 0 && request->head.is_http_10 && !request->has_no_body)
        /*
         * only the end of the connection marks the end of the body, so the connection cannot be
         * kept
         */
        request->keeps = false;
    request->keeps = may_keep(request);
}

static char *put_head(const struct http_request *request, char *to, const char *type,
                      const tr_http_response *response)
{
    int status = request->status;
    if (status == 200) {
        to = put(to, "HTTP/1.1 200 OK\r\n");
    } else {
        to = put(to, "HTTP/1.1 ");
        to = put_number(to, (uint64_t)status);
        *to++ = ' ';
        to = put(to, tr__http_reason(status));
        to = put(to, "\r\n");
    }
    memcpy(to, tr__http_date(request->self->worker), HTTP_DATE_SIZE);
    to += HTTP_DATE_SIZE;
    if (request->site->server)
        to = put_field(to, "Server", request->site->server);
    if (type && !(request->has_no_body && request->head.method_id != METHOD_HEAD))
        to = put_field(to, "Content-Type", type);
    if (response && response->location)
        to = put_field(to, "Location", response->location);
    if (response && response->cache)
        to = put_field(to, "Cache-Control", response->cache);
    for (const struct tr_http_field *field = response ? response->headers : NULL;
         field && field->name;
         field++)
        to = put_field(to, field->name, field->value);
    for (uint32_t i = 0; i < request->set_count; i++)
        to = put_field(to, request->set[i].name, request->set[i].value);
    if (request->left >= 0 && status != 204 && status != 304) {
        to = put(to, "Content-Length: ");
        to = put_number(to, (uint64_t)request->left);
        to = put(to, "\r\n");
    } else if (request->has_chunks) {
        to = put(to, "Transfer-Encoding: chunked\r\n");
    }
    if (!request->keeps)
        to = put(to, "Connection: close\r\n");
    else if (request->head.is_http_10)
        to = put(to, "Connection: keep-alive\r\n");
    return put(to, "\r\n");
}

/* Ends the turn with an error if a text of the program is not allowed in a head. */
static void require_clean(struct http_request *request, int status, const char *type,
                          const tr_http_response *response)
{
    bool is_good = status >= 200 && status <= 599 && (!type || tr__http_is_clean(type));
    if (response) {
        is_good &= !response->location || tr__http_is_clean(response->location);
        is_good &= !response->cache || tr__http_is_clean(response->cache);
        for (const struct tr_http_field *field = response->headers; field && field->name; field++)
            is_good &=
                tr__http_is_clean(field->name) && field->value && tr__http_is_clean(field->value);
    }
    if (!is_good)
        tr_crash(request->self,
                 TR_INVALID_ARGUMENT,
                 "an answer of HTTP has the status %d, or a header with a control character",
                 status);
}

static tr_channel handle_of(const struct http_request *request)
{
    return (tr_channel){channel_bits(request->channel)};
}

void tr__http_answer_head(struct http_request *request, int status, const char *type,
                          int64_t length, const tr_http_response *response)
{
    TR_ASSERT(request->phase == ANSWER_NONE);
    require_clean(request, status, type, response);
    if (request->stream) {
        settle(request, status, length);
        tr__h2_answer_head(request, type, response);
        return;
    }
    size_t size = head_size(request, type, response);
    char *to = tr_reserve(request->self, handle_of(request), size);
    settle(request, status, length);
    char *end = put_head(request, to, type, response);
    TR_ASSERT((size_t)(end - to) <= size);
    tr_commit(request->self, handle_of(request), (size_t)(end - to));
}

/* What tr__http_answer does for a stream of HTTP/2. */
static void answer_stream(struct http_request *request, int status, const char *type, tr_bytes body,
                          const tr_http_response *response)
{
    settle(request, status, (int64_t)body.size);
    tr__h2_answer(request, type, body, response);
}

/* Writes an answer of HTTP/1.1. A small body is written together with the head. */
static void answer_write(struct http_request *request, int status, const char *type, tr_bytes body,
                         const tr_http_response *response)
{
    size_t size = head_size(request, type, response);
    bool is_together = body.size <= TOGETHER_MAX;
    char *to = tr_reserve(request->self, handle_of(request), size + (is_together ? body.size : 0));
    settle(request, status, (int64_t)body.size);
    char *end = put_head(request, to, type, response);
    TR_ASSERT((size_t)(end - to) <= size);
    if (is_together && !request->has_no_body && body.size) {
        memcpy(end, body.data, body.size);
        end += body.size;
    }
    tr_commit(request->self, handle_of(request), (size_t)(end - to));
    if (!is_together && !request->has_no_body)
        (void)tr_write(request->self, handle_of(request), body);
}

void tr__http_answer(struct http_request *request, int status, const char *type, tr_bytes body,
                     const tr_http_response *response)
{
    TR_ASSERT(request->phase == ANSWER_NONE);
    require_clean(request, status, type, response);
    if (request->site->options.compresses && status >= 200 && status != 206)
        response = tr__http_compress(request, type, response, &body);
    if (request->stream)
        answer_stream(request, status, type, body, response);
    else
        answer_write(request, status, type, body, response);
    request->sent = request->has_no_body ? 0 : body.size;
    request->phase = ANSWER_DONE;
}

/* ---- JSON. ---- */

tr_status tr__http_answer_json(struct http_request *request, int status, const tr_type *type,
                               const void *message)
{
    char few[TOGETHER_MAX];
    char *text = few;
    tr_wire_error error;
    size_t size = tr_json_write(type, message, few, sizeof few, &error);
    if (!size)
        return error.status;
    if (size >= sizeof few) {
        text = tr_scratch(request->self, size + 1);
        size = tr_json_write(type, message, text, size + 1, &error);
    }
    tr__http_answer(request, status, "application/json", (tr_bytes){text, size}, NULL);
    return TR_OK;
}

size_t tr__http_error_write(const struct http_request *request, int status, const char *text,
                            char *to, size_t size)
{
    const struct tr_http_face_ *face = http_face_of(request);
    if (face)
        return face->error_write(status, text, to, size);
    const char *reason = tr__http_reason(status);
    struct tr_http_error_ error = {.error = {.code = status, .message = text ? text : reason}};
    size_t written = tr_json_write(&tr_type_tr_http_error_, &error, to, size, NULL);
    if (written && written < size)
        return written;
    /* the text is not UTF-8, or too long; write the reason phrase of the status instead */
    error.error.message = reason;
    return tr_json_write(&tr_type_tr_http_error_, &error, to, size, NULL);
}

void tr__http_answer_error(struct http_request *request, int status, const char *text,
                           const char *allow)
{
    char body[HTTP_ERROR_TEXT_MAX];
    const struct tr_http_field headers[] = {{"Allow", allow}, {NULL, NULL}};
    const tr_http_response response = {.headers = headers};
    size_t size = tr__http_error_write(request, status, text, body, sizeof body);
    tr__http_answer(
        request, status, "application/json", (tr_bytes){body, size}, allow ? &response : NULL);
}

/* Writes an error of HTTP/1.1 outside of a turn, head and body together. Returns false if out of memory. */
static bool answer_bare(struct channel *channel, const struct http_request *request, int status,
                        tr_bytes body)
{
    size_t size = BARE_MIN + body.size;
    uint32_t count = request ? request->own_count : 0;
    for (uint32_t i = 0; i < count; i++)
        size += strlen(request->set[i].name) + size_of(request->set[i].value);
    char *begin = (char *)tr__output_reserve(channel, size);
    if (!begin)
        return false;
    char *to = put(begin, "HTTP/1.1 ");
    to = put_number(to, (uint64_t)status);
    *to++ = ' ';
    to = put(put(to, tr__http_reason(status)), "\r\n");
    to = mempcpy(to, tr__http_date(channel->worker), HTTP_DATE_SIZE);
    to = put_field(to, "Content-Type", "application/json");
    for (uint32_t i = 0; i < count; i++)
        to = put_field(to, request->set[i].name, request->set[i].value);
    to = put(to, "Content-Length: ");
    to = put(put_number(to, body.size), "\r\nConnection: close\r\n\r\n");
    bool has_body = !request || request->head.method_id != METHOD_HEAD;
    to = has_body ? mempcpy(to, body.data, body.size) : to;
    TR_ASSERT((size_t)(to - begin) <= size);
    tr__output_commit(channel, (size_t)(to - begin));
    tr__output_touch(channel);
    return true;
}

void tr__http_answer_bare(struct channel *channel, int status)
{
    TR_ASSERT_SLOW(channel_is_mine(channel));
    char body[BARE_MIN];
    size_t size = tr__http_error_write(NULL, status, NULL, body, sizeof body);
    (void)answer_bare(channel, NULL, status, (tr_bytes){body, size});
}

void tr__http_answer_last(struct http_request *request, int status)
{
    TR_ASSERT_SLOW(channel_is_mine(request->channel));
    TR_ASSERT(request->phase == ANSWER_NONE);
    char body[HTTP_ERROR_TEXT_MAX];
    size_t size = tr__http_error_write(request, status, NULL, body, sizeof body);
    if (!answer_bare(request->channel, request, status, (tr_bytes){body, size}))
        return;
    request->status = status;
    request->sent = request->head.method_id == METHOD_HEAD ? 0 : size;
    request->phase = ANSWER_DONE;
}
