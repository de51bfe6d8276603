/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The providers of places from inside: a ring whose size changes while others look, for workers and
 * nodes, and memory that runs out at every point.
 */
#include "os/virtual.h"
#include "pool/local_places.h"
#include "pool/place_ring.h"
#include "support/fake_memory.h"
#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <troupe/troupe.h>

TEST(the_table_serves_nodes_as_well, "P-07", "N-01")
{
    static const struct {
        const char *name;
        tr_place node;
    } vectors[] = {{"orders", 0},
                   {"payments", 2},
                   {"counter", 2},
                   {"orders-1", 1},
                   {"user-42", 1},
                   {"cart", 0}};
    static struct place_ring ring;
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    ck_assert_int_eq(tr__place_ring_init(&ring, &source, RING_OF_NODES, 3), TR_OK);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        tr_place place = 99;
        ck_assert_int_eq(ring.table.find(&ring.table, vectors[i].name, &place), TR_OK);
        ck_assert_uint_eq(place, vectors[i].node);
        ck_assert_int_eq((int)place, tr_node_of(vectors[i].name, 3));
    }
    tr__place_ring_deinit(&ring);
    ck_assert_uint_eq(memory.blocks, 0);
}

enum { LOOKS = 20000, LOOKERS = 3, PLACES = 8 };

struct looker {
    const struct place_ring *ring;
    uint32_t wrong;
    pthread_t thread;
};

/* What is found is right for some number of places. */
static void *look(void *context)
{
    struct looker *looker = context;
    const tr_ring *table = &looker->ring->table;
    bool may_be[PLACES] = {false};
    for (int places = 1; places <= PLACES; places++)
        may_be[tr_pool_worker_of("orders-2", places)] = true;
    for (int i = 0; i < LOOKS; i++) {
        tr_place place = PLACES;
        looker->wrong += table->find(table, "orders-2", &place) != TR_OK;
        looker->wrong += place >= PLACES || !may_be[place];
        uint32_t count = table->count(table);
        looker->wrong += count < 1 || count > PLACES;
    }
    return NULL;
}

TEST(the_number_of_places_changes_while_others_look, "P-06", "P-07")
{
    static struct place_ring ring;
    static struct looker lookers[LOOKERS];
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    ck_assert_int_eq(tr__place_ring_init(&ring, &source, RING_OF_WORKERS, 1), TR_OK);
    for (int i = 0; i < LOOKERS; i++) {
        lookers[i] = (struct looker){.ring = &ring};
        ck_assert_int_eq(pthread_create(&lookers[i].thread, NULL, look, &lookers[i]), 0);
    }
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_int_eq(tr__place_ring_resize(&ring, 1 + i % PLACES), TR_OK);
    for (int i = 0; i < LOOKERS; i++) {
        pthread_join(lookers[i].thread, NULL);
        ck_assert_uint_eq(lookers[i].wrong, 0);
    }
    ck_assert_uint_le(memory.blocks, 2 * PLACES); /* they are made once */
    ck_assert_int_eq(tr__place_ring_resize(&ring, 3), TR_OK);
    ck_assert_uint_eq(ring.table.count(&ring.table), 3);
    tr__place_ring_deinit(&ring);
    ck_assert_uint_eq(memory.blocks, 0);
}

TEST(a_ring_that_cannot_grow_stays_as_it_is, "P-07")
{
    static struct place_ring ring;
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    ck_assert_int_eq(tr__place_ring_init(&ring, &source, RING_OF_WORKERS, 2), TR_OK);
    for (size_t n = 1; n <= 2; n++) {
        memory.fail_at = memory.requests + n;
        ck_assert_int_eq(tr__place_ring_resize(&ring, 3), TR_NO_MEMORY);
        ck_assert_uint_eq(ring.table.count(&ring.table), 2);
        ck_assert_uint_eq(place_ring_find(&ring, "counter"), 1);
    }
    tr__place_ring_deinit(&ring);
    ck_assert_uint_eq(memory.blocks, 0);
    memory.fail_all = true;
    ck_assert_int_eq(tr__place_ring_init(&ring, &source, RING_OF_WORKERS, 2), TR_NO_MEMORY);
    ck_assert_uint_eq(memory.blocks, 0);
}

/* ---- Out of memory. ---- */

TR_MESSAGE(long_text, (str, text));
TR_ACTOR(mute, long_text);
static tr_next on_text(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(mute, void, TR_ON(long_text, on_text));

static struct virtual_platform *platform;
static uint64_t requests, fail_at;

static void *resize(void *context, void *memory, size_t size)
{
    (void)context;
    if (size > 0 && ++requests == fail_at)
        return NULL;
    return platform->table.resize(&platform->table, memory, size);
}

/* True when every step could be done. What cannot be done leaves nothing behind. */
static bool use(tr_system *system, tr_client *client, mute_ref mute)
{
    const tr_places *places = NULL;
    tr_location found = {.ref = TR_NOBODY};
    char text[100];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    tr_status status = tr_places_new(system, &places);
    ck_assert_int_eq(places != NULL, status == TR_OK);
    if (status != TR_OK) {
        ck_assert_int_eq(status, TR_NO_MEMORY);
        return false;
    }
    tr_directory *directory = places->directory;
    bool is_whole = true;
    for (int i = 0; i < 3; i++) {
        char path[32];
        snprintf(path, sizeof path, "/claimed/%d", i);
        status = directory->claim(directory, path, tr_any(mute), NULL);
        ck_assert(status == TR_OK || status == TR_NO_MEMORY);
        ck_assert_int_eq(directory->find(directory, path, &found) == TR_OK, status == TR_OK);
        ck_assert_int_eq(tr_is_nobody(tr_find(client, mute, path)), status != TR_OK);
        is_whole &= status == TR_OK;
        if (status == TR_OK && i == 1)
            ck_assert_int_eq(directory->release(directory, path, tr_any(mute)), TR_OK);
    }
    const struct long_text message = {.text = text};
    tr_parcel *parcel = NULL;
    status = tr_parcel_new(system, TR_NOBODY, &tr_type_long_text, &message, &parcel);
    ck_assert_int_eq(parcel != NULL, status == TR_OK);
    is_whole &= status == TR_OK;
    if (parcel) {
        tr_transport *transport = places->transport;
        ck_assert_int_eq(transport->send(transport, 0, tr_any(mute), parcel), TR_OK);
    }
    tr_places_free(places);
    return is_whole;
}

TEST(without_memory_nothing_is_left_behind, "P-07")
{
    bool is_whole = false;
    for (uint64_t n = 1; !is_whole; n++) {
        platform = tr__virtual_new(1);
        tr_system *system;
        tr_client *client;
        mute_ref mute;
        fail_at = 0;
        const tr_system_options options = {.size = sizeof options,
                                           .workers = 1,
                                           .seed = 1,
                                           .platform = &platform->table,
                                           .resize = resize};
        ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
        ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
        ck_assert_int_eq(tr_try_spawn(client, &mute, mute, NULL), TR_OK);
        requests = 0;
        fail_at = n;
        is_whole = use(system, client, mute);
        ck_assert_int_eq(is_whole, requests < n);
        fail_at = 0;
        tr_client_free(client);
        tr_system_free(system);
        ck_assert_uint_eq(tr__virtual_live_blocks(platform), 0);
        tr__virtual_free(platform);
        ck_assert_uint_lt(n, 1000);
    }
}

SUITE("pool places", the_table_serves_nodes_as_well, the_number_of_places_changes_while_others_look,
      a_ring_that_cannot_grow_stays_as_it_is, without_memory_nothing_is_left_behind)
