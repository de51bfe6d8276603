/* SPDX-License-Identifier: Apache-2.0 */
/** Reports of turns that are stuck while another thread runs their worker. See actor/system/thread_handoff.h. */
#ifndef ACTOR_SYSTEM_HANDOFF_REPORT_H
#define ACTOR_SYSTEM_HANDOFF_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/status.h>

struct tr_system;
struct view;

/**
 * Whether a turn of this actor is stuck on a thread that has lost its worker. If so,
 * tr__handoff_look reports the turn from now on. On the watch's thread.
 */
bool tr__handoff_follows(struct tr_system *system, uint64_t ref);

/**
 * Whether a turn of this actor is stuck and another thread has taken its worker. True even before
 * that thread has made its first step. Any thread.
 */
bool tr__handoff_has(struct tr_system *system, uint64_t ref);

/**
 * Returns the number of threads that the caller can ask tr__handoff_view about. Returns 0 if there
 * is no thread handoff. Any thread.
 */
uint32_t tr__handoff_threads(const struct tr_system *system);
/**
 * Describes the turn in which a thread is stuck while another thread runs its worker. Sets *worker
 * to the index of that worker. Does not describe channels. Returns false if the thread is not
 * stuck. Any thread.
 */
bool tr__handoff_view(struct tr_system *system, uint32_t thread, struct view *view,
                      uint32_t *worker);

/**
 * Reports the stuck turns whose reports are due. `context` is the system. Returns whether any
 * thread is stuck. On the watch's thread.
 */
bool tr__handoff_look(void *context, tr_time now_ns);

#endif
