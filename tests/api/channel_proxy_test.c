/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Listeners behind a balancer, .has_proxy_header: the session knows the client, not the balancer. On the network of kits.
 */
#include "support/net.h"

TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static int opened_count;
static tr_status closed_status;
static char closed_text[100];

/* The session says who its client is, and then returns each line. */
static tr_next on_opened(tr_self *self, const struct tr_opened *message)
{
    opened_count++;
    ck_assert(message->is_accepted);
    tr_address peer = tr_channel_peer(self, message->channel);
    ck_assert(tr_address_is_equal(&peer, &message->peer));
    tr_print(self, message->channel, "you are %s\n", tr_address_text(self, peer));
    return TR_SAME;
}

static tr_next on_line(tr_self *self, const struct tr_received *line)
{
    tr_print(self, line->channel, "%s\n", (const char *)line->bytes.data);
    return TR_SAME;
}

static tr_next on_closed(const struct tr_closed *message)
{
    closed_status = message->status;
    snprintf(closed_text, sizeof closed_text, "%s", message->text ? message->text : "");
    return TR_STOP;
}

TR_BEHAVIOR(session, void, TR_ON(tr_opened, on_opened), TR_ON(tr_received, on_line),
            TR_ON(tr_closed, on_closed));

static tr_next listen_here(tr_self *self)
{
    listener =
        tr_listen(self, session, TR_TCP(SERVER, .framing = TR_LINES, .has_proxy_header = true));
    return TR_SAME;
}

static void begin(void)
{
    kit_open(1, 1);
    HOST(host, listen_here);
    opened_count = 0;
    closed_status = TR_OK;
    closed_text[0] = '\0';
}

#define V1 "PROXY TCP4 203.0.113.7 10.0.0.2 51000 443\r\n"
#define V2 "\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\xcb\x00\x71\x07\x0a\x00\x00\x02\xc7\x38\x01\xbb"

/* Sends a stream in two portions; the answer to header and line is the same at each cut. */
static void play_cuts(const char *data, size_t size, const char *answer)
{
    begin();
    for (size_t cut = 0; cut <= size; cut++) {
        char received[200] = "";
        tr_kit_peer *peer = peer_new();
        ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){data, cut}), cut);
        tr_kit_settle(kit);
        ck_assert_uint_eq(tr_kit_send(peer, (tr_bytes){data + cut, size - cut}), size - cut);
        for (const char *text; *(text = tr_kit_receive_text(peer, TR_SECOND));)
            strcat(received, text);
        ck_assert_str_eq(received, answer);
        tr_kit_close(peer);
        tr_kit_settle(kit);
        ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
        ck_assert_int_eq(opened_count, (int)cut + 1);
    }
    kit_close();
}

TEST(a_session_knows_the_client_behind_the_balancer, "C-02", "CH-02")
{
    static const char lines[] = V1 "hello\nagain\r\n";
    static const char binary[] = V2 "hello\nagain\r\n";
    play_cuts(lines, sizeof lines - 1, "you are 203.0.113.7:51000\nhello\nagain\n");
    play_cuts(binary, sizeof binary - 1, "you are 203.0.113.7:51000\nhello\nagain\n");
}

TEST(a_balancer_that_speaks_for_itself_is_the_peer, "C-02")
{
    begin();
    tr_kit_peer *peer = peer_new();
    tr_address own = tr_kit_peer_address(peer);
    char text[TR_ADDRESS_TEXT_MAX];
    char expected[100];
    snprintf(expected, sizeof expected, "you are %s\n", tr_address_print(&own, text));
    peer_send(peer, "PROXY UNKNOWN\r\n");
    PEER_GETS(peer, expected);
    kit_close();
}

TEST(what_is_no_header_ends_the_channel, "C-05", "CH-03")
{
    begin();
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "GET / HTTP/1.1\r\n");
    tr_kit_settle(kit);
    ck_assert_int_eq(closed_status, TR_BAD_DATA);
    ck_assert_str_eq(closed_text, "invalid PROXY header: no header at all");
    ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
    ck_assert_int_eq(opened_count, 0);
    tr_kit_close(peer);
    /* An end amid the header, and a reset. */
    peer = peer_new();
    peer_send(peer, "PROXY TC");
    tr_kit_finish(peer);
    tr_kit_settle(kit);
    ck_assert_int_eq(closed_status, TR_RESET);
    tr_kit_close(peer);
    peer = peer_new();
    peer_send(peer, "PROXY TC");
    closed_status = TR_OK;
    tr_kit_reset(peer);
    tr_kit_settle(kit);
    ck_assert_int_eq(closed_status, TR_RESET);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
}

TEST(a_header_that_does_not_come_times_out, "C-05")
{
    begin();
    tr_kit_peer *peer = peer_new();
    peer_send(peer, "PROXY ");
    tr_kit_advance(kit, TR_CONNECT_NS + TR_SECOND);
    ck_assert_int_eq(closed_status, TR_TIMEOUT);
    ck_assert_int_eq(opened_count, 0);
    ck_assert_int_ne(tr_kit_peer_status(peer), TR_OK);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
    kit_close();
}

SUITE("channel proxy", a_session_knows_the_client_behind_the_balancer,
      a_balancer_that_speaks_for_itself_is_the_peer, what_is_no_header_ends_the_channel,
      a_header_that_does_not_come_times_out)
