/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Listeners and the sessions that they start: where sessions run, which connections are accepted, how sessions
 * and listeners end. On the network of kits.
 */
#include "support/net.h"

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

enum { WORKERS = 3, PEERS = 20 };
static tr_kit_peer *peers[PEERS];

/** Closes peers, and runs what that causes. */
static void peers_close(int count)
{
    for (int i = 0; i < count; i++)
        tr_kit_close(peers[i]);
    tr_kit_settle(kit);
}

ONCE(say_count, say("%zu", tr_listener_count(self, listener)))

/** The listener says that it has so many sessions. */
#define COUNTS(text)                                                                               \
    do {                                                                                           \
        host_run(say_count);                                                                       \
        SAID(text);                                                                                \
    } while (0)

/* ---- Where sessions run. ---- */

static int spread[WORKERS];

static tr_next on_opened_count(tr_self *self, const struct tr_opened *message)
{
    ck_assert(message->is_accepted);
    spread[tr_worker(self)]++;
    return TR_SAME;
}

static tr_next on_closed_uncount(tr_self *self, const struct tr_closed *message)
{
    (void)message;
    spread[tr_worker(self)]--;
    return TR_STOP;
}

TR_BEHAVIOR(counted, void, TR_ON(tr_opened, on_opened_count), TR_ON(tr_closed, on_closed_uncount),
            TR_OPTIONS(.is_pinned = true));
ONCE(listen_counted, listener = tr_listen(self, counted, TR_TCP(SERVER)))

/* The largest and the smallest count of a worker. */
static void ck_spread(int *most, int *least)
{
    *most = *least = spread[0];
    for (int i = 1; i < WORKERS; i++) {
        *most = spread[i] > *most ? spread[i] : *most;
        *least = spread[i] < *least ? spread[i] : *least;
    }
}

static void play_spread(void)
{
    int most, least;
    memset(spread, 0, sizeof spread);
    HOST(host, listen_counted);
    for (int i = 0; i < PEERS; i++) {
        peers[i] = peer_new();
        tr_kit_settle(kit);
        ck_spread(&most, &least);
        ck_assert_int_le(most - least, 1);
    }
    COUNTS("20");
    /* One worker loses all of its sessions, and gets those that come next. */
    for (int i = 0; i < PEERS; i += WORKERS) {
        tr_kit_close(peers[i]);
        peers[i] = NULL;
    }
    tr_kit_settle(kit);
    for (int i = 0; i < PEERS; i += WORKERS)
        peers[i] = peer_new();
    tr_kit_settle(kit);
    ck_spread(&most, &least);
    ck_assert_int_le(most - least, 1);
    COUNTS("20");
    peers_close(PEERS);
    COUNTS("0");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(sessions_are_spread_over_the_workers, "C-02", "CH-09", "CH-23")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(20); seed++) {
        kit_open(WORKERS, seed);
        play_spread();
        kit_close();
    }
}

/* ---- A crowd that comes at once. ---- */

enum { CROWD = 500 };
static size_t crowd_count; /* connections that were accepted at the last tick */
static size_t crowd_step;  /* the most that were accepted between two ticks */
TR_MESSAGE(crowd_tick);
TR_ACTOR(ticker, crowd_tick);

/* It has a message at any time, so a worker that lets others run runs it. */
static tr_next on_crowd_tick(tr_self *self)
{
    size_t count = tr_listener_count(self, listener);
    if (count - crowd_count > crowd_step)
        crowd_step = count - crowd_count;
    crowd_count = count;
    if (count < CROWD)
        tr_tell(self, tr_me(self), crowd_tick);
    return TR_SAME;
}

TR_BEHAVIOR(ticker, void, TR_ON(crowd_tick, on_crowd_tick));

ONCE(listen_paused, listener = tr_listen(self, counted, TR_TCP(SERVER)),
     tr_listener_pause(self, listener))
ONCE(resume_and_tick, tr_tell(self, tr_spawn(self, ticker, NULL), crowd_tick),
     tr_listener_resume(self, listener))

static void play_crowd(void)
{
    static tr_kit_peer *crowd[CROWD];
    crowd_count = crowd_step = 0;
    memset(spread, 0, sizeof spread);
    HOST(host, listen_paused);
    for (int i = 0; i < CROWD; i++)
        crowd[i] = peer_new();
    tr_kit_settle(kit);
    host_run(resume_and_tick);
    ck_assert_uint_eq(crowd_count, CROWD);
    ck_assert_uint_le(crowd_step, 16);
    for (int i = 0; i < CROWD; i++)
        tr_kit_close(crowd[i]);
    tr_kit_settle(kit);
}

TEST(others_run_while_a_crowd_is_accepted, "C-02")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(5); seed++) {
        kit_open(1, seed);
        play_crowd();
        kit_close();
    }
}

/* ---- Connections that have to wait. ---- */

static int opened_count;

static tr_next on_opened_greet(tr_self *self, const struct tr_opened *message)
{
    opened_count++;
    tr_write_text(self, message->channel, "in");
    return TR_SAME;
}

static tr_next on_echo(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(echo, void, TR_ON(tr_opened, on_opened_greet), TR_ON(tr_received, on_echo));
ONCE(listen_three, listener = tr_listen(self, echo, TR_TCP(SERVER, .connections_max = 3)))
ONCE(listen_echo, listener = tr_listen(self, echo, TR_TCP(SERVER)))

static void play_max(void)
{
    opened_count = 0;
    HOST(host, listen_three);
    for (int i = 0; i < PEERS; i++)
        peers[i] = peer_new();
    tr_kit_settle(kit);
    ck_assert_int_eq(opened_count, 3);
    COUNTS("3");
    for (int i = 0; i < PEERS; i++) {
        /* Nothing is lost: each gets its turn when an earlier one has ended. */
        PEER_GETS(peers[i], "in");
        ck_assert_int_le(opened_count, i + 3);
        tr_kit_close(peers[i]);
        tr_kit_settle(kit);
    }
    ck_assert_int_eq(opened_count, PEERS);
    COUNTS("0");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(connections_beyond_the_maximum_wait_and_none_is_lost, "C-11")
{
    kits_each(play_max);
}

/* While it is full, the listener does as good as nothing. */
TEST(a_full_listener_does_not_spin, "C-11", "CH-08")
{
    kit_open(1, 1);
    opened_count = 0;
    HOST(host, listen_three);
    for (int i = 0; i < PEERS; i++)
        peers[i] = peer_new();
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_settle(kit), 0);
    tr_counters before, after;
    tr_system_counters(tr_kit_system(kit), &before);
    tr_kit_advance(kit, TR_SECOND);
    tr_system_counters(tr_kit_system(kit), &after);
    ck_assert_uint_le(after.handled - before.handled, 10);
    ck_assert_int_eq(opened_count, 3);
    kit_close();
}

/* The order by which the listener looks again takes memory, which is missing. */
TEST(a_full_listener_without_memory_looks_again, "C-11", "U-03")
{
    for (uint64_t nth = 1; nth <= 12; nth++) {
        kit_open(2, nth);
        opened_count = 0;
        HOST(host, listen_three);
        for (int i = 0; i < 4; i++)
            peers[i] = peer_new();
        tr_kit_settle(kit);
        ck_assert_int_eq(opened_count, 3);
        for (int i = 0; i < 4; i++)
            tr_kit_finish(peers[i]);
        tr_kit_fail_allocation(kit, nth, true);
        tr_kit_settle(kit);
        tr_kit_fail_allocation(kit, 0, false);
        tr_kit_advance(kit, TR_SECOND);
        /* Lack of memory may have cost that connection; it does not wait forever. */
        ck_assert_int_ne(tr_kit_peer_status(peers[3]), TR_OK);
        ck_assert(opened_count == 4 || tr_kit_peer_status(peers[3]) == TR_RESET);
        COUNTS("0");
        peers[4] = peer_new();
        PEER_GETS(peers[4], "in");
        kit_close();
    }
}

ONCE(listen_three_idle,
     listener = tr_listen(self, echo, TR_TCP(SERVER, .connections_max = 3, .idle_ns = TR_SECOND)))
ONCE(nothing, (void)self)
ONCE(take_all_memory, {
    tr_kit_fail_allocation(kit, 1, true);
    tr_suspend(self, host); /* it keeps its messages */
    while (TELL_RUN(self, host, nothing) == TR_OK)
        ;
})

/* Sessions end while no worker has memory for an order to the listener. */
TEST(the_order_to_a_full_listener_may_be_lost, "C-11", "U-03")
{
    kit_open(1, 1);
    opened_count = 0;
    HOST(host, listen_three_idle);
    for (int i = 0; i < 4; i++)
        peers[i] = peer_new();
    tr_kit_settle(kit);
    ck_assert_int_eq(opened_count, 3);
    host_run(take_all_memory);
    tr_kit_advance(kit, TR_SECOND);
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(opened_count, 4);
    tr_resume(test, host);
    kit_close();
}

static void play_accept_fails(tr_status status)
{
    opened_count = 0;
    HOST(host, listen_echo);
    tr_kit_fail_network(kit, "accept", 1, status);
    peers[0] = peer_new();
    peers[1] = peer_new();
    tr_kit_settle(kit);
    ck_assert_int_eq(opened_count, status == TR_RESET ? 2 : 0);
    tr_counters before, after;
    tr_system_counters(tr_kit_system(kit), &before);
    tr_kit_advance(kit, 99 * MS);
    tr_system_counters(tr_kit_system(kit), &after);
    ck_assert_uint_eq(after.handled, before.handled);
    tr_kit_advance(kit, 2 * MS);
    ck_assert_int_eq(opened_count, 2);
    PEER_GETS(peers[0], "in");
    PEER_GETS(peers[1], "in");
    peers_close(2);
    COUNTS("0");
}

TEST(a_failing_accept_is_tried_again_and_does_not_spin, "C-11", "CH-08")
{
    static const tr_status statuses[] = {TR_LIMIT, TR_RESET, TR_NO_MEMORY, TR_NOT_PERMITTED};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        kit_open(2, i + 1);
        play_accept_fails(statuses[i]);
        kit_close();
    }
}

ONCE(pause_listener, tr_listener_pause(self, listener))
ONCE(resume_listener, tr_listener_resume(self, listener))

static void play_pause(void)
{
    opened_count = 0;
    HOST(host, listen_echo);
    peers[0] = peer_new();
    PEER_GETS(peers[0], "in");
    host_run(pause_listener);
    peers[1] = peer_new();
    peers[2] = peer_new();
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_int_eq(opened_count, 1);
    peer_send(peers[0], "others live"); /* sessions continue */
    PEER_GETS(peers[0], "others live");
    host_run(resume_listener);
    ck_assert_int_eq(opened_count, 3);
    PEER_GETS(peers[1], "in");
    PEER_GETS(peers[2], "in");
    peers_close(3);
    COUNTS("0");
}

TEST(a_paused_listener_accepts_when_it_is_resumed, "C-11")
{
    kits_each(play_pause);
}

ONCE(listen_per_peer,
     listener = tr_listen(self, echo, TR_TCP(SERVER, .connections_per_peer_max = 2)))

static void play_per_peer(void)
{
    opened_count = 0;
    HOST(host, listen_per_peer);
    for (int i = 0; i < 3; i++) {
        peers[i] = peer_new();
        tr_kit_settle(kit);
    }
    PEER_GETS(peers[0], "in");
    PEER_GETS(peers[1], "in");
    ck_assert_int_eq(tr_kit_peer_status(peers[2]), TR_RESET);
    peers_close(3);
    COUNTS("0");
    peers[0] = peer_new(); /* those that have ended count no more */
    PEER_GETS(peers[0], "in");
    peers_close(1);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(an_address_has_so_many_connections_at_most, "C-02")
{
    kits_each(play_per_peer);
}

/* Says whether a connection from this address is let in. */
static void come_from(tr_self *self, const char *source)
{
    tr_channel made;
    tr_bytes bytes;
    tr_status status = tr_try_connect(self, TR_TCP("[::1]:7000", .source = source), &made);
    if (status == TR_OK)
        status = tr_try_read(self, made, &bytes);
    say("%s", tr_status_name(status));
}

ONCE(come_from_many, {
    listener = tr_listen(self, echo, TR_TCP("[::1]:7000", .connections_per_peer_max = 2));
    come_from(self, "[fd00::1]:0");
    come_from(self, "[fd00::2]:0");
    come_from(self, "[fd00:0:0:1::1]:0");
    come_from(self, "[fd00::ffff:0:0:3]:0");
})

TEST(a_network_of_ipv6_counts_as_one_address, "C-02")
{
    kit_open(1, 1);
    opened_count = 0;
    HOST(host, come_from_many);
    tr_kit_advance(kit, TR_SECOND);
    const char *text = said();
    ck_assert_msg(strstr(text, "TR_OK; TR_OK; TR_OK; TR_RESET"), "%s", text);
    kit_close();
}

/* ---- Mistakes. ---- */

TR_BEHAVIOR(deaf, void, TR_ON(run, on_run));

ONCE(listen_wrongly, {
    tr_listener_ref none;
    say("%s", tr_status_name(tr_try_listen(self, &none, echo, TR_TCP(SERVER))));
    say("%s", tr_status_name(tr_try_listen(self, &none, echo, TR_TCP("not an address"))));
    say("%s", tr_status_name(tr_try_listen(self, &none, echo, TR_TCP(""))));
    say("%s", tr_status_name(tr_try_listen(self, &none, deaf, TR_TCP(":0"))));
    say("%s", tr_status_name(tr_try_listen(self, &none, echo, TR_UDP(":0"))));
    say("%s", tr_status_name(tr_try_listen(self, &none, echo, TR_TCP(":0", .linger_ns = -1))));
})
ONCE(listen_where_taken, (void)tr_listen(self, echo, TR_TCP(SERVER)))
ONCE(ask_nobody, {
    tr_listener_ref none = {0};
    say("%d", (int)tr_listener_address(self, none).family);
    say("%zu", tr_listener_count(self, none));
    say("%s", tr_status_name(tr_listener_reload(self, none)));
    say("%s", tr_status_name(tr_listener_reload(self, listener)));
})

TEST(each_way_not_to_listen_has_its_status, "C-02", "CH-10")
{
    kit_open(1, 1);
    HOST(host, listen_echo);
    host_run(listen_wrongly);
    SAID("TR_ADDRESS_IN_USE; TR_ADDRESS_INVALID; TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT; "
         "TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT");
    host_run(ask_nobody);
    SAID("0; 0; TR_STOPPED; TR_NOT_SUPPORTED");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    host_run(listen_where_taken); /* fails, is restarted, and its listener is gone */
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    host_run(listen_where_taken);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
}

/* What the set-up of a session wants is known when the listener is made. */
TR_MESSAGE(open_desk, (u64, number));
TR_MESSAGE(open_other, (u64, number));

static tr_next set_up_desk(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(desk, void, TR_SETUP_WITH(open_desk, set_up_desk), TR_ON(tr_received, on_echo));

ONCE(listen_with_another_set_up, {
    tr_listener_ref none;
    say("%s", tr_status_name(tr_try_listen(self, &none, desk, TR_TCP(":0"))));
    say("%s",
        tr_status_name(tr_try_listen(self, &none, desk, TR_TCP(":0"), open_other, .number = 1)));
    say("%s",
        tr_status_name(tr_try_listen(self, &none, echo, TR_TCP(":0"), open_desk, .number = 1)));
    say("%s",
        tr_status_name(tr_try_listen(self, &none, desk, TR_TCP(":0"), open_desk, .number = 1)));
})

TEST(a_set_up_message_that_does_not_fit_is_refused_by_the_listener, "C-02")
{
    kit_open(1, 1);
    HOST(host, listen_with_another_set_up);
    SAID("TR_WRONG_TYPE; TR_WRONG_TYPE; TR_WRONG_TYPE; TR_OK");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
}

/* ---- Addresses. ---- */

static char where[TR_ADDRESS_TEXT_MAX];

static tr_next on_opened_peer(tr_self *self, const struct tr_opened *message)
{
    say("%s", tr_address_text(self, message->peer));
    tr_address same = tr_channel_peer(self, message->channel);
    ck_assert_str_eq(tr_address_text(self, same), tr_address_text(self, message->peer));
    return TR_SAME;
}

TR_BEHAVIOR(caller, void, TR_ON(tr_opened, on_opened_peer), TR_ON(tr_received, on_echo));
ONCE(listen_anywhere, {
    listener = tr_listen(self, caller, TR_TCP("127.0.0.1:0"));
    tr_address address = tr_listener_address(self, listener);
    ck_assert_uint_ne(address.port, 0);
    strcpy(where, tr_address_text(self, address));
})

TEST(a_listener_knows_its_port_and_sessions_know_their_peers, "C-02")
{
    kit_open(1, 1);
    HOST(host, listen_anywhere);
    tr_kit_peer *peer = tr_kit_connect(kit, where);
    ck_assert_ptr_nonnull(peer);
    tr_kit_settle(kit);
    char text[TR_ADDRESS_TEXT_MAX];
    tr_address address = tr_kit_peer_address(peer);
    SAID(tr_address_print(&address, text));
    kit_close();
}

ONCE(listen_path, listener = tr_listen(self, echo, TR_UNIX("/run/echo")))
ONCE(listen_abstract,
     listener = tr_listen(self, echo, TR_UNIX("@echo", .connections_per_peer_max = 1)))

TEST(a_listener_has_a_path, "C-02")
{
    kit_open(2, 1);
    HOST(host, listen_path);
    host_run(listen_abstract);
    static const char *const paths[] = {"/run/echo", "@echo", "@echo"};
    for (int i = 0; i < 3; i++) {
        peers[i] = tr_kit_connect(kit, paths[i]);
        ck_assert_ptr_nonnull(peers[i]);
        PEER_GETS(peers[i], "in");
        peer_send(peers[i], "hello");
        PEER_GETS(peers[i], "hello");
    }
    peers_close(3);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 2);
    kit_close();
}

SUITE("listeners", sessions_are_spread_over_the_workers, others_run_while_a_crowd_is_accepted,
      connections_beyond_the_maximum_wait_and_none_is_lost, a_full_listener_does_not_spin,
      a_full_listener_without_memory_looks_again, the_order_to_a_full_listener_may_be_lost,
      a_failing_accept_is_tried_again_and_does_not_spin,
      a_paused_listener_accepts_when_it_is_resumed, an_address_has_so_many_connections_at_most,
      a_network_of_ipv6_counts_as_one_address, each_way_not_to_listen_has_its_status,
      a_set_up_message_that_does_not_fit_is_refused_by_the_listener,
      a_listener_knows_its_port_and_sessions_know_their_peers, a_listener_has_a_path)
