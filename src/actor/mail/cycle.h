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
 * From then on cell->cycle has only one part at a time, and extra->mail.part says which one. The
 * other parts are in extra->mail. A barrier that begins or ends exchanges these rings, and looks at
 * no envelope. So each envelope is sorted once. It is sorted again only if it was stashed
 * meanwhile.
 *
 * While a part is left, the cell has CELL_MIXED or CELL_BARRIER. These flags make every run call
 * tr__mail_join when cell->cycle is empty.
 */
#ifndef ACTOR_MAIL_CYCLE_H
#define ACTOR_MAIL_CYCLE_H

#include "actor/cell/cell.h"
#include "base/assert.h"

/**
 * Begins the barrier of an actor, when a turn that is a barrier begins to wait. Sets aside the rest
 * of this cycle, except the mail that passes a barrier. The first barrier of a cycle sorts the
 * envelopes one by one. A later barrier of the same cycle only exchanges the sorted parts, unless
 * tr__mail_put_first was called meanwhile.
 */
void tr__mail_hold(struct cell *cell);
/**
 * Ends the barrier of an actor, when the last turn that is a barrier is over. The mail that was set
 * aside comes before all other mail, except replies and exceptions.
 */
void tr__mail_release(struct cell *cell);

/**
 * Puts a ring of messages that come back, such as unstashed messages, before the rest of this
 * cycle. So the actor handles them before all newer messages. If the actor has a barrier, these
 * messages wait until the barrier is over.
 */
void tr__mail_put_first(struct cell *cell, struct envelope *first);

/**
 * As mail_begin_cycle, but also for a cell with a barrier, and for mail in all mailboxes. If the
 * last cycle is unfinished, continues it with its next part.
 */
bool tr__mail_join(struct cell *cell);

/** Resumes an unfinished cycle: puts new replies and exceptions before the rest of that cycle. */
void tr__mail_resume_cycle(struct cell *cell);

/**
 * Begins a cycle: joins the content of the mailboxes in cell->cycle. Returns false if all mailboxes
 * are empty.
 */
static inline bool mail_begin_cycle(struct cell *cell)
{
    if (__builtin_expect(cell->flags & (CELL_MIXED | CELL_BARRIER), 0))
        return tr__mail_join(cell);
    TR_ASSERT_SLOW(!cell->cycle);
    cell->cycle = cell->notices;
    cell->notices = NULL;
    return cell->cycle;
}

/**
 * Whether messages of the current cycle are left. Messages that wait for the end of a barrier do
 * not count.
 */
static inline bool mail_is_unfinished(const struct cell *cell)
{
    if (cell->cycle || !cell->extra)
        return cell->cycle;
    const struct extra_mail *mail = &cell->extra->mail;
    return mail->late || (mail->held && !(cell->flags & CELL_BARRIER));
}

#endif
