/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A visit: a request to a gateway, with the actor that its path names.
 *
 * The steps check the origin, find the kind, ask the guard, and count the requests of the caller.
 * Only after all of them the actor is woken. A step that fails answers the request and returns
 * false. Owner only.
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
    const char *message; /* name of the message; "" if the path has none */
    const char *caller;  /* the caller that the guard has named; NULL: the guard was not asked */
    uint32_t per_minute;
    tr_ref guard;              /* the guard; TR_NOBODY: there is none */
    const char *authorization; /* the credentials with which the guard was asked; NULL: none */
    const char *cookie;
    bool is_for_connection; /* the guard need not be asked again for each message of a socket */
};

/**
 * Gives the turn of a request a causal id if it has none. The answer, and all messages that the
 * request causes, have the same id.
 */
void tr__visit_number(struct tr_self *self);
/** Answers with a problem. Waits. */
void tr__visit_fail(struct visit *visit, const struct problem *problem);
/** As tr__visit_fail, with the usual text of this problem. */
void tr__visit_fail_with(struct visit *visit, enum problem_id id);

/**
 * Whether the page of a request, if it has an Origin, may ask here. *guest is its origin if that is
 * another than the host of the request, else NULL.
 */
bool tr__visit_origin(struct http_request *request, const char **guest);
/** Checks the origin, and answers preflights. Waits. */
bool tr__visit_check_origin(struct visit *visit);
/** Finds the kind, the key and the message in the path. Waits. */
bool tr__visit_find(struct visit *visit, const tr_exposed *const *kinds);
/** Asks the guard, if there is one, and counts the request. Waits. */
bool tr__visit_admit(struct visit *visit, tr_ref guard);

/** Returns the exposed message with this name; NULL: there is none. */
const tr_exposed_message *tr__exposed_find(const tr_exposed *exposed, const char *name,
                                           size_t size);

#endif
