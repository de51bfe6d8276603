/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The thread that waits for a shutdown: deadlines, kills, and workers that are stuck.
 */
#ifndef ACTOR_SYSTEM_SHUTDOWN_WAIT_H
#define ACTOR_SYSTEM_SHUTDOWN_WAIT_H

#include <troupe/status.h>

struct tr_system;

/**
 * Waits until all workers have ended, or the thread that waits for the shutdown gives up, then for the hooks after. After each
 * sleep, on_wake is called if it is not NULL. TR_OK: all threads may be joined.
 * TR_SHUTDOWN_INCOMPLETE: nothing may.
 */
tr_status tr__shutdown_wait(struct tr_system *system, void (*on_wake)(void *context),
                            void *context);
/** Of a system in another's loop that is over: calls the hooks that are left, once. */
void tr__shutdown_finish_embedded(struct tr_system *system);
/** Whether functions still run in a system that nobody waits for any more: its memory is theirs. */
bool tr__shutdown_is_left(struct tr_system *system);

#endif
