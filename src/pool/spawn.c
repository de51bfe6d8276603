/* SPDX-License-Identifier: Apache-2.0 */
/** The verbs of the pool. The ring says where the actor with a name starts, and the directory says where it is. */
#include <troupe/pool.h>

#include "actor/cell/dispatch.h"
#include "actor/life/pooled.h"
#include "actor/life/spawn.h"
#include "base/assert.h"
#include "pool/pool.h"
#include "actor/cell/verb.h"
#include "actor/cell/log.h"
#include "actor/cell/client.h"

static tr_status pool_spawn(struct tr_system *system, const struct pooled_spawner *spawner,
                            const tr_spawn_args *args, uint64_t *ref_bits)
{
    tr_status status = tr__pooled_get(system, spawner->reader, args, ref_bits);
    if (status != TR_NOT_FOUND)
        return status;
    tr_spawn_args placed = *args;
    placed.worker = 0;
    status = tr__spawn_check(system, &placed); /* check the name before it is hashed */
    if (status != TR_OK)
        return status;
    if (!args->name) {
        tr__error_set(args->error, TR_NAME_INVALID, 0, "an actor of the pool needs a name");
        return TR_NAME_INVALID;
    }
    if (pooled_is_held(system, args->name)) {
        tr__error_set(args->error, TR_STOPPING, 0, "/user/%s is being restarted", args->name);
        return TR_STOPPING;
    }
    struct pool *pool = tr__pool_of(system, NULL);
    placed.worker = pool ? tr__pool_place(system, pool, args->name) : TR_NO_MEMORY;
    if (placed.worker < 0) {
        tr__error_set(args->error, TR_NO_MEMORY, 0, "no memory for the hash ring");
        return TR_NO_MEMORY;
    }
    placed.spec = system->pool.has_supervision ? &pool->any.spec : NULL;
    return tr__pooled_spawn(system, spawner, &placed, ref_bits);
}

tr_status tr_self_try_pool_spawn(tr_self *self, const tr_spawn_args *given, uint64_t *ref_bits)
{
    TURN_VERB(self);
    tr_spawn_args copy;
    const tr_spawn_args *args = spawn_args_read(given, &copy);
    if (!self || !args || !ref_bits)
        return TR_INVALID_ARGUMENT;
    if (self->is_cancelled) {
        tr__error_set(args->error, TR_CANCELLED, self->cell->identity, "the turn was cancelled");
        return TR_CANCELLED;
    }
    const struct pooled_spawner spawner = {
        .worker = self->worker, .reader = &self->worker->reader, .causal = self->causal};
    return pool_spawn(self->worker->system, &spawner, args, ref_bits);
}

tr_ref tr_self_pool_spawn(tr_self *self, const tr_spawn_args *args)
{
    TURN_VERB(self);
    uint64_t bits = 0;
    tr_error error = {.status = TR_OK};
    TR_ASSERT(self); /* tr_crash below ends a turn, so there must be a turn */
    tr_spawn_args with_error;
    if (!spawn_args_copy(args, &with_error))
        tr_crash(self, TR_INVALID_ARGUMENT, "pool spawn: " SPAWN_ARGS_FAULT);
    with_error.error = &error;
    tr_status status = tr_self_try_pool_spawn(self, &with_error, &bits);
    if (status != TR_OK)
        tr_crash(self,
                 status,
                 "cannot spawn %s in the pool: %.200s",
                 tr__behavior_name(with_error.behavior),
                 error.text);
    return tr_ref_from_bits(bits);
}

tr_status tr_client_try_pool_spawn(tr_client *client, const tr_spawn_args *given,
                                   uint64_t *ref_bits)
{
    CLIENT_VERB(client);
    tr_spawn_args copy;
    const tr_spawn_args *args = spawn_args_read(given, &copy);
    if (!client || !args || !ref_bits)
        return TR_INVALID_ARGUMENT;
    const struct pooled_spawner spawner = {.reader = &client->reader,
                                           .client = client->cell->identity,
                                           .causal = hash_mix(client->causal_next++)};
    return pool_spawn(client->system, &spawner, args, ref_bits);
}

tr_ref tr_self_pool_find(tr_self *self, const tr_behavior *behavior, const char *name)
{
    TURN_VERB(self);
    if (!self || !name)
        return TR_NOBODY;
    struct worker *worker = self->worker;
    return tr_ref_from_bits(tr__pooled_find(worker->system, &worker->reader, behavior, name));
}

tr_ref tr_client_pool_find(tr_client *client, const tr_behavior *behavior, const char *name)
{
    CLIENT_VERB(client);
    if (!client || !name)
        return TR_NOBODY;
    return tr_ref_from_bits(tr__pooled_find(client->system, &client->reader, behavior, name));
}
