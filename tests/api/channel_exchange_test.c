/* SPDX-License-Identifier: Apache-2.0 */
/** Exchanges that are matched by id, and those that go alone. On the network of kits. */
#include "support/net.h"

/* ---- A protocol: lines that begin with a number. ---- */

static size_t cut(const tr_framing *framing, tr_bytes bytes, size_t seen, tr_bytes *piece)
{
    (void)framing;
    return TR_LINES->cut(TR_LINES, bytes, seen, piece);
}

/* "17 text" has the id 17; a line that begins with '*' is no answer. */
static bool id_of(const tr_framing *framing, tr_bytes piece, uint64_t *id)
{
    (void)framing;
    const char *text = piece.data;
    size_t i = 0;
    for (*id = 0; i < piece.size && text[i] >= '0' && text[i] <= '9'; i++)
        *id = *id * 10 + (uint64_t)(text[i] - '0');
    return i > 0;
}

static const tr_framing numbered = {.name = "numbered lines", .cut = cut, .id = id_of};

/* ---- A client whose requests share one connection. ---- */

static tr_channel channel;

TR_MESSAGE(question, (u32, id), (bool, is_alone), (i64, within_ns));
TR_ACTOR(client, question, run);

static tr_next on_question(tr_self *self, const struct question *message)
{
    uint32_t id = message->id;
    const char *line = tr_format(self, "%u ?\n", id);
    tr_bytes request = {line, strlen(line)};
    const struct tr_received *reply;
    tr_channel_within(self, channel, message->within_ns);
    tr_channel_ask asked = message->is_alone ? tr_exchange_alone(self, channel, request)
                                             : tr_exchange(self, channel, request);
    tr_status status = tr_try_await(self, asked, &reply);
    if (status == TR_OK)
        say("%u=%.*s", id, (int)reply->bytes.size, (const char *)reply->bytes.data);
    else
        say("%u %s", id, tr_status_name(status));
    return TR_SAME;
}

static tr_next on_event(tr_self *self, const struct tr_received *line)
{
    say("event %.*s", (int)line->bytes.size, (const char *)line->bytes.data);
    (void)self;
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    say("closed %s %s", tr_status_name(message->status), message->text ? message->text : "-");
    return TR_SAME;
}

TR_BEHAVIOR(client, void, TR_ON(run, on_run), TR_ON(question, on_question),
            TR_ON(tr_received, on_event), TR_ON(tr_closed, on_closed));
/* Without a handler for what belongs to no exchange. */
TR_BEHAVIOR(deaf, void, TR_ON(run, on_run), TR_ON(question, on_question),
            TR_ON(tr_closed, on_closed));

static const tr_framing *framing;

static tr_next dial(tr_self *self)
{
    channel = tr_dial(self, TR_TCP(SERVER, .framing = framing, .in_flight_max = 3));
    return TR_SAME;
}

#define ASK(id_, ...)                                                                              \
    do {                                                                                           \
        tr_tell(test, client_ref_of(tr_any(host)), question, .id = id_, __VA_ARGS__);              \
        tr_kit_settle(kit);                                                                        \
    } while (0)

/** Starts a client, and returns its server. */
static tr_kit_peer *client_new(bool is_deaf, const tr_framing *how)
{
    framing = how;
    ck_assert_ptr_null(tr_kit_accept(kit, SERVER, 0));
    if (is_deaf)
        HOST(deaf, dial);
    else
        HOST(client, dial);
    return tr_kit_accept(kit, SERVER, TR_SECOND);
}

/* ---- Ids. ---- */

static void play_ids(void)
{
    tr_kit_peer *peer = client_new(false, &numbered);
    tr_kit_set_network(kit, &(tr_kit_network){.piece_max = TR_KIT_RANDOM});
    for (uint32_t id = 1; id <= 4; id++)
        ASK(id, 0);
    PEER_GETS(peer, "1 ?\n2 ?\n3 ?\n"); /* three are under way, and the fourth waits */
    peer_send(peer, "3 c\n");
    SAID("3=3 c");
    PEER_GETS(peer, "4 ?\n");
    peer_send(peer, "4 d\n2 b\n");
    SAID("4=4 d; 2=2 b");
    ASK(1, 0); /* the id is under way */
    SAID("1 TR_INVALID_ARGUMENT");
    /* What belongs to no exchange is for the handler, and holds back no reply behind it. */
    peer_send(peer, "* news\n9 nobody's\n1 a\n* more\n");
    const char *text = said();
    ck_assert_msg(strstr(text, "event * news; ") && strstr(text, "event 9 nobody's") &&
                      strstr(text, "event * more") && strstr(text, "1=1 a"),
                  "%s",
                  text);
    peer_send(peer, "* idle\n");
    SAID("event * idle");
    ASK(5, 0);
    PEER_GETS(peer, "5 ?\n");
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    SAID("5 TR_RESET; closed TR_RESET -");
}

TEST(replies_are_found_by_their_ids, "C-03")
{
    kits_each(play_ids);
}

/* ---- Exchanges that are given up. ---- */

static void play_given_up(void)
{
    tr_kit_peer *peer = client_new(false, &numbered);
    for (uint32_t id = 1; id <= 3; id++)
        ASK(id, .within_ns = 10 * MS);
    tr_kit_advance(kit, 20 * MS);
    SAID("1 TR_TIMEOUT; 2 TR_TIMEOUT; 3 TR_TIMEOUT");
    PEER_GETS(peer, "1 ?\n2 ?\n3 ?\n");
    peer_send(peer, "2 late\n"); /* dropped: its turn has given up */
    SAID("");
    /* A server that drops requests does not use up the places. */
    for (uint32_t id = 4; id <= 8; id++)
        ASK(id, 0);
    PEER_GETS(peer, "4 ?\n5 ?\n6 ?\n"); /* 1 and 3 are forgotten */
    peer_send(peer, "1 too late\n5 e\n");
    const char *text = said();
    ck_assert_msg(strstr(text, "event 1 too late") && strstr(text, "5=5 e"), "%s", text);
    PEER_GETS(peer, "7 ?\n");
    tr_kit_close(peer);
    tr_kit_settle(kit);
    text = said();
    ck_assert_msg(strstr(text, "8 TR_"), "%s", text);
}

TEST(exchanges_that_were_given_up_are_forgotten_by_need, "C-03")
{
    kits_each(play_given_up);
}

TEST(an_id_that_nobody_knows_ends_a_channel_without_a_handler, "C-03", "U-02")
{
    kit_open(1, 1);
    tr_kit_peer *peer = client_new(true, &numbered);
    ASK(1, 0);
    peer_send(peer, "2 what\n");
    SAID("1 TR_BAD_DATA; closed TR_BAD_DATA an answer came with an id that no request has");
    tr_kit_close(peer);
    kit_close();
}

static tr_next exchange_without_id(tr_self *self)
{
    const struct tr_received *reply;
    tr_channel_ask asked = tr_exchange(self, channel, TR_BYTES("what\n"));
    say("%s", tr_status_name(tr_try_await(self, asked, &reply)));
    return TR_SAME;
}

TEST(a_request_without_id_is_refused, "C-03")
{
    kit_open(1, 1);
    tr_kit_peer *peer = client_new(true, &numbered);
    host_run(exchange_without_id);
    SAID("TR_INVALID_ARGUMENT");
    PEER_GETS(peer, "");
    tr_kit_close(peer);
    kit_close();
}

/* ---- Turns that read beside exchanges. ---- */

static tr_next read_two(tr_self *self)
{
    tr_bytes first, second;
    ck_assert(tr_read(self, channel, &first));
    say("read %.*s", (int)first.size, (const char *)first.data);
    ck_assert(tr_read(self, channel, &second));
    say("read %.*s", (int)second.size, (const char *)second.data);
    return TR_SAME;
}

static tr_next give_up_reading(tr_self *self)
{
    tr_bytes bytes;
    tr_channel_within(self, channel, MS);
    say("%s", tr_status_name(tr_try_read(self, channel, &bytes)));
    tr_channel_within(self, channel, 0);
    return TR_SAME;
}

static void play_readers(void)
{
    tr_kit_peer *peer = client_new(true, &numbered);
    ASK(1, 0);
    ASK(2, 0);
    host_run(read_two);
    peer_send(peer, "* x\n2 b\n* y\n1 a\n");
    const char *text = said();
    ck_assert_msg(strstr(text, "read * x") && strstr(text, "read * y") && strstr(text, "2=2 b") &&
                      strstr(text, "1=1 a"),
                  "%s",
                  text);
    ASK(3, 0);
    host_run(give_up_reading);
    tr_kit_advance(kit, 2 * MS);
    SAID("TR_TIMEOUT");
    peer_send(peer, "3 c\n");
    SAID("3=3 c");
    tr_kit_close(peer);
}

TEST(turns_read_what_belongs_to_no_exchange, "C-03", "C-04")
{
    kits_each(play_readers);
}

/* ---- Alone. ---- */

static void play_alone(const tr_framing *how, const char *const *replies)
{
    tr_kit_peer *peer = client_new(false, how);
    ASK(1, 0);
    ASK(2, 0);
    ASK(3, .is_alone = true);
    ASK(4, 0); /* does not overtake it */
    ASK(5, .is_alone = true);
    PEER_GETS(peer, "1 ?\n2 ?\n");
    peer_send(peer, replies[0]);
    PEER_GETS(peer, "");
    peer_send(peer, replies[1]);
    PEER_GETS(peer, "3 ?\n");
    SAID("1=1; 2=2");
    peer_send(peer, "3\n");
    const char *text = tr_kit_receive_text(peer, TR_SECOND);
    SAID("3=3");
    if (strcmp(text, "4 ?\n") == 0) { /* then 5; or the other way round */
        peer_send(peer, "4\n");
        PEER_GETS(peer, "5 ?\n");
        peer_send(peer, "5\n");
        SAID("4=4; 5=5");
    } else {
        ck_assert_str_eq(text, "5 ?\n");
        peer_send(peer, "5\n");
        PEER_GETS(peer, "4 ?\n");
        peer_send(peer, "4\n");
        SAID("5=5; 4=4");
    }
    /* One that is given up while it waits lets others go. */
    ASK(6, 0);
    ASK(7, .is_alone = true, .within_ns = 10 * MS);
    ASK(8, 0);
    PEER_GETS(peer, "6 ?\n");
    tr_kit_advance(kit, 20 * MS);
    PEER_GETS(peer, "8 ?\n");
    SAID("7 TR_TIMEOUT");
    /* When the channel ends, all fail once. */
    ASK(9, .is_alone = true);
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    const char *ends = said();
    ck_assert_msg(strstr(ends, "6 TR_RESET") && strstr(ends, "8 TR_RESET") &&
                      strstr(ends, "9 TR_RESET") && strstr(ends, "closed TR_RESET -"),
                  "%s",
                  ends);
}

static void play_alone_in_order(void)
{
    play_alone(TR_LINES, (const char *const[]){"1\n", "2\n"});
}

static void play_alone_by_id(void)
{
    static const char *const replies[] = {"1\n", "2\n"};
    play_alone(&numbered, replies);
}

TEST(an_exchange_goes_alone, "C-03")
{
    kits_each(play_alone_in_order);
    kits_each(play_alone_by_id);
}

SUITE("exchanges", replies_are_found_by_their_ids,
      exchanges_that_were_given_up_are_forgotten_by_need,
      an_id_that_nobody_knows_ends_a_channel_without_a_handler, a_request_without_id_is_refused,
      turns_read_what_belongs_to_no_exchange, an_exchange_goes_alone)
