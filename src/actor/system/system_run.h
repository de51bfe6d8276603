/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs a system: on threads of its own, or on the calling thread.
 */
#ifndef ACTOR_SYSTEM_SYSTEM_RUN_H
#define ACTOR_SYSTEM_SYSTEM_RUN_H

#include <troupe/status.h>

struct tr_system;

/** Stops all actors on the calling thread. No worker may have a thread. */
void tr__system_drain(struct tr_system *system);
/**
 * As tr_system_wait, but only for a system that was started. After each sleep, calls on_wake unless
 * it is NULL. Returns TR_OK, TR_ESCALATED or TR_SHUTDOWN_INCOMPLETE.
 */
tr_status tr__system_wait(struct tr_system *system, void (*on_wake)(void *context), void *context);

#endif
