/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Conservation on real threads: whatever actors and clients do to each other, every message that
 * was taken is handled or is a dead letter when the system has stopped.
 */
#include "support/test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

enum { KNOWN = 64, CLIENTS = 2, LIVE_MAX = 400 };

TR_MESSAGE(work, (u64, lives));
TR_MESSAGE(freight, (u64, lives), (bytes, data));
TR_ACTOR(node, work, freight);
TR_ACTOR(mortal, work);

static tr_system *system_;
static tr_client *client;
static int workers;
static atomic_uint_fast64_t known[KNOWN]; /* refs, of the living and the dead */
static atomic_bool is_over;
static atomic_uint_fast64_t failures;
static atomic_uint_fast64_t taken;   /* sends that were answered TR_OK */
static atomic_uint_fast64_t refused; /* and those that were not */
static atomic_uint_fast64_t live;
static atomic_uint_fast64_t acted; /* turns of nodes */

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void count(tr_status status)
{
    if (status == TR_OK)
        atomic_fetch_add(&taken, 1);
    else if (status == TR_STOPPED)
        atomic_fetch_add(&refused, 1);
    else
        atomic_fetch_add(&failures, 1);
}

static tr_ref known_at(uint64_t index)
{
    return tr_ref_from_bits(atomic_load(&known[index % KNOWN]));
}

static void system_begin(int worker_count)
{
    tr_system_options options = {.workers = worker_count, .on_log = quiet};
    workers = worker_count;
    atomic_store(&is_over, false);
    atomic_store(&taken, 0);
    atomic_store(&refused, 0);
    atomic_store(&live, 0);
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
}

/* Stops the system, whatever continues in it, and balances the books. */
static void system_end(void)
{
    tr_counters counters;
    tr_client_free(client);
    tr_system_shutdown(system_, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_counters(system_, &counters);
    uint64_t dead = counters.dead_letters - counters.refused;
    ck_assert_uint_eq(atomic_load(&failures), 0);
    ck_assert_uint_eq(counters.accepted, counters.handled + dead);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.spawned, counters.stopped);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.accepted, atomic_load(&taken));
    ck_assert_uint_eq(counters.refused, atomic_load(&refused));
    ck_assert_uint_eq(tr_system_dead_letters(system_, NULL, 0, NULL), counters.dead_letters);
    printf("# %d workers: %" PRIu64 " accepted, %" PRIu64 " dead, %" PRIu64 " refused, %" PRIu64
           " actors\n",
           workers,
           counters.accepted,
           dead,
           counters.refused,
           counters.spawned);
    tr_system_free(system_);
}

/* ---- Actors that send, spawn, stop and kill at random. ---- */

struct node {
    atomic_flag is_busy; /* of this incarnation: no two threads are ever in it */
};

static void enter(struct node *state)
{
    if (atomic_flag_test_and_set(&state->is_busy))
        atomic_fetch_add(&failures, 1);
}

static tr_next leave(struct node *state, tr_next next)
{
    atomic_flag_clear(&state->is_busy);
    return next;
}

static void breed(tr_self *self, uint64_t place)
{
    node_ref child = {0};
    int worker = (int)(tr_random(self) % (uint64_t)workers);
    if (atomic_load(&live) > LIVE_MAX)
        return;
    if (tr_try_spawn_at(self, &child, worker, node, NULL) == TR_OK)
        atomic_store(&known[place % KNOWN], child.bits);
}

static void say(tr_self *self, uint64_t lives)
{
    static const unsigned char data[2000];
    uint64_t place = tr_random(self);
    uint64_t dice = tr_random(self) % 8;
    tr_ref to = dice == 1 ? tr_me(self) : known_at(place);
    tr_status status;
    if (dice == 0)
        status = tr_tell(
            self, to, freight, .lives = lives, .data = {data, tr_random(self) % sizeof data});
    else
        status = tr_tell(self, to, work, .lives = lives);
    count(status);
    if (status != TR_OK && dice > 4)
        breed(self, place); /* the dead are replaced */
}

static tr_next act(tr_self *self, struct node *state, uint64_t lives)
{
    enter(state);
    atomic_fetch_add(&acted, 1);
    if (lives == 0)
        return leave(state, TR_SAME);
    switch (tr_random(self) % 128) {
    case 0:
    case 1:
    case 5:
    case 6:
    case 7:
        breed(self, tr_random(self));
        say(self, lives - 1);
        return leave(state, TR_SAME);
    case 2:
        (void)tr_kill(self, known_at(tr_random(self)));
        return leave(state, TR_SAME);
    case 3:
        (void)tr_stop(self, known_at(tr_random(self)));
        return leave(state, TR_SAME);
    case 4:
        return leave(state, tr_random(self) % 4 ? TR_SAME : TR_STOP);
    default:
        say(self, lives - 1);
        return leave(state, TR_SAME);
    }
}

static tr_next node_set_up(void)
{
    atomic_fetch_add(&live, 1);
    return TR_SAME;
}
static tr_next node_on_stop(tr_self *self, struct node *state)
{
    enter(state);
    atomic_fetch_sub(&live, 1);
    say(self, 1);
    return leave(state, TR_SAME);
}
static tr_next on_work(tr_self *self, struct node *state, const struct work *message)
{
    return act(self, state, message->lives);
}
static tr_next on_freight(tr_self *self, struct node *state, const struct freight *message)
{
    return act(self, state, message->lives);
}
TR_BEHAVIOR(node, struct node, TR_SETUP(node_set_up), TR_ON(tr_post_stop, node_on_stop),
            TR_ON(work, on_work), TR_ON(freight, on_freight));

static uint64_t client_sends;

static void *mesh_client_main(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument * 0x9e3779b97f4a7c15 + 1;
    tr_client *mine;
    if (tr_client_new(system_, &mine) != TR_OK) {
        atomic_fetch_add(&failures, 1);
        return NULL;
    }
    for (uint64_t i = 0; i < client_sends; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        uint64_t dice = random >> 40;
        if (dice % 64 == 0)
            atomic_store(&known[dice / 64 % 4], tr_client_ref(mine).bits);
        if (dice % 61 == 0) {
            node_ref node = {0};
            if (tr_try_spawn_at(mine, &node, (int)(dice % (uint64_t)workers), node, NULL) == TR_OK)
                atomic_store(&known[dice % KNOWN], node.bits);
        }
        if (dice % 509 == 0)
            (void)tr_kill(mine, known_at(dice / 509));
        count(tr_tell(mine, known_at(dice / 3), work, .lives = 100));
        /* Now and then the actors get a moment to play with what they have. */
        (void)tr_client_receive(mine, NULL, i % 64 ? 0 : 200 * TR_MICROSECOND);
    }
    tr_client_free(mine);
    return NULL;
}

static void mesh(int worker_count)
{
    pthread_t threads[CLIENTS];
    system_begin(worker_count);
    client_sends = test_scale(60000, 6000000);
    for (int i = 0; i < KNOWN; i++) {
        node_ref node = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &node, i % worker_count, node, NULL), TR_OK);
        atomic_store(&known[i], node.bits);
    }
    for (uintptr_t i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, mesh_client_main, (void *)(i + 1)), 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    /* The actors may still be at it. */
    system_end();
    ck_assert_uint_gt(atomic_load(&acted), client_sends);
}

TEST(a_mesh_on_two_workers_loses_nothing, "M-04", "MB-05", "WP-06", "WP-07")
{
    mesh(2);
}
TEST(a_mesh_on_four_workers_loses_nothing, "M-04", "MB-05", "WP-06", "WP-07")
{
    mesh(4);
}
TEST(a_mesh_on_eight_workers_loses_nothing, "M-04", "MB-05", "WP-06", "WP-07")
{
    mesh(8);
}

/* ---- Sends against closing doors. ---- */

static tr_next mortal_on_work(tr_self *self, const struct work *message)
{
    return tr_random(self) % 16 || message->lives == 0 ? TR_SAME : TR_STOP;
}
TR_BEHAVIOR(mortal, void, TR_ON(work, mortal_on_work));

/* Keeps the places in `known` filled with actors that soon die. */
TR_MESSAGE(refill);
TR_ACTOR(breeder, refill);
static tr_next on_refill(tr_self *self)
{
    for (int i = 0; i < 4; i++) {
        mortal_ref mortal = {0};
        int worker = (int)(tr_random(self) % (uint64_t)workers);
        if (tr_try_spawn_at(self, &mortal, worker, mortal, NULL) == TR_OK)
            atomic_store(&known[tr_random(self) % 8], mortal.bits);
        /* A quarter is killed from here, which is not always its own worker. */
        if (i == 0)
            (void)tr_kill(self, known_at(tr_random(self) % 8));
        if (i == 1)
            (void)tr_stop(self, known_at(tr_random(self) % 8));
    }
    if (!atomic_load(&is_over))
        count(tr_tell(self, tr_me(self), refill));
    return TR_SAME;
}
TR_BEHAVIOR(breeder, void, TR_ON(refill, on_refill));

static void *hammer_main(void *argument)
{
    tr_client *mine;
    (void)argument;
    if (tr_client_new(system_, &mine) != TR_OK) {
        atomic_fetch_add(&failures, 1);
        return NULL;
    }
    /* Until one was too late, however seldom the others run. */
    for (uint64_t i = 0; i < client_sends || !atomic_load(&refused); i++)
        count(tr_tell(mine, known_at(i % 8), work, .lives = i));
    tr_client_free(mine);
    return NULL;
}

/* An actor that hammers too. */
TR_MESSAGE(hit, (u64, left));
TR_ACTOR(hammer, hit);
static tr_next on_hit(tr_self *self, const struct hit *message)
{
    for (uint64_t i = 0; i < 8; i++)
        count(tr_tell(self, known_at(i), work, .lives = i));
    if (message->left && !atomic_load(&is_over))
        count(tr_tell(self, tr_me(self), hit, .left = message->left - 1));
    return TR_SAME;
}
TR_BEHAVIOR(hammer, void, TR_ON(hit, on_hit));

TEST(a_send_to_a_closing_door_is_taken_or_refused, "MB-04", "M-04", "LC-14")
{
    pthread_t threads[CLIENTS];
    system_begin(4);
    client_sends = test_scale(50000, 5000000);
    for (int i = 0; i < KNOWN; i++)
        atomic_store(&known[i], 0);
    breeder_ref breeder = {0};
    ck_assert_int_eq(tr_try_spawn(client, &breeder, breeder, NULL), TR_OK);
    count(tr_tell(client, breeder, refill));
    for (int i = 0; i < 2; i++) {
        hammer_ref hammer = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &hammer, 1 + i, hammer, NULL), TR_OK);
        count(tr_tell(client, hammer, hit, .left = UINT64_MAX));
    }
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer_main, NULL), 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&is_over, true);
    system_end();
    ck_assert_uint_gt(atomic_load(&refused), 0);
}

/* ---- Clients that come and go while actors send to them. ---- */

static void *guest_main(void *argument)
{
    uint64_t place = *(uint64_t *)argument;
    for (uint64_t i = 0; i < client_sends; i++) {
        tr_client *mine;
        if (tr_client_new(system_, &mine) != TR_OK) {
            atomic_fetch_add(&failures, 1);
            return NULL;
        }
        atomic_store(&known[place], tr_client_ref(mine).bits);
        for (uint64_t j = 0; j < i % 4; j++) {
            const struct work *message = tr_receive(mine, work, 20 * TR_MICROSECOND);
            if (message && message->lives > 8)
                atomic_fetch_add(&failures, 1);
        }
        tr_client_free(mine);
    }
    return NULL;
}

TEST(clients_come_and_go_while_actors_send_to_them, "MB-04", "M-04")
{
    pthread_t threads[CLIENTS];
    uint64_t places[CLIENTS] = {0, 1};
    system_begin(2);
    client_sends = test_scale(2000, 200000);
    for (int i = 0; i < KNOWN; i++)
        atomic_store(&known[i], 0);
    for (int i = 0; i < 2; i++) {
        hammer_ref hammer = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &hammer, i, hammer, NULL), TR_OK);
        count(tr_tell(client, hammer, hit, .left = UINT64_MAX));
    }
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, guest_main, &places[i]), 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&is_over, true);
    system_end();
}

SUITE("conservation on threads", a_mesh_on_two_workers_loses_nothing,
      a_mesh_on_four_workers_loses_nothing, a_mesh_on_eight_workers_loses_nothing,
      a_send_to_a_closing_door_is_taken_or_refused, clients_come_and_go_while_actors_send_to_them)
