/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Upcalls: functions of later rooms of src/actor that earlier rooms call.
 *
 * An actor core is recursive by nature: mail makes an actor run, and a run sends mail. What matters is that the
 * recursion is named. tools/check-layers allows 30 functions here, and each must have a caller in an earlier room.
 */
#ifndef ACTOR_CELL_UPCALLS_H
#define ACTOR_CELL_UPCALLS_H

struct cell;
struct envelope;
struct worker;

/* ---- Takers of mail: functions of the table in actor/mail/kind.h. Owner only; they own the envelope. ---- */

/** actor/turn/blocking.c: what tr_blocking ran for a turn has returned. */
void tr__blocking_returned(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** actor/ask/waiters.c: capacity that is wanted, granted or given back; traces of asks; cycles of asks. */
void tr__waiters_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** actor/life/watchers.c: an actor wants to be notified of this one's end, or no longer. */
void tr__watch_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** actor/life/failure.c: failures of children, decisions of parents, restarts of siblings. */
void tr__supervision_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);
/** actor/verbs/why_ask.c: a client or an actor asks what holds this one up. */
void tr__why_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

#endif
