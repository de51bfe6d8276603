/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A visit: a request to a gateway, from its path to the actor that it is for.
 *
 * Steps: the origin, the kind, the guard, how often this caller has asked; only then is anything woken. A step that
 * fails answers, and returns false. Owner only.
 */
#ifndef GATEWAY_VISIT_H
#define GATEWAY_VISIT_H

#include <troupe/gateway.h>

#include "gateway/problem.h"
#include "http/request.h"

struct visit {
    struct tr_self *self;
    struct http_request *request;
    const tr_exposed *exposed;
    const char *key;
    const char *message; /* "" if the path names none */
    const char *caller;  /* who the guard says it is; NULL: nobody was asked */
    uint32_t per_minute;
    tr_ref guard;              /* TR_NOBODY: there is none */
    const char *authorization; /* what the guard was asked with; NULL: none */
    const char *cookie;
    bool is_for_connection; /* the guard need not be asked for the messages of a socket */
};

/**
 * Gives the turn of a request a causal id if it has none; the answer, and everything that the
 * request causes, have the same id.
 */
void tr__visit_number(struct tr_self *self);
/** Answers with a problem. Waits. */
void tr__visit_fail(struct visit *visit, const struct problem *problem);
/** As tr__visit_fail, with the usual words of this problem. */
void tr__visit_fail_with(struct visit *visit, enum problem_id id);

/** Checks the origin, and answers preflights. Waits. */
bool tr__visit_check_origin(struct visit *visit);
/** Finds the kind, the key and the message of the path. Waits. */
bool tr__visit_find(struct visit *visit, const tr_exposed *const *kinds);
/** Asks the guard, if there is one, and counts the request. Waits. */
bool tr__visit_admit(struct visit *visit, tr_ref guard);

/** Returns the exposed message of this name; NULL: there is none. */
const tr_exposed_message *tr__exposed_find(const tr_exposed *exposed, const char *name,
                                           size_t size);

#endif
