/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The group supervisor, which is the actor behind a group address and the parent of the members.
 * Also the verbs that spawn a group and list its members.
 */
#include <stdio.h>

#include "actor/cell/client.h"
#include "actor/cell/log.h"
#include "actor/cell/verb.h"
#include "actor/life/spawn.h"
#include "actor/life/supervise.h"
#include "actor/mail/group_address.h"
#include "actor/mail/group_pick.h"
#include "actor/mail/outcome.h"
#include "actor/mail/route.h"
#include "base/assert.h"
#include "base/sized.h"

struct supervisor {
    struct group_address *group;
    uint64_t ref; /* ref of the group address */
};

/* ---- The actor. ---- */

static tr_next fail(tr_self *self, const struct supervisor *supervisor, const tr_error *error)
{
    /*
     * Notify the client about the ref of the group address, because the client knows no other ref.
     */
    if (supervisor->group->spawner)
        tr__outcome_send(self->worker, supervisor->group->spawner, supervisor->ref, error);
    return tr_fail(self, error->status, "%s", error->text);
}

static tr_next set_up(tr_self *self, struct supervisor *supervisor,
                      const struct tr_group_open *message)
{
    struct group_address *group = (struct group_address *)(uintptr_t)message->group;
    uint32_t workers = system_open_workers(self->worker->system);
    uint64_t count = atom64_load(&group->member_count, ATOM_RELAXED);
    uint64_t base = atom64_load(&group->base, ATOM_RELAXED);
    supervisor->group = group;
    supervisor->ref = message->ref;
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        uint64_t member;
        tr_error error = {.status = TR_OK};
        snprintf(name, sizeof name, "%u", (unsigned)i + 1);
        tr_spawn_args args = {.size = sizeof args,
                              .behavior = group->behavior,
                              .name = name,
                              .worker = (int)((base + i) % workers),
                              .setup_type = group->setup_type,
                              .setup = group->setup,
                              .error = &error,
                              .spec = &group->spec};
        tr_status status = tr_self_try_spawn(self, &args, &member);
        if (status == TR_OK) {
            tr__group_member_put(group, i, member);
            status = tr_self_try_watch(self, tr_ref_from_bits(member));
        }
        if (status == TR_OK)
            continue;
        if (error.status == TR_OK)
            tr__error_set(&error, status, 0, "member %s: %s", name, tr_status_text(status));
        return fail(self, supervisor, &error);
    }
    tr__group_members_done(group);
    return TR_SAME;
}

static tr_next on_start(struct supervisor *supervisor)
{
    (void)board_open(&supervisor->group->board);
    return TR_SAME;
}

static tr_next on_terminated(struct supervisor *supervisor, const struct tr_terminated *message)
{
    return tr__group_leave(supervisor->group, message->who.bits) ? TR_SAME : TR_STOP;
}

/* Forwards a message that was sent to the group before the group address was open. */
static tr_next on_any(tr_self *self, struct supervisor *supervisor, const tr_message *message)
{
    struct board *board = &supervisor->group->board;
    uint64_t member;
    if (board_is_open(board))
        /* the message was sent to the group supervisor itself, which handles no messages */
        return TR_DECLINE;
    /*
     * Leave is_ask false. The sender may be on another worker, so the members on this worker have
     * no advantage.
     */
    struct group_letter letter = {.type = message->type, .data = message->data};
    tr_status status = tr__group_choose(supervisor->group, self->worker, &letter, &member);
    tr_next next;
    if (status == TR_UNHANDLED)
        next = TR_DECLINE;
    else
        next = tr_self_forward(self, tr_ref_from_bits(status == TR_OK ? member : 0));
    board_leave(board, board_stay(board));
    (void)board_open(board);
    return next;
}

TR_BEHAVIOR(tr_group_supervisor, struct supervisor, TR_SETUP_WITH(tr_group_open, set_up),
            TR_ON(tr_pre_start, on_start), TR_ON(tr_terminated, on_terminated), TR_ON_ANY(on_any),
            TR_OPTIONS(.is_pinned = true));

/*
 * A group supervisor is never restarted, because other actors know its members by the group
 * address.
 */
static const tr_child_spec group_supervisor_spec = {.behavior = &tr_behavior_tr_group_supervisor,
                                                    .restart = TR_TEMPORARY};

/* ---- Spawning. ---- */

static tr_status group_refuse(const tr_spawn_args *spawn, tr_status status, const char *why)
{
    tr__error_set(spawn->error, status, 0, "%s", why);
    return status;
}

static tr_status check(struct tr_system *system, const tr_spawn_args *spawn,
                       const tr_group_args *group)
{
    const char *why;
    tr_status status = tr__spawn_check(system, spawn);
    if (status != TR_OK)
        return status;
    if (group->members != TR_ONE_PER_WORKER && group->members < 1)
        return group_refuse(spawn, TR_INVALID_ARGUMENT, "invalid group: no members");
    if (group->members > TR_GROUP_MEMBERS_MAX)
        return group_refuse(
            spawn, TR_LIMIT, "invalid group: more members than TR_GROUP_MEMBERS_MAX");
    if (spawn->behavior->options.restart == TR_PERMANENT)
        return group_refuse(
            spawn, TR_NOT_SUPPORTED, "invalid group: members must not be TR_PERMANENT");
    if (spawn->spec)
        return group_refuse(
            spawn, TR_INVALID_ARGUMENT, "invalid group: a group takes no child spec");
    if (group->routes && !tr__routes_are_valid(group->routes, &why))
        return group_refuse(spawn, TR_INVALID_ARGUMENT, why);
    return TR_OK;
}

/* Makes a group address, and fills in the arguments for the spawn of its group supervisor. */
static tr_status prepare(struct tr_system *system, struct group_plan *plan,
                         const tr_group_args *group, struct group_address **address,
                         struct tr_group_open *open, tr_spawn_args *supervisor)
{
    plan->routes = group->routes;
    plan->members = (uint32_t)group->members;
    if (group->members == TR_ONE_PER_WORKER)
        plan->members = system_open_workers(system);
    if (plan->spawn->worker >= 0)
        plan->base = (uint32_t)plan->spawn->worker;
    tr_status status = tr__group_new(system, plan, address);
    if (status != TR_OK)
        return group_refuse(
            plan->spawn,
            status,
            "no slot is free for another group: out of memory, or the limit is reached");
    *open = (struct tr_group_open){.group = (uintptr_t)*address, .ref = (*address)->tenant};
    *supervisor = (tr_spawn_args){.size = sizeof *supervisor,
                                  .behavior = &tr_behavior_tr_group_supervisor,
                                  .name = plan->spawn->name,
                                  .worker = -1,
                                  .setup_type = &tr_type_tr_group_open,
                                  .setup = open,
                                  .error = plan->spawn->error,
                                  .spec = &group_supervisor_spec};
    return TR_OK;
}

/*
 * Copies of the two structs of arguments with which a program spawns a group. The copies have all
 * members that this version of the library knows, also if the program was built with an older
 * version.
 */
struct group_spawn {
    tr_spawn_args spawn;
    tr_group_args group;
};

/*
 * Copies the arguments of a spawn. Returns false if arguments are missing, or have a member that
 * this library does not know.
 */
static bool args_read(struct group_spawn *to, const tr_spawn_args *spawn,
                      const tr_group_args *group)
{
    return group && spawn_args_copy(spawn, &to->spawn) &&
           sized_read(&to->group, sizeof to->group, group, group->size);
}

/*
 * Ends the spawn of a group. `status` is the result of the spawn of the group supervisor. Returns
 * `status`. On any error except TR_INIT_FAILED, frees the group address. After TR_INIT_FAILED,
 * the group address is freed later, together with the origin of the group supervisor, when all
 * members are gone.
 */
static tr_status finish(tr_status status, struct group_address *group, uint64_t ref,
                        uint64_t *ref_bits)
{
    if (status == TR_OK)
        *ref_bits = ref;
    else if (status != TR_INIT_FAILED)
        tr__group_free(group, ref);
    return status;
}

tr_status tr_self_try_spawn_group(tr_self *self, const tr_spawn_args *spawn,
                                  const tr_group_args *group, uint64_t *ref_bits)
{
    TURN_VERB(self);
    struct group_spawn args;
    if (!self || !args_read(&args, spawn, group) || !ref_bits)
        return TR_INVALID_ARGUMENT;
    struct worker *worker = self->worker;
    struct tr_system *system = worker->system;
    tr_status status = check(system, &args.spawn, &args.group);
    if (status != TR_OK)
        return status;
    struct group_plan plan = {.spawn = &args.spawn,
                              .supervision = tr__supervision_of(system, self->cell, NULL),
                              .cache = &worker->slot_cache,
                              .base = worker->index};
    struct group_address *address;
    struct tr_group_open open;
    tr_spawn_args supervisor;
    status = prepare(system, &plan, &args.group, &address, &open, &supervisor);
    if (status != TR_OK)
        return status;
    uint64_t bits;
    status = tr_self_try_spawn(self, &supervisor, &bits);
    return finish(status, address, open.ref, ref_bits);
}

tr_ref tr_self_spawn_group(tr_self *self, const tr_spawn_args *spawn, const tr_group_args *group)
{
    TURN_VERB(self);
    uint64_t bits = 0;
    tr_error error = {.status = TR_OK};
    TR_ASSERT(self); /* tr_crash below ends a turn, so there must be a turn */
    tr_spawn_args with_error;
    if (!group || !spawn_args_copy(spawn, &with_error))
        tr_crash(self, TR_INVALID_ARGUMENT, "spawn of a group: " SPAWN_ARGS_FAULT);
    with_error.error = &error;
    tr_status status = tr_self_try_spawn_group(self, &with_error, group, &bits);
    if (status != TR_OK)
        tr_crash(self, status, "cannot spawn a group: %.200s", error.text);
    return tr_ref_from_bits(bits);
}

tr_status tr_client_try_spawn_group(tr_client *client, const tr_spawn_args *spawn,
                                    const tr_group_args *group, uint64_t *ref_bits)
{
    CLIENT_VERB(client);
    struct group_spawn args;
    if (!client || !args_read(&args, spawn, group) || !ref_bits)
        return TR_INVALID_ARGUMENT;
    struct tr_system *system = client->system;
    tr_status status = check(system, &args.spawn, &args.group);
    if (status != TR_OK)
        return status;
    struct group_plan plan = {.spawn = &args.spawn,
                              .supervision = &system->user.supervision,
                              .spawner = client->cell->identity};
    struct group_address *address;
    struct tr_group_open open;
    tr_spawn_args supervisor;
    status = prepare(system, &plan, &args.group, &address, &open, &supervisor);
    if (status != TR_OK)
        return status;
    uint64_t bits;
    status = tr_client_try_spawn(client, &supervisor, &bits);
    return finish(status, address, open.ref, ref_bits);
}

/* ---- Members. ---- */

static size_t members_of(struct tr_system *system, uint64_t group, tr_ref *members, size_t max)
{
    uint64_t member;
    size_t found = 0;
    for (struct group_walk walk = tr__group_all(system, group); tr__group_each(&walk, &member);) {
        if (members && found < max)
            members[found] = tr_ref_from_bits(member);
        found++;
    }
    return found;
}

size_t tr_self_group_members(tr_self *self, tr_ref group, tr_ref *members, size_t max)
{
    TURN_VERB(self);
    return self ? members_of(self->worker->system, group.bits, members, max) : 0;
}

size_t tr_client_group_members(tr_client *client, tr_ref group, tr_ref *members, size_t max)
{
    CLIENT_VERB(client);
    return client ? members_of(client->system, group.bits, members, max) : 0;
}
