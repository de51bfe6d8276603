/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lists of actors, from what any thread may see of a cell (actor/cell/view.h).
 *
 * A cell is never freed while its system lives, so a list is a walk over all slots. A cell may get
 * another actor while it is read. In that case its identity has changed, and the row is dropped.
 */
#ifndef OBSERVE_ACTORS_H
#define OBSERVE_ACTORS_H

#include <troupe/observe.h>

struct cell;

/** What a walk over all slots reads of an actor before it reads the path. */
struct actor_glance {
    uint64_t ref;
    const struct cell *cell;
    const tr_behavior *behavior; /* behavior of the actor; NULL: not set up yet */
    uint32_t owner; /* index of the actor's worker; an index that is not valid: it has no worker */
    uint32_t queued;
    uint32_t queued_max;
    uint64_t queued_bytes;
    uint32_t children;
    uint8_t life; /* enum life */
    bool is_ready;
    bool has_extra; /* as in struct view_glance */
};

/** Reads one slot. Returns false if the slot has no actor. Any thread. */
bool tr__actor_glance(tr_system *system, uint32_t slot, struct actor_glance *glance);

/**
 * Whether `cell` is the actor with the ref `below`, or one that it has started, at any depth. Any
 * thread.
 */
bool tr__actor_is_below(tr_system *system, const struct cell *cell, uint64_t below);

/** Fills in all members of a row. Returns false if the actor has ended. Any thread. */
bool tr__actor_describe(tr_system *system, const struct actor_glance *glance, tr_actor_info *info);

#endif
