/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The origin of an actor, struct cell_origin: how the actor was spawned. An actor has its origin as
 * long as it may have to be set up again.
 */
#ifndef ACTOR_LIFE_ORIGIN_H
#define ACTOR_LIFE_ORIGIN_H

#include <troupe/self.h>

#include "actor/cell/cell.h"

struct memory_source;
struct slots;
struct worker;

/**
 * Returns the restart type that the arguments of a spawn give the actor: after which kinds of end
 * the actor is started again. Returns 0 if the arguments give none.
 */
static inline tr_restart spawn_restart(const tr_spawn_args *args)
{
    if (args->spec && args->spec->restart)
        return args->spec->restart;
    return args->behavior->options.restart;
}

/**
 * Makes the origin of an actor from the arguments of its spawn. `is_far`: the origin gets a struct
 * origin_rare, because the caller will write to it. A caller does so for an actor that is set up
 * only after the spawning call, and for an actor that comes back. Returns TR_OK, TR_NO_MEMORY or
 * TR_TOO_LARGE.
 */
TR_MUST_CHECK tr_status tr__origin_new(struct slots *slots, struct cell *cell,
                                       const tr_spawn_args *args, uint64_t spawner, bool is_far);
/**
 * Frees an origin. If the origin is beside its cell, its place stays in use until tr__origin_drop
 * or the end of the system.
 */
void tr__origin_free(const struct memory_source *source, struct cell_origin *origin);
/** Frees the origin of an actor, if it has one. */
void tr__origin_drop(struct worker *worker, struct cell *cell);
/**
 * Whether an actor that was set up still needs its origin. Returns false if the next set-up needs
 * only the current behavior and no message.
 */
bool tr__origin_is_needed(const struct cell *cell);

#endif
