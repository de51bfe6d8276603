/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs a system: on threads of its own, or on the calling thread.
 */
#ifndef ACTOR_SYSTEM_SYSTEM_RUN_H
#define ACTOR_SYSTEM_SYSTEM_RUN_H

#include <troupe/status.h>

struct tr_system;

/** Stops all actors on the calling thread. Requires that no worker has a thread. */
void tr__system_drain(struct tr_system *system);
/**
 * As tr_system_wait, for a system that was started. Calls on_wake after each sleep if it is not
 * NULL. TR_OK, TR_ESCALATED, TR_SHUTDOWN_INCOMPLETE.
 */
tr_status tr__system_wait(struct tr_system *system, void (*on_wake)(void *context), void *context);

#endif
