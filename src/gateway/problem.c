/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/problem.h"

#include <stdio.h>
#include <troupe/wire.h>

TR_MESSAGE(tr_problem_, (str, code), (str, message), (i32, status));
TR_MESSAGE(tr_problem_refused_, (str, code), (str, message), (i32, status), (i32, reason));
TR_MESSAGE(tr_problem_later_, (str, code), (str, message), (i32, status), (u32, after));

static const struct {
    int status;
    const char *code;
    const char *words;
} rows[PROBLEM_COUNT] = {
    [PROBLEM_MALFORMED] = {400, "request/malformed", "the request is malformed"},
    [PROBLEM_BAD_JSON] = {400, "request/bad_json", "this is not the JSON of the message"},
    [PROBLEM_BAD_FIELD] = {400, "request/bad_field", "a field of the query is wrong"},
    [PROBLEM_BAD_KEY] = {400, "request/bad_key", "the key is empty or too long"},
    [PROBLEM_UNAUTHORIZED] = {401, "request/unauthorized", "say who you are"},
    [PROBLEM_FORBIDDEN] = {403, "request/forbidden", "this is not for you"},
    [PROBLEM_BAD_ORIGIN] = {403, "request/bad_origin", "pages of this origin may not ask"},
    [PROBLEM_UNKNOWN_KIND] = {404, "actor/unknown_kind", "no such kind is served here"},
    [PROBLEM_UNKNOWN_MESSAGE] = {404, "actor/unknown_message", "no such message is served here"},
    [PROBLEM_BAD_METHOD] = {405, "request/bad_method", "this method is not served here"},
    [PROBLEM_TIMEOUT] = {408, "actor/timeout", "the answer took too long"},
    [PROBLEM_SLOW] = {408, "request/timeout", "the request took too long"},
    [PROBLEM_DESTROYING] = {409, "actor/destroying", "the actor is being destroyed"},
    [PROBLEM_KEY_DIFFERS] = {409, "request/key_differs", "this key was used for another request"},
    [PROBLEM_KEY_BEGUN] = {409, "request/key_begun", "the request of this key has no answer"},
    [PROBLEM_TOO_LARGE] = {413, "request/too_large", "it is too large"},
    [PROBLEM_BAD_ENCODING] = {415, "request/bad_encoding", "this Content-Encoding is not read"},
    [PROBLEM_REFUSED] = {422, "actor/refused", "the actor has refused"},
    [PROBLEM_NO_WEBSOCKET] = {426, "request/no_websocket", "connect by WebSocket"},
    [PROBLEM_MAILBOX_FULL] = {429, "actor/mailbox_full", "the actor has too much to do"},
    [PROBLEM_LIMIT] = {429, "actor/limit", "a limit of the actor is reached"},
    [PROBLEM_TOO_MANY] = {429, "request/too_many", "too many requests"},
    [PROBLEM_FAILED] = {500, "actor/failed", "the actor has failed"},
    [PROBLEM_STOPPING] = {503, "actor/stopping", "the server is stopping"},
    [PROBLEM_START_FAILED] = {503, "actor/start_failed", "the actor cannot start"},
    [PROBLEM_STORE_FAILED] = {503, "actor/store_failed", "nothing can be stored now"},
    [PROBLEM_GUARD_FAILED] = {503, "guard/failed", "nobody can say whether this is allowed"},
    [PROBLEM_BUSY] = {503, "server/busy", "the server is busy"},
};

static const struct {
    tr_status status;
    enum problem_id id;
} statuses[] = {
    {TR_REFUSED, PROBLEM_REFUSED},
    {TR_TIMEOUT, PROBLEM_TIMEOUT},
    {TR_MAILBOX_FULL, PROBLEM_MAILBOX_FULL},
    {TR_DESTROYING, PROBLEM_DESTROYING},
    {TR_REQUEST_DIFFERS, PROBLEM_KEY_DIFFERS},
    {TR_REQUEST_BEGUN, PROBLEM_KEY_BEGUN},
    {TR_TOO_LARGE, PROBLEM_TOO_LARGE},
    {TR_LIMIT, PROBLEM_LIMIT},
    {TR_STOPPED, PROBLEM_STOPPING},
    {TR_STOPPING, PROBLEM_STOPPING},
    {TR_CANCELLED, PROBLEM_STOPPING},
    {TR_START_FAILED, PROBLEM_START_FAILED},
    {TR_STORE_FULL, PROBLEM_STORE_FAILED},
    {TR_STORE_FAILED, PROBLEM_STORE_FAILED},
};

struct problem tr__problem_of_ask(tr_status status, const tr_error *error)
{
    struct problem problem = {.id = PROBLEM_FAILED};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        if (statuses[i].status == status)
            problem.id = statuses[i].id;
    }
    if (problem.id == PROBLEM_REFUSED && error) {
        problem.reason = error->code;
        problem.words = error->text;
    }
    return problem;
}

enum problem_id tr__problem_of_http(int status)
{
    static const enum problem_id ids[] = {PROBLEM_MALFORMED,
                                          PROBLEM_BAD_ORIGIN,
                                          PROBLEM_UNKNOWN_KIND,
                                          PROBLEM_BAD_METHOD,
                                          PROBLEM_SLOW,
                                          PROBLEM_TOO_LARGE,
                                          PROBLEM_BAD_ENCODING,
                                          PROBLEM_NO_WEBSOCKET,
                                          PROBLEM_BUSY};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (rows[ids[i]].status == status)
            return ids[i];
    }
    return PROBLEM_FAILED;
}

int tr__problem_status(const struct problem *problem)
{
    return rows[problem->id].status;
}

const char *tr__problem_code(const struct problem *problem)
{
    return rows[problem->id].code;
}

static size_t write_with(const struct problem *problem, const char *words, char *to, size_t size)
{
    if (problem->id == PROBLEM_REFUSED) {
        const struct tr_problem_refused_ refused = {
            rows[problem->id].code, words, rows[problem->id].status, problem->reason};
        return tr_json_write(&tr_type_tr_problem_refused_, &refused, to, size, NULL);
    }
    if (problem->after_s) {
        const struct tr_problem_later_ later = {
            rows[problem->id].code, words, rows[problem->id].status, problem->after_s};
        return tr_json_write(&tr_type_tr_problem_later_, &later, to, size, NULL);
    }
    const struct tr_problem_ other = {rows[problem->id].code, words, rows[problem->id].status};
    return tr_json_write(&tr_type_tr_problem_, &other, to, size, NULL);
}

size_t tr__problem_write(const struct problem *problem, char *to, size_t size)
{
    const char *own = rows[problem->id].words;
    size_t length = write_with(problem, problem->words ? problem->words : own, to, size);
    return length && length < size ? length : write_with(problem, own, to, size);
}

size_t tr__problem_answer_write(const struct problem *problem, char *to, size_t size)
{
    char text[PROBLEM_TEXT_MAX];
    (void)tr__problem_write(problem, text, sizeof text);
    return (size_t)snprintf(to, size, "{\"error\":%s}", text);
}
