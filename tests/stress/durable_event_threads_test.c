/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors with events on threads: clients persist under many keys while those fall asleep and fail. What was
 * acknowledged is there at the end, once, and each hook has come once for an event that is there.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "support/test.h"

enum { CLIENTS = 3, KEYS = 60, ASKS = TEST_HAS_SANITIZER ? 400 : 1500 };

TR_MESSAGE(sum, (u64, value), (u64, last));
TR_REQUEST(add, sum, (u64, by), (u32, how));
TR_ACTOR(adder, add);
TR_MESSAGE(grown, (u64, by), (str, why));
TR_MESSAGE(adder_state, (u64, value), (u64, count), (str, why));

enum how { PLAINLY, BADLY, SLOWLY, THEN_SLEEP, AUDITED };

static atomic_uint hooks;

static void apply_grown(struct adder_state *state, const struct grown *event, tr_memory *memory)
{
    state->value += event->by;
    state->count++;
    state->why = tr_memory_strdup(memory, event->why);
}

static tr_next on_grown(tr_self *self, const struct adder_state *state, const struct grown *event)
{
    (void)self;
    ck_assert_uint_ge(state->value, event->by);
    atomic_fetch_add_explicit(&hooks, 1, memory_order_relaxed);
    return TR_SAME;
}

TR_EVENTS(adder_events, adder_state, TR_APPLY(grown, apply_grown), TR_ON_STORED(grown, on_grown),
          TR_SNAPSHOTS(.every = 7, .kept = 3, .drops_events = true));

static tr_next on_add(tr_self *self, const struct adder_state *state, const struct add *message)
{
    tr_event event = {0};
    tr_persist(self, grown, .by = message->by, .why = "somebody has asked");
    if (message->how == BADLY)
        return tr_fail(self, TR_BAD_DATA, "as told");
    if (message->how == SLOWLY)
        (void)!tr_sleep(self, 100 * TR_MICROSECOND);
    if (message->how == THEN_SLEEP)
        (void)!tr_go_to_sleep(self);
    if (message->how == AUDITED)
        while (tr_event_next(self, &event))
            ck_assert_str_eq(TR_EVENT_AS(&event, grown)->why, "somebody has asked");
    ck_assert_uint_eq(state->count, tr_event_last(self));
    return tr_reply(self, sum, .value = state->value, .last = tr_event_last(self));
}

TR_BEHAVIOR(adder, const struct adder_state, TR_ON(add, on_add));
TR_DURABLE(adder, adder_state, .idle_ns = 2 * TR_MILLISECOND, .grace_ns = TR_SECOND,
           .events = &adder_events);

struct worker_of_test {
    pthread_t thread;
    tr_system *system;
    uint64_t seed;
    uint64_t sums[KEYS];    /* acknowledged */
    uint64_t unclear[KEYS]; /* maybe: the first commit of a slow one, without an answer */
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
    how = how < 1    ? BADLY
          : how < 10 ? SLOWLY
          : how < 14 ? THEN_SLEEP
          : how < 20 ? AUDITED
                     : PLAINLY;
    ck_assert_int_eq(tr_try_durable(client, &ref, adder, key), TR_OK);
    tr_status status = tr_try_await(
        client, tr_ask_within(client, TR_MINUTE, ref, add, .by = by, .how = how), &sum);
    if (status == TR_OK) {
        me->sums[number] += by;
        ck_assert_uint_ge(sum->value, by);
        return;
    }
    ck_assert_msg(status == TR_FAILED || status == TR_STOPPED || status == TR_RESTARTED ||
                      status == TR_START_FAILED,
                  "%s",
                  tr_status_name(status));
    if (how == SLOWLY)
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

static tr_system *system_of(const char *directory)
{
    tr_system *made;
    const tr_system_options options = {.size = sizeof options,
                                       .name = "adders",
                                       .workers = 2,
                                       .on_log = quiet,
                                       .durable = TR_DURABLES(adder),
                                       .store = directory};
    ck_assert_int_eq(tr_system_new(&options, &made), TR_OK);
    ck_assert_int_eq(tr_system_start(made), TR_OK);
    return made;
}

static void end(tr_system *system)
{
    tr_system_shutdown(system, 5 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

/* What all have added is there; gives how many events there are. */
static uint64_t check(tr_client *client, const struct worker_of_test *workers)
{
    uint64_t events = 0;
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        adder_ref ref;
        const struct sum *sum;
        uint64_t least = 0;
        uint64_t most = 0;
        for (int j = 0; j < CLIENTS; j++) {
            least += workers[j].sums[i];
            most += workers[j].sums[i] + workers[j].unclear[i];
        }
        snprintf(key, sizeof key, "k%d", i);
        tr_status status;
        do { /* it may be about to sleep */
            ck_assert_int_eq(tr_try_durable(client, &ref, adder, key), TR_OK);
            status = tr_try_await(client, tr_ask_within(client, TR_MINUTE, ref, add), &sum);
        } while (status == TR_STOPPED);
        ck_assert_int_eq(status, TR_OK);
        ck_assert_uint_ge(sum->value, least);
        ck_assert_uint_le(sum->value, most);
        events += sum->last;
    }
    return events;
}

TEST(what_was_acknowledged_is_there_and_each_hook_came_once, "K-08", "K-09", "PE-06")
{
    static struct worker_of_test workers[CLIENTS];
    char directory[] = "/tmp/troupe-events-XXXXXX";
    char command[64];
    tr_client *client;
    uint64_t seed = test_seed() | 1;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    tr_system *system_now = system_of(directory);
    for (int i = 0; i < CLIENTS; i++) {
        workers[i].system = system_now;
        workers[i].seed = seed + 2 * (uint64_t)i;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    end(system_now);
    unsigned before = atomic_load_explicit(&hooks, memory_order_relaxed);
    system_now = system_of(directory);
    ck_assert_int_eq(tr_client_new(system_now, &client), TR_OK);
    uint64_t events = check(client, workers);
    tr_client_free(client);
    end(system_now);
    /* All events before the check had theirs, but for those whose actor was ended by its parent. */
    ck_assert_uint_le(before, events - KEYS);
    ck_assert_uint_ge(before + 100, events - KEYS);
    ck_assert_uint_le(atomic_load_explicit(&hooks, memory_order_relaxed) - before, KEYS);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

SUITE("durable events on threads", what_was_acknowledged_is_there_and_each_hook_came_once)
