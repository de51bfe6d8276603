/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Gateways without memory: each allocation fails once, and once with all after it for a while. Then all clients go, and
 * the actor has counted as many ends of connections as beginnings.
 */
#include "support/desks.h"
#include "support/ws_client.h"

#define SHAKE                                                                                      \
    H "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"                 \
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

static int unlucky;

static bool try_send(tr_kit_peer *peer, const char *text)
{
    (void)tr_kit_send(peer, (tr_bytes){text, strlen(text)});
    tr_kit_settle(kit);
    return tr_kit_receive(peer, MS).size;
}

static bool say_to(tr_kit_peer *peer, const char *text)
{
    struct ws_bytes bytes = {0};
    ws_add_frame(&bytes,
                 (struct ws_made){.first = 0x81, .is_masked = true},
                 (const unsigned char *)text,
                 strlen(text));
    (void)tr_kit_send(peer, (tr_bytes){bytes.data, bytes.size});
    tr_kit_settle(kit);
    free(bytes.data);
    return tr_kit_receive(peer, MS).size;
}

static void live(void)
{
    tr_kit_peer *socket = tr_kit_connect(kit, SERVER);
    tr_kit_peer *stream = tr_kit_connect(kit, SERVER);
    tr_kit_peer *poster = tr_kit_connect(kit, SERVER);
    bool was_lucky = socket && stream && poster;
    if (socket) {
        was_lucky &= try_send(socket, "GET /actors/desk/a?greet&token=anna" SHAKE);
        was_lucky &=
            say_to(socket, "{\"id\":1,\"ask\":\"add\",\"with\":{\"by\":1,\"note\":\"n\"}}");
    }
    if (stream)
        was_lucky &= try_send(stream, "GET /actors/desk/a/events?last=0&token=bob" H "\r\n");
    if (poster)
        was_lucky &= try_send(
            poster,
            POST("add", "Authorization: Bearer anna\r\nIdempotency-Key: k\r\n", "{\"by\":1}"));
    tr_kit_advance(kit, 20 * TR_SECOND);
    if (socket)
        was_lucky &= say_to(socket, "{\"id\":2,\"ask\":\"look\"}");
    unlucky += !was_lucky;
    if (socket)
        tr_kit_close(socket);
    if (stream)
        tr_kit_close(stream);
    if (poster)
        tr_kit_close(poster);
    tr_kit_settle(kit);
}

/* Asks with enough memory, and returns the value. */
static unsigned long ask(const char *request)
{
    tr_kit_peer *peer = peer_new();
    peer_send(peer, request);
    const char *answer = tr_kit_receive_text(peer, 10 * TR_SECOND);
    const char *value = strstr(answer, "\"value\":");
    ck_assert_msg(value, "%s", answer);
    unsigned long number = strtoul(value + 8, NULL, 10);
    tr_kit_close(peer);
    return number;
}

static void live_with(uint64_t nth, bool and_all_after)
{
    static const char token[] = "Authorization: Bearer anna\r\n";
    desks_begin(open_guarded);
    tr_kit_settle(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    live();
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_advance(kit, 2 * TR_MINUTE);
    (void)ask(POST(
        "add",
        token,
        "{\"by\":0}")); /* an event finds connections of which nobody has said that they are gone */
    tr_kit_advance(kit, TR_SECOND);
    unsigned long count = ask(POST("misbehave", token, "{\"how\":7}"));
    ck_assert_msg(count / 1000 == count % 1000, "%" PRIu64 ": %lu", nth, count);
    kit_close();
}

static uint64_t allocations_of_a_life(void)
{
    desks_begin(open_guarded);
    tr_kit_settle(kit);
    uint64_t before = tr_kit_allocations(kit);
    live();
    uint64_t count = tr_kit_allocations(kit) - before;
    ck_assert_int_eq(unlucky, 0);
    kit_close();
    return count;
}

TEST(each_allocation_of_a_gateway_may_fail, "H-03", "H-06")
{
    uint64_t count = allocations_of_a_life();
    ck_assert_uint_gt(count, 30);
    uint64_t step = TEST_HAS_SANITIZER ? 1 + count / 100 : 1;
    for (uint64_t nth = 1; nth <= count; nth += step)
        live_with(nth, false);
    ck_assert_int_gt(unlucky, 5);
}

TEST(all_memory_of_a_gateway_may_be_gone_for_a_while, "H-03", "H-06")
{
    uint64_t count = allocations_of_a_life();
    for (uint64_t nth = 1; nth <= count; nth += 1 + count / 60)
        live_with(nth, true);
    ck_assert_int_gt(unlucky, 5);
}

SUITE("gateways without memory", each_allocation_of_a_gateway_may_fail,
      all_memory_of_a_gateway_may_be_gone_for_a_while)
