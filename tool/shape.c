/* SPDX-License-Identifier: Apache-2.0 */
#include "shape.h"

#include <stdio.h>
#include <string.h>

/* A part of a text. */
struct span {
    const char *at;
    const char *end;
};

/* A field: its name, and its type as text. */
struct field {
    struct span name;
    struct span type;
    struct span whole;
};

struct comparison {
    void (*found)(void *context, const struct shape_difference *difference);
    void *context;
    char place[SHAPE_PLACE_SIZE];
    unsigned depth; /* of messages inside messages */
};

static size_t span_size(struct span span)
{
    return (size_t)(span.end - span.at);
}

static bool span_is_equal(struct span a, struct span b)
{
    return span_size(a) == span_size(b) && memcmp(a.at, b.at, span_size(a)) == 0;
}

static void span_copy(char *to, size_t size, struct span span)
{
    snprintf(to, size, "%.*s", (int)(span_size(span) < size ? span_size(span) : size), span.at);
}

/* Takes the first field of a list. Returns false if there is none, or it is malformed. */
static bool field_take(struct span *list, struct field *field)
{
    const char *at = list->at;
    while (at < list->end && *at != ':')
        at++;
    if (at == list->at || at == list->end)
        return false;
    field->name = (struct span){list->at, at};
    const char *type = ++at;
    int depth = 0;
    for (; at < list->end && (depth || *at != ','); at++) {
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        if (depth < 0)
            return false;
    }
    if (depth || at == type)
        return false;
    field->type = (struct span){type, at};
    field->whole = (struct span){list->at, at};
    list->at = at < list->end ? at + 1 : at;
    return true;
}

static void report(struct comparison *comparison, enum shape_change change,
                   const struct field *before, const struct field *after)
{
    struct shape_difference difference = {.change = change, .is_inside = comparison->depth > 0};
    char name[SHAPE_TEXT_SIZE] = "";
    const struct field *named = after ? after : before;
    if (named)
        span_copy(name, sizeof name, named->name);
    snprintf(difference.place,
             sizeof difference.place,
             "%.300s%s%s",
             comparison->place,
             comparison->place[0] && name[0] ? "." : "",
             name);
    if (before)
        span_copy(difference.before, sizeof difference.before, before->whole);
    if (after)
        span_copy(difference.after, sizeof difference.after, after->whole);
    comparison->found(comparison->context, &difference);
}

/*
 * If both types contain a message, and are equal apart from it, returns the fields of both messages: of "[{id:u64}]" it
 * is "id:u64".
 */
static bool message_inside(struct span a, struct span b, struct span *a_fields,
                           struct span *b_fields)
{
    while (a.at < a.end && b.at < b.end && *a.at == *b.at && *a.at != '{') {
        a.at++;
        b.at++;
    }
    while (a.at < a.end && b.at < b.end && a.end[-1] == b.end[-1] && a.end[-1] != '}') {
        a.end--;
        b.end--;
    }
    if (span_size(a) < 2 || span_size(b) < 2 || *a.at != '{' || *b.at != '{' || a.end[-1] != '}' ||
        b.end[-1] != '}')
        return false;
    *a_fields = (struct span){a.at + 1, a.end - 1};
    *b_fields = (struct span){b.at + 1, b.end - 1};
    return true;
}

static void compare_fields(struct comparison *comparison, struct span before, struct span after);

static void compare_types(struct comparison *comparison, const struct field *before,
                          const struct field *after)
{
    struct span before_fields;
    struct span after_fields;
    if (span_is_equal(before->type, after->type))
        return;
    if (comparison->depth == SHAPE_DEPTH_MAX ||
        !message_inside(before->type, after->type, &before_fields, &after_fields)) {
        report(comparison, SHAPE_RETYPED, before, after);
        return;
    }
    size_t length = strlen(comparison->place);
    snprintf(comparison->place + length,
             sizeof comparison->place - length,
             "%s%.*s",
             length ? "." : "",
             (int)span_size(after->name),
             after->name.at);
    comparison->depth++;
    compare_fields(comparison, before_fields, after_fields);
    comparison->depth--;
    comparison->place[length] = '\0';
}

static void compare_fields(struct comparison *comparison, struct span before, struct span after)
{
    struct field a;
    struct field b;
    while (before.at < before.end && after.at < after.end) {
        if (!field_take(&before, &a) || !field_take(&after, &b)) {
            report(comparison, SHAPE_UNREADABLE, NULL, NULL);
            return;
        }
        if (!span_is_equal(a.name, b.name)) {
            /* What follows is at other places, too: one sentence is enough. */
            report(comparison, SHAPE_RENAMED, &a, &b);
            return;
        }
        compare_types(comparison, &a, &b);
    }
    while (before.at < before.end && field_take(&before, &a))
        report(comparison, SHAPE_REMOVED, &a, NULL);
    while (after.at < after.end && field_take(&after, &b))
        report(comparison, SHAPE_ADDED, NULL, &b);
    if (before.at < before.end || after.at < after.end)
        report(comparison, SHAPE_UNREADABLE, NULL, NULL);
}

void shape_compare(const char *before, const char *after,
                   void (*found)(void *context, const struct shape_difference *difference),
                   void *context)
{
    struct comparison comparison = {.found = found, .context = context};
    struct span before_fields;
    struct span after_fields;
    struct span a = {before, before + strlen(before)};
    struct span b = {after, after + strlen(after)};
    if (!message_inside(a, b, &before_fields, &after_fields) || before_fields.at != before + 1 ||
        after_fields.at != after + 1)
        report(&comparison, SHAPE_UNREADABLE, NULL, NULL);
    else
        compare_fields(&comparison, before_fields, after_fields);
}
