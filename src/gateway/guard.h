/* SPDX-License-Identifier: Apache-2.0 */
/** Asks a guard about requests, and about the messages of sockets. Owner only. */
#ifndef GATEWAY_GUARD_H
#define GATEWAY_GUARD_H

#include <troupe/gateway.h>

#include "gateway/problem.h"

/**
 * Asks a guard. Returns its reply, which is valid until the turn ends. Returns NULL if the guard
 * forbids the request, or has not answered. Then *problem says which of the two it was. Waits.
 */
const struct tr_principal *tr__guard_ask(struct tr_self *self, tr_ref guard,
                                         const struct tr_authorize *question,
                                         enum problem_id *problem);

#endif
