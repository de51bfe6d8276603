/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The messages of timers and receive timeouts. Each one is an envelope in the mailbox of events of
 * its actor. All functions: owner only.
 */
#ifndef ACTOR_TIME_TIMER_EVENT_H
#define ACTOR_TIME_TIMER_EVENT_H

#include "actor/cell/worker.h"
#include "actor/mail/kind.h"
#include "actor/mail/mail.h"
#include "actor/mail/ready.h"
#include "base/assert.h"

/** A delivery that has failed for lack of memory is tried again after this time. */
#define TIMER_RETRY_NS TR_MILLISECOND

/**
 * Whether a duration is valid: 0 to 292 years. A negative duration is an error. A duration that is
 * too long overflows, and so is negative too.
 */
static inline bool timer_is_duration(tr_time ns)
{
    return ns >= 0;
}

/** Counts an envelope as mail and puts it into the mailbox of events of its actor. */
static inline void timer_event_deliver(struct worker *worker, struct cell *cell,
                                       struct envelope *envelope)
{
    TR_ASSERT_SLOW(cell_is_mine(worker, cell));
    atom64_count(&worker->counters.accepted, 1);
    mail_count(cell, envelope);
    cell->flags |= CELL_MIXED;
    ring_push(&cell->events, envelope);
    if (mail_is_idle(cell))
        mail_make_ready(worker, cell);
}

/**
 * Voids a message of a timer that waits in a mailbox. Also takes it out of the count `accepted`, as
 * if the message had never been sent.
 */
static inline void timer_event_void(struct worker *worker, struct envelope *envelope)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    TR_ASSERT(envelope != NULL);
    TR_ASSERT(envelope->kind == ENVELOPE_EVENT);
    atom64_count(&worker->counters.accepted, UINT64_MAX);
    envelope->kind = ENVELOPE_VOID;
    envelope->sender = 0;
}

#endif
