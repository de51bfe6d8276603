/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads that are no workers spawn as fast as they can while the system is shut down: when the wait is
 * over, all that was accepted has ended.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <troupe/durable.h>
#include <troupe/pool.h>
#include <troupe/system.h>
#include <troupe/troupe.h>

TR_MESSAGE(note);
TR_ACTOR(child, note);
TR_MESSAGE(stay);
TR_ACTOR(stayer, stay);
TR_ACTOR(souvenir, stay);
TR_MESSAGE(souvenir_state, (u64, n));

static atomic_uint_fast64_t starts;
static atomic_uint_fast64_t stops;

static tr_next on_note(void)
{
    return TR_SAME;
}
static tr_next on_pre_start(void)
{
    atomic_fetch_add(&starts, 1);
    return TR_SAME;
}
static tr_next on_post_stop(void)
{
    atomic_fetch_add(&stops, 1);
    return TR_SAME;
}
TR_BEHAVIOR(child, void, TR_ON(note, on_note), TR_ON(tr_pre_start, on_pre_start),
            TR_ON(tr_post_stop, on_post_stop));

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

/* Nobody is left, and every message has an end. The clients are freed. */
static void check_end(tr_system *system)
{
    tr_counters counters;
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.spawned, counters.stopped);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
}

/* ---- A tight loop against a shutdown at any moment. ---- */

enum way { BY_SPAWN, BY_POOL, BY_GROUP, BY_CALL, WAYS };
enum { THREADS = 2, SPAWNS_FIRST = 8, SPAWNS_MANY = 500 };

struct spawner {
    tr_system *system;
    tr_client *client;
    enum way way;
    int number;
    atomic_int *spawns;
    atomic_bool *is_shutting; /* the shutdown has begun */
    uint64_t accepted;
    uint64_t watched;
    uint64_t terminated;
};

static tr_next on_call(tr_self *self, void *argument)
{
    (void)self;
    (void)argument;
    return TR_STOP;
}

static tr_status spawn_one(struct spawner *spawner, tr_client *client, child_ref *ref)
{
    char name[64];
    int worker = (int)(spawner->accepted % (uint64_t)tr_system_workers(spawner->system));
    switch (spawner->way) {
    case BY_SPAWN:
        return tr_try_spawn_at(client, ref, worker, child, NULL);
    case BY_POOL:
        snprintf(name, sizeof name, "p%d-%d", spawner->number, (int)spawner->accepted);
        return tr_try_pool_spawn(client, ref, child, name);
    case BY_GROUP:
        return tr_try_spawn_group(client, ref, child, NULL, 2);
    default:
        return tr_schedule_call(spawner->system, NULL, TR_TIMER_ONCE, 0, on_call, NULL);
    }
}

static void *spawn_until_refused(void *argument)
{
    struct spawner *spawner = argument;
    tr_client *client = spawner->client;
    child_ref ref;
    tr_status status;
    while ((status = spawn_one(spawner, client, &ref)) == TR_OK) {
        spawner->accepted++;
        atomic_fetch_add(spawner->spawns, 1);
        /* On a busy machine the shutdown may be late; then there would be actors without end. */
        while (spawner->accepted >= SPAWNS_MANY && !atomic_load(spawner->is_shutting))
            sched_yield();
        if (spawner->way == BY_CALL)
            continue;
        (void)tr_tell(client, ref, note);
        if (spawner->accepted % 4 == 0) {
            ck_assert_int_eq(tr_watch(client, ref), TR_OK);
            spawner->watched++;
        }
    }
    ck_assert_int_eq(status, TR_STOPPING);
    while (spawner->terminated < spawner->watched) {
        ck_assert_msg(tr_receive(client, tr_terminated, TR_MINUTE) != NULL,
                      "%d of %d Terminated",
                      (int)spawner->terminated,
                      (int)spawner->watched);
        spawner->terminated++;
    }
    tr_client_free(client);
    return NULL;
}

static void spawn_and_shut_down(enum way way)
{
    uint64_t rounds = test_scale(100, 40000);
    for (uint64_t i = 0; i < rounds; i++) {
        tr_system *system;
        struct spawner spawners[THREADS];
        pthread_t threads[THREADS];
        atomic_int spawns = 0;
        atomic_bool is_shutting = false;
        starts = stops = 0;
        tr_system_options options = {
            .size = sizeof options, .workers = 1 + (int)(i % 3), .on_log = quiet};
        ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
        ck_assert_int_eq(tr_system_start(system), TR_OK);
        for (int k = 0; k < THREADS; k++) {
            spawners[k] = (struct spawner){.system = system,
                                           .way = way,
                                           .number = k,
                                           .spawns = &spawns,
                                           .is_shutting = &is_shutting};
            ck_assert_int_eq(tr_client_new(system, &spawners[k].client), TR_OK);
            ck_assert_int_eq(pthread_create(&threads[k], NULL, spawn_until_refused, &spawners[k]),
                             0);
        }
        while (atomic_load(&spawns) < (int)(i % SPAWNS_FIRST))
            sched_yield();
        tr_system_shutdown(system, TR_MINUTE);
        atomic_store(&is_shutting, true);
        ck_assert_int_eq(tr_system_wait(system), TR_OK);
        for (int k = 0; k < THREADS; k++)
            pthread_join(threads[k], NULL);
        check_end(system);
        ck_assert_uint_eq(starts, stops);
        tr_system_free(system);
    }
}

TEST(spawns_that_race_a_shutdown_are_refused_or_end, "X-02", "X-01", "M-04")
{
    spawn_and_shut_down(BY_SPAWN);
}

TEST(spawns_of_the_pool_that_race_a_shutdown_are_refused_or_end, "X-02", "M-04")
{
    spawn_and_shut_down(BY_POOL);
}

TEST(groups_that_race_a_shutdown_are_refused_or_end, "X-02", "M-04")
{
    spawn_and_shut_down(BY_GROUP);
}

TEST(scheduled_calls_that_race_a_shutdown_are_refused_or_end, "X-02", "T-02")
{
    spawn_and_shut_down(BY_CALL);
}

/* ---- A spawn that takes longer than the whole shutdown. ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t spawner;
    bool holds;   /* the next allocation of the spawner waits for the end of the stayer */
    bool is_held; /* it does */
    bool stays;   /* the stayer is in its turn: one that has not started ends without a PostStop */
    bool is_over; /* the stayer has been killed */
    bool wakes;   /* the stayer wakes a durable actor as it stops, */
    tr_status woken; /* which gives this */
} hold = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *holding_resize(void *context, void *memory, size_t size)
{
    (void)context;
    pthread_mutex_lock(&hold.lock);
    if (size && !memory && hold.holds && pthread_equal(pthread_self(), hold.spawner)) {
        hold.holds = false;
        hold.is_held = true;
        pthread_cond_broadcast(&hold.changed);
        while (!hold.is_over)
            pthread_cond_wait(&hold.changed, &hold.lock);
    }
    pthread_mutex_unlock(&hold.lock);
    if (size)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static tr_next on_souvenir_stay(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(souvenir, struct souvenir_state, TR_ON(stay, on_souvenir_stay));
TR_DURABLE(souvenir, souvenir_state);

static tr_next on_stay(tr_self *self)
{
    pthread_mutex_lock(&hold.lock);
    hold.stays = true;
    pthread_cond_broadcast(&hold.changed);
    pthread_mutex_unlock(&hold.lock);
    (void)!tr_sleep(self, TR_HOUR);
    return TR_SAME;
}
static tr_next on_stayer_stop(tr_self *self)
{
    if (hold.wakes) {
        souvenir_ref ref;
        hold.woken = tr_try_durable(self, &ref, souvenir, "one");
        if (hold.woken == TR_OK)
            (void)tr_tell(self, ref, stay);
    }
    pthread_mutex_lock(&hold.lock);
    hold.is_over = true;
    pthread_cond_broadcast(&hold.changed);
    pthread_mutex_unlock(&hold.lock);
    return TR_SAME;
}
TR_BEHAVIOR(stayer, void, TR_ON(stay, on_stay), TR_ON(tr_post_stop, on_stayer_stop));

static void *spawn_held(void *argument)
{
    tr_client *client;
    child_ref ref;
    ck_assert_int_eq(tr_client_new(argument, &client), TR_OK);
    pthread_mutex_lock(&hold.lock);
    hold.spawner = pthread_self();
    hold.holds = true;
    pthread_mutex_unlock(&hold.lock);
    ck_assert_int_eq(tr_try_spawn(client, &ref, child, NULL), TR_OK);
    ck_assert_int_eq(tr_watch(client, ref), TR_OK);
    ck_assert_ptr_nonnull(tr_receive(client, tr_terminated, TR_MINUTE));
    tr_client_free(client);
    return NULL;
}

/*
 * The stayer is killed at the deadline, and only then the spawn continues: /user is still there, and the new
 * actor is killed as well.
 */
static void outlast(const struct tr_durables *durable, const char *store)
{
    tr_system *system;
    tr_client *client;
    stayer_ref ref;
    pthread_t thread;
    const tr_system_options options = {.workers = 2,
                                       .balance = TR_BALANCE_OFF,
                                       .on_log = quiet,
                                       .resize = holding_resize,
                                       .durable = durable,
                                       .store = store};
    hold.is_held = false;
    hold.stays = false;
    hold.is_over = false;
    hold.wakes = durable;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client, &ref, stayer, NULL), TR_OK);
    ck_assert_int_eq(tr_tell(client, ref, stay), TR_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, spawn_held, system), 0);
    pthread_mutex_lock(&hold.lock);
    while (!hold.is_held || !hold.stays)
        pthread_cond_wait(&hold.changed, &hold.lock);
    pthread_mutex_unlock(&hold.lock);
    tr_client_free(client);
    tr_system_shutdown(system, TR_MILLISECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    pthread_join(thread, NULL);
    check_end(system);
    tr_system_free(system);
}

TEST(a_spawn_that_outlasts_the_deadline_ends_too, "X-01", "X-02")
{
    outlast(NULL, NULL);
}

/* The keepers of durable actors are killed with all others, although /user still waits for the spawn. */
TEST(nobody_wakes_a_durable_actor_after_the_deadline, "X-01", "X-02")
{
    char directory[] = "/tmp/troupe-spawn-XXXXXX";
    char command[64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    outlast(TR_DURABLES(souvenir), directory);
    ck_assert_int_eq(hold.woken, TR_STOPPING);
    snprintf(command, sizeof command, "rm -r %s", directory);
    ck_assert_int_eq(system(command), 0);
}

SUITE("spawn threads", spawns_that_race_a_shutdown_are_refused_or_end,
      spawns_of_the_pool_that_race_a_shutdown_are_refused_or_end,
      groups_that_race_a_shutdown_are_refused_or_end,
      scheduled_calls_that_race_a_shutdown_are_refused_or_end,
      a_spawn_that_outlasts_the_deadline_ends_too, nobody_wakes_a_durable_actor_after_the_deadline)
