/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels without memory: each allocation of a play is refused once, alone and with all that follow. Nothing
 * crashes, nothing leaks, each verb has a status, and with memory all of it works again. On the network of kits.
 */
#include "support/net.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

/** What a play needs, what it does, and what must work afterwards. */
struct play {
    void (*set_up)(void);
    void (*run)(void);
    void (*check)(void);
};

static void play_once(const struct play *play, uint64_t nth, bool and_all_after)
{
    kit_open(2, nth + 1);
    play->set_up();
    tr_kit_settle(kit);
    said_length = 0;
    tr_kit_fail_allocation(kit, nth, and_all_after);
    play->run();
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_advance(kit, TR_MINUTE);
    said_length = 0;
    play->check();
    kit_close();
}

/** Plays once for each allocation, which is refused. */
static void play_all(const struct play *play)
{
    kit_open(2, 1);
    play->set_up();
    tr_kit_settle(kit);
    uint64_t before = tr_kit_allocations(kit);
    play->run();
    uint64_t count = tr_kit_allocations(kit) - before;
    tr_kit_advance(kit, TR_MINUTE);
    said_length = 0;
    play->check();
    kit_close();
    ck_assert_uint_gt(count, 3);
    for (uint64_t nth = 1; nth <= count + 1; nth++) {
        play_once(play, nth, false);
        play_once(play, nth, true);
    }
}

static tr_kit_peer *peer;

/** Sends a text, as far as there is memory for it. */
static void try_send(const char *text)
{
    if (peer)
        (void)tr_kit_send(peer, (tr_bytes){text, strlen(text)});
    tr_kit_settle(kit);
}

static void close_peer(void)
{
    tr_kit_close(peer);
    peer = NULL;
    tr_kit_advance(kit, TR_SECOND);
}

/* ---- Connects. ---- */

static tr_channel channel;
static int opened, closed;

static tr_next on_opened(const struct tr_opened *message)
{
    opened++;
    channel = message->channel;
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    (void)message;
    closed++;
    return TR_SAME;
}

static tr_next on_received(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_opened, on_opened),
            TR_ON(tr_received, on_received), TR_ON(tr_closed, on_closed));

ONCE(nothing, (void)self)
ONCE(connect_and_read, {
    tr_bytes bytes;
    tr_status status = tr_try_connect(self, TR_TCP("shop.example:7000"), &channel);
    if (status == TR_OK)
        status = tr_write_text(self, channel, "hello");
    if (status == TR_OK)
        status = tr_try_read(self, channel, &bytes);
    say("%s", tr_status_name(status));
    if (channel.bits)
        tr_close(self, channel);
    channel = TR_NO_CHANNEL;
})

static void set_up_names(void)
{
    peer = NULL;
    channel = TR_NO_CHANNEL;
    opened = closed = 0;
    HOST(host, nothing);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0)); /* the test listens */
    ck_assert(tr_kit_add_name(kit, "shop.example", "10.0.0.9"));
    ck_assert(tr_kit_add_name(kit, "shop.example", "127.0.0.1"));
}

/* An actor that cannot be restarted for lack of memory is gone. */
static void host_again(void)
{
    (void)tr_kill(test, host);
    tr_kit_settle(kit);
    HOST(host, nothing);
}

static void run_connect(void)
{
    (void)TELL_RUN(test, host, connect_and_read);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    try_send("you");
    close_peer();
}

static void check_connect(void)
{
    host_again();
    host_run(connect_and_read);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    try_send("you");
    SAID("TR_OK");
    PEER_GETS(peer, "hello");
    close_peer();
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_connect_without_memory_has_a_status, "C-05", "U-03")
{
    static const struct play play = {set_up_names, run_connect, check_connect};
    play_all(&play);
}

ONCE(dial, {
    channel = tr_dial(self, TR_TCP(SERVER));
    tr_write_text(self, channel, "early");
})

static void run_dial(void)
{
    (void)TELL_RUN(test, host, dial);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    try_send("you");
    close_peer();
}

static void check_dial(void)
{
    host_again();
    opened = closed = 0;
    host_run(dial);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    PEER_GETS(peer, "early");
    ck_assert_int_eq(opened, 1);
    try_send("you");
    PEER_GETS(peer, "you");
    close_peer();
    ck_assert_int_eq(closed, 1);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_dial_without_memory_ends_once, "C-05", "U-03")
{
    static const struct play play = {set_up_names, run_dial, check_dial};
    play_all(&play);
}

/* ---- Exchanges. ---- */

static tr_next swap_two(tr_self *self)
{
    const struct tr_received *reply;
    tr_status status = tr_try_connect(self, TR_TCP(SERVER, .framing = TR_LINES), &channel);
    if (status != TR_OK)
        return TR_SAME;
    tr_channel_ask one = tr_exchange(self, channel, TR_BYTES("one\n"));
    tr_channel_ask two = tr_exchange(self, channel, TR_BYTES("two\n"));
    status = tr_try_await(self, one, &reply);
    say("%s", status == TR_OK ? (const char *)reply->bytes.data : tr_status_name(status));
    status = tr_try_await(self, two, &reply);
    say("%s", status == TR_OK ? (const char *)reply->bytes.data : tr_status_name(status));
    tr_close(self, channel);
    return TR_SAME;
}

static void run_exchange(void)
{
    (void)TELL_RUN(test, host, swap_two);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    try_send("answer one\nanswer two\n");
    close_peer();
}

static void check_exchange(void)
{
    host_run(swap_two);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    PEER_GETS(peer, "one\ntwo\n");
    try_send("answer one\nanswer two\n");
    SAID("answer one; answer two");
    close_peer();
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(an_exchange_without_memory_has_a_status, "C-03", "C-05", "U-03")
{
    static const struct play play = {set_up_names, run_exchange, check_exchange};
    play_all(&play);
}

/* ---- Hand-overs. ---- */

TR_ACTOR(taker, run);
static taker_ref taker;

static tr_next taker_opened(tr_self *self, const struct tr_opened *message)
{
    ck_assert(message->is_handed_over);
    tr_write_text(self, message->channel, "taker ");
    return TR_SAME;
}

static tr_next taker_closed(const struct tr_closed *message)
{
    (void)message;
    return TR_SAME;
}

TR_BEHAVIOR(taker, void, TR_ON(run, on_run), TR_ON(tr_opened, taker_opened),
            TR_ON(tr_received, on_received), TR_ON(tr_closed, taker_closed));

static tr_next giver_received(tr_self *self, const struct tr_received *message)
{
    tr_status status = tr_hand_over(self, message->channel, taker);
    /* TR_CLOSED: memory for the event came after the other side had closed. */
    ck_assert(status == TR_OK || status == TR_NO_MEMORY || status == TR_CLOSED);
    if (status != TR_OK) {
        tr_write_text(self, message->channel, "kept");
        tr_close(self, message->channel);
    }
    return TR_SAME;
}

TR_BEHAVIOR(giver, void, TR_ON(tr_received, giver_received));
ONCE(listen_giver, {
    listener = tr_listen(self, giver, TR_TCP(SERVER, .framing = TR_LINES));
    taker = tr_spawn_at(self, home, taker, "taker");
})

static void set_up_giver(void)
{
    peer = NULL;
    HOST(host, listen_giver);
}

static void run_hand_over(void)
{
    peer = tr_kit_connect(kit, SERVER);
    try_send("head\nrest\nof it\n");
    close_peer();
}

static void check_hand_over(void)
{
    peer = peer_new();
    peer_send(peer, "head\nrest\n");
    PEER_GETS(peer, "taker rest");
    close_peer();
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(a_hand_over_without_memory_loses_no_channel, "C-10", "U-03")
{
    static const struct play play = {set_up_giver, run_hand_over, check_hand_over};
    play_all(&play);
}

/* ---- Listeners. ---- */

TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_received));
ONCE(try_listen, {
    tr_status status = tr_try_listen(self, &listener, echo, TR_TCP(SERVER));
    say("%s", tr_status_name(status));
})
ONCE(stop_listener, tr_stop(self, listener))

static void set_up_host(void)
{
    peer = NULL;
    HOST(host, nothing);
}

static void run_listen(void)
{
    listener = (tr_listener_ref){0};
    (void)TELL_RUN(test, host, try_listen);
    tr_kit_settle(kit);
    peer = tr_kit_connect(kit, SERVER);
    try_send("hello");
    if (peer)
        close_peer();
}

static void check_listen(void)
{
    host_run(stop_listener);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    host_run(try_listen);
    SAID("TR_OK");
    peer = peer_new();
    peer_send(peer, "hello");
    PEER_GETS(peer, "hello");
    close_peer();
}

TEST(a_listen_without_memory_has_a_status, "C-02", "U-03")
{
    static const struct play play = {set_up_host, run_listen, check_listen};
    play_all(&play);
}

/* ---- Datagrams. ---- */

static tr_next on_datagram(tr_self *self, const struct tr_datagram *message)
{
    tr_send_to(self, message->channel, &message->from, message->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(udp, void, TR_ON(run, on_run), TR_ON(tr_datagram, on_datagram));

ONCE(bind_udp, {
    tr_channel bound;
    tr_status status = tr_try_bind(self, TR_UDP("127.0.0.1:8125"), &bound);
    say("%s", tr_status_name(status));
    if (status == TR_OK)
        channel = bound;
})
ONCE(close_udp, {
    if (channel.bits)
        tr_close(self, channel);
    channel = TR_NO_CHANNEL;
})

static void set_up_udp(void)
{
    channel = TR_NO_CHANNEL;
    HOST(udp, nothing);
    peer = tr_kit_bind(kit, "127.0.0.1:9999");
    ck_assert_ptr_nonnull(peer);
}

static void run_udp(void)
{
    (void)TELL_RUN(test, host, bind_udp);
    tr_kit_settle(kit);
    for (int i = 0; i < 70; i++)
        (void)tr_kit_send_to(peer, "127.0.0.1:8125", TR_BYTES("ping"));
    tr_kit_settle(kit);
}

static void check_udp(void)
{
    while (tr_kit_receive_from(peer, 0, NULL).data)
        ;
    host_run(close_udp);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    host_run(bind_udp);
    SAID("TR_OK");
    ck_assert_int_eq(tr_kit_send_to(peer, "127.0.0.1:8125", TR_BYTES("ping")), TR_OK);
    ck_assert_uint_eq(tr_kit_receive_from(peer, TR_SECOND, NULL).size, 4);
}

TEST(datagrams_without_memory_are_lost_at_most, "C-13", "U-03")
{
    static const struct play play = {set_up_udp, run_udp, check_udp};
    play_all(&play);
}

SUITE("channels without memory", a_connect_without_memory_has_a_status,
      a_dial_without_memory_ends_once, an_exchange_without_memory_has_a_status,
      a_hand_over_without_memory_loses_no_channel, a_listen_without_memory_has_a_status,
      datagrams_without_memory_are_lost_at_most)
