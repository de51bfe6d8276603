/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id on threads: all clients send the same requests while their actors fall asleep, fail and are
 * killed. Each takes effect once. Meanwhile another client lists the keys.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "support/test.h"

enum { CLIENTS = 4, KEYS = 5, IDS = TEST_HAS_SANITIZER ? 40 : 150 };

TR_MESSAGE(sum, (u64, value));
TR_REQUEST(add, sum, (u64, by));
TR_REQUEST(look, sum);
TR_ACTOR(adder, add, look);
TR_MESSAGE(adder_state, (u64, value), (u64, fails));

static tr_next on_add(tr_self *self, struct adder_state *state, const struct add *message)
{
    state->value += message->by;
    if (tr_random(self) % 16 == 0)
        return tr_fail(self, TR_BAD_DATA, "on purpose");
    if (tr_random(self) % 16 == 0)
        (void)!tr_go_to_sleep(self);
    return tr_reply(self, sum, .value = state->value);
}

static tr_next on_look(tr_self *self, struct adder_state *state)
{
    return tr_reply(self, sum, .value = state->value);
}

TR_BEHAVIOR(adder, struct adder_state, TR_ON(add, on_add), TR_ON(look, on_look));
TR_DURABLE(adder, adder_state, .idle_ns = 2 * TR_MILLISECOND, .grace_ns = TR_SECOND,
           .retry_ns = TR_MILLISECOND, .retry_max_ns = 2 * TR_MILLISECOND);

static tr_system *the_system;
static uint64_t answers[CLIENTS][KEYS][IDS];

/* Sends a request until it is answered, as a careful client does. */
static uint64_t add_surely(tr_client *client, int key, int id)
{
    char name[16];
    char number[16];
    const struct sum *sum;
    snprintf(name, sizeof name, "k%d", key);
    snprintf(number, sizeof number, "%d", id);
    for (;;) {
        add_ask ask = tr_ask_once_within(client, TR_MINUTE, adder, name, number, add, .by = 1);
        tr_status status = tr_try_await(client, ask, &sum);
        if (status == TR_OK)
            return sum->value;
        ck_assert_msg(status == TR_FAILED || status == TR_RESTARTED || status == TR_START_FAILED ||
                          status == TR_STOPPED,
                      "%s: %s",
                      tr_status_name(status),
                      tr_ask_error(client, ask)->text);
    }
}

static void *work(void *context)
{
    int me = (int)(intptr_t)context;
    tr_client *client;
    ck_assert_int_eq(tr_client_new(the_system, &client), TR_OK);
    for (int id = 0; id < IDS; id++) {
        for (int key = 0; key < KEYS; key++)
            answers[me][key][id] = add_surely(client, key, id);
    }
    tr_client_free(client);
    return NULL;
}

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context, (void)level, (void)path, (void)text;
}

/* Lists, looks and kills until the others are done. */
static void *disturb(void *context)
{
    bool *is_over = context;
    tr_client *client;
    ck_assert_int_eq(tr_client_new(the_system, &client), TR_OK);
    for (int i = 0; !__atomic_load_n(is_over, __ATOMIC_RELAXED); i++) {
        tr_durable_page page = {0};
        adder_ref ref;
        do {
            ck_assert_int_eq(
                tr_durable_list(client, adder, &page, .prefix = "k", .after = page.last, .max = 2),
                TR_OK);
        } while (page.has_more);
        tr_status status = tr_durable_exists(client, adder, "k1");
        ck_assert(status == TR_OK || status == TR_NOT_FOUND);
        if (i % 8 == 0 && tr_try_durable(client, &ref, adder, "k2") == TR_OK)
            tr_kill(client, ref);
        (void)tr_receive_any(client, TR_MILLISECOND);
    }
    tr_client_free(client);
    return NULL;
}

static void check_sums(void)
{
    tr_client *client;
    const struct sum *sum;
    ck_assert_int_eq(tr_client_new(the_system, &client), TR_OK);
    for (int key = 0; key < KEYS; key++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", key);
        look_ask ask = tr_ask_key(client, adder, name, look);
        ck_assert_int_eq(tr_try_await(client, ask, &sum), TR_OK);
        ck_assert_uint_eq(sum->value, IDS);
        for (int id = 0; id < IDS; id++) {
            for (int i = 1; i < CLIENTS; i++)
                ck_assert_uint_eq(answers[i][key][id], answers[0][key][id]);
        }
    }
    tr_client_free(client);
}

TEST(requests_of_many_threads_take_effect_once, "K-12", "K-13", "K-14")
{
    pthread_t threads[CLIENTS + 1];
    bool is_over = false;
    char directory[] = "/tmp/troupe-once-XXXXXX";
    char command[64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    const tr_system_options options = {.size = sizeof options,
                                       .name = "adders",
                                       .workers = 2,
                                       .on_log = quiet,
                                       .durable = TR_DURABLES(adder),
                                       .store = directory};
    ck_assert_int_eq(tr_system_new(&options, &the_system), TR_OK);
    ck_assert_int_eq(tr_system_start(the_system), TR_OK);
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i), 0);
    ck_assert_int_eq(pthread_create(&threads[CLIENTS], NULL, disturb, &is_over), 0);
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    ck_assert_int_eq(pthread_join(threads[CLIENTS], NULL), 0);
    check_sums();
    tr_system_shutdown(the_system, 5 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(the_system), TR_OK);
    tr_system_free(the_system);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

SUITE("durable once, threads", requests_of_many_threads_take_effect_once)
