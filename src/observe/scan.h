/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A walk over all actors in steps, so that the thread of the control socket never keeps a client
 * waiting for the actors of a large program. Also has what several walks look for: the fullest
 * mailboxes.
 */
#ifndef OBSERVE_SCAN_H
#define OBSERVE_SCAN_H

#include "observe/actors.h"

enum {
    SCAN_STEP_US = 200,    /* how long one step takes at most */
    SCAN_STEP_SLOTS = 8192 /* slots that one step reads at most */
};

/** A walk. Set `system`; all other members begin as 0. */
struct scan {
    tr_system *system;
    uint32_t slot; /* the slot that is read next; 0: the walk has not started */
    uint32_t end;  /* how many slots there were when the walk began */
};

/** Called for each actor. */
typedef void scan_visit(void *context, const struct actor_glance *glance);

/**
 * Visits actors for at most SCAN_STEP_US. Returns true when all have been visited. An actor that
 * exists from the first step to the last one is visited once. One thread.
 */
bool tr__scan_step(struct scan *scan, scan_visit *visit, void *context);

enum { FULLEST_MAX = 100 };

/** The fullest mailboxes that were found so far, the fullest first. */
struct fullest {
    uint32_t queued_min; /* the fewest messages that a mailbox must have to be among them */
    uint32_t max;        /* how many mailboxes are wanted, at most FULLEST_MAX */
    uint32_t count;
    struct actor_glance found[FULLEST_MAX];
};

/** A scan_visit; `context` is a struct fullest. */
void tr__fullest_take(void *context, const struct actor_glance *glance);
/** Describes the actors that have not ended meanwhile. Returns how many, at most fullest->count. */
size_t tr__fullest_describe(const struct fullest *fullest, tr_system *system, tr_actor_info *infos);

#endif
