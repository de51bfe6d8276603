/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The workers of a system as places: the first provider, under the rules for all.
 */
#include "support/places.h"

static void workers_open(struct world *world, uint32_t count)
{
    world->count = count;
    tr_system_options options = {.size = sizeof options, .workers = (int)count};
    ck_assert_int_eq(tr_system_new(&options, &world->system), TR_OK);
    ck_assert_int_eq(tr_places_new(world->system, &world->places), TR_OK);
    ck_assert_int_eq(tr_system_start(world->system), TR_OK);
    ck_assert_int_eq(tr_client_new(world->system, &world->client), TR_OK);
}

/* Whatever happened: what was taken was handled, or is a dead letter. */
static void workers_close(struct world *world)
{
    tr_counters counters;
    tr_client_free(world->client);
    tr_system_shutdown(world->system, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(world->system), TR_OK);
    tr_system_counters(world->system, &counters);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.accepted + counters.refused,
                      counters.handled + counters.dead_letters);
    tr_places_free(world->places);
    tr_system_free(world->system);
}

static tr_ref workers_spawn(struct world *world, tr_place place, const char *name)
{
    recorder_ref ref;
    ck_assert_int_eq(tr_try_spawn_at(world->client, &ref, (int)place, recorder, name), TR_OK);
    return tr_any(ref);
}

static const struct provider workers = {
    .open = workers_open,
    .close = workers_close,
    .spawn = workers_spawn,
    .root = "/user",
    .is_by_pointer = true,
};

PLACES_TESTS(workers)

/* tr_find sees what was claimed, and a spawn cannot take it. */
TEST(the_directory_is_that_of_the_system, "P-07")
{
    struct world world = {0};
    workers_open(&world, 2);
    tr_directory *directory = world.places->directory;
    tr_ref one = workers_spawn(&world, 1, NULL);
    recorder_ref two;
    ck_assert_int_eq(directory->claim(directory, "/user/alias", one, NULL), TR_OK);
    ck_assert(tr_is_same(tr_find(world.client, recorder, "/user/alias"), one));
    ck_assert_int_eq(tr_try_spawn(world.client, &two, recorder, "alias"), TR_NAME_EXISTS);
    ck_assert_int_eq(directory->release(directory, "/user/alias", one), TR_OK);
    ck_assert_int_eq(tr_try_spawn(world.client, &two, recorder, "alias"), TR_OK);
    ck_assert(tr_is_same(tr_find(world.client, recorder, "/user/alias"), two));
    workers_close(&world);
}

/* Places that go give their claims up, and other places of the same system know nothing of them. */
TEST(freed_places_release_what_they_claimed, "P-07")
{
    struct world world = {0};
    workers_open(&world, 1);
    const tr_places *places = NULL;
    tr_location found;
    tr_ref one = workers_spawn(&world, 0, NULL);
    ck_assert_int_eq(tr_places_new(world.system, &places), TR_OK);
    for (int i = 0; i < 100; i++) {
        char path[32];
        snprintf(path, sizeof path, "/many/%d", i);
        ck_assert_int_eq(places->directory->claim(places->directory, path, one, NULL), TR_OK);
    }
    tr_directory *directory = world.places->directory;
    ck_assert_int_eq(directory->claim(directory, "/many/7", one, NULL), TR_NAME_EXISTS);
    ck_assert_int_eq(directory->release(directory, "/many/7", one), TR_NOT_FOUND);
    ck_assert_int_eq(directory->find(directory, "/many/7", &found), TR_OK);
    tr_places_free(places);
    ck_assert_int_eq(directory->find(directory, "/many/7", &found), TR_NOT_FOUND);
    ck_assert_int_eq(directory->claim(directory, "/many/7", one, NULL), TR_OK);
    tr_places_free(NULL);
    workers_close(&world);
}

TEST(the_ring_is_that_of_the_pool, "P-07", "P-01")
{
    for (uint32_t count = 1; count <= 8; count *= 2) {
        struct world world = {0};
        workers_open(&world, count);
        const tr_ring *ring = world.places->ring;
        for (int i = 0; i < 100; i++) {
            char name[32];
            tr_place place = 99;
            snprintf(name, sizeof name, "actor-%d", i);
            ck_assert_int_eq(ring->find(ring, name, &place), TR_OK);
            ck_assert_int_eq((int)place, tr_pool_worker_of(name, (int)count));
        }
        workers_close(&world);
    }
}

/* Found where the ring has placed it, from the moment when the spawn has returned. */
TEST(actors_of_the_pool_are_where_the_ring_says, "P-07", "P-02")
{
    struct world world = {0};
    workers_open(&world, 4);
    tr_directory *directory = world.places->directory;
    for (int i = 0; i < 40; i++) {
        char name[32], path[64];
        snprintf(name, sizeof name, "orders-%d", i);
        snprintf(path, sizeof path, "/user/%s", name);
        recorder_ref ref;
        tr_place place = 99;
        tr_location found = {.place = 98};
        ck_assert_int_eq(tr_try_pool_spawn(world.client, &ref, recorder, name), TR_OK);
        ck_assert_int_eq(world.places->ring->find(world.places->ring, name, &place), TR_OK);
        for (int k = 0; k < 2; k++) { /* on its way there, perhaps, and then there */
            ck_assert_int_eq(directory->find(directory, path, &found), TR_OK);
            ck_assert(tr_is_same(found.ref, ref));
            ck_assert_uint_eq(found.place, place);
            (void)record_of(&world, tr_any(ref));
        }
        tr_transport *transport = world.places->transport;
        tr_parcel *parcel = parcel_of(&world, 0, 0);
        ck_assert_int_eq(transport->send(transport, found.place, found.ref, parcel), TR_OK);
        ck_assert_uint_eq(record_of(&world, tr_any(ref)).count, 1);
    }
    workers_close(&world);
}

/* A mailbox of two; the third parcel meets what its behavior says. */
TR_ACTOR(newest, item, get_record);
TR_ACTOR(waits, item, get_record);
TR_BEHAVIOR(newest, struct recorder, TR_ON(item, recorder_item), TR_ON(get_record, recorder_tell),
            TR_OPTIONS(.mailbox_max = 2, .overflow = TR_DROP_NEWEST));
TR_BEHAVIOR(waits, struct recorder, TR_ON(item, recorder_item), TR_ON(get_record, recorder_tell),
            TR_OPTIONS(.mailbox_max = 2, .overflow = TR_PARK));

TEST(a_full_mailbox_is_no_place_to_wait, "P-07")
{
    struct world world = {.count = 1};
    tr_system_options options = {.size = sizeof options, .workers = 1};
    ck_assert_int_eq(tr_system_new(&options, &world.system), TR_OK);
    ck_assert_int_eq(tr_places_new(world.system, &world.places), TR_OK);
    ck_assert_int_eq(tr_client_new(world.system, &world.client), TR_OK);
    newest_ref first;
    waits_ref second;
    ck_assert_int_eq(tr_try_spawn(world.client, &first, newest, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(world.client, &second, waits, NULL), TR_OK);
    /* No worker runs yet: what is sent waits. */
    tr_transport *transport = world.places->transport;
    tr_parcel *parcel = NULL;
    for (uint64_t n = 0; n < 3; n++) {
        parcel = parcel_of(&world, 0, n);
        ck_assert_int_eq(transport->send(transport, 0, tr_any(first), parcel), TR_OK);
        parcel = parcel_of(&world, 0, n);
        ck_assert_int_eq(transport->send(transport, 0, tr_any(second), parcel),
                         n < 2 ? TR_OK : TR_MAILBOX_FULL);
    }
    ck_assert_int_eq(tr_system_start(world.system), TR_OK);
    ck_assert_uint_eq(record_of(&world, tr_any(first)).count, 2);
    ck_assert_uint_eq(record_of(&world, tr_any(second)).count, 2);
    ck_assert_int_eq(transport->send(transport, 0, tr_any(second), parcel), TR_OK);
    ck_assert_uint_eq(record_of(&world, tr_any(second)).count, 3);
    workers_close(&world);
}

/* ---- Workers that leave, and groups. ---- */

TR_ACTOR(pinned, item, get_record);
TR_BEHAVIOR(pinned, struct recorder, TR_ON(item, recorder_item), TR_ON(get_record, recorder_tell),
            TR_OPTIONS(.is_pinned = true));

/* Sends to whom the directory names, where it says. */
static tr_status send_to(struct world *world, const char *path, uint64_t n, tr_location *found)
{
    tr_directory *directory = world->places->directory;
    tr_transport *transport = world->places->transport;
    ck_assert_int_eq(directory->find(directory, path, found), TR_OK);
    tr_parcel *parcel = parcel_of(world, 0, n);
    tr_status status = transport->send(transport, found->place, found->ref, parcel);
    if (status != TR_OK)
        tr_parcel_free(world->system, parcel);
    return status;
}

TEST(who_stays_on_a_worker_that_leaves_is_reached_there, "P-06", "P-07")
{
    struct world world = {0};
    workers_open(&world, 4);
    pinned_ref ref;
    tr_location found;
    ck_assert_int_eq(tr_try_spawn_at(world.client, &ref, 3, pinned, "rock"), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(world.client, ref, TR_SECOND, NULL), TR_OK);
    ck_assert_int_eq(tr_system_set_workers(world.system, 2), TR_OK);
    ck_assert_int_eq(send_to(&world, "/user/rock", 0, &found), TR_OK);
    ck_assert_uint_eq(found.place, 3);
    ck_assert_uint_eq(record_of(&world, tr_any(ref)).count, 1);
    tr_parcel *parcel = parcel_of(&world, 0, 0);
    tr_transport *transport = world.places->transport;
    ck_assert_int_eq(transport->send(transport, 4, tr_any(ref), parcel), TR_NOT_FOUND);
    tr_parcel_free(world.system, parcel);
    workers_close(&world);
}

TEST(a_group_has_a_place_and_takes_parcels, "P-07")
{
    struct world world = {0};
    workers_open(&world, 4);
    tr_location found;
    recorder_ref group;
    ck_assert_int_eq(tr_try_spawn_group(world.client, &group, recorder, "team", 2), TR_OK);
    for (uint64_t n = 0; n < 4; n++) { /* at once, and when all are there */
        ck_assert_int_eq(send_to(&world, "/user/team", n, &found), TR_OK);
        ck_assert(tr_is_same(found.ref, group));
        ck_assert_uint_lt(found.place, 4);
        ck_assert_int_eq(tr_spawn_wait(world.client, group, TR_SECOND, NULL), TR_OK);
    }
    uint64_t all = record_of(&world, tr_any(group)).count;
    all += record_of(&world, tr_any(group)).count; /* of the other one */
    ck_assert_uint_eq(all, 4);
    workers_close(&world);
}

TEST(bad_arguments_are_refused, "P-07")
{
    struct world world = {0};
    workers_open(&world, 1);
    const tr_places *places = NULL;
    tr_parcel *parcel = NULL;
    struct item message = {.from = 0};
    ck_assert_int_eq(tr_places_new(NULL, &places), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_places_new(world.system, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_parcel_new(NULL, TR_NOBODY, &tr_type_item, &message, &parcel),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_parcel_new(world.system, TR_NOBODY, NULL, &message, &parcel),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_parcel_new(world.system, TR_NOBODY, &tr_type_item, NULL, &parcel),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_parcel_new(world.system, TR_NOBODY, &tr_type_item, &message, NULL),
                     TR_INVALID_ARGUMENT);
    ck_assert_ptr_null(parcel);
    ck_assert_ptr_null(tr_parcel_type(NULL));
    ck_assert_ptr_null(tr_parcel_message(NULL));
    ck_assert(tr_is_nobody(tr_parcel_from(NULL)));
    tr_parcel_free(NULL, NULL);
    workers_close(&world);
}

TEST_ABORTS(a_parcel_of_no_system_aborts, "P-07", "U-02")
{
    struct world world = {0};
    workers_open(&world, 1);
    tr_parcel_free(NULL, parcel_of(&world, 0, 0));
}

/* As the actors to which a path leads come and go: what places.h says of spawns. */
TEST(a_path_that_was_claimed_is_free_for_spawns_when_released, "P-07")
{
    struct world world = {0};
    workers_open(&world, 1);
    tr_directory *directory = world.places->directory;
    tr_ref one = workers_spawn(&world, 0, NULL);
    tr_location found;
    recorder_ref two;
    ck_assert_int_eq(directory->claim(directory, "/user/seat", one, NULL), TR_OK);
    ck_assert_int_eq(tr_watch(world.client, one), TR_OK);
    tr_stop(world.client, one);
    ck_assert_ptr_nonnull(tr_receive(world.client, tr_terminated, 60 * TR_SECOND));
    ck_assert_int_eq(directory->find(directory, "/user/seat", &found), TR_NOT_FOUND);
    ck_assert_int_eq(tr_try_spawn(world.client, &two, recorder, "seat"), TR_NAME_EXISTS);
    ck_assert_int_eq(directory->release(directory, "/user/seat", one), TR_OK);
    ck_assert_int_eq(tr_try_spawn(world.client, &two, recorder, "seat"), TR_OK);
    workers_close(&world);
}

SUITE("places: workers", PLACES_CASES, the_directory_is_that_of_the_system,
      freed_places_release_what_they_claimed, the_ring_is_that_of_the_pool,
      actors_of_the_pool_are_where_the_ring_says, a_full_mailbox_is_no_place_to_wait,
      who_stays_on_a_worker_that_leaves_is_reached_there, a_group_has_a_place_and_takes_parcels,
      bad_arguments_are_refused, a_parcel_of_no_system_aborts,
      a_path_that_was_claimed_is_free_for_spawns_when_released)
