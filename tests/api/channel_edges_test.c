/* SPDX-License-Identifier: Apache-2.0 */
/** Channels at the edges of what may happen: ends, waits and closes at the same moment. On the network of kits. */
#include "support/net.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }
static tr_channel channel;
static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return TR_SAME;
}
TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_closed, on_closed));

static tr_kit_peer *client_open(turn *function)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, function);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    tr_kit_settle(kit);
    return peer;
}
ONCE(connect, channel = tr_connect(self, TR_TCP(SERVER)))

ONCE(read_and_sleep, {
    tr_bytes line;
    channel = tr_connect(self, TR_TCP(SERVER));
    ck_assert(tr_read_line(self, channel, &line));
    tr_sleep(self, 10 * MS);
    say("%s", (const char *)line.data);
})
TEST(line_stays_while_peer_closes, "C-07")
{
    kit_open(1, 1);
    tr_kit_peer *peer = client_open(read_and_sleep);
    peer_send(peer, "hello\n");
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    tr_kit_advance(kit, 20 * MS);
    SAID("hello; closed TR_CLOSED");
    kit_close();
}
ONCE(read_one, {
    tr_bytes bytes;
    say("%s", tr_status_name(tr_try_read(self, channel, &bytes)));
})
TEST(two_readers_both_see_the_end, "C-04")
{
    kit_open(1, 1);
    tr_kit_peer *peer = client_open(connect);
    host_run(read_one);
    host_run(read_one);
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    SAID("TR_CLOSED; TR_CLOSED; closed TR_CLOSED");
    kit_close();
}
static tr_next opened_sleeps(tr_self *self, const struct tr_opened *message)
{
    (void)message;
    tr_sleep(self, 10 * MS);
    return TR_SAME;
}
TR_BEHAVIOR(sleeper, void, TR_ON(tr_opened, opened_sleeps), TR_ON(tr_closed, on_closed));
ONCE(listen_sleeper, listener = tr_listen(self, sleeper, TR_TCP(SERVER)))
TEST(end_during_tr_opened_is_noticed, "C-05")
{
    kit_open(1, 1);
    HOST(host, listen_sleeper);
    tr_kit_peer *peer = peer_new();
    tr_kit_settle(kit);
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    SAID("closed TR_CLOSED");
    kit_close();
}
ONCE(connect_read_one, {
    tr_bytes bytes;
    channel = tr_connect(self, TR_TCP(SERVER));
    ck_assert(tr_read(self, channel, &bytes));
    say("read");
})
TEST(end_together_with_the_last_bytes_is_noticed, "C-05")
{
    kit_open(1, 1);
    tr_kit_peer *peer = client_open(connect_read_one);
    tr_kit_send(peer, TR_BYTES("hello"));
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    SAID("read; closed TR_CLOSED");
    kit_close();
}
static tr_next talk(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}
TR_ACTOR(talking, run);
TR_BEHAVIOR(talking, void, TR_ON(tr_received, talk));
static tr_next greet(tr_self *self, const struct tr_opened *message)
{
    (void)message;
    tr_sleep(self, MS);
    return tr_become(self, talking);
}
TR_BEHAVIOR(greeting, void, TR_ON(tr_opened, greet));
ONCE(listen_greeting, listener = tr_listen(self, greeting, TR_TCP(SERVER)))
TEST(bytes_that_came_before_a_become_are_handled, "C-03")
{
    kit_open(1, 1);
    HOST(host, listen_greeting);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "hello");
    tr_kit_advance(kit, 2 * MS);
    PEER_GETS(peer, "hello");
    kit_close();
}
static tr_next close_first(tr_self *self, const struct tr_received *line)
{
    tr_close(self, line->channel);
    say("%s", (const char *)line->bytes.data);
    return TR_SAME;
}
TR_BEHAVIOR(closer, void, TR_ON(tr_received, close_first));
ONCE(listen_closer, listener = tr_listen(self, closer, TR_TCP(SERVER, .framing = TR_LINES)))
TEST(bytes_stay_after_tr_close_in_their_turn, "C-07")
{
    kit_open(1, 1);
    HOST(host, listen_closer);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "hello\nworld\n");
    SAID("hello");
    kit_close();
}
TEST(bytes_stay_after_tr_close_in_their_turn_own_memory, "C-07")
{
    kit_open(1, 1);
    HOST(host, listen_closer);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "hel");
    peer_send(peer, "lo\n");
    SAID("hello");
    kit_close();
}
ONCE(dial_write_much, {
    static char much[3000];
    channel = tr_dial(self, TR_TCP(SERVER, .output_max = 1000));
    say("%s", tr_status_name(tr_write(self, channel, (tr_bytes){much, sizeof much})));
    say("%s", tr_status_name(tr_write(self, channel, (tr_bytes){much, sizeof much})));
})
TEST(a_dial_begins_while_its_turn_waits_to_write, "C-04")
{
    kit_open(1, 1);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, dial_write_much);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("TR_OK; TR_OK");
    kit_close();
}
ONCE(unread_line, {
    tr_bytes line;
    tr_channel_within(self, channel, TR_SECOND);
    ck_assert(tr_read_line(self, channel, &line));
    say("%s", (const char *)line.data);
    tr_unread(self, channel, 6);
    ck_assert(tr_read_line(self, channel, &line));
    say("%s", (const char *)line.data);
})
TEST(an_unread_line_is_read_again, "C-03")
{
    kit_open(1, 1);
    tr_kit_peer *peer = client_open(connect);
    peer_send(peer, "hello\nworld\n");
    host_run(unread_line);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("hello; hello");
    kit_close();
}
ONCE(read_ten, {
    tr_bytes bytes;
    if (tr_read_exactly(self, channel, 10, &bytes))
        say("ten %.10s", (const char *)bytes.data);
})
ONCE(read_any, {
    tr_bytes bytes;
    if (tr_read(self, channel, &bytes))
        say("any %.*s", (int)bytes.size, (const char *)bytes.data);
})
TEST(the_turn_that_waits_longest_reads_first, "C-04")
{
    kit_open(1, 1);
    tr_kit_peer *peer = client_open(connect);
    host_run(read_ten);
    host_run(read_any);
    peer_send(peer, "01234");
    peer_send(peer, "56789");
    peer_send(peer, "x");
    SAID("ten 0123456789; any x");
    kit_close();
}
ONCE(exchange_line, {
    const struct tr_received *reply = tr_await(self, tr_exchange(self, channel, TR_BYTES("q\n")));
    say("reply %s", (const char *)reply->bytes.data);
})
ONCE(connect_lines, channel = tr_connect(self, TR_TCP(SERVER, .framing = TR_LINES)))
ONCE(read_line_now, {
    tr_bytes line;
    if (tr_read(self, channel, &line))
        say("read %s", (const char *)line.data);
})
TEST(a_reader_gets_what_is_behind_the_last_exchange, "C-04")
{
    kit_open(1, 1);
    tr_kit_peer *peer = client_open(connect_lines);
    host_run(exchange_line);
    host_run(read_line_now);
    peer_send(peer, "one\ntwo\n");
    tr_kit_advance(kit, TR_SECOND);
    SAID("reply one; read two");
    kit_close();
}
ONCE(write_much_and_stop, {
    static char much[50000];
    memset(much, 'x', sizeof much);
    channel = tr_connect(self, TR_TCP(SERVER));
    tr_write(self, channel, (tr_bytes){much, sizeof much});
    return TR_STOP;
})
TEST(stop_sends_everything, "C-09")
{
    static const tr_kit_network network = {.window = 3000};
    kit_open(1, 1);
    tr_kit_set_network(kit, &network);
    tr_kit_peer *peer = client_open(write_much_and_stop);
    size_t got = 0, now;
    while ((now = tr_kit_receive(peer, TR_SECOND).size) > 0)
        got += now;
    ck_assert_uint_eq(got, 50000);
    kit_close();
}

TR_ACTOR(nomad, run);
static nomad_ref nomad;
TR_BEHAVIOR(nomad, void, TR_ON(run, on_run), TR_ON(tr_closed, on_closed));
ONCE(bind_and_close, {
    channel = tr_bind(self, TR_UDP("127.0.0.1:0"));
    tr_close(self, channel);
})
ONCE(nothing, (void)self)
static tr_next stop_now(tr_self *self)
{
    (void)self;
    return TR_STOP;
}
ONCE(spawn_nomad, nomad = tr_spawn(self, nomad, "nomad"))
static void play_nomad(void)
{
    HOST(host, spawn_nomad);
    TELL_RUN(test, nomad, bind_and_close);
    tr_kit_settle(kit);
    for (int i = 0; i < 50; i++) {
        TELL_RUN(test, nomad, nothing);
        tr_kit_settle(kit);
    }
    TELL_RUN(test, nomad, stop_now);
    tr_kit_settle(kit);
    said();
}
TEST(an_actor_that_had_channels_moves_and_stops, "C-10")
{
    kits_each_moving(10, play_nomad);
}
/* 12: the deadline of a read and the bytes come in the same round */
static tr_next hasty_received(const struct tr_received *message)
{
    say("handler %.*s", (int)message->bytes.size, (const char *)message->bytes.data);
    return TR_SAME;
}
TR_BEHAVIOR(hasty_host, void, TR_ON(run, on_run), TR_ON(tr_received, hasty_received),
            TR_ON(tr_closed, on_closed));
ONCE(try_read_within, {
    tr_bytes bytes;
    tr_channel_within(self, channel, 50 * MS);
    say("%s", tr_status_name(tr_try_read(self, channel, &bytes)));
})
TEST(bytes_that_come_with_the_timeout_are_handled, "C-05")
{
    static const tr_kit_network network = {.delay_ns = 10 * MS};
    kit_open(1, 1);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(hasty_host, connect);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    tr_kit_settle(kit);
    tr_kit_set_network(kit, &network);
    host_run(try_read_within);
    tr_kit_advance(kit, 40 * MS);
    tr_kit_send(peer, TR_BYTES("late"));
    tr_kit_advance(kit, 10 * MS);
    tr_kit_advance(kit, TR_SECOND);
    SAID("TR_TIMEOUT; handler late");
    kit_close();
}
ONCE(listen_echo, listener = tr_listen(self, talking, TR_TCP(SERVER)))
ONCE(stop_listener, tr_kill(self, listener))
TEST(connections_on_their_way_to_a_deck_are_closed_with_the_listener, "C-09")
{
    int leaks = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        kit_open(3, seed);
        HOST(host, listen_echo);
        tr_kit_peer *first[3];
        for (int i = 0; i < 3; i++)
            first[i] = peer_new();
        tr_kit_settle(kit);
        tr_kit_peer *peer = tr_kit_connect(kit, SERVER);
        for (uint64_t i = 0; i < seed; i++)
            tr_kit_step(kit);
        TELL_RUN(test, host, stop_listener);
        tr_kit_settle(kit);
        tr_kit_advance(kit, TR_MINUTE);
        if (peer && tr_kit_peer_status(peer) == TR_OK)
            fprintf(stderr, "seed %d: the connection is still open\n", (int)seed);
        if (peer)
            leaks += tr_kit_peer_status(peer) == TR_OK;
        (void)first;
        if (!leaks)
            kit_close();
    }
    ck_assert_int_eq(leaks, 0);
}
static tr_next barrier_run(tr_self *self, const struct run *message)
{
    (void)message;
    channel = tr_dial(self, TR_TCP(SERVER));
    tr_write_text(self, channel, "hello");
    say("%s", tr_status_name(tr_flush(self, channel)));
    return TR_SAME;
}
TR_BEHAVIOR(barrier_host, void, TR_ON(run, barrier_run, .is_barrier = true),
            TR_ON(tr_closed, on_closed));
TEST(a_barrier_does_not_hold_back_its_own_dial, "C-04")
{
    kit_open(1, 1);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(barrier_host, nothing);
    tr_kit_advance(kit, TR_MINUTE);
    SAID("TR_OK");
    kit_close();
}

TR_ACTOR(taker, run);
static taker_ref taker;
static tr_next taker_opened(const struct tr_opened *message)
{
    say("taken %d", message->is_handed_over);
    return TR_SAME;
}
TR_BEHAVIOR(taker, void, TR_ON(run, on_run), TR_ON(tr_opened, taker_opened),
            TR_ON(tr_closed, on_closed));
static tr_next give_at_once(tr_self *self, const struct tr_opened *message)
{
    ck_assert_int_eq(tr_hand_over(self, message->channel, taker), TR_OK);
    return TR_STOP;
}
TR_BEHAVIOR(giver, void, TR_ON(tr_opened, give_at_once));
ONCE(listen_giver, {
    listener = tr_listen(self, giver, TR_TCP(SERVER));
    taker = tr_spawn(self, taker, "taker");
})
TEST(a_hand_over_in_tr_opened_leaks_nothing, "C-10")
{
    kit_open(1, 1);
    HOST(host, listen_giver);
    tr_kit_peer *peer = peer_new();
    tr_kit_settle(kit);
    SAID("taken 1");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    kit_close();
}

ONCE(write_much, {
    static char much[50000];
    channel = tr_connect(self, TR_TCP(SERVER));
    tr_write(self, channel, (tr_bytes){much, sizeof much});
})
TEST(what_a_stop_leaves_is_sent, "C-09")
{
    static const tr_kit_network network = {.window = 3000};
    kit_open(1, 1);
    tr_kit_set_network(kit, &network);
    tr_kit_peer *peer = client_open(write_much);
    tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
    tr_kit_settle(kit);
    fprintf(stderr, "channels: %d\n", (int)tr_kit_open_channels(kit));
    size_t got = 0, now;
    while ((now = tr_kit_receive(peer, 10 * MS).size) > 0)
        got += now;
    ck_assert_uint_eq(got, 50000);
    kit_close();
}
static tr_next say_hello(tr_self *self, const struct tr_opened *message)
{
    tr_write_text(self, message->channel, "hello");
    return TR_SAME;
}
TR_BEHAVIOR(hello, void, TR_ON(tr_opened, say_hello), TR_ON(tr_received, talk));
ONCE(listen_hello, listener = tr_listen(self, hello, TR_TCP(SERVER)))
static int silent, disordered;
static void play_hello(uint64_t nth, bool sends)
{
    HOST(host, listen_hello);
    tr_kit_fail_allocation(kit, nth, false);
    tr_kit_peer *peer = tr_kit_connect(kit, SERVER);
    if (!peer || (sends && tr_kit_send(peer, TR_BYTES("abc")) != 3))
        return;
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_advance(kit, TR_SECOND);
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    if (tr_kit_peer_status(peer) == TR_OK && strncmp(text, "hello", 5) != 0) {
        fprintf(stderr, "allocation %d: \"%s\"\n", (int)nth, text);
        *(*text ? &disordered : &silent) += 1;
    }
}
TEST(tr_opened_comes_first_also_without_memory, "C-02")
{
    for (uint64_t nth = 1; nth <= 60; nth++) {
        kit_open(1, 1);
        play_hello(nth / 2 + 1, nth % 2);
        tr_kit_fail_allocation(kit, 0, false);
        kit_close();
    }
    ck_assert_int_eq(silent, 0);
    ck_assert_int_eq(disordered, 0);
}
/* 25: a handed over channel whose actor has a failed... tr_post_stop reads */
static tr_next last_read(tr_self *self)
{
    tr_bytes bytes;
    tr_status status = tr_try_read(self, channel, &bytes);
    say("%s", tr_status_name(status));
    return TR_SAME;
}

TR_ACTOR(laster, run);
static laster_ref laster;
TR_BEHAVIOR(laster, void, TR_ON(run, on_run), TR_ON(tr_post_stop, last_read));
ONCE(spawn_laster, laster = tr_spawn(self, laster, "laster"))
static void play_last(int round)
{
    (void)round;
    host_run(spawn_laster);
    TELL_RUN(test, laster, connect);
    tr_kit_settle(kit);
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    tr_kit_settle(kit);
    peer_send(peer, "x");
    TELL_RUN(test, laster, stop_now);
    tr_kit_settle(kit);
    SAID("TR_OK");
    tr_kit_close(peer);
    tr_kit_settle(kit);
}
TEST(a_last_signal_may_read_twice, "C-04")
{
    kit_open(1, 1);
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, nothing);
    play_last(1);
    play_last(2);
    play_last(3);
    kit_close();
}

/* 26: a failed actor is resumed */
TR_ACTOR(tough, run);
static tough_ref tough;
TR_BEHAVIOR(tough, void, TR_ON(run, on_run), TR_ON(tr_received, talk));
static tr_directive resume_it(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_RESUME;
}
TR_BEHAVIOR(lenient, void, TR_ON(run, on_run), TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = resume_it));
ONCE(spawn_tough, tough = tr_spawn_at(self, 1, tough, "tough"))
static tr_next fail_now(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "on purpose");
}
TEST(bytes_that_come_while_an_actor_has_failed_are_handled_when_it_is_resumed, "C-09")
{
    int lost = 0;
    for (uint64_t steps = 0; steps < 40; steps++) {
        kit_open(2, steps / 10 + 1);
        ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
        home = 0;
        HOST(lenient, spawn_tough);
        TELL_RUN(test, tough, connect);
        tr_kit_settle(kit);
        tr_kit_peer *peer = tr_kit_accept(kit, SERVER, TR_SECOND);
        tr_kit_settle(kit);
        TELL_RUN(test, tough, fail_now);
        for (uint64_t i = 0; i < steps % 10; i++)
            tr_kit_step(kit);
        tr_kit_send(peer, TR_BYTES("x"));
        tr_kit_settle(kit);
        if (strcmp(tr_kit_receive_text(peer, TR_SECOND), "x") != 0) {
            lost++;
            fprintf(
                stderr, "steps %d peer %s\n", (int)steps, tr_status_name(tr_kit_peer_status(peer)));
        }
        kit_close();
    }
    ck_assert_int_eq(lost, 0);
}

SUITE("edges of channels", line_stays_while_peer_closes, two_readers_both_see_the_end,
      end_during_tr_opened_is_noticed, end_together_with_the_last_bytes_is_noticed,
      bytes_that_came_before_a_become_are_handled, bytes_stay_after_tr_close_in_their_turn,
      bytes_stay_after_tr_close_in_their_turn_own_memory,
      a_dial_begins_while_its_turn_waits_to_write, an_unread_line_is_read_again,
      the_turn_that_waits_longest_reads_first, a_reader_gets_what_is_behind_the_last_exchange,
      stop_sends_everything, an_actor_that_had_channels_moves_and_stops,
      bytes_that_come_with_the_timeout_are_handled,
      connections_on_their_way_to_a_deck_are_closed_with_the_listener,
      a_barrier_does_not_hold_back_its_own_dial, a_hand_over_in_tr_opened_leaks_nothing,
      what_a_stop_leaves_is_sent, tr_opened_comes_first_also_without_memory,
      a_last_signal_may_read_twice,
      bytes_that_come_while_an_actor_has_failed_are_handled_when_it_is_resumed)
