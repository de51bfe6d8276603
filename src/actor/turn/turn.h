/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns: ending a turn, applying the result of a handler, and calling user code that handles no
 * message. actor/turn/run.h calls the handlers of messages.
 */
#ifndef ACTOR_TURN_TURN_H
#define ACTOR_TURN_TURN_H

#include <troupe/behavior.h>

#include "actor/cell/signal.h"
#include "actor/cell/worker.h"

struct cell;
struct worker;

/**
 * Calls user code that handles no message, on a fiber of its own. Then runs the defers of that
 * turn. Returns the turn, which is valid until tr__call_hook_end; self->call.next is the result.
 * Returns NULL if nothing was called, because there is no stack or the calls are nested too deep.
 * Owner only.
 */
struct tr_self *tr__call_hook(struct worker *worker, struct cell *cell, enum turn_kind kind,
                              tr_next (*call)(tr_self *self, void *state, const void *message),
                              const void *message, uint64_t causal);
/** Ends tr__call_hook: frees the scratch memory of the turn, and the turn. */
void tr__call_hook_end(struct tr_self *self);

/**
 * Drops the set-up message that the turn has passed to tr_become, if there is one. To be called
 * before the scratch memory of the turn is freed.
 */
void tr__become_forget(struct tr_self *self);

/**
 * Does what the result of a handler asks for. Returns false if the actor does not run any more.
 * Then the actor may be gone, and its cell may belong to another actor, on another worker. Owner
 * only.
 */
bool tr__turn_apply_result(struct tr_self *self, tr_next next);

/**
 * Ends a turn whose message has no handler. Makes the message a dead letter and, if it is a
 * request, refuses it. Ignores a signal.
 */
void tr__turn_unhandled(struct tr_self *self);

/**
 * Ends the turn of a message that needs more than the fast end, on the fiber of the worker. It
 * needs more if tr_self.needs_slow_end is set, if a request has no answer, or if the result is not
 * TR_NEXT_SAME. Returns what tr__turn_apply_result returns.
 */
bool tr__turn_finish(struct tr_self *self, tr_next next);

/** As tr__turn_crash, but the turn ends with the result `next` and not with a failure. */
TR_NO_RETURN void tr__turn_abort(struct tr_self *self, tr_next next);

/** Returns the record of the call of tr_defer with this index. */
static inline struct turn_defer *turn_defer_at(struct tr_self *self, uint32_t index)
{
    return index < TURN_DEFERS ? &self->defers.few[index] : &self->defers.more[index - TURN_DEFERS];
}

/**
 * Forgets the calls of tr_defer by user code, because data that their functions would use may be
 * broken after a fault. What the library itself has deferred stays.
 */
static inline void turn_defers_forget(struct tr_self *self)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < self->defer_count; i++) {
        if (turn_defer_at(self, i)->is_own)
            *turn_defer_at(self, kept++) = *turn_defer_at(self, i);
    }
    self->defer_count = kept;
}

#endif
