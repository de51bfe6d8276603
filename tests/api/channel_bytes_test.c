/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bytes that a turn has read from a channel, while others read from it, close it or hand it over. On the network of kits.
 */
#include "support/net.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static tr_channel channel;

static tr_next on_opened(const struct tr_opened *message)
{
    say("opened");
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
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_opened, on_opened),
            TR_ON(tr_received, on_received), TR_ON(tr_closed, on_closed));

static tr_kit_peer *peer;

ONCE(connect_lines, channel = tr_connect(self, TR_TCP(SERVER, .framing = TR_LINES)))

static void say_line(tr_bytes line)
{
    ck_assert_uint_eq(strlen(line.data), line.size); /* with a NUL behind it */
    say("%s", (const char *)line.data);
}

ONCE(read_and_hold, {
    tr_bytes line;
    if (tr_read_line(self, channel, &line)) {
        tr_sleep(self, TR_SECOND);
        say_line(line);
    }
})

ONCE(read_again, {
    tr_bytes line;
    while (tr_read_line(self, channel, &line))
        say_line(line);
})

static void hold_begin(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, connect_lines);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    ck_assert_ptr_nonnull(peer);
    host_run(read_and_hold);
}

static void hold_end(void)
{
    tr_kit_close(peer);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

static void play_two_readers(void)
{
    hold_begin();
    peer_send(peer, "the first line\nthe sec");
    host_run(read_again);
    peer_send(peer, "ond line, which is longer\nand");
    peer_send(peer, " a third one that is longer than both of them\n");
    SAID("the second line, which is longer; and a third one that is longer than both of them");
    tr_kit_advance(kit, TR_SECOND);
    SAID("the first line");
    hold_end();
    SAID("closed TR_CLOSED");
}

/* Two that read in turns, each line while the other one holds its own. */
ONCE(read_slowly, {
    tr_bytes line;
    char copy[16];
    while (tr_read_line(self, channel, &line)) {
        memcpy(copy, line.data, line.size + 1);
        tr_sleep(self, 10 * MS);
        ck_assert_str_eq(line.data, copy);
        say("%s", copy);
    }
})

static void play_in_turns(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, connect_lines);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    host_run(read_slowly);
    host_run(read_slowly);
    for (int i = 0; i < 20; i++) {
        char text[32];
        snprintf(text, sizeof text, "%d%d\n%dx", i, i * i, i);
        peer_send(peer, text);
        tr_kit_advance(kit, 3 * MS);
        peer_send(peer, "y\n");
        tr_kit_advance(kit, 4 * MS);
    }
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_ptr_nonnull(strstr(said(), "19361"));
    hold_end();
}

ONCE(exchange, {
    const struct tr_received *answer =
        tr_await(self, tr_exchange(self, channel, (tr_bytes){"question\n", 9}));
    say_line(answer->bytes);
})

static void play_exchange_beside(void)
{
    hold_begin();
    peer_send(peer, "the first line\n");
    host_run(exchange);
    PEER_GETS(peer, "question\n");
    peer_send(peer, "an answer that is");
    peer_send(peer, " much longer\n");
    SAID("an answer that is much longer");
    tr_kit_advance(kit, TR_SECOND);
    SAID("the first line");
    hold_end();
    SAID("closed TR_CLOSED");
}

/* The channel is gone for all others before the turn that has a line of it ends. */
static void play_closed_beside(void)
{
    hold_begin();
    peer_send(peer, "the first"); /* so that the line is in memory of the channel */
    peer_send(peer, " line\n");
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    SAID("closed TR_RESET");
    tr_kit_advance(kit, TR_SECOND);
    SAID("the first line");
    hold_end();
}

TEST(a_turn_keeps_what_it_read_whatever_others_do, "C-07", "CH-19")
{
    kits_each(play_two_readers);
    kits_each(play_in_turns);
    kits_each(play_exchange_beside);
    kits_each(play_closed_beside);
}

TR_ACTOR(taker, run);

static tr_next on_taken(tr_self *self, const struct tr_opened *message)
{
    tr_bytes bytes;
    say("taken");
    while (tr_read_line(self, message->channel, &bytes))
        say_line(bytes);
    return TR_STOP;
}

TR_BEHAVIOR(taker, void, TR_ON(run, on_run), TR_ON(tr_opened, on_taken));

ONCE(read_and_hand_over, {
    tr_bytes line;
    taker_ref taker = tr_spawn(self, taker, NULL);
    if (tr_read_line(self, channel, &line)) {
        ck_assert_int_eq(tr_hand_over(self, channel, taker), TR_OK);
        say_line(line);
        tr_sleep(self, TR_SECOND);
        say_line(line);
    }
})

static void play_handed_over(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(host, connect_lines);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    host_run(read_and_hand_over);
    peer_send(peer, "the first line\nthe second line\n");
    peer_send(peer, "the third line\n");
    SAID("the first line; taken; the second line; the third line");
    tr_kit_advance(kit, TR_SECOND);
    SAID("the first line");
    hold_end();
}

TEST(a_turn_keeps_what_it_read_before_it_hands_over, "C-07", "C-10")
{
    kits_each(play_handed_over);
}

TR_ACTOR(late_reader, run);

static tr_next on_post_stop(tr_self *self)
{
    tr_bytes bytes;
    say("%s", tr_status_name(tr_try_read(self, channel, &bytes)));
    say_line(bytes);
    return TR_SAME;
}

TR_BEHAVIOR(late_reader, void, TR_ON(run, on_run), TR_ON(tr_post_stop, on_post_stop));

static tr_next stop_late(tr_self *self)
{
    (void)self;
    return TR_STOP;
}

/* Bytes that came for an actor that reads them as its last words. */
static void play_late(void)
{
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    HOST(late_reader, connect_lines);
    peer = tr_kit_accept(kit, SERVER, TR_SECOND);
    peer_send(peer, "the last line\nand more");
    host_run(stop_late);
    SAID("TR_OK; the last line");
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    hold_end();
}

TEST(a_signal_may_read, "C-07", "L-05")
{
    kits_each(play_late);
}

SUITE("bytes of channels", a_turn_keeps_what_it_read_whatever_others_do,
      a_turn_keeps_what_it_read_before_it_hands_over, a_signal_may_read)
