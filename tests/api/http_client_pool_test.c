/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP as a client: asks that wait for connections of HTTP/1.1. Each connection that is free, or may be opened, is used at
 * once. On the network of kits, where the test is the server.
 */
#include "support/http.h"

#include <troupe/http_client.h>

enum { ASKS_MAX = 16 };

static tr_http_call how;
static int ask_count;

/* Asks `ask_count` times at once, and says the bodies of the answers. */
static tr_next ask(tr_self *self)
{
    tr_http_call_ask asked[ASKS_MAX];
    for (int i = 0; i < ask_count; i++)
        asked[i] = tr_self_http_ask(self, "http://" SERVER "/", &how);
    for (int i = 0; i < ask_count; i++) {
        const struct tr_http_answer *answer;
        tr_status status = tr_try_await(self, asked[i], &answer);
        if (status == TR_OK)
            say("%.*s", (int)answer->body.size, (const char *)answer->body.data);
        else
            say("%s", tr_status_name(status));
    }
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next nothing(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

/* Lets the host ask `count` times, with at most `connections` connections. */
static void begin(int count, uint32_t connections)
{
    HOST(host, nothing);
    (void)tr_kit_accept(kit, SERVER, 0); /* listens */
    how = (tr_http_call){.connections_max = connections};
    ask_count = count;
    host_run(ask);
}

static tr_kit_peer *accept_one(tr_time within_ns)
{
    tr_kit_peer *peer = tr_kit_accept(kit, SERVER, within_ns);
    ck_assert_ptr_nonnull(peer);
    return peer;
}

#define REQUEST "GET / HTTP/1.1\r\nHost: " SERVER "\r\nUser-Agent: troupe\r\nAccept: */*\r\n\r\n"

/* Sends an answer; the system does not run yet. */
static void answer_with(tr_kit_peer *peer, const char *text)
{
    char all[200];
    int size = snprintf(
        all, sizeof all, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(text), text);
    ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){all, (size_t)size}), (size_t)size);
}

static void play_together(void)
{
    tr_kit_peer *peers[3];
    begin(9, 3);
    for (int i = 0; i < 3; i++)
        peers[i] = accept_one(TR_SECOND);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++)
            ck_assert_str_eq(tr_kit_receive_text(peers[i], 0), REQUEST);
        for (int i = 0; i < 3; i++)
            answer_with(peers[i], "a");
        tr_kit_settle(kit);
    }
    SAID("a; a; a; a; a; a; a; a; a");
}

TEST(connections_that_are_free_at_once_are_all_used, "W-09")
{
    kits_each(play_together);
}

/* Connections that end at once are replaced at once, not one after the other. */
static void play_replaced(void)
{
    static const char last[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na";
    const tr_kit_network slow = {.delay_ns = 100 * MS};
    tr_kit_peer *peers[3];
    begin(6, 3);
    for (int i = 0; i < 3; i++) {
        peers[i] = accept_one(TR_SECOND);
        ck_assert_str_eq(tr_kit_receive_text(peers[i], 0), REQUEST);
    }
    for (int i = 0; i < 3; i++)
        tr_kit_send(peers[i], (tr_bytes){last, sizeof last - 1});
    tr_kit_set_network(kit, &slow);
    tr_kit_settle(kit);
    peers[0] = accept_one(TR_SECOND);
    peers[1] = accept_one(0);
    peers[2] = accept_one(0);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(tr_kit_receive_text(peers[i], TR_SECOND), REQUEST);
        answer_with(peers[i], "b");
    }
    tr_kit_advance(kit, TR_SECOND);
    SAID("a; a; a; b; b; b");
}

TEST(connections_that_have_ended_are_replaced_together, "W-09")
{
    kits_each(play_replaced);
}

/* ---- An actor that asks a server because it was asked. ---- */

TR_MESSAGE(relayed, (i32, status));
TR_REQUEST(relay, relayed, (i32, number));
TR_ACTOR(relaying, relay);

static tr_next on_relay(tr_self *self)
{
    const struct tr_http_answer *answer;
    (void)!tr_try_await(self, tr_self_http_ask(self, "http://" SERVER "/", &how), &answer);
    return tr_reply(self, relayed);
}

TR_BEHAVIOR(relaying, void, TR_ON(relay, on_relay));

static tr_next ask_relay(tr_self *self)
{
    const struct relayed *answer;
    relaying_ref to = tr_spawn(self, relaying, NULL);
    relay_ask asked = tr_ask_within(self, 200 * MS, to, relay);
    say("%s", tr_status_name(tr_try_await(self, asked, &answer)));
    return TR_SAME;
}

static void play_travel(void)
{
    HOST(host, nothing);
    (void)tr_kit_accept(kit, SERVER, 0); /* listens */
    how = (tr_http_call){.within_ns = TR_HOUR};
    host_run(ask_relay);
    tr_kit_peer *peer = accept_one(TR_SECOND);
    PEER_GETS(peer, REQUEST);
    tr_kit_advance(kit, 190 * MS);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_OK);
    tr_kit_advance(kit, 60 * MS);
    SAID("TR_TIMEOUT");
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_RESET); /* not in an hour */
}

TEST(the_deadline_of_an_ask_ends_the_request_that_it_leads_to, "W-09", "A-04")
{
    kits_each(play_travel);
}

SUITE("pool of the http client", connections_that_are_free_at_once_are_all_used,
      connections_that_have_ended_are_replaced_together,
      the_deadline_of_an_ask_ends_the_request_that_it_leads_to)
