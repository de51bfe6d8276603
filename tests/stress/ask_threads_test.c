/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks on real threads: workers, and clients that ask at the same time, while actors are killed and
 * the system stops. Each ask has one outcome, and a reply is that of its request.
 */
#include "support/test.h"

#include <pthread.h>
#include <string.h>
#include <troupe/troupe.h>

#include "os/atomic.h"

enum { SERVERS = 8, CLIENTS = 3 };

TR_MESSAGE(answer, (u64, number));
TR_REQUEST(question, answer, (u64, number), (u64, depth));
TR_REQUEST(riddle, answer, (u64, number), (u64, depth));
TR_ACTOR(server, question, riddle);

static server_ref servers[SERVERS];
static atom64 outcomes[32];
static atom32 is_ready;

static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 31) * UINT64_C(0x7fb5d329728ea185);
    number = (number ^ number >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return number ^ number >> 33;
}

static void note(tr_status status, const struct answer *reply, uint64_t number)
{
    atom64_fetch_add(&outcomes[-status], 1, ATOM_RELAXED);
    ck_assert_int_eq(reply != NULL, status == TR_OK);
    if (reply)
        ck_assert_uint_eq(reply->number, ~number);
}

static tr_next respond(tr_self *self, uint64_t number, uint64_t depth)
{
    uint64_t dice = mix(number + depth);
    const struct answer *reply;
    if (depth) {
        server_ref a = servers[dice % SERVERS];
        server_ref b = servers[dice / SERVERS % SERVERS];
        tr_time ns = (dice / 64 % 8 ? 2000 : 100) * TR_MICROSECOND; /* many wait for each other */
        question_ask one = tr_ask_within(self, ns, a, question, .number = dice, .depth = depth - 1);
        riddle_ask two = tr_ask_within(self, ns, b, riddle, .number = dice + 1, .depth = depth - 1);
        size_t first;
        tr_status status = dice / 1024 % 2 ? tr_await_any(self, &first, one, two) : TR_OK;
        ck_assert_int_ne(status, TR_INVALID_ARGUMENT);
        status = tr_try_await(self, one, &reply);
        note(status, reply, dice);
        status = tr_try_await(self, two, &reply);
        note(status, reply, dice + 1);
        (void)tr_ask_error(self, two);
    }
    if (dice / 4096 % 16 == 0)
        return tr_refuse(self, 1, "no");
    if (dice / 4096 % 64 == 1)
        return TR_SAME;
    return tr_reply(self, answer, .number = ~number);
}

static tr_next on_question(tr_self *self, const struct question *message)
{
    return respond(self, message->number, message->depth);
}

static tr_next on_riddle(tr_self *self, const struct riddle *message)
{
    return respond(self, message->number, message->depth);
}

TR_BEHAVIOR(server, void, TR_ON(question, on_question),
            TR_ON(riddle, on_riddle, .is_barrier = true));

struct client_job {
    tr_system *system;
    uint64_t seed;
    uint64_t rounds;
    bool kills;
    uint64_t ended;
};

static void *client_main(void *argument)
{
    enum { AT_ONCE = 8 };
    struct client_job *job = argument;
    tr_client *client;
    if (tr_client_new(job->system, &client) != TR_OK)
        return NULL;
    while (!atom32_load(&is_ready, ATOM_ACQUIRE))
        ;
    for (uint64_t i = 0; i < job->rounds; i++) {
        question_ask asked[AT_ONCE];
        uint64_t numbers[AT_ONCE];
        for (uint64_t j = 0; j < AT_ONCE; j++) {
            numbers[j] = mix(job->seed + i * AT_ONCE + j);
            asked[j] = tr_ask_within(client,
                                     (numbers[j] % 16 ? 5000 : 50) * TR_MICROSECOND,
                                     servers[numbers[j] / 16 % SERVERS],
                                     question,
                                     .number = numbers[j],
                                     .depth = 2);
        }
        if (job->kills && i % 64 == 63) {
            tr_kill(client, servers[numbers[0] % SERVERS]);
            break;
        }
        for (uint64_t j = AT_ONCE; j-- > 0;) {
            const struct answer *reply;
            tr_status status = tr_try_await(client, asked[j], &reply);
            note(status, reply, numbers[j]);
            job->ended++;
        }
    }
    tr_client_free(client); /* with open asks, when it was the one that kills */
    return NULL;
}

/* With time enough: how many of the others are answered at all depends on the machine. */
static void ask_calmly(tr_client *client)
{
    for (uint64_t number = 0; number < 64; number++) {
        const struct answer *reply;
        question_ask asked = tr_ask_within(
            client, TR_MINUTE, servers[number % SERVERS], question, .number = number, .depth = 0);
        tr_status status = tr_try_await(client, asked, &reply);
        note(status, reply, number);
    }
}

static void play(int workers, uint64_t seed, uint64_t rounds, bool stops)
{
    tr_system *system;
    tr_client *client;
    pthread_t threads[CLIENTS];
    struct client_job jobs[CLIENTS];
    tr_system_options options = {.size = sizeof options, .name = "asks", .workers = workers};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    atom32_store(&is_ready, 0, ATOM_RELEASE);
    for (int i = 0; i < SERVERS; i++)
        ck_assert_int_eq(tr_try_spawn_at(client, &servers[i], i % workers, server, NULL), TR_OK);
    ask_calmly(client);
    for (int i = 0; i < CLIENTS; i++) {
        jobs[i] = (struct client_job){
            .system = system, .seed = mix(seed + (uint64_t)i), .rounds = rounds, .kills = i == 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, client_main, &jobs[i]), 0);
    }
    atom32_store(&is_ready, 1, ATOM_RELEASE);
    if (stops) /* while clients wait */
        tr_system_shutdown(system, 5 * TR_SECOND);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < CLIENTS && !stops; i++)
        ck_assert_uint_eq(jobs[i].ended, 8 * rounds);
    tr_client_free(client);
    tr_system_shutdown(system, 5 * TR_SECOND);
    (void)!tr_system_wait(system);
    tr_system_free(system);
}

TEST(asks_of_many_threads_have_one_outcome_each, "A-01", "A-02", "AK-01", "AK-07", "AK-08")
{
    uint64_t seed = test_seed();
    uint64_t rounds = test_scale(TEST_HAS_SANITIZER ? 100 : 500, 20000);
    for (uint64_t i = 0; i < 3; i++)
        play(1 + (int)i, seed + i, rounds, false);
    ck_assert_uint_gt(atom64_load(&outcomes[-TR_OK], ATOM_RELAXED), 0);
    ck_assert_uint_gt(atom64_load(&outcomes[-TR_REFUSED], ATOM_RELAXED), 0);
}

TEST(a_system_stops_while_clients_wait, "A-01", "AK-05")
{
    uint64_t seed = test_seed();
    for (uint64_t i = 0; i < test_scale(5, 50); i++)
        play(1 + (int)(i % 3), seed + i, 50, true);
}

SUITE("ask threads", asks_of_many_threads_have_one_outcome_each, a_system_stops_while_clients_wait)
