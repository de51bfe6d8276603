/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTTP/2 without memory: each allocation of a play is refused once, alone and with all that follow. Nothing crashes and
 * nothing leaks; each client gets an answer or an end, and with memory all of it works again. On the network of kits.
 */
#include "support/h2.h"

TR_MESSAGE(number, (u64, value), (str, text));
TR_REQUEST(echo_number, number, (u64, value), (str, text));

static tr_next on_number(tr_self *self, const struct echo_number *message)
{
    return tr_reply(self, number, .value = message->value, .text = message->text);
}

static tr_next on_count(tr_self *self)
{
    tr_bytes piece;
    size_t size = 0;
    while (tr_http_read(self, &piece))
        size += piece.size;
    tr_http_begin(self, 200, .type = "a/b");
    tr_http_print(self, "%zu", size);
    return tr_http_end(self);
}

static tr_next on_much(tr_self *self)
{
    static char much[100000];
    memset(much, 'm', sizeof much);
    return tr_http_reply(self, 200, .body = {much, sizeof much});
}

TR_BEHAVIOR(api, void, TR_POST("/n/{value}", echo_number, on_number),
            TR_PUT("/count", tr_http_request, on_count), TR_GET("/much", tr_http_request, on_much));
TR_BEHAVIOR(host, void, TR_ON(run, on_run));

static bool is_listening;

static tr_next listen_api(tr_self *self)
{
    if (!is_listening)
        is_listening = tr_try_listen(self, &listener, api, TR_HTTP(SERVER)) == TR_OK;
    return TR_SAME;
}

static tr_next nothing(tr_self *self)
{
    (void)self;
    return TR_SAME;
}

static struct h2_client client;

/* A client sends requests of all kinds, and may get no answer. */
static void play(void)
{
    (void)TELL_RUN(test, host, listen_api);
    tr_kit_settle(kit);
    tr_kit_peer *peer = tr_kit_connect(kit, SERVER);
    if (!peer)
        return;
    h2_open_on(&client, peer, 0);
    const char *const fields[] = {"cookie", "a=1", "cookie", "b=2", "expect", "100-continue", NULL};
    h2_post(&client, "/n/7", "{\"text\":\"tea\"}");
    h2_get(&client, "/nowhere");
    int32_t id = h2_ask(&client, "PUT", "/count", fields, TR_BYTES("abc"), true);
    h2_run(&client, MS);
    h2_get(&client, "/much");
    h2_get(&client, "/n/7");
    h2_more(&client, id, "def", false);
    h2_run(&client, MS);
    h2_close(&client);
}

/* With memory all of it works. */
static void check(void)
{
    host_run(listen_api);
    ck_assert(is_listening);
    h2_open(&client);
    int32_t typed = h2_post(&client, "/n/7", "{\"text\":\"tea\"}");
    int32_t count = h2_ask(&client, "PUT", "/count", NULL, TR_BYTES("abc"), false);
    int32_t much = h2_get(&client, "/much");
    h2_run(&client, MS);
    H2_GETS(&client, typed, 200, "{\"value\":7,\"text\":\"tea\"}");
    H2_GETS(&client, count, 200, "3");
    ck_assert_uint_eq(h2_answer_of(&client, much)->size, 100000);
    h2_close(&client);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 1);
}

static uint64_t play_once(uint64_t nth, bool and_all_after)
{
    kit_open(1, nth + 1);
    is_listening = false;
    HOST(host, nothing);
    uint64_t before = tr_kit_allocations(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    play();
    tr_kit_fail_allocation(kit, 0, false);
    uint64_t count = tr_kit_allocations(kit) - before;
    tr_kit_advance(kit, 5 * TR_MINUTE);
    check();
    kit_close();
    return count;
}

TEST(each_allocation_may_fail, "W-11")
{
    uint64_t count = play_once(0, false);
    ck_assert_uint_gt(count, 20);
    for (uint64_t nth = 1; nth <= count + 1; nth++) {
        play_once(nth, false);
        play_once(nth, true);
    }
}

SUITE("http/2 without memory", each_allocation_may_fail)
