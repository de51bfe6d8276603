/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Order and visibility on real threads: every sender's messages arrive in the order sent, with the
 * memory they speak of.
 */
#include "support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <troupe/troupe.h>

enum { WORKERS = 4, SENDERS = 8, RECEIVERS = 4, CLIENTS = 2, SOURCES = SENDERS + CLIENTS };
enum { BURST = 32, IN_FLIGHT = 20000 };

TR_MESSAGE(number, (u64, from), (u64, n));
TR_MESSAGE(wide_number, (u64, from), (u64, n), (array(u64, 10), rest));
TR_MESSAGE(send_on, (u64, from));
TR_MESSAGE(finished, (u64, wrong), (u64, received));
TR_MESSAGE(report_to, (ref, who));
TR_ACTOR(receiver, number, wide_number, report_to);
TR_ACTOR(sender, send_on);

static tr_system *system_;
static tr_client *client;
static uint64_t per_pair;
static receiver_ref receivers[RECEIVERS];
static atomic_uint_fast64_t received_total;
static atomic_uint_fast64_t sent_total;
static atomic_uint_fast64_t failures;

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void system_begin(int workers)
{
    tr_system_options options = {.workers = workers, .on_log = quiet};
    ck_assert_int_eq(tr_system_new(&options, &system_), TR_OK);
    ck_assert_int_eq(tr_system_start(system_), TR_OK);
    ck_assert_int_eq(tr_client_new(system_, &client), TR_OK);
}

static void system_end(void)
{
    tr_client_free(client);
    tr_system_shutdown(system_, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system_), TR_OK);
    tr_counters counters;
    tr_system_counters(system_, &counters);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.live, 0);
    tr_system_free(system_);
}

/* ---- Numbers. ---- */

struct receiver {
    uint64_t expected[SOURCES];
    uint64_t wrong;
    uint64_t received;
    tr_ref reports_to;
};

static tr_next take(tr_self *self, struct receiver *state, uint64_t from, uint64_t n)
{
    state->wrong += state->expected[from] != n;
    state->expected[from] = n + 1;
    if (++state->received % 64 == 0)
        atomic_fetch_add(&received_total, 64);
    if (state->received == SOURCES * per_pair)
        tr_tell(
            self, state->reports_to, finished, .wrong = state->wrong, .received = state->received);
    return TR_SAME;
}
static tr_next on_number(tr_self *self, struct receiver *state, const struct number *message)
{
    return take(self, state, message->from, message->n);
}
static tr_next on_wide_number(tr_self *self, struct receiver *state,
                              const struct wide_number *message)
{
    state->wrong += message->rest[9] != message->n;
    return take(self, state, message->from, message->n);
}
static tr_next on_report_to(struct receiver *state, const struct report_to *message)
{
    state->reports_to = message->who;
    return TR_SAME;
}
TR_BEHAVIOR(receiver, struct receiver, TR_ON(number, on_number), TR_ON(wide_number, on_wide_number),
            TR_ON(report_to, on_report_to));

struct sender {
    uint64_t sent;
};
static tr_next on_send_on(tr_self *self, struct sender *state, const struct send_on *message)
{
    /* Not too far ahead of the receivers: the test is of order, not of memory. */
    int64_t ahead = (int64_t)atomic_load(&sent_total) - (int64_t)atomic_load(&received_total);
    if (ahead < IN_FLIGHT) {
        for (int i = 0; i < BURST && state->sent < per_pair; i++, state->sent++) {
            uint64_t n = state->sent;
            for (int r = 0; r < RECEIVERS; r++) {
                if (n % 3)
                    tr_tell(self, receivers[r], number, .from = message->from, .n = n);
                else
                    tr_tell(self,
                            receivers[r],
                            wide_number,
                            .from = message->from,
                            .n = n,
                            .rest[9] = n);
            }
        }
        atomic_fetch_add(&sent_total, BURST * RECEIVERS);
    }
    if (state->sent < per_pair)
        tr_tell(self, tr_me(self), send_on, .from = message->from);
    return TR_SAME;
}
TR_BEHAVIOR(sender, struct sender, TR_ON(send_on, on_send_on));

static void *client_main(void *argument)
{
    uint64_t from = SENDERS + *(uint64_t *)argument;
    tr_client *mine;
    if (tr_client_new(system_, &mine) != TR_OK) {
        atomic_fetch_add(&failures, 1);
        return NULL;
    }
    for (uint64_t n = 0; n < per_pair; n++) {
        for (int r = 0; r < RECEIVERS; r++)
            atomic_fetch_add(&failures,
                             tr_tell(mine, receivers[r], number, .from = from, .n = n) != TR_OK);
    }
    tr_client_free(mine);
    return NULL;
}

TEST(a_million_messages_keep_their_order, "SG-01", "SG-05")
{
    pthread_t threads[CLIENTS];
    uint64_t numbers[CLIENTS];
    per_pair = test_scale(1000000, 100000000) / (SOURCES * RECEIVERS);
    system_begin(WORKERS);
    for (int r = 0; r < RECEIVERS; r++) {
        ck_assert_int_eq(tr_try_spawn_at(client, &receivers[r], r, receiver, NULL), TR_OK);
        tr_tell(client, receivers[r], report_to, .who = tr_client_ref(client));
    }
    /* Some senders share a worker with a receiver, and all send to others as well. */
    for (uint64_t s = 0; s < SENDERS; s++) {
        sender_ref sender = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &sender, (int)s % WORKERS, sender, NULL), TR_OK);
        tr_tell(client, sender, send_on, .from = s);
    }
    for (uint64_t i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, client_main, &numbers[i]), 0);
    }
    for (int r = 0; r < RECEIVERS; r++) {
        const struct finished *message = tr_receive(client, finished, 60 * TR_SECOND);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_eq(message->wrong, 0);
        ck_assert_uint_eq(message->received, SOURCES * per_pair);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(atomic_load(&failures), 0);
    system_end();
}

/* ---- Visibility. ---- */

enum { CELLS = 64 };
/* Plain memory: whoever has the token of a cell owns it. ThreadSanitizer would see a mistake. */
static uint64_t cells[CELLS][8];
TR_MESSAGE(token, (u64, cell), (u64, round), (u64, left));
TR_MESSAGE(payload, (u64, sum), (bytes, data), (str, text), (buffer, shared), (u64, left));
TR_MESSAGE(ended, (u64, rounds));
TR_ACTOR(holder, token, payload);
enum { HOLDERS = 8 };
static holder_ref holders[HOLDERS];
static tr_ref ends_at;

static tr_next on_token(tr_self *self, const struct token *message)
{
    uint64_t *cell = cells[message->cell];
    for (int i = 0; i < 8; i++) {
        if (cell[i] != message->round)
            atomic_fetch_add(&failures, 1);
        cell[i] = message->round + 1;
    }
    if (message->left == 0) {
        tr_tell(self, ends_at, ended, .rounds = message->round + 1);
        return TR_SAME;
    }
    tr_tell(self,
            holders[tr_random(self) % HOLDERS],
            token,
            .cell = message->cell,
            .round = message->round + 1,
            .left = message->left - 1);
    return TR_SAME;
}

static uint64_t sum_of(const void *data, size_t size, uint64_t sum)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + bytes[i];
    return sum;
}

static void payload_send(tr_self *self, tr_client *from, uint64_t seed, uint64_t left, tr_ref to)
{
    unsigned char data[600];
    char text[100];
    size_t size = seed % sizeof data;
    memset(data, (int)(seed % 251), size);
    memset(text, 'a' + (int)(seed % 26), sizeof text);
    text[seed % (sizeof text - 1)] = '\0';
    tr_buffer *buffer = tr_buffer_new(256);
    memset(tr_buffer_data(buffer), (int)(seed % 253), 256);
    uint64_t sum = sum_of(data, size, 0);
    sum = sum_of(text, strlen(text), sum);
    sum = sum_of(tr_buffer_data(buffer), 256, sum);
    struct payload message = {
        .sum = sum, .data = {data, size}, .text = text, .shared = buffer, .left = left};
    tr_status status = self ? tr_tell_copy(self, to, payload, &message)
                            : tr_tell_copy(from, to, payload, &message);
    if (status != TR_OK)
        atomic_fetch_add(&failures, 1);
    /* All of it is ours again. */
    memset(data, 255, sizeof data);
    memset(text, 'Z', sizeof text);
    tr_buffer_release(buffer);
}

static tr_next on_payload(tr_self *self, const struct payload *message)
{
    uint64_t sum = sum_of(message->data.data, message->data.size, 0);
    sum = sum_of(message->text, strlen(message->text), sum);
    sum = sum_of(tr_buffer_data(message->shared), tr_buffer_size(message->shared), sum);
    if (sum != message->sum)
        atomic_fetch_add(&failures, 1);
    if (message->left == 0)
        tr_tell(self, ends_at, ended, .rounds = 1);
    else
        payload_send(self,
                     NULL,
                     tr_random(self),
                     message->left - 1,
                     tr_any(holders[tr_random(self) % HOLDERS]));
    return TR_SAME;
}
TR_BEHAVIOR(holder, void, TR_ON(token, on_token), TR_ON(payload, on_payload));

static void holders_spawn(void)
{
    ends_at = tr_client_ref(client);
    for (int i = 0; i < HOLDERS; i++)
        ck_assert_int_eq(tr_try_spawn_at(client, &holders[i], i % WORKERS, holder, NULL), TR_OK);
    for (int i = 0; i < HOLDERS; i++)
        ck_assert_int_eq(tr_spawn_wait(client, holders[i], 60 * TR_SECOND, NULL), TR_OK);
}

TEST(memory_written_before_a_send_is_seen_by_the_receiver, "SG-14")
{
    uint64_t rounds = test_scale(200000, 20000000) / CELLS;
    system_begin(WORKERS);
    holders_spawn();
    for (uint64_t i = 0; i < CELLS; i++) {
        for (int j = 0; j < 8; j++)
            cells[i][j] = 7 * i;
        tr_tell(client, holders[i % HOLDERS], token, .cell = i, .round = 7 * i, .left = rounds);
    }
    for (int i = 0; i < CELLS; i++)
        ck_assert_ptr_nonnull(tr_receive(client, ended, 60 * TR_SECOND));
    for (uint64_t i = 0; i < CELLS; i++)
        ck_assert_uint_eq(cells[i][3], 7 * i + rounds + 1);
    ck_assert_uint_eq(atomic_load(&failures), 0);
    system_end();
}

TEST(payloads_arrive_as_they_were_sent, "SG-14", "P-04", "B-06")
{
    uint64_t rounds = test_scale(100000, 10000000) / 16;
    system_begin(WORKERS);
    holders_spawn();
    for (uint64_t i = 0; i < 16; i++)
        payload_send(NULL, client, i * 1234567, rounds, tr_any(holders[i % HOLDERS]));
    for (int i = 0; i < 16; i++)
        ck_assert_ptr_nonnull(tr_receive(client, ended, 60 * TR_SECOND));
    ck_assert_uint_eq(atomic_load(&failures), 0);
    system_end();
}

SUITE("order on threads", a_million_messages_keep_their_order,
      memory_written_before_a_send_is_seen_by_the_receiver, payloads_arrive_as_they_were_sent)
