/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors of the pool: children of /user that any thread may spawn by name. If several threads spawn
 * the same name at the same time, one actor is made.
 *
 * The first thread that registers the name wins. A new actor is complete, and its door is open,
 * before its name is registered. If several threads have made an actor for one name, the directory
 * takes one of these actors. The other threads free theirs before any other thread knows their
 * refs. So a thread that has found the name can send to the actor at once, and no thread waits for
 * another. From then on the actor is handled like one that a client has spawned. First it is posted
 * to the worker of /user, which puts it into the list of children. Then it is posted to its own
 * worker (docs/design/pool.md).
 *
 * The caller chooses the worker of the actor: see pool/spawn.c.
 *
 * An actor that always comes back keeps its name while it is away: no other actor can get the name.
 * The origin of the actor holds the name. While the actor is away, the record of its return has
 * this origin. The new actor gets an origin of its own before the old one is freed. So the origins
 * that hold a name are counted.
 */
#ifndef ACTOR_LIFE_POOLED_H
#define ACTOR_LIFE_POOLED_H

#include <troupe/name.h>
#include "actor/cell/system.h"

/** The parent and the path of a new actor. */
struct pooled_place {
    struct cell *parent; /* lives as long as the system, and stays on worker 0 */
    const char *path;
    uint32_t bits; /* flags of the new cell: CELL_POOLED, CELL_KEEPER, or 0 */
    /**
     * Called with the new actor. Returns true if it has taken the actor; then the worker of the
     * actor calls tr__pooled_begin later. Returns false if it has not taken the actor. This member
     * may be NULL.
     */
    bool (*defer)(void *context, struct cell *cell);
    void *context; /* passed to defer */
};

/** The spawner: a turn of an actor, or a client. */
struct pooled_spawner {
    struct worker *worker; /* NULL: a client */
    struct grace_reader *reader;
    uint64_t client; /* ref of the client, 0 for none */
    uint64_t causal;
};

/** The spec of an actor of the pool, with what the pool adds to it. */
struct pooled_spec {
    tr_child_spec spec;
    uint64_t hash; /* hash of the name */
    /* how many origins hold the name; 0: the actor does not come back any more */
    atom32 holds;
};

/**
 * If the actor of this origin comes back, makes the origin hold the name of the actor. The origin
 * must have a spec of the pool. No other thread knows the origin yet.
 */
void tr__pooled_hold(struct cell_origin *origin);
/** Undoes tr__pooled_hold. Does nothing if the origin holds no name. Any thread. */
void tr__pooled_let_go(const struct cell_origin *origin);

/**
 * Whether an actor of the pool's table, which is there or will come back, holds this name. Any
 * thread.
 */
static inline bool pooled_is_held(struct tr_system *system, const char *name)
{
    /* pairs with tr__pool_of */
    return atomptr_load(&system->pool.state, ATOM_ACQUIRE) && system->pool.holds(system, name);
}

/**
 * Begins a spawn below `parent` that no turn of `parent` makes. Until tr__spawn_leave, the keepers
 * (if `parent` is a keeper) or /user (otherwise) do not begin to stop. When they stop, they find
 * every child whose spawn was accepted. Returns TR_OK or TR_STOPPING. Any thread.
 */
TR_MUST_CHECK tr_status tr__spawn_enter(struct tr_system *system, const struct cell *parent,
                                        tr_error *error);
/**
 * Ends what tr__spawn_enter has begun. Called when the spawn has failed, or when the parent has the
 * child in its list. Also called when pooled_place.defer has taken the child: then another actor
 * keeps the child, and /user waits for that actor. Any thread.
 */
void tr__spawn_leave(struct tr_system *system, const struct cell *parent);
/**
 * Posts a new cell to its parent's worker. That worker calls tr__spawn_leave for the cell. `worker`
 * NULL: the caller is a foreign thread. Any thread.
 */
void tr__spawn_send_off(struct tr_system *system, struct worker *worker, struct cell *cell);

/** Bytes for the path of an actor of the pool. */
enum { POOLED_PATH_SIZE = sizeof "/user/" + TR_NAME_SIZE };

/**
 * Returns the ref of the actor of the pool with that name. Returns 0 if there is no such actor, if
 * it is stopping, or if it has another behavior. `behavior` NULL: any behavior. Any thread.
 */
uint64_t tr__pooled_find(struct tr_system *system, struct grace_reader *reader,
                         const tr_behavior *behavior, const char *name);

/**
 * Finds the actor with that name, or makes it if there is none. Does not check whether the name is
 * held. args->name is required, args->worker is where the actor will live, and args->spec is the
 * spec of a struct pooled_spec, or NULL. Returns what tr_try_pool_spawn returns. Any thread.
 */
TR_MUST_CHECK tr_status tr__pooled_spawn(struct tr_system *system,
                                         const struct pooled_spawner *spawner,
                                         const tr_spawn_args *args, uint64_t *ref_bits);

/**
 * As tr__pooled_spawn, but with any path and below any parent: uses place->path and not args->name.
 */
TR_MUST_CHECK tr_status tr__pooled_spawn_at(struct tr_system *system,
                                            const struct pooled_spawner *spawner,
                                            const struct pooled_place *place,
                                            const tr_spawn_args *args, uint64_t *ref_bits);

/**
 * Begins an actor that pooled_place.defer has taken. If an actor of this worker ends after this
 * call, the parent links the new actor first, and is notified of that end afterwards. Worker only.
 */
void tr__pooled_begin(struct worker *worker, struct cell *cell);

/**
 * As tr__pooled_spawn, but makes no actor. Returns TR_NOT_FOUND if there is none with that name.
 */
TR_MUST_CHECK tr_status tr__pooled_get(struct tr_system *system, struct grace_reader *reader,
                                       const tr_spawn_args *args, uint64_t *ref_bits);

#endif
