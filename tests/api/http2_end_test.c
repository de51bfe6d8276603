/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How connections of HTTP/2 end whose sends fail, and how one that never stops sending is read. On the network of kits.
 */
#include "support/h2.h"
#include "support/http.h"

enum {
    AT_ONCE = 16 * 1024 /* bytes of output that are sent without waiting for the end of the run */
};

static char text[AT_ONCE];
static size_t text_size;

/* Writes almost as much as is sent at once, and fails; what the end of the connection adds is sent, and that fails. */
static tr_next on_break(tr_self *self)
{
    tr_http_begin(self, 200, .type = "text/plain");
    (void)tr_http_write(self, (tr_bytes){text, text_size});
    tr_kit_fail_network(kit, "send", 1, TR_RESET);
    return tr_fail(self, TR_BAD_DATA, "broken");
}

TR_BEHAVIOR(site, void, TR_GET("/break", tr_http_request, on_break));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static tr_next open_site(tr_self *self)
{
    listener = tr_listen(self, site, TR_HTTP(SERVER));
    return TR_SAME;
}

TEST(a_send_that_fails_while_a_session_ends_frees_nothing_twice, "C-05", "W-11")
{
    kit_open(1, 1);
    HOST(host, open_site);
    memset(text, 'x', sizeof text);
    for (text_size = AT_ONCE - 200; text_size <= AT_ONCE; text_size += 4) {
        struct h2_client client;
        h2_open(&client);
        (void)h2_get(&client, "/break");
        h2_run(&client, TR_SECOND);
        tr_kit_fail_network(kit, "send", 0, TR_RESET);
        h2_close(&client);
    }
    kit_close();
}

static bool is_busy;

/* An actor that always has something to do. */
static tr_next work(tr_self *self)
{
    if (is_busy)
        TELL_RUN(self, host, work);
    return TR_SAME;
}

TEST(a_client_that_sends_fast_lets_others_have_their_turn, "W-11", "W-05")
{
    enum { UNKNOWN = 77, COUNT = 250, SPACE = 4 << 20, STEPS = 8 };
    static const unsigned char large[16000];
    static unsigned char bytes[SPACE];
    const tr_kit_network wide = {.window = SPACE};
    kit_open(1, 1);
    tr_kit_set_network(kit, &wide);
    HOST(host, open_site);
    tr_kit_peer *greedy = tr_kit_connect(kit, SERVER);
    memcpy(bytes, H2_PREFACE, 24);
    unsigned char *at = h2_frame(bytes + 24, NGHTTP2_SETTINGS, 0, 0, "", 0);
    const unsigned char *frames = at;
    for (int i = 0; i < COUNT; i++)
        at = h2_frame(at, UNKNOWN, 0, 0, large, sizeof large);
    size_t size = (size_t)(at - bytes);
    is_busy = true;
    TELL_RUN(test, host, work);
    ck_assert_uint_eq(tr_kit_send(greedy, (tr_bytes){bytes, size}), size);
    for (int i = 0; i < STEPS; i++)
        ck_assert(tr_kit_step(kit));
    /* The window says what was read meanwhile. */
    const tr_bytes more = {frames, (size_t)(at - frames)};
    size_t read = tr_kit_send(greedy, more) - (SPACE - size);
    ck_assert_uint_le(read, STEPS * TR_HTTP2_READS_MAX * 65536);
    is_busy = false;
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_send(greedy, more), more.size); /* all was read */
    tr_kit_close(greedy);
    tr_kit_settle(kit);
    kit_close();
}

TEST(what_a_closed_connection_still_sends_lets_others_have_their_turn, "W-04", "C-09")
{
    enum { SPACE = 4 << 20, STEPS = 6 };
    static char bytes[SPACE];
    const tr_kit_network wide = {.window = SPACE};
    kit_open(1, 1);
    tr_kit_set_network(kit, &wide);
    HOST(host, open_site);
    tr_kit_peer *greedy = tr_kit_connect(kit, SERVER);
    tr_kit_settle(kit);
    memset(
        bytes,
        'x',
        sizeof bytes); /* a first line that is too long: 414, and what comes behind it is dropped */
    is_busy = true;
    TELL_RUN(test, host, work);
    const tr_bytes many = {bytes, TR_LINGER_BYTES_MAX - 200 * 1024};
    ck_assert_uint_eq(tr_kit_send(greedy, many), many.size);
    for (int i = 0; i < STEPS; i++)
        ck_assert(tr_kit_step(kit));
    size_t read = tr_kit_send(greedy, (tr_bytes){bytes, SPACE}) - (SPACE - many.size);
    ck_assert_uint_gt(read, 0);
    ck_assert_uint_le(read, (1 + STEPS * TR_LINGER_READS_MAX) * 65536);
    is_busy = false;
    tr_kit_close(greedy);
    tr_kit_settle(kit);
    kit_close();
}

SUITE("ends of http/2", a_send_that_fails_while_a_session_ends_frees_nothing_twice,
      a_client_that_sends_fast_lets_others_have_their_turn,
      what_a_closed_connection_still_sends_lets_others_have_their_turn)
