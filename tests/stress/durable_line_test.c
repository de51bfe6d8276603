/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many more keys asked for at the same time than may be awake, on threads and a real disk: all are answered, and each
 * is started about once. docs/mends.md, 2: three of ten were answered, and there were 636,000 starts in five seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <troupe/durable.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "support/test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { KEYS = 500 };
#else
enum { KEYS = 2000 };
#endif
enum { ROUNDS = 3, PADDING = 4000 };

TR_MESSAGE(counted, (u64, value));
TR_REQUEST(count_me, counted);
TR_ACTOR(counter, count_me);
TR_MESSAGE(counter_state, (u64, value), (bytes, padding));

static tr_next on_count_me(tr_self *self, struct counter_state *state)
{
    static const char padding[PADDING];
    state->padding = (tr_bytes){padding, sizeof padding};
    return tr_reply(self, counted, .value = ++state->value);
}

TR_BEHAVIOR(counter, struct counter_state, TR_ON(count_me, on_count_me));
TR_DURABLE(counter, counter_state);

static count_me_ask ask_for(tr_client *client, int number)
{
    char key[32];
    counter_ref ref;
    snprintf(key, sizeof key, "key-%d", number);
    ck_assert_int_eq(tr_try_durable(client, &ref, counter, key), TR_OK);
    return tr_ask_within(client, 5 * TR_MINUTE, ref, count_me);
}

/* An ask that comes late may find that the actor sleeps again: TR_STOPPED, and it is asked again, as durable.h says. */
static uint64_t await_for(tr_client *client, int number, count_me_ask ask, int *late)
{
    const struct counted *counted;
    tr_status status;
    while ((status = tr_try_await(client, ask, &counted)) == TR_STOPPED) {
        ++*late;
        ask = ask_for(client, number);
    }
    ck_assert_int_eq(status, TR_OK);
    return counted->value;
}

static void crowd(uint32_t awake_max, uint64_t awake_bytes_max)
{
    static count_me_ask asks[KEYS];
    char directory[] = "/tmp/troupe-line-XXXXXX";
    char command[100];
    tr_system *system_;
    tr_client *client;
    tr_counters before, after;
    int late = 0;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 3,
                                       .durable = TR_DURABLES(counter),
                                       .store = directory,
                                       .awake_max = awake_max,
                                       .awake_bytes_max = awake_bytes_max};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
    tr_system_counters(system_, &before);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < KEYS; i++)
            asks[i] = ask_for(client, i);
        for (int i = 0; i < KEYS; i++)
            ck_assert_uint_eq(await_for(client, i, asks[i], &late), round);
    }
    tr_system_counters(system_, &after);
    uint64_t starts = after.spawned - before.spawned;
    printf("# %d keys, %d times: %llu starts, %d asked late\n",
           KEYS,
           ROUNDS,
           (unsigned long long)starts,
           late);
    ck_assert_uint_le(starts, 2 * (uint64_t)(ROUNDS * KEYS + late));
    tr_client_free(client);
    tr_system_shutdown(system_, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_system_free(system_);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

TEST(all_are_served_when_few_may_be_awake, "Z-04")
{
    crowd(7, 0);
    crowd(1, 0);
}

TEST(all_are_served_when_few_have_memory, "Z-04")
{
    crowd(0, 20 * PADDING);
    crowd(5, 20 * PADDING);
}

SUITE("durable line", all_are_served_when_few_may_be_awake, all_are_served_when_few_have_memory)
