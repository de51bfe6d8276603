/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Native faults as failures of actors (tr_system_options.traps_faults), or named before they end the process
 * (names_faults).
 *
 * In such a system user code is called through tr__fault_call, which notes in the fiber that runs
 * whose code it is and where its frames begin. os/fault.h does the rest: when that code faults and can
 * be left, the worker goes on on the same stack, from its top, and ends the turn as a verb would that
 * could not do what it says. Systems without it pay nothing: their workers run another copy of the
 * functions that call handlers (actor/turn/turn.c).
 */
#ifndef ACTOR_TURN_FAULT_H
#define ACTOR_TURN_FAULT_H

#include <troupe/behavior.h>

struct tr_self;
struct tr_system;
struct worker;

/** A system is made: TR_NOT_SUPPORTED, when faults are to be trapped and cannot be. */
TR_MUST_CHECK tr_status tr__faults_switch_on(struct tr_system *system);
void tr__faults_switch_off(struct tr_system *system);

/** The calling thread begins to run a worker, and ends. Without memory faults are not trapped. */
void tr__faults_begin(struct worker *worker);
void tr__faults_end(struct worker *worker);

/** Calls user code of a turn, in a system that traps faults. */
tr_next tr__fault_call(struct tr_self *self,
                       tr_next (*call)(tr_self *self, void *state, const void *message),
                       const void *message);
/** Calls the handler of the turn's message. */
tr_next tr__fault_call_handler(struct tr_self *self, const tr_handler *handler);

#endif
