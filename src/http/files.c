/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Implements TR_FILES: sends files below a directory, with conditions and ranges. RFC 9110, 13
 * and 14.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/blocking.h>

#include "actor/cell/verb.h"
#include "actor/verbs/self_memory.h"
#include "http/answer.h"
#include "http/date.h"
#include "http/fill.h"
#include "os/beneath.h"

enum { PIECE_MAX = 64 * 1024 /* the largest number of bytes that one call reads */ };

/* A file that is being sent. It is read on helper threads. */
struct served {
    const char *directory;
    const char *path;
    struct beneath_file file;
    tr_status status;
    int64_t offset; /* place of the next byte that is sent */
    size_t wanted;
    size_t got;
    char *piece; /* buffer of PIECE_MAX bytes */
};

static void open_and_read(void *argument)
{
    struct served *served = argument;
    served->status = tr__beneath_open(served->directory, served->path, &served->file);
}

static void read_on(void *argument)
{
    struct served *served = argument;
    served->status = tr__beneath_read(
        &served->file, served->offset, served->piece, served->wanted, &served->got);
}

static void close_file(void *file)
{
    tr__beneath_close(file);
}

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".js", "text/javascript"},
                                           {".mjs", "text/javascript"},
                                           {".json", "application/json"},
                                           {".txt", "text/plain; charset=utf-8"},
                                           {".svg", "image/svg+xml"},
                                           {".png", "image/png"},
                                           {".jpg", "image/jpeg"},
                                           {".gif", "image/gif"},
                                           {".webp", "image/webp"},
                                           {".ico", "image/vnd.microsoft.icon"},
                                           {".wasm", "application/wasm"},
                                           {".woff2", "font/woff2"},
                                           {".pdf", "application/pdf"},
                                           {".xml", "application/xml"}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++) {
        if (strcasecmp(dot, types[i][0]) == 0)
            return types[i][1];
    }
    return "application/octet-stream";
}

/* Whether a path has a NUL, or a name in it is empty or begins with a dot. */
static bool is_hidden(const char *path)
{
    for (const char *at = path;; at++) {
        if (*at == '.' || *at == '/')
            return true;
        at += strcspn(at, "/");
        if (!*at || !at[1])
            return false;
    }
}

/* Whether a list of tags contains this tag, or "*". */
static bool has_tag(const char *list, const char *tag)
{
    size_t size = strlen(tag);
    if (strcmp(list, "*") == 0)
        return true;
    while (*list) {
        list += strspn(list, ", \t");
        if (strncmp(list, "W/", 2) == 0)
            list += 2;
        size_t length = strcspn(list, ", \t");
        if (length == size && memcmp(list, tag, size) == 0)
            return true;
        list += length;
    }
    return false;
}

static bool is_not_modified(struct tr_self *self, const char *tag, int64_t modified_s)
{
    const char *tags = tr_http_header(self, "if-none-match");
    const char *since = tr_http_header(self, "if-modified-since");
    int64_t seconds;
    if (tags)
        return has_tag(tags, tag);
    return since && tr__http_time_read(since, &seconds) && modified_s <= seconds;
}

/* Reads a number of a range. Returns the place behind the number, or NULL if there is no number. */
static const char *read_number(const char *at, int64_t *number)
{
    char *end;
    if (*at < '0' || *at > '9' || strspn(at, "0123456789") > 18)
        return NULL;
    *number = strtoll(at, &end, 10);
    return end;
}

/*
 * Reads a Range with one range. Returns 206, and sets *from to the first byte and *to to the place
 * behind the last one. Returns 416 if the range is outside of the file. Returns 200, to send the
 * whole file, if the header is malformed or has several ranges; RFC 9110, 14.2 allows to ignore
 * such a header.
 */
static int read_range(const char *range, int64_t size, int64_t *from, int64_t *to)
{
    int64_t last = size - 1;
    *from = 0;
    *to = size;
    if (!range || strncmp(range, "bytes=", 6) != 0)
        return 200;
    const char *at = range + 6;
    if (*at == '-') {
        int64_t count;
        at = read_number(at + 1, &count);
        if (!at || *at)
            return 200;
        *from = count < size ? size - count : 0;
        return count && size ? 206 : 416;
    }
    at = read_number(at, from);
    const char *end = at && *at == '-' && at[1] ? read_number(at + 1, &last) : NULL;
    bool is_good = at && *at == '-' && (!at[1] || (end && !*end && last >= *from));
    if (!is_good) {
        *from = 0;
        return 200;
    }
    if (*from >= size)
        return 416;
    *to = last < size - 1 ? last + 1 : size;
    return 206;
}

/*
 * Returns the Range header of the request. Returns NULL if there is no such header, or if the
 * header If-Range says that the range is meant for another state of the file.
 */
static const char *range_of(struct tr_self *self, const char *tag, const char *modified)
{
    const char *condition = tr_http_header(self, "if-range");
    if (condition && strcmp(condition, tag) != 0 && strcmp(condition, modified) != 0)
        return NULL;
    return tr_http_header(self, "range");
}

/* Sends the bytes of the file from served->offset up to `to`, and ends the answer. */
static tr_next send_file(struct tr_self *self, struct served *served, int64_t to)
{
    served->piece = tr_scratch(self, PIECE_MAX);
    while (served->offset < to && !tr_http_is_gone(self)) {
        int64_t left = to - served->offset;
        served->wanted = left < PIECE_MAX ? (size_t)left : PIECE_MAX;
        tr_blocking(self, read_on, served);
        if (served->status != TR_OK || served->got < served->wanted)
            return tr_fail(self, TR_FAILED, "%s became shorter while it was sent", served->path);
        if (tr_http_write(self, (tr_bytes){served->piece, served->got}) != TR_OK)
            return TR_SAME;
        served->offset += (int64_t)served->got;
    }
    /* if not all bytes were sent, the client is gone, so the answer stays incomplete */
    return served->offset < to ? TR_SAME : tr_http_end(self);
}

static tr_next serve(struct http_request *request, struct served *served)
{
    struct tr_self *self = request->self;
    const struct beneath_file *file = &served->file;
    char modified[30], tag[64], content_range[96];
    int64_t from, to;
    tr__http_time(file->modified_s, modified);
    snprintf(tag,
             sizeof tag,
             "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "\"",
             (uint64_t)file->modified_s,
             (uint64_t)file->modified_ns,
             (uint64_t)file->size);
    tr_http_set(self, "ETag", tag);
    tr_http_set(self, "Last-Modified", modified);
    tr_http_set(self, "Accept-Ranges", "bytes");
    if (is_not_modified(self, tag, file->modified_s))
        return tr_http_reply(self, 304);
    int status = 200;
    from = 0;
    to = file->size;
    if (request->head.method_id == METHOD_GET)
        status = read_range(range_of(self, tag, modified), file->size, &from, &to);
    if (status == 416)
        snprintf(content_range, sizeof content_range, "bytes */%" PRId64, file->size);
    else
        snprintf(content_range,
                 sizeof content_range,
                 "bytes %" PRId64 "-%" PRId64 "/%" PRId64,
                 from,
                 to - 1,
                 file->size);
    if (status != 200)
        tr_http_set(self, "Content-Range", content_range);
    if (status == 416)
        return tr_http_reply(self, 416);
    served->offset = from;
    tr__http_answer_head(request, status, type_of(served->path), to - from, NULL);
    if (request->has_no_body) {
        request->phase = ANSWER_DONE;
        return TR_SAME;
    }
    return send_file(self, served, to);
}

tr_next tr_self_http_files(tr_self *self, void *state, const void *message)
{
    TURN_VERB(self);
    (void)state;
    (void)message;
    struct http_request *request = tr__http_request_of(self);
    if (!request || !request->route || !request->route->row->place)
        return TR_DECLINE;
    const char *rest = tr__http_part(request, request->route->pattern.part_count - 1);
    size_t size = strlen(rest);
    bool is_index = !size || rest[size - 1] == '/';
    const char *path = is_index ? tr_format(self, "%sindex.html", rest) : rest;
    struct served *served = tr_scratch(self, sizeof *served);
    *served =
        (struct served){.directory = request->route->row->place, .path = path, .file = {.fd = -1}};
    if (is_hidden(path))
        return tr_refuse(self, 404, "nothing is served here");
    tr__turn_defer(self, &served->file, close_file);
    tr_blocking(self, open_and_read, served);
    if (served->status != TR_OK)
        return tr_refuse(self, served->status == TR_LIMIT ? 503 : 404, "nothing is served here");
    return serve(request, served);
}
