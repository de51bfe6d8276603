/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs and turns: where user code is called, and what follows from what it returns.
 */
#ifndef ACTOR_TURN_TURN_H
#define ACTOR_TURN_TURN_H

#include <troupe/behavior.h>

#include "actor/cell/worker.h"

struct cell;
struct worker;

/**
 * Calls user code that handles no message, on a fiber of its own, and gives the turn that it was,
 * valid until tr__call_hook_end; self->next is what came of it. NULL when there is no stack or the calls
 * are nested too deep: nothing was called.
 */
struct tr_self *tr__call_hook(struct worker *worker, struct cell *cell, enum turn_kind kind,
                              tr_next (*call)(tr_self *self, void *state, const void *message),
                              const void *message, uint64_t causal);
/** Runs the defers of that turn, frees its scratch memory, and gives the turn back. */
void tr__call_hook_end(struct tr_self *self);

/** Drops what tr_become was given for a set-up, if it was; before the turn's scratch memory goes. */
void tr__become_forget(struct tr_self *self);

/**
 * Does what a handler's result asks for. False when the actor has stopped running: it may be gone,
 * and its cell another's, on another worker.
 */
bool tr__turn_apply_result(struct tr_self *self, tr_next next);

/** The message of this turn is a dead letter that nobody handled. */
void tr__turn_unhandled(struct tr_self *self);

/** The end of a turn that is more than ordinary, on the fiber of the worker. As tr__turn_apply_result. */
bool tr__turn_finish(struct tr_self *self, tr_next next);

/** The same with another result than a failure. */
TR_NO_RETURN void tr__turn_abort(struct tr_self *self, tr_next next);

/** The place of one call of tr_defer. */
static inline struct turn_defer *turn_defer_at(struct tr_self *self, uint32_t index)
{
    return index < TURN_DEFERS ? &self->defers.few[index] : &self->defers.more[index - TURN_DEFERS];
}

#endif
