/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The face of gateways (http/face.h). Every answer below /actors has a causal id, and every error
 * has a stable code, whether the gateway or the HTTP layer below it has refused the request.
 */
#include "http/face.h"

#include "gateway/problem.h"
#include "gateway/visit.h"

/* Sets the headers that let a page of another origin read the answer. */
static void allow_origin(struct tr_self *self, const char *origin)
{
    tr_http_set(self, "Access-Control-Allow-Origin", origin);
    tr_http_set(self, "Access-Control-Expose-Headers", "X-Troupe-Causal, Retry-After");
    tr_http_set(self, "Vary", "Origin");
}

static void begin(struct http_request *request)
{
    struct tr_self *self = request->self;
    const char *guest = NULL;
    tr__visit_number(self);
    tr_http_set(
        self, "X-Troupe-Causal", tr_format(self, "%llx", (unsigned long long)tr_causal_id(self)));
    if (tr__visit_origin(request, &guest) && guest)
        allow_origin(self, guest);
}

static size_t error_write(int status, const char *text, char *to, size_t size)
{
    struct problem problem = {.id = tr__problem_of_http(status)};
    /* a turn without an answer has ended: it has failed, or its session stops */
    bool has_ended = !text;
    if (has_ended && problem.id == PROBLEM_BUSY)
        problem.id = PROBLEM_STOPPING;
    bool has_own_words = problem.id == PROBLEM_BAD_ORIGIN || problem.id == PROBLEM_FAILED;
    problem.words = has_own_words ? NULL : text;
    return tr__problem_answer_write(&problem, to, size);
}

const struct tr_http_face_ tr_gateway_face_ = {begin, error_write};
