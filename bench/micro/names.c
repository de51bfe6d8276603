/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times the look-up of an actor by its path, warm: from a handler and from a client, among few and many
 * names, alone and while another thread registers and unregisters others; and of actors of the pool by
 * their names.
 *
 *     cmake --build build --target micro_names && build/micro/names
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <troupe/troupe.h>

enum { LOOKS = 2000000, ROUNDS = 5, HOT = 64 };

TR_MESSAGE(done, (u64, found));
TR_REQUEST(look, done, (u64, count));
TR_ACTOR(sleeper);
TR_ACTOR(finder, look);

static char names[HOT][32];
static char paths[HOT][64];
static atomic_bool is_over;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

TR_BEHAVIOR(sleeper, void);

static tr_next on_look(tr_self *self, const struct look *message)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < message->count; i++)
        found += !tr_is_nobody(tr_find(self, sleeper, paths[i % HOT]));
    return tr_reply(self, done, .found = found);
}

TR_BEHAVIOR(finder, void, TR_ON(look, on_look));

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void *churn(void *context)
{
    tr_client *client;
    char name[64];
    require(tr_client_new(context, &client) == TR_OK);
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        sleeper_ref ref;
        snprintf(name, sizeof name, "churn-%u", i);
        if (tr_try_spawn(client, &ref, sleeper, name) == TR_OK)
            (void)tr_stop(client, ref);
    }
    tr_client_free(client);
    return NULL;
}

static void time_it(tr_client *client, finder_ref finder, const char *what)
{
    double best = 1e9;
    double best_client = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();
        const struct done *done;
        require(tr_try_await(client,
                             tr_ask_within(client, TR_MINUTE, finder, look, .count = LOOKS),
                             &done) == TR_OK);
        require(done->found == LOOKS);
        double took = (now_ns() - begin) / LOOKS;
        best = took < best ? took : best;
        begin = now_ns();
        for (uint64_t i = 0; i < LOOKS; i++)
            require(!tr_is_nobody(tr_find(client, sleeper, paths[i % HOT])));
        took = (now_ns() - begin) / LOOKS;
        best_client = took < best_client ? took : best_client;
    }
    printf("%-32s %6.1f ns in a handler, %6.1f ns on a client\n", what, best, best_client);
}

static void time_pool(tr_client *client)
{
    double best_find = 1e9;
    double best_spawn = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        sleeper_ref ref;
        double begin = now_ns();
        for (uint64_t i = 0; i < LOOKS; i++)
            require(!tr_is_nobody(tr_pool_find(client, sleeper, names[i % HOT])));
        double took = (now_ns() - begin) / LOOKS;
        best_find = took < best_find ? took : best_find;
        begin = now_ns();
        for (uint64_t i = 0; i < LOOKS; i++)
            require(tr_try_pool_spawn(client, &ref, sleeper, names[i % HOT]) == TR_OK);
        took = (now_ns() - begin) / LOOKS;
        best_spawn = took < best_spawn ? took : best_spawn;
    }
    printf("%-32s %6.1f ns found, %6.1f ns spawned\n", "of the pool, there", best_find, best_spawn);
}

int main(void)
{
    tr_system *system;
    tr_client *client;
    finder_ref finder;
    pthread_t thread;
    const tr_system_options options = {.size = sizeof options, .workers = 1, .turn_report_ns = -1};
    require(tr_system_new(&options, &system) == TR_OK);
    require(tr_client_new(system, &client) == TR_OK);
    require(tr_system_start(system) == TR_OK);
    require(tr_try_spawn(client, &finder, finder, "finder") == TR_OK);
    for (unsigned i = 0; i < 100000; i++) {
        char name[32];
        sleeper_ref ref;
        snprintf(name, sizeof name, "orders-%u", i);
        require(tr_try_pool_spawn(client, &ref, sleeper, name) == TR_OK);
        if (i < HOT) {
            snprintf(names[i], sizeof names[i], "orders-%u", i);
            snprintf(paths[i], sizeof paths[i], "/user/%s", name);
        }
        if (i == HOT - 1)
            time_it(client, finder, "64 names");
    }
    time_it(client, finder, "64 of 100,000 names");
    time_pool(client);
    require(pthread_create(&thread, NULL, churn, system) == 0);
    time_it(client, finder, "... while others come and go");
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    tr_client_free(client);
    tr_system_shutdown(system, TR_NEVER);
    require(tr_system_wait(system) == TR_OK);
    tr_system_free(system);
    return 0;
}
