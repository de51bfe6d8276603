/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shutting a system down, and waiting for it.
 *
 * In an orderly shutdown, /user stops like any actor: it gets a PoisonPill (CONTROL_STOP) and stops
 * its children. This file has what is needed when that is not enough. There are two such cases:
 *   - Actors have more to do than the time allows.
 *   - The thread of a worker is in a handler that does not return. Then the worker can do nothing,
 *     neither for its own actors nor for their children and parents on other workers.
 *
 * Both cases are handled by a *sweep*: each worker goes through its own cells in its next round. A
 * thread asks for a sweep by adding 1 to `sweep`. The value 1 only says that the shutdown has
 * begun. At the deadline an alarm of worker 0 asks for a sweep. The thread that waits for the
 * shutdown (tr_system_wait) sleeps until something is due, looks at the workers from outside, and
 * asks for more sweeps.
 *
 * Rules:
 *   1. A worker is *stuck* if it runs user code and nothing that is counted has changed for a
 *      while. The thread that waits for the shutdown decides this. Its decision may be wrong a
 *      moment later, so nothing below relies on it.
 *   2. In a sweep after the deadline each worker kills its own cells, regardless of their parents.
 *      So no order is lost because a stuck worker does not pass it on, and no order waits in a run
 *      queue behind actors with work. Messages of clients are refused after the deadline.
 *   3. In a sweep a worker disowns those children of its own cells that cannot be stopped: the
 *      child lives on a stuck worker, or is on its way to one, or a function of tr_blocking runs
 *      for it, or its turn is stuck after a thread handoff. The worker does so only after it has
 *      sent the kill to the child. A disowned child is not in the list of its parent. Its
 *      sibling_next is 0, and only the parent's worker reads and writes this member. The parent
 *      continues to stop. If the child ends later after all, with its tr_post_stop, the parent's
 *      worker finds that the child is disowned.
 *   4. After is_abandoned is set, no slot and no name is freed, so that any thread can read a path
 *      and find a parent. Names are freed under `lock`, and is_abandoned is set under the same
 *      lock.
 *   5. A worker ends when the system is over and the worker has nothing to do. If the system was
 *      abandoned, the worker must have no actor left either. tr__shutdown_wait returns TR_OK only
 *      when all workers have ended.
 *   6. /user first stops the actors of the program. Meanwhile durable actors stay awake and
 *      handlers can wake them, so that the results of the program can be stored. This time ends
 *      when the other actors have stopped, or when three quarters of the timeout have passed,
 *      whichever comes first. Then no actor can wake durable actors any more (`wakes` of the system
 *      is closed). Their keepers are asked to stop as soon as all durable actors that were woken
 *      are linked.
 */
#ifndef ACTOR_SYSTEM_SHUTDOWN_H
#define ACTOR_SYSTEM_SHUTDOWN_H

#include <stdbool.h>

#include <troupe/detail/base.h>
#include <troupe/shutdown.h>
#include <troupe/status.h>

#include "actor/system/hooks.h"
#include "os/atomic.h"

struct tr_system;
struct worker;
struct cell;

/** The lines about actors in a report, the most important first. */
struct report_lines {
    uint32_t count;
    tr_report_actor line[TR_REPORT_ACTORS_MAX];
};

/** A shutdown, and its report. What lower rooms need to know of it is in struct system_ending. */
struct shutdown {
    atom32 workers_ended; /* number of workers whose threads are about to return */
    /* an actor that takes longer than this to stop gets an entry in slow[] of the report */
    atom64 slow_ns;
    /* an actor gets a line in the report if its worth is above this; see actor/system/report.c */
    atom64 floor;
    /* The lock of struct system_ending protects all members below. */
    bool is_asked_for;
    bool is_escalated;
    /* the thread that waits for the shutdown has given up: `final` says which actors are left */
    bool is_lost;
    tr_error escalation;
    tr_time called_ns;
    tr_time timeout_ns;
    tr_counters before;
    /* the report. Until is_lost is set, only its members slow[] and hook[] are written */
    tr_shutdown_report final;
    struct report_lines lines;
    struct hooks hooks;
};

/** The least time between two notes about actors that are slow to stop. */
#define SHUTDOWN_SLOW_NS TR_MILLISECOND

void tr__shutdown_init(struct tr_system *system, tr_time timeout_default_ns);
/**
 * Makes the parker on which the thread that waits for the shutdown will sleep. Called when the
 * system is started. Returns TR_OK, TR_NO_MEMORY or TR_LIMIT.
 */
TR_MUST_CHECK tr_status tr__shutdown_open(struct tr_system *system);
void tr__shutdown_deinit(struct tr_system *system);

/** Wakes the thread that waits for the shutdown. Any thread. */
void tr__shutdown_wake(struct tr_system *system);

/**
 * As tr_system_shutdown with a timeout of 0, but without the hooks. Does nothing if a shutdown was
 * asked for before. For a system that has no threads, or whose threads did not start.
 */
void tr__shutdown_at_once(struct tr_system *system);
/**
 * Begins the shutdown after the hooks of TR_BEFORE_STOP. From now on no actor starts, and /user
 * gets an order to stop. To be called once. Any thread.
 */
void tr__shutdown_begin(struct tr_system *system);
/**
 * Closes the keepers (rule 6). If the deadline has passed, also forces the shutdown: actors that
 * have not stopped are killed. Called when the alarm of worker 0 fires. Worker 0 only.
 */
void tr__shutdown_alarm(struct worker *worker);
/**
 * Forces the shutdown after its deadline: asks for a sweep that kills. Returns false if another
 * thread has forced the shutdown before. Any thread.
 */
bool tr__shutdown_force(struct tr_system *system);

/** Does the sweep that was asked for. Called in a round of the worker. Worker only. */
void tr__shutdown_sweep(struct worker *worker);
/**
 * Sweeps an actor that has moved to this worker. A sweep during its move may have missed it. Called
 * for each actor that has moved; does nothing before a shutdown. Owner only.
 */
void tr__shutdown_adopt(struct worker *worker, struct cell *cell);
/**
 * Whether a worker that has nothing to do may end its thread. If not, does a sweep and returns
 * false; then the worker may have work again. Worker only.
 */
bool tr__shutdown_may_leave(struct worker *worker);

#endif
