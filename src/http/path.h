/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decodes paths, divides them into segments, and compares them with the patterns of rows, such as
 * "/users/{id}". Pure functions.
 */
#ifndef HTTP_PATH_H
#define HTTP_PATH_H

#include <troupe/message.h>

enum { PATH_SEGMENTS_MAX = 128, PATTERN_SEGMENTS_MAX = 32 };

/** A decoded path, without the segments "." and "..". */
struct http_path {
    char *text; /* the decoded path: begins with '/', and ends with a NUL */
    uint32_t count;
    struct http_path_segment {
        uint32_t at; /* in `text` */
        uint32_t size;
    } segments[]; /* the parts between the slashes; an escaped slash is no slash here */
};

/**
 * Returns how many bytes a struct http_path for this path needs. Most paths have few segments. A struct with space for
 * PATH_SEGMENTS_MAX segments would be the largest part of a request, and would have to be cleared for each request.
 */
size_t tr__http_path_bytes(const char *raw, size_t size);

/**
 * Decodes a path that begins with '/'. `text` has space for size + 2 bytes, and `path` has
 * tr__http_path_bytes bytes. Returns false if an escape is malformed or stands for a control
 * character, if the path is not UTF-8, or if it has too many segments.
 */
bool tr__http_path_decode(const char *raw, size_t size, char *text, struct http_path *path);

/**
 * Decodes a value of a query or a form: escapes, and '+' for a space. `to` has space for size + 1
 * bytes. Returns false in the cases in which tr__http_path_decode does, but allows line ends and
 * tabs.
 */
bool tr__http_value_decode(const char *raw, size_t size, char *to);

/**
 * Finds the next "name=value" of a query. Returns the rest of the query. Returns NULL if there is no further pair. Name
 * and value are not decoded.
 */
const char *tr__http_query_next(const char *query, tr_bytes *name, tr_bytes *value);

enum segment_kind { SEGMENT_TEXT, SEGMENT_PART, SEGMENT_REST };

/** A pattern, divided into segments. */
struct http_pattern {
    uint32_t count;
    uint32_t part_count;
    struct http_segment {
        enum segment_kind kind;
        /* the segment's text, or the name of the part; points into the text of the pattern */
        const char *text;
        size_t size;
    } segments[PATTERN_SEGMENTS_MAX];
};

/** Divides a pattern into segments. Returns NULL, or an error text. */
const char *tr__http_pattern_cut(const char *text, struct http_pattern *pattern);
/** Whether a path matches a pattern. */
bool tr__http_pattern_fits(const struct http_pattern *pattern, const struct http_path *path);
/**
 * Compares two patterns, for the order in which rows are tried. Returns a negative number if `a` is
 * tried first, because its segments are more specific.
 */
int tr__http_pattern_compare(const struct http_pattern *a, const struct http_pattern *b);

#endif
