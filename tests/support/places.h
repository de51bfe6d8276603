/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every provider of troupe/places.h has to pass, whoever wrote it.
 *
 *     static const struct provider workers = {.open = ..., .close = ..., .spawn = ...};
 *     PLACES_TESTS(workers)
 *     SUITE("places: workers", PLACES_CASES, cases_of_its_own)
 *
 * A world has some places; the thread of the test is at place 0, and so are its clients. Actors are
 * recorders, which note what they get and in which order, and tell it to whom asks them.
 */
#ifndef TROUPE_TESTS_SUPPORT_PLACES_H
#define TROUPE_TESTS_SUPPORT_PLACES_H

#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

enum { SENDERS_MAX = 4 };

struct world {
    uint32_t count;          /* of places */
    const tr_places *places; /* as place 0 sees them */
    tr_system *system;       /* of place 0 */
    tr_client *client;       /* of place 0 */
    void *own;               /* the provider's */
};

struct provider {
    /** Opens a world of so many places: fills in all but `own`, which is the provider's. */
    void (*open)(struct world *world, uint32_t count);
    void (*close)(struct world *world);
    /** Spawns a recorder at a place; `name` NULL: without one. Gives its ref as place 0 knows it. */
    tr_ref (*spawn)(struct world *world, tr_place place, const char *name);
    /** The path of a top-level actor of this name. */
    const char *root;
    bool is_by_pointer; /* parcels keep their address */
};

/* ---- The recorder. ---- */

TR_MESSAGE(item, (u32, from), (u64, n));
TR_MESSAGE(text_item, (str, text));
TR_MESSAGE(record, (u64, count), (u64, disorder), (u64, address), (u64, sender));
TR_REQUEST(get_record, record);
TR_MESSAGE(leave);
TR_ACTOR(recorder, item, text_item, get_record, leave);

struct recorder {
    uint64_t next[SENDERS_MAX];
    struct record record;
};

static tr_next recorder_note(tr_self *self, struct recorder *recorder, const void *message)
{
    recorder->record.count++;
    recorder->record.address = (uintptr_t)message;
    recorder->record.sender = tr_sender(self).bits;
    return TR_SAME;
}
static tr_next recorder_item(tr_self *self, struct recorder *recorder, const struct item *message)
{
    recorder->record.disorder += recorder->next[message->from]++ != message->n;
    return recorder_note(self, recorder, message);
}
static tr_next recorder_text(tr_self *self, struct recorder *recorder,
                             const struct text_item *message)
{
    recorder->record.disorder += strcmp(message->text, "some text") != 0;
    return recorder_note(self, recorder, message->text);
}
static tr_next recorder_tell(tr_self *self, struct recorder *recorder)
{
    return tr_reply(self,
                    record,
                    .count = recorder->record.count,
                    .disorder = recorder->record.disorder,
                    .address = recorder->record.address,
                    .sender = recorder->record.sender);
}
static tr_next recorder_leave(void)
{
    return TR_STOP;
}
TR_BEHAVIOR(recorder, struct recorder, TR_ON(item, recorder_item), TR_ON(text_item, recorder_text),
            TR_ON(get_record, recorder_tell), TR_ON(leave, recorder_leave));

/* What a recorder has noted of all that was sent before. */
static struct record record_of(struct world *world, tr_ref recorder)
{
    const struct record *record = NULL;
    tr_status status = TR_MAILBOX_FULL;
    while (status == TR_MAILBOX_FULL) { /* of small mailboxes that it is about to empty */
        get_record_ask ask = tr_ask_within(world->client, 60 * TR_SECOND, recorder, get_record);
        status = tr_try_await(world->client, ask, &record);
    }
    ck_assert_int_eq(status, TR_OK);
    return *record;
}

/* Ends a recorder, and waits until it has. */
static void dismiss(struct world *world, tr_ref recorder)
{
    get_record_ask ask = {0};
    ck_assert_int_eq(tr_tell(world->client, recorder, leave), TR_OK);
    do
        ask = tr_ask_within(world->client, 60 * TR_SECOND, recorder, get_record);
    while (tr_try_await(world->client, ask, NULL) == TR_OK);
}

static tr_parcel *parcel_of(struct world *world, uint32_t from, uint64_t n)
{
    tr_parcel *parcel = NULL;
    struct item message = {.from = from, .n = n};
    ck_assert_int_eq(tr_parcel_new(world->system, TR_NOBODY, &tr_type_item, &message, &parcel),
                     TR_OK);
    return parcel;
}

/* ---- Rings. ---- */

static void ring_cases(const struct provider *provider)
{
    for (uint32_t count = 1; count <= 3; count++) {
        struct world world = {0};
        provider->open(&world, count);
        const tr_ring *ring = world.places->ring;
        ck_assert_uint_ge(ring->size, sizeof *ring);
        ck_assert_uint_eq(ring->count(ring), count);
        uint32_t names[3] = {0};
        for (int i = 0; i < 1000; i++) {
            char name[32];
            snprintf(name, sizeof name, "actor-%d", i);
            tr_place place = 99, again = 98;
            ck_assert_int_eq(ring->find(ring, name, &place), TR_OK);
            ck_assert_int_eq(ring->find(ring, name, &again), TR_OK);
            ck_assert_uint_lt(place, count);
            ck_assert_uint_eq(place, again);
            names[place]++;
        }
        for (uint32_t place = 0; place < count; place++)
            ck_assert_uint_gt(names[place], 1000 / count / 2);
        provider->close(&world);
    }
}

static void ring_bad_names(const struct provider *provider)
{
    struct world world = {0};
    provider->open(&world, 2);
    const tr_ring *ring = world.places->ring;
    char name[TR_NAME_MAX + 2];
    memset(name, 'a', sizeof name);
    name[TR_NAME_MAX + 1] = '\0';
    tr_place place = 99;
    const char *bad[] = {NULL, "", "a/b", "/user/a", "a b", "\xc3\xa4", name};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(ring->find(ring, bad[i], &place), TR_NAME_INVALID);
        ck_assert_uint_eq(place, 99);
    }
    name[TR_NAME_MAX] = '\0';
    ck_assert_int_eq(ring->find(ring, name, &place), TR_OK);
    provider->close(&world);
}

/* ---- Directories. ---- */

static void directory_claims(const struct provider *provider)
{
    struct world world = {0};
    provider->open(&world, 2);
    tr_directory *directory = world.places->directory;
    ck_assert_uint_ge(directory->size, sizeof *directory);
    tr_ref one = provider->spawn(&world, 0, NULL);
    tr_ref two = provider->spawn(&world, 1, NULL);
    (void)record_of(&world, two); /* it is where it belongs */
    tr_location found = {0};
    ck_assert_int_eq(directory->find(directory, "/shop/orders", &found), TR_NOT_FOUND);
    ck_assert_int_eq(directory->release(directory, "/shop/orders", one), TR_NOT_FOUND);
    ck_assert_int_eq(directory->claim(directory, "/shop/orders", two, &found), TR_OK);
    ck_assert_uint_eq(found.ref.bits, 0); /* written for those who come too late only */
    ck_assert_int_eq(directory->find(directory, "/shop/orders", &found), TR_OK);
    ck_assert(tr_is_same(found.ref, two));
    ck_assert_uint_eq(found.place, 1);
    for (int i = 0; i < 2; i++) { /* another, and the same once more */
        tr_location holder = {0};
        tr_ref claimer = i ? two : one;
        ck_assert_int_eq(directory->claim(directory, "/shop/orders", claimer, &holder),
                         TR_NAME_EXISTS);
        ck_assert(tr_is_same(holder.ref, two));
        ck_assert_uint_eq(holder.place, 1);
        ck_assert_int_eq(directory->claim(directory, "/shop/orders", claimer, NULL),
                         TR_NAME_EXISTS);
    }
    ck_assert_int_eq(directory->claim(directory, "/shop/order", two, NULL), TR_OK);
    ck_assert_int_eq(directory->release(directory, "/shop/orders", one), TR_NOT_FOUND);
    ck_assert_int_eq(directory->find(directory, "/shop/orders", &found), TR_OK);
    ck_assert_int_eq(directory->release(directory, "/shop/orders", two), TR_OK);
    ck_assert_int_eq(directory->release(directory, "/shop/orders", two), TR_NOT_FOUND);
    ck_assert_int_eq(directory->find(directory, "/shop/orders", &found), TR_NOT_FOUND);
    ck_assert_int_eq(directory->claim(directory, "/shop/orders", one, NULL), TR_OK);
    ck_assert_int_eq(directory->find(directory, "/shop/orders", &found), TR_OK);
    ck_assert(tr_is_same(found.ref, one));
    ck_assert_uint_eq(found.place, 0);
    provider->close(&world);
}

static void directory_ends(const struct provider *provider)
{
    struct world world = {0};
    provider->open(&world, 2);
    tr_directory *directory = world.places->directory;
    tr_location found = {0};
    tr_ref one = provider->spawn(&world, 1, NULL);
    tr_ref two = provider->spawn(&world, 0, NULL);
    ck_assert_int_eq(directory->claim(directory, "/a", one, NULL), TR_OK);
    ck_assert_int_eq(directory->claim(directory, "/b", one, NULL), TR_OK);
    dismiss(&world, one);
    ck_assert_int_eq(directory->find(directory, "/a", &found), TR_NOT_FOUND);
    ck_assert_int_eq(directory->claim(directory, "/c", one, NULL), TR_STOPPED);
    ck_assert_int_eq(directory->claim(directory, "/c", TR_NOBODY, NULL), TR_STOPPED);
    ck_assert_int_eq(directory->claim(directory, "/a", two, NULL), TR_OK);
    ck_assert_int_eq(directory->find(directory, "/a", &found), TR_OK);
    ck_assert(tr_is_same(found.ref, two));
    ck_assert_int_eq(directory->release(directory, "/a", one), TR_NOT_FOUND);
    ck_assert_int_eq(directory->release(directory, "/b", one), TR_OK); /* it was never given up */
    provider->close(&world);
}

static void directory_spawned(const struct provider *provider)
{
    struct world world = {0};
    provider->open(&world, 2);
    tr_directory *directory = world.places->directory;
    char path[64];
    snprintf(path, sizeof path, "%s/orders", provider->root);
    tr_location found = {0};
    tr_ref one = provider->spawn(&world, 1, "orders");
    tr_ref two = provider->spawn(&world, 0, NULL);
    (void)record_of(&world, one);
    ck_assert_int_eq(directory->find(directory, path, &found), TR_OK);
    ck_assert(tr_is_same(found.ref, one));
    ck_assert_uint_eq(found.place, 1);
    ck_assert_int_eq(directory->claim(directory, path, two, &found), TR_NAME_EXISTS);
    ck_assert(tr_is_same(found.ref, one));
    ck_assert_int_eq(directory->release(directory, path, one), TR_NOT_FOUND);
    dismiss(&world, one);
    ck_assert_int_eq(directory->find(directory, path, &found), TR_NOT_FOUND);
    provider->close(&world);
}

static void directory_bad_paths(const struct provider *provider)
{
    struct world world = {0};
    provider->open(&world, 1);
    tr_directory *directory = world.places->directory;
    tr_ref one = provider->spawn(&world, 0, NULL);
    tr_location found = {0};
    char path[TR_PATH_MAX + 2];
    for (size_t i = 0; i < sizeof path; i++)
        path[i] = i % 100 ? 'a' : '/';
    path[TR_NAME_MAX * 3] = 'a';
    const char *bad[] = {NULL, "", "a", "/", "//", "/a/", "/a//b", "/a b", "/$1", "/a/\n", "a/b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(directory->claim(directory, bad[i], one, NULL), TR_NAME_INVALID);
        ck_assert_int_eq(directory->find(directory, bad[i], &found), TR_NOT_FOUND);
        ck_assert_int_eq(directory->release(directory, bad[i], one), TR_NOT_FOUND);
    }
    path[TR_PATH_MAX + 1] = '\0';
    ck_assert_int_eq(directory->claim(directory, path, one, NULL), TR_LIMIT);
    ck_assert_int_eq(directory->find(directory, path, &found), TR_NOT_FOUND);
    path[TR_PATH_MAX] = '\0';
    ck_assert_int_eq(directory->claim(directory, path, one, NULL), TR_OK);
    ck_assert_int_eq(directory->find(directory, path, &found), TR_OK);
    ck_assert_int_eq(directory->release(directory, path, one), TR_OK);
    memset(path + 1, 'a', TR_NAME_MAX + 1);
    path[TR_NAME_MAX + 2] = '\0';
    ck_assert_int_eq(directory->claim(directory, path, one, NULL), TR_NAME_INVALID);
    provider->close(&world);
}

enum { RACERS = 4, RACES = 200 };

struct racer {
    struct world *world;
    tr_ref ref;
    pthread_barrier_t *start;
    uint64_t holders[RACES]; /* whom it believes to have each path */
    bool has_won[RACES];
};

static void *race(void *context)
{
    struct racer *racer = context;
    tr_directory *directory = racer->world->places->directory;
    pthread_barrier_wait(racer->start);
    for (int i = 0; i < RACES; i++) {
        char path[32];
        snprintf(path, sizeof path, "/race/%d", i);
        tr_location holder = {0};
        tr_status status = directory->claim(directory, path, racer->ref, &holder);
        racer->has_won[i] = status == TR_OK;
        racer->holders[i] = status == TR_OK ? racer->ref.bits : holder.ref.bits;
        /* Others come and go meanwhile. */
        snprintf(path, sizeof path, "/own/%u", (unsigned)i % 7);
        if (directory->claim(directory, path, racer->ref, NULL) == TR_OK)
            (void)directory->release(directory, path, racer->ref);
        (void)directory->find(directory, path, &holder);
    }
    return NULL;
}

static void directory_races(const struct provider *provider)
{
    static struct racer racers[RACERS];
    struct world world = {0};
    provider->open(&world, 2);
    pthread_barrier_t start;
    pthread_t threads[RACERS];
    pthread_barrier_init(&start, NULL, RACERS);
    for (int i = 0; i < RACERS; i++) {
        tr_ref ref = provider->spawn(&world, (tr_place)i % 2, NULL);
        racers[i] = (struct racer){.world = &world, .ref = ref, .start = &start};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < RACES; i++) {
        int winners = 0;
        for (int k = 0; k < RACERS; k++) {
            winners += racers[k].has_won[i];
            ck_assert_uint_eq(racers[k].holders[i], racers[0].holders[i]);
        }
        ck_assert_int_eq(winners, 1);
    }
    pthread_barrier_destroy(&start);
    provider->close(&world);
}

/* ---- Transports. ---- */

enum { ITEMS = 20000 };

struct sender {
    struct world *world;
    uint32_t from;
    tr_ref to[2];
};

static void *send_items(void *context)
{
    struct sender *sender = context;
    tr_transport *transport = sender->world->places->transport;
    for (uint64_t n = 0; n < ITEMS; n++) {
        for (tr_place place = 0; place < 2; place++) {
            tr_parcel *parcel = parcel_of(sender->world, sender->from, n);
            ck_assert_int_eq(transport->send(transport, place, sender->to[place], parcel), TR_OK);
        }
    }
    return NULL;
}

static void transport_order(const struct provider *provider)
{
    struct world world = {0};
    provider->open(&world, 2);
    ck_assert_uint_ge(world.places->transport->size, sizeof *world.places->transport);
    struct sender senders[SENDERS_MAX];
    pthread_t threads[SENDERS_MAX];
    tr_ref to[2] = {provider->spawn(&world, 0, NULL), provider->spawn(&world, 1, NULL)};
    for (uint32_t i = 0; i < SENDERS_MAX; i++) {
        senders[i] = (struct sender){.world = &world, .from = i, .to = {to[0], to[1]}};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, send_items, &senders[i]), 0);
    }
    for (int i = 0; i < SENDERS_MAX; i++)
        pthread_join(threads[i], NULL);
    for (int place = 0; place < 2; place++) {
        struct record record = record_of(&world, to[place]);
        ck_assert_uint_eq(record.count, SENDERS_MAX * ITEMS);
        ck_assert_uint_eq(record.disorder, 0);
    }
    provider->close(&world);
}

/* What a client tells and what it sends by hand is one line. */
static void transport_mixes(const struct provider *provider)
{
    struct world world = {0};
    provider->open(&world, 2);
    tr_transport *transport = world.places->transport;
    tr_ref to = provider->spawn(&world, 1, NULL);
    for (uint64_t n = 0; n < 1000; n++) {
        if (n % 3 == 0)
            ck_assert_int_eq(tr_tell(world.client, to, item, .from = 0, .n = n), TR_OK);
        else
            ck_assert_int_eq(transport->send(transport, 1, to, parcel_of(&world, 0, n)), TR_OK);
    }
    struct record record = record_of(&world, to);
    ck_assert_uint_eq(record.count, 1000);
    ck_assert_uint_eq(record.disorder, 0);
    provider->close(&world);
}

static void transport_contents(const struct provider *provider)
{
    struct world world = {0};
    provider->open(&world, 2);
    tr_transport *transport = world.places->transport;
    tr_ref to = provider->spawn(&world, 1, NULL);
    tr_ref from = provider->spawn(&world, 0, NULL);
    char text[] = "some text"; /* copied: the parcel has its own */
    struct text_item message = {.text = text};
    tr_parcel *parcel = NULL;
    ck_assert_int_eq(tr_parcel_new(world.system, from, &tr_type_text_item, &message, &parcel),
                     TR_OK);
    text[0] = 'S';
    ck_assert_ptr_eq(tr_parcel_type(parcel), &tr_type_text_item);
    ck_assert(tr_is_same(tr_parcel_from(parcel), from));
    const struct text_item *inside = tr_parcel_message(parcel);
    ck_assert_str_eq(inside->text, "some text");
    uintptr_t address = (uintptr_t)inside->text;
    ck_assert_int_eq(transport->send(transport, 1, to, parcel), TR_OK);
    struct record record = record_of(&world, to);
    ck_assert_uint_eq(record.count, 1);
    ck_assert_uint_eq(record.disorder, 0);
    ck_assert_uint_eq(record.sender, from.bits);
    if (provider->is_by_pointer)
        ck_assert_uint_eq(record.address, address);
    parcel = parcel_of(&world, 0, 0);
    address = (uintptr_t)tr_parcel_message(parcel);
    ck_assert_int_eq(transport->send(transport, 1, to, parcel), TR_OK);
    record = record_of(&world, to);
    ck_assert_uint_eq(record.sender, 0);
    if (provider->is_by_pointer)
        ck_assert_uint_eq(record.address, address);
    provider->close(&world);
}

static void transport_refuses(const struct provider *provider)
{
    struct world world = {0};
    provider->open(&world, 2);
    tr_transport *transport = world.places->transport;
    tr_ref to = provider->spawn(&world, 1, NULL);
    tr_parcel *parcel = parcel_of(&world, 0, 0);
    ck_assert_int_eq(transport->send(transport, 2, to, parcel), TR_NOT_FOUND);
    ck_assert_int_eq(transport->send(transport, UINT32_MAX, to, parcel), TR_NOT_FOUND);
    ck_assert_int_eq(transport->send(transport, 1, TR_NOBODY, parcel), TR_STOPPED);
    ck_assert_int_eq(transport->send(transport, 1, to, NULL), TR_INVALID_ARGUMENT);
    /* It is the caller's still. */
    ck_assert_uint_eq(((const struct item *)tr_parcel_message(parcel))->n, 0);
    ck_assert_int_eq(transport->send(transport, 1, to, parcel), TR_OK);
    ck_assert_uint_eq(record_of(&world, to).count, 1);
    tr_ref next = provider->spawn(&world, 1, NULL);
    dismiss(&world, to);
    parcel = parcel_of(&world, 0, 0);
    ck_assert_int_eq(transport->send(transport, 1, to, parcel), TR_STOPPED);
    ck_assert_int_eq(transport->send(transport, 1, next, parcel), TR_OK);
    ck_assert_uint_eq(record_of(&world, next).count, 1);
    tr_parcel_free(world.system, parcel_of(&world, 0, 0));
    tr_parcel_free(world.system, NULL);
    provider->close(&world);
}

/** The cases, for a provider that is a static const struct. */
#define PLACES_TESTS(provider)                                                                     \
    TEST(ring_gives_each_name_one_place, "P-07", "N-01")                                           \
    {                                                                                              \
        ring_cases(&provider);                                                                     \
    }                                                                                              \
    TEST(ring_refuses_what_is_no_name, "P-07")                                                     \
    {                                                                                              \
        ring_bad_names(&provider);                                                                 \
    }                                                                                              \
    TEST(a_path_is_claimed_once_and_released, "P-07")                                              \
    {                                                                                              \
        directory_claims(&provider);                                                               \
    }                                                                                              \
    TEST(a_path_is_free_when_its_actor_has_ended, "P-07")                                          \
    {                                                                                              \
        directory_ends(&provider);                                                                 \
    }                                                                                              \
    TEST(spawned_actors_have_their_path, "P-07")                                                   \
    {                                                                                              \
        directory_spawned(&provider);                                                              \
    }                                                                                              \
    TEST(what_is_no_path_is_refused, "P-07")                                                       \
    {                                                                                              \
        directory_bad_paths(&provider);                                                            \
    }                                                                                              \
    TEST(of_many_claims_at_once_one_wins_and_all_agree, "P-07")                                    \
    {                                                                                              \
        directory_races(&provider);                                                                \
    }                                                                                              \
    TEST(parcels_arrive_once_and_in_order, "P-07", "P-04")                                         \
    {                                                                                              \
        transport_order(&provider);                                                                \
    }                                                                                              \
    TEST(parcels_and_messages_keep_their_order, "P-07")                                            \
    {                                                                                              \
        transport_mixes(&provider);                                                                \
    }                                                                                              \
    TEST(parcels_arrive_as_they_were_sent, "P-07", "P-04")                                         \
    {                                                                                              \
        transport_contents(&provider);                                                             \
    }                                                                                              \
    TEST(parcels_that_cannot_arrive_stay_the_callers, "P-07")                                      \
    {                                                                                              \
        transport_refuses(&provider);                                                              \
    }

#define PLACES_CASES                                                                               \
    ring_gives_each_name_one_place, ring_refuses_what_is_no_name,                                  \
        a_path_is_claimed_once_and_released, a_path_is_free_when_its_actor_has_ended,              \
        spawned_actors_have_their_path, what_is_no_path_is_refused,                                \
        of_many_claims_at_once_one_wins_and_all_agree, parcels_arrive_once_and_in_order,           \
        parcels_and_messages_keep_their_order, parcels_arrive_as_they_were_sent,                   \
        parcels_that_cannot_arrive_stay_the_callers

#endif
