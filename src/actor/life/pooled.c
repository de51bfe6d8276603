/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/pooled.h"

#include <string.h>

#include "actor/cell/log.h"
#include "actor/cell/names.h"
#include "actor/cell/slots.h"
#include "actor/life/keepers.h"
#include "actor/life/origin.h"
#include "actor/life/spawn.h"
#include "actor/mail/capacity.h"

/*
 * Writes the path of an actor of the pool with this name. Returns the length of the path, or 0 if
 * the name is not allowed.
 */
static size_t path_write(char *path, const char *name)
{
    static const char group[] = "/user/";
    size_t length = name ? strnlen(name, TR_NAME_SIZE) : 0;
    if (!length || length >= TR_NAME_SIZE)
        return 0;
    memcpy(path, group, sizeof group - 1);
    memcpy(path + sizeof group - 1, name, length + 1);
    return sizeof group - 1 + length;
}

uint64_t tr__pooled_find(struct tr_system *system, struct grace_reader *reader,
                         const tr_behavior *behavior, const char *name)
{
    char path[POOLED_PATH_SIZE];
    size_t length = path_write(path, name);
    if (!length)
        return 0;
    struct names_found found = tr__names_look(system->names, reader, path, length);
    if (!found.ref || !found.behavior || (behavior && found.behavior != behavior))
        return 0;
    return slots_find(system->slots, found.ref) ? found.ref : 0;
}

/*
 * Checks that the actor at the path is what the caller wants. Returns TR_OK, TR_NAME_EXISTS or
 * TR_STOPPING.
 */
static tr_status accept(struct tr_system *system, const tr_spawn_args *args, const char *path,
                        struct names_found found, uint64_t *ref_bits)
{
    if (found.behavior != args->behavior) {
        tr__error_set(args->error,
                      TR_NAME_EXISTS,
                      found.ref,
                      "%s: %s is %s%s",
                      tr_status_text(TR_NAME_EXISTS),
                      path,
                      found.behavior ? "a " : "not an actor of the pool",
                      found.behavior ? found.behavior->name : "");
        return TR_NAME_EXISTS;
    }
    if (!slots_find(system->slots, found.ref)) {
        tr__error_set(args->error, TR_STOPPING, found.ref, "%s is stopping", path);
        return TR_STOPPING;
    }
    *ref_bits = found.ref;
    return TR_OK;
}

static struct pooled_spec *spec_of(const struct cell_origin *origin)
{
    return (struct pooled_spec *)(uintptr_t)origin_rare(origin)->spec;
}

void tr__pooled_hold(struct cell_origin *origin)
{
    if (!origin_rare(origin)->spec || !origin_rare(origin)->name)
        return; /* the actor does not come back, so its name need not be held */
    origin->is_counted = true;
    atom32_fetch_add(&spec_of(origin)->holds, 1, ATOM_RELAXED);
}

void tr__pooled_let_go(const struct cell_origin *origin)
{
    if (origin->is_counted)
        atom32_fetch_sub(&spec_of(origin)->holds, 1, ATOM_RELEASE); /* pairs with pool_holds */
}

tr_status tr__spawn_enter(struct tr_system *system, const struct cell *parent, tr_error *error)
{
    if (admission_enter(cell_is_keeper(parent) ? &system->ending.wakes : &system->ending.spawns))
        return TR_OK;
    tr__error_set(error, TR_STOPPING, 0, "the system is stopping");
    return TR_STOPPING;
}

void tr__spawn_leave(struct tr_system *system, const struct cell *parent)
{
    if (cell_is_keeper(parent)) {
        if (admission_leave(&system->ending.wakes))
            tr__shutdown_ask(system); /* worker 0 stops the keepers in its next round */
    } else if (admission_leave(&system->ending.spawns)) {
        tr__shutdown_tell(system);
    }
}

void tr__spawn_send_off(struct tr_system *system, struct worker *worker, struct cell *cell)
{
    cell->origin->is_admitted = true;
    tr__spawn_post(system, worker ? &worker->counters : NULL, cell, 0);
}

static void count_spawned(struct tr_system *system, struct worker *worker)
{
    if (worker) {
        atom64_count(&worker->counters.spawned, 1);
        return;
    }
    lock_take(&system->foreign.lock);
    atom64_count(&system->foreign.counters.spawned, 1);
    lock_give(&system->foreign.lock);
}

/* Counts a new actor, and posts it to its parent's worker. */
static void send_off(struct tr_system *system, struct worker *worker, struct cell *cell)
{
    count_spawned(system, worker);
    tr__spawn_send_off(system, worker, cell);
}

/*
 * Ends a new actor that is not wanted, but has mail in its door. The mail is from a late sender to
 * an earlier tenant of the slot. Only a worker can make dead letters of it, and this thread may be
 * no worker. So this posts the actor to a worker with a kill, as if the actor had been killed
 * before its set-up.
 */
static void send_to_end(struct tr_system *system, struct worker *worker, struct cell *cell)
{
    origin_rare_own(cell->origin)->spawner = 0;
    cell->origin->worker = 0; /* the parent is on worker 0 */
    atom32_fetch_or(&cell->control, CONTROL_KILL, ATOM_SEQ_CST);
    send_off(system, worker, cell);
}

/*
 * Makes an actor, and registers its name. Returns TR_NAME_EXISTS if another thread has registered
 * the name before. Then *found is the actor of that thread. If found->ref is 0, that actor cannot
 * be found yet.
 */
static tr_status create(struct tr_system *system, const struct pooled_spawner *spawner,
                        const struct pooled_place *place, const tr_spawn_args *args,
                        struct names_found *found, uint64_t *ref_bits)
{
    struct worker *worker = spawner->worker;
    const char *path = place->path;
    struct slot_cache *cache = worker ? &worker->slot_cache : NULL;
    struct cell *cell;
    tr_status status = tr__spawn_enter(system, place->parent, args->error);
    if (status != TR_OK)
        return status;
    status = tr__slot_take(system->slots, cache, &cell);
    if (status != TR_OK) {
        tr__error_set(args->error,
                      status,
                      0,
                      "no slot is free for another actor: out of memory, or the limit is reached");
        goto leave;
    }
    cell_clear(cell);
    ATOM_POKE(&cell->door.tenant, slots_number(system->slots, place->parent) | place->bits);
    tr__capacity_open(cell, args->behavior);
    status = tr__origin_new(system->slots, cell, args, spawner->client, true);
    if (status != TR_OK) {
        tr__error_set(args->error, status, 0, "out of memory for the set-up message");
        goto give_slot;
    }
    tr__pooled_hold(cell->origin);
    origin_rare_own(cell->origin)->causal = spawner->causal;
    cell->origin->worker = system_place(system, args->worker);
    uint64_t identity = cell->identity;
    /*
     * From now on other threads can send mail to the actor. The mail waits in its door until the
     * set-up.
     */
    door_open(&cell->door, identity, CELL_FOREIGN, true);
    status = tr__names_share(system->names, path, identity, args->behavior, &cell->name, found);
    if (status != TR_OK) {
        tr__error_set(args->error, status, 0, "%s: %s", tr_status_text(status), path);
        goto close_door;
    }
    *ref_bits = identity;
    if (!place->defer || !place->defer(place->context, cell)) {
        send_off(system, worker, cell);
        return TR_OK;
    }
    count_spawned(system, worker);
    goto leave; /* place->defer has taken the cell; its owner calls tr__pooled_begin later */

close_door:
    /* No other thread knows the ref of the new actor yet, so the actor can be withdrawn. */
    atom64_store(&cell->door.ref, 0, ATOM_RELAXED);
    if (!door_close_empty(&cell->door)) {
        send_to_end(system, worker, cell);
        return status;
    }
    tr__origin_free(&system->source, cell->origin);
    cell->origin = NULL;
give_slot:
    tr__slot_give(system->slots, cache, cell);
leave:
    tr__spawn_leave(system, place->parent);
    return status;
}

tr_status tr__pooled_get(struct tr_system *system, struct grace_reader *reader,
                         const tr_spawn_args *args, uint64_t *ref_bits)
{
    char path[POOLED_PATH_SIZE];
    size_t length = path_write(path, args->name);
    if (!args->behavior || !length)
        return TR_NOT_FOUND;
    struct names_found found = tr__names_look(system->names, reader, path, length);
    return found.ref ? accept(system, args, path, found, ref_bits) : TR_NOT_FOUND;
}

void tr__pooled_begin(struct worker *worker, struct cell *cell)
{
    TR_ASSERT_SLOW(worker_is_mine(worker));
    uint32_t to = 0;
    /*
     * The parent must link this cell before it is notified of a later end on this worker. If this
     * is not worker 0, the cell is posted to worker 0 now, and the post of that end arrives there
     * later. Worker 0 handles ends on its own worker without a post, so it links the cell here.
     */
    if (worker->index == 0) {
        tr__spawn_link(worker, cell);
        to = cell->origin->worker;
    }
    tr__spawn_post(worker->system, &worker->counters, cell, to);
}

tr_status tr__pooled_spawn_at(struct tr_system *system, const struct pooled_spawner *spawner,
                              const struct pooled_place *place, const tr_spawn_args *args,
                              uint64_t *ref_bits)
{
    for (;;) {
        struct names_found found = {0};
        tr_status status = create(system, spawner, place, args, &found, ref_bits);
        if (status != TR_NAME_EXISTS)
            return status;
        if (found.ref)
            return accept(system, args, place->path, found, ref_bits);
        /*
         * A parent is just starting the actor that has this name. Try again until that actor can be
         * found.
         */
        system->platform->yield(system->platform);
    }
}

tr_status tr__pooled_spawn(struct tr_system *system, const struct pooled_spawner *spawner,
                           const tr_spawn_args *args, uint64_t *ref_bits)
{
    char path[POOLED_PATH_SIZE];
    const struct pooled_place place = {
        .parent = system->user.guardian, .path = path, .bits = CELL_POOLED};
    tr_status status = tr__spawn_check(system, args);
    if (status != TR_OK)
        return status;
    if (!path_write(path, args->name)) {
        tr__error_set(args->error, TR_NAME_INVALID, 0, "an actor of the pool needs a name");
        return TR_NAME_INVALID;
    }
    return tr__pooled_spawn_at(system, spawner, &place, args, ref_bits);
}
