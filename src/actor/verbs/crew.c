/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The crew: the actor behind the front of a group, the parent of its members. And how groups begin.
 */
#include <stdio.h>

#include "actor/verbs/client.h"
#include "actor/mail/front.h"
#include "actor/system/relief.h"
#include "actor/life/spawn.h"
#include "actor/life/supervise.h"
#include "actor/turn/turn.h"
#include "base/assert.h"

struct crew {
    struct front *front;
    uint64_t ref; /* of the front */
};

/* ---- Its life. ---- */

static tr_next fail(tr_self *self, const struct crew *crew, const tr_error *error)
{
    /* Who spawned it from outside knows the front alone. */
    if (crew->front->spawner)
        tr__outcome_send(self->worker, crew->front->spawner, crew->ref, error);
    return tr_fail(self, error->status, "%s", error->text);
}

static tr_next set_up(tr_self *self, struct crew *crew, const struct tr_crew_open *message)
{
    struct front *front = (struct front *)(uintptr_t)message->front;
    uint32_t workers = system_open_workers(self->worker->system);
    uint64_t count = atom64_load(&front->seat_count, ATOM_RELAXED);
    uint64_t base = atom64_load(&front->base, ATOM_RELAXED);
    crew->front = front;
    crew->ref = message->ref;
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        uint64_t member;
        tr_error error = {.status = TR_OK};
        snprintf(name, sizeof name, "%u", (unsigned)i + 1);
        tr_spawn_args args = {.size = sizeof args,
                              .behavior = front->behavior,
                              .name = name,
                              .worker = (int)((base + i) % workers),
                              .setup_type = front->setup_type,
                              .setup = front->setup,
                              .error = &error,
                              .spec = &front->spec};
        tr_status status = tr_self_try_spawn(self, &args, &member);
        if (status == TR_OK) {
            tr__front_seat(front, i, member);
            status = tr_self_try_watch(self, tr_ref_from_bits(member));
        }
        if (status == TR_OK)
            continue;
        if (error.status == TR_OK)
            tr__error_set(&error, status, 0, "member %s: %s", name, tr_status_text(status));
        return fail(self, crew, &error);
    }
    tr__front_seated(front);
    return TR_SAME;
}

static tr_next on_start(struct crew *crew)
{
    (void)board_open(&crew->front->board);
    return TR_SAME;
}

static tr_next on_terminated(struct crew *crew, const struct tr_terminated *message)
{
    return tr__front_leave(crew->front, message->who.bits) ? TR_SAME : TR_STOP;
}

/* What came before the front was open. */
static tr_next on_any(tr_self *self, struct crew *crew, const tr_message *message)
{
    struct board *board = &crew->front->board;
    uint64_t member;
    if (board_is_open(board))
        return TR_NOT_HANDLED; /* it was for the crew itself, which understands nothing */
    /* Who asks is elsewhere: nobody is near. */
    struct front_letter letter = {.type = message->type, .data = message->data};
    tr_status status = tr__front_choose(crew->front, self->worker, &letter, &member);
    tr_next next;
    if (status == TR_UNHANDLED)
        next = TR_NOT_HANDLED;
    else
        next = tr_self_forward(self, tr_ref_from_bits(status == TR_OK ? member : 0));
    board_leave(board, board_stay(board));
    (void)board_open(board);
    return next;
}

TR_BEHAVIOR(tr_crew, struct crew, TR_SETUP_WITH(tr_crew_open, set_up),
            TR_ON(tr_pre_start, on_start), TR_ON(tr_terminated, on_terminated), TR_ON_ANY(on_any),
            TR_OPTIONS(.is_pinned = true));

/* A crew has members that others know by its front: it ends, and does not come back. */
static const tr_child_spec crew_spec = {.behavior = &tr_behavior_tr_crew, .restart = TR_TEMPORARY};

/* ---- Spawning. ---- */

static tr_status refuse(const tr_spawn_args *spawn, tr_status status, const char *why)
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
        return refuse(spawn, TR_INVALID_ARGUMENT, "a group without members");
    if (group->members > TR_GROUP_MEMBERS_MAX)
        return refuse(spawn, TR_LIMIT, "more members than TR_GROUP_MEMBERS_MAX");
    if (spawn->behavior->options.restart == TR_PERMANENT)
        return refuse(spawn, TR_NOT_SUPPORTED, "members of a group cannot be TR_PERMANENT");
    if (spawn->spec)
        return refuse(spawn, TR_INVALID_ARGUMENT, "a group has no child spec");
    if (group->routes && !tr__routes_are_valid(group->routes, &why))
        return refuse(spawn, TR_INVALID_ARGUMENT, why);
    return TR_OK;
}

/* A front, and the arguments for its crew. */
static tr_status prepare(struct tr_system *system, struct front_plan *plan,
                         const tr_group_args *group, struct front **front,
                         struct tr_crew_open *open, tr_spawn_args *crew)
{
    plan->routes = group->routes;
    plan->members = (uint32_t)group->members;
    if (group->members == TR_ONE_PER_WORKER)
        plan->members = system_open_workers(system);
    if (plan->spawn->worker >= 0)
        plan->base = (uint32_t)plan->spawn->worker;
    tr_status status = tr__front_new(system, plan, front);
    if (status != TR_OK)
        return refuse(plan->spawn, status, "no room for another group");
    *open = (struct tr_crew_open){.front = (uintptr_t)*front, .ref = (*front)->tenant};
    *crew = (tr_spawn_args){.size = sizeof *crew,
                            .behavior = &tr_behavior_tr_crew,
                            .name = plan->spawn->name,
                            .worker = -1,
                            .setup_type = &tr_type_tr_crew_open,
                            .setup = open,
                            .error = plan->spawn->error,
                            .spec = &crew_spec};
    return TR_OK;
}

static bool are_args(const tr_spawn_args *spawn, const tr_group_args *group,
                     const uint64_t *ref_bits)
{
    return spawn && spawn->size == sizeof *spawn && group && group->size == sizeof *group &&
           ref_bits;
}

/* What became of the spawn of the crew. */
static tr_status finish(tr_status status, struct front *front, uint64_t ref, uint64_t *ref_bits)
{
    if (status == TR_OK)
        *ref_bits = ref;
    else if (status != TR_INIT_FAILED) /* else it goes with the crew's origin, after all members */
        tr__front_free(front, ref);
    return status;
}

tr_status tr_self_try_spawn_group(tr_self *self, const tr_spawn_args *spawn,
                                  const tr_group_args *group, uint64_t *ref_bits)
{
    TURN_VERB(self);
    if (!self || !are_args(spawn, group, ref_bits))
        return TR_INVALID_ARGUMENT;
    struct worker *worker = self->worker;
    struct tr_system *system = worker->system;
    tr_status status = check(system, spawn, group);
    if (status != TR_OK)
        return status;
    struct front_plan plan = {.spawn = spawn,
                              .supervision = tr__supervision_of(system, self->cell, NULL),
                              .cache = &worker->slot_cache,
                              .base = worker->index};
    struct front *front;
    struct tr_crew_open open;
    tr_spawn_args crew;
    status = prepare(system, &plan, group, &front, &open, &crew);
    if (status != TR_OK)
        return status;
    uint64_t bits;
    status = tr_self_try_spawn(self, &crew, &bits);
    return finish(status, front, open.ref, ref_bits);
}

tr_ref tr_self_spawn_group(tr_self *self, const tr_spawn_args *spawn, const tr_group_args *group)
{
    TURN_VERB(self);
    uint64_t bits = 0;
    tr_error error = {.status = TR_OK};
    TR_ASSERT(self); /* there is no turn to end */
    if (!are_args(spawn, group, &bits))
        tr_crash(
            self, TR_INVALID_ARGUMENT, "spawn of a group: no arguments, or of another version");
    tr_spawn_args with_error = *spawn;
    with_error.error = &error;
    tr_status status = tr_self_try_spawn_group(self, &with_error, group, &bits);
    if (status != TR_OK)
        tr_crash(self, status, "spawn of a group: %.200s", error.text);
    return tr_ref_from_bits(bits);
}

tr_status tr_client_try_spawn_group(tr_client *client, const tr_spawn_args *spawn,
                                    const tr_group_args *group, uint64_t *ref_bits)
{
    if (!client || !are_args(spawn, group, ref_bits))
        return TR_INVALID_ARGUMENT;
    struct tr_system *system = client->system;
    tr_status status = check(system, spawn, group);
    if (status != TR_OK)
        return status;
    struct front_plan plan = {
        .spawn = spawn, .supervision = &system->supervision, .spawner = client->cell->identity};
    struct front *front;
    struct tr_crew_open open;
    tr_spawn_args crew;
    status = prepare(system, &plan, group, &front, &open, &crew);
    if (status != TR_OK)
        return status;
    uint64_t bits;
    status = tr_client_try_spawn(client, &crew, &bits);
    return finish(status, front, open.ref, ref_bits);
}

/* ---- Who belongs to it. ---- */

static size_t members_of(struct tr_system *system, uint64_t group, tr_ref *members, size_t max)
{
    uint64_t member;
    size_t found = 0;
    for (struct front_walk walk = tr__front_all(system, group); tr__front_each(&walk, &member);) {
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
    return client ? members_of(client->system, group.bits, members, max) : 0;
}
