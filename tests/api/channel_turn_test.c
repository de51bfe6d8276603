/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels and turns: which turn gets what has come, barriers, pills, restarts, when output leaves, and which
 * actors move. On the network of kits.
 */
#include "support/net.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

enum { CHANNELS = 5 };
static tr_channel channels[CHANNELS];
static tr_kit_peer *peers[CHANNELS];

TR_MESSAGE(hold, (u64, ns));
TR_MESSAGE(listen_in);
TR_MESSAGE(tick);

static tr_next on_hold(tr_self *self, const struct hold *message)
{
    say("holds");
    tr_sleep(self, (tr_time)message->ns);
    say("held");
    return TR_SAME;
}

/* A barrier that waits for a channel. */
static tr_next on_listen_in(tr_self *self)
{
    tr_bytes bytes;
    say("reads");
    if (tr_read(self, channels[0], &bytes))
        say("read %.*s", (int)bytes.size, (const char *)bytes.data);
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
    return TR_SAME;
}

static tr_next on_tick(void)
{
    say("tick");
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tick, on_tick),
            TR_ON(hold, on_hold, .is_barrier = true),
            TR_ON(listen_in, on_listen_in, .is_barrier = true), TR_ON(tr_received, on_received),
            TR_ON(tr_closed, on_closed));

static int dialed;
ONCE(connect_next, channels[dialed++] = tr_connect(self, TR_TCP(SERVER)))

/** Starts the host, and connects it so many times. */
static void host_connect(int count)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0)); /* the test listens */
    dialed = 0;
    HOST(host, connect_next);
    for (int i = 0; i < count; i++) {
        if (i)
            host_run(connect_next);
        peers[i] = tr_kit_accept(kit, SERVER, TR_SECOND);
        ck_assert_ptr_nonnull(peers[i]);
    }
}

/* ---- Reading. ---- */

static int readers;
static tr_next read_one(tr_self *self)
{
    tr_bytes bytes;
    int number = ++readers;
    if (tr_read(self, channels[0], &bytes))
        say("reader %d: %.*s", number, (int)bytes.size, (const char *)bytes.data);
    else
        say("reader %d: end", number);
    return TR_SAME;
}

static void play_readers(void)
{
    readers = 0;
    host_connect(1);
    host_run(read_one);
    host_run(read_one);
    SAID("");
    peer_send(peers[0], "a");
    SAID("reader 1: a");
    host_run(read_one); /* behind the one that waits */
    peer_send(peers[0], "b");
    SAID("reader 2: b");
    peer_send(peers[0], "c");
    SAID("reader 3: c");
    peer_send(peers[0], "d");
    SAID("got d"); /* no turn waits: the handler */
    host_run(read_one);
    host_run(read_one);
    tr_kit_finish(peers[0]);
    tr_kit_settle(kit);
    SAID("reader 4: end; reader 5: end; closed TR_CLOSED");
    tr_kit_close(peers[0]);
}

TEST(what_has_come_goes_to_the_turn_that_has_waited_longest, "C-04", "C-05")
{
    kits_each(play_readers);
}

/* ---- Reading without a pause. ---- */

enum { BYTES = 1000 };
TR_ACTOR(looker, tick);
static uint32_t read_count;

static tr_next on_look(void)
{
    say("looks at %s", read_count < BYTES ? "some" : "all");
    return TR_SAME;
}

TR_BEHAVIOR(looker, void, TR_ON(tick, on_look));

/* Another actor becomes ready while more bytes are there than a run may read. */
static tr_next read_many(tr_self *self)
{
    tr_bytes byte;
    looker_ref looker = tr_spawn(self, looker, NULL);
    for (read_count = 0; read_count < BYTES; read_count++) {
        if (!tr_read_exactly(self, channels[0], 1, &byte))
            return TR_SAME;
        ck_assert_int_eq(*(const char *)byte.data, (char)('a' + read_count % 26));
        if (read_count == 0)
            tr_tell(self, looker, tick);
    }
    say("read all");
    return TR_SAME;
}

static void play_many(void)
{
    static char text[BYTES + 1];
    for (int i = 0; i < BYTES; i++)
        text[i] = (char)('a' + i % 26);
    host_connect(1);
    host_run(read_many);
    SAID("");
    peer_send(peers[0], text);
    SAID("looks at some; read all");
    tr_kit_close(peers[0]);
}

TEST(a_turn_with_much_to_read_gives_way_to_other_actors, "C-04", "D-02")
{
    kits_each(play_many);
}

static void play_barrier(void)
{
    host_connect(1);
    tr_tell(test, tr_any(host), hold, .ns = 10 * MS);
    tr_kit_settle(kit);
    peer_send(peers[0], "x");
    SAID("holds");
    tr_kit_advance(kit, 10 * MS);
    SAID("held; got x");
    /* What has come wakes a turn that waits for it, also during its barrier. */
    tr_tell(test, tr_any(host), listen_in);
    tr_kit_settle(kit);
    peer_send(peers[0], "y");
    SAID("reads; read y");
    tr_tell(test, tr_any(host), hold, .ns = 10 * MS);
    tr_kit_settle(kit);
    tr_kit_close(peers[0]);
    tr_kit_settle(kit);
    SAID("holds");
    tr_kit_advance(kit, 10 * MS);
    SAID("held; closed TR_CLOSED");
}

TEST(a_barrier_holds_back_what_channels_bring, "C-04", "M-01")
{
    kits_each(play_barrier);
}

ONCE(start_timer, tr_timer_once(self, "tick", 10 * MS, tick))

/* What a channel brings comes behind the events of the same cycle. */
static void play_same_instant(void)
{
    static const tr_kit_network far = {.delay_ns = 10 * MS};
    host_connect(1);
    tr_kit_set_network(kit, &far);
    host_run(start_timer);
    tr_kit_send(peers[0], TR_BYTES("x"));
    tr_kit_advance(kit, 10 * MS - 1);
    SAID("");
    tr_kit_advance(kit, 1);
    SAID("tick; got x");
    tr_kit_close(peers[0]);
}

TEST(a_timer_and_bytes_of_one_instant_are_both_handled, "M-01", "CH-13")
{
    kits_each(play_same_instant);
}

/* ---- The end of the actor. ---- */

static void play_pill(void)
{
    readers = 0;
    host_connect(2);
    host_run(read_one);
    tr_stop(test, host);
    tr_kit_settle(kit);
    peer_send(peers[1], "no reader"); /* nothing new is read behind the pill */
    SAID("");
    peer_send(peers[0], "last");
    SAID("reader 1: last");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(peers[0]), TR_CLOSED); /* in order */
    ck_assert_int_ne(tr_kit_peer_status(peers[1]), TR_OK);
    tr_kit_close(peers[0]);
    tr_kit_close(peers[1]);
    tr_kit_advance(kit, TR_LINGER_NS);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(behind_a_pill_only_turns_that_wait_read, "C-09", "M-01", "L-06", "CH-07")
{
    kits_each(play_pill);
}

ONCE(write_and_flush_one, {
    tr_write_text(self, channels[0], "sent");
    tr_flush(self, channels[0]);
})
static tr_next fall(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "as asked");
}
ONCE(write_to_old, say("%s", tr_status_name(tr_write_text(self, channels[0], "x"))))

static void play_restart(void)
{
    host_connect(1);
    host_run(write_and_flush_one);
    host_run(fall);
    PEER_GETS(peers[0], "sent");
    ck_assert_int_eq(tr_kit_peer_status(peers[0]), TR_RESET);
    host_run(write_to_old); /* the next incarnation has none of its channels, and no tr_closed */
    SAID("TR_CLOSED");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    tr_kit_close(peers[0]);
}

TEST(a_restart_resets_the_channels, "C-09", "L-06", "CH-07")
{
    kits_each(play_restart);
}

/* A supervisor may let an actor that has failed continue: then its channels do so too. */
static tr_directive resume(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_RESUME;
}

static tr_next spawn_host(tr_self *self)
{
    host = tr_spawn_at(self, home, host, "child");
    return TR_SAME;
}

TR_ACTOR(parent, run);
TR_BEHAVIOR(parent, void, TR_ON(run, on_run), TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = resume));

static void play_resume(void)
{
    parent_ref parent;
    readers = 0;
    dialed = 0;
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    ck_assert_int_eq(tr_try_spawn(test, &parent, parent, NULL), TR_OK);
    TELL_RUN(test, parent, spawn_host);
    tr_kit_settle(kit);
    for (int i = 0; i < 2; i++) {
        host_run(connect_next);
        peers[i] = tr_kit_accept(kit, SERVER, TR_SECOND);
        ck_assert_ptr_nonnull(peers[i]);
    }
    host_run(read_one);
    TELL_RUN(test, host, fall);
    kit_steps(1 + kits_seed % 4);
    tr_kit_send(peers[0], TR_BYTES("to a turn"));
    tr_kit_send(peers[1], TR_BYTES("to the handler"));
    tr_kit_settle(kit);
    const char *text = said();
    ck_assert_msg(strstr(text, "reader 1: to a turn") && strstr(text, "got to the handler"),
                  "seed %d: %s",
                  (int)kits_seed,
                  text);
    tr_kit_close(peers[0]);
    tr_kit_close(peers[1]);
}

TEST(an_actor_that_is_resumed_continues_to_read, "C-04", "C-05")
{
    kits_each(play_resume);
}

/* ---- Output. ---- */

ONCE(write_pieces, {
    for (int i = 0; i < 50; i++)
        tr_print(self, channels[0], "%d,", i);
})
ONCE(write_and_flush, {
    tr_write_text(self, channels[0], "one ");
    tr_flush(self, channels[0]);
    tr_write_text(self, channels[0], "two");
})

TEST(what_a_run_writes_leaves_in_one_piece, "C-08")
{
    kit_open(1, 1);
    host_connect(1);
    tr_kit_fail_network(kit, "send", 2, TR_RESET);
    host_run(write_pieces);
    ck_assert_uint_eq(strlen(tr_kit_receive_text(peers[0], TR_SECOND)), 140);
    SAID("");                  /* there was no second send */
    host_run(write_and_flush); /* the first send that fails is the one behind the flush */
    tr_kit_settle(kit);
    SAID("closed TR_RESET");
    kit_close();
}

/* ---- Exchanges. ---- */

static int exchanged;
static tr_next exchange_one(tr_self *self)
{
    const struct tr_received *reply;
    tr_channel_ask asked = tr_exchange(self, channels[0], TR_BYTES("?"));
    exchanged++;
    tr_status status = tr_try_await(self, asked, &reply);
    say("%s", tr_status_name(status));
    return TR_SAME;
}
ONCE(connect_narrow,
     channels[0] = tr_connect(self, TR_TCP(SERVER, .framing = TR_LINES, .in_flight_max = 2)))

TEST(more_exchanges_than_may_be_under_way_wait, "C-03")
{
    kit_open(1, 1);
    exchanged = 0;
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, connect_narrow);
    peers[0] = tr_kit_accept(kit, SERVER, TR_SECOND);
    for (int i = 0; i < 4; i++)
        host_run(exchange_one);
    PEER_GETS(peers[0], "\?\?");
    ck_assert_int_eq(exchanged, 2);
    peer_send(peers[0], "a\n");
    PEER_GETS(peers[0], "?");
    SAID("TR_OK");
    peer_send(peers[0], "b\nc\nd\n");
    PEER_GETS(peers[0], "?");
    SAID("TR_OK; TR_OK");
    peer_send(peers[0], "d\n");
    const char *text = said();
    ck_assert_ptr_nonnull(strstr(text, "TR_OK"));
    kit_close();
}

/* ---- Moves. ---- */

static bool was_at[4];
ONCE(note_worker, was_at[tr_worker(self)] = true)

/* On how many workers an actor with so many channels has been. */
static int count_workers(int count, uint64_t seed)
{
    int workers = 0;
    memset(was_at, 0, sizeof was_at);
    kit_open_as(4, seed, true);
    host_connect(count);
    memset(was_at, 0, sizeof was_at);
    for (int i = 0; i < 50; i++)
        host_run(note_worker);
    for (int i = 0; i < 4; i++)
        workers += was_at[i];
    for (int i = 0; i < count; i++) {
        peer_send(peers[i], "x");
        SAID("got x");
    }
    kit_close();
    return workers;
}

TEST(actors_with_few_channels_move, "C-10", "D-07", "CH-25")
{
    int moved = 0;
    for (uint64_t seed = 1; seed <= TEST_SEEDS(20); seed++) {
        moved += count_workers(TR_MOVED_CHANNELS_MAX, seed) > 1;
        ck_assert_int_eq(count_workers(TR_MOVED_CHANNELS_MAX + 1, seed), 1);
    }
    ck_assert_int_gt(moved, 0);
}

SUITE("channels and turns", what_has_come_goes_to_the_turn_that_has_waited_longest,
      a_turn_with_much_to_read_gives_way_to_other_actors, a_barrier_holds_back_what_channels_bring,
      a_timer_and_bytes_of_one_instant_are_both_handled, behind_a_pill_only_turns_that_wait_read,
      a_restart_resets_the_channels, an_actor_that_is_resumed_continues_to_read,
      what_a_run_writes_leaves_in_one_piece, more_exchanges_than_may_be_under_way_wait,
      actors_with_few_channels_move)
