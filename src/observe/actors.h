/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lists of actors. They show what any thread may see of a cell (actor/cell/view.h).
 *
 * No cell is freed while its system exists, so a list is a walk over all slots. A cell may get
 * another actor while this thread reads the cell. In that case the identity of the cell has
 * changed, and the row is dropped.
 */
#ifndef OBSERVE_ACTORS_H
#define OBSERVE_ACTORS_H

#include <troupe/observe.h>

struct cell;

/** What a walk over all slots first reads of an actor. It reads the path only later. */
struct actor_glance {
    uint64_t ref;
    const struct cell *cell;
    const tr_behavior *behavior; /* NULL: the actor is not set up yet */
    uint32_t owner; /* index of the actor's worker; if the index is not valid, the actor has none */
    uint32_t queued;
    uint32_t queued_max;
    uint64_t queued_bytes;
    uint32_t children;
    uint8_t life; /* enum life */
    bool is_ready;
    bool has_extra; /* see struct view_glance */
};

/** Reads one slot. Returns false if the slot has no actor. Any thread. */
bool tr__actor_glance(tr_system *system, uint32_t slot, struct actor_glance *glance);

/**
 * Whether `cell` is the actor with the ref `below`, or a descendant of that actor at any depth. Any
 * thread.
 */
bool tr__actor_is_below(tr_system *system, const struct cell *cell, uint64_t below);

/** Fills in all members of a row. Returns false if the actor has ended. Any thread. */
bool tr__actor_describe(tr_system *system, const struct actor_glance *glance, tr_actor_info *info);

#endif
