/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions that are called before and after the actors of a system stop.
 *
 * Each runs on a thread of its own. Those before are led by one more thread, since
 * tr_system_shutdown does not wait; those after by who waits for the system.
 */
#ifndef ACTOR_SYSTEM_HOOKS_H
#define ACTOR_SYSTEM_HOOKS_H

#include <troupe/shutdown.h>

struct hooks;

struct tr_system;

/** Whether there is a hook of that phase. Any thread, once the shutdown was called. */
bool tr__hooks_have(const struct hooks *hooks, tr_hook_phase phase);

/**
 * Calls the hooks of a phase, one after the other, sleeping on `parker`; NULL: on the calling thread,
 * in place. After each sleep on_wake is called if it is not NULL.
 */
void tr__hooks_call(struct tr_system *system, tr_hook_phase phase, tr_parker *parker,
                    void (*on_wake)(void *context), void *context);

/** Calls those before on a thread of their own, then begins the shutdown. Or in place, if need be. */
void tr__hooks_lead(struct tr_system *system);
/** Joins that thread. It has begun the shutdown. */
void tr__hooks_join(struct tr_system *system);

#endif
