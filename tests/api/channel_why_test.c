/* SPDX-License-Identifier: Apache-2.0 */
/** What tr_actor_why says about channels. On the network of kits. */
#include <troupe/why.h>

#include "support/net.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static tr_channel channel;
static tr_kit_peer *peer;
static tr_why_report report;

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

/* The first reason is of this kind, and its text has these words. */
static void why(tr_why_kind kind, const char *words)
{
    char text[2048];
    ck_assert_int_eq(tr_actor_why(test, host, &report), TR_OK);
    tr_why_print(&report, text, sizeof text);
    ck_assert_msg(report.count > 0 && report.reasons[0].kind == kind, "%s", text);
    ck_assert_msg(strstr(report.reasons[0].text, words), "%s", text);
}

static void begin(turn *first)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, first);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    tr_kit_settle(kit);
}

ONCE(connect_and_read, {
    tr_bytes bytes;
    channel = tr_connect(self, TR_TCP(SERVER));
    while (tr_read(self, channel, &bytes))
        continue;
})

static void play_reads(void)
{
    begin(connect_and_read);
    tr_kit_advance(kit, 12 * TR_SECOND);
    why(TR_WHY_READS, "waits to read from 127.0.0.1:7000");
    ck_assert_int_eq(report.reasons[0].age_ns / TR_SECOND, 12);
    ck_assert_str_eq(tr_why_name(TR_WHY_READS), "TR_WHY_READS");
    tr_kit_close(peer);
}

TEST(why_says_from_where_a_turn_reads, "O-03")
{
    kits_each(play_reads);
}

ONCE(connect_and_exchange, {
    channel = tr_connect(self, TR_TCP(SERVER, .framing = TR_LINES));
    tr_channel_ask asked = tr_exchange(self, channel, (tr_bytes){"sum\n", 4});
    (void)tr_await(self, asked);
})

static void play_exchanges(void)
{
    begin(connect_and_exchange);
    tr_kit_advance(kit, TR_SECOND);
    why(TR_WHY_READS, "waits for an answer from 127.0.0.1:7000");
    tr_kit_send(peer, (tr_bytes){"1\n", 2});
    tr_kit_settle(kit);
    tr_kit_close(peer);
}

TEST(why_says_from_whom_an_exchange_waits_for_an_answer, "O-03")
{
    kits_each(play_exchanges);
}

ONCE(connect_slowly, {
    tr_status status = tr_try_connect(self, TR_TCP("10.0.0.9:7000"), &channel);
    say("%s", tr_status_name(status));
})

static void play_connects(void)
{
    static const tr_kit_network slow = {.delay_ns = 5 * TR_SECOND};
    tr_kit_set_network(kit, &slow);
    HOST(host, connect_slowly);
    if (!said_length) /* it may be refused at once */
        why(TR_WHY_READS, "waits until 10.0.0.9:7000 is open");
    tr_kit_advance(kit, TR_MINUTE);
}

TEST(why_says_what_a_turn_connects_to, "O-03")
{
    kits_each(play_connects);
}

static char block[100000];

ONCE(write_and_wait, {
    channel = tr_connect(self, TR_TCP(SERVER));
    tr_write(self, channel, (tr_bytes){block, sizeof block});
    tr_write(self, channel, (tr_bytes){block, sizeof block});
})

ONCE(write_and_end, {
    channel = tr_connect(self, TR_TCP(SERVER));
    tr_write(self, channel, (tr_bytes){block, 3000});
})

ONCE(write_and_close, {
    channel = tr_connect(self, TR_TCP(SERVER));
    tr_write(self, channel, (tr_bytes){block, 3000});
    tr_close(self, channel);
})

static void play_writes(void)
{
    static const tr_kit_network narrow = {.window = 1000};
    tr_kit_set_network(kit, &narrow);
    begin(write_and_wait);
    tr_kit_advance(kit, 9 * TR_SECOND);
    why(TR_WHY_WRITES,
        "waits to write: 99000 bytes for 127.0.0.1:7000 wait, which has taken none for 9");
    tr_kit_reset(peer);
    tr_kit_close(peer);
}

static void play_unsent(void)
{
    static const tr_kit_network narrow = {.window = 1000};
    tr_kit_set_network(kit, &narrow);
    begin(write_and_end);
    tr_kit_advance(kit, 9 * TR_SECOND);
    why(TR_WHY_WRITES, "2000 bytes for 127.0.0.1:7000 wait, which has taken none for 9");
    ck_assert_uint_eq(report.reasons[0].count, 2000);
    tr_kit_reset(peer);
    tr_kit_close(peer);
}

static void play_lingers(void)
{
    static const tr_kit_network narrow = {.window = 1000};
    tr_kit_set_network(kit, &narrow);
    begin(write_and_close);
    tr_kit_advance(kit, 2 * TR_SECOND);
    why(TR_WHY_LINGERS, "a closed channel lingers: 2000 bytes for 127.0.0.1:7000");
    tr_kit_reset(peer);
    tr_kit_close(peer);
}

TEST(why_says_what_waits_to_be_sent, "O-03")
{
    kits_each(play_writes);
    kits_each(play_unsent);
    kits_each(play_lingers);
}

SUITE("why of channels", why_says_from_where_a_turn_reads,
      why_says_from_whom_an_exchange_waits_for_an_answer, why_says_what_a_turn_connects_to,
      why_says_what_waits_to_be_sent)
