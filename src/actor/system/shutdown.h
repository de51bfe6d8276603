/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shutting a system down, and waiting for it.
 *
 * The orderly way is that of any actor: /user gets a pill (CONTROL_STOP), and stops its children. This
 * file has what is needed when that is not enough: actors have more to do than there is time, and a
 * worker whose thread is in a handler that does not return can do nothing, neither for its own actors
 * nor for the children and parents of these that live elsewhere.
 *
 * Both are seen to in a *sweep*, which is asked for by adding 1 to `sweep`: each worker that comes to
 * its next round goes through its own cells. The first of these numbers says no more than that the
 * shutdown has begun. At the deadline an alarm of worker 0 asks for one. Who waits (tr_system_wait) is
 * the thread that waits for the shutdown: it sleeps until something is due, looks at the workers from outside, and asks for more.
 *
 * Rules:
 *   1. A worker is *stuck* for the thread that waits for the shutdown when it runs user code and has done nothing that is counted
 *      for a while. This may be wrong the next moment: nothing below relies on its being true.
 *   2. In a sweep after the deadline each worker kills its own cells, whoever their parents are. So an
 *      order that a stuck worker should have passed on is not missed, and none waits in a run queue
 *      behind actors with work. What clients send is refused from the deadline on.
 *   3. In a sweep a worker disowns children of its own cells: those that live on a stuck worker, or are
 *      on their way to one, or whose function of tr_blocking runs. It does so only once it has sent
 *      them the kill. A disowned child is out of the list of its parent, as sibling_next = 0 says,
 *      which the parent's worker writes and reads. Its parent goes on; if the child ends later after
 *      all, with its tr_post_stop, the parent's worker finds that it is nobody's child.
 *   4. From is_abandoned on no slot and no name is given back, so that a path can be read and a parent
 *      be found from anywhere. Names are given back under `lock`, and is_abandoned is set under it.
 *   5. A worker ends when the system is over and it has nothing to do; if the system was abandoned, when
 *      it has no actor left either. The shutdown_wait returns TR_OK only when all workers have ended.
 *   6. /user first stops the actors of the program. Meanwhile durable actors stay awake and can be woken by
 *      handlers, so that what the program finishes can be stored. When the others have stopped, or when three
 *      quarters of the time are over, whichever comes first, nobody can wake them any more (`wakes` of the
 *      system is closed), and their keepers are told to stop as soon as all that were woken are linked.
 */
#ifndef ACTOR_SYSTEM_SHUTDOWN_H
#define ACTOR_SYSTEM_SHUTDOWN_H

#include <troupe/status.h>
#include <troupe/detail/base.h>
#include <stdbool.h>

struct shutdown;

struct tr_system;
struct worker;
struct cell;

/** Notes of actors that are slow to stop are at least so far apart. */
#define SHUTDOWN_SLOW_NS TR_MILLISECOND

void tr__shutdown_init(struct shutdown *shutdown, tr_time timeout_default_ns);
/** The system was started: its waiter has a place to sleep. TR_NO_MEMORY, TR_LIMIT. */
TR_MUST_CHECK tr_status tr__shutdown_open(struct tr_system *system);
void tr__shutdown_deinit(struct tr_system *system);

/** Ends the sleep of who waits. Any thread. */
void tr__shutdown_wake(struct tr_system *system);

/** tr_system_shutdown without a timeout and without the hooks: nothing has ever run. */
void tr__shutdown_at_once(struct tr_system *system);
/** The hooks before are done: no actor starts any more, and /user is told to stop. Once, any thread. */
void tr__shutdown_begin(struct tr_system *system);
/** It is time for the keepers, or the deadline: what has not stopped is killed. Worker 0 only. */
void tr__shutdown_alarm(struct worker *worker);
/** The same, by who finds that it has passed: false when somebody has done so. Any thread. */
bool tr__shutdown_force(struct tr_system *system);

/** A round of a worker: does the sweep that was asked for. Worker only. */
void tr__shutdown_sweep(struct worker *worker);
/** An actor has moved to this worker: a sweep may have missed it on its way. Worker only. */
void tr__shutdown_adopt(struct worker *worker, struct cell *cell);
/** Whether a worker that has nothing to do may end its thread; else it may have by now. Worker only. */
bool tr__shutdown_may_leave(struct worker *worker);

#endif
