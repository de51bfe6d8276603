/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "shape.h"

enum { FILE_MAX = 64 * 1024 * 1024 };

enum verdict { SAFE, SAFE_ONE_WAY, BREAKS_STATE, BREAKS_WIRE };

static const char *const verdict_names[] = {[SAFE] = "safe",
                                            [SAFE_ONE_WAY] = "safe one way",
                                            [BREAKS_STATE] = "breaks stored state",
                                            [BREAKS_WIRE] = "breaks the wire"};

struct report {
    bool is_json;
    const char *what; /* "message", "durable", "event" */
    const char *name;
    uint64_t count;
    uint64_t breaks;
    bool is_newer; /* the stored form has another version */
};

/* ---- Printing. ---- */

static void quoted_print(const char *name, const char *text)
{
    printf("%s\"%s\":\"", strcmp(name, "verdict") == 0 ? "{" : ",", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        if ((unsigned char)*text < 0x20)
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        else
            putchar(*text);
    }
    putchar('"');
}

static void say(struct report *report, enum verdict verdict, const char *field, const char *text)
{
    report->count++;
    report->breaks += verdict >= BREAKS_STATE;
    if (report->is_json) {
        quoted_print("verdict", verdict_names[verdict]);
        quoted_print("what", report->what);
        quoted_print("name", report->name);
        quoted_print("field", field);
        quoted_print("text", text);
        printf("}\n");
        return;
    }
    printf("%-20s %s ", verdict_names[verdict], report->what);
    text_print(report->name);
    printf(": ");
    text_print(text);
    putchar('\n');
}

/* ---- Messages. ---- */

static void message_difference(void *context, const struct shape_difference *difference)
{
    struct report *report = context;
    char text[SHAPE_PLACE_SIZE + 3 * SHAPE_TEXT_SIZE];
    enum verdict verdict = BREAKS_WIRE;
    switch (difference->change) {
    case SHAPE_ADDED:
        verdict = SAFE_ONE_WAY;
        snprintf(text,
                 sizeof text,
                 "%s is new at the end (%s); old code does not see it, new code reads old messages "
                 "with zero there",
                 difference->place,
                 difference->after);
        break;
    case SHAPE_REMOVED:
        verdict = SAFE_ONE_WAY;
        snprintf(text,
                 sizeof text,
                 "%s is gone from the end (%s); old code reads zero there",
                 difference->place,
                 difference->before);
        break;
    case SHAPE_RENAMED:
        snprintf(text,
                 sizeof text,
                 "%s stands where %s was; add fields at the end, and keep names and order",
                 difference->after,
                 difference->before);
        break;
    case SHAPE_RETYPED:
        snprintf(text,
                 sizeof text,
                 "%s has another type: %s, was %s",
                 difference->place,
                 difference->after,
                 difference->before);
        break;
    case SHAPE_UNREADABLE:
        snprintf(text, sizeof text, "the shape cannot be read");
        break;
    }
    say(report, verdict, difference->place, text);
}

static void message_compare(struct report *report, const struct json *before,
                            const struct json *after)
{
    const char *old_reply = json_text(before, "reply", "");
    const char *new_reply = json_text(after, "reply", "");
    const char *old_shape = json_text(before, "shape", "");
    const char *new_shape = json_text(after, "shape", "");
    if (strcmp(old_reply, new_reply) != 0) {
        char text[400];
        snprintf(text,
                 sizeof text,
                 "its reply is %.128s, was %.128s",
                 *new_reply ? new_reply : "none",
                 *old_reply ? old_reply : "none");
        say(report, BREAKS_WIRE, "", text);
    }
    if (strcmp(old_shape, new_shape) != 0)
        shape_compare(old_shape, new_shape, message_difference, report);
}

/* ---- What is stored. ---- */

static void stored_difference(void *context, const struct shape_difference *difference)
{
    struct report *report = context;
    char text[SHAPE_PLACE_SIZE + 3 * SHAPE_TEXT_SIZE];
    enum verdict verdict = BREAKS_STATE;
    switch (difference->change) {
    case SHAPE_ADDED:
        verdict = difference->is_inside || report->is_newer ? SAFE_ONE_WAY : SAFE;
        snprintf(text,
                 sizeof text,
                 "%s is new at the end (%s)%s",
                 difference->place,
                 difference->after,
                 difference->is_inside ? "; old code does not start what new code has stored"
                                       : "; it is zero in what is stored already");
        break;
    case SHAPE_REMOVED:
        verdict = difference->is_inside ? BREAKS_STATE : report->is_newer ? SAFE_ONE_WAY : SAFE;
        snprintf(text,
                 sizeof text,
                 "%s is gone from the end (%s)%s",
                 difference->place,
                 difference->before,
                 difference->is_inside ? "; new code does not start what old code has stored"
                                       : "; what is stored is kept");
        break;
    case SHAPE_RENAMED:
        snprintf(text,
                 sizeof text,
                 "%s stands where %s was; raise the version and add a migration",
                 difference->after,
                 difference->before);
        break;
    case SHAPE_RETYPED:
        snprintf(text,
                 sizeof text,
                 "%s has another type: %s, was %s; raise the version and add a migration",
                 difference->place,
                 difference->after,
                 difference->before);
        break;
    case SHAPE_UNREADABLE:
        snprintf(text, sizeof text, "the shape cannot be read");
        break;
    }
    say(report, verdict, difference->place, text);
}

/* Returns the shape that new code reads a stored version with: of the next migration, or its own. */
static const char *shape_readable(const struct json *after, int64_t version)
{
    const struct json *migrations = json_get(after, "migrations");
    const struct json *next = NULL;
    for (const struct json *row = migrations ? migrations->first : NULL; row; row = row->next) {
        int64_t from = json_number(row, "from");
        if (from >= version && (!next || from < json_number(next, "from")))
            next = row;
    }
    return json_text(next ? next : after, "shape", "");
}

/* Compares a state, or an event. */
static void stored_compare(struct report *report, const struct json *before,
                           const struct json *after)
{
    int64_t old_version = json_number(before, "version");
    int64_t new_version = json_number(after, "version");
    char text[200];
    if (new_version < old_version) {
        snprintf(text,
                 sizeof text,
                 "its version is %" PRId64 ", was %" PRId64 "; old versions of code read no newer "
                 "versions of data",
                 new_version,
                 old_version);
        say(report, BREAKS_STATE, "", text);
        return;
    }
    report->is_newer = new_version > old_version;
    if (report->is_newer) {
        snprintf(text,
                 sizeof text,
                 "its version is %" PRId64 ", was %" PRId64 "; old code does not start what new "
                 "code has stored",
                 new_version,
                 old_version);
        say(report, SAFE_ONE_WAY, "", text);
    }
    const char *old_shape = json_text(before, "shape", "");
    const char *new_shape = shape_readable(after, old_version);
    if (strcmp(old_shape, new_shape) != 0)
        shape_compare(old_shape, new_shape, stored_difference, report);
}

/* ---- Lists. ---- */

static const struct json *list_find(const struct json *list, const char *name)
{
    for (const struct json *row = list ? list->first : NULL; row; row = row->next) {
        if (strcmp(json_text(row, "name", ""), name) == 0)
            return row;
    }
    return NULL;
}

/* Finds the message that a message of the other schema is: of this name, and if there are several, of this shape. */
static const struct json *message_find(const struct json *list, const struct json *message)
{
    const char *name = json_text(message, "name", "");
    const char *shape = json_text(message, "shape", "");
    for (const struct json *row = list ? list->first : NULL; row; row = row->next) {
        if (strcmp(json_text(row, "name", ""), name) == 0 &&
            strcmp(json_text(row, "shape", ""), shape) == 0)
            return row;
    }
    return list_find(list, name);
}

static void messages_compare(struct report *report, const struct json *before,
                             const struct json *after)
{
    report->what = "message";
    for (const struct json *row = before ? before->first : NULL; row; row = row->next) {
        const struct json *now = message_find(after, row);
        report->name = json_text(row, "name", "?");
        if (now)
            message_compare(report, row, now);
        else
            say(report, BREAKS_WIRE, "", "it is gone; code that still sends it gets no answer");
    }
    for (const struct json *row = after ? after->first : NULL; row; row = row->next) {
        report->name = json_text(row, "name", "?");
        if (!list_find(before, report->name))
            say(report, SAFE, "", "it is new");
    }
}

static void events_compare(struct report *report, const struct json *before,
                           const struct json *after)
{
    report->what = "event";
    for (const struct json *row = before->first; row; row = row->next) {
        const struct json *now = list_find(after, json_text(row, "name", ""));
        report->name = json_text(row, "name", "?");
        if (now)
            stored_compare(report, row, now);
        else
            say(report, BREAKS_STATE, "", "it is gone; stored events of this name cannot be read");
    }
    for (const struct json *row = after->first; row; row = row->next) {
        report->name = json_text(row, "name", "?");
        if (!list_find(before, report->name))
            say(report, SAFE_ONE_WAY, "", "it is new; old code does not read it");
    }
}

static void kind_compare(struct report *report, const struct json *before, const struct json *after)
{
    const struct json *old_events = json_get(before, "events");
    const struct json *new_events = json_get(after, "events");
    if (!old_events != !new_events) {
        say(report,
            BREAKS_STATE,
            "",
            new_events ? "it stores events now, and stored its state before"
                       : "it stores its state now, and stored events before");
        return;
    }
    stored_compare(report, before, after);
    if (new_events)
        events_compare(report, old_events, new_events);
}

static void kinds_compare(struct report *report, const struct json *before,
                          const struct json *after)
{
    for (const struct json *row = before ? before->first : NULL; row; row = row->next) {
        const struct json *now = list_find(after, json_text(row, "name", ""));
        report->what = "durable";
        report->name = json_text(row, "name", "?");
        if (now)
            kind_compare(report, row, now);
        else
            say(report, BREAKS_STATE, "", "it is gone; its stored actors cannot be woken");
    }
    report->what = "durable";
    for (const struct json *row = after ? after->first : NULL; row; row = row->next) {
        report->name = json_text(row, "name", "?");
        if (!list_find(before, report->name))
            say(report, SAFE, "", "it is new");
    }
}

/* ---- Files. ---- */

/* Reads a schema. NULL with a sentence on standard error. *text is given. */
static struct json *schema_read(const char *path, char **text)
{
    FILE *file = fopen(path, "rb");
    *text = NULL;
    if (!file) {
        fprintf(stderr, "troupe: cannot read %s: %s\n", path, strerror(errno));
        return NULL;
    }
    size_t size = 0;
    size_t capacity = 0;
    for (;;) {
        if (size == capacity) {
            capacity = capacity ? 2 * capacity : 64 * 1024;
            char *more = capacity <= FILE_MAX ? realloc(*text, capacity) : NULL;
            if (!more)
                break;
            *text = more;
        }
        size_t got = fread(*text + size, 1, capacity - size, file);
        if (!got)
            break;
        size += got;
    }
    bool is_whole = feof(file) && !ferror(file);
    (void)fclose(file);
    while (is_whole && size && ((*text)[size - 1] == '\n' || (*text)[size - 1] == '\r'))
        size--;
    struct json *json = is_whole && size ? json_read(*text, size) : NULL;
    if (json && json_number(json, "troupe_schema") == 1)
        return json;
    fprintf(
        stderr, "troupe: %s is no schema: expected what a program prints with --schema\n", path);
    json_free(json);
    return NULL;
}

int schema_compare(const struct json *before, const struct json *after, bool is_json)
{
    struct report report = {.is_json = is_json};
    messages_compare(&report, json_get(before, "messages"), json_get(after, "messages"));
    kinds_compare(&report, json_get(before, "durable"), json_get(after, "durable"));
    if (!is_json)
        printf("%" PRIu64 " differences, %" PRIu64 " of them break something\n",
               report.count,
               report.breaks);
    return report.breaks ? EXIT_REFUSED : EXIT_OK;
}

int schema_diff(const char *old_path, const char *new_path, bool is_json)
{
    char *old_text;
    char *new_text = NULL;
    int code = EXIT_USAGE;
    struct json *before = schema_read(old_path, &old_text);
    struct json *after = before ? schema_read(new_path, &new_text) : NULL;
    if (before && after)
        code = schema_compare(before, after, is_json);
    json_free(before);
    json_free(after);
    free(old_text);
    free(new_text);
    return code;
}
