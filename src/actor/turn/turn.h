/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs and turns: where user code is called, and what follows from what it returns.
 */
#ifndef ACTOR_TURN_TURN_H
#define ACTOR_TURN_TURN_H

#include "actor/mail/mail.h"

/** Runs an actor: loop_hooks.run. */
uint32_t tr__cell_run(struct loop *loop, struct task *task, uint32_t turns_max);
/** The same in a system that traps faults. */
uint32_t tr__cell_run_trapping(struct loop *loop, struct task *task, uint32_t turns_max);
/** The same in a system whose threads are replaced. */
uint32_t tr__cell_run_with_handoff(struct loop *loop, struct task *task, uint32_t turns_max);

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

/** Ends the turn where it stands; its error says why. On the fiber of that turn. */
TR_NO_RETURN void tr__turn_crash(struct tr_self *self);

/** The same with another result than a failure. */
TR_NO_RETURN void tr__turn_abort(struct tr_self *self, tr_next next);

/** Puts an actor that has been set up, or whose run is over, where it belongs. */
void tr__cell_park_or_requeue(struct worker *worker, struct cell *cell);

/** Control bits are set, or the last child has gone. False when the actor runs no further. */
bool tr__cell_handle_control(struct worker *worker, struct cell *cell);

/** The place of one call of tr_defer. */
static inline struct turn_defer *turn_defer_at(struct tr_self *self, uint32_t index)
{
    return index < TURN_DEFERS ? &self->defers.few[index] : &self->defers.more[index - TURN_DEFERS];
}

#endif
