/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A visit: a request to a gateway, and the actor that the path of the request names.
 *
 * The steps of a visit check the origin, find the kind, ask the guard, and count the requests of
 * the caller. The actor is woken only after all steps. A step that fails answers the request and
 * returns false. Owner only.
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
    const char *message; /* name of the message in the path; "" if the path has none */
    const char *caller;  /* the caller that the guard has named; NULL: no guard was asked */
    uint32_t per_minute;
    tr_ref guard;              /* the guard; TR_NOBODY: there is none */
    const char *authorization; /* the credentials with which the guard was asked; NULL: none */
    const char *cookie;
    /* the guard has said that it need not be asked about each message of the connection */
    bool is_for_connection;
};

/**
 * Gives the turn of a request a causal id, if the turn has none. The answer, and all messages that
 * the request causes, get this id.
 */
void tr__visit_number(struct tr_self *self);
/** Answers with a problem. Waits. */
void tr__visit_fail(struct visit *visit, const struct problem *problem);
/** Answers with this problem and its usual text. Waits. */
void tr__visit_fail_with(struct visit *visit, enum problem_id id);

/**
 * Whether the web page from which a request comes may send requests here. A request without Origin
 * always may. If the page comes from another host than the one that the request names, sets *guest
 * to the origin of the page, otherwise to NULL.
 */
bool tr__visit_origin(struct http_request *request, const char **guest);
/** Checks the origin of a request, and answers preflights. Waits. */
bool tr__visit_check_origin(struct visit *visit);
/** Finds the kind, the key and the message in the path of a request. Waits. */
bool tr__visit_find(struct visit *visit, const tr_exposed *const *kinds);
/** If there is a guard, asks it. Then counts the request. Waits. */
bool tr__visit_admit(struct visit *visit, tr_ref guard);

/** Returns the exposed message with this name. Returns NULL if there is none. */
const tr_exposed_message *tr__exposed_find(const tr_exposed *exposed, const char *name,
                                           size_t size);

#endif
