/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors of the pool that are made in vain: whoever writes to the slot meanwhile is not lost.
 */
#include "support/test.h"

#include <stdlib.h>
#include <troupe/places.h>
#include <troupe/troupe.h>

#include "actor/cell/slots.h"
#include "actor/mail/mail.h"
#include "actor/life/pooled.h"

TR_MESSAGE(note, (u64, n));
TR_ACTOR(desk, note);

static tr_next on_note(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(desk, void, TR_ON(note, on_note));

static tr_system *system_;
static tr_client *client;
static _Thread_local tr_parcel *late; /* what is pushed while an actor is made */

/* An actor that was made and has no name yet: its door is open. */
static struct cell *unnamed(void)
{
    uint32_t used = tr__slots_used(system_->slots);
    for (uint32_t slot = 1; slot < used; slot++) {
        struct cell *cell = slots_at(system_->slots, slot);
        if (cell && cell_owner(cell) == CELL_FOREIGN && cell->origin &&
            atomptr_load(&cell->door.inbox, ATOM_ACQUIRE) == DOOR_POSTED)
            return cell;
    }
    return NULL;
}

static void *resize(void *context, void *memory, size_t size)
{
    (void)context;
    struct cell *cell = late ? unnamed() : NULL;
    if (cell) {
        struct envelope *envelope = (struct envelope *)(void *)late;
        late = NULL;
        envelope->generation = cell_generation(cell) - 1; /* to who lived there before */
        /* It had room, and found the door of its receiver, before that one ended. */
        ck_assert_int_eq(door_push(&cell->door, &envelope->mail), DOOR_TAKEN);
        lock_take(&system_->foreign.lock);
        atom64_count(&system_->foreign.counters.accepted, 1);
        lock_give(&system_->foreign.lock);
    }
    if (size > 0)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

TEST(mail_for_who_lived_there_before_is_buried, "P-02", "WP-15", "M-04")
{
    const tr_system_options options = {
        .size = sizeof options, .workers = 2, .resize = resize, .on_log = no_log};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    desk_ref desk;
    ck_assert_int_eq(tr_try_pool_spawn(client, &desk, desk, "orders"), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(client, desk, 60 * TR_SECOND, NULL), TR_OK);

    const struct note message = {.n = 1};
    ck_assert_int_eq(tr_parcel_new(system_, TR_NOBODY, &tr_type_note, &message, &late), TR_OK);
    const struct pooled_spawner spawner = {0};
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_desk, .name = "orders", .worker = 1};
    uint64_t bits = 0;
    ck_assert_int_eq(tr__pooled_spawn(system_, &spawner, &args, &bits), TR_OK);
    ck_assert_uint_eq(bits, desk.bits);
    ck_assert_ptr_null(late);

    tr_client_free(client);
    tr_system_shutdown(system_, 60 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.dead_letters, 1);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.accepted + counters.refused,
                      counters.handled + counters.dead_letters);
    ck_assert_uint_eq(counters.spawned, counters.stopped);
    tr_system_free(system_);
}

SUITE("actors of the pool", mail_for_who_lived_there_before_is_buried)
