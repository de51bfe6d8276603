/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs a system: on threads of its own, or on the calling thread.
 */
#ifndef ACTOR_SYSTEM_SYSTEM_RUN_H
#define ACTOR_SYSTEM_SYSTEM_RUN_H

#include <troupe/status.h>

struct tr_system;

/** Stops everything on the calling thread; no worker has a thread. */
void tr__system_drain(struct tr_system *system);
/**
 * tr_system_wait, calling `on_wake` each time its sleep ends; the system was started. TR_OK,
 * TR_ESCALATED, TR_SHUTDOWN_INCOMPLETE.
 */
tr_status tr__system_wait(struct tr_system *system, void (*on_wake)(void *context), void *context);

#endif
