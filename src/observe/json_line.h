/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A text that grows. It is used for lines of JSON and for other texts.
 *
 *     json_open(text, '{'); json_string(text, "path", path); json_number(text, "queued", 5); json_close(text, '}');
 *
 * If memory runs out, the text stops growing and has_failed is set. The caller checks has_failed once, at the end.
 */
#ifndef OBSERVE_JSON_LINE_H
#define OBSERVE_JSON_LINE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/detail/base.h>
#include <troupe/ref.h>

#include "mem/source.h"

struct json_line {
    const struct memory_source *source;
    char *data;
    size_t length;
    size_t capacity;
    bool needs_comma; /* the next member or item needs a comma before it */
    bool has_failed;  /* memory ran out */
};

void tr__json_line_init(struct json_line *text, const struct memory_source *source);
void tr__json_line_free(struct json_line *text);
/** Removes the first `size` bytes. */
void tr__json_line_drop(struct json_line *text, size_t size);

/** Appends a text as it is, without quotes. */
void tr__json_put(struct json_line *text, const char *piece, size_t length);
void tr__json_printf(struct json_line *text, const char *format, ...) TR_PRINTF(2, 3);

/**
 * Begins an object if `bracket` is '{', or an array if it is '['. `name` is NULL for an item of an
 * array, and for the outermost object.
 */
void tr__json_open(struct json_line *text, const char *name, char bracket);
void tr__json_close(struct json_line *text, char bracket);
/**
 * The next functions write members of an object. If `value` is NULL, null is written. Bytes that
 * are not UTF-8 become "?".
 */
void tr__json_string(struct json_line *text, const char *name, const char *value);
void tr__json_unsigned(struct json_line *text, const char *name, uint64_t value);
void tr__json_signed(struct json_line *text, const char *name, int64_t value);
void tr__json_bool(struct json_line *text, const char *name, bool value);
/** Writes a ref as JSON messages have it: "0x100000002", or null if the ref names no actor. */
void tr__json_ref(struct json_line *text, const char *name, tr_ref ref);
/** Writes a member whose value is given as JSON. */
void tr__json_raw(struct json_line *text, const char *name, const char *json);

#endif
