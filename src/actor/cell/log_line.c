/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/cell/log_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/civil.h"
#include "wire/utf8.h"

static const char *const level_names[] = {
    [TR_LEVEL_DEBUG] = "debug",
    [TR_LEVEL_INFO] = "info",
    [TR_LEVEL_WARN] = "warn",
    [TR_LEVEL_ERROR] = "error",
};

/* The priority of syslog for each level: LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERR. */
static const int priorities[] = {
    [TR_LEVEL_DEBUG] = 7,
    [TR_LEVEL_INFO] = 6,
    [TR_LEVEL_WARN] = 4,
    [TR_LEVEL_ERROR] = 3,
};

enum { LEVELS = sizeof level_names / sizeof *level_names };

struct writer {
    char *to;
    size_t size;
    size_t length;
};

static void put(struct writer *writer, const char *bytes, size_t size)
{
    TR_ASSERT(writer->length + size < writer->size);
    memcpy(writer->to + writer->length, bytes, size);
    writer->length += size;
    writer->to[writer->length] = '\0';
}

static void put_text(struct writer *writer, const char *text)
{
    put(writer, text, strlen(text));
}

/*
 * Writes the first character of a text as it stands in a string of JSON. Returns the length of the
 * character in the text.
 */
static size_t escape(const unsigned char *text, size_t size, char to[8], size_t *written)
{
    size_t good = tr__utf8_character(text, size);
    if (*text < 0x20 || *text == 0x7f)
        *written = (size_t)snprintf(to, 8, "\\u%04x", *text);
    else if (*text == '"' || *text == '\\')
        *written = (size_t)snprintf(to, 8, "\\%c", *text);
    else if (!good)
        *written = (size_t)snprintf(to, 8, "?");
    else
        memcpy(to, text, *written = good);
    return good ? good : 1;
}

/*
 * Writes a text, but leaves `reserve` bytes free. If the text does not fit, cuts it and writes
 * "...".
 */
static void put_escaped(struct writer *writer, const char *text, size_t reserve)
{
    size_t size = strlen(text);
    for (size_t i = 0; i < size;) {
        char piece[8];
        size_t length;
        i += escape((const unsigned char *)text + i, size - i, piece, &length);
        if (writer->length + length + 4 + reserve > writer->size) {
            put_text(writer, "...");
            return;
        }
        put(writer, piece, length);
    }
}

/*
 * As put_escaped, but for people: control characters become spaces, so that the line stays one
 * line.
 */
static void put_plain(struct writer *writer, const char *text, size_t reserve)
{
    for (; *text; text++) {
        bool is_control = (unsigned char)*text < ' ' || *text == 0x7f;
        if (writer->length + 5 + reserve > writer->size) {
            put_text(writer, "...");
            return;
        }
        put(writer, is_control ? " " : text, 1);
    }
}

static const size_t causal_size = sizeof " causal=0123456789abcdef";

static void put_causal(struct writer *writer, uint64_t causal)
{
    char text[32];
    if (!causal)
        return;
    (void)snprintf(text, sizeof text, " causal=%016" PRIx64, causal);
    put_text(writer, text);
}

size_t tr__log_line_text(const struct log_line *line, char *to, size_t size)
{
    struct writer writer = {to, size, 0};
    *to = '\0';
    put_plain(&writer, line->text, causal_size);
    put_causal(&writer, line->causal);
    return writer.length;
}

size_t tr__log_line_journald(const struct log_line *line, char *to, size_t size)
{
    struct writer writer = {to, size, 0};
    char priority[8];
    size_t level = (size_t)line->level < LEVELS ? (size_t)line->level : TR_LEVEL_ERROR;
    (void)snprintf(priority, sizeof priority, "<%d>", priorities[level]);
    put_text(&writer, priority);
    if (line->path) {
        put_plain(&writer, line->path, size / 2);
        put_text(&writer, ": ");
    }
    put_plain(&writer, line->text, causal_size);
    put_causal(&writer, line->causal);
    return writer.length;
}

static void put_time(struct writer *writer, tr_time wall_ns)
{
    char text[64];
    int64_t seconds = civil_floor(wall_ns, TR_SECOND);
    int64_t day = civil_floor(seconds, CIVIL_DAY);
    int second = (int)(seconds - day * CIVIL_DAY);
    struct civil_date date = civil_date_of(day);
    (void)snprintf(text,
                   sizeof text,
                   "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
                   (int)date.year,
                   date.month,
                   date.day,
                   second / CIVIL_HOUR,
                   second / CIVIL_MINUTE % 60,
                   second % 60,
                   (int)((wall_ns - seconds * TR_SECOND) / TR_MICROSECOND));
    put_text(writer, text);
}

size_t tr__log_line_json(const struct log_line *line, tr_time wall_ns, char *to, size_t size)
{
    struct writer writer = {to, size, 0};
    char causal[48];
    put_text(&writer, "{\"time\":\"");
    put_time(&writer, wall_ns);
    put_text(&writer, "\",\"level\":\"");
    put_text(&writer, (size_t)line->level < LEVELS ? level_names[line->level] : "error");
    put_text(&writer, "\"");
    if (line->path) {
        put_text(&writer, ",\"path\":\"");
        put_escaped(&writer, line->path, size / 2);
        put_text(&writer, "\"");
    }
    if (line->causal) {
        (void)snprintf(causal, sizeof causal, ",\"causal\":\"%016" PRIx64 "\"", line->causal);
        put_text(&writer, causal);
    }
    put_text(&writer, ",\"text\":\"");
    put_escaped(&writer, line->text, sizeof "\"}");
    put_text(&writer, "\"}");
    return writer.length;
}
