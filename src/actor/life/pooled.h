/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors of the pool: children of /user that anybody may spawn by name, from any thread, and that are
 * there once however many do so at the same time.
 *
 * Who is first decides. A new actor is complete, its door open, before its name is registered; of
 * several that were made for one name the directory takes one, and the others are given back before
 * anybody has heard of them. So whoever has found the name can tell its actor something, and nobody
 * waits for another thread. The actor then goes the way of one that a client spawns: to the worker of
 * /user, which puts it into the list of children, and to its own (docs/design/pool.md).
 *
 * Where it is to live the caller says: see pool/spawn.c.
 *
 * One that always comes back has its name also while it is away: nobody else is made in its place. What
 * knows of both, the actor and its return, is its origin, so origins are counted.
 */
#ifndef ACTOR_LIFE_POOLED_H
#define ACTOR_LIFE_POOLED_H

#include "actor/cell/system.h"

/** Below whom, and where, an actor is made. */
struct pooled_place {
    struct cell *parent; /* it lives as long as the system, and stays on worker 0 */
    const char *path;
    uint32_t bits; /* CELL_POOLED, CELL_KEEPER, or 0 */
    /** Whether a new one is to begin later, when somebody calls tr__pooled_begin for it. May be NULL. */
    bool (*defer)(void *context, struct cell *cell);
    void *context; /* of defer */
};

/** Who spawns: a turn of an actor, or a client. */
struct pooled_spawner {
    struct worker *worker; /* NULL: a client */
    struct grace_reader *reader;
    uint64_t client; /* its ref, 0 for none */
    uint64_t causal;
};

/** What the spec of an actor of the pool is the first member of. */
struct pooled_spec {
    tr_child_spec spec;
    uint64_t hash; /* of the name */
    atom32 holds;  /* origins of actors that always come back: 0 when it is gone for good */
};

/** An origin with the spec of the pool, which nobody else knows yet, holds its name. */
void tr__pooled_hold(struct cell_origin *origin);
/** It does so no more, if it did. */
void tr__pooled_let_go(const struct cell_origin *origin);

/** Whether this is the name of one of the pool's table that is there or will be again. Any thread. */
static inline bool pooled_is_held(struct tr_system *system, const char *name)
{
    /* partner: tr__pool_of */
    return atomptr_load(&system->pool.state, ATOM_ACQUIRE) && system->pool.holds(system, name);
}

/**
 * A spawn below `parent` that `parent` does not make itself, from whatever thread, is about to begin: until
 * tr__spawn_leave, /user or (if `parent` is one) the keepers do not begin to stop, so that they find every child
 * whose spawn was accepted. TR_STOPPING. Any thread.
 */
TR_MUST_CHECK tr_status tr__spawn_enter(struct tr_system *system, const struct cell *parent,
                                        tr_error *error);
/**
 * The spawn has failed, the parent has the child in its list, or another actor holds the child and /user waits
 * for that actor. Any thread.
 */
void tr__spawn_leave(struct tr_system *system, const struct cell *parent);
/** Posts a new cell to its parent's worker, which leaves for it. `worker` NULL: a foreign thread. */
void tr__spawn_send_off(struct tr_system *system, struct worker *worker, struct cell *cell);

/** Bytes for the path of an actor of the pool. */
enum { POOLED_PATH_SIZE = sizeof "/user/" + TR_NAME_MAX };

/**
 * The actor of the pool at that name; 0 when none runs, also while it stops, or when it has another
 * behavior. NULL: any behavior. Any thread.
 */
uint64_t tr__pooled_find(struct tr_system *system, struct grace_reader *reader,
                         const tr_behavior *behavior, const char *name);

/**
 * The actor of that name, made if there is none, whether it is held or not. args->name is needed,
 * args->worker is where it will live, args->spec that of a struct pooled_spec, or NULL. As
 * tr_try_pool_spawn. Any thread.
 */
TR_MUST_CHECK tr_status tr__pooled_spawn(struct tr_system *system,
                                         const struct pooled_spawner *spawner,
                                         const tr_spawn_args *args, uint64_t *ref_bits);

/** As tr__pooled_spawn, of any path and below any parent; args->name is not looked at. */
TR_MUST_CHECK tr_status tr__pooled_spawn_at(struct tr_system *system,
                                            const struct pooled_spawner *spawner,
                                            const struct pooled_place *place,
                                            const tr_spawn_args *args, uint64_t *ref_bits);

/**
 * Lets one begin that was deferred. Its parent has it in its list before it hears of an actor that ends
 * on this worker later. Worker only.
 */
void tr__pooled_begin(struct worker *worker, struct cell *cell);

/** The same when it is there: TR_NOT_FOUND when it is not, and has to be made. */
TR_MUST_CHECK tr_status tr__pooled_get(struct tr_system *system, struct grace_reader *reader,
                                       const tr_spawn_args *args, uint64_t *ref_bits);

#endif
