/* SPDX-License-Identifier: Apache-2.0 */
/** What the actor layer knows of a durable actor: which hooks to call, and when. */
#ifndef ACTOR_CELL_DURABLE_H
#define ACTOR_CELL_DURABLE_H

#include "actor/cell/cell.h"

struct ask;
struct tr_why_report;
struct worker;
struct tr_self;
struct durable;

/** An answer that is not sent, because its asker is gone. */
struct durable_answer {
    uint64_t asker; /* bits of a ref */
    uint32_t ask;   /* number of the ask */
    const tr_type *type;
    const void *message;
    /* With `type` NULL, the request was refused: */
    int code;
    const char *text;
};

/** The functions that the layer above implements for its actors. */
struct durable_hooks {
    /** A turn is about to wait: a stretch ends. */
    void (*on_park)(struct tr_self *self);
    /** A turn that has waited runs again: a stretch begins. */
    void (*on_resume)(struct tr_self *self);
    /**
     * A turn was ended by tr_crash or by a fault: nothing of its stretch is stored. self->frame is
     * set. Returns what happens to the actor: `next`, unless the actor must not fail because of
     * this.
     */
    tr_next (*on_crash)(struct tr_self *self, tr_next next);
    /**
     * A turn reads a time or a random number: notes it, or replaces it while a record is run again.
     * `what` is an enum record_what of durable/record.h. self->frame is set.
     */
    void (*on_read)(struct tr_self *self, uint32_t what, uint64_t *number);
    /**
     * A request of a turn could not be sent. Returns true if it was answered all the same, because a
     * record is run again. Else *status is how it ends. self->frame is set.
     */
    bool (*on_unsent)(struct tr_self *self, const struct ask *ask, tr_status *status);
    /** A turn has answered a request whose asker is gone. */
    void (*on_lost_answer)(struct tr_self *self, const struct durable_answer *answer);
    /**
     * An ENVELOPE_STORED, sent by tr__stored_send, has arrived. Takes the envelope. The actor may
     * be stopping.
     */
    void (*on_stored)(struct worker *worker, struct cell *cell, struct envelope *envelope);
    /**
     * The actor is sealed and has nothing to do. It stops when may_stop is set. May be called more
     * than once.
     */
    void (*on_stop)(struct worker *worker, struct cell *cell);
    /** The actor stops, for any reason. */
    void (*on_leave)(struct worker *worker, struct cell *cell);
    /**
     * A message of the actor was taken out of its mailbox and got no turn: it had no handler, or
     * its deadline had passed.
     */
    void (*on_skipped)(struct worker *worker, struct cell *cell);
    /** The timer `wake_timer` of the actor has fired. */
    void (*on_wake_timer)(struct worker *worker, struct cell *cell);
    /**
     * Whether this memory belongs to the state as it was loaded. Such memory is freed only with the
     * incarnation.
     */
    bool (*has_loaded)(const struct durable *durable, const void *memory);
    /** Adds to the report the reasons why the actor does not sleep. */
    void (*why)(struct worker *worker, struct cell *cell, struct tr_why_report *report);
    /** The actor has ended. Frees `durable`. */
    void (*on_end)(struct worker *worker, struct cell *cell, struct durable *durable);
};

/** The first member of the record that the layer above keeps for an actor. */
struct durable {
    const struct durable_hooks *hooks;
    struct cell *cell;
    struct timer_node wake_timer; /* in worker->timers.wake_timers */
    tr_status refusal; /* what senders get while the actor is sealed: TR_STOPPED, TR_DESTROYING */
    bool may_stop;     /* of a sealed actor: everything is stored */
    bool has_stashed;  /* some message has had a turn and waits for another */
};

/** Returns the record that the layer above keeps for this actor; NULL: it is not durable. */
static inline struct durable *cell_durable(const struct cell *cell)
{
    return cell->extra ? cell->extra->durable : NULL;
}

#endif
