/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How actors begin, and how they become another behavior.
 */
#ifndef ACTOR_LIFE_SPAWN_H
#define ACTOR_LIFE_SPAWN_H

#include "actor/cell/system.h"

/** A new cell was posted to a worker: links it to its parent, passes it on, or sets it up. */
void tr__spawn_mount(struct worker *worker, struct cell *cell);

/** Sends a new cell to a worker, which mounts it or passes it on. `counters` may be NULL. */
void tr__spawn_post(struct tr_system *system, struct counters *counters, struct cell *cell,
                    uint32_t to);

/** Puts a new cell that no parent has made into its parent's list. Worker 0 only. */
void tr__spawn_link(struct worker *worker, struct cell *cell);

/** Whether a spawn's arguments are sound. */
TR_MUST_CHECK tr_status tr__spawn_check(struct tr_system *system, const tr_spawn_args *args);

/** Keeps how an actor is to be set up. TR_NO_MEMORY, TR_TOO_LARGE. */
TR_MUST_CHECK tr_status tr__origin_new(const struct memory_source *source,
                                       const tr_spawn_args *args, uint64_t spawner,
                                       struct cell_origin **origin);
void tr__origin_free(const struct memory_source *source, struct cell_origin *origin);
/** Frees that of an actor, if it has one. */
void tr__origin_drop(struct worker *worker, struct cell *cell);

/**
 * Starts a child. As tr_try_spawn. *past, unless NULL, is what an earlier actor in its place has left;
 * it is taken, and then NULL, when the child is there, however that ends.
 */
TR_MUST_CHECK tr_status tr__spawn_below(struct worker *worker, struct cell *parent,
                                        const tr_spawn_args *args, uint64_t causal,
                                        struct failure **past, uint64_t *ref_bits);

/** PreStart, to an actor that runs. False when it runs no longer, and may be gone. */
bool tr__cell_pre_start(struct worker *worker, struct cell *cell, uint64_t causal);

/** Prepares a cell that nobody knows yet: name, origin, identity; its door stays closed. */
TR_MUST_CHECK tr_status tr__spawn_prepare(struct tr_system *system, struct slot_cache *cache,
                                          struct cell *parent, const tr_spawn_args *args,
                                          uint64_t spawner, bool keeps_origin, struct cell **cell);

#endif
