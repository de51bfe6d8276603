/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reports of turns that are stuck while another thread runs their worker: actor/system/thread_handoff.h.
 */
#ifndef ACTOR_SYSTEM_HANDOFF_REPORT_H
#define ACTOR_SYSTEM_HANDOFF_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/status.h>

struct tr_system;

/**
 * Whether a turn of this actor is stuck on a thread that has lost its worker. From then on
 * tr__handoff_look reports the turn. On the watch's thread.
 */
bool tr__handoff_follows(struct tr_system *system, uint64_t ref);

/**
 * Whether a turn of this actor is stuck and another thread has taken its worker, even if that
 * thread has not made its first step yet. Any thread.
 */
bool tr__handoff_has(struct tr_system *system, uint64_t ref);

/**
 * Reports the stuck turns that are due. `context` is the system. Returns whether a thread is stuck. On the watch's
 * thread.
 */
bool tr__handoff_look(void *context, tr_time now_ns);

#endif
