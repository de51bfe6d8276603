/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/log_tail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor/cell/log_kept.h"
#include "observe/past.h"
#include "observe/trace.h"

enum {
    LINES_DEFAULT = 200, /* lines if the request names neither a limit nor its last line */
    LINES_STEP = 16      /* lines that one step writes */
};

static const char *const level_names[] = {"debug", "info", "warn", "error"};

/* Which lines of the log the request selects. */
struct wanted {
    int level; /* at least */
    /* The actor whose lines are selected, with the lines of its descendants. NULL: lines of all
     * actors. */
    const char *path;
    uint64_t causal;  /* 0: any */
    const char *text; /* text that a line must contain; NULL: any line */
};

/* Reads from the request which lines are selected. Returns false if the request was refused. */
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

/* The selected lines that were not written yet. */
struct tail {
    uint64_t total;
    /*
     * how many lines are newer than the last line of the client, but older than all lines that this
     * request has looked at
     */
    uint64_t missed;
    size_t left;
    uint64_t numbers[LOG_KEPT_MAX]; /* the oldest line is the last of these */
};

static void tail_free(struct visitor *visitor, void *work)
{
    source_resize(visitor->observer->source, work, 0);
}

static bool tail_step(struct visitor *visitor)
{
    struct tail *tail = visitor->work;
    struct log_record record;
    for (size_t i = 0; i < LINES_STEP && tail->left; i++) {
        if (!tr__log_kept_read(visitor->observer->system, tail->numbers[--tail->left], &record)) {
            tail->missed++; /* a newer line has replaced this one meanwhile */
            continue;
        }
        tr__visitor_begin(visitor, visitor->request->id, true);
        record_write(visitor, &record);
        tr__visitor_end(visitor);
    }
    if (tail->left)
        return false;
    tr__visitor_begin(visitor, visitor->request->id, false);
    tr__json_unsigned(&visitor->output, "last", tail->total);
    tr__json_unsigned(&visitor->output, "missed", tail->missed);
    tr__json_unsigned(&visitor->output, "total", tail->total);
    tr__visitor_end(visitor);
    return true;
}

void tr__verb_log_tail(struct visitor *visitor, const struct control_request *request)
{
    struct tr_system *system = visitor->observer->system;
    struct wanted wanted;
    struct log_record record;
    size_t limit = request->limit ? request->limit : request->after ? LOG_KEPT_MAX : LINES_DEFAULT;
    limit = limit < LOG_KEPT_MAX ? limit : LOG_KEPT_MAX;
    if (!wanted_read(visitor, request, &wanted))
        return;
    struct tail *tail = source_resize(visitor->observer->source, NULL, sizeof *tail);
    if (!tail) {
        tr__visitor_refuse(visitor, request->id, TR_NO_MEMORY, "out of memory for the lines");
        return;
    }
    tail->total = tr__log_kept_total(system);
    tail->left = 0;
    uint64_t at = tail->total;
    /* Go from the newest line to older lines. Stop when there are enough lines, or when the older
     * ones are not kept any more. */
    for (; at > request->after && tail->left < limit && tr__log_kept_read(system, at, &record);
         at--) {
        if (is_wanted(&wanted, &record))
            tail->numbers[tail->left++] = at;
    }
    tail->missed = at > request->after ? at - request->after : 0;
    tr__visitor_steps(visitor, JOB_STEPS, tail_step, tail, tail_free);
}
