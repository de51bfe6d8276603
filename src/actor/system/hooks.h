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

#include "os/atomic.h"

struct tr_system;

struct hook {
    struct tr_system *system;
    tr_status (*on_shutdown)(void *context);
    void *context;
    char name[64];
    tr_hook_phase phase;
    tr_time timeout_ns;
    tr_parker *parker; /* of who waits for it */
    tr_thread *thread; /* NULL: none was made, or it was joined */
    tr_status status;  /* written by its thread before is_done */
    atom32 is_done;
};

struct hooks {
    struct hook list[TR_HOOKS_MAX]; /* under the lock of the shutdown until that is called */
    uint32_t count;
    tr_thread *leader; /* of those before; written by tr_system_shutdown, under the lock */
    atom32 hung;       /* how many had not returned in time */
    atom32 are_over;   /* those of TR_AFTER_STOP were called */
};

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
