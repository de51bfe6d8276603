/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sessions: their set-ups, how they fail and end, with their listener, with the system, or alone. On the network
 * of kits.
 */
#include "support/net.h"

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

enum { PEERS = 6 };
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

/* ---- Set-ups and failures of sessions. ---- */

TR_MESSAGE(begin, (str, greeting), (u32, number));
struct greeter {
    int number;
};
static int begun;    /* set-ups so far */
static int failing;  /* the set-up that fails */
static int stopping; /* the set-up that stops its actor */

static tr_next greeter_begin(tr_self *self, struct greeter *state, const struct begin *message)
{
    state->number = (int)message->number + begun++;
    ck_assert_uint_ne(tr_peer(self).bits, 0);
    if (begun == failing)
        return tr_fail(self, TR_FAILED, "a set-up that fails");
    if (begun == stopping)
        return TR_STOP;
    /* What a set-up writes waits until the channel is open. */
    tr_print(self, tr_peer(self), "%s %d\n", message->greeting, state->number);
    return TR_SAME;
}

static tr_next greeter_opened(tr_self *self, struct greeter *state, const struct tr_opened *message)
{
    (void)message;
    if (state->number == 45)
        return tr_fail(self, TR_FAILED, "a session that fails when it is open");
    return TR_SAME;
}

static tr_next greeter_received(tr_self *self, struct greeter *state,
                                const struct tr_received *message)
{
    if (memcmp(message->bytes.data, "fail", 4) == 0)
        tr_crash(self, TR_FAILED, "a session that fails");
    tr_print(self, message->channel, "%d: %s\n", state->number, (const char *)message->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(greeter, struct greeter, TR_SETUP_WITH(begin, greeter_begin),
            TR_ON(tr_opened, greeter_opened), TR_ON(tr_received, greeter_received));
ONCE(listen_greeter, listener = tr_listen(self, greeter, TR_TCP(SERVER, .framing = TR_LINES), begin,
                                          .greeting = "welcome", .number = 42))

static void play_failures(void)
{
    begun = 0;
    failing = 2;
    stopping = 3;
    HOST(host, listen_greeter);
    for (int i = 0; i < 5; i++) {
        peers[i] = peer_new();
        tr_kit_settle(kit);
    }
    PEER_GETS(peers[0], "welcome 42\n");
    ck_assert_int_eq(tr_kit_peer_status(peers[1]), TR_RESET); /* its set-up has failed */
    PEER_GETS(peers[2], "");
    ck_assert_int_ne(tr_kit_peer_status(peers[2]), TR_OK);    /* its set-up has stopped it */
    ck_assert_int_eq(tr_kit_peer_status(peers[3]), TR_RESET); /* tr_opened has failed */
    PEER_GETS(peers[4], "welcome 46\n");
    COUNTS("2");
    peer_send(peers[4], "fail\n");
    ck_assert_int_eq(tr_kit_peer_status(peers[4]), TR_RESET);
    COUNTS("1");
    peer_send(peers[0], "unharmed\n");
    PEER_GETS(peers[0], "42: unharmed\n");
    ck_assert_int_eq(begun, 5); /* no session is restarted */
    peers_close(5);
    COUNTS("0");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(a_session_that_fails_harms_no_other, "C-02", "C-09")
{
    kits_each(play_failures);
}

/* ---- Ends. ---- */

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
ONCE(listen_echo, listener = tr_listen(self, echo, TR_TCP(SERVER)))

ONCE(stop_listener, tr_stop(self, listener))
ONCE(kill_listener, tr_kill(self, listener))

/* Runs `steps` steps, then the listener is ended: wherever connections are, they end. */
static void play_end(uint64_t steps, turn *end)
{
    opened_count = 0;
    HOST(host, listen_echo);
    for (int i = 0; i < 6; i++)
        peers[i] = peer_new();
    kit_steps(steps);
    host_run(end);
    for (int i = 0; i < 6; i++) {
        const char *text = tr_kit_receive_text(peers[i], TR_SECOND);
        ck_assert_int_ne(tr_kit_peer_status(peers[i]), TR_OK);
        /* A session that was open sends what it had written. */
        ck_assert(!text[0] || strcmp(text, "in") == 0);
    }
    peers_close(6);
    tr_kit_advance(kit, TR_LINGER_NS);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    ck_assert_ptr_null(tr_kit_connect(kit, SERVER));
    COUNTS("0");
}

TEST(a_listener_that_stops_ends_its_sessions, "C-02", "C-09", "CH-22")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        for (uint64_t steps = 0; steps <= TEST_SEEDS(25); steps++) {
            kit_open(workers, steps + 1);
            play_end(steps, stop_listener);
            kit_close();
        }
    }
}

/* Connections that are on their way to another worker have no actor yet. */
TEST(a_listener_that_is_killed_loses_no_descriptor, "C-09", "C-12", "CH-09")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(400); seed++) {
            kit_open(workers, seed);
            play_end(seed % 40, kill_listener);
            kit_close();
        }
    }
}

static tr_next on_received_much(tr_self *self, const struct tr_received *message)
{
    static char block[20000];
    memset(block, 'x', sizeof block);
    tr_write(self, message->channel, (tr_bytes){block, sizeof block});
    return TR_SAME;
}

TR_BEHAVIOR(generous, void, TR_ON(tr_received, on_received_much));
ONCE(listen_generous, listener = tr_listen(self, generous, TR_TCP(SERVER)))

/* The window is small: most of what was written has not left when the system shuts down. */
TEST(a_shutdown_sends_what_was_written, "C-09", "CH-22")
{
    static const tr_kit_network narrow = {.window = 1000, .delay_ns = MS};
    for (int workers = 1; workers <= 3; workers += 2) {
        kit_open(workers, 1);
        tr_kit_set_network(kit, &narrow);
        HOST(host, listen_generous);
        for (int i = 0; i < 3; i++) {
            peers[i] = peer_new();
            peer_send(peers[i], "go");
        }
        tr_kit_advance(kit, 2 * MS);
        tr_system_shutdown(tr_kit_system(kit), 10 * TR_SECOND);
        for (int i = 0; i < 3; i++) {
            size_t got = 0;
            tr_bytes bytes;
            while ((bytes = tr_kit_receive(peers[i], TR_SECOND)).size)
                got += bytes.size;
            ck_assert_uint_eq(got, 20000);
            ck_assert_int_eq(tr_kit_peer_status(peers[i]), TR_CLOSED);
        }
        peers_close(3);
        tr_kit_advance(kit, TR_LINGER_NS);
        ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
        kit_close();
    }
}

/* ---- Sessions that others suspend, stop or kill. ---- */

static tr_ref session;

static tr_next on_opened_known(tr_self *self, const struct tr_opened *message)
{
    (void)message;
    session = tr_me(self);
    return TR_SAME;
}

static tr_next on_received_say(tr_self *self, const struct tr_received *message)
{
    (void)self;
    say("%.*s", (int)message->bytes.size, (const char *)message->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(known, void, TR_ON(tr_opened, on_opened_known), TR_ON(tr_received, on_received_say));
ONCE(listen_known, listener = tr_listen(self, known, TR_TCP(SERVER)))
ONCE(suspend_session, tr_suspend(self, session))
ONCE(resume_session, tr_resume(self, session))
ONCE(kill_session, tr_kill(self, session))

static void play_suspend(void)
{
    static const tr_kit_network narrow = {.window = 10};
    HOST(host, listen_known);
    tr_kit_set_network(kit, &narrow);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "a");
    SAID("a");
    host_run(suspend_session);
    ck_assert_uint_eq(tr_kit_send(peer, TR_BYTES("0123456789abcdef")), 10);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(tr_kit_send(peer, TR_BYTES("abcdef")), 0); /* nothing is read */
    SAID("");
    host_run(resume_session);
    SAID("0123456789");
    ck_assert_uint_eq(tr_kit_send(peer, TR_BYTES("abcdef")), 6);
    tr_kit_settle(kit);
    SAID("abcdef");
    host_run(kill_session);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    COUNTS("0");
}

TEST(nothing_is_read_for_a_suspended_session, "C-04")
{
    kits_each(play_suspend);
}

static tr_ref writer;

static tr_next on_opened_writer(tr_self *self)
{
    writer = tr_me(self);
    return TR_SAME;
}

TR_BEHAVIOR(writing, void, TR_ON(tr_opened, on_opened_writer),
            TR_ON(tr_received, on_received_much));
ONCE(listen_writing, listener = tr_listen(self, writing, TR_TCP(SERVER)))
ONCE(suspend_writer, tr_suspend(self, writer))
ONCE(resume_writer, tr_resume(self, writer))

/* The other side can take a small part. The rest is sent as it reads, although the session is suspended by then. */
static void play_suspended_output(void)
{
    static const tr_kit_network narrow = {.window = 1000, .delay_ns = MS};
    tr_kit_set_network(kit, &narrow);
    HOST(host, listen_writing);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "go");
    tr_kit_advance(kit, MS); /* the session has written */
    host_run(suspend_writer);
    peer_send(peer, "go"); /* not read while the session is suspended */
    size_t got = 0;
    tr_bytes bytes;
    while ((bytes = tr_kit_receive(peer, TR_SECOND)).size)
        got += bytes.size;
    ck_assert_uint_eq(got, 20000);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
    host_run(resume_writer);
    while ((bytes = tr_kit_receive(peer, TR_SECOND)).size)
        got += bytes.size;
    ck_assert_uint_eq(got, 40000);
    tr_kit_close(peer);
}

TEST(output_of_a_suspended_session_continues_to_be_sent, "C-04")
{
    kits_each(play_suspended_output);
}

static tr_next on_received_fail(tr_self *self, const struct tr_received *message)
{
    say("%.*s", (int)message->bytes.size, (const char *)message->bytes.data);
    return tr_fail(self, TR_FAILED, "always");
}

/* What its options say of restarts is not for sessions: there is no connection for the next incarnation. */
TR_BEHAVIOR(stubborn, void, TR_ON(tr_received, on_received_fail),
            TR_OPTIONS(.restart = TR_PERMANENT));
ONCE(listen_stubborn, listener = tr_listen(self, stubborn, TR_TCP(SERVER)))

TEST(a_session_is_not_restarted, "C-02", "C-09")
{
    kit_open(1, 1);
    HOST(host, listen_stubborn);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "x");
    SAID("x");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    tr_kit_advance(kit, TR_MINUTE);
    COUNTS("0");
    kit_close();
}

SUITE("sessions", a_session_that_fails_harms_no_other, a_listener_that_stops_ends_its_sessions,
      a_listener_that_is_killed_loses_no_descriptor, a_shutdown_sends_what_was_written,
      nothing_is_read_for_a_suspended_session, output_of_a_suspended_session_continues_to_be_sent,
      a_session_is_not_restarted)
