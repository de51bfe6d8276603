/* SPDX-License-Identifier: Apache-2.0 */
/** Accepted workers: actors that take connections of a listener, each many of them. On the network of kits. */
#include "support/filters.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

/* ---- Desks. ---- */

enum { VISITORS_MAX = 3 };

TR_ACTOR(desk, tr_connection, tr_received, tr_closed);
struct desk {
    int visitors;
};

static int waits; /* a desk answers after so many seconds */
static desk_ref desks;

static tr_next on_connection(tr_self *self, struct desk *desk, const struct tr_connection *request)
{
    tr_channel channel;
    const char *name = tr_name(self);
    ck_assert_int_eq(request->peer.family, TR_FAMILY_V4);
    if (desk->visitors == VISITORS_MAX)
        return tr_refuse(self, 1, "full");
    if (waits)
        tr_sleep(self, waits * TR_SECOND);
    tr_status status = tr_accept(self, request, &channel);
    if (status == TR_OK)
        desk->visitors++;
    else
        say("%s %s", name, tr_status_name(status));
    tr_status again = tr_accept(self, request, &channel);
    ck_assert_int_eq(again, TR_CLOSED); /* it can be taken once */
    return TR_SAME;
}

static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    ck_assert(message->is_accepted);
    ck_assert_uint_eq(tr_peer(self).bits, 0); /* it is no session */
    return TR_SAME;
}

static tr_next on_line(tr_self *self, struct desk *desk, const struct tr_received *line)
{
    const char *text = line->bytes.data;
    if (strcmp(text, "fail") == 0)
        return tr_fail(self, TR_FAILED, "a desk that fails");
    tr_print(self, line->channel, "%s of %d: %s\n", tr_name(self), desk->visitors, text);
    return TR_SAME;
}

static tr_next on_closed(struct desk *desk)
{
    desk->visitors--;
    return TR_SAME;
}

TR_BEHAVIOR(desk, struct desk, TR_ON(tr_connection, on_connection), TR_ON(tr_opened, on_opened),
            TR_ON(tr_received, on_line), TR_ON(tr_closed, on_closed));
TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_SUPERVISE(TR_ONE_FOR_ONE));

static tr_filters used;

ONCE(listen, {
    desks = tr_spawn_group(self, desk, "desks", 2);
    listener = tr_listen(self,
                         desk,
                         TR_TCP(SERVER,
                                .framing = TR_LINES,
                                .filters = used,
                                .connections_max = 6,
                                .accepted_by = tr_any(desks)));
})
ONCE(say_count, say("%zu", tr_listener_count(self, listener)))

#define COUNTS(text)                                                                               \
    do {                                                                                           \
        host_run(say_count);                                                                       \
        SAID(text);                                                                                \
    } while (0)

static void play_desks(void)
{
    tr_kit_peer *peers[7];
    waits = 0;
    used = (tr_filters){{NULL}};
    HOST(host, listen);
    for (int i = 0; i < 4; i++) {
        peers[i] = peer_new();
        tr_kit_settle(kit);
    }
    COUNTS("4");
    for (int i = 0; i < 4; i++)
        peer_send(peers[i], "hello\n");
    PEER_GETS(peers[0], "1 of 2: hello\n"); /* in turn, and each has several */
    PEER_GETS(peers[1], "2 of 2: hello\n");
    PEER_GETS(peers[2], "1 of 2: hello\n");
    PEER_GETS(peers[3], "2 of 2: hello\n");
    tr_kit_close(peers[1]);
    tr_kit_close(peers[3]);
    tr_kit_settle(kit);
    COUNTS("2");
    peers[4] = peer_new();
    peers[5] = peer_new();
    peers[6] = peer_new(); /* for the first desk, which has three */
    tr_kit_settle(kit);
    COUNTS("4");
    ck_assert_int_eq(tr_kit_peer_status(peers[6]), TR_CLOSED);
    peers[1] = peer_new();
    peers[3] = peer_new();
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(peers[1]), TR_OK);
    ck_assert_int_eq(tr_kit_peer_status(peers[3]), TR_CLOSED);
    peer_send(peers[0], "fail\n"); /* it loses its connections; the other desk does not */
    ck_assert_int_eq(tr_kit_peer_status(peers[0]), TR_RESET);
    ck_assert_int_eq(tr_kit_peer_status(peers[2]), TR_RESET);
    ck_assert_int_eq(tr_kit_peer_status(peers[5]), TR_OK);
    for (int i = 0; i < 7; i++)
        tr_kit_close(peers[i]);
    tr_kit_advance(kit, TR_SECOND);
    COUNTS("0");
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

TEST(members_of_a_group_take_connections_in_turn, "C-02")
{
    kits_each(play_desks);
}

/* ---- Those that do not take them. ---- */

static void play_refused(void)
{
    tr_kit_peer *peers[8];
    waits = 0;
    used = TR_FILTERS(&one);
    HOST(host, listen);
    for (int i = 0; i < 6; i++) {
        peers[i] = peer_new();
        tr_kit_settle(kit);
    }
    tr_kit_close(peers[0]); /* the first desk has two now, the second one three */
    tr_kit_settle(kit);
    peers[6] = peer_new();
    tr_kit_settle(kit);
    tr_kit_close(peers[1]);
    tr_kit_settle(kit);
    COUNTS("5");
    peers[7] = peer_new(); /* the second one is next, and has two */
    peer_send(peers[7], "i\v");
    PEER_GETS(peers[7], "3!pg!4;!i\v");
    tr_kit_close(peers[7]);
    tr_kit_settle(kit);
    tr_kit_peer *refused = peer_new(); /* the first one is next, and has three */
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(refused), TR_CLOSED);
    COUNTS("5"); /* it is not counted */
    tr_kit_close(refused);
    for (int i = 2; i < 7; i++)
        tr_kit_close(peers[i]);
    tr_kit_advance(kit, TR_SECOND);
    COUNTS("0");
    closes = 0;
}

TEST(a_connection_that_is_refused_is_closed, "C-02")
{
    kits_each(play_refused);
}

static void play_late(void)
{
    waits = 31; /* longer than .connect_ns */
    used = (tr_filters){{NULL}};
    HOST(host, listen);
    tr_kit_peer *peer = peer_new();
    tr_kit_advance(kit, TR_CONNECT_NS);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    COUNTS("0");
    tr_kit_advance(kit, 2 * TR_SECOND);
    SAID("1 TR_CLOSED"); /* too late */
    tr_kit_close(peer);
    waits = 0;
}

TEST(an_actor_that_does_not_answer_loses_the_connection, "C-02", "C-05")
{
    kits_each(play_late);
}

ONCE(stop_listener, tr_stop(self, listener))
ONCE(kill_listener, tr_kill(self, listener))
ONCE(stop_desks, tr_stop(self, desks))

static void play_end_by(turn *end, bool is_taken)
{
    waits = 2;
    used = (tr_filters){{NULL}};
    HOST(host, listen);
    tr_kit_peer *taken = peer_new();
    tr_kit_advance(kit, 3 * TR_SECOND);
    tr_kit_peer *offered = peer_new();
    tr_kit_settle(kit);
    host_run(end);
    tr_kit_advance(kit, 3 * TR_SECOND);
    SAID(is_taken ? "" : "2 TR_CLOSED");
    ck_assert_int_eq(tr_kit_peer_status(offered) == TR_OK, is_taken);
    peer_send(taken, "hello\n"); /* the desk still has it */
    PEER_GETS(taken, "1 of 1: hello\n");
    tr_kit_close(taken);
    tr_kit_close(offered);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    waits = 0;
}

static void play_end(void)
{
    play_end_by(stop_listener, true); /* it waits for the answers */
}

static void play_kill(void)
{
    play_end_by(kill_listener, false);
}

TEST(a_listener_that_ends_leaves_channels_to_those_who_took_them, "C-02")
{
    kits_each(play_end);
    kits_each(play_kill);
}

static void play_nobody(void)
{
    waits = 0;
    used = (tr_filters){{NULL}};
    HOST(host, listen);
    host_run(stop_desks);
    tr_kit_peer *peer = peer_new();
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    COUNTS("0");
    tr_kit_close(peer);
}

TEST(without_members_connections_are_closed, "C-02")
{
    kits_each(play_nobody);
}

/* ---- Misuse. ---- */

TR_MESSAGE(begin, (u32, number));
static tr_next on_any(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(plain, void, TR_ON(tr_received, on_any));

static tr_next misuse(tr_self *self)
{
    tr_listener_ref none;
    tr_channel channel;
    tr_ref me = tr_any(host);
    const struct tr_connection forged = {.listener = me, .number = 1};
    say("%s", tr_status_name(tr_try_listen(self, &none, plain, TR_TCP(SERVER, .accepted_by = me))));
    say("%s",
        tr_status_name(tr_try_listen(
            self, &none, desk, TR_TCP(SERVER, .accepted_by = me), begin, .number = 1)));
    say("%s", tr_status_name(tr_try_connect(self, TR_TCP(SERVER, .accepted_by = me), &channel)));
    say("%s", tr_status_name(tr_accept(self, &forged, &channel)));
    say("%s", tr_status_name(tr_accept(self, NULL, &channel)));
    return TR_SAME;
}

TEST(accepted_by_is_checked, "C-02", "U-02")
{
    kit_open(1, 1);
    HOST(host, misuse);
    SAID("TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT; TR_CLOSED; "
         "TR_INVALID_ARGUMENT");
    kit_close();
}

/* ---- Without memory. ---- */

TEST(a_connection_without_memory_is_closed, "C-02", "C-11", "U-03")
{
    waits = 0;
    used = TR_FILTERS(&one);
    for (uint64_t nth = 1; nth <= 25; nth++) {
        kit_open(2, nth);
        HOST(host, listen);
        tr_kit_fail_allocation(kit, nth, false);
        tr_kit_peer *peer = tr_kit_connect(kit, SERVER);
        if (peer)
            (void)tr_kit_send(peer, TR_BYTES("i\v"));
        tr_kit_settle(kit);
        tr_kit_fail_allocation(kit, 0, false);
        tr_kit_close(peer);
        tr_kit_advance(kit, TR_MINUTE);
        said_length = 0;
        COUNTS("0");
        tr_kit_peer *next = peer_new();
        peer_send(next, "i\v");
        const char *text = tr_kit_receive_text(next, TR_SECOND);
        ck_assert_msg(strstr(text, ";!i\v"), "%s", text);
        tr_kit_close(next);
        kit_close();
    }
    closes = 0;
}

SUITE("accepted workers", members_of_a_group_take_connections_in_turn,
      a_connection_that_is_refused_is_closed, an_actor_that_does_not_answer_loses_the_connection,
      a_listener_that_ends_leaves_channels_to_those_who_took_them,
      without_members_connections_are_closed, accepted_by_is_checked,
      a_connection_without_memory_is_closed)
