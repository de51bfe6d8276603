/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/log_tail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/log_kept.h"
#include "observe/past.h"
#include "observe/trace.h"

enum { LINES_DEFAULT = 200, LINES_LARGEST = 400 };

static const char *const level_names[] = {"debug", "info", "warn", "error"};

/* Which lines the request selects. */
struct wanted {
    int level; /* at least */
    /* the actor whose lines, and those of actors below it, are selected; NULL: of all actors */
    const char *path;
    uint64_t causal;  /* 0: any */
    const char *text; /* text that a line must contain; NULL: any line */
};

/* Reads what the request selects. Returns false if the request was refused. */
static bool wanted_read(struct visitor *visitor, const struct control_request *request,
                        struct wanted *wanted)
{
    *wanted = (struct wanted){.path = request->path && *request->path ? request->path : NULL,
                              .text = request->text && *request->text ? request->text : NULL};
    bool has_causal = request->causal && *request->causal;
    if (has_causal && !(wanted->causal = tr__causal_read(request->causal))) {
        tr__causal_refuse(visitor, request);
        return false;
    }
    while (request->level && *request->level && wanted->level <= TR_LEVEL_ERROR &&
           strcmp(level_names[wanted->level], request->level) != 0)
        wanted->level++;
    if (wanted->level <= TR_LEVEL_ERROR)
        return true;
    tr__visitor_refuse(visitor,
                       request->id,
                       TR_INVALID_ARGUMENT,
                       "unknown level \"%.20s\"; levels are debug, info, warn and error",
                       request->level);
    return false;
}

static bool is_wanted(const struct wanted *wanted, const struct log_record *record)
{
    size_t length = wanted->path ? strlen(wanted->path) : 0;
    if ((int)record->level < wanted->level || (wanted->causal && record->causal != wanted->causal))
        return false;
    if (length && (strncmp(record->path, wanted->path, length) != 0 ||
                   (record->path[length] && record->path[length] != '/')))
        return false;
    return !wanted->text || strstr(record->text, wanted->text);
}

static void record_write(struct visitor *visitor, const struct log_record *record)
{
    struct json_line *line = &visitor->output;
    char causal[20];
    (void)snprintf(causal, sizeof causal, "%016" PRIx64, record->causal);
    tr__json_unsigned(line, "number", record->number);
    tr__past_time(visitor, record->time_ns);
    tr__json_string(line, "level", level_names[record->level]);
    tr__json_string(line, "path", record->has_path ? record->path : NULL);
    tr__json_string(line, "causal", record->causal ? causal : NULL);
    tr__json_string(line, "text", record->text);
}

void tr__verb_log_tail(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    uint64_t numbers[LINES_LARGEST];
    struct wanted wanted;
    struct log_record record;
    size_t limit = request->limit ? request->limit : LINES_DEFAULT;
    limit = limit < LINES_LARGEST ? limit : LINES_LARGEST;
    if (!wanted_read(visitor, request, &wanted))
        return;
    uint64_t total = tr__log_kept_total(system);
    uint64_t at = total;
    size_t count = 0;
    /* Read from the newest line to older ones, until there are enough lines or no older ones are
     * kept. */
    for (; at > request->after && count < limit && tr__log_kept_read(system, at, &record); at--) {
        if (is_wanted(&wanted, &record))
            numbers[count++] = at;
    }
    uint64_t oldest = total > LOG_KEPT_MAX ? total - LOG_KEPT_MAX : 0;
    while (count-- > 0) {
        if (!tr__log_kept_read(system, numbers[count], &record))
            continue;
        tr__visitor_begin(visitor, request->id, true);
        record_write(visitor, &record);
        tr__visitor_end(visitor);
    }
    tr__visitor_begin(visitor, request->id, false);
    tr__json_unsigned(&visitor->output, "last", total);
    tr__json_unsigned(
        &visitor->output, "missed", oldest > request->after ? oldest - request->after : 0);
    tr__json_unsigned(&visitor->output, "total", total);
    tr__visitor_end(visitor);
}
