/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Upcalls: the functions that a room of src/actor calls in a later room of src/LAYERS.
 *
 * The core of an actor runtime is recursive: a turn may stop its actor, and stopping an actor runs
 * a turn. The functions whose calls close such a cycle are declared here, and nowhere else. There
 * are at most 30. Each comment says which file implements the function, and which thread may call
 * it: "owner" is the worker that owns the cell, "worker" the worker that is passed.
 * tools/check-layers --walls compares this list with the tree, and tools/link-components prints
 * which file calls what.
 */
#ifndef ACTOR_CELL_UPCALLS_H
#define ACTOR_CELL_UPCALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <troupe/behavior.h>
#include <troupe/message.h>
#include <troupe/status.h>

struct cell;
struct envelope;
struct mail_bound;
struct tr_self;
struct tr_system;
struct worker;

/* ---- Mail that has arrived, by kind. All but tr__budget_mail take the envelope. ---- */

/**
 * Charges the memory of a message to the budget of the metered actor that gets it. turn/budget.c;
 * owner.
 */
void tr__budget_mail(struct worker *worker, struct cell *cell, const struct envelope *envelope);
/** Ends the ask that a REPLY or an EXCEPTION answers. ask/ask.c; owner. */
void tr__ask_arrived(struct worker *worker, struct cell *cell, struct envelope *envelope);
/**
 * Handles mail for waiting senders, traces and cycles of asks: the kinds from WANTED to CYCLE in
 * the list of actor/mail/kind.h. ask/waiters.c; owner.
 */
void tr__waiters_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** Wakes the turn whose function of tr_blocking has returned. turn/blocking.c; owner. */
void tr__blocking_returned(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** Handles a WATCH or an UNWATCH. life/watchers.c; owner. */
void tr__watch_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** Handles a FAILED, DECIDED, DOWN or UP, between a child and its parent. life/supervision_mail.c; owner. */
void tr__supervision_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** Answers a WHY with what this actor waits for. verbs/why_ask.c; owner. */
void tr__why_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

/* ---- Senders that wait for capacity. ---- */

/** Answers waiting senders after the bounds of a mailbox have changed. ask/waiters.c; owner. */
void tr__waiters_rebound(struct worker *worker, struct cell *cell, struct mail_bound bound);
/** Grants the available capacity to waiting senders. ask/waiters.c; owner. */
void tr__waiters_serve(struct worker *worker, struct cell *cell);
/**
 * Gives back capacity that the turn was granted and has not used, because the turn waits or ends.
 * ask/waiters.c; owner.
 */
void tr__turn_return_capacity(struct tr_self *self);

/* ---- The start and the end of a turn. ---- */

/**
 * Starts the turn of an answer to tr_ask_then. Returns the handler to call, or NULL if none is to
 * be called. ask/ask_then.c; owner.
 */
const tr_handler *tr__then_begin(struct tr_self *self);
/**
 * Starts the turn of a signal. If the signal is a tr_terminated whose watch has ended meanwhile,
 * takes the envelope and returns false. life/watchers.c; owner.
 */
bool tr__watch_admit(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** Refuses the request of a turn that has ended, unless it was answered. ask/answer.c; owner. */
void tr__request_finish(struct tr_self *self, tr_next next);
/** Finishes the other messages of a batch whose turn has ended. ask/batch.c; owner. */
void tr__batch_end(struct tr_self *self, tr_next next);
/** Drops the asks of a turn that has ended. ask/turn_asks.c; owner. */
void tr__asks_drop(struct tr_self *self);

/**
 * Ends the turn at this point. The error of the turn has the reason. turn/turn.c; on the fiber of
 * that turn.
 */
TR_NO_RETURN void tr__turn_crash(struct tr_self *self);

/* ---- The life of the actor whose turn it is. ---- */

/**
 * Carries out the control bits of the actor. Returns false if its run must end. life/control.c;
 * owner.
 */
bool tr__cell_handle_control(struct worker *worker, struct cell *cell);
/**
 * Sets the actor up with another behavior, for tr_become. Returns TR_OK, TR_STOPPED if the set-up
 * asked for a stop, or another status with *error set. life/become.c; owner.
 */
tr_status tr__cell_adopt(struct worker *worker, struct cell *cell, const tr_behavior *behavior,
                         const tr_type *setup_type, const void *setup, uint64_t causal,
                         tr_error *error);
/** Begins to stop the actor. The cell may be free when this returns. life/stop.c; owner. */
void tr__cell_stop(struct worker *worker, struct cell *cell, bool by_kill);
/**
 * Suspends an actor that has failed while it was Running, Suspended or Starting again, until its
 * supervisor has decided. Returns false if the actor stops instead; then the cell may be free.
 * `where` is a constant, or NULL. life/failure.c; owner.
 */
bool tr__cell_fail(struct worker *worker, struct cell *cell, const char *where,
                   const tr_error *error);
/**
 * Continues a restart that waited for a function of tr_blocking, which has returned.
 * life/restart.c; owner.
 */
void tr__restart_unblocked(struct worker *worker, struct cell *cell);
/** Ends the schedule of an actor that has ended. verbs/schedule.c; owner. */
void tr__schedule_orphan(struct worker *worker, const struct cell *cell);

/* ---- Threads. ---- */

/** Runs the loop of the worker on a fiber. Never returns. system/worker.c; worker. */
TR_NO_RETURN void tr__worker_fiber(void *worker);
/**
 * Hands the worker to the thread on which this turn is stuck. Returns when the turn waits or has
 * ended. system/thread_handoff.c; worker.
 */
void tr__handoff_leave(struct worker *worker, struct tr_self *turn);
/**
 * Waits until the calling thread has its worker again. Another thread had taken this worker.
 * system/thread_handoff.c; the turn's thread.
 */
void tr__handoff_return(struct tr_self *self);

/* ---- The end of the system. ---- */

/**
 * Called when the last actor below /user has ended. Shuts the system down if its options have
 * exit_when_empty. system/shutdown.c; worker 0.
 */
void tr__shutdown_empty(struct tr_system *system);
/**
 * Shuts the system down because a failure has reached /user, and keeps the first such failure.
 * system/shutdown.c; any thread.
 */
void tr__system_escalate(struct tr_system *system, const tr_error *error);
/**
 * Adds an actor that has ended during the shutdown to the report. Called while the path of the
 * actor can still be read. system/report.c; owner.
 */
void tr__shutdown_note(struct worker *worker, const struct cell *cell);
/** Makes the workers end, because /user has stopped. system/system.c; worker 0. */
void tr__system_over(struct tr_system *system);

#endif
