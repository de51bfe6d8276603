/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/life/origin.h"

#include <string.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/slots.h"
#include "actor/cell/worker.h"
#include "actor/life/failure_record.h"
#include "actor/life/pooled.h"
#include "actor/mail/group_address.h"
#include "wire/copy.h"

/*
 * Returns memory for an origin of `size` bytes. The memory is beside the cell if the origin fits
 * there, otherwise it comes from the source.
 */
static struct cell_origin *origin_place(struct slots *slots, const struct cell *cell, size_t size)
{
    struct cell_origin *origin = NULL;
    if (size <= SLOTS_ORIGIN_MAX)
        origin = slots_place_take(slots, cell, SLOTS_PLACE_ORIGIN);
    bool is_beside = origin;
    if (!origin)
        origin = source_resize(&slots->source, NULL, size);
    if (origin)
        *origin = (struct cell_origin){.is_beside = is_beside};
    return origin;
}

/* As origin_place, but for an origin with a struct origin_rare before it. */
static struct cell_origin *origin_place_rare(struct slots *slots, size_t size)
{
    struct origin_rare *rare = source_resize(&slots->source, NULL, sizeof *rare + size);
    if (!rare)
        return NULL;
    *rare = (struct origin_rare){.spec = NULL};
    struct cell_origin *origin = (struct cell_origin *)(void *)(rare + 1);
    *origin = (struct cell_origin){.has_rare = true};
    return origin;
}

tr_status tr__origin_new(struct slots *slots, struct cell *cell, const tr_spawn_args *args,
                         uint64_t spawner, bool is_far)
{
    const tr_type *type = args->setup_type;
    const void *message = args->setup;
    size_t size = 0;
    if (type) {
        size = type->is_flat ? type->size : tr__copy_size(type, message);
        if (size > TR_PAYLOAD_MAX)
            return TR_TOO_LARGE;
    }
    /*
     * A permanent actor comes back as a new actor with the same name. So the origin keeps the name.
     */
    bool comes_back = spawn_restart(args) == TR_PERMANENT;
    size_t length = args->name && comes_back ? strlen(args->name) + 1 : 0;
    size_t total = sizeof(struct cell_origin) + size + length;
    bool has_rare = is_far || args->spec || spawner || comes_back;
    struct cell_origin *origin =
        has_rare ? origin_place_rare(slots, total) : origin_place(slots, cell, total);
    if (!origin)
        return TR_NO_MEMORY;
    origin->behavior = args->behavior;
    origin->type = type;
    if (type)
        tr__copy_into(type, message, origin->message, size);
    if (has_rare) {
        struct origin_rare *rare = origin_rare_own(origin);
        rare->spec = args->spec;
        rare->spawner = spawner;
        if (length)
            rare->name = memcpy((char *)origin->message + size, args->name, length);
    }
    cell->origin = origin;
    return TR_OK;
}

void tr__origin_free(const struct memory_source *source, struct cell_origin *origin)
{
    if (origin->type && !origin->type->is_flat)
        tr__copy_drop(origin->type, origin->message);
    tr__failure_forget(source, origin_rare(origin)->failure);
    tr__group_unbind(origin);
    tr__pooled_let_go(origin);
    if (!origin->is_beside)
        source_resize(source, origin->has_rare ? (void *)origin_rare_own(origin) : origin, 0);
}

void tr__origin_drop(struct worker *worker, struct cell *cell)
{
    if (!cell->origin)
        return;
    struct cell_origin *origin = cell->origin;
    bool is_beside = origin->is_beside;
    tr__origin_free(&worker->source, origin);
    cell->origin = NULL;
    if (is_beside)
        slots_place_give(origin, SLOTS_PLACE_ORIGIN);
}

bool tr__origin_is_needed(const struct cell *cell)
{
    const struct cell_origin *origin = cell->origin;
    tr_restart restart = tr__restart_of(cell);
    return origin_rare(origin)->spec || origin_rare(origin)->failure || restart == TR_PERMANENT ||
           (origin->type && restart != TR_TEMPORARY) ||
           origin->behavior != cell->dispatch->behavior;
}
