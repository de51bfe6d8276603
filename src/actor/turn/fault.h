/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Native faults. With tr_system_options.traps_faults, a fault is a failure of the actor. With
 * names_faults, a fault ends the process after a line that names the actor.
 *
 * In a system that traps faults, user code is called through tr__fault_call. This function notes in
 * the current fiber which turn runs and where the frames of its code begin. os/fault.h does the
 * rest: if that code faults and its frames can be dropped, the worker continues at the top of the
 * same stack, and ends the turn as tr_crash does. In any other system this costs nothing, because
 * its workers run another copy of the functions that call handlers (actor/turn/run.c).
 */
#ifndef ACTOR_TURN_FAULT_H
#define ACTOR_TURN_FAULT_H

#include <troupe/behavior.h>

struct fiber;
struct tr_self;
struct tr_system;
struct worker;

/**
 * Prepares the process for a new system with traps_faults or names_faults. If that is not possible,
 * clears both options, and returns TR_NOT_SUPPORTED if traps_faults was set. Otherwise returns
 * TR_OK.
 */
TR_MUST_CHECK tr_status tr__faults_switch_on(struct tr_system *system);
/** Undoes tr__faults_switch_on. Called when the system is freed. */
void tr__faults_switch_off(struct tr_system *system);

/**
 * From now on traps or names the faults of the calling thread, which begins to run a worker.
 * Without memory, only logs a warning.
 */
void tr__faults_begin(struct worker *worker);
/** Ends tr__faults_begin, on the same thread. */
void tr__faults_end(struct worker *worker);

/** Calls user code of a turn, in a system that traps faults. Returns its result. */
tr_next tr__fault_call(struct tr_self *self,
                       tr_next (*call)(tr_self *self, void *state, const void *message),
                       const void *message);
/** As tr__fault_call, but calls the handler of the turn's message. */
tr_next tr__fault_call_handler(struct tr_self *self, const tr_handler *handler);
/**
 * Calls user code from a handler of the runtime that was itself called through tr__fault_call. Like
 * tr_crash, a fault in this user code drops the frames of that handler too. So tr__turn_finish must
 * end what that handler has begun. May also be called in a system that traps no faults. `fiber` is
 * the current fiber. The caller must have read it before other threads can take the worker
 * (claim_go_out).
 */
tr_next tr__fault_call_inside(struct tr_self *self, struct fiber *fiber,
                              tr_next (*call)(tr_self *self, void *state, const void *message),
                              void *state, const void *message);

#endif
