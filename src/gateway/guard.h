/* SPDX-License-Identifier: Apache-2.0 */
/** Asking a guard, for requests and for the messages of sockets. Owner only. */
#ifndef GATEWAY_GUARD_H
#define GATEWAY_GUARD_H

#include <troupe/gateway.h>

#include "gateway/problem.h"

/**
 * Asks a guard. Returns what it replies, until the turn ends; NULL: *problem says why the request is not for this caller. Waits.
 */
const struct tr_principal *tr__guard_ask(struct tr_self *self, tr_ref guard,
                                         const struct tr_authorize *question,
                                         enum problem_id *problem);

#endif
