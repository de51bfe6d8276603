/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions that are called before and after the actors of a system stop.
 *
 * Each hook runs on a thread of its own. One more thread, the leader, calls the hooks of
 * TR_BEFORE_STOP, because tr_system_shutdown does not wait. The thread that waits for the shutdown
 * calls the hooks of TR_AFTER_STOP.
 */
#ifndef ACTOR_SYSTEM_HOOKS_H
#define ACTOR_SYSTEM_HOOKS_H

#include <troupe/shutdown.h>

#include "os/atomic.h"

struct tr_system;

/** A function that a shutdown calls. */
struct hook {
    struct tr_system *system;
    tr_status (*on_shutdown)(void *context);
    void *context;
    char name[64];
    tr_hook_phase phase;
    tr_time timeout_ns;
    tr_parker *parker; /* parker of the thread that waits for the hook */
    tr_thread *thread; /* NULL: not started, or already joined */
    tr_status status;  /* written by the hook's thread before is_done */
    atom32 is_done;
};

struct hooks {
    /* written under the lock of the shutdown, until tr_system_shutdown is called */
    struct hook list[TR_HOOKS_MAX];
    uint32_t count;
    /*
     * the thread that calls the hooks of TR_BEFORE_STOP; written by tr_system_shutdown, under the
     * lock
     */
    tr_thread *leader;
    atom32 hung;     /* number of hooks that did not return in time */
    atom32 are_over; /* the hooks of TR_AFTER_STOP have been called */
};

/** Whether there is a hook of this phase. Any thread, after the shutdown was asked for. */
bool tr__hooks_have(const struct hooks *hooks, tr_hook_phase phase);

/**
 * Calls the hooks of a phase, one after the other. Each hook runs on a thread of its own, and the
 * caller sleeps on `parker` until the hook returns or its timeout has passed. If `parker` is NULL,
 * or no thread can be started, the hook runs on the calling thread, without a timeout. After each
 * sleep, calls on_wake if it is not NULL.
 */
void tr__hooks_call(struct tr_system *system, tr_hook_phase phase, tr_parker *parker,
                    void (*on_wake)(void *context), void *context);

/**
 * Starts the leader, which calls the hooks of TR_BEFORE_STOP and then begins the shutdown. If the
 * leader cannot be started, does both on the calling thread.
 */
void tr__hooks_lead(struct tr_system *system);
/** Joins the leader, if there is one. When this returns, the shutdown has begun. */
void tr__hooks_join(struct tr_system *system);

#endif
