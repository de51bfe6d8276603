/* SPDX-License-Identifier: Apache-2.0 */
/** Several pieces of a channel that are handled at once, and their answers in order. On the network of kits. */
#include "support/net.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

/* ---- A server: "3 a" is answered after three seconds. ---- */

static int under_way, under_way_max;

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    const char *text = line->bytes.data;
    tr_channel channel = line->channel;
    under_way++;
    under_way_max = under_way > under_way_max ? under_way : under_way_max;
    tr_print(self, channel, "<%s", text + 2);
    if (text[0] > '0')
        tr_sleep(self, (text[0] - '0') * TR_SECOND);
    under_way--;
    tr_print(self, channel, "%s>\n", text + 2); /* the bytes are still there */
    if (strcmp(text + 2, "bye") == 0)
        tr_close(self, channel);
    if (strcmp(text + 2, "end") == 0)
        tr_finish(self, channel);
    if (strcmp(text + 2, "fail") == 0)
        return tr_fail(self, TR_FAILED, "a session that fails");
    return strcmp(text + 2, "stop") == 0 ? TR_STOP : TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s with %d", tr_status_name(message->status), under_way);
    return TR_STOP;
}

TR_BEHAVIOR(session, void, TR_ON(tr_received, on_line), TR_ON(tr_closed, on_closed));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static bool is_ordered;

ONCE(listen, {
    listener = tr_listen(self,
                         session,
                         TR_TCP(SERVER,
                                .framing = TR_LINES,
                                .in_flight_max = 3,
                                .interleaves = true,
                                .answers_in_order = is_ordered));
})

static tr_kit_peer *begin(bool ordered)
{
    is_ordered = ordered;
    under_way = under_way_max = 0;
    HOST(host, listen);
    return peer_new();
}

static void finish(tr_kit_peer *peer)
{
    tr_kit_close(peer);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    said_length = 0;
}

/* ---- At once. ---- */

static void play_at_once(void)
{
    tr_kit_peer *peer = begin(false);
    tr_kit_set_network(kit, &(tr_kit_network){.piece_max = TR_KIT_RANDOM});
    peer_send(peer, "3 a\n1 b\n2 c\n0 d\n");
    ck_assert_int_eq(under_way, 3); /* and the fourth waits */
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "<a<b<c");
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "b>\n<dd>\n");
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "c>\n");
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "a>\n");
    ck_assert_int_eq(under_way_max, 3);
    /* The end comes when none is under way: answers may still be written. */
    peer_send(peer, "2 e\n");
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    SAID("");
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "<ee>\n");
    SAID("closed TR_CLOSED with 0");
    finish(peer);
}

TEST(pieces_of_a_channel_are_handled_at_once, "C-03", "C-05", "C-07")
{
    kits_each(play_at_once);
}

/* ---- In order. ---- */

static void play_in_order(void)
{
    tr_kit_peer *peer = begin(true);
    peer_send(peer, "3 a\n1 b\n2 c\n0 d\n");
    ck_assert_int_eq(under_way, 3);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "<a"); /* the first writes at once */
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "");
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "a>\n<bb>\n<cc>\n<dd>\n");
    ck_assert_int_eq(under_way_max, 3);
    peer_send(peer, "1 a\n2 b\n"); /* one that becomes the first while it waits */
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "<aa>\n<b");
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, 0), "b>\n");
    finish(peer);
}

TEST(answers_leave_in_the_order_of_the_pieces, "C-03")
{
    kits_each(play_in_order);
}

/* A close of a later piece waits for the answers before it. What is behind it is not sent. */
static void play_close(void)
{
    tr_kit_peer *peer = begin(true);
    peer_send(peer, "2 a\n0 bye\n0 c\n");
    SAID("");
    tr_kit_advance(kit, 2 * TR_SECOND);
    PEER_GETS(peer, "<aa>\n<byebye>\n");
    ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
    tr_kit_close(peer);
    tr_kit_advance(kit, TR_SECOND);
    SAID("closed TR_OK with 0");
    peer = peer_new();
    peer_send(peer, "2 a\n0 end\n");
    tr_kit_advance(kit, 2 * TR_SECOND);
    PEER_GETS(peer, "<aa>\n<endend>\n");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    finish(peer);
}

TEST(a_close_waits_for_the_answers_before_it, "C-03", "C-09")
{
    kits_each(play_close);
}

/* ---- Ends while pieces are under way. ---- */

static void play_ends(void)
{
    static const char *const lasts[] = {"1 fail\n", "1 stop\n"};
    for (int i = 0; i < 4; i++) {
        is_ordered = i % 2;
        tr_kit_peer *peer = peer_new();
        peer_send(peer, "9 a\n8 b\n");
        peer_send(peer, lasts[i / 2]);
        tr_kit_advance(kit, TR_SECOND);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
        tr_kit_close(peer);
        peer = peer_new();
        peer_send(peer, "9 a\n8 b\n7 c\n");
        tr_kit_reset(peer);
        tr_kit_advance(kit, TR_MINUTE);
        tr_kit_close(peer);
        said_length = 0;
    }
}

static void play_ends_plain(void)
{
    tr_kit_close(begin(false));
    play_ends();
}

static void play_ends_ordered(void)
{
    tr_kit_close(begin(true));
    play_ends();
}

TEST(pieces_under_way_end_with_their_actor, "C-05", "C-09")
{
    kits_each(play_ends_plain);
    kits_each(play_ends_ordered);
}

/* ---- Much that is held back. ---- */

static tr_next on_much(tr_self *self, const struct tr_received *line)
{
    static char much[50 * 1024];
    const char *text = line->bytes.data;
    memset(much, text[0], sizeof much);
    if (text[0] == 'a')
        tr_sleep(self, TR_SECOND);
    for (int i = 0; i < 4; i++)
        tr_write(self, line->channel, (tr_bytes){much, sizeof much});
    say("%c", text[0]);
    return TR_SAME;
}

TR_BEHAVIOR(writer, void, TR_ON(tr_received, on_much));

ONCE(listen_writer, {
    listener = tr_listen(
        self,
        writer,
        TR_TCP(SERVER, .framing = TR_LINES, .interleaves = true, .answers_in_order = true));
})

TEST(a_turn_whose_answer_is_held_back_waits_at_the_limit, "C-03", "C-04")
{
    kit_open(1, 1);
    HOST(host, listen_writer);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "a\nb\n");
    SAID(""); /* b waits: more than .output_max is held back */
    char before = 'a';
    size_t size = 0;
    for (int i = 0; i < 100; i++) {
        tr_bytes bytes = tr_kit_receive(peer, 2 * TR_SECOND);
        for (size_t j = 0; j < bytes.size; j++) {
            char now = ((const char *)bytes.data)[j];
            ck_assert(now >= before);
            before = now;
        }
        size += bytes.size;
    }
    ck_assert_uint_eq(size, 2 * 4 * 50 * 1024);
    SAID("a; b");
    tr_kit_close(peer);
    kit_close();
}

/* ---- Without memory. ---- */

TEST(pieces_without_memory_end_their_channel_only, "C-11", "U-03")
{
    for (uint64_t nth = 1; nth <= 30; nth++) {
        kit_open(1, nth);
        tr_kit_peer *peer = begin(true);
        tr_kit_settle(kit);
        tr_kit_fail_allocation(kit, nth, false);
        (void)tr_kit_send(peer, TR_BYTES("2 a\n1 b\n0 c\n0 d\n"));
        tr_kit_advance(kit, TR_SECOND);
        tr_kit_advance(kit, TR_SECOND);
        tr_kit_fail_allocation(kit, 0, false);
        tr_kit_close(peer);
        tr_kit_advance(kit, TR_MINUTE);
        tr_kit_peer *next = peer_new();
        peer_send(next, "0 e\n");
        PEER_GETS(next, "<ee>\n");
        finish(next);
        kit_close();
    }
}

/* ---- Misuse. ---- */

ONCE(misuse, {
    tr_listener_ref none;
    tr_channel channel;
    say("%s",
        tr_status_name(
            tr_try_listen(self, &none, session, TR_TCP(SERVER, .answers_in_order = true))));
    say("%s",
        tr_status_name(tr_try_bind(self, TR_UDP("127.0.0.1:0", .interleaves = true), &channel)));
})

TEST(options_that_do_nothing_are_refused, "C-03")
{
    kit_open(1, 1);
    HOST(host, misuse);
    SAID("TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT");
    kit_close();
}

/* ---- tr_drained. ---- */

static tr_next on_flood(tr_self *self, const struct tr_received *line)
{
    static const char block[1024];
    if (*(const char *)line->bytes.data == 's') { /* the first one: its answer takes a second */
        tr_sleep(self, TR_SECOND);
        return TR_SAME;
    }
    tr_status status;
    do {
        status = tr_try_write(self, line->channel, (tr_bytes){block, sizeof block});
    } while (status == TR_OK);
    say("%s", tr_status_name(status));
    return TR_SAME;
}

static tr_next on_drained(void)
{
    say("drained");
    return TR_SAME;
}

TR_BEHAVIOR(flood, void, TR_ON(tr_received, on_flood), TR_ON(tr_drained, on_drained));
ONCE(listen_flood, listener = tr_listen(self, flood,
                                        TR_TCP(SERVER, .framing = TR_LINES, .output_max = 4096,
                                               .interleaves = true, .answers_in_order = true)))

static void play_drained(void)
{
    HOST(host, listen_flood);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "slow\nwrite\n");
    tr_kit_settle(kit);
    SAID("TR_LIMIT"); /* what it wrote is held back: there is no capacity */
    tr_kit_advance(kit, TR_SECOND);
    SAID("drained");
    tr_kit_close(peer);
}

TEST(an_answer_that_is_held_back_is_not_drained, "C-03", "C-04")
{
    kits_each(play_drained);
}

SUITE("pieces at once", an_answer_that_is_held_back_is_not_drained,
      pieces_of_a_channel_are_handled_at_once, answers_leave_in_the_order_of_the_pieces,
      a_close_waits_for_the_answers_before_it, pieces_under_way_end_with_their_actor,
      a_turn_whose_answer_is_held_back_waits_at_the_limit,
      pieces_without_memory_end_their_channel_only, options_that_do_nothing_are_refused)
