/* SPDX-License-Identifier: Apache-2.0 */
#include "http/path.h"

#include <string.h>
#include <troupe/limits.h>

#include "wire/utf8.h"

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes the escape at `at`. Returns the byte, or -1 if the escape is malformed. */
static int escape_of(const char *at, const char *end)
{
    if (end - at < 3 || hex_of(at[1]) < 0 || hex_of(at[2]) < 0)
        return -1;
    return hex_of(at[1]) * 16 + hex_of(at[2]);
}

/*
 * Decodes a segment of a path into `to`. Returns the end of the result, or NULL if the segment is
 * malformed.
 */
static char *decode_segment(const char *at, const char *end, char *to)
{
    while (at < end) {
        int c = (unsigned char)*at;
        if (c == '%') {
            c = escape_of(at, end);
            at += 2;
        }
        if (c < 0x20 || c == 0x7f)
            return NULL;
        *to++ = (char)c;
        at++;
    }
    return to;
}

/*
 * Adds the decoded segment at text + at to the path. For "." and ".." does what RFC 3986, 5.2.4
 * says. Returns where the next segment is to be decoded to.
 */
static uint32_t take_segment(struct http_path *path, uint32_t at, uint32_t size, bool is_last)
{
    const char *text = path->text + at;
    bool is_one_dot = size == 1 && text[0] == '.';
    bool is_two_dots = size == 2 && text[0] == '.' && text[1] == '.';
    if (is_two_dots && path->count)
        path->count--;
    if (is_one_dot || is_two_dots) {
        at = path->count
                 ? path->segments[path->count - 1].at + path->segments[path->count - 1].size + 1
                 : 1;
        if (!is_last)
            return at;
        size = 0; /* "/a/.." is "/" */
    }
    path->segments[path->count].at = at;
    path->segments[path->count++].size = size;
    path->text[at + size] = '/';
    return at + size + 1;
}

size_t tr__http_path_bytes(const char *raw, size_t size)
{
    size_t count = 1;
    for (size_t i = 1; i < size; i++)
        count += raw[i] == '/'; /* an escaped '/' separates no segments */
    if (count > PATH_SEGMENTS_MAX)
        count = PATH_SEGMENTS_MAX;
    return sizeof(struct http_path) + count * sizeof(struct http_path_segment);
}

bool tr__http_path_decode(const char *raw, size_t size, char *text, struct http_path *path)
{
    const char *end = raw + size;
    path->text = text;
    path->count = 0;
    text[0] = '/';
    uint32_t to = 1;
    for (const char *at = raw + 1;;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const char *stop = slash ? slash : end;
        char *done = decode_segment(at, stop, text + to);
        if (!done || path->count == PATH_SEGMENTS_MAX)
            return false;
        to = take_segment(path, to, (uint32_t)(done - (text + to)), !slash);
        if (!slash)
            break;
        at = slash + 1;
    }
    text[to - 1] = '\0';
    return utf8_span((const unsigned char *)text, to - 1) == to - 1;
}

bool tr__http_value_decode(const char *raw, size_t size, char *to)
{
    const char *end = raw + size;
    char *begin = to;
    for (const char *at = raw; at < end; at++) {
        int c = *at == '+' ? ' ' : (unsigned char)*at;
        if (c == '%') {
            c = escape_of(at, end);
            at += 2;
        }
        if (c < 0x20 && c != '\t' && c != '\r' && c != '\n')
            return false;
        *to++ = (char)c;
    }
    *to = '\0';
    size_t length = (size_t)(to - begin);
    return utf8_span((const unsigned char *)begin, length) == length;
}

const char *tr__http_query_next(const char *query, tr_bytes *name, tr_bytes *value)
{
    while (query && *query == '&')
        query++;
    if (!query || !*query)
        return NULL;
    size_t size = strcspn(query, "&");
    const char *equals = memchr(query, '=', size);
    size_t length = equals ? (size_t)(equals - query) : size;
    *name = (tr_bytes){query, length};
    *value = equals ? (tr_bytes){equals + 1, size - length - 1} : (tr_bytes){query + size, 0};
    return query + size;
}

/* ---- Patterns. ---- */

/* Reads one segment of a pattern, such as "{id}". Returns NULL, or an error text. */
static const char *cut_segment(const char *at, size_t size, struct http_segment *segment)
{
    *segment = (struct http_segment){SEGMENT_TEXT, at, size};
    if (!memchr(at, '{', size) && !memchr(at, '}', size))
        return NULL;
    if (size < 3 || at[0] != '{' || at[size - 1] != '}')
        return "a part is all that is between two slashes: {name} or {name...}";
    segment->kind = SEGMENT_PART;
    segment->text++;
    segment->size -= 2;
    if (segment->size > 3 && memcmp(segment->text + segment->size - 3, "...", 3) == 0) {
        segment->kind = SEGMENT_REST;
        segment->size -= 3;
    }
    if (memchr(segment->text, '{', segment->size) || memchr(segment->text, '}', segment->size))
        return "a part has braces in its name";
    return NULL;
}

const char *tr__http_pattern_cut(const char *text, struct http_pattern *pattern)
{
    *pattern = (struct http_pattern){0};
    if (text[0] != '/')
        return "it does not begin with '/'";
    for (const char *at = text + 1;; at++) {
        size_t size = strcspn(at, "/");
        if (pattern->count == PATTERN_SEGMENTS_MAX)
            return "it has too many segments";
        if (pattern->count && pattern->segments[pattern->count - 1].kind == SEGMENT_REST)
            return "something follows a part {name...}";
        struct http_segment *segment = &pattern->segments[pattern->count++];
        const char *why = cut_segment(at, size, segment);
        if (why)
            return why;
        if (segment->kind != SEGMENT_TEXT && ++pattern->part_count > TR_HTTP_PARTS_MAX)
            return "it has too many parts";
        at += size;
        if (!*at)
            return NULL;
    }
}

bool tr__http_pattern_fits(const struct http_pattern *pattern, const struct http_path *path)
{
    for (uint32_t i = 0; i < pattern->count; i++) {
        const struct http_segment *segment = &pattern->segments[i];
        if (i >= path->count)
            return false;
        if (segment->kind == SEGMENT_REST)
            return true;
        uint32_t size = path->segments[i].size;
        if (segment->kind == SEGMENT_PART) {
            if (!size)
                return false;
        } else if (segment->size != size ||
                   memcmp(segment->text, path->text + path->segments[i].at, size) != 0) {
            return false;
        }
    }
    return pattern->count == path->count;
}

int tr__http_pattern_compare(const struct http_pattern *a, const struct http_pattern *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        if (a->segments[i].kind != b->segments[i].kind)
            return (int)a->segments[i].kind - (int)b->segments[i].kind;
    }
    return (int)a->count - (int)b->count;
}
