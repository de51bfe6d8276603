/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parts of a cycle.
 *
 * A barrier may begin and end in every turn, so neither its beginning nor its end may look at all
 * mail that waits. The first barrier of a cycle sorts the rest of that cycle into three parts,
 * which are handled in this order:
 *   - answers;
 *   - held: mail that waits while there is a barrier;
 *   - late: other mail that passes a barrier, such as events.
 * From then on cell->cycle has only one part at a time, named by extra->mail.part. The other parts
 * are in extra->mail. A barrier that begins or ends exchanges these rings, and looks at no
 * envelope. So each envelope is sorted once, and again only if it was stashed in between.
 *
 * While a part is left, the cell has CELL_MIXED or CELL_BARRIER, so that every run comes to
 * tr__mail_join when cell->cycle is empty.
 */
#ifndef ACTOR_MAIL_CYCLE_H
#define ACTOR_MAIL_CYCLE_H

#include "actor/cell/cell.h"

/**
 * Begins the barrier, when a barrier turn begins to wait. Sets aside the rest of this cycle, except
 * mail that passes a barrier. Only the first barrier of a cycle looks at each envelope.
 */
void tr__mail_hold(struct cell *cell);
/**
 * Ends the barrier, when the last barrier turn is over. The mail that was set aside comes before
 * everything else, except replies and exceptions.
 */
void tr__mail_release(struct cell *cell);

/**
 * Puts a ring of messages that come back, such as unstashed messages, before the rest of this
 * cycle. So they are handled before all newer messages. During a barrier these messages wait for
 * its end.
 */
void tr__mail_put_first(struct cell *cell, struct envelope *first);

/**
 * As mail_begin_cycle, but for a cell with a barrier, or with mail other than notices. An
 * unfinished cycle is continued with its next part.
 */
bool tr__mail_join(struct cell *cell);

/** Resumes an unfinished cycle: puts new replies and exceptions before the rest of that cycle. */
void tr__mail_resume_cycle(struct cell *cell);

#endif
