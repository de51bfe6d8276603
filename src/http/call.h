/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls of user code by the handlers of the HTTP layer.
 */
#ifndef HTTP_CALL_H
#define HTTP_CALL_H

#include "actor/cell/verb.h"
#include "actor/turn/fault.h"

/**
 * Calls a handler of the program from a handler that has begun with TURN_VERB. A fault in the
 * program's handler drops the frames of both handlers, as tr_crash does. What the outer handler has
 * begun is ended after the turn, by the functions on_turn_end and on_turn_done of HTTP in the table
 * struct tr_protocol (net/protocol.h). While user code runs, another thread may take the worker.
 */
static inline tr_next http_call_user(struct tr_self *self, const tr_handler *row, void *state,
                                     const void *message)
{
    struct fiber *fiber = self->worker->stacks.host.current;
    self->handler = row;
    worker_set_handler(self->worker, row);
    if (self->claim)
        claim_go_out(self->claim, self);
    tr_next next = tr__fault_call_inside(self, fiber, row->call, state, message);
    (void)verb_begin(self);
    return next;
}

#endif
