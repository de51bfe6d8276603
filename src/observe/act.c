/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/act.h"

#include <string.h>
#include <troupe/ask.h>

#include "actor/cell/client.h"
#include "actor/cell/log.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/cell/overflow.h"
#include "observe/actors.h"
#include "observe/audit.h"
#include "wire/json_write.h"

enum {
    /* If a worker has been stuck for this time while an ask waits for it, the ask is refused. */
    ASK_STUCK_MS = 80,
    ASK_DEFAULT_MS = 5000,
    ASK_LONGEST_MS = 60000,
    REPLY_SHOWN_MAX = 128 * 1024
};

/* Ends a verb that changes something. Answers the client, and leaves a line in the log. */
static void finish(struct visitor *visitor, const struct control_request *request, tr_status status)
{
    tr__audit(visitor, request, status);
    if (status != TR_OK) {
        tr__visitor_refuse(visitor, request->id, status, "%s", tr_status_text(status));
        return;
    }
    tr__visitor_begin(visitor, request->id, false);
    tr__json_string(&visitor->output, "path", request->path);
    tr__visitor_end(visitor);
}

/*
 * Whether clients may give orders to an actor. Orders to /user are refused, because the end of
 * /user would end the program.
 */
static bool may_order(struct visitor *visitor, const struct control_request *request, tr_ref actor)
{
    const struct cell *guardian = visitor->observer->system->user.guardian;
    if (actor.bits != ATOM_PEEK(&guardian->identity))
        return true;
    tr__visitor_refuse(visitor,
                       request->id,
                       TR_NOT_PERMITTED,
                       "/user is the root of all actors; SIGTERM stops the program");
    return false;
}

void tr__verb_order(struct visitor *visitor, const struct control_request *request)
{
    tr_client *client = visitor->observer->client;
    tr_ref actor = tr__visitor_actor(visitor, request);
    if (!actor.bits || !may_order(visitor, request, actor))
        return;
    tr_status status = TR_NOT_SUPPORTED;
    if (strcmp(request->verb, "stop") == 0)
        status = tr_client_stop(client, actor);
    else if (strcmp(request->verb, "kill") == 0)
        status = tr_client_kill(client, actor);
    else if (strcmp(request->verb, "suspend") == 0)
        status = tr_client_suspend(client, actor);
    else if (strcmp(request->verb, "resume") == 0)
        status = tr_client_resume(client, actor);
    finish(visitor, request, status);
}

/* ---- Messages. ---- */

/* Finds the type of a message with this name for which a behavior has a handler. Returns NULL if
 * there is none. */
static const tr_type *type_of(const tr_behavior *behavior, const char *name)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_type *type = behavior->handlers[i].type;
        /* Clients must not send messages of the runtime. */
        if (type && strncmp(type->name, "tr_", 3) != 0 && strcmp(type->name, name) == 0)
            return type;
    }
    return NULL;
}

/* Reads the message of a request. If the request has none, refuses the request and returns NULL.
 * The caller frees the result by tr_message_free. */
static void *message_read(struct visitor *visitor, const struct control_request *request,
                          tr_ref actor, const tr_type **type)
{
    tr_wire_error error;
    void *message;
    struct actor_glance glance;
    struct tr_system *system = visitor->observer->system;
    const char *json = request->json ? request->json : "{}";
    bool is_known = tr__actor_glance(system, (uint32_t)actor.bits & system->slots->mask, &glance) &&
                    glance.ref == actor.bits && glance.behavior;
    *type = is_known && request->message ? type_of(glance.behavior, request->message) : NULL;
    if (!*type) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_UNHANDLED,
                           "%.200s has no handler for a message \"%.64s\"",
                           request->path,
                           request->message ? request->message : "");
        return NULL;
    }
    /* Refuse now, because the thread of the control socket must not wait for capacity. */
    if (overflow_has(glance.behavior->options.overflow, OVERFLOW_WAITS) &&
        glance.queued >= glance.queued_max) {
        tr__visitor_refuse(visitor, request->id, TR_MAILBOX_FULL, "the mailbox is full");
        return NULL;
    }
    tr_status status = tr_json_read(*type, (tr_bytes){json, strlen(json)}, &message, &error);
    if (status == TR_OK)
        return message;
    tr__visitor_refuse(visitor,
                       request->id,
                       status,
                       "the content of %.64s is not understood: %s%s%s",
                       request->message,
                       error.path,
                       error.path[0] ? ": " : "",
                       error.text);
    return NULL;
}

void tr__verb_tell(struct visitor *visitor, const struct control_request *request)
{
    const tr_type *type;
    tr_ref actor = tr__visitor_actor(visitor, request);
    void *message = actor.bits ? message_read(visitor, request, actor, &type) : NULL;
    if (!message)
        return;
    finish(visitor, request, tr_client_tell(visitor->observer->client, actor, type, message));
    tr_message_free(type, message);
}

/* ---- Asks. ---- */

/* Whether the worker of an actor is stuck in a turn that does not handle this ask. If so, refuses
 * the ask and names the turn. `waited_ns` is the time since the ask was sent, or 0 if the ask was
 * not sent. */
static bool stuck_refuse(struct visitor *visitor, const struct control_request *request,
                         tr_ref actor, const tr_type *type, tr_time waited_ns)
{
    struct observer *observer = visitor->observer;
    tr_actor_info info;
    tr_worker_info running;
    if (!tr__observer_find(observer, actor, &info) ||
        !tr__observer_is_stuck(observer, info.worker, &running) ||
        running.since_ns < ASK_STUCK_MS * TR_MILLISECOND)
        return false;
    bool is_of_ask = running.since_ns <= waited_ns && running.actor.bits == actor.bits &&
                     running.type && strcmp(running.type, type->name) == 0;
    if (is_of_ask)
        return false;
    const char *what =
        waited_ns ? "sent, and handled when the worker is free, but the reply is not waited for"
                  : "not sent";
    tr__audit(visitor, request, TR_TIMEOUT);
    tr__visitor_refuse(visitor,
                       request->id,
                       TR_TIMEOUT,
                       "%s: its worker %d is stuck for %lld ms: %.64s handles %.64s of %.200s "
                       "(%.64s, %.100s:%u)",
                       what,
                       info.worker,
                       (long long)(running.since_ns / TR_MILLISECOND),
                       running.handler ? running.handler : "a function",
                       running.type ? running.type : "a signal",
                       running.path,
                       running.behavior ? running.behavior : "?",
                       running.file ? running.file : "?",
                       (unsigned)running.line);
    return true;
}

void tr__ask_begin(struct visitor *visitor, const struct control_request *request, tr_ref actor,
                   const tr_type *type, const void *message, tr_time timeout_ns)
{
    if (!request->timeout_ms && stuck_refuse(visitor, request, actor, type, 0))
        return;
    visitor->asked = tr_client_ask(visitor->observer->client, actor, type, message, timeout_ns);
    visitor->asked_type = type;
    visitor->asked_of = actor;
    visitor->job = JOB_ASK;
}

void tr__verb_ask(struct visitor *visitor, const struct control_request *request)
{
    const tr_type *type;
    uint32_t timeout_ms = request->timeout_ms ? request->timeout_ms : ASK_DEFAULT_MS;
    timeout_ms = timeout_ms < ASK_LONGEST_MS ? timeout_ms : ASK_LONGEST_MS;
    tr_ref actor = tr__visitor_actor(visitor, request);
    void *message = actor.bits ? message_read(visitor, request, actor, &type) : NULL;
    if (!message)
        return;
    if (type->reply)
        tr__ask_begin(visitor, request, actor, type, message, timeout_ms * TR_MILLISECOND);
    else
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_WRONG_TYPE,
                           "%.64s is no request: it has no reply; tell sends it",
                           type->name);
    tr_message_free(type, message);
}

static void reply_write(struct visitor *visitor, const struct control_request *request,
                        const void *reply)
{
    const tr_type *type = visitor->asked_type->reply;
    const struct memory_source *source = &visitor->observer->system->source;
    char *text = source_resize(source, NULL, REPLY_SHOWN_MAX);
    size_t length = text ? tr__json_show(type, reply, text, REPLY_SHOWN_MAX) : 0;
    if (!length || length >= REPLY_SHOWN_MAX) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_TOO_LARGE,
                           "the reply %.64s arrived, but cannot be shown as JSON",
                           type->name);
    } else {
        tr__visitor_begin(visitor, request->id, false);
        tr__json_string(&visitor->output, "reply", type->name);
        tr__json_raw(&visitor->output, "value", text);
        tr__visitor_end(visitor);
    }
    source_resize(source, text, 0);
}

/* Ends an ask whose worker is stuck in an earlier turn. */
static bool ask_give_up(struct visitor *visitor, const struct control_request *request)
{
    tr_time waited_ns = tr__observer_now(visitor->observer) - visitor->begun_ns;
    if (request->timeout_ms || waited_ns < ASK_STUCK_MS * TR_MILLISECOND ||
        !stuck_refuse(visitor, request, visitor->asked_of, visitor->asked_type, waited_ns))
        return false;
    (void)tr_client_ask_cancel(visitor->observer->client, visitor->asked);
    return true;
}

bool tr__ask_continue(struct visitor *visitor)
{
    tr_client *client = visitor->observer->client;
    const struct control_request *request = visitor->request;
    if (!tr_client_is_answered(client, visitor->asked))
        return ask_give_up(visitor, request);
    const void *reply;
    tr_status status = tr_client_try_await(client, visitor->asked, &reply);
    tr__audit(visitor, request, status);
    if (status == TR_OK) {
        reply_write(visitor, request, reply);
    } else {
        const tr_error *error = tr_client_ask_error(client, visitor->asked);
        tr__visitor_refuse(visitor,
                           request->id,
                           status,
                           "%s%s%.400s",
                           tr_status_text(status),
                           error->text[0] ? ": " : "",
                           error->text);
    }
    return true;
}

void tr__ask_leave(struct visitor *visitor)
{
    tr_client *client = visitor->observer->client;
    const char *result = "sent, and not answered yet";
    struct audit audit;
    const void *reply;
    if (tr_client_is_answered(client, visitor->asked))
        result = tr_status_name(tr_client_try_await(client, visitor->asked, &reply));
    else
        (void)tr_client_ask_cancel(client, visitor->asked);
    tr__audit_of(&audit, visitor, visitor->request);
    tr__audit_write(visitor->observer->system, &audit, true, result);
}

/* ---- The log. ---- */

void tr__verb_log(struct visitor *visitor, const struct control_request *request)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    tr_level level = TR_LEVEL_DEBUG;
    while (level <= TR_LEVEL_ERROR &&
           (!request->level || strcmp(names[level], request->level) != 0))
        level++;
    if (level > TR_LEVEL_ERROR) {
        tr__visitor_refuse(visitor,
                           request->id,
                           TR_INVALID_ARGUMENT,
                           "unknown level \"%.20s\"; levels are debug, info, warn and error",
                           request->level ? request->level : "");
        return;
    }
    tr_status status =
        tr__log_set_level(visitor->observer->system, request->path ? request->path : "", level);
    if (status != TR_OK)
        tr__visitor_refuse(visitor,
                           request->id,
                           status,
                           "at most %d paths of %d bytes can have a level of their own",
                           LOG_RULES_MAX,
                           LOG_PATH_MAX);
    else
        finish(visitor, request, status);
}
