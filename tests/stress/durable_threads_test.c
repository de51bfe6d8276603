/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors on threads: clients add to many keys while those fall asleep, fail and are pushed out. What was
 * acknowledged is there at the end, once.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "support/test.h"

enum { CLIENTS = 4, KEYS = 200, ASKS = TEST_HAS_SANITIZER ? 400 : 1500 };

TR_MESSAGE(sum, (u64, value));
TR_REQUEST(add, sum, (u64, by), (u32, how));
TR_ACTOR(adder, add);
TR_MESSAGE(adder_state, (u64, value), (u64, sleeps));

enum how { PLAINLY, BADLY, SLOWLY, THEN_SLEEP, HOWS };

static tr_next on_add(tr_self *self, struct adder_state *state, const struct add *message)
{
    state->value += message->by;
    if (message->how == BADLY)
        return tr_fail(self, TR_BAD_DATA, "as told");
    if (message->how == SLOWLY)
        (void)!tr_sleep(self, 100 * TR_MICROSECOND);
    if (message->how == THEN_SLEEP)
        (void)!tr_go_to_sleep(self);
    return tr_reply(self, sum, .value = state->value);
}

static tr_next on_sleeping(struct adder_state *state)
{
    state->sleeps++;
    return TR_SAME;
}

TR_BEHAVIOR(adder, struct adder_state, TR_ON(add, on_add), TR_ON(tr_sleeping, on_sleeping));
TR_DURABLE(adder, adder_state, .idle_ns = 2 * TR_MILLISECOND, .grace_ns = TR_SECOND);

struct worker_of_test {
    pthread_t thread;
    tr_system *system;
    uint64_t seed;
    uint64_t sums[KEYS];    /* acknowledged */
    uint64_t unclear[KEYS]; /* maybe: the first commit of a slow one, without an answer */
    unsigned served;
    bool is_rough; /* it kills, and the system stops meanwhile */
};

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void add_once(struct worker_of_test *me, tr_client *client)
{
    char key[16];
    uint64_t random = next_random(&me->seed);
    unsigned number = (unsigned)(random % KEYS);
    uint32_t how = random >> 20 & 63;
    uint64_t by = 1 + (random >> 32) % 9;
    adder_ref ref;
    const struct sum *sum;
    snprintf(key, sizeof key, "k%u", number);
    how = how < 2 ? BADLY : how < 10 ? SLOWLY : how < 14 ? THEN_SLEEP : PLAINLY;
    tr_status status = tr_try_durable(client, &ref, adder, key);
    if (me->is_rough && status == TR_STOPPING)
        return;
    if (me->is_rough && (random >> 40) % 16 == 0)
        tr_kill(client, ref);
    ck_assert_msg(status == TR_OK, "%s", tr_status_name(status));
    status = tr_try_await(
        client, tr_ask_within(client, TR_MINUTE, ref, add, .by = by, .how = how), &sum);
    if (status == TR_OK) {
        me->sums[number] += by;
        me->served++;
        ck_assert_uint_ge(sum->value, by);
        return;
    }
    /* It failed, or its ref had stopped meanwhile, or another's failure has ended its turn. */
    ck_assert_msg(status == TR_FAILED || status == TR_STOPPED || status == TR_RESTARTED ||
                      status == TR_START_FAILED,
                  "%s",
                  tr_status_name(status));
    /* A kill may come between the disk and the answer. */
    if (how == SLOWLY || (me->is_rough && how != BADLY))
        me->unclear[number] += by;
}

static void *work(void *context)
{
    struct worker_of_test *me = context;
    tr_client *client;
    ck_assert_int_eq(tr_client_new(me->system, &client), TR_OK);
    for (int i = 0; i < ASKS; i++)
        add_once(me, client);
    tr_client_free(client);
    return NULL;
}

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void remove_directory(const char *directory)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static tr_system *system_of(const char *directory, uint32_t awake_max)
{
    tr_system *made;
    const tr_system_options options = {.size = sizeof options,
                                       .name = "adders",
                                       .workers = 2,
                                       .on_log = quiet,
                                       .durable = TR_DURABLES(adder),
                                       .store = directory,
                                       .awake_max = awake_max};
    ck_assert_int_eq(tr_system_new(&options, &made), TR_OK);
    return made;
}

static void end(tr_system *system)
{
    tr_system_shutdown(system, 5 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

static struct worker_of_test all[CLIENTS];

static void all_begin(tr_system *system, bool is_rough)
{
    uint64_t seed = test_seed();
    for (int i = 0; i < CLIENTS; i++) {
        all[i].system = system;
        all[i].is_rough = is_rough;
        all[i].seed = (seed + (uint64_t)i * 7919) | 1;
        ck_assert_int_eq(pthread_create(&all[i].thread, NULL, work, &all[i]), 0);
    }
}

static unsigned all_join(void)
{
    unsigned served = 0;
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(all[i].thread, NULL);
        served += all[i].served;
    }
    return served;
}

static uint64_t value_of(tr_client *client, const char *key)
{
    const struct sum *sum;
    tr_status status = TR_STOPPED;
    while (status == TR_STOPPED) { /* the ref may have fallen asleep */
        adder_ref ref;
        ck_assert_int_eq(tr_try_durable(client, &ref, adder, key), TR_OK);
        status = tr_try_await(client, tr_ask_within(client, TR_MINUTE, ref, add), &sum);
    }
    ck_assert_msg(status == TR_OK, "%s", tr_status_name(status));
    return sum->value;
}

/* In another process, as far as the store can tell. */
static void check_all(const char *directory)
{
    tr_system *system = system_of(directory, 0);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    tr_client *client;
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (unsigned number = 0; number < KEYS; number++) {
        char key[16];
        uint64_t least = 0;
        uint64_t most = 0;
        snprintf(key, sizeof key, "k%u", number);
        for (int i = 0; i < CLIENTS; i++) {
            least += all[i].sums[number];
            most += all[i].sums[number] + all[i].unclear[number];
        }
        uint64_t value = value_of(client, key);
        ck_assert_msg(value >= least && value <= most,
                      "key %u: %llu is not within %llu and %llu",
                      number,
                      (unsigned long long)value,
                      (unsigned long long)least,
                      (unsigned long long)most);
    }
    tr_client_free(client);
    end(system);
}

TEST(what_was_acknowledged_is_there_whoever_slept, "SL-08", "K-09", "PE-01", "Z-07")
{
    char directory[] = "/tmp/troupe-durable-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    tr_system *system = system_of(directory, 20);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    all_begin(system, false);
    ck_assert_uint_gt(all_join(), CLIENTS * ASKS / 2);
    end(system);
    check_all(directory);
    remove_directory(directory);
}

TEST(what_was_acknowledged_is_there_whoever_was_killed_and_stopped, "SL-11", "K-09", "Z-09")
{
    char directory[] = "/tmp/troupe-durable-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    tr_system *system = system_of(directory, 20);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    all_begin(system, true);
    tr_client *client;
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (int i = 0; i < ASKS / 4; i++) { /* as long as this takes */
        char key[16];
        snprintf(key, sizeof key, "k%d", i % KEYS);
        adder_ref ref;
        ck_assert_int_eq(tr_try_durable(client, &ref, adder, key), TR_OK);
        (void)!tr_try_await(client, tr_ask_within(client, TR_MINUTE, ref, add), NULL);
    }
    tr_client_free(client);
    tr_system_shutdown(system, 5 * TR_SECOND);
    ck_assert_uint_gt(all_join(), 0);
    end(system);
    check_all(directory);
    remove_directory(directory);
}

SUITE("durable threads", what_was_acknowledged_is_there_whoever_slept,
      what_was_acknowledged_is_there_whoever_was_killed_and_stopped)
