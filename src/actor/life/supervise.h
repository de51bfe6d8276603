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
 * restart.c how an incarnation follows another, supervise.c, restart_group.c and place.c the parent's side.
 */
#ifndef ACTOR_LIFE_SUPERVISE_H
#define ACTOR_LIFE_SUPERVISE_H

#include <troupe/supervision.h>
#include <troupe/status.h>
#include <troupe/message.h>

#include "actor/cell/cell.h"
#include "base/list.h"
#include "mem/envelope.h"
#include "timer/wheel.h"

struct tr_system;
struct worker;

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

/* ---- A restart. Owner only. ---- */

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

#endif
