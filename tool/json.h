/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads a line of JSON into a tree. For the tool, which gets lines from programs of any version: it takes what it knows
 * and ignores the rest.
 */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json {
    enum json_kind kind;
    const char *key;   /* of a member of an object, otherwise NULL */
    const char *text;  /* of a string, decoded; of a number, as written */
    const char *begin; /* the value as it stands in the line */
    const char *end;
    struct json *first; /* members or items */
    struct json *next;
};

/** Reads a line. NULL: it is no JSON, or memory ran out. Free with json_free. */
struct json *json_read(const char *line, size_t length);
void json_free(struct json *json);

/** Returns a member; NULL if there is none, or `json` is NULL or no object. */
const struct json *json_get(const struct json *json, const char *key);
/** Returns the text of a member that is a string; else `otherwise`. */
const char *json_text(const struct json *json, const char *key, const char *otherwise);
/** Returns a member that is a number; else 0. */
int64_t json_number(const struct json *json, const char *key);
bool json_is_true(const struct json *json, const char *key);

#endif
