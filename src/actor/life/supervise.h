/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What happens to an actor that fails.
 *
 * A child and its parent, which may live on two workers, exchange mail of the runtime:
 *     FAILED   child to parent: the child is Suspended, or stops. Carries a struct failure, which
 *              has the cause.
 *     DECIDED  parent to child: restart (after a delay), resume, or stop. Uses the envelope and the
 *              record of the FAILED, so that a decision needs no memory.
 *     DOWN     parent to a member of a group: end this incarnation. Member to parent: that is done.
 *     UP       parent to a member of a group: begin a new incarnation. Member to parent: it runs.
 *              The child that failed also sends an UP (a tr_ready) when its delay is over: the
 *              parent may take the group down.
 * What has arrived is carried out later, between two turns of the actor (tr__cell_handle_control).
 *
 * The record of a failure has one owner at a time: the child, the envelope or the parent. It keeps
 * the restart history of a child: when it was restarted, and how often. Files: failure_record.c
 * has the record, supervision_mail.c takes the mail of both sides. failure.c is the child's side,
 * restart.c is how an incarnation follows another, and supervise.c, restart_group.c and place.c are
 * the parent's side.
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
    FAILURE_PAST, /* only the restart history is in use */
    /*
     * The parent has the record of the failure. This second record only keeps a DOWN that has come
     * meanwhile.
     */
    FAILURE_AWAY,
    FAILURE_DECIDED, /* the parent has decided, and the actor has still to carry out the decision */
    FAILURE_DELAYED, /* the actor is to be restarted when its delay is over */
    FAILURE_DUE,     /* the delay is over: the actor is to be restarted now */
    /* the actor has sent a tr_ready to the parent, which will take the group down */
    FAILURE_READY,
    /*
     * The incarnation is to end: the actor has got a DOWN, or the last function of tr_blocking has
     * returned.
     */
    FAILURE_ORDERED,
    FAILURE_TURNS,    /* the incarnation ends; it waits for a function of tr_blocking */
    FAILURE_CHILDREN, /* the incarnation ends; it waits for the children to end */
    /* the incarnation has ended; the actor waits for the other members of the group */
    FAILURE_DOWN,
    FAILURE_UP, /* the next incarnation is to begin */
    FAILURE_PHASE_COUNT
};

/**
 * Sent to the parent when the restart delay of the child that failed is over. The parent may
 * restart the group now.
 */
TR_MESSAGE(tr_ready, (u64, spec), (message(tr_error), cause));

struct failure {
    enum failure_phase phase; /* only failure_change of actor/life/failure_record.h writes this */
    uint64_t child;           /* the ref of the actor that failed or ended */
    /* for a group supervisor, the ref of its group address; 0 for other actors */
    uint64_t group;
    const tr_child_spec *spec; /* the spec of a child that TR_CHILD declares, or NULL */
    tr_restart restart;
    bool is_final;     /* the child stops, whatever the supervisor decides */
    bool has_no_state; /* the set-up failed: there is no incarnation that could resume */
    bool is_group;     /* other children are restarted together with this one */
    /* of a child that comes back as a new actor: the child belongs to the pool */
    bool is_pooled;
    const char *where;    /* what the actor was doing: a type of message, or a signal */
    uint32_t incarnation; /* from 0 */
    tr_directive directive;
    tr_time delay_ns;
    /*
     * The actor that waits for the delay. If `origin` is set, this is the parent, otherwise the
     * child.
     */
    struct cell *cell;
    struct timer_node delay; /* is on the timer wheel of the worker of `cell` */
    /* the envelope of a DOWN or UP; it goes back to the parent as the answer */
    struct envelope *answer;
    struct list link; /* in the list `returns` or `pasts` of the parent */
    /* The origin of a child that comes back as a new actor; NULL in all other records. */
    struct cell_origin *origin;
    /* of a child that comes back: the ref of the sibling before it; 0 if the child was the first */
    uint64_t before;
    bool has_place; /* `before` is kept up to date when the list changes; see place.c */
    /* A ring with the time of each restart within the window. */
    tr_time *times;
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
    uint32_t attempts; /* restarts in a row; the back-off depends on their number */
    tr_time last_ns;
    tr_error cause;
};

/* ---- A restart. Owner only. ---- */

/** Whether an actor that is being restarted waits for the end of its children. */
static inline bool restart_waits(const struct cell *cell)
{
    return cell->life == LIFE_STARTING && cell->extra && cell->extra->supervision.failure &&
           cell->extra->supervision.failure->phase == FAILURE_CHILDREN;
}

/* ---- The supervisor. Owner only. ---- */

/**
 * Handles CONTROL_CHILD: decides about children that have failed or ended. Returns false if the
 * actor stops because of this; then the actor may be gone.
 */
bool tr__supervise(struct worker *worker, struct cell *cell);
/**
 * Ends the supervision by an actor. Children that wait for its decision stop, and no child comes
 * back.
 */
void tr__supervise_end(struct worker *worker, struct cell *cell);
/**
 * Handles the end of a child. If the child is to come back, plans its return. The child must still
 * be in the list, so that its slot has no other tenant yet.
 */
void tr__supervise_gone(struct worker *worker, struct cell *parent, struct cell *child);
/** Returns how a child of this actor with this spec is supervised. `spec` may be NULL. */
const tr_supervision *tr__supervision_of(struct tr_system *system, const struct cell *parent,
                                         const tr_child_spec *spec);
/** Sends the parent a tr_child_failed about a child. Does nothing if the parent is /user. */
void tr__child_failed_signal(struct worker *worker, struct cell *parent, uint64_t child,
                             tr_directive directive, const tr_error *cause);

#endif
