/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/actors.h"

#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/lifecycle.h"
#include "actor/cell/names.h"
#include "actor/cell/system.h"
#include "actor/cell/view.h"
#include "actor/cell/worker.h"
#include "actor/mail/capacity.h"
#include "base/sized.h"

bool tr__actor_glance(tr_system *system, uint32_t slot, struct actor_glance *glance)
{
    const struct cell *cell = slot ? slots_at(system->slots, slot) : NULL;
    if (!cell)
        return false;
    uint64_t ref = ATOM_PEEK(&cell->identity);
    uint32_t owner = cell_owner(cell);
    if (!ref || owner == CELL_GROUP_ADDRESS || cell_is_client(cell))
        return false;
    struct view_glance seen = tr__view_glance(cell);
    bool is_open = atom64_load(&cell->door.ref, ATOM_ACQUIRE) == ref; /* pairs with door_open */
    /* The door of an actor that is stopping is closed, but the slot still has the actor. Otherwise
     * a closed door means that the slot has no actor. */
    if (!is_open && (seen.life != LIFE_STOPPING || owner >= system->worker_count))
        return false;
    const struct dispatch *dispatch = ATOM_PEEK(&cell->dispatch);
    *glance = (struct actor_glance){.ref = ref,
                                    .cell = cell,
                                    .behavior = dispatch ? dispatch->behavior : NULL,
                                    .owner = owner,
                                    .children = seen.child_count,
                                    .life = seen.life < LIFE_COUNT ? seen.life : LIFE_STOPPED,
                                    .is_ready = seen.sched_state == SCHED_READY,
                                    .has_extra = seen.has_extra};
    uint64_t word = capacity_load(&cell->door.capacity);
    if (glance->behavior && capacity_is_of(word, (uint32_t)(ref >> 32))) {
        struct mail_bound bound = mail_bound_of(glance->behavior);
        int32_t messages =
            bound.messages - capacity_messages(word) - (int32_t)(seen.stock & 0xffff);
        int32_t lines =
            bound.lines - capacity_lines(word) - (int32_t)(seen.stock >> STOCK_LINES_SHIFT);
        glance->queued = messages > 0 ? (uint32_t)messages : 0;
        glance->queued_max = (uint32_t)bound.messages;
        glance->queued_bytes = lines > 0 ? (uint64_t)lines * 64 : 0;
    }
    return ATOM_PEEK(&cell->identity) == ref;
}

bool tr__actor_is_below(tr_system *system, const struct cell *cell, uint64_t below)
{
    /* The depth has a limit, because cells that change during the walk could form a circle. */
    for (unsigned depth = 0; cell && depth <= TR_PATH_MAX; depth++) {
        if (ATOM_PEEK(&cell->identity) == below)
            return true;
        cell = slots_parent(system->slots, cell);
    }
    return false;
}

bool tr__actor_describe(tr_system *system, const struct actor_glance *glance, tr_actor_info *info)
{
    const struct cell *parent = slots_parent(system->slots, glance->cell);
    bool has_worker = glance->owner < system->worker_count;
    const tr_behavior *behavior = glance->behavior;
    *info = (tr_actor_info){
        .actor = tr_ref_from_bits(glance->ref),
        .parent = tr_ref_from_bits(parent ? ATOM_PEEK(&parent->identity) : 0),
        .state = tr__life_name(glance->life),
        .behavior = behavior ? behavior->name : NULL,
        .file = behavior ? behavior->file : NULL,
        .line = behavior ? behavior->line : 0,
        .worker = has_worker ? (int)glance->owner : -1,
        .is_running = has_worker && worker_running(system->workers[glance->owner]) == glance->cell,
        .is_ready = glance->is_ready,
        .queued = glance->queued,
        .queued_max = glance->queued_max,
        .queued_bytes = glance->queued_bytes,
        .children = glance->children};
    tr__view_path(system, glance->cell, info->path);
    return ATOM_PEEK(&glance->cell->identity) == glance->ref;
}

/* ---- The list. ---- */

/* Returns the state with this name. Returns LIFE_COUNT if there is none. */
static enum life life_of(const char *name)
{
    enum life life = LIFE_NEW;
    while (life < LIFE_COUNT && strcmp(tr__life_name(life), name) != 0)
        life++;
    return life;
}

static bool is_wanted(tr_system *system, const tr_actor_query *query, enum life life,
                      const struct actor_glance *glance)
{
    if (glance->queued < query->queued_min || (query->state && glance->life != life))
        return false;
    if (query->behavior &&
        (!glance->behavior || strcmp(glance->behavior->name, query->behavior) != 0))
        return false;
    return !query->below.bits || tr__actor_is_below(system, glance->cell, query->below.bits);
}

tr_status tr_system_actors_sized(tr_system *system, tr_actor_query *query, size_t query_size,
                                 tr_actor_info *actors, size_t size, size_t max, size_t *count)
{
    tr_actor_query asked;
    if (!system || !query || !count || (!actors && max) ||
        !sized_read(&asked, sizeof asked, query, query_size))
        return TR_INVALID_ARGUMENT;
    enum life life = asked.state ? life_of(asked.state) : LIFE_COUNT;
    if (asked.state && life == LIFE_COUNT)
        return TR_INVALID_ARGUMENT;
    if (asked.below.bits && !view_find(system->slots, asked.below.bits))
        return TR_STOPPED;
    uint32_t made = atom32_load(&system->slots->made, ATOM_ACQUIRE); /* pairs with fresh_range */
    uint32_t slot = asked.from ? asked.from : 1;
    uint32_t end = made - slot > TR_LOOK_MAX && made > slot ? slot + TR_LOOK_MAX : made;
    *count = 0;
    for (; slot < end && *count < max; slot++) {
        struct actor_glance glance;
        tr_actor_info info;
        if (!tr__actor_glance(system, slot, &glance) || !is_wanted(system, &asked, life, &glance) ||
            !tr__actor_describe(system, &glance, &info))
            continue;
        sized_write((char *)actors + *count * size, size, &info, sizeof info);
        ++*count;
    }
    query->from = slot < made ? slot : 0;
    return TR_OK;
}

/* ---- By path. ---- */

/* Reads a hexadecimal number. Returns false if there is none, or if it is too large. */
static bool hex_read(const char **at, uint32_t *value)
{
    uint64_t number = 0;
    const char *begin = *at;
    for (; **at; ++*at) {
        char digit = **at;
        bool is_letter = digit >= 'a' && digit <= 'f';
        if (!is_letter && (digit < '0' || digit > '9'))
            break;
        number = number * 16 + (uint64_t)(is_letter ? digit - 'a' + 10 : digit - '0');
        if (number > UINT32_MAX)
            return false;
    }
    *value = (uint32_t)number;
    return *at != begin;
}

tr_ref tr_system_find(tr_system *system, const char *path)
{
    if (!system || !path)
        return TR_NOBODY;
    if (strcmp(path, "/user") == 0 && system->user.guardian)
        return tr_ref_from_bits(ATOM_PEEK(&system->user.guardian->identity));
    uint64_t ref = tr__names_find(system->names, NULL, path);
    const char *last = strrchr(path, '/');
    uint32_t slot;
    uint32_t generation;
    if (ref || !last || last[1] != '$')
        return tr_ref_from_bits(ref);
    last += 2;
    struct actor_glance glance;
    char real[TR_PATH_MAX + 1];
    if (!hex_read(&last, &slot) || *last++ != '.' || !hex_read(&last, &generation) || *last ||
        !tr__actor_glance(system, slot, &glance) ||
        (uint32_t)(glance.ref >> 32) != generation + system->slots->generation_first)
        return TR_NOBODY;
    tr__view_path(system, glance.cell, real);
    return strcmp(real, path) == 0 ? tr_ref_from_bits(glance.ref) : TR_NOBODY;
}
