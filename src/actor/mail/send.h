/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The inline ways to send an envelope: the fast path of a worker, and the way of other threads. The
 * other ways are in actor/mail/mail.h.
 */
#ifndef ACTOR_MAIL_SEND_H
#define ACTOR_MAIL_SEND_H

#include "actor/cell/post.h"
#include "actor/mail/capacity.h"
#include "actor/mail/kind.h"
#include "actor/mail/ready.h"
#include "base/assert.h"

/**
 * Whether a notice or an ask to this actor may take the fast path, if there is capacity for it. The
 * actor must belong to this worker, and nothing about it may be unusual. The owner is compared
 * first, because only the owner may read the flags.
 */
ATOM_INLINE bool mail_can_go_fast(const struct worker *worker, const struct cell *cell,
                                  enum envelope_kind kind)
{
    uint32_t slow = CELL_SLOW_SEND | (kind_box(kind) == MAIL_BOX_REQUESTS ? CELL_BY_KIND : 0);
    return cell_owner(cell) == worker->fast_owner && !(cell->flags & slow) &&
           !door_has_mail(&cell->door);
}

/**
 * As mail_can_go_fast, but also checks that there is capacity for a message inside its envelope.
 */
ATOM_INLINE bool mail_fits_fast(const struct worker *worker, const struct cell *cell,
                                enum envelope_kind kind)
{
    return mail_can_go_fast(worker, cell, kind) &&
           !mail_is_overdrawn(cell->stock_and_lines + MAIL_ONE_NOTICE);
}

/**
 * Sends an envelope that contains its message. mail_can_go_fast must be true. `stock_and_lines` is
 * the value after MAIL_ONE_NOTICE was added; it must not be overdrawn. The order of the branches
 * makes two cases fast: an idle actor without mail, and an actor that is not idle and has mail.
 */
static inline void mail_send_fast(struct worker *worker, struct cell *cell,
                                  struct envelope *envelope, uint64_t stock_and_lines)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    TR_ASSERT_SLOW(!mail_is_overdrawn(stock_and_lines));
    TR_ASSERT_SLOW(!(cell->flags & CELL_SLOW_SEND));
    /*
     * A durable turn must not come here, because its message would be sent before its changes are
     * on disk.
     */
    TR_ASSERT_SLOW(!worker->outbox_turn);
    cell->stock_and_lines = stock_and_lines;
    atom64_count(&worker->counters.accepted, 1);
    struct envelope *last = cell->notices;
    cell->notices = envelope;
    if (mail_is_idle(cell)) {
        envelope->mail.next = &envelope->mail;
        if (__builtin_expect(last != NULL, 0))
            ring_insert(last, envelope);
        cell_sched_change_from(cell, SCHED_WAITING, SCHED_READY);
        loop_enqueue(&worker->loop, &cell->task, TASK_NORMAL);
    } else if (last) {
        ring_insert(last, envelope);
    } else {
        envelope->mail.next = &envelope->mail;
    }
}

/** Sends an envelope that contains its message. mail_fits_fast must be true. */
static inline void mail_send_quickly(struct worker *worker, struct cell *cell,
                                     struct envelope *envelope)
{
    mail_send_fast(worker, cell, envelope, cell->stock_and_lines + MAIL_ONE_NOTICE);
}

/**
 * Sends an envelope for which the capacity was taken, or which needs no capacity. Returns TR_OK if
 * the envelope is accepted. Otherwise returns TR_STOPPED, and the envelope remains the caller's.
 * Any thread.
 */
ATOM_INLINE tr_status mail_push_outside(struct tr_system *system, struct cell *cell,
                                        struct envelope *envelope)
{
    /* read the kind before the push, because the envelope may be gone right after it */
    uint64_t is_counted = mail_counts(envelope);
    enum door_result result = door_push(&cell->door, &envelope->mail);
    if (result == DOOR_REFUSED)
        return TR_STOPPED;
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.accepted, is_counted);
    lock_give(&system->foreign.lock);
    if (result == DOOR_TAKEN_POST)
        tr__system_post(system, NULL, cell);
    return TR_OK;
}

#endif
