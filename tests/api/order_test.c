/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Order per sender and receiver, sizes of messages, and how a busy actor treats its neighbours.
 */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

enum { PEERS = 6 };

TR_MESSAGE(number, (u64, from), (u64, n));
TR_MESSAGE(large_number, (u64, from), (u64, n), (array(u64, 20), rest));
TR_MESSAGE(go, (u64, from), (u64, count));
TR_MESSAGE(blob, (u64, sum), (bytes, data));
TR_ACTOR(receiver, number, large_number);
TR_ACTOR(talker, go);
TR_ACTOR(weigher, blob);

/* What comes from each sender must be 0, 1, 2, ... */
static uint64_t expected[PEERS + 1];
static uint64_t wrong;
static void check_number(uint64_t from, uint64_t n)
{
    wrong += expected[from] != n;
    expected[from] = n + 1;
}
static tr_next on_number(const struct number *message)
{
    check_number(message->from, message->n);
    return TR_SAME;
}
static tr_next on_large_number(const struct large_number *message)
{
    check_number(message->from, message->n);
    return TR_SAME;
}
TR_BEHAVIOR(receiver, void, TR_ON(number, on_number), TR_ON(large_number, on_large_number));

/* Sends a burst, then continues with the next, so that it mixes with the others. */
static tr_ref receiving;
static uint64_t sent[PEERS + 1];
static tr_next on_go(tr_self *self, const struct go *message)
{
    uint64_t burst = 1 + tr_random(self) % 5;
    for (uint64_t i = 0; i < burst; i++) {
        uint64_t n = sent[message->from]++;
        if (n % 3)
            tr_tell(self, receiving, number, .from = message->from, .n = n);
        else
            tr_tell(self, receiving, large_number, .from = message->from, .n = n);
    }
    if (message->count > burst)
        tr_tell(self, tr_me(self), go, .from = message->from, .count = message->count - burst);
    return TR_SAME;
}
TR_BEHAVIOR(talker, void, TR_ON(go, on_go));

static uint64_t weighed;
static size_t largest;
static uint64_t sum_of(const unsigned char *data, size_t size)
{
    uint64_t sum = size;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + data[i];
    return sum;
}
static tr_next on_blob(const struct blob *message)
{
    wrong += sum_of(message->data.data, message->data.size) != message->sum;
    largest = message->data.size;
    weighed++;
    return TR_SAME;
}
TR_BEHAVIOR(weigher, void, TR_ON(blob, on_blob));

/* Senders on the receiver's worker and on others, and a client, all at once. */
static void talk(uint64_t seed, int workers)
{
    tr_kit_options options = {.seed = seed, .workers = workers};
    tr_kit *kit = tr_kit_new(&options);
    tr_client *client = tr_kit_client(kit);
    receiver_ref receiver = {0};
    talker_ref talkers[PEERS];
    memset(expected, 0, sizeof expected);
    memset(sent, 0, sizeof sent);
    ck_assert_int_eq(tr_try_spawn(client, &receiver, receiver, NULL), TR_OK);
    receiving = tr_any(receiver);
    for (int i = 0; i < PEERS; i++) {
        ck_assert_int_eq(tr_try_spawn_at(client, &talkers[i], i % workers, talker, NULL), TR_OK);
        tr_tell(client, talkers[i], go, .from = (uint64_t)i, .count = 100);
    }
    for (uint64_t n = 0; n < 100; n++) {
        tr_tell(client, receiver, number, .from = PEERS, .n = n);
        (void)tr_kit_step(kit);
        (void)tr_kit_step(kit);
    }
    (void)tr_kit_settle(kit);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(expected[PEERS], 100);
    for (int i = 0; i < PEERS; i++) {
        ck_assert_uint_ge(sent[i], 100);
        ck_assert_uint_eq(expected[i], sent[i]);
    }
    tr_kit_free(kit);
}

TEST(each_pair_keeps_its_order_under_any_schedule, "SG-01", "SG-05")
{
    uint64_t seed = test_seed();
    for (uint64_t i = test_scale(200, 20000); i > 0; i--)
        talk(seed + i, 1 + (int)(i % 4));
}

/* ---- Messages to oneself. ---- */

TR_MESSAGE(count_down, (u64, n));
TR_ACTOR(counter, count_down);
static uint64_t counted[8];
static size_t counted_count;
static tr_next on_count_down(tr_self *self, const struct count_down *message)
{
    counted[counted_count++ % 8] = message->n;
    if (message->n == 10) {
        tr_tell(self, tr_me(self), count_down, .n = 3);
        tr_tell(self, tr_me(self), count_down, .n = 2);
        /* Still this turn: nothing of it has been handled. */
        ck_assert_uint_eq(counted_count, 1);
    }
    return TR_SAME;
}
TR_BEHAVIOR(counter, void, TR_ON(count_down, on_count_down));

TEST(messages_to_oneself_come_after_the_turn_in_order, "SG-15")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_client *client = tr_kit_client(kit);
    counter_ref counter = {0};
    ck_assert_int_eq(tr_try_spawn(client, &counter, counter, NULL), TR_OK);
    tr_tell(client, counter, count_down, .n = 10);
    tr_tell(client, counter, count_down, .n = 5);
    (void)tr_kit_settle(kit);
    static const uint64_t wanted[] = {10, 5, 3, 2};
    ck_assert_uint_eq(counted_count, 4);
    ck_assert_mem_eq(counted, wanted, sizeof wanted);
    tr_kit_free(kit);
}

/* In one turn a message comes from elsewhere, and then one from the same worker. */
TR_MESSAGE(pass_by, (ref_of(receiver), to));
TR_ACTOR(passer, pass_by);

static tr_client *elsewhere;
static tr_next on_pass_by(tr_self *self, const struct pass_by *message)
{
    for (uint64_t n = 0; n < 6; n += 2) {
        tr_tell(elsewhere, message->to, number, .from = 0, .n = n);
        tr_tell(self, message->to, number, .from = 0, .n = n + 1);
    }
    return TR_SAME;
}
TR_BEHAVIOR(passer, void, TR_ON(pass_by, on_pass_by));

/* An actor that moves has sent from elsewhere itself, so this is the order of a pair. */
TEST(a_send_nearby_does_not_pass_what_came_from_elsewhere, "SG-01", "D-07")
{
    tr_kit *kit = tr_kit_new(NULL);
    elsewhere = tr_kit_client(kit);
    passer_ref passer;
    receiver_ref receiver;
    ck_assert_int_eq(tr_try_spawn(elsewhere, &receiver, receiver, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(elsewhere, &passer, passer, NULL), TR_OK);
    tr_kit_settle(kit);
    tr_tell(elsewhere, passer, pass_by, .to = receiver);
    tr_kit_settle(kit);
    ck_assert_uint_eq(expected[0], 6);
    ck_assert_uint_eq(wrong, 0);
    tr_kit_free(kit);
}

/* ---- Sizes. ---- */

TEST(a_message_of_any_size_arrives_whole_or_is_refused, "SG-09", "P-04")
{
    static unsigned char data[TR_PAYLOAD_MAX + 1];
    static const size_t sizes[] = {0,
                                   1,
                                   7,
                                   8,
                                   24,
                                   63,
                                   64,
                                   65,
                                   500,
                                   1000,
                                   1024,
                                   1025,
                                   4096,
                                   65536,
                                   1000000,
                                   TR_PAYLOAD_MAX - 4096};
    tr_kit_options options = {.workers = 2};
    tr_kit *kit = tr_kit_new(&options);
    tr_client *client = tr_kit_client(kit);
    weigher_ref weigher = {0};
    ck_assert_int_eq(tr_try_spawn_at(client, &weigher, 1, weigher, NULL), TR_OK);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 ^ i >> 8);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t sum = sum_of(data, sizes[i]);
        weighed = 0;
        ck_assert_int_eq(tr_tell(client, weigher, blob, .sum = sum, .data = {data, sizes[i]}),
                         TR_OK);
        data[0] ^= 1; /* the sender's memory is the sender's again */
        (void)tr_kit_settle(kit);
        data[0] ^= 1;
        ck_assert_uint_eq(weighed, 1);
        ck_assert_uint_eq(wrong, 0);
        ck_assert_uint_eq(largest, sizes[i]);
    }
    /* The limit is exact: one byte decides, and all that the message holds counts. */
    size_t low = TR_PAYLOAD_MAX - 4096;
    size_t high = TR_PAYLOAD_MAX;
    ck_assert_int_eq(tr_tell(client, weigher, blob, .data = {data, high}), TR_TOO_LARGE);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (tr_tell(client, weigher, blob, .sum = sum_of(data, middle), .data = {data, middle}) ==
            TR_OK)
            low = middle;
        else
            high = middle;
        (void)tr_kit_settle(kit);
        ck_assert_uint_eq(wrong, 0);
    }
    ck_assert_uint_ge(low, TR_PAYLOAD_MAX - sizeof(struct blob) - 16);
    ck_assert_uint_le(low, TR_PAYLOAD_MAX - sizeof(struct blob));
    tr_dead_letter_record record;
    ck_assert_uint_ge(tr_system_dead_letters(tr_kit_system(kit), &record, 1, NULL), 2);
    ck_assert_int_eq(record.reason, TR_TOO_LARGE);
    ck_assert_str_eq(record.type, "blob");
    ck_assert(tr_is_same(record.to, weigher));
    tr_kit_free(kit);
}

/* ---- Busy actors and their neighbours. ---- */

TR_MESSAGE(spin);
TR_ACTOR(spinner, spin);
static uint64_t spins;
static uint64_t stopped_after;
static tr_next on_spin(tr_self *self)
{
    spins++;
    tr_tell(self, tr_me(self), spin);
    return TR_SAME;
}
static tr_next on_spinner_stop(void)
{
    stopped_after = spins;
    return TR_SAME;
}
TR_BEHAVIOR(spinner, void, TR_ON(spin, on_spin), TR_ON(tr_post_stop, on_spinner_stop));

/* One that answers when it has been served. */
TR_REQUEST(knock, tr_done);
TR_ACTOR(neighbour, knock);
static uint64_t spins_then;
static tr_next on_knock(tr_self *self)
{
    spins_then = spins;
    return tr_reply(self, tr_done);
}
TR_BEHAVIOR(neighbour, void, TR_ON(knock, on_knock));

/* A worker in this thread's own loop, so that runs have their full budget. */
static tr_system *system_;
static tr_client *client_;
static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}
static void loop_begin(void)
{
    tr_system_options options = {.workers = 1, .on_log = on_log};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client_), TR_OK);
    spins = 0;
}
static void loop_end(void)
{
    tr_client_free(client_);
    tr_system_free(system_);
}

TEST(a_self_sending_actor_does_not_starve_its_neighbours, "D-02", "WP-17")
{
    loop_begin();
    spinner_ref spinner = {0};
    neighbour_ref neighbour = {0};
    ck_assert_int_eq(tr_try_spawn(client_, &spinner, spinner, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client_, &neighbour, neighbour, NULL), TR_OK);
    tr_tell(client_, spinner, spin);
    ck_assert_int_eq(tr_system_run_once(system_, 0), TR_OK);
    ck_assert_uint_ge(spins, 1000); /* it never ends by itself */
    for (int i = 0; i < 20; i++) {
        uint64_t before = spins;
        tr_tell(client_, neighbour, knock);
        ck_assert_int_eq(tr_system_run_once(system_, 0), TR_OK);
        ck_assert_ptr_nonnull(tr_receive(client_, tr_done, 0));
        /* At most the run that was under way, and one more. */
        ck_assert_uint_le(spins_then - before, 2 * TR_RUN_TURNS_MAX);
    }
    loop_end();
}

TEST(a_flooded_actor_yields_after_its_batch, "WP-17", "D-02")
{
    loop_begin();
    receiver_ref receiver = {0};
    neighbour_ref neighbour = {0};
    ck_assert_int_eq(tr_try_spawn(client_, &receiver, receiver, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn(client_, &neighbour, neighbour, NULL), TR_OK);
    for (uint64_t n = 0; n < 2000; n++)
        tr_tell(client_, receiver, number, .from = 0, .n = n);
    tr_tell(client_, neighbour, knock);
    tr_counters counters;
    do {
        ck_assert_int_eq(tr_system_run_once(system_, 0), TR_OK);
        tr_system_counters(system_, &counters);
    } while (counters.handled < 2001);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_ptr_nonnull(tr_receive(client_, tr_done, 0));
    /* 2000 messages are 32 runs or more. */
    ck_assert_uint_ge(counters.runs, 2000 / TR_RUN_TURNS_MAX);
    loop_end();
}

TEST(orders_overtake_mail, "WP-09")
{
    /* Kill acts after the present turn, however much mail is queued and however busy the actor. */
    loop_begin();
    spinner_ref spinner = {0};
    ck_assert_int_eq(tr_try_spawn(client_, &spinner, spinner, NULL), TR_OK);
    for (int i = 0; i < 5000; i++)
        tr_tell(client_, spinner, spin);
    ck_assert_int_eq(tr_system_run_once(system_, 0), TR_OK);
    uint64_t before = spins;
    tr_kill(client_, spinner);
    ck_assert_int_eq(tr_system_run_once(system_, 0), TR_OK);
    ck_assert_uint_le(stopped_after - before, TR_RUN_TURNS_MAX);
    ck_assert_uint_eq(spins, stopped_after);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.accepted, counters.handled + counters.dead_letters);
    ck_assert_uint_eq(counters.dead_letters, 5000);
    loop_end();
}

TEST(a_kill_from_another_worker_overtakes_mail, "WP-09")
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        tr_kit_options options = {.seed = seed, .workers = 2};
        tr_kit *kit = tr_kit_new(&options);
        tr_client *client = tr_kit_client(kit);
        spinner_ref spinner = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &spinner, 1, spinner, NULL), TR_OK);
        for (int i = 0; i < 500; i++)
            tr_tell(client, spinner, spin);
        for (int i = 0; i < 100; i++)
            (void)tr_kit_step(kit);
        uint64_t before = spins;
        tr_kill(client, spinner);
        (void)tr_kit_settle(kit);
        ck_assert_uint_le(stopped_after - before, 1);
        tr_kit_free(kit);
    }
}

SUITE("order", each_pair_keeps_its_order_under_any_schedule,
      messages_to_oneself_come_after_the_turn_in_order,
      a_send_nearby_does_not_pass_what_came_from_elsewhere,
      a_message_of_any_size_arrives_whole_or_is_refused,
      a_self_sending_actor_does_not_starve_its_neighbours, a_flooded_actor_yields_after_its_batch,
      orders_overtake_mail, a_kill_from_another_worker_overtakes_mail)
