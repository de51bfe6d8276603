/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Channels of sessions: what they read and write, and how they end. On the network of kits.
 *
 * channel_write_test.c has writing, channel_listen_test.c listeners, channel_dial_test.c clients.
 */
#include "support/net.h"

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

#define LISTEN(name, behavior, ...)                                                                \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        listener = tr_listen(self, behavior, TR_TCP(SERVER, __VA_ARGS__));                         \
        return TR_SAME;                                                                            \
    }

/* ---- Reading by messages. ---- */

static tr_next on_echo(tr_self *self, const struct tr_received *message)
{
    ck_assert_int_eq(tr_write(self, message->channel, message->bytes), TR_OK);
    return TR_SAME;
}

TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_echo));
LISTEN(listen_echo, echo, .delays = false)

static void play_echo(void)
{
    static const tr_kit_network network = {
        .delay_ns = 3 * MS, .jitter_ns = MS, .piece_max = TR_KIT_RANDOM, .window = 3000};
    static char sent[200000], got[200000];
    HOST(host, listen_echo);
    tr_kit_set_network(kit, &network);
    tr_kit_peer *peer = peer_new();
    size_t out = 0, in = 0;
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (char)(i * 2654435761u >> 13);
    while (in < sizeof got) {
        out += tr_kit_send(peer, (tr_bytes){sent + out, sizeof sent - out});
        tr_bytes bytes = tr_kit_receive(peer, TR_SECOND);
        ck_assert_uint_gt(bytes.size, 0);
        memcpy(got + in, bytes.data, bytes.size);
        in += bytes.size;
    }
    ck_assert_mem_eq(sent, got, sizeof sent);
    tr_kit_finish(peer);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(bytes_come_back_in_order_whatever_the_network, "C-04", "C-14", "CH-01")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(5); seed++) {
        kit_open_as(2, seed, seed % 2);
        play_echo();
        kit_close();
    }
}

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    ck_assert_uint_eq(strlen(line->bytes.data), line->bytes.size);
    tr_print(self, line->channel, "%zu:%s\n", line->bytes.size, (const char *)line->bytes.data);
    return TR_SAME;
}

TR_BEHAVIOR(meter, void, TR_ON(tr_received, on_line));
LISTEN(listen_lines, meter, .framing = TR_LINES)

static void play_cuts(void)
{
    static const char request[] = "hello\r\n\nworld, again\n";
    size_t size = sizeof request - 1;
    HOST(host, listen_lines);
    for (size_t cut = 0; cut <= size; cut++) {
        tr_kit_peer *whole = peer_new();
        tr_kit_send(whole, (tr_bytes){request, cut});
        tr_kit_settle(kit);
        tr_kit_peer *broken = peer_new();
        tr_kit_send(broken, (tr_bytes){request, cut});
        tr_kit_settle(kit);
        tr_kit_reset(broken);
        tr_kit_settle(kit);
        tr_kit_send(whole, (tr_bytes){request + cut, size - cut});
        PEER_GETS(whole, "5:hello\n0:\n12:world, again\n");
        tr_kit_finish(whole);
        tr_kit_settle(kit);
        tr_kit_close(whole);
        tr_kit_close(broken);
        tr_kit_settle(kit);
        ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    }
}

TEST(lines_are_cut_and_connections_reset_at_every_byte, "C-03", "C-02", "CH-02", "CH-03")
{
    kit_open(1, 1);
    play_cuts();
    kit_close();
    kit_open(3, 2);
    play_cuts();
    kit_close();
}

LISTEN(listen_short_lines, meter, .framing = TR_LINES, .frame_max = 10)

TEST(a_piece_that_is_too_large_ends_its_channel_alone, "C-05")
{
    kit_open(1, 1);
    HOST(host, listen_short_lines);
    tr_kit_peer *good = peer_new();
    tr_kit_peer *bad = peer_new();
    peer_send(bad, "0123456789\n");
    PEER_GETS(bad, "10:0123456789\n");
    peer_send(bad, "01234567890\n");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(bad), TR_RESET);
    /* Also a last line, which lacks its end. */
    tr_kit_peer *last = peer_new();
    peer_send(last, "01234567890");
    tr_kit_finish(last);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(last), TR_RESET);
    peer_send(good, "ok\n");
    PEER_GETS(good, "2:ok\n");
    kit_close();
}

/* The last line may lack its end. */
TEST(the_last_line_comes_without_its_end, "C-03")
{
    kit_open(1, 1);
    HOST(host, listen_lines);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "one\ntwo");
    tr_kit_finish(peer);
    PEER_GETS(peer, "3:one\n3:two\n");
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
}

/* ---- Ends. ---- */

static tr_next on_opened_say(tr_self *self, const struct tr_opened *message)
{
    ck_assert(message->is_accepted && !message->is_handed_over);
    ck_assert_uint_eq(message->channel.bits, tr_peer(self).bits);
    ck_assert_int_eq(message->peer.family, TR_FAMILY_V4);
    say("opened");
    return TR_SAME;
}

static tr_next on_received_say(tr_self *self, const struct tr_received *message)
{
    say("%.*s", (int)message->bytes.size, (const char *)message->bytes.data);
    if (memcmp(message->bytes.data, "fail", 4) == 0)
        return tr_fail(self, TR_FAILED, "as asked");
    if (memcmp(message->bytes.data, "stop", 4) == 0) {
        tr_write_text(self, message->channel, "bye");
        return TR_STOP;
    }
    if (memcmp(message->bytes.data, "close", 5) == 0) {
        tr_write_text(self, message->channel, "closing");
        tr_close(self, message->channel);
        ck_assert_int_eq(tr_write_text(self, message->channel, "no"), TR_CLOSED);
    }
    if (memcmp(message->bytes.data, "reset", 5) == 0)
        tr_reset(self, message->channel);
    return TR_SAME;
}

static tr_next on_closed_say(tr_self *self, const struct tr_closed *message)
{
    tr_bytes bytes;
    say("closed %s", tr_status_name(message->status));
    ck_assert_int_ne(tr_write_text(self, message->channel, "too late"), TR_OK);
    ck_assert_int_ne(tr_try_read(self, message->channel, &bytes), TR_OK);
    return TR_STOP;
}

TR_BEHAVIOR(sayer, void, TR_ON(tr_opened, on_opened_say), TR_ON(tr_received, on_received_say),
            TR_ON(tr_closed, on_closed_say));
LISTEN(listen_sayer, sayer, .idle_ns = TR_MINUTE)

static void play_ends(void)
{
    HOST(host, listen_sayer);
    tr_kit_peer *peer = peer_new();
    tr_kit_settle(kit);
    SAID("opened");
    peer_send(peer, "hello");
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    SAID("hello; closed TR_CLOSED");

    peer = peer_new();
    peer_send(peer, "x");
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    SAID("opened; x; closed TR_RESET");

    peer = peer_new();
    peer_send(peer, "stop");
    PEER_GETS(peer, "bye");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    SAID("opened; stop");
    tr_kit_close(peer);

    peer = peer_new();
    peer_send(peer, "fail");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID("opened; fail");

    peer = peer_new();
    peer_send(peer, "close");
    PEER_GETS(peer, "closing");
    SAID("opened; close"); /* the other side has not ended yet */
    tr_kit_close(peer);
    tr_kit_settle(kit);
    SAID("closed TR_OK");

    peer = peer_new();
    peer_send(peer, "reset");
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    SAID("opened; reset; closed TR_OK");

    peer = peer_new();
    peer_send(peer, "idle");
    tr_kit_advance(kit, TR_MINUTE - 1);
    SAID("opened; idle");
    tr_kit_advance(kit, 1);
    SAID("closed TR_TIMEOUT");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(a_channel_ends_once_with_its_reason_after_what_came, "C-05", "C-09", "CH-04", "CH-07")
{
    kits_each(play_ends);
}

/* An actor that closes and goes away leaves its bytes to the linger; a peer that never ends is cut off. */
TEST(a_peer_that_does_not_end_is_cut_off_after_the_linger, "C-09")
{
    kit_open(1, 1);
    HOST(host, listen_sayer);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "stop");
    PEER_GETS(peer, "bye");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 2);
    tr_kit_advance(kit, TR_LINGER_NS);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
}

/* ---- Reading in turns. ---- */

static tr_next on_opened_read(tr_self *self, const struct tr_opened *message)
{
    tr_channel channel = message->channel;
    tr_bytes first, second, third;
    ck_assert(tr_read_line(self, channel, &first));
    ck_assert_str_eq(first.data, "name anna");
    ck_assert(tr_read_exactly(self, channel, 5, &second));
    ck_assert_mem_eq(second.data, "12345", 5);
    ck_assert(tr_read_until(self, channel, TR_BYTES("END"), &third));
    ck_assert_uint_eq(third.size, 6);
    ck_assert_mem_eq(third.data, "abcEND", 6);
    ck_assert(tr_read(self, channel, &first));
    say("%.*s", (int)first.size, (const char *)first.data);
    if (tr_read(self, channel, &first))
        say("more");
    else
        say("end");
    return TR_STOP;
}

TR_BEHAVIOR(reader, void, TR_ON(tr_opened, on_opened_read));
LISTEN(listen_reader, reader, .delays = false)

static void play_reads(void)
{
    static const char text[] = "name anna\r\n12345abcENDrest";
    HOST(host, listen_reader);
    for (size_t cut = 0; cut < sizeof text - 5; cut++) {
        tr_kit_peer *peer = peer_new();
        tr_kit_send(peer, (tr_bytes){text, cut});
        tr_kit_settle(kit);
        tr_kit_send(peer, (tr_bytes){text + cut, sizeof text - 1 - cut});
        tr_kit_settle(kit);
        SAID("rest");
        tr_kit_finish(peer);
        tr_kit_settle(kit);
        SAID("end");
        tr_kit_close(peer);
    }
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(turns_read_lines_sizes_and_ends_cut_at_every_byte, "C-04", "CH-02")
{
    kit_open(1, 1);
    play_reads();
    kit_close();
    kit_open(2, 7);
    play_reads();
    kit_close();
}

/* A handler begins with a message and reads on; what it has read stays while it waits. */
static tr_next on_head(tr_self *self, const struct tr_received *head)
{
    tr_bytes body;
    size_t size = strtoul(head->bytes.data, NULL, 10);
    if (!tr_read_exactly(self, head->channel, size, &body))
        return TR_SAME;
    char *kept = tr_scratch(self, size + 1);
    memcpy(kept, body.data, size);
    tr_sleep(self, 10 * MS);
    ck_assert_mem_eq(kept, body.data, size); /* C-07 */
    say("%.*s", (int)size, (const char *)body.data);
    return TR_SAME;
}

TR_BEHAVIOR(framed, void, TR_ON(tr_received, on_head));
LISTEN(listen_framed, framed, .framing = TR_LINES)

static void play_head_and_body(void)
{
    HOST(host, listen_framed);
    tr_kit_peer *peers[3];
    for (int i = 0; i < 3; i++)
        peers[i] = peer_new();
    for (int i = 0; i < 3; i++) {
        char text[64];
        snprintf(text, sizeof text, "6\nhello%d5\nagain", i);
        peer_send(peers[i], text);
    }
    SAID("");
    tr_kit_advance(kit, 10 * MS);
    const char *text = said();
    for (int i = 0; i < 3; i++) {
        char part[16];
        snprintf(part, sizeof part, "hello%d", i);
        ck_assert_ptr_nonnull(strstr(text, part));
    }
    ck_assert_ptr_null(strstr(text, "again"));
    tr_kit_advance(kit, 10 * MS);
    SAID("again; again; again");
}

TEST(pieces_of_a_channel_are_handled_one_after_the_other_and_bytes_stay, "C-03", "C-07", "CH-18",
     "CH-19")
{
    kits_each(play_head_and_body);
}

static tr_next on_part(tr_self *self, const struct tr_received *message)
{
    size_t size = message->bytes.size;
    const char *data = message->bytes.data;
    say("%zu", size);
    if (size < 4) {
        tr_unread(self, message->channel, size);
        return TR_SAME;
    }
    say("%.4s", data);
    tr_unread(self, message->channel, size - 4);
    return TR_SAME;
}

TR_BEHAVIOR(unreader, void, TR_ON(tr_received, on_part));
LISTEN(listen_unreader, unreader, .delays = false)

TEST(what_is_unread_comes_again_with_more, "C-03")
{
    kit_open(1, 1);
    HOST(host, listen_unreader);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "ab");
    SAID("2");
    peer_send(peer, "c");
    SAID("3");
    peer_send(peer, "defgh");
    SAID("8; abcd");
    peer_send(peer, "ij");
    SAID("6; efgh");
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
}

static tr_next on_opened_within(tr_self *self, const struct tr_opened *message)
{
    tr_bytes bytes;
    tr_channel_within(self, message->channel, 50 * MS);
    say("%s", tr_status_name(tr_try_read(self, message->channel, &bytes)));
    tr_channel_within(self, message->channel, 0);
    say("%s", tr_status_name(tr_try_read(self, message->channel, &bytes)));
    return TR_STOP;
}

TR_BEHAVIOR(hasty, void, TR_ON(tr_opened, on_opened_within));
LISTEN(listen_hasty, hasty, .delays = false)

TEST(a_read_waits_no_longer_than_it_may, "C-05")
{
    kit_open(1, 1);
    HOST(host, listen_hasty);
    tr_kit_peer *peer = peer_new();
    tr_kit_advance(kit, 50 * MS - 1);
    SAID("");
    tr_kit_advance(kit, 1);
    SAID("TR_TIMEOUT");
    tr_kit_advance(kit, TR_HOUR);
    SAID("");
    peer_send(peer, "x");
    SAID("TR_OK");
    kit_close();
}

static tr_next listen_sayer_too(tr_self *self)
{
    tr_listen(self, sayer, TR_TCP("127.0.0.1:7001"));
    return TR_SAME;
}

static tr_next listen_echo_too(tr_self *self)
{
    tr_listen(self, echo, TR_TCP("127.0.0.1:7002"));
    return TR_SAME;
}

/* Returns how many messages a connection is to the system. */
static uint64_t messages_of(const char *address)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    uint64_t before = counters.handled;
    ck_assert_ptr_nonnull(tr_kit_connect(kit, address));
    tr_kit_settle(kit);
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.handled - before;
}

TEST(an_actor_without_a_handler_has_no_turn_for_an_opened_channel, "C-01")
{
    kit_open(1, 1);
    HOST(host, listen_sayer_too);
    host_run(listen_echo_too);
    (void)messages_of("127.0.0.1:7001"); /* the first one makes a deck */
    (void)messages_of("127.0.0.1:7002");
    ck_assert_uint_eq(messages_of("127.0.0.1:7002") + 1, messages_of("127.0.0.1:7001"));
    (void)said();
    kit_close();
}

/* ---- Readiness for nothing. ---- */

static tr_next on_opened_lines(tr_self *self, const struct tr_opened *message)
{
    tr_bytes line;
    while (tr_read_line(self, message->channel, &line))
        tr_print(self, message->channel, "%zu:%s\n", line.size, (const char *)line.data);
    return TR_STOP;
}

TR_BEHAVIOR(diligent, void, TR_ON(tr_opened, on_opened_lines));
LISTEN(listen_diligent, diligent, .delays = false)

enum { WRONG_LINES = 8, WRONG_CALLS_MAX = 24 };

/*
 * Bytes are announced, but the nth receive finds none (0: the first receive after each of the segments). They come with the
 * next ones, once and in order, for a handler and for a turn that reads; and the end is found.
 */
static void play_wrong_events(turn *listen, uint64_t nth)
{
    char expected[400] = "", got[400] = "";
    kit_open(1, 1);
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    tr_kit_fail_network(kit, "receive", nth, TR_WOULD_BLOCK);
    for (int i = 0; i < WRONG_LINES; i++) {
        char line[32];
        snprintf(line, sizeof line, "line %d\n", i);
        snprintf(expected + strlen(expected), 32, "6:line %d\n", i);
        for (int half = 0; half < 2; half++) {
            if (!nth)
                tr_kit_fail_network(kit, "receive", 1, TR_WOULD_BLOCK);
            tr_kit_send(peer, (tr_bytes){line + 3 * half, half ? 4 : 3});
            tr_kit_settle(kit);
        }
        strcat(got, tr_kit_receive_text(peer, 0));
    }
    tr_kit_fail_network(kit, "receive", 0, TR_WOULD_BLOCK);
    tr_kit_send(peer, TR_BYTES("end\n"));
    strcat(expected, "3:end\n");
    strcat(got, tr_kit_receive_text(peer, TR_SECOND));
    ck_assert_msg(strcmp(got, expected) == 0, "receive %d: %s", (int)nth, got);
    tr_kit_finish(peer);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    tr_kit_close(peer);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
}

TEST(readiness_for_nothing_does_no_harm, "C-04", "CH-15")
{
    for (uint64_t nth = 0; nth <= WRONG_CALLS_MAX; nth++) {
        play_wrong_events(listen_lines, nth);
        play_wrong_events(listen_diligent, nth);
    }
}

SUITE("channels", readiness_for_nothing_does_no_harm, bytes_come_back_in_order_whatever_the_network,
      lines_are_cut_and_connections_reset_at_every_byte,
      a_piece_that_is_too_large_ends_its_channel_alone, the_last_line_comes_without_its_end,
      a_channel_ends_once_with_its_reason_after_what_came,
      a_peer_that_does_not_end_is_cut_off_after_the_linger,
      turns_read_lines_sizes_and_ends_cut_at_every_byte,
      pieces_of_a_channel_are_handled_one_after_the_other_and_bytes_stay,
      what_is_unread_comes_again_with_more, a_read_waits_no_longer_than_it_may,
      an_actor_without_a_handler_has_no_turn_for_an_opened_channel)
