/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the actor layer knows of an actor whose state is on disk: whom to call, and when.
 */
#ifndef ACTOR_CELL_DURABLE_H
#define ACTOR_CELL_DURABLE_H

#include "actor/cell/cell.h"

struct tr_why_report;
struct worker;
struct tr_self;
struct durable;

/** What the layer above does for its actors. */
struct durable_hooks {
    /** A turn is about to wait: a stretch ends. */
    void (*on_park)(struct tr_self *self);
    /** It goes on: another one begins. Cancelled ones too. */
    void (*on_resume)(struct tr_self *self);
    /**
     * A turn was left by tr_crash, or by a fault: nothing of its stretch is kept. self->frame is set.
     * Gives what becomes of the actor, `next` unless it is not to fail for this.
     */
    tr_next (*on_crash)(struct tr_self *self, tr_next next);
    /** An ENVELOPE_STORED has arrived, sent by tr__stored_send; takes it. The cell may be stopping. */
    void (*on_stored)(struct worker *worker, struct cell *cell, struct envelope *envelope);
    /** It is sealed and has nothing to do: it stops when may_stop is set. May come more than once. */
    void (*on_stop)(struct worker *worker, struct cell *cell);
    /** It stops, whatever the reason. */
    void (*on_leave)(struct worker *worker, struct cell *cell);
    /** A message of it was taken out of its mailbox and had no turn: no handler, or its time was up. */
    void (*on_skipped)(struct worker *worker, struct cell *cell);
    /** Its timer, `wake_timer`, has fired. */
    void (*on_wake_timer)(struct worker *worker, struct cell *cell);
    /** Whether this is memory of the state as it was loaded, which is freed with the incarnation only. */
    bool (*has_loaded)(const struct durable *durable, const void *memory);
    /** Adds the reasons why it does not sleep. */
    void (*why)(struct worker *worker, struct cell *cell, struct tr_why_report *report);
    /** It has ended, and is freed. */
    void (*on_end)(struct worker *worker, struct cell *cell, struct durable *durable);
};

/** The first member of what the layer above keeps of an actor. */
struct durable {
    const struct durable_hooks *hooks;
    struct cell *cell;
    struct timer_node wake_timer; /* of worker->wake_timers */
    tr_status refusal; /* what senders get while it is sealed: TR_STOPPED, TR_DESTROYING */
    bool may_stop;     /* of a sealed one: all is written */
};

/** What the layer above keeps of this actor; NULL: it is not durable. */
static inline struct durable *cell_durable(const struct cell *cell)
{
    return cell->extra ? cell->extra->durable : NULL;
}

#endif
