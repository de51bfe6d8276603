/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of clients that look late, or never; and asks to clients.
 */
#include "support/kits.h"

TR_MESSAGE(pong);
TR_REQUEST(ping, pong, (i64, delay_ns));
TR_MESSAGE(outcome, (i32, status));
TR_REQUEST(ask_client, outcome, (ref, client), (bool, forwards));
TR_ACTOR(server, ping, ask_client);

static tr_next on_ping(tr_self *self, const struct ping *m)
{
    if (m->delay_ns)
        (void)tr_sleep(self, m->delay_ns);
    return tr_reply(self, pong);
}
static tr_next on_ask_client(tr_self *self, const struct ask_client *m)
{
    if (m->forwards)
        return tr_forward(self, m->client);
    tr_status status = tr_try_await(self, tr_ask(self, m->client, ping), NULL);
    return tr_reply(self, outcome, .status = status);
}
TR_BEHAVIOR(server, void, TR_ON(ping, on_ping), TR_ON(ask_client, on_ask_client));

static server_ref server_one;
static int calls;
static tr_status called_with;

static void on_answer(void *context, const ping_answer *answer)
{
    (void)context;
    calls++;
    called_with = answer->status;
}
TR_CALLBACK(note, ping, void, on_answer);

static void begin(void)
{
    calls = 0;
    called_with = TR_OK;
    ck_assert_int_eq(tr_try_spawn_at(test, &server_one, home, server, NULL), TR_OK);
    tr_kit_settle(kit);
}

static uint64_t dead(void)
{
    return tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL);
}

/* ---- Late. ---- */

/* The reply is sent so long after the ask, whose time is 10 ms; the client looks after 80 ms. */
static void reply_after(tr_time delay_ns, tr_status expected)
{
    begin();
    uint64_t before = dead();
    ping_ask asked = tr_ask_within(test, 10 * MS, server_one, ping, .delay_ns = delay_ns);
    ck_assert_int_eq(
        tr_ask_callback_within(test, 10 * MS, note, NULL, server_one, ping, .delay_ns = delay_ns),
        TR_OK);
    tr_kit_advance(kit, 80 * MS);
    ck_assert(tr_is_answered(test, asked));
    ck_assert_int_eq(tr_try_await(test, asked, NULL), expected);
    const char *text = tr_ask_error(test, asked)->text;
    if (expected == TR_TIMEOUT)
        ck_assert_msg(strstr(text, "the request was answered too late"), "%s", text);
    ck_assert_uint_eq(tr_client_poll(test, 0), 1);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(called_with, expected);
    ck_assert_uint_eq(dead(), before + (expected == TR_OK ? 0 : 2));
    tr_kit_check(kit);
}

static void play_late(void)
{
    reply_after(0, TR_OK);
    reply_after(9 * MS, TR_OK);
    reply_after(12 * MS, TR_TIMEOUT);
    reply_after(30 * MS, TR_TIMEOUT);
}

TEST(a_reply_that_was_sent_too_late_is_a_timeout_whenever_one_looks, "A-04", "A-02", "A-01")
{
    kits_each(play_late);
}

/* ---- To clients. ---- */

static void play_to_client(void)
{
    tr_client *other;
    const struct outcome *reply;
    begin();
    tr_time start = tr_kit_now(kit);
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &other), TR_OK);
    tr_ref asked = tr_client_ref(other);
    ask_client_ask pending = tr_ask(test, server_one, ask_client, .client = asked);
    ck_assert_int_eq(tr_try_await(test, pending, &reply), TR_OK);
    ck_assert_int_eq(reply->status, TR_NO_REPLY);
    pending = tr_ask(test, server_one, ask_client, .client = asked, .forwards = true);
    ck_assert_int_eq(tr_try_await(test, pending, &reply), TR_NO_REPLY);
    ck_assert_int_eq(tr_kit_now(kit), start);
    ck_assert_ptr_null(tr_receive(other, ping, 0));
    tr_client_free(other);
}

TEST(an_actor_that_asks_a_client_hears_at_once_that_there_is_no_reply, "A-01", "AK-04")
{
    kits_each(play_to_client);
}

/* ---- Asks that nobody awaits. ---- */

TEST(asks_that_nobody_awaits_are_bounded, "A-01", "A-02")
{
    kit_open(1, 1);
    begin();
    ping_ask first = tr_ask(test, server_one, ping);
    for (int i = 1; i < TR_CLIENT_ASKS_MAX; i++) {
        (void)tr_ask(test, server_one, ping);
        if (i % 1024 == 0)
            tr_kit_settle(kit);
    }
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, server_one, ping), NULL), TR_LIMIT);
    ck_assert_int_eq(tr_ask_callback(test, note, NULL, server_one, ping), TR_LIMIT);
    ck_assert_int_eq(calls, 0);
    /* One that is awaited makes capacity for another, which takes its place until it is polled for. */
    ck_assert_int_eq(tr_try_await(test, first, NULL), TR_OK);
    ck_assert_int_eq(tr_ask_callback(test, note, NULL, server_one, ping), TR_OK);
    tr_kit_settle(kit);
    ck_assert_ptr_null(tr_receive(test, pong, 0));
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, server_one, ping), NULL), TR_LIMIT);
    ck_assert_uint_eq(tr_client_poll(test, 0), 1);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, server_one, ping), NULL), TR_OK);
    kit_close();
}

SUITE("asks of clients", a_reply_that_was_sent_too_late_is_a_timeout_whenever_one_looks,
      an_actor_that_asks_a_client_hears_at_once_that_there_is_no_reply,
      asks_that_nobody_awaits_are_bounded)
