/* SPDX-License-Identifier: Apache-2.0 */
/** Channels of sessions: writing, mistakes, and lack of memory. On the network of kits. */
#include "support/net.h"

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

#define LISTEN(name, behavior, ...)                                                                \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        listener = tr_listen(self, behavior, TR_TCP(SERVER, __VA_ARGS__));                         \
        return TR_SAME;                                                                            \
    }

/* ---- Writing. ---- */

enum { FLOOD = 400 };
static size_t flood_written;

static tr_next on_flood(tr_self *self, const struct tr_received *message)
{
    static char block[4096];
    memset(block, 'x', sizeof block);
    for (flood_written = 0; flood_written < FLOOD; flood_written++) {
        tr_status status = tr_write(self, message->channel, (tr_bytes){block, sizeof block});
        if (status != TR_OK) {
            say("%s", tr_status_name(status));
            return TR_SAME;
        }
        ck_assert_uint_le(tr_output_size(self, message->channel), TR_OUTPUT_MAX + sizeof block);
    }
    say("all");
    return TR_SAME;
}

TR_BEHAVIOR(flood, void, TR_ON(tr_received, on_flood));
LISTEN(listen_flood, flood, .delays = false)

static void play_slow_reader(void)
{
    HOST(host, listen_flood);
    tr_kit_peer *slow = peer_new();
    peer_send(slow, "go");
    ck_assert_uint_lt(flood_written, 64); /* 64 KiB here, 64 KiB on the way */
    SAID("");
    size_t got = 0;
    while (got < FLOOD * 4096) {
        tr_bytes bytes = tr_kit_receive(slow, TR_SECOND);
        ck_assert_uint_gt(bytes.size, 0);
        got += bytes.size;
    }
    SAID("all");
    ck_assert_uint_eq(got, FLOOD * 4096);
}

TEST(a_slow_reader_slows_its_writer_and_nothing_is_lost, "C-04", "CH-05", "CH-06")
{
    kits_each(play_slow_reader);
}

TEST(a_reader_that_stands_still_is_cut_off, "C-04", "CH-16")
{
    kit_open(1, 1);
    HOST(host, listen_flood);
    tr_kit_peer *still = peer_new();
    peer_send(still, "go");
    tr_kit_advance(kit, TR_STALL_NS - TR_SECOND);
    SAID("");
    tr_kit_advance(kit, TR_SECOND + 1);
    SAID("TR_STALLED");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
}

static tr_next on_try_flood(tr_self *self, const struct tr_received *message)
{
    static char block[4096];
    tr_status status;
    while ((status = tr_try_write(self, message->channel, (tr_bytes){block, sizeof block})) ==
           TR_OK)
        flood_written++;
    ck_assert_int_eq(status, TR_LIMIT);
    say("full");
    return TR_SAME;
}

static tr_next on_drained(tr_self *self, const struct tr_drained *message)
{
    ck_assert_uint_le(tr_output_size(self, message->channel), TR_OUTPUT_MAX / 2);
    say("drained");
    return TR_SAME;
}

TR_BEHAVIOR(tryer, void, TR_ON(tr_received, on_try_flood), TR_ON(tr_drained, on_drained));
LISTEN(listen_tryer, tryer, .delays = false)

TEST(a_write_that_does_not_wait_says_when_there_is_capacity, "C-04")
{
    kit_open(1, 1);
    HOST(host, listen_tryer);
    flood_written = 0;
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "go");
    SAID("full");
    size_t got = 0;
    while (got < flood_written * 4096)
        got += tr_kit_receive(peer, TR_SECOND).size;
    SAID("drained");
    kit_close();
}

/* ---- A channel that ends while it is written to. ---- */

/* Writes by the verb that was asked for; more than 16 KiB are sent at once, and the other side is gone. */
static tr_next on_lost(tr_self *self, const struct tr_received *message)
{
    enum { SIZE = 20000 };
    tr_channel channel = message->channel;
    tr_buffer *buffer = tr_buffer_of_turn(self, SIZE);
    memset(tr_buffer_data(buffer), 'b', SIZE);
    const tr_bytes bytes = {tr_buffer_data(buffer), SIZE};
    tr_status status = TR_OK;
    tr_kit_fail_network(kit, "send", 1, TR_RESET);
    switch (*(const char *)message->bytes.data) {
    case 'w':
        status = tr_write(self, channel, bytes);
        break;
    case 't':
        status = tr_try_write(self, channel, bytes);
        break;
    case 'b':
        status = tr_write_buffer(self, channel, buffer);
        break;
    }
    say("%s %s", tr_status_name(status), tr_status_name(tr_write_text(self, channel, "more")));
    return TR_SAME;
}

TR_BEHAVIOR(loser, void, TR_ON(tr_received, on_lost));
LISTEN(listen_loser, loser, .delays = false)

TEST(a_write_that_ends_its_channel_says_so, "C-04", "C-05")
{
    kit_open(1, 1);
    HOST(host, listen_loser);
    const char *const verbs[] = {"w", "t", "b"};
    for (int i = 0; i < 3; i++) {
        peer_send(peer_new(), verbs[i]);
        SAID("TR_RESET TR_RESET");
    }
    kit_close();
}

/* ---- All ways to write. ---- */

static tr_next on_mixed(tr_self *self, const struct tr_received *message)
{
    tr_channel channel = message->channel;
    tr_write_text(self, channel, "a");
    tr_print(self, channel, "%d", 42);
    char *at = tr_reserve(self, channel, 100);
    tr_commit(self, channel, (size_t)snprintf(at, 100, "[%s]", "reserved"));
    tr_buffer *buffer = tr_buffer_of_turn(self, 10000);
    memset(tr_buffer_data(buffer), 'b', 10000);
    tr_write_buffer(self, channel, buffer);
    tr_print(self, channel, "%0500d", 7);
    ck_assert_int_eq(tr_flush(self, channel), TR_OK);
    ck_assert_uint_eq(tr_output_size(self, channel), 0);
    tr_finish(self, channel);
    return TR_SAME;
}

TR_BEHAVIOR(mixer, void, TR_ON(tr_received, on_mixed));
LISTEN(listen_mixer, mixer, .delays = false)

TEST(all_ways_to_write_keep_their_order, "C-08", "CH-06")
{
    kit_open(1, 1);
    HOST(host, listen_mixer);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "go");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    ck_assert_uint_eq(strlen(text), 3 + 10 + 10000 + 500);
    ck_assert_int_eq(strncmp(text, "a42[reserved]bbbb", 17), 0);
    ck_assert_str_eq(text + 3 + 10 + 10000 + 499, "7");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    kit_close();
}

/* ---- Mistakes. ---- */

static tr_channel stolen;

static tr_next on_steal(tr_self *self, const struct tr_received *message)
{
    (void)self;
    stolen = message->channel;
    return TR_SAME;
}

TR_BEHAVIOR(victim, void, TR_ON(tr_received, on_steal));
LISTEN(listen_victim, victim, .delays = false)

static tr_next use_stolen(tr_self *self)
{
    tr_bytes bytes;
    say("%s", tr_status_name(tr_write_text(self, stolen, "x")));
    say("%s", tr_status_name(tr_try_read(self, stolen, &bytes)));
    say("%s", tr_status_name(tr_write_text(self, TR_NO_CHANNEL, "x")));
    tr_close(self, stolen);
    say("not reached");
    return TR_SAME;
}

TEST(channels_of_others_are_refused, "C-01")
{
    kit_open(1, 1);
    HOST(host, listen_victim);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "x");
    host_run(use_stolen);
    SAID("TR_NOT_OWNER; TR_NOT_OWNER; TR_NOT_OWNER");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    kit_close();
}

static tr_next on_stash(tr_self *self, const struct tr_received *message)
{
    (void)message;
    return tr_stash(self);
}

TR_BEHAVIOR(stasher, void, TR_ON(tr_received, on_stash));
LISTEN(listen_stasher, stasher, .delays = false)

TEST(what_a_channel_brings_cannot_be_stashed, "C-04")
{
    kit_open(1, 1);
    HOST(host, listen_stasher);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "x");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    kit_close();
}

/* ---- Without memory. ---- */

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    ck_assert_uint_eq(strlen(line->bytes.data), line->bytes.size);
    tr_print(self, line->channel, "%zu:%s\n", line->bytes.size, (const char *)line->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(meter, void, TR_ON(tr_received, on_line));
LISTEN(listen_lines, meter, .framing = TR_LINES)

static void play_without_memory(uint64_t nth)
{
    HOST(host, listen_lines);
    tr_kit_fail_allocation(kit, nth, false);
    tr_kit_peer *peer = tr_kit_connect(kit, SERVER);
    /* The network of the kit takes memory too. */
    if (peer && tr_kit_send(peer, TR_BYTES("hello, you\nand again\n")) == 21) {
        tr_kit_settle(kit);
        tr_kit_advance(kit, TR_SECOND);
        tr_kit_fail_allocation(kit, 0, false);
        const char *text = tr_kit_receive_text(peer, TR_SECOND);
        bool is_whole = strcmp(text, "10:hello, you\n9:and again\n") == 0;
        ck_assert_msg(is_whole || tr_kit_peer_status(peer) == TR_RESET,
                      "allocation %d: \"%s\", %s",
                      (int)nth,
                      text,
                      tr_status_name(tr_kit_peer_status(peer)));
        tr_kit_close(peer);
    }
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_peer *next = peer_new(); /* others are served */
    peer_send(next, "x\n");
    PEER_GETS(next, "1:x\n");
}

TEST(lack_of_memory_costs_one_connection_at_most, "C-02", "U-03")
{
    for (uint64_t nth = 1; nth <= 40; nth++) {
        kit_open(1, 1);
        play_without_memory(nth);
        kit_close();
    }
}

SUITE("channels that write", a_slow_reader_slows_its_writer_and_nothing_is_lost,
      a_reader_that_stands_still_is_cut_off, a_write_that_does_not_wait_says_when_there_is_capacity,
      a_write_that_ends_its_channel_says_so, all_ways_to_write_keep_their_order,
      channels_of_others_are_refused, what_a_channel_brings_cannot_be_stashed,
      lack_of_memory_costs_one_connection_at_most)
