/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The thread that waits for a shutdown: it handles deadlines, kills, and workers that are stuck.
 */
#ifndef ACTOR_SYSTEM_SHUTDOWN_WAIT_H
#define ACTOR_SYSTEM_SHUTDOWN_WAIT_H

#include <troupe/status.h>

struct tr_system;

/**
 * Waits until all workers have ended, or gives up. Then calls the hooks of TR_AFTER_STOP. After
 * each sleep, calls on_wake if it is not NULL. Returns TR_OK; TR_ESCALATED if the shutdown is
 * complete, but a failure has reached the root; or TR_SHUTDOWN_INCOMPLETE. The threads may be
 * joined afterwards, unless tr__shutdown_is_left.
 */
tr_status tr__shutdown_wait(struct tr_system *system, void (*on_wake)(void *context),
                            void *context);
/**
 * Called when a system that is embedded in another event loop is over. Waits for the hooks of
 * TR_BEFORE_STOP, and then calls the hooks of TR_AFTER_STOP. Only the first call has an effect.
 */
void tr__shutdown_finish_embedded(struct tr_system *system);
/**
 * Whether functions of the application, such as handlers and hooks, may still run although the wait
 * for the shutdown has ended. If so, the memory of the system must be kept, because these functions
 * use it. Any thread.
 */
bool tr__shutdown_is_left(struct tr_system *system);

#endif
