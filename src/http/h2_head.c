/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Heads of HTTP/2. nghttp2 has checked their form: names are in lower case, the pseudo fields that
 * RFC 9113, 8.3 demands come first, and there are no fields about the connection. This file writes
 * the fields as a head of HTTP/1.1, and parses that head. So a request means the same in both
 * versions, and each check exists only once.
 */
#include "http/h2_head.h"

#include <string.h>

#include "http/h2_inside.h"

static bool is(tr_bytes bytes, const char *text)
{
    return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

/*
 * Appends the value of a pseudo field to the head of the stream. Sets *at and *size to the place of
 * the value.
 */
static tr_status keep(struct h2_stream *stream, tr_bytes value, uint32_t *at, uint32_t *size)
{
    *at = (uint32_t)net_buffer_size(&stream->head);
    *size = (uint32_t)value.size;
    return tr__net_buffer_append(&stream->head, value.data, value.size);
}

/* Appends a line of the head. */
static tr_status keep_line(struct net_buffer *buffer, tr_bytes name, tr_bytes value)
{
    const tr_bytes parts[] = {name, TR_BYTES(": "), value, TR_BYTES("\r\n")};
    tr_status status = TR_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == TR_OK; i++)
        status = tr__net_buffer_append(buffer, parts[i].data, parts[i].size);
    return status;
}

/* Joins the parts of a cookie, as RFC 9113, 8.2.3 demands. */
static tr_status keep_cookie(struct h2_stream *stream, tr_bytes value)
{
    bool is_first = !net_buffer_size(&stream->cookies);
    tr_bytes before = is_first ? TR_BYTES("cookie: ") : TR_BYTES("; ");
    tr_status status = tr__net_buffer_append(&stream->cookies, before.data, before.size);
    if (status == TR_OK)
        status = tr__net_buffer_append(&stream->cookies, value.data, value.size);
    return status;
}

static tr_status keep_pseudo(struct h2_stream *stream, tr_bytes name, tr_bytes value)
{
    if (is(name, ":method"))
        return keep(stream, value, &stream->method.at, &stream->method.size);
    if (is(name, ":path"))
        return keep(stream, value, &stream->path.at, &stream->path.size);
    if (is(name, ":authority"))
        return keep(stream, value, &stream->authority.at, &stream->authority.size);
    return TR_OK; /* this is :scheme, which is not needed */
}

tr_status tr__h2_head_add(struct h2_stream *stream, const struct http_limits *limits, tr_bytes name,
                          tr_bytes value)
{
    size_t there = net_buffer_size(&stream->head) + net_buffer_size(&stream->cookies);
    bool is_pseudo = name.size && *(const char *)name.data == ':';
    if (stream->is_too_large)
        return TR_OK;
    if (there + name.size + value.size > limits->head_max ||
        (!is_pseudo && stream->field_count == limits->headers_max)) {
        /* what was kept so far is enough for an answer with an error */
        stream->is_too_large = true;
        return TR_OK;
    }
    if (is_pseudo)
        return keep_pseudo(stream, name, value);
    stream->field_count++;
    if (is(name, "cookie"))
        return keep_cookie(stream, value);
    if (!stream->lines)
        stream->lines = (uint32_t)net_buffer_size(&stream->head);
    if (is(name, "host") && !stream->has_host) {
        /* keep Host as a line of the head; :authority, if there is one, is used instead of Host */
        stream->has_host = true;
        stream->host.at = (uint32_t)net_buffer_size(&stream->head) + 6;
        stream->host.size = (uint32_t)value.size;
    }
    return keep_line(&stream->head, name, value);
}

bool tr__h2_head_agrees(const struct h2_stream *stream)
{
    const unsigned char *data = stream->head.data;
    if (!stream->has_host || !stream->authority.size)
        return true;
    return stream->host.size == stream->authority.size &&
           strncasecmp((const char *)data + stream->host.at,
                       (const char *)data + stream->authority.at,
                       stream->host.size) == 0;
}

/* Copies a part of stream->head to `to`. Returns the place behind the copy. */
static char *put(char *to, const struct h2_stream *stream, uint32_t at, uint32_t size)
{
    if (size)
        memcpy(to, stream->head.data + at, size);
    return to + size;
}

/* Writes the head of the request in the form of HTTP/1.1. Returns its size. */
static size_t write_head(const struct h2_stream *stream, char *text)
{
    uint32_t lines_size = (uint32_t)net_buffer_size(&stream->head) - stream->lines;
    tr_bytes cookies = net_buffer_bytes(&stream->cookies);
    char *to = put(text, stream, stream->method.at, stream->method.size);
    *to++ = ' ';
    to = put(to, stream, stream->path.at, stream->path.size);
    if (!stream->path.size)
        *to++ = '/'; /* CONNECT has no path; the parser refuses this method */
    to = stpcpy(to, " HTTP/1.1\r\n");
    if (stream->authority.size && !stream->has_host) {
        to = stpcpy(to, "host: ");
        to = put(to, stream, stream->authority.at, stream->authority.size);
        to = stpcpy(to, "\r\n");
    }
    if (stream->lines)
        to = put(to, stream, stream->lines, lines_size);
    if (cookies.data) {
        memcpy(to, cookies.data, cookies.size);
        to = stpcpy(to + cookies.size, "\r\n");
    }
    to = stpcpy(to, "\r\n");
    return (size_t)(to - text);
}

int tr__h2_head_parse(struct h2_stream *stream, struct http_request *request)
{
    enum { MORE = 64 /* space for the separators between the parts */ };
    struct http_head *head = &request->head;
    const struct http_limits *given = &request->site->limits;
    if (stream->is_too_large) {
        bool is_path = stream->method.size && !stream->path.size;
        *head = (struct http_head){.fields = head->fields, .length = -1};
        head->why = "the head is too large";
        return is_path ? 414 : 431;
    }
    size_t size = net_buffer_size(&stream->head) + net_buffer_size(&stream->cookies) + MORE;
    char *text = tr_scratch(request->self, size);
    size = write_head(stream, text);
    struct http_limits limits = {given->head_max + MORE, given->headers_max + 1};
    int status = tr__http_head_parse(text, size, &limits, head);
    tr__net_buffer_free(&stream->head);
    tr__net_buffer_free(&stream->cookies);
    if (!status && head->length < 0 && !stream->is_input_over)
        /* the length of the body is not known before its end, as with chunks */
        head->is_chunked = true;
    return status;
}
