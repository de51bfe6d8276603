/* SPDX-License-Identifier: Apache-2.0 */
#include "http/body.h"

#include <string.h>

#include "actor/cell/system.h"
#include "http/answer.h"
#include "http/deflate.h"
#include "http/h2_stream.h"
#include "http/worker.h"
#include "net/read.h"

enum {
    READ_MAX = 64 * 1024, /* the largest piece, in bytes */
    /* To read JSON or a form of so many bytes takes about as long as a short turn. */
    TURN_BYTES = 1024
};

/* If a text points into the head, changes the pointer to the same place in the copy of the head. */
static void move(char **text, const char *from, size_t size, char *to)
{
    if (*text && *text >= from && *text <= from + size)
        *text = to + (*text - from);
}

/*
 * Copies the head. The handler may use texts of the head while the next read overwrites the input.
 */
static void head_keep(struct http_request *request, char *bytes, size_t size)
{
    struct http_head *head = &request->head;
    char *copy = tr_scratch(request->self, size);
    memcpy(copy, bytes, size);
    move(&head->method, bytes, size, copy);
    move(&head->target, bytes, size, copy);
    move(&head->path, bytes, size, copy);
    move(&head->query, bytes, size, copy);
    move(&head->host, bytes, size, copy);
    for (uint32_t i = 0; i < head->field_count; i++) {
        struct tr_http_field *field = &head->fields[i];
        char *name = (char *)(uintptr_t)field->name;
        char *value = (char *)(uintptr_t)field->value;
        move(&name, bytes, size, copy);
        move(&value, bytes, size, copy);
        *field = (struct tr_http_field){name, value};
    }
}

void tr__http_body_begin(struct http_request *request, char *head_bytes, size_t head_size)
{
    const struct http_head *head = &request->head;
    request->is_told = !head->expects;
    if (!head->is_chunked && head->length <= 0) {
        request->body_is_over = true;
        return;
    }
    request->body_left = head->is_chunked ? 0 : (uint64_t)head->length;
    if (!head->is_chunked && head->length <= READ_MAX &&
        tr__input_more(request->channel, (size_t)head->length, &request->there)) {
        /* the whole body has come, and stays in the input until it is read */
        request->body_left = 0;
        return;
    }
    head_keep(request, head_bytes, head_size);
}

_Noreturn void tr__http_body_fail(struct http_request *request, int status, const char *text)
{
    request->keeps = false;
    request->body_is_over = true;
    if (request->phase == ANSWER_NONE)
        tr__http_answer_error(request, status, text, NULL);
    tr__http_request_leave(request);
}

/* Sends 100 Continue, if the client waits for it and no byte of the body has come. */
static void continue_send(struct http_request *request)
{
    if (request->is_told)
        return;
    request->is_told = true;
    if (request->phase == ANSWER_NONE && !tr__input_has_bytes(request->channel))
        (void)tr_write(request->self,
                       (tr_channel){channel_bits(request->channel)},
                       TR_BYTES("HTTP/1.1 100 Continue\r\n\r\n"));
}

/*
 * Waits until bytes of the body have come, and takes at most `max` of them. If that fails, ends the
 * request and the turn.
 */
static tr_bytes take(struct http_request *request, size_t max)
{
    const struct cutter cutter = {.how = CUT_SOME, .size = max};
    tr_bytes bytes = {NULL, 0};
    bool is_cut;
    continue_send(request);
    request->reads_body = true;
    tr_status status = tr__channel_take(
        request->self, (tr_channel){channel_bits(request->channel)}, &cutter, &bytes, &is_cut);
    request->reads_body = false;
    if (status == TR_TIMEOUT)
        tr__http_body_fail(request, 408, "the body took too long");
    if (status != TR_OK)
        tr__http_body_fail(request, 400, "the body ended before its length");
    return bytes;
}

/* What tr__http_body_read does for a chunked body. */
static bool read_chunks(struct http_request *request, tr_bytes *data)
{
    struct http_chunk *chunk = &request->chunk;
    while (!chunk->is_over) {
        if (chunk->is_bad)
            tr__http_body_fail(request, 400, "a chunk of the body is malformed");
        tr_bytes bytes = take(request, READ_MAX);
        size_t at = tr__http_chunks_take(chunk, bytes, READ_MAX, data);
        if (!tr__input_unread(request->channel, bytes.size - at))
            tr__http_body_fail(request, 400, "the body cannot be read");
        if (data->size) {
            /*
             * the next read need not wait for more bytes: those that were returned to the input are
             * enough
             */
            request->channel->work->input.needs = 0;
            return true;
        }
    }
    request->channel->work->input.needs = 0;
    request->body_is_over = true;
    return false;
}

bool tr__http_body_read(struct http_request *request, tr_bytes *bytes)
{
    *bytes = (tr_bytes){"", 0};
    if (request->body_is_over)
        return false;
    if (request->stream)
        return tr__h2_body_read(request, bytes);
    if (request->head.is_chunked)
        return read_chunks(request, bytes);
    if (request->there.size) {
        *bytes = request->there;
        request->there.size = 0;
        request->body_is_over = true;
        return true;
    }
    size_t max = request->body_left < READ_MAX ? (size_t)request->body_left : READ_MAX;
    *bytes = take(request, max);
    request->body_left -= bytes->size;
    request->body_is_over = !request->body_left;
    return true;
}

/*
 * Counts a body that is handled as a whole as several turns, so that other actors of the worker run
 * sooner after requests with large bodies.
 */
static tr_bytes weigh(const struct http_request *request, tr_bytes body)
{
    request->self->worker->turns.message->turns += (uint32_t)(body.size / TURN_BYTES);
    return body;
}

tr_bytes tr__http_body_all(struct http_request *request, size_t max)
{
    tr_bytes piece;
    if (!request->head.is_chunked && request->head.length > 0 &&
        request->there.size + request->body_left > max)
        tr__http_body_fail(request, 413, "the body is too large");
    if (request->body_is_over || request->there.size) {
        (void)tr__http_body_read(request, &piece);
        return weigh(request, piece);
    }
    /*
     * Take memory in proportion to the bytes that have come, because a client could announce a
     * large body and send nothing.
     */
    size_t most = request->body_left ? (size_t)request->body_left : max;
    size_t capacity = 0;
    size_t size = 0;
    char *all = tr_scratch(request->self, 1);
    while (tr__http_body_read(request, &piece)) {
        if (size + piece.size > max)
            tr__http_body_fail(request, 413, "the body is too large");
        if (size + piece.size > capacity) {
            capacity = size + piece.size;
            capacity = capacity < most / 2 ? 2 * capacity : capacity < most ? most : capacity;
            char *larger = tr_scratch(request->self, capacity + 1);
            memcpy(larger, all, size);
            all = larger;
        }
        memcpy(all + size, piece.data, piece.size);
        size += piece.size;
    }
    return weigh(request, (tr_bytes){all, size});
}

/* Inflates a body into scratch memory. If that fails, ends the request and the turn. */
static tr_bytes inflate(struct http_request *request, tr_bytes body, size_t max)
{
    struct tr_self *self = request->self;
    struct net_buffer out = NET_BUFFER(&self->worker->system->source);
    struct deflate *deflate = tr__http_worker_deflate(self->worker);
    tr_status status = deflate ? tr__gunzip(deflate, body, max, &out) : TR_NO_MEMORY;
    tr_bytes all = net_buffer_bytes(&out);
    char *copy = status == TR_OK ? tr_try_scratch(self, all.size + 1) : NULL;
    if (copy && all.data)
        memcpy(copy, all.data, all.size);
    tr__net_buffer_free(&out);
    if (status == TR_TOO_LARGE)
        tr__http_body_fail(request, 413, "the body is too large when it is inflated");
    if (status == TR_BAD_DATA)
        tr__http_body_fail(request, 400, "the body is no gzip");
    if (!copy)
        tr__http_body_fail(request, 503, "the server is busy");
    return (tr_bytes){copy, all.size};
}

tr_bytes tr__http_body_plain(struct http_request *request, size_t max)
{
    const char *coding = tr_http_header(request->self, "content-encoding");
    if (!coding || strcasecmp(coding, "identity") == 0)
        return tr__http_body_all(request, max);
    bool is_gzip = strcasecmp(coding, "gzip") == 0 || strcasecmp(coding, "x-gzip") == 0;
    if (!is_gzip || !request->site->options.inflates || !tr__deflate_is_built()) {
        if (request->phase == ANSWER_NONE && request->site->options.inflates)
            tr_http_set(request->self, "accept-encoding", "gzip");
        tr__http_body_fail(request, 415, "this Content-Encoding is not read here");
    }
    tr_bytes body = tr__http_body_all(request, max);
    return body.size ? weigh(request, inflate(request, body, max)) : body;
}

bool tr__http_body_is_small(const struct http_request *request)
{
    if (!request->is_told)
        return false; /* the client waits for 100 Continue, and may never send the body */
    return request->head.is_chunked || request->body_left <= TR_HTTP_DROP_MAX;
}

bool tr__http_body_drop(struct http_request *request)
{
    size_t dropped = 0;
    tr_bytes piece;
    while (dropped <= TR_HTTP_DROP_MAX) {
        if (!tr__http_body_read(request, &piece))
            return true;
        dropped += piece.size;
    }
    return false;
}
