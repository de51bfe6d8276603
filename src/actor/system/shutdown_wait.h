/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The thread that waits for a shutdown: deadlines, kills, and workers that are stuck.
 */
#ifndef ACTOR_SYSTEM_SHUTDOWN_WAIT_H
#define ACTOR_SYSTEM_SHUTDOWN_WAIT_H

#include <troupe/status.h>

struct tr_system;

/**
 * Waits until all workers have ended, or gives up, then calls the hooks of TR_AFTER_STOP. After
 * each sleep on_wake is called if it is not NULL. Returns TR_OK, TR_SHUTDOWN_INCOMPLETE, or
 * TR_ESCALATED for a complete shutdown after a failure reached the root. The threads may be joined
 * unless tr__shutdown_is_left.
 */
tr_status tr__shutdown_wait(struct tr_system *system, void (*on_wake)(void *context),
                            void *context);
/**
 * Called when a system that is embedded in another event loop is over: waits for the hooks of
 * TR_BEFORE_STOP, and calls the hooks of TR_AFTER_STOP. Further calls do nothing.
 */
void tr__shutdown_finish_embedded(struct tr_system *system);
/**
 * Whether functions of the application, such as handlers and hooks, may still run after the wait
 * for the shutdown has ended. Then the memory of the system must be kept for these functions. Any
 * thread.
 */
bool tr__shutdown_is_left(struct tr_system *system);

#endif
