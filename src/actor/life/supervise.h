/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What becomes of an actor that fails.
 *
 * Between a child and its parent, who may live on two workers, goes mail of the runtime's own:
 *     FAILED   child to parent: it is Suspended, and this is why. Carries a struct failure.
 *     DECIDED  parent to child: restart (after a delay), resume, or stop. The same envelope, and the
 *              same record, so that a decision needs no memory.
 *     DOWN     parent to a member of a group: end this incarnation; and back: that is done
 *     UP       parent to that member: begin a new one; and back: it runs; also from the child whose
 *              failure it was: its delay is over, the group may go down
 * What has arrived is carried out between two turns of who it is for (tr__cell_handle_control).
 *
 * The record of a failure belongs to whoever has it: the child, the envelope, the parent. It keeps
 * the past of a child: when it was restarted, how often. Files: failure.c is the child's side,
 * restart.c how an incarnation follows another, supervise.c, group.c and place.c the parent's side.
 */
#ifndef ACTOR_LIFE_SUPERVISE_H
#define ACTOR_LIFE_SUPERVISE_H

#include "actor/mail/mail.h"

enum failure_phase {
    FAILURE_PAST,     /* nothing is going on */
    FAILURE_AWAY,     /* the parent has the record; this one keeps an order that came meanwhile */
    FAILURE_DECIDED,  /* to be carried out */
    FAILURE_DELAYED,  /* it is to be restarted later */
    FAILURE_DUE,      /* ... now */
    FAILURE_READY,    /* the parent knows, and takes the group down */
    FAILURE_ORDERED,  /* to go down with a group */
    FAILURE_TURNS,    /* going down: a function of tr_blocking has not returned */
    FAILURE_CHILDREN, /* going down: children have not ended */
    FAILURE_DOWN,     /* waits for the others of its group */
    FAILURE_UP        /* to begin anew */
};

/** The child whose failure it was may be restarted, and those who go along. */
TR_MESSAGE(tr_ready, (u64, spec), (message(tr_error), cause));

struct failure {
    enum failure_phase phase;
    uint64_t child;            /* its ref */
    uint64_t group;            /* of a group supervisor: the ref by which it is known; else 0 */
    const tr_child_spec *spec; /* of a TR_CHILD, or NULL */
    tr_restart restart;
    bool is_final;        /* it stops, whatever the supervisor says */
    bool has_no_state;    /* its set-up failed: there is no incarnation to go on with */
    bool is_group;        /* others are restarted with it */
    bool is_pooled;       /* of one that comes back as a new actor: it is of the pool */
    const char *where;    /* what it was doing: a type of message, or a signal */
    uint32_t incarnation; /* from 0 */
    tr_directive directive;
    tr_time delay_ns;
    struct cell *cell;       /* who waits for that */
    struct timer_node delay; /* on the wheel of his worker */
    struct envelope *answer; /* of an order: what goes back when it is carried out */
    struct list link;        /* of one that comes back as a new actor: with others of its parent */
    struct cell_origin *origin; /* and how */
    uint64_t before;            /* the sibling before it, 0: it was the first */
    bool has_place;             /* and that is looked after; see place.c */
    /* Restarts within the window, a ring; and those in a row, for the back-off. */
    tr_time *times;
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
    uint32_t attempts;
    tr_time last_ns;
    tr_error cause;
};

/** A FAILED, DECIDED, DOWN or UP has arrived; takes it. Owner only. */
void tr__supervision_mail(struct worker *worker, struct cell *cell, struct envelope *envelope);

/* ---- The child. Owner only. ---- */

/**
 * An actor has failed, Running, Suspended, or Starting again: it is Suspended until its supervisor has
 * decided. False when it stops instead, and may be gone. `where` is a constant, or NULL.
 */
bool tr__cell_fail(struct worker *worker, struct cell *cell, const char *where,
                   const tr_error *error);
/** Suspends an actor because it has failed, or as if it had; its life is changed already. */
void tr__failure_pause(struct worker *worker, struct cell *cell);
/** A child did not start, which its parent has not been told yet: a tr_child_failed. */
void tr__failure_tell(struct worker *worker, struct cell *cell, const tr_error *error);
/** CONTROL_DECIDED was found. False when the actor does not go on as it is, and may be gone. */
bool tr__failure_handle_control(struct worker *worker, struct cell *cell);
/** An order ends an actor that has failed and waits: that is why it ends, and not its failure. */
void tr__failure_overrule(struct cell *cell);
/** Delays that are over. */
void tr__delays_fire(struct worker *worker, tr_time now_ns);
/** Frees a record, wherever it is. NULL does nothing. */
void tr__failure_free(struct worker *worker, struct failure *failure);
/** An actor ends: frees its record, or leaves it to the one that comes back. */
void tr__failure_leave(struct worker *worker, struct cell *cell);
/** The same of one that is over, and in nobody's hands. */
void tr__failure_forget(const struct memory_source *source, struct failure *failure);
/** Which ends of an actor are followed by a new start. */
tr_restart tr__restart_of(const struct cell *cell);
/** What a child that has ended leaves, out of its cell, or a new one; NULL when out of memory. */
struct failure *tr__failure_past(struct worker *worker, struct cell *cell);
/**
 * A child has ended while its parent had its record, and that is this one: what it says of the past
 * goes to the origin of the child. Takes the record unless it `is_lent`.
 */
void tr__failure_return(struct worker *worker, struct cell *child, struct failure *failure,
                        bool is_lent);
/** The record of an actor; NULL when out of memory. */
struct failure *tr__failure_of(struct worker *worker, struct cell *cell);

/* ---- A restart. Owner only. ---- */

/** Ends an incarnation and begins the next; waits for children, and for a group, in between. */
void tr__cell_restart(struct worker *worker, struct cell *cell);
/** A function of tr_blocking has returned: a restart may have waited for it. */
void tr__restart_unblocked(struct worker *worker, struct cell *cell);
/** Orders to an actor that is being restarted. It may be gone. */
void tr__restart_handle_control(struct worker *worker, struct cell *cell, uint32_t bits);
/** Whether an actor waits for its children in order to be restarted. */
static inline bool restart_waits(const struct cell *cell)
{
    return cell->life == LIFE_STARTING && cell->extra && cell->extra->supervision.failure &&
           cell->extra->supervision.failure->phase == FAILURE_CHILDREN;
}

/* ---- The supervisor. Owner only. ---- */

/** CONTROL_CHILD was found. False when the actor has failed by it, and may be gone. */
bool tr__supervise(struct worker *worker, struct cell *cell);
/** It decides no more: its children stop. */
void tr__supervise_end(struct worker *worker, struct cell *cell);
/** A child has ended; it is in the list still, and its cell is its own. */
void tr__supervise_gone(struct worker *worker, struct cell *parent, struct cell *child);
/** How a child of this actor is treated. */
const tr_supervision *tr__supervision_of(struct tr_system *system, const struct cell *parent,
                                         const tr_child_spec *spec);
/** Tells the parent of a child, unless it is /user. */
void tr__child_failed_signal(struct worker *worker, struct cell *parent, uint64_t child,
                             tr_directive directive, const tr_error *cause);

/* ---- The places of children that come back. Owner of the parent only. ---- */

/** A child is gone, is still in the list, and is to come back: notes where. */
void tr__place_note(struct worker *worker, struct cell *parent, const struct cell *child,
                    struct failure *failure);
/** It comes back now: the sibling behind which it belongs, 0: it is the first, or TR__PLACE_LAST. */
uint64_t tr__place_find(struct worker *worker, struct cell *parent, const struct failure *failure);
/** The child that was this one is back, or does not come back: `now` stands for it. */
void tr__place_replace(struct cell *parent, uint64_t child, uint64_t now);
/** A child is gone for good, and still in the list. */
void tr__place_close(struct worker *worker, struct cell *parent, const struct cell *child);

#define TR__PLACE_LAST UINT64_MAX

/* ---- A group. Owner of the parent only. ---- */

/** Restarts those who go along with this child. False: no memory, and nothing was done. */
TR_MUST_CHECK bool tr__restart_group_begin(struct worker *worker, struct cell *parent,
                                           const tr_supervision *how, uint64_t child,
                                           const tr_error *cause);
/** A member has failed: all wait until its delay is over. */
void tr__restart_group_pause(struct cell *parent, uint64_t child);
/** A member has answered with DOWN or UP, or has ended (kind ENVELOPE_VOID). */
void tr__restart_group_answer(struct worker *worker, struct cell *parent, uint64_t child,
                              enum envelope_kind kind);
/** Kills those who go along with this child. */
void tr__restart_group_kill(struct worker *worker, struct cell *parent, const tr_supervision *how,
                            uint64_t child);
/** The parent ends, or begins anew: no group any more. */
void tr__restart_group_free(struct worker *worker, struct cell *parent);

#endif
