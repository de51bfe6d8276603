/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Starting actors.
 */
#ifndef ACTOR_LIFE_SPAWN_H
#define ACTOR_LIFE_SPAWN_H

#include "actor/cell/system.h"

/** As spawn_args_read, for arguments of any size. `args` may be NULL. Any thread. */
const tr_spawn_args *tr__spawn_args_read(const tr_spawn_args *args, tr_spawn_args *copy);

/**
 * Returns the arguments of a spawn as this library has them. If the program was compiled with a
 * struct of another size, this is a copy in *copy, otherwise `args` itself. Returns NULL if there
 * are no arguments, or if they have a member that this library does not know. Any thread.
 */
static inline const tr_spawn_args *spawn_args_read(const tr_spawn_args *args, tr_spawn_args *copy)
{
    if (__builtin_expect(args && args->size == sizeof *args, 1))
        return args;
    return tr__spawn_args_read(args, copy);
}

/** The error text for arguments for which spawn_args_read returns NULL. */
#define SPAWN_ARGS_FAULT                                                                           \
    "invalid arguments: missing, or with members that this library does not have"

/**
 * As spawn_args_read, but always copies. Returns false where spawn_args_read returns NULL. Any
 * thread.
 */
static inline bool spawn_args_copy(const tr_spawn_args *args, tr_spawn_args *copy)
{
    const tr_spawn_args *read = spawn_args_read(args, copy);
    if (read && read != copy)
        *copy = *read;
    return read != NULL;
}

/**
 * Handles a new cell that was posted to this worker: links the cell to its parent, posts it to its
 * own worker, or sets it up. Worker only.
 */
void tr__spawn_mount(struct worker *worker, struct cell *cell);

/** Posts a new cell to the worker `to`, which calls tr__spawn_mount. `counters` may be NULL. */
void tr__spawn_post(struct tr_system *system, struct counters *counters, struct cell *cell,
                    uint32_t to);

/** Adds a new child that was spawned from outside to the list of its parent. Worker 0 only. */
void tr__spawn_link(struct worker *worker, struct cell *cell);

/**
 * Checks arguments that spawn_args_read has returned. Returns TR_OK; on any other status, its text
 * is in args->error.
 */
TR_MUST_CHECK tr_status tr__spawn_check(struct tr_system *system, const tr_spawn_args *args);

/**
 * Starts a child. Returns what tr_try_spawn returns. `past` is NULL, except for a child that takes
 * the place of an earlier actor: then *past is the record of that actor. When the child is linked,
 * it takes the record, and *past becomes NULL, even if the start fails afterwards. Owner of the
 * parent only.
 */
TR_MUST_CHECK tr_status tr__spawn_below(struct worker *worker, struct cell *parent,
                                        const tr_spawn_args *args, uint64_t causal,
                                        struct failure **past, uint64_t *ref_bits);

/**
 * Calls the tr_pre_start handler of an actor that is Running. Returns false if the actor does not
 * run any more; then it may be gone. Owner only.
 */
bool tr__cell_pre_start(struct worker *worker, struct cell *cell, uint64_t causal);

/**
 * Prepares a cell that no other thread knows yet: gives it its identity, its name and, if it needs
 * one, its origin. The door of the cell (queue/door.h) stays closed: no sender can reach the actor
 * yet.
 */
TR_MUST_CHECK tr_status tr__spawn_prepare(struct tr_system *system, struct slot_cache *cache,
                                          struct cell *parent, const tr_spawn_args *args,
                                          uint64_t spawner, bool keeps_origin, struct cell **cell);

#endif
