/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels that actors open: connects, names, reconnects, exchanges, hand-overs, moves.
 * On the network of kits.
 */
#include "support/net.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static tr_channel channel;
static bool stops_when_closed;

static tr_next on_opened(const struct tr_opened *message)
{
    say("opened%s%s",
        message->is_accepted ? " accepted" : "",
        message->is_handed_over ? " handed over" : "");
    channel = message->channel;
    return TR_SAME;
}

static tr_next on_received(const struct tr_received *message)
{
    say("got %.*s", (int)message->bytes.size, (const char *)message->bytes.data);
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return stops_when_closed ? TR_STOP : TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_opened, on_opened),
            TR_ON(tr_received, on_received), TR_ON(tr_closed, on_closed));

/* ---- Connecting. ---- */

ONCE(connect, {
    tr_status status = tr_try_connect(self, TR_TCP(SERVER), &channel);
    say("%s", tr_status_name(status));
    if (status == TR_OK)
        tr_write_text(self, channel, "hello");
})

static void play_connect(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0)); /* the test listens */
    HOST(host, connect);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    PEER_GETS(peer, "hello");
    SAID("TR_OK");
    peer_send(peer, "you");
    SAID("got you");
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    SAID("closed TR_CLOSED");
    tr_kit_close(peer);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(a_turn_connects_and_the_handler_reads, "C-01", "C-05")
{
    kits_each(play_connect);
}

ONCE(connect_nowhere, {
    tr_channel none;
    say("%s", tr_status_name(tr_try_connect(self, TR_TCP("127.0.0.1:9"), &none)));
    say("%s", tr_status_name(tr_try_connect(self, TR_TCP("no.such.name:9"), &none)));
    say("%s", tr_status_name(tr_try_connect(self, TR_TCP("slow.name:9"), &none)));
    say("%s", tr_status_name(tr_try_connect(self, TR_TCP("not an address"), &none)));
    say("%s", tr_status_name(tr_try_connect(self, TR_UNIX("/no/such/socket"), &none)));
    say("%s", tr_status_name(tr_try_connect(self, TR_UDP(SERVER), &none)));
    say("%s", tr_status_name(tr_try_connect(self, TR_TCP(SERVER, .idle_ns = -1), &none)));
    say("%s", tr_status_name(tr_try_connect(self, TR_TCP(SERVER, .source = "x"), &none)));
})

TEST(each_way_not_to_connect_has_its_status, "C-05", "CH-10")
{
    kit_open(1, 1);
    tr_kit_fail_name(kit, "slow.name", TR_TIMEOUT);
    HOST(host, connect_nowhere);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("TR_CONNECT_REFUSED; TR_ADDRESS_INVALID; TR_TIMEOUT; TR_ADDRESS_INVALID; "
         "TR_CONNECT_REFUSED; TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT; TR_ADDRESS_INVALID");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    kit_close();
}

ONCE(connect_or_say, {
    tr_channel none;
    say("%s", tr_status_name(tr_try_connect(self, TR_TCP(SERVER), &none)));
})
ONCE(nothing_yet, (void)self)
ONCE(dial_or_be_told, tr_dial(self, TR_TCP(SERVER)))

/* Known at once, as where there is no route, or later, as an answer of the network. */
TEST(an_address_that_cannot_be_reached_has_a_status_of_its_own, "C-05", "CH-10")
{
    static const tr_kit_network far = {.delay_ns = 10 * MS};
    static const char *const calls[] = {"open", "outcome"};
    kit_open(1, 1);
    tr_kit_set_network(kit, &far); /* so that a connect has an outcome */
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, nothing_yet);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        tr_kit_fail_network(kit, calls[i], 1, TR_UNREACHABLE);
        host_run(connect_or_say);
        tr_kit_advance(kit, TR_SECOND);
        SAID("TR_UNREACHABLE");
        tr_kit_fail_network(kit, calls[i], 1, TR_UNREACHABLE);
        host_run(dial_or_be_told);
        tr_kit_advance(kit, TR_SECOND);
        SAID("closed TR_UNREACHABLE");
        ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    }
    kit_close();
}

ONCE(connect_name, {
    tr_status status = tr_try_connect(self, TR_TCP("shop.example:7000"), &channel);
    say("%s %d", tr_status_name(status), (int)(tr_now(self) % TR_SECOND / MS));
})

/* The first address cannot be reached, and the second one answers; or it refuses, and its status is the one. */
TEST(an_address_that_cannot_be_reached_leaves_the_next, "C-05", "CH-10")
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_name(kit, "shop.example", "10.0.0.1"));
    ck_assert(tr_kit_add_name(kit, "shop.example", "127.0.0.1"));
    tr_kit_fail_network(kit, "open", 1, TR_UNREACHABLE);
    HOST(host, connect_name);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_ptr_nonnull(strstr(said(), "TR_CONNECT_REFUSED"));
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    tr_kit_fail_network(kit, "open", 1, TR_UNREACHABLE);
    host_run(connect_name);
    ck_assert_ptr_nonnull(tr_kit_accept(kit, SERVER, TR_SECOND));
    ck_assert_ptr_nonnull(strstr(said(), "TR_OK"));
    kit_close();
}

/* The first address refuses, the second one answers. */
TEST(the_addresses_of_a_name_are_tried_in_turn, "C-05", "CH-10")
{
    kit_open(1, 1);
    ck_assert(tr_kit_add_name(kit, "shop.example", "10.0.0.1"));
    ck_assert(tr_kit_add_name(kit, "shop.example", "127.0.0.1"));
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, connect_name);
    ck_assert_ptr_nonnull(tr_kit_accept(kit, SERVER, TR_SECOND));
    ck_assert_ptr_nonnull(strstr(said(), "TR_OK"));
    kit_close();
}

ONCE(connect_slowly, {
    tr_status status = tr_try_connect(self, TR_TCP(SERVER, .connect_ns = 2 * TR_SECOND), &channel);
    say("%s", tr_status_name(status));
})

TEST(a_connect_takes_no_longer_than_it_may, "C-05")
{
    static const tr_kit_network far = {.delay_ns = TR_MINUTE};
    kit_open(1, 1);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    tr_kit_set_network(kit, &far);
    HOST(host, connect_slowly);
    tr_kit_advance(kit, 2 * TR_SECOND - 1);
    SAID("");
    tr_kit_advance(kit, 1);
    SAID("TR_TIMEOUT");
    tr_kit_advance(kit, TR_HOUR);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    kit_close();
}

/* ---- Dialing. ---- */

ONCE(dial, {
    channel = tr_dial(self, TR_TCP(SERVER));
    tr_write_text(self, channel, "early ");
    say("dialed");
})
ONCE(write_late, tr_write_text(self, channel, "late"))

static void play_dial(void)
{
    HOST(host, dial);
    tr_kit_advance(kit, MS);
    SAID("dialed; closed TR_CONNECT_REFUSED");
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    host_run(dial);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    PEER_GETS(peer, "early ");
    SAID("dialed; opened");
    host_run(write_late);
    PEER_GETS(peer, "late");
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    SAID("closed TR_RESET");
}

TEST(a_dial_is_told_and_what_was_written_early_is_sent, "C-05", "C-09")
{
    kits_each(play_dial);
}

TEST(a_send_that_fails_ends_the_channel_with_its_status, "C-05", "CH-05")
{
    static const tr_status statuses[] = {TR_UNREACHABLE, TR_TIMEOUT, TR_RESET, TR_NOT_PERMITTED};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        kit_open(1, 1);
        ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
        HOST(host, connect);
        tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
        PEER_GETS(peer, "hello");
        SAID("TR_OK");
        tr_kit_fail_network(kit, "send", 1, statuses[i]);
        host_run(write_late);
        tr_kit_settle(kit);
        char expected[64];
        snprintf(expected, sizeof expected, "closed %s", tr_status_name(statuses[i]));
        SAID(expected);
        kit_close();
    }
}

/* An actor without a handler for the end fails, and its supervisor starts it again: it reconnects. */
static int starts;

static tr_next client_start(tr_self *self)
{
    starts++;
    tr_channel made = tr_dial(self, TR_TCP(SERVER));
    tr_print(self, made, "%d", starts);
    return TR_SAME;
}

TR_ACTOR(client, run);
TR_BEHAVIOR(client, void, TR_ON(run, on_run), TR_ON(tr_pre_start, client_start));
TR_BEHAVIOR(parent, void, TR_ON(run, on_run), TR_CHILD(client, "client"),
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 10,
                         .backoff = {.initial_ns = 100 * MS, .max_ns = TR_SECOND}));
ONCE(nothing, (void)self)

TEST(to_reconnect_is_to_be_restarted, "C-09", "CH-07")
{
    kit_open(1, 1);
    starts = 0;
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(parent, nothing);
    for (int i = 1; i <= 4; i++) {
        tr_kit_peer *peer = tr_kit_accept(kit, SERVER, 10 * TR_SECOND);
        ck_assert_ptr_nonnull(peer);
        char text[8];
        snprintf(text, sizeof text, "%d", i);
        PEER_GETS(peer, text);
        if (i % 2)
            tr_kit_reset(peer);
        else
            tr_kit_finish(peer);
    }
    ck_assert_int_eq(starts, 4);
    kit_close();
}

/* ---- Options. ---- */

#define SAY_CONNECT(...) say("%d", tr_try_connect(self, __VA_ARGS__, &none) == TR_INVALID_ARGUMENT)
#define SAY_BIND(...) say("%d", tr_try_bind(self, __VA_ARGS__, &none) == TR_INVALID_ARGUMENT)
#define SAY_LISTEN(...)                                                                            \
    say("%d", tr_try_listen(self, &listener, host, __VA_ARGS__) == TR_INVALID_ARGUMENT)

ONCE(use_options, {
    tr_channel none;
    SAY_LISTEN(TR_TCP(SERVER, .certificate = "a.pem", .key = "a.key"));
    SAY_LISTEN(TR_TCP(SERVER, .verify = TR_VERIFY_REQUIRED));
    SAY_LISTEN(TR_TCP(SERVER, .source = "127.0.0.1:0"));
    SAY_LISTEN(TR_UNIX("/tmp/x", .only_v6 = true));
    SAY_LISTEN(TR_UDP(SERVER));
    SAY_CONNECT(TR_TCP(SERVER, .trusts = "a.pem"));
    SAY_CONNECT(TR_TCP(SERVER, .connections_max = 1));
    SAY_CONNECT(TR_TCP(SERVER, .reuses_port = true));
    SAY_BIND(TR_UDP(SERVER, .framing = TR_LINES));
    SAY_BIND(TR_UDP(SERVER, .idle_ns = TR_SECOND));
    SAY_BIND(TR_UDP(SERVER, .backlog = 1));
})

TEST(an_option_that_would_do_nothing_is_refused, "C-05", "U-01")
{
    kit_open(1, 1);
    HOST(host, use_options);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("1; 1; 1; 1; 1; 1; 1; 1; 1; 1; 1");
    kit_close();
}

/* ---- Exchanges. ---- */

TR_MESSAGE(answered, (str, text));
TR_REQUEST(question, answered, (str, text), (i64, within_ns));
TR_ACTOR(proxy, run, question);

static tr_channel proxied;

static tr_next on_question(tr_self *self, const struct question *message)
{
    if (message->within_ns)
        tr_channel_within(self, proxied, message->within_ns);
    tr_channel_ask asked =
        tr_exchange(self, proxied, (tr_bytes){message->text, strlen(message->text)});
    const struct tr_received *reply;
    tr_status status = tr_try_await(self, asked, &reply);
    if (status != TR_OK)
        return tr_refuse(self, 1, "%s", tr_status_name(status));
    return tr_reply(self, answered, .text = reply->bytes.data);
}

static tr_next on_late(const struct tr_received *message)
{
    say("nobody's: %s", (const char *)message->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(proxy, void, TR_ON(run, on_run), TR_ON(question, on_question),
            TR_ON(tr_received, on_late), TR_ON(tr_closed, on_closed));
ONCE(dial_proxied, proxied = tr_dial(self, TR_TCP(SERVER, .framing = TR_LINES, .in_flight_max = 3)))

#define ASK(text_, within)                                                                         \
    tr_ask(test, proxy_ref_of(tr_any(host)), question, .text = text_, .within_ns = within)

static void play_exchange(void)
{
    const struct answered *reply;
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(proxy, dial_proxied);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    question_ask asks[5];
    for (int i = 0; i < 5; i++)
        asks[i] = ASK("q\n", 0);
    PEER_GETS(peer, "q\nq\nq\n"); /* three at once */
    peer_send(peer, "one\ntwo\n");
    PEER_GETS(peer, "q\nq\n");
    peer_send(peer, "three\nfour\nfive\nsix\n");
    static const char *const texts[] = {"one", "two", "three", "four", "five"};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(tr_try_await(test, asks[i], &reply), TR_OK);
        ck_assert_str_eq(reply->text, texts[i]);
    }
    SAID("nobody's: six");
    /* One that gives up keeps its place. */
    question_ask late = ASK("late\n", 10 * MS);
    ck_assert_int_eq(tr_try_await(test, late, &reply), TR_REFUSED);
    question_ask next = ASK("next\n", TR_SECOND);
    PEER_GETS(peer, "late\nnext\n");
    peer_send(peer, "for late\nfor next\n");
    ck_assert_int_eq(tr_try_await(test, next, &reply), TR_OK);
    ck_assert_str_eq(reply->text, "for next");
    /* Those under way end with the connection. */
    question_ask lost = ASK("lost\n", TR_SECOND);
    PEER_GETS(peer, "lost\n");
    tr_kit_reset(peer);
    ck_assert_int_eq(tr_try_await(test, lost, &reply), TR_REFUSED);
    ck_assert_str_eq(tr_ask_error(test, lost)->text, "TR_RESET");
    tr_kit_settle(kit);
    SAID("closed TR_RESET");
}

TEST(exchanges_are_answered_in_order, "C-03")
{
    kits_each(play_exchange);
}

static tr_channel sides[2];
ONCE(connect_two, {
    sides[0] = tr_connect(self, TR_TCP(SERVER));
    sides[1] = tr_connect(self, TR_TCP("127.0.0.1:7001"));
    say("two");
})
ONCE(await_any, {
    size_t first = 9;
    ck_assert_int_eq(
        tr_await_any(self, &first, tr_readable(self, sides[0]), tr_readable(self, sides[1])),
        TR_OK);
    tr_bytes bytes;
    ck_assert(tr_read(self, sides[first], &bytes));
    say("%zu: %.*s", first, (int)bytes.size, (const char *)bytes.data);
})
TR_BEHAVIOR(joiner, void, TR_ON(run, on_run), TR_ON(tr_closed, on_closed));

TEST(a_turn_waits_for_several_channels, "C-04")
{
    kit_open(1, 1);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    ck_assert_ptr_null(tr_kit_accept(kit, "127.0.0.1:7001", 0));
    HOST(joiner, connect_two);
    tr_kit_peer *a = tr_kit_accept(kit, SERVER, TR_SECOND);
    tr_kit_peer *b = tr_kit_accept(kit, "127.0.0.1:7001", TR_SECOND);
    SAID("two");
    host_run(await_any);
    peer_send(b, "from b");
    SAID("1: from b");
    host_run(await_any);
    peer_send(a, "from a");
    SAID("0: from a");
    kit_close();
}

/* ---- Hand-overs and moves. ---- */

TR_ACTOR(taker, run);
static taker_ref taker;

static tr_next taker_received(tr_self *self, const struct tr_received *message)
{
    say("taker got %.*s", (int)message->bytes.size, (const char *)message->bytes.data);
    tr_write_text(self, message->channel, "from taker");
    return TR_SAME;
}

TR_BEHAVIOR(taker, void, TR_ON(run, on_run), TR_ON(tr_opened, on_opened),
            TR_ON(tr_received, taker_received), TR_ON(tr_closed, on_closed));

static tr_next giver_received(tr_self *self, const struct tr_received *message)
{
    say("giver got %s", (const char *)message->bytes.data);
    tr_write_text(self, message->channel, "from giver, ");
    ck_assert_int_eq(tr_hand_over(self, message->channel, taker), TR_OK);
    ck_assert_int_eq(tr_write_text(self, message->channel, "x"), TR_NOT_OWNER);
    return TR_STOP;
}

TR_BEHAVIOR(giver, void, TR_ON(tr_received, giver_received));
ONCE(listen_giver, {
    listener = tr_listen(self, giver, TR_TCP(SERVER, .framing = TR_LINES));
    taker = tr_spawn_at(self, home, taker, "taker");
})

static void play_hand_over(void)
{
    HOST(host, listen_giver);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "hello\nrest\nof it\n");
    tr_kit_settle(kit);
    PEER_GETS(peer, "from giver, from takerfrom taker");
    SAID("giver got hello; opened handed over; taker got rest; taker got of it");
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    SAID("closed TR_CLOSED");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(a_channel_is_handed_over_with_what_was_not_read, "C-10", "CH-07")
{
    kits_each(play_hand_over);
}

static tr_next giver_to_dead(tr_self *self, const struct tr_received *message)
{
    say("%s", tr_status_name(tr_hand_over(self, message->channel, taker)));
    tr_write_text(self, message->channel, "still here");
    return TR_SAME;
}

TR_BEHAVIOR(mournful, void, TR_ON(tr_received, giver_to_dead));
ONCE(listen_mournful, {
    listener = tr_listen(self, mournful, TR_TCP(SERVER));
    taker = tr_spawn(self, taker, "taker");
    tr_kill(self, taker);
})

TEST(a_channel_stays_when_nobody_takes_it, "C-10")
{
    kit_open(1, 1);
    HOST(host, listen_mournful);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "x");
    SAID("TR_STOPPED");
    PEER_GETS(peer, "still here");
    kit_close();
}

/* Sessions that move between workers lose and double nothing. */
static tr_next on_number(tr_self *self, const struct tr_received *line)
{
    tr_print(self, line->channel, "%s\n", (const char *)line->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(mover, void, TR_ON(tr_received, on_number));
ONCE(listen_mover, listener = tr_listen(self, mover, TR_TCP(SERVER, .framing = TR_LINES)))

static void play_moves(void)
{
    static const tr_kit_network network = {.piece_max = TR_KIT_RANDOM, .delay_ns = MS};
    HOST(host, listen_mover);
    tr_kit_set_network(kit, &network);
    enum { PEERS = 4, ROUNDS = 10 };
    tr_kit_peer *peers[PEERS];
    char got[PEERS][2000] = {{0}};
    char expected[2000] = "";
    for (int i = 0; i < PEERS; i++)
        peers[i] = peer_new();
    for (int round = 0; round < ROUNDS; round++) {
        char text[100];
        snprintf(text, sizeof text, "round %d\nand %d again\n", round, round);
        strcat(expected, text);
        for (int i = 0; i < PEERS; i++)
            tr_kit_send(peers[i], (tr_bytes){text, strlen(text)});
        for (int i = 0; i < PEERS; i++)
            strcat(got[i], tr_kit_receive_text(peers[i], 2 * MS));
    }
    tr_kit_advance(kit, TR_SECOND);
    for (int i = 0; i < PEERS; i++) {
        strcat(got[i], tr_kit_receive_text(peers[i], TR_SECOND));
        ck_assert_str_eq(got[i], expected);
    }
}

TEST(sessions_move_with_their_channels, "C-10", "CH-25")
{
    kits_each_moving(10, play_moves);
}

SUITE("channels of clients", a_turn_connects_and_the_handler_reads,
      each_way_not_to_connect_has_its_status,
      an_address_that_cannot_be_reached_has_a_status_of_its_own,
      an_address_that_cannot_be_reached_leaves_the_next, the_addresses_of_a_name_are_tried_in_turn,
      a_connect_takes_no_longer_than_it_may, a_dial_is_told_and_what_was_written_early_is_sent,
      a_send_that_fails_ends_the_channel_with_its_status, to_reconnect_is_to_be_restarted,
      an_option_that_would_do_nothing_is_refused, exchanges_are_answered_in_order,
      a_turn_waits_for_several_channels, a_channel_is_handed_over_with_what_was_not_read,
      a_channel_stays_when_nobody_takes_it, sessions_move_with_their_channels)
