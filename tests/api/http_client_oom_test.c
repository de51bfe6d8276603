/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client of HTTP without memory: each allocation of a play is refused once, alone and with all that follow. Nothing
 * crashes and nothing leaks, each ask has an outcome, and with memory all of it works again. On the network of kits.
 */
#include "support/http.h"

#include <troupe/http_client.h>

#ifndef VERSION /* http2_client_oom_test.c has another one */
#define VERSION TR_HTTP_VERSION_ANY
#endif

static tr_next on_any(tr_self *self)
{
    tr_bytes piece;
    size_t size = 0;
    while (tr_http_read(self, &piece))
        size += piece.size;
    tr_http_begin(self, 200, .type = "a/b");
    tr_http_print(self, "%zu", size);
    return tr_http_end(self);
}

static tr_next on_old(tr_self *self)
{
    return tr_http_reply(self, 302, .location = "/new");
}

static tr_next on_echo(tr_self *self, const struct tr_ws_message *message)
{
    (void)tr_ws_send(self, message->channel, message->bytes, message->is_text);
    return TR_SAME;
}

TR_BEHAVIOR(api, void, TR_WEBSOCKET("/ws", tr_ws_message, on_echo),
            TR_GET("/old", tr_http_request, on_old), TR_ON(tr_http_request, on_any));

static tr_next on_message(const struct tr_ws_message *message)
{
    (void)message;
    say("echo");
    return TR_SAME;
}

static tr_next ignore(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_ON(tr_ws_message, on_message),
            TR_ON(tr_closed, ignore));

#define AT "http://" SERVER

static tr_next listen_api(tr_self *self)
{
    listener = tr_listen(self, api, TR_HTTP(SERVER));
    return TR_SAME;
}

/* Asks of all kinds. What goes wrong is an outcome; a turn may also end for lack of memory. */
static tr_next ask_all(tr_self *self)
{
    char buffer[64];
    size_t got;
    struct tr_http_stream stream = {.number = 0};
    const struct tr_http_answer *answer;
    tr_http_call_ask asked[2] = {
        tr_http_ask(self, AT "/old", .redirects_max = 1, .version = VERSION),
        tr_http_ask(self, AT "/a", .text = "body", .version = VERSION)};
    for (int i = 0; i < 2; i++) {
        if (tr_try_await(self, asked[i], &answer) == TR_OK)
            say("%d", answer->status);
    }
    if (tr_http_open(self, &stream, AT "/up", .method = "PUT", .version = VERSION) == TR_OK &&
        tr_http_send(self, stream, TR_BYTES("abc")) == TR_OK &&
        tr_try_await(self, tr_http_finish(self, stream, true), &answer) == TR_OK) {
        while (tr_http_receive(self, answer->stream, buffer, sizeof buffer, &got) == TR_OK && got)
            say("%.*s", (int)got, buffer);
    }
    tr_http_drop(self, stream);
    return TR_SAME;
}

static tr_next speak(tr_self *self)
{
    tr_channel channel;
    if (tr_ws_try_connect(self, &channel, "ws://" SERVER "/ws") != TR_OK)
        return TR_SAME;
    if (tr_ws_text(self, channel, "hello") == TR_OK)
        tr_sleep(self, MS);
    tr_ws_close(self, channel, 1000, NULL);
    return TR_SAME;
}

static void play(void)
{
    (void)TELL_RUN(test, host, ask_all);
    tr_kit_settle(kit);
    (void)TELL_RUN(test, host, speak);
    tr_kit_advance(kit, TR_SECOND);
}

static uint64_t play_once(uint64_t nth, bool and_all_after)
{
    kit_open(1, nth + 1);
    HOST(host, listen_api);
    uint64_t before = tr_kit_allocations(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    play();
    tr_kit_fail_allocation(kit, 0, false);
    uint64_t count = tr_kit_allocations(kit) - before;
    tr_kit_advance(kit, 5 * TR_MINUTE);
    tr_stop(test, host);
    tr_kit_settle(kit);
    (void)said();
    HOST(host, listen_api);
    play();
    SAID("200; 200; 3; echo");
    kit_close();
    return count;
}

TEST(each_allocation_of_a_client_may_fail, "W-09", "W-08")
{
    uint64_t count = play_once(0, false);
    ck_assert_uint_gt(count, 5);
    for (uint64_t nth = 1; nth <= count + 1; nth++) {
        play_once(nth, false);
        play_once(nth, true);
    }
}

SUITE("http client without memory", each_allocation_of_a_client_may_fail)
