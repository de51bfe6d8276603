/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/visit.h"

#include <stdio.h>
#include <string.h>

#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "base/hash.h"
#include "gateway/guard.h"
#include "gateway/rate.h"
#include "http/answer.h"
#include "http/ws_handshake.h"
#include "base/assert.h"

void tr__visit_number(struct tr_self *self)
{
    TR_ASSERT_SLOW(turn_is_mine(self));
    struct tr_system *system = self->worker->system;
    uint64_t number = atom64_fetch_add(&system->gateway.causes, 1, ATOM_RELAXED);
    if (!self->causal)
        self->causal = hash_bytes(system->names->key, &number, sizeof number) | 1;
}

/* ---- Answers. ---- */

void tr__visit_fail(struct visit *visit, const struct problem *problem)
{
    char body[PROBLEM_ANSWER_MAX];
    size_t size = tr__problem_answer_write(problem, body, sizeof body);
    if (problem->id == PROBLEM_UNAUTHORIZED)
        tr_http_set(visit->self, "WWW-Authenticate", "Bearer");
    tr__http_answer(visit->request,
                    tr__problem_status(problem),
                    "application/json",
                    (tr_bytes){body, size},
                    NULL);
}

void tr__visit_fail_with(struct visit *visit, enum problem_id id)
{
    tr__visit_fail(visit, &(struct problem){.id = id});
}

/* ---- Origins. ---- */

static void answer_preflight(struct visit *visit)
{
    tr_http_set(visit->self, "Access-Control-Allow-Methods", "GET, POST");
    tr_http_set(visit->self,
                "Access-Control-Allow-Headers",
                "Authorization, Content-Type, Idempotency-Key, Last-Event-ID");
    tr_http_set(visit->self, "Access-Control-Max-Age", "600");
    tr_http_set(visit->self, "Allow", "GET, HEAD, POST, OPTIONS");
    tr__http_answer(visit->request, 204, NULL, (tr_bytes){"", 0}, NULL);
}

bool tr__visit_origin(struct http_request *request, const char **guest)
{
    const char *text = tr_http_header(request->self, "origin");
    tr_bytes origin = {text ? text : "", text ? strlen(text) : 0};
    tr_bytes host = {request->head.host, request->head.host_size};
    bool is_own = tr__ws_origin_is_allowed(origin, host, NULL);
    *guest = is_own ? NULL : text;
    return is_own || tr__ws_origin_is_allowed(origin, host, request->site->options.origins);
}

bool tr__visit_check_origin(struct visit *visit)
{
    struct http_request *request = visit->request;
    const char *guest;
    if (!tr__visit_origin(request, &guest)) {
        tr__visit_fail_with(visit, PROBLEM_BAD_ORIGIN);
        return false;
    }
    if (request->head.method_id != METHOD_OPTIONS)
        return true;
    answer_preflight(visit);
    return false;
}

/* ---- Kinds and messages. ---- */

const tr_exposed_message *tr__exposed_find(const tr_exposed *exposed, const char *name, size_t size)
{
    for (const tr_exposed_message *message = exposed->messages; message->type; message++) {
        if (strlen(message->type->name) == size && memcmp(message->type->name, name, size) == 0)
            return message;
    }
    return NULL;
}

static const tr_exposed *kind_find(const tr_exposed *const *kinds, const char *name)
{
    for (; *kinds; kinds++) {
        if (strcmp((*kinds)->kind->name, name) == 0)
            return *kinds;
    }
    return NULL;
}

bool tr__visit_find(struct visit *visit, const tr_exposed *const *kinds)
{
    const char *kind = tr_http_part(visit->self, "kind");
    visit->key = tr_http_part(visit->self, "key");
    visit->message = tr_http_part(visit->self, "message");
    if (!visit->message)
        visit->message = "";
    if (visit->key)
        visit->exposed = kind ? kind_find(kinds, kind) : kinds[0];
    if (!visit->key || !visit->exposed) {
        const char *words =
            visit->key ? tr_format(visit->self, "no kind %s is served here", kind) : NULL;
        tr__visit_fail(visit, &(struct problem){.id = PROBLEM_UNKNOWN_KIND, .words = words});
        return false;
    }
    if (strlen(visit->key) <= TR_KEY_MAX)
        return true;
    tr__visit_fail_with(visit, PROBLEM_BAD_KEY);
    return false;
}

/* ---- The guard. ---- */

/*
 * Returns the credentials of the caller: the value of the header Authorization, or the parameter
 * "token" of the query, because browsers cannot set headers for WebSockets.
 */
static const char *authorization_of(tr_self *self)
{
    const char *header = tr_http_header(self, "authorization");
    const char *token = header ? NULL : tr_http_query(self, "token");
    return token ? tr_format(self, "Bearer %s", token) : header;
}

static bool ask_guard(struct visit *visit)
{
    tr_self *self = visit->self;
    enum problem_id problem;
    visit->authorization = authorization_of(self);
    visit->cookie = tr_http_header(self, "cookie");
    const struct tr_authorize question = {
        .kind = visit->exposed->kind->name,
        .key = visit->key,
        .message = visit->message,
        .authorization = visit->authorization,
        .cookie = visit->cookie,
        .peer = tr_channel_peer(self, (tr_channel){channel_bits(visit->request->channel)})};
    const struct tr_principal *principal = tr__guard_ask(self, visit->guard, &question, &problem);
    if (!principal) {
        tr__visit_fail_with(visit, problem);
        return false;
    }
    visit->caller = principal->caller ? principal->caller : "";
    visit->per_minute = principal->per_minute;
    visit->is_for_connection = principal->is_for_connection;
    return true;
}

bool tr__visit_admit(struct visit *visit, tr_ref guard)
{
    visit->guard = guard;
    if (guard.bits && !ask_guard(visit))
        return false;
    uint32_t wait_s = tr__rate_count(visit->self, visit->caller, visit->per_minute);
    if (!wait_s)
        return true;
    tr_http_set(visit->self, "Retry-After", tr_format(visit->self, "%u", wait_s));
    tr__visit_fail_with(visit, PROBLEM_TOO_MANY);
    return false;
}
