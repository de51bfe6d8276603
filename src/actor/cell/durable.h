/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface between the actor layer and durable actors: hooks, and when they are called.
 */
#ifndef ACTOR_CELL_DURABLE_H
#define ACTOR_CELL_DURABLE_H

#include "actor/cell/cell.h"

struct tr_why_report;
struct worker;
struct tr_self;

/** An answer of a durable actor that is not sent, because its asker is gone. */
struct durable_answer {
    uint64_t asker; /* the ref of the asker */
    uint32_t ask;   /* number of the ask */
    const tr_type *type;
    const void *message;
    /* The members below are used only if the request was refused; then `type` is NULL. */
    int code;
    const char *text;
};

/** The functions that src/durable implements for durable actors. */
struct durable_hooks {
    /**
     * Ends a stretch, because the turn is about to wait. If the turn must not wait now, does nothing
     * and returns another status than TR_OK.
     */
    tr_status (*on_park)(struct tr_self *self);
    /** Begins a stretch, because a turn that has waited runs again. */
    void (*on_resume)(struct tr_self *self);
    /**
     * Called when tr_crash or a fault has ended a turn. Nothing of the turn's last stretch is
     * stored. self->frame is set. Returns what happens to the actor: `next`, or another value if
     * the actor must not fail because of this end.
     */
    tr_next (*on_crash)(struct tr_self *self, tr_next next);
    /** Notes that the waiting turns of this actor were abandoned, because a fault was trapped. */
    void (*on_abandon)(struct durable *durable);
    /** Handles an answer that a turn could not send, because its asker is gone. */
    void (*on_lost_answer)(struct tr_self *self, const struct durable_answer *answer);
    /**
     * Handles a tr_refuse in a turn that has no request. Returns false if the tr_refuse has no
     * effect.
     */
    bool (*on_refuse)(struct tr_self *self);
    /**
     * Handles an ENVELOPE_STORED that has arrived; tr__stored_send has sent it. Takes the envelope.
     * The actor may be stopping.
     */
    void (*on_stored)(struct worker *worker, struct cell *cell, struct envelope *envelope);
    /**
     * Prepares the stop of an actor that is sealed and has nothing else to do. The actor stops when
     * durable.may_stop is set. May be called more than once.
     */
    void (*on_stop)(struct worker *worker, struct cell *cell);
    /** Notes that the actor stops, for any reason. */
    void (*on_leave)(struct worker *worker, struct cell *cell);
    /**
     * Notes that a message left the actor's mailbox without a turn: there was no handler for it, or
     * its deadline had passed.
     */
    void (*on_skipped)(struct worker *worker, struct cell *cell);
    /** Called when the timer `wake_timer` of the actor has fired. */
    void (*on_wake_timer)(struct worker *worker, struct cell *cell);
    /**
     * Whether this memory is in the block that the loaded state came in. Such memory is freed only
     * with the incarnation.
     */
    bool (*has_loaded)(const struct durable *durable, const void *memory);
    /** Adds to the report the reasons why the actor does not sleep. */
    void (*why)(struct worker *worker, struct cell *cell, struct tr_why_report *report);
    /** Frees `durable`, because the actor has ended. */
    void (*on_end)(struct worker *worker, struct cell *cell, struct durable *durable);
};

#endif
