/* SPDX-License-Identifier: Apache-2.0 */
/** What tr_unread gives back comes again when it can: at once if it is whole, and as the same piece. On the network of kits. */
#include "support/net.h"

#define LISTEN(name, behavior, ...)                                                                \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        listener = tr_listen(self, behavior, TR_TCP(SERVER, __VA_ARGS__));                         \
        return TR_SAME;                                                                            \
    }
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

/* What the first byte of a piece has its turn do, before it says the piece. */
static void act(tr_self *self, tr_channel channel, char how)
{
    tr_bytes next = {"", 0};
    bool is_read = false;
    if (how == 'R' || how == 'T')
        is_read = tr_read(self, channel, &next);
    if (how == 'T') /* of two pieces the last is given back */
        is_read = tr_read(self, channel, &next);
    if (how == 'L')
        is_read = tr_read_line(self, channel, &next);
    if (how == 'E')
        is_read = tr_read_exactly(self, channel, 2, &next);
    if (how == 'U')
        is_read = tr_read_until(self, channel, TR_BYTES("\n"), &next);
    if (is_read)
        tr_unread(self, channel, next.size);
}
static tr_next on_piece(tr_self *self, const struct tr_received *piece)
{
    char text[100];
    snprintf(text, sizeof text, "%.*s", (int)piece->bytes.size, (const char *)piece->bytes.data);
    act(self, piece->channel, text[0]);
    for (char *at = text; *at; at++)
        *at = *at == '\r' ? 'r' : *at == '\n' ? 'n' : *at;
    say("[%s]", text);
    return TR_SAME;
}
static tr_next on_closed(tr_self *self, const struct tr_closed *message)
{
    (void)self;
    say("%s", tr_status_name(message->status));
    return TR_STOP;
}
TR_BEHAVIOR(giver, void, TR_ON(tr_received, on_piece), TR_ON(tr_closed, on_closed));

/* A framing of one's own: a piece ends with a semicolon. */
static size_t cut_parts(const tr_framing *framing, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    const char *data = bytes.data;
    const char *end = memchr(data + seen, ';', bytes.size - seen);
    (void)framing;
    if (!end)
        return 0;
    *piece = (tr_bytes){data, (size_t)(end - data)};
    return piece->size + 1;
}
static const tr_framing parts = {.cut = cut_parts};
LISTEN(listen_lines, giver, .framing = TR_LINES)
LISTEN(listen_lengths, giver, .framing = TR_LENGTH(1))
LISTEN(listen_parts, giver, .framing = &parts)

static void play(turn *listen, const char *sent, bool ends, const char *expected)
{
    kit_open(1, 1);
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    peer_send(peer, sent);
    if (ends)
        tr_kit_finish(peer);
    tr_kit_advance(kit, TR_SECOND);
    SAID(expected);
    kit_close();
}

TEST(a_whole_piece_that_was_unread_comes_when_the_turn_ends, "C-03")
{
    play(listen_lines, "R\nb\n", false, "[R]; [b]");
    play(listen_lines, "R\r\nb\r\n", false, "[R]; [b]");
    play(listen_lines, "R\n\n", false, "[R]; []");
    play(listen_lines, "R\nb\nc", false, "[R]; [b]");
    play(listen_lengths, "\1R\2bc", false, "[R]; [bc]");
    play(listen_parts, "R;b;", false, "[R]; [b]");
    play(listen_parts, "R;;", false, "[R]; []");
    play(listen_parts, "R;;", false, "[R]; []");
    play(listen_lines, "T\na\nb\n", false, "[T]; [b]");
    play(listen_lines, "R\nR\nb\n", false, "[R]; [R]; [b]");
}
TEST(a_whole_piece_that_was_unread_comes_before_the_end, "C-03", "C-05")
{
    play(listen_lines, "R\nb\n", true, "[R]; [b]; TR_CLOSED");
    play(listen_lines, "R\nb\r\n", true, "[R]; [b]; TR_CLOSED");
    play(listen_lines, "R\nb", true, "[R]; [b]; TR_CLOSED");
    play(listen_lengths, "\1R\2bc", true, "[R]; [bc]; TR_CLOSED");
    play(listen_parts, "R;b;", true, "[R]; [b]; TR_CLOSED");
}
TEST(what_was_read_by_a_line_a_size_or_an_end_comes_again_as_a_piece, "C-03")
{
    play(listen_lines, "L\nabc\n", false, "[L]; [abc]");
    play(listen_lines, "L\nabc\r\n", true, "[L]; [abc]; TR_CLOSED");
    play(listen_lines, "E\nb\n", false, "[E]; [b]");
    play(listen_lines, "U\nb\n", false, "[U]; [b]");
}

/* Gives all back, and reads it again by another rule. */
static tr_next on_raw(tr_self *self, const struct tr_received *piece)
{
    tr_bytes line;
    tr_channel_within(self, piece->channel, 100 * TR_MILLISECOND);
    tr_unread(self, piece->channel, piece->bytes.size);
    if (!tr_read_line(self, piece->channel, &line))
        return TR_SAME;
    say("[%s]", (const char *)line.data);
    tr_unread(self, piece->channel, line.size);
    if (tr_read_line(self, piece->channel, &line))
        say("again [%s]", (const char *)line.data);
    return TR_SAME;
}
TR_BEHAVIOR(raw, void, TR_ON(tr_received, on_raw), TR_ON(tr_closed, on_closed));
LISTEN(listen_raw, raw, .delays = false)

TEST(unread_bytes_are_read_again_by_another_rule_in_the_same_turn, "C-03")
{
    play(listen_raw, "abc\n", false, "[abc]; again [abc]");
    play(listen_raw, "abc\r\n", true, "[abc]; again [abc]; TR_CLOSED");
}

/* Looks at the first bytes of a connection, and gives them, with it, to another actor. */
TR_ACTOR(taker, tr_received);
static tr_next on_first(tr_self *self, const struct tr_received *piece)
{
    taker_ref taker = tr_find(self, taker, "/user/host/taker");
    tr_unread(self, piece->channel, piece->bytes.size);
    ck_assert_int_eq(tr_hand_over(self, piece->channel, taker), TR_OK);
    return TR_SAME;
}
TR_BEHAVIOR(taker, void, TR_ON(tr_received, on_piece));
TR_BEHAVIOR(first, void, TR_ON(tr_received, on_first));
static tr_next listen_first(tr_self *self)
{
    tr_spawn(self, taker, "taker");
    listener = tr_listen(self, first, TR_TCP(SERVER));
    return TR_SAME;
}
static tr_next listen_first_lines(tr_self *self)
{
    tr_spawn(self, taker, "taker");
    listener = tr_listen(self, first, TR_TCP(SERVER, .framing = TR_LINES));
    return TR_SAME;
}
TEST(unread_bytes_come_to_the_actor_that_takes_the_channel_over, "C-03", "C-10")
{
    play(listen_first, "abc", false, "[abc]");
    play(listen_first_lines, "abc\n", false, "[abc]");
    play(listen_first_lines, "abc\r\n", true, "[abc]");
}

/* Looks at the first bytes of a connection to choose a behavior. */
TR_ACTOR(later, tr_received);
TR_BEHAVIOR(later, void, TR_ON(tr_received, on_piece));
static tr_next on_choice(tr_self *self, const struct tr_received *piece)
{
    tr_unread(self, piece->channel, piece->bytes.size);
    return tr_become(self, later);
}
TR_BEHAVIOR(choosing, void, TR_ON(tr_received, on_choice));
LISTEN(listen_choosing, choosing, .delays = false)
LISTEN(listen_choosing_lines, choosing, .framing = TR_LINES)
TEST(unread_bytes_come_to_the_next_behavior, "C-03")
{
    play(listen_choosing, "abc", false, "[abc]");
    play(listen_choosing_lines, "abc\n", false, "[abc]");
}

SUITE("what is unread", a_whole_piece_that_was_unread_comes_when_the_turn_ends,
      a_whole_piece_that_was_unread_comes_before_the_end,
      what_was_read_by_a_line_a_size_or_an_end_comes_again_as_a_piece,
      unread_bytes_are_read_again_by_another_rule_in_the_same_turn,
      unread_bytes_come_to_the_actor_that_takes_the_channel_over,
      unread_bytes_come_to_the_next_behavior)
