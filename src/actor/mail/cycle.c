/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/mail/cycle.h"

#include "actor/cell/slots.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"

#include "base/assert.h"

/* Puts the ring `first` before `*ring`. */
static void ring_put_before(struct envelope **ring, struct envelope *first)
{
    ring_join(&first, ring);
    *ring = first;
}

/*
 * Puts the mail in cell->cycle back into the part that it came from, held or late. If it came from
 * neither, leaves it in cell->cycle.
 */
static void part_put_back(struct cell *cell)
{
    struct extra_mail *mail = &cell->extra->mail;
    if (mail->part != CYCLE_HELD && mail->part != CYCLE_LATE)
        return;
    ring_put_before(mail->part == CYCLE_HELD ? &mail->held : &mail->late, cell->cycle);
    cell->cycle = NULL;
    mail->part = CYCLE_ANSWERS;
}

/* Whether an envelope must wait until the barrier is over. */
static bool waits_for_barrier(const struct cell *cell, const struct envelope *envelope)
{
    if (cell->extra->durable && envelope->kind == ENVELOPE_EVENT)
        return true; /* a barrier of a durable actor holds events: mail_holds_events */
    return !kind_has(envelope->kind, MAIL_PASSES_BARRIER);
}

/* Divides the mail in cell->cycle among the three parts: see cycle.h. */
static void cycle_sort(struct cell *cell)
{
    struct extra_mail *mail = &cell->extra->mail;
    struct envelope *answers = NULL;
    struct envelope *held = NULL;
    struct envelope *late = NULL;
    while (cell->cycle) {
        struct envelope *envelope = ring_pop(&cell->cycle);
        bool is_held = waits_for_barrier(cell, envelope);
        ring_push(is_held ? &held : mail_is_answer(envelope) ? &answers : &late, envelope);
        mail->sorted++;
    }
    ring_put_before(&mail->held, held);
    ring_put_before(&mail->late, late);
    cell->cycle = answers;
    mail->part = CYCLE_ANSWERS;
}

void tr__mail_hold(struct cell *cell)
{
    struct extra_mail *mail = &cell->extra->mail;
    TR_ASSERT_SLOW(!(cell->flags & CELL_BARRIER));
    cell->flags |= CELL_BARRIER;
    part_put_back(cell);
    if (mail->is_impure) {
        ring_join(&cell->cycle, &mail->held);
        mail->part = CYCLE_ANY;
        mail->is_impure = false;
    }
    if (mail->part == CYCLE_ANY)
        cycle_sort(cell);
}

void tr__mail_release(struct cell *cell)
{
    TR_ASSERT_SLOW(cell->flags & CELL_BARRIER);
    TR_ASSERT_SLOW(!cell->extra->waits.barriers);
    part_put_back(cell);
    cell->flags &= (uint16_t)~CELL_BARRIER;
    /*
     * CELL_MIXED makes the run call tr__mail_join, because parts may be left, and asks may wait in
     * the mailboxes
     */
    cell->flags |= CELL_MIXED;
}

/* Puts the next part of an unfinished cycle into cell->cycle. Returns false if no part is left. */
static bool next_part(struct cell *cell)
{
    struct extra_mail *mail = &cell->extra->mail;
    bool is_held = mail->held && !(cell->flags & CELL_BARRIER);
    struct envelope **ring = is_held ? &mail->held : &mail->late;
    if (!*ring)
        return false;
    cell->cycle = *ring;
    *ring = NULL;
    mail->part = is_held ? CYCLE_HELD : CYCLE_LATE;
    return true;
}

/*
 * As tr__mail_join, but for a cell with a barrier: takes only answers, and the events that pass the
 * barrier.
 */
static bool join_passing(struct cell *cell)
{
    TR_ASSERT(cell->extra); /* the beginning of the barrier made the extra */
    struct extra_mail *mail = &cell->extra->mail;
    cell->flags &= (uint16_t)~CELL_MIXED;
    mail->part = CYCLE_ANSWERS;
    cell->cycle = cell->replies;
    cell->replies = NULL;
    ring_join(&cell->cycle, &cell->exceptions);
    if (!mail_holds_events(cell))
        ring_join(&mail->late, &cell->events);
    return cell->cycle || next_part(cell);
}

bool tr__mail_join(struct cell *cell)
{
    TR_ASSERT(!cell->cycle);
    if (cell->extra && next_part(cell))
        return true;
    if (cell->flags & CELL_BARRIER)
        return join_passing(cell);
    if (cell->extra) {
        cell->extra->mail.part = CYCLE_ANY;
        cell->extra->mail.is_impure = false;
    }
    cell->flags &= (uint16_t)~CELL_MIXED;
    cell->cycle = cell->replies;
    cell->replies = NULL;
    ring_join(&cell->cycle, &cell->exceptions);
    if (cell->extra)
        ring_join(&cell->cycle, &cell->extra->mail.requests);
    ring_join(&cell->cycle, &cell->notices);
    ring_join(&cell->cycle, &cell->events);
    if (cell->flags & CELL_CHANNELS)
        ring_join(&cell->cycle, &slots_channels(cell)->ready);
    return cell->cycle;
}

/* Removes and returns the replies and exceptions at the beginning of a cycle, as a ring. */
static struct envelope *take_first(struct cell *cell)
{
    struct envelope *first = NULL;
    while (cell->cycle) {
        struct envelope *next = (struct envelope *)(void *)cell->cycle->mail.next;
        if (!mail_is_answer(next))
            break;
        ring_push(&first, ring_pop(&cell->cycle));
    }
    return first;
}

void tr__mail_resume_cycle(struct cell *cell)
{
    struct envelope *first = NULL;
    if (cell->extra)
        part_put_back(cell);
    if (cell->extra && cell->extra->mail.part == CYCLE_ANSWERS) {
        first = cell->cycle;
        cell->cycle = NULL;
    } else {
        first = take_first(cell);
    }
    /* The cycle's own replies and exceptions are older, so they stay before the new ones. */
    ring_join(&first, &cell->replies);
    ring_join(&first, &cell->exceptions);
    ring_join(&first, &cell->cycle);
    cell->cycle = first;
}

void tr__mail_put_first(struct cell *cell, struct envelope *first)
{
    struct cell_extra *extra = cell->extra;
    if (!first)
        return;
    if (!extra || !(cell->flags & CELL_BARRIER)) {
        if (extra) {
            part_put_back(cell);
            extra->mail.part = CYCLE_ANY;
        }
        ring_put_before(&cell->cycle, first);
        return;
    }
    /*
     * All these messages wait for the end of this barrier. If some of them may pass a barrier,
     * is_impure makes the next barrier of this cycle sort the messages again.
     */
    const struct envelope *envelope = first;
    do {
        extra->mail.is_impure |= !waits_for_barrier(cell, envelope);
        envelope = (const struct envelope *)(const void *)envelope->mail.next;
    } while (envelope != first);
    ring_put_before(&extra->mail.held, first);
}
