/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels of durable actors: what is written waits for the commit, and is dropped with it; waits for a channel are
 * commit points; channels close when the actor sleeps. On the network of kits.
 */
#include <troupe/durable.h>

#include "support/net.h"

TR_MESSAGE(clerk_state, (u64, count));
TR_MESSAGE(act, (u64, call));
TR_ACTOR(clerk, act);
TR_MESSAGE(counted, (u64, count));
TR_ACTOR(friend, counted);

typedef tr_next action(tr_self *self, struct clerk_state *state);

static clerk_ref clerk;
static friend_ref friend;
static tr_channel channel;
static bool fails_on_received;

static tr_next on_act(tr_self *self, struct clerk_state *state, const struct act *message)
{
    return ((action *)(uintptr_t)message->call)(self, state);
}

static tr_next on_opened(tr_self *self, struct clerk_state *state, const struct tr_opened *message)
{
    (void)self;
    state->count++;
    say("opened%s", message->is_handed_over ? " handed over" : "");
    channel = message->channel;
    return TR_SAME;
}

static tr_next on_received(tr_self *self, struct clerk_state *state,
                           const struct tr_received *message)
{
    state->count++;
    say("got %.*s", (int)message->bytes.size, (const char *)message->bytes.data);
    tr_print(self, message->channel, "number %d\n", (int)state->count);
    if (fails_on_received)
        return tr_fail(self, TR_BAD_DATA, "not this one");
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s", tr_status_name(message->status));
    return TR_SAME;
}

TR_BEHAVIOR(clerk, struct clerk_state, TR_ON(act, on_act), TR_ON(tr_opened, on_opened),
            TR_ON(tr_received, on_received), TR_ON(tr_closed, on_closed));
TR_DURABLE(clerk, clerk_state, .idle_ns = 5 * TR_SECOND);

static tr_next on_counted(const struct counted *message)
{
    say("counted %d", (int)message->count);
    return TR_SAME;
}

TR_BEHAVIOR(friend, void, TR_ON(counted, on_counted));

static tr_kit_peer *peer;

static void clerk_find(void)
{
    ck_assert_int_eq(tr_try_durable(test, &clerk, clerk, "a"), TR_OK);
}

static void clerk_act(action *function)
{
    ck_assert_int_eq(tr_tell(test, clerk, act, .call = (uintptr_t)function), TR_OK);
    tr_kit_settle(kit);
}

static tr_next dial_lines(tr_self *self, struct clerk_state *state)
{
    state->count++;
    channel = tr_dial(self, TR_TCP(SERVER, .framing = TR_LINES));
    return TR_SAME;
}

/* A kit, and a clerk with a channel to the test. */
static void play_seeds(void (*play)(void), uint64_t seeds)
{
    for (int workers = 1; workers <= 3; workers += 2) {
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                               .seed = seed,
                                               .workers = workers,
                                               .durable = TR_DURABLES(clerk)});
            ck_assert_ptr_nonnull(kit);
            test = tr_kit_client(kit);
            kits_seed = seed;
            said_length = 0;
            fails_on_received = false;
            ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0)); /* the test listens */
            ck_assert_int_eq(tr_try_spawn(test, &friend, friend, NULL), TR_OK);
            clerk_find();
            clerk_act(dial_lines);
            peer = tr_kit_accept(kit, SERVER, TR_SECOND);
            ck_assert_ptr_nonnull(peer);
            tr_kit_settle(kit);
            SAID("opened");
            play();
            tr_kit_close(peer);
            kit_close();
        }
    }
}

static void play_each(void (*play)(void))
{
    play_seeds(play, TEST_SEEDS(30));
}

/* ---- Commits. ---- */

static tr_next write_one(tr_self *self, struct clerk_state *state)
{
    state->count++;
    tr_tell(self, friend, counted, .count = state->count);
    tr_write_text(self, channel, "one\n");
    return TR_SAME;
}

/* So much would leave before the turn ends, if it did not wait for the commit. */
static tr_next write_much(tr_self *self, struct clerk_state *state)
{
    static char much[20000];
    memset(much, 'x', sizeof much);
    state->count++;
    tr_write(self, channel, (tr_bytes){much, sizeof much});
    say("%d", (int)tr_output_size(self, channel));
    return TR_SAME;
}

static void play_held(void)
{
    clerk_act(write_one);
    PEER_GETS(peer, "one\n");
    SAID("counted 3");
    clerk_act(write_much);
    SAID("20000");
    ck_assert_uint_eq(tr_kit_receive(peer, 0).size, 20000);
}

TEST(what_is_written_leaves_with_the_commit, "C-18")
{
    play_each(play_held);
}

static tr_next write_and_fail(tr_self *self, struct clerk_state *state)
{
    state->count = 99;
    tr_write_text(self, channel, "never\n");
    return tr_fail(self, TR_BAD_DATA, "not stored");
}

static void play_failed(void)
{
    clerk_act(write_one);
    PEER_GETS(peer, "one\n");
    SAID("counted 3");
    clerk_act(write_and_fail);
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    SAID("");
}

TEST(a_turn_that_fails_sends_nothing_of_what_it_wrote, "C-18", "C-09")
{
    play_each(play_failed);
}

static tr_next write_much_and_crash(tr_self *self, struct clerk_state *state)
{
    static char much[40000];
    memset(much, 'x', sizeof much);
    state->count = 99;
    tr_write(self, channel, (tr_bytes){much, sizeof much}); /* more than is gathered in a run */
    tr_write_text(self, channel, "\n");
    tr_crash(self, TR_BAD_DATA, "not stored");
}

static void play_crashed(void)
{
    clerk_act(write_much_and_crash);
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
}

TEST(much_output_waits_for_the_commit_too, "C-18")
{
    play_each(play_crashed);
}

static tr_next tell_count(tr_self *self, struct clerk_state *state)
{
    (void)self;
    say("count %d", (int)state->count);
    return TR_SAME;
}

static uint64_t nth; /* allocation that fails */
static bool has_failed;

static tr_next write_all(tr_self *self, struct clerk_state *state)
{
    state->count++;
    tr_status status = tr_tell(self, friend, counted, .count = state->count);
    if (status == TR_OK)
        status = tr_write_text(self, channel, "one\n");
    return status == TR_OK ? TR_SAME : tr_fail(self, status, "not all was sent");
}

/* Without memory the turn fails, and has sent nothing; or it is the channel that ends, after the commit. */
static void play_no_memory(void)
{
    tr_kit_fail_allocation(kit, nth, false);
    clerk_act(write_all);
    tr_kit_fail_allocation(kit, 0, false);
    const char *got = tr_kit_receive_text(peer, TR_SECOND);
    bool is_reset = tr_kit_peer_status(peer) == TR_RESET;
    bool is_stored = strncmp(said(), "counted 3", 9) == 0;
    ck_assert_str_eq(got, is_reset ? "" : "one\n");
    ck_assert(is_stored || is_reset);
    has_failed |= !is_stored;
    clerk_find();
    clerk_act(tell_count);
    SAID(is_stored ? "count 3" : "count 2");
}

TEST(without_memory_a_turn_stores_and_sends_all_or_nothing, "C-18", "K-01")
{
    has_failed = false;
    for (nth = 1; nth <= 24; nth++)
        play_seeds(play_no_memory, 3);
    ck_assert(has_failed);
}

/* ---- Commit points. ---- */

static tr_next ask_name(tr_self *self, struct clerk_state *state)
{
    tr_bytes line;
    state->count = 50;
    tr_write_text(self, channel, "who?\n");
    if (!tr_read_line(self, channel, &line))
        return tr_fail(self, TR_CLOSED, "no name");
    say("%.*s", (int)line.size, (const char *)line.data);
    tr_print(self, channel, "hello %.*s\n", (int)line.size, (const char *)line.data);
    state->count = 99;
    return tr_fail(self, TR_BAD_DATA, "after the read");
}

/* The part before the read is stored and sent, the part behind it is not. */
static void play_read(void)
{
    clerk_act(ask_name);
    PEER_GETS(peer, "who?\n");
    peer_send(peer, "Ada\n");
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID("Ada");
    clerk_find();
    clerk_act(tell_count);
    SAID("count 50");
}

TEST(a_read_is_a_commit_point, "C-18")
{
    play_each(play_read);
}

static tr_next exchange(tr_self *self, struct clerk_state *state)
{
    state->count = 60;
    tr_channel_ask asked = tr_exchange(self, channel, (tr_bytes){"sum\n", 4});
    const struct tr_received *answer = tr_await(self, asked);
    say("%.*s", (int)answer->bytes.size, (const char *)answer->bytes.data);
    return TR_SAME;
}

static void play_exchange(void)
{
    clerk_act(exchange);
    PEER_GETS(peer, "sum\n");
    peer_send(peer, "12\n");
    SAID("12");
}

TEST(the_await_of_an_exchange_is_a_commit_point, "C-18")
{
    play_each(play_exchange);
}

static tr_next flush(tr_self *self, struct clerk_state *state)
{
    state->count = 70;
    tr_write_text(self, channel, "flushed\n");
    tr_status status = tr_flush(self, channel);
    say("%s %d", tr_status_name(status), (int)tr_output_size(self, channel));
    tr_write_text(self, channel, "never\n");
    return tr_fail(self, TR_BAD_DATA, "after the flush");
}

static void play_flush(void)
{
    clerk_act(flush);
    PEER_GETS(peer, "flushed\n");
    SAID("TR_OK 0");
    clerk_find();
    clerk_act(tell_count);
    SAID("count 70");
}

TEST(a_flush_is_a_commit_point, "C-18")
{
    play_each(play_flush);
}

/* 200 KB through an output of 64 KiB: the writes above it wait, and what is before them is stored. */
static tr_next write_200k(tr_self *self, struct clerk_state *state)
{
    char line[1001];
    memset(line, 'y', 999);
    line[999] = '\n';
    line[1000] = 0;
    state->count = 80;
    for (int i = 0; i < 200; i++)
        tr_write_text(self, channel, line);
    say("written");
    return TR_SAME;
}

static void play_capacity(void)
{
    size_t all = 0;
    clerk_act(write_200k);
    for (size_t size; (size = tr_kit_receive(peer, TR_SECOND).size) > 0;)
        all += size;
    ck_assert_uint_eq(all, 200000);
    SAID("written");
}

TEST(a_write_above_the_mark_is_a_commit_point, "C-18", "C-04")
{
    play_each(play_capacity);
}

/* Half of the output must have left first. */
static tr_next await_writable(tr_self *self, struct clerk_state *state)
{
    static char much[50000];
    memset(much, 'z', sizeof much);
    state->count = 81;
    tr_write(self, channel, (tr_bytes){much, sizeof much});
    (void)tr_await(self, tr_writable(self, channel));
    say("writable %d", (int)tr_output_size(self, channel));
    return TR_SAME;
}

static void play_writable(void)
{
    clerk_act(await_writable);
    SAID("writable 0");
    ck_assert_uint_eq(tr_kit_receive(peer, 0).size, 50000);
}

TEST(an_await_of_writable_is_a_commit_point, "C-16")
{
    play_each(play_writable);
}

/* ---- Handlers. ---- */

static void play_received(void)
{
    peer_send(peer, "a\nb\n");
    PEER_GETS(peer, "number 3\nnumber 4\n");
    SAID("got a; got b");
    fails_on_received = true;
    peer_send(peer, "c\n");
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID("got c");
    clerk_find();
    clerk_act(tell_count);
    SAID("count 4");
}

TEST(handlers_of_received_store_what_they_change, "C-18")
{
    play_each(play_received);
}

/* ---- Ends. ---- */

static tr_next write_and_close(tr_self *self, struct clerk_state *state)
{
    state->count = 5;
    tr_write_text(self, channel, "bye\n");
    tr_close(self, channel);
    say("%s", tr_status_name(tr_write_text(self, channel, "late\n")));
    return TR_SAME;
}

static void play_close(void)
{
    clerk_act(write_and_close);
    PEER_GETS(peer, "bye\n");
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    SAID("TR_CLOSED; closed TR_OK");
}

static tr_next close_and_fail(tr_self *self, struct clerk_state *state)
{
    (void)write_and_close(self, state);
    return tr_fail(self, TR_BAD_DATA, "after the close");
}

static void play_close_failed(void)
{
    clerk_act(close_and_fail);
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID("TR_CLOSED");
}

static tr_next finish(tr_self *self, struct clerk_state *state)
{
    state->count = 6;
    tr_finish(self, channel); /* there is no output, and still it waits */
    tr_tell(self, friend, counted, .count = 6);
    return TR_SAME;
}

static void play_finish(void)
{
    clerk_act(finish);
    ck_assert_uint_eq(tr_kit_receive(peer, 0).size, 0);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    SAID("counted 6");
    peer_send(peer, "still\n");
    SAID("got still");
}

static tr_next finish_and_fail(tr_self *self, struct clerk_state *state)
{
    (void)finish(self, state);
    return tr_fail(self, TR_BAD_DATA, "after the finish");
}

static void play_finish_failed(void)
{
    clerk_act(finish_and_fail);
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID("");
}

static tr_next reset(tr_self *self, struct clerk_state *state)
{
    state->count = 7;
    tr_reset(self, channel);
    return TR_SAME;
}

static void play_reset(void)
{
    clerk_act(reset);
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID("closed TR_OK");
}

TEST(ends_wait_for_the_commit, "C-18")
{
    play_each(play_close);
    play_each(play_close_failed);
    play_each(play_finish);
    play_each(play_finish_failed);
    play_each(play_reset);
}

static void play_sleep(void)
{
    clerk_act(write_one);
    PEER_GETS(peer, "one\n");
    SAID("counted 3");
    tr_kit_finish(peer);
    tr_kit_advance(kit, 10 * TR_SECOND);
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

static void play_sleep_open(void)
{
    tr_kit_advance(kit, 6 * TR_SECOND);
    PEER_GETS(peer, "");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    SAID(""); /* nobody is there to be notified */
    tr_kit_close(peer);
    clerk_find();
    clerk_act(dial_lines);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    tr_kit_settle(kit);
    clerk_act(tell_count);
    SAID("opened; count 4");
}

TEST(channels_close_when_the_actor_sleeps, "C-18")
{
    play_each(play_sleep_open);
    play_each(play_sleep);
}

/* ---- Other ways to a channel. ---- */

static tr_next on_run_host(tr_self *self)
{
    tr_channel mine = tr_connect(self, TR_TCP(SERVER, .framing = TR_LINES));
    tr_write_text(self, mine, "handed\n");
    say("%s", tr_status_name(tr_hand_over(self, mine, clerk)));
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static void play_handed(void)
{
    home = 0;
    HOST(host, on_run_host);
    tr_kit_peer *second = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(second);
    PEER_GETS(second, "handed\n");
    SAID("TR_OK; opened handed over");
    clerk_act(write_one);
    PEER_GETS(second, "one\n");
    SAID("counted 4");
    tr_kit_close(second);
}

TEST(a_durable_actor_takes_a_channel_over, "C-18", "C-10")
{
    play_each(play_handed);
}

static tr_next send_datagrams(tr_self *self, struct clerk_state *state)
{
    tr_address to;
    ck_assert_int_eq(tr_address_parse("127.0.0.1:9000", &to), TR_OK);
    tr_channel bound = tr_bind(self, TR_UDP("127.0.0.1:9001"));
    bool is_first = state->count == 2;
    state->count = 8;
    tr_send_to(self, bound, &to, (tr_bytes){is_first ? "lost" : "sent", 4});
    if (is_first)
        return tr_fail(self, TR_BAD_DATA, "not stored");
    return TR_SAME;
}

static void play_datagram(void)
{
    tr_kit_peer *box = tr_kit_bind(kit, "127.0.0.1:9000");
    clerk_act(send_datagrams);
    ck_assert_uint_eq(tr_kit_receive_from(box, TR_SECOND, NULL).size, 0);
    clerk_find();
    clerk_act(write_one); /* counts to three */
    clerk_act(send_datagrams);
    tr_bytes got = tr_kit_receive_from(box, TR_SECOND, NULL);
    ck_assert_uint_eq(got.size, 4);
    ck_assert_mem_eq(got.data, "sent", 4);
    tr_kit_close(box);
}

TEST(datagrams_wait_for_the_commit, "C-18", "C-13")
{
    play_each(play_datagram);
}

SUITE("channel durable", what_is_written_leaves_with_the_commit,
      a_turn_that_fails_sends_nothing_of_what_it_wrote, much_output_waits_for_the_commit_too,
      without_memory_a_turn_stores_and_sends_all_or_nothing, a_read_is_a_commit_point,
      the_await_of_an_exchange_is_a_commit_point, a_flush_is_a_commit_point,
      a_write_above_the_mark_is_a_commit_point, an_await_of_writable_is_a_commit_point,
      handlers_of_received_store_what_they_change, ends_wait_for_the_commit,
      channels_close_when_the_actor_sleeps, a_durable_actor_takes_a_channel_over,
      datagrams_wait_for_the_commit)
