/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/session.h"

#include <stdio.h>
#include <string.h>
#include <troupe/ask.h>

#include "actor/cell/system.h"
#include "observe/act.h"
#include "observe/verbs.h"
#include "os/local_socket.h"

/* ---- Answers. ---- */

void tr__session_begin(struct session *session, uint64_t id, bool is_part)
{
    struct json_line *line = &session->output;
    line->needs_comma = false;
    tr__json_open(line, NULL, '{');
    tr__json_unsigned(line, "id", id);
    tr__json_open(line, is_part ? "part" : "ok", '{');
}

void tr__session_end(struct session *session)
{
    tr__json_put(&session->output, "}}\n", 3);
}

void tr__session_refuse(struct session *session, uint64_t id, tr_status status, const char *format,
                        ...)
{
    struct json_line *line = &session->output;
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

tr_ref tr__session_actor(struct session *session, const struct control_request *request)
{
    if (!request->path || !*request->path) {
        tr__session_refuse(session, request->id, TR_INVALID_ARGUMENT, "\"path\" is missing");
        return TR_NOBODY;
    }
    tr_ref actor = tr_system_find(session->observer->system, request->path);
    if (!actor.bits)
        tr__session_refuse(
            session, request->id, TR_NOT_FOUND, "there is no actor %.200s", request->path);
    return actor;
}

/* ---- Life. ---- */

static void greet(struct session *session)
{
    struct json_line *line = &session->output;
    const struct observer *observer = session->observer;
    tr__json_open(line, NULL, '{');
    tr__json_unsigned(line, "troupe", 1);
    tr__json_string(line, "app", observer->app);
    tr__json_signed(line, "pid", tr__local_process());
    tr__json_signed(line, "workers", tr_system_workers(observer->system));
    tr__json_open(line, "verbs", '[');
    for (size_t i = 0; i < tr__verb_count; i++)
        tr__json_string(line, NULL, tr__verbs[i].name);
    tr__json_close(line, ']');
    tr__json_put(line, "}\n", 2);
}

void tr__session_open(struct session *session, struct observer *observer, uint32_t uid)
{
    *session = (struct session){.observer = observer, .uid = uid};
    tr__json_line_init(&session->output, &observer->system->source);
    greet(session);
}

static void job_end(struct session *session)
{
    session->job = JOB_NONE;
    tr_message_free(&tr__control_request_type, session->request);
    session->request = NULL;
}

void tr__session_close(struct session *session)
{
    if (session->job == JOB_ASK)
        (void)tr_client_ask_cancel(session->observer->client, session->asked);
    job_end(session);
    source_resize(&session->observer->system->source, session->input, 0);
    session->input = NULL;
    tr__json_line_free(&session->output);
}

/* ---- Requests. ---- */

/* Does what a line asks for. */
static void line_handle(struct session *session, tr_bytes line)
{
    tr_wire_error error;
    struct control_request *request;
    tr_status status = tr__control_request_read(line, &request, &error);
    if (status != TR_OK) {
        tr__session_refuse(session,
                           0,
                           status,
                           "the request is not understood: %s%s%s, at byte %zu",
                           error.path,
                           error.path[0] ? ": " : "",
                           error.text,
                           error.offset);
        return;
    }
    session->request = request;
    const struct verb *verb = NULL;
    for (size_t i = 0; request->verb && i < tr__verb_count; i++)
        verb = strcmp(tr__verbs[i].name, request->verb) == 0 ? &tr__verbs[i] : verb;
    if (!verb)
        tr__session_refuse(session,
                           request->id,
                           TR_NOT_SUPPORTED,
                           "unknown verb \"%.40s\"; the first line of the server lists the verbs",
                           request->verb ? request->verb : "");
    else if (verb->changes && !request->may)
        tr__session_refuse(session,
                           request->id,
                           TR_NOT_PERMITTED,
                           "%s changes the running program: the request needs \"may\":true",
                           verb->name);
    else
        verb->run(session, request);
    if (session->job == JOB_NONE)
        job_end(session);
}

size_t tr__session_space(const struct session *session)
{
    return session->is_over ? 0 : SESSION_REQUEST_MAX - session->input_size;
}

void tr__session_input(struct session *session, const char *bytes, size_t size)
{
    const struct memory_source *source = &session->observer->system->source;
    if (!session->input)
        session->input = source_resize(source, NULL, SESSION_REQUEST_MAX);
    if (!session->input || size > tr__session_space(session)) {
        session->is_over = true;
        return;
    }
    memcpy(session->input + session->input_size, bytes, size);
    session->input_size += size;
}

/* Takes the first line out of the input. Returns false if there is no whole line. */
static bool next_line(struct session *session)
{
    char *end = session->input_size ? memchr(session->input, '\n', session->input_size) : NULL;
    if (!end && session->input_size == SESSION_REQUEST_MAX) {
        tr__session_refuse(session,
                           0,
                           TR_TOO_LARGE,
                           "a request has at most %d bytes: the connection ends",
                           SESSION_REQUEST_MAX - 1);
        session->is_over = true;
    }
    if (!end)
        return false;
    size_t size = (size_t)(end - session->input);
    if (size)
        line_handle(session, (tr_bytes){session->input, size});
    session->input_size -= size + 1;
    memmove(session->input, end + 1, session->input_size);
    return true;
}

void tr__session_work(struct session *session)
{
    while (!session->is_over && session->output.length < SESSION_PAGE_MAX / 2) {
        if (session->job == JOB_LIST && tr__list_continue(session))
            job_end(session);
        else if (session->job == JOB_ASK && tr__ask_continue(session))
            job_end(session);
        else if (session->job == JOB_ASK)
            break;
        else if (session->job == JOB_NONE && !next_line(session))
            break;
    }
    if (session->output.has_failed)
        session->is_over = true;
}
