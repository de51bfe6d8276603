/* SPDX-License-Identifier: Apache-2.0 */
#include "app/replay_plain.h"

#include <string.h>

#include "actor/cell/cell.h"
#include "actor/cell/slots.h"
#include "actor/cell/system.h"
#include "actor/turn/follow_turn.h"
#include "durable/record.h"
#include "durable/record_plain.h"
#include "os/console.h"
#include "wire/msgpack_read.h"

static const tr_behavior *behavior_find(const struct behavior_list *all, const char *name)
{
    const tr_behavior *const *at = all->first;
    while (at < all->end && strcmp((*at)->name, name) != 0)
        at++;
    return at < all->end ? *at : NULL;
}

static const tr_type *message_find(const tr_behavior *behavior, const char *name)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_type *type = behavior->handlers[i].type;
        if (type && strcmp(type->name, name) == 0)
            return type;
    }
    return NULL;
}

/*
 * Makes a behavior that has only the handlers for messages of the program. An actor with this
 * behavior starts and ends without running any code. The handlers are in memory of the kit's
 * system, which is not freed.
 */
static bool behavior_strip(const tr_behavior *whole, const struct memory_source *memory,
                           tr_behavior *stripped)
{
    tr_handler *handlers =
        source_resize(memory, NULL, (whole->handler_count + 1) * sizeof *handlers);
    if (!handlers)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < whole->handler_count; i++) {
        const tr_type *type = whole->handlers[i].type;
        if (!type || strncmp(type->name, "tr_", 3) != 0)
            handlers[count++] = whole->handlers[i];
    }
    memset(&handlers[count], 0, sizeof *handlers);
    *stripped = *whole;
    stripped->handlers = handlers;
    stripped->handler_count = count;
    stripped->setup.type = NULL;
    stripped->setup.call = NULL;
    stripped->children = NULL;
    stripped->child_count = 0;
    return true;
}

/*
 * Gives an actor the state of the record. Copies only the struct. What its pointers point to stays
 * in the memory block into which the record was unpacked.
 */
static tr_status state_set(tr_system *system, tr_ref actor, const tr_behavior *behavior,
                           struct recorder *recorder)
{
    const struct cell *cell = slots_find(system->slots, actor.bits);
    const struct tr_record *record = recorder->replay->record;
    struct tail tail;
    void *state;
    if (!cell || !cell->state || !record->state.size)
        return cell && !record->state.size ? TR_OK : TR_STOPPED;
    tr_status status = tr__unpack_tail(behavior->options.shows, record->state, &state, &tail, NULL);
    if (status != TR_OK)
        return status;
    memcpy(cell->state, state, behavior->state_size);
    recorder->replayed_state = state;
    recorder->replayed_size = tail.message_size;
    return TR_OK;
}

const tr_type *tr__replay_plain_start(const struct replay_source *source, tr_kit *kit,
                                      struct recorder *recorder, const struct tr_record *record,
                                      tr_ref *actor)
{
    static tr_behavior stripped; /* actors refer to it until the process ends */
    tr_system *system = tr_kit_system(kit);
    const tr_behavior *behavior = behavior_find(&source->behaviors, record->behavior);
    const tr_type *type = behavior ? message_find(behavior, record->message) : NULL;
    uint64_t bits = 0;
    if (!type || tr__record_plain_refusal(&source->behaviors, behavior)) {
        tr__console_complain("%s: the record is of %s of the behavior %s, which this program does "
                             "not have, or whose state has no "
                             "descriptor here\n",
                             source->program,
                             record->message,
                             record->behavior);
        return NULL;
    }
    tr_status status = behavior_strip(behavior, &system->source, &stripped) ? TR_OK : TR_NO_MEMORY;
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &stripped, .name = "replayed", .worker = -1};
    if (status == TR_OK)
        status = tr_client_try_spawn(tr_kit_client(kit), &args, &bits);
    while (status == TR_OK && tr_kit_step(kit))
        continue;
    *actor = tr_ref_from_bits(bits);
    if (status == TR_OK)
        status = state_set(system, *actor, behavior, recorder);
    if (status == TR_OK)
        status = tr__follow_open(system);
    if (status != TR_OK) {
        tr__console_complain(
            "%s: the record cannot be run: %s\n", source->program, tr_status_text(status));
        return NULL;
    }
    atom64_store(&recorder->base.actor, bits, ATOM_RELAXED);
    return type;
}
