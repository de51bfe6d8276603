/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Upcalls: what a room of src/actor calls in a later one of src/LAYERS.
 *
 * An actor core is recursive: a turn may stop its actor, and to stop an actor runs a turn. The calls that close such a
 * circle are declared here, and nowhere else; there are at most 30. Each says which file implements it, and which thread
 * may call it: "Owner" is the worker that owns the cell, "Worker" the one that is passed. tools/check-layers --walls
 * compares this list with the tree, and tools/link-components prints who calls what.
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

/* ---- Mail that has arrived, by its kind. Each takes the envelope, but for tr__budget_mail. ---- */

/** A message for a metered actor: charges its memory to the budget. turn/budget.c; owner. */
void tr__budget_mail(struct worker *worker, struct cell *cell, const struct envelope *envelope);
/** A REPLY or an EXCEPTION: ends the ask that it answers. ask/ask.c; owner. */
void tr__ask_arrived(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** WANTED up to WHY: what senders that wait, traces and cycles of asks exchange. ask/waiters.c; owner. */
void tr__waiters_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** A function of tr_blocking has returned: wakes its turn. turn/blocking.c; owner. */
void tr__blocking_returned(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** A WATCH or an UNWATCH. life/watchers.c; owner. */
void tr__watch_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** A FAILED, DECIDED, DOWN or UP, between a child and its parent. life/failure.c; owner. */
void tr__supervision_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** A WHY: answers it with what holds this actor up. verbs/why_ask.c; owner. */
void tr__why_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** Whether a REPLY answers a WHY: when nobody waits for it any more, it is no dead letter. verbs/why_ask.c; any thread. */
bool tr__why_is_told(const struct envelope *envelope);

/* ---- Senders that wait for capacity. ---- */

/** The bounds of a mailbox have changed: those that wait for it are answered by the new ones. ask/waiters.c; owner. */
void tr__waiters_rebound(struct worker *worker, struct cell *cell, struct mail_bound bound);
/** Gives capacity to those that wait for it, as far as there is some. ask/waiters.c; owner. */
void tr__waiters_serve(struct worker *worker, struct cell *cell);
/** The turn waits or ends: gives back the capacity that it was granted and has not used. ask/waiters.c; owner. */
void tr__turn_return_capacity(struct tr_self *self);

/* ---- The beginning and the end of a turn. ---- */

/** The turn of an answer to tr_ask_then begins: the handler to call; NULL for none. ask/ask_then.c; owner. */
const tr_handler *tr__then_begin(struct tr_self *self);
/** The turn of a signal begins: false when nobody waits for it any more, and it was taken. life/watchers.c; owner. */
bool tr__watch_admit(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** The turn of a request has ended: refuses the request, unless it was answered. ask/answer.c; owner. */
void tr__request_finish(struct tr_self *self, tr_next next);
/** The turn of a batch has ended: finishes its other messages. ask/batch.c; owner. */
void tr__batch_end(struct tr_self *self, tr_next next);
/** The turn has ended: forgets its asks. ask/turn_asks.c; owner. */
void tr__asks_drop(struct tr_self *self);

/** Ends the turn where it stands; its error says why. turn/turn.c; on the fiber of that turn. */
TR_NO_RETURN void tr__turn_crash(struct tr_self *self);

/* ---- The life of the actor whose turn it is. ---- */

/** Carries out its control bits. False when it runs no further. life/control.c; owner. */
bool tr__cell_handle_control(struct worker *worker, struct cell *cell);
/** tr_become: sets the actor up with another behavior. TR_OK, TR_STOPPED, or the error says why. life/become.c; owner. */
tr_status tr__cell_adopt(struct worker *worker, struct cell *cell, const tr_behavior *behavior,
                         const tr_type *setup_type, const void *setup, uint64_t causal,
                         tr_error *error);
/** Begins to stop it. The cell may be gone when this returns. life/stop.c; owner. */
void tr__cell_stop(struct worker *worker, struct cell *cell, bool by_kill);
/**
 * It has failed, Running, Suspended or Starting again: it is Suspended until its supervisor has decided. False when it
 * stops instead, and may be gone. `where` is a constant, or NULL. life/failure.c; owner.
 */
bool tr__cell_fail(struct worker *worker, struct cell *cell, const char *where,
                   const tr_error *error);
/** A function of tr_blocking has returned: a restart may have waited for it. life/restart.c; owner. */
void tr__restart_unblocked(struct worker *worker, struct cell *cell);
/** The actor of a schedule has ended, and so does the schedule. verbs/schedule.c; owner. */
void tr__schedule_orphan(struct worker *worker, const struct cell *cell);

/* ---- Threads. ---- */

/** What runs on a fiber of the worker: its loop. Never returns. system/worker.c; worker. */
TR_NO_RETURN void tr__worker_fiber(void *worker);
/** Hands the worker to the thread of this turn; returns when the turn waits or is over. system/thread_handoff.c; worker. */
void tr__handoff_leave(struct worker *worker, struct tr_self *turn);
/** The worker was taken from this turn: waits until its thread has it again. system/thread_handoff.c; the turn's thread. */
void tr__handoff_return(struct tr_self *self);

/* ---- The end of the system. ---- */

/** The last actor below /user has ended: shuts down, if the options say so. system/shutdown.c; worker 0. */
void tr__shutdown_empty(struct tr_system *system);
/** A failure has reached the root: keeps the first one, and shuts down. system/shutdown.c; any thread. */
void tr__system_escalate(struct tr_system *system, const tr_error *error);
/** An actor has ended while the system stops: for the report, as long as its path can be read. system/report.c; owner. */
void tr__shutdown_note(struct worker *worker, const struct cell *cell);
/** /user has stopped: the workers end. system/system.c; worker 0. */
void tr__system_over(struct tr_system *system);

#endif
