/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/visitor.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/system.h"
#include "observe/act.h"
#include "observe/page.h"
#include "observe/sleeper.h"
#include "observe/trace.h"
#include "observe/verbs.h"
#include "os/local_socket.h"

/* ---- Answers. ---- */

static void line_begin(struct visitor *visitor, uint64_t id, const char *what)
{
    struct json_line *line = &visitor->output;
    line->needs_comma = false;
    visitor->line_at = line->length;
    visitor->line_id = id;
    tr__json_open(line, NULL, '{');
    tr__json_unsigned(line, "id", id);
    tr__json_open(line, what, '{');
}

void tr__visitor_begin(struct visitor *visitor, uint64_t id, bool is_part)
{
    line_begin(visitor, id, is_part ? "part" : "ok");
}

void tr__visitor_end(struct visitor *visitor)
{
    struct json_line *line = &visitor->output;
    tr__json_put(line, "}}\n", 3);
    size_t size = line->length - visitor->line_at;
    if (!visitor->is_page || size <= VISITOR_LINE_MAX)
        return;
    line->length = visitor->line_at;
    tr__visitor_refuse(visitor,
                       visitor->line_id,
                       TR_TOO_LARGE,
                       "one line of the answer has %zu bytes, and a page gets at most %d; the tool "
                       "troupe prints it whole",
                       size,
                       VISITOR_LINE_MAX);
}

void tr__visitor_refuse(struct visitor *visitor, uint64_t id, tr_status status, const char *format,
                        ...)
{
    struct json_line *line = &visitor->output;
    char why[600];
    va_list list;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    line->needs_comma = false;
    tr__json_open(line, NULL, '{');
    tr__json_unsigned(line, "id", id);
    tr__json_string(line, "no", tr_status_name(status));
    tr__json_string(line, "why", why);
    tr__json_put(line, "}\n", 2);
}

tr_ref tr__visitor_actor(struct visitor *visitor, const struct control_request *request)
{
    if (!request->path || !*request->path) {
        tr__visitor_refuse(visitor, request->id, TR_INVALID_ARGUMENT, "\"path\" is missing");
        return TR_NOBODY;
    }
    struct sleeper sleeper;
    tr_ref actor = tr_system_find(visitor->observer->system, request->path);
    if (actor.bits)
        return actor;
    if (!tr__sleeper_find(visitor, request->path, &sleeper))
        tr__visitor_refuse(
            visitor, request->id, TR_NOT_FOUND, "there is no actor %.200s", request->path);
    else if (!sleeper.actor.bits)
        tr__sleeper_refuse(visitor, request, &sleeper);
    else
        return sleeper.actor;
    return TR_NOBODY;
}

/* ---- Life. ---- */

static void greet(struct visitor *visitor)
{
    struct json_line *line = &visitor->output;
    const struct observer *observer = visitor->observer;
    tr__json_open(line, NULL, '{');
    tr__json_unsigned(line, "troupe", 1);
    tr__json_string(line, "app", observer->app);
    tr__json_signed(line, "pid", tr__local_process());
    tr__json_signed(line, "workers", observer->system ? tr_system_workers(observer->system) : 0);
    tr__json_open(line, "verbs", '[');
    for (size_t i = 0; i < tr__verb_count; i++)
        tr__json_string(line, NULL, tr__verbs[i].name);
    tr__json_close(line, ']');
    tr__json_put(line, "}\n", 2);
}

void tr__visitor_open(struct visitor *visitor, struct observer *observer, uint32_t uid)
{
    *visitor = (struct visitor){.observer = observer, .uid = uid};
    if (observer->system)
        observer->source = &observer->system->source;
    tr__json_line_init(&visitor->output, observer->source);
    tr__json_line_init(&visitor->gathered, observer->source);
    greet(visitor);
}

static void job_end(struct visitor *visitor)
{
    if (visitor->work)
        visitor->work_free(visitor, visitor->work);
    visitor->work = NULL;
    visitor->work_tell = NULL;
    visitor->job = JOB_NONE;
    tr_message_free(&tr__control_request_type, visitor->request);
    visitor->request = NULL;
}

void tr__visitor_close(struct visitor *visitor)
{
    if (visitor->job == JOB_ASK)
        tr__ask_leave(visitor);
    job_end(visitor);
    tr__trace_leave(visitor);
    tr__page_leave(visitor);
    source_resize(visitor->observer->source, visitor->input, 0);
    visitor->input = NULL;
    tr__json_line_free(&visitor->output);
    tr__json_line_free(&visitor->gathered);
}

void tr__visitor_steps(struct visitor *visitor, enum visitor_job job,
                       bool (*step)(struct visitor *visitor), void *work,
                       void (*work_free)(struct visitor *visitor, void *work))
{
    visitor->job = job;
    visitor->step = step;
    visitor->work = work;
    visitor->work_free = work_free;
    visitor->work_tell = NULL;
}

static tr_time now(const struct visitor *visitor)
{
    const tr_platform *platform = visitor->observer->source->platform;
    return platform->mono_now(platform);
}

/* If the client wants it, writes a line of progress, soon after the job has begun and then once a second. */
static void progress_write(struct visitor *visitor, tr_time now_ns)
{
    bool is_first = visitor->told_ns == visitor->begun_ns;
    tr_time after_ns = is_first ? VISITOR_PROGRESS_MS * TR_MILLISECOND : TR_SECOND;
    if (visitor->job == JOB_NONE || !visitor->request || !visitor->request->progress ||
        now_ns - visitor->told_ns < after_ns)
        return;
    visitor->told_ns = now_ns;
    line_begin(visitor, visitor->request->id, "progress");
    tr__json_signed(&visitor->output, "for_ms", (now_ns - visitor->begun_ns) / TR_MILLISECOND);
    if (visitor->work_tell)
        visitor->work_tell(visitor);
    tr__visitor_end(visitor);
}

/* ---- Requests. ---- */

/* Writes the hexadecimal digits of the escapes in a path as names have them, in lower case. Clients may give either. */
static void path_fold(char *path)
{
    for (char *at = path; at && (at = strchr(at, '%')); at++) {
        for (int i = 1; i <= 2 && at[i]; i++)
            at[i] = (char)(at[i] >= 'A' && at[i] <= 'F' ? at[i] - 'A' + 'a' : at[i]);
    }
}

/* Handles a request. A request is one line. */
static void line_handle(struct visitor *visitor, tr_bytes line)
{
    tr_wire_error error;
    struct control_request *request;
    tr_status status = tr__control_request_read(line, &request, &error);
    if (status != TR_OK) {
        tr__visitor_refuse(visitor,
                           0,
                           status,
                           "the request is not understood: %s%s%s, at byte %zu",
                           error.path,
                           error.path[0] ? ": " : "",
                           error.text,
                           error.offset);
        return;
    }
    path_fold((char *)(uintptr_t)request->path); /* the message belongs to this visitor */
    visitor->request = request;
    visitor->begun_ns = now(visitor);
    visitor->told_ns = visitor->begun_ns;
    const struct verb *verb = NULL;
    for (size_t i = 0; request->verb && i < tr__verb_count; i++)
        verb = strcmp(tr__verbs[i].name, request->verb) == 0 ? &tr__verbs[i] : verb;
    if (!verb)
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_NOT_SUPPORTED,
                           "unknown verb \"%.40s\"; the first line of the server lists the verbs",
                           request->verb ? request->verb : "");
    else if (!visitor->observer->system && !verb->is_offline)
        tr__visitor_refuse(
            visitor, request->id, TR_NOT_SUPPORTED, "%s needs the running program", verb->name);
    else if (!tr__page_may(visitor, request, verb))
        ; /* the request was refused */
    else if (verb->changes && !request->may)
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_NOT_PERMITTED,
                           "%s changes the running program: the request needs \"may\":true",
                           verb->name);
    else
        verb->run(visitor, request);
    if (visitor->job == JOB_NONE)
        job_end(visitor);
}

size_t tr__visitor_space(const struct visitor *visitor)
{
    return visitor->is_over ? 0 : VISITOR_REQUEST_MAX - visitor->input_size;
}

void tr__visitor_input(struct visitor *visitor, const char *bytes, size_t size)
{
    const struct memory_source *source = visitor->observer->source;
    if (!visitor->input)
        visitor->input = source_resize(source, NULL, VISITOR_REQUEST_MAX);
    if (!visitor->input || size > tr__visitor_space(visitor)) {
        visitor->is_over = true;
        return;
    }
    memcpy(visitor->input + visitor->input_size, bytes, size);
    visitor->input_size += size;
}

/* Takes the first line from the input. Returns false if no whole line has come yet. */
static bool next_line(struct visitor *visitor)
{
    char *end = visitor->input_size ? memchr(visitor->input, '\n', visitor->input_size) : NULL;
    if (!end && visitor->input_size == VISITOR_REQUEST_MAX) {
        tr__visitor_refuse(visitor,
                           0,
                           TR_TOO_LARGE,
                           "a request has at most %d bytes: the connection ends",
                           VISITOR_REQUEST_MAX - 1);
        visitor->is_over = true;
    }
    if (!end)
        return false;
    size_t size = (size_t)(end - visitor->input);
    if (size)
        line_handle(visitor, (tr_bytes){visitor->input, size});
    visitor->input_size -= size + 1;
    memmove(visitor->input, end + 1, visitor->input_size);
    return true;
}

/* Does one piece of work. Returns false if there is no work now. */
static bool work_once(struct visitor *visitor)
{
    if (visitor->job == JOB_NONE)
        return next_line(visitor);
    bool has_ended = visitor->job == JOB_LIST  ? tr__list_continue(visitor)
                     : visitor->job == JOB_ASK ? tr__ask_continue(visitor)
                                               : visitor->step(visitor);
    bool waits = visitor->job == JOB_ASK || visitor->job == JOB_WAIT;
    if (has_ended)
        job_end(visitor);
    return has_ended || !waits;
}

bool tr__visitor_work(struct visitor *visitor)
{
    static const tr_time slice_ns = VISITOR_SLICE_US * TR_MICROSECOND;
    tr_time begin_ns = now(visitor);
    bool has_more = true;
    for (int i = 0; i < VISITOR_STEPS_MAX && now(visitor) - begin_ns < slice_ns; i++) {
        if (!has_more || visitor->is_over || visitor->output.length >= VISITOR_PAGE_MAX / 2)
            break;
        has_more = work_once(visitor);
    }
    progress_write(visitor, now(visitor));
    if (visitor->output.has_failed)
        visitor->is_over = true;
    return has_more && !visitor->is_over;
}
