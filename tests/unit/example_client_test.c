/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client of example 27, with the test as its server: requests are sent together and answered in order; a connection that
 * is lost fails what is under way once, and the next one is made after a back-off.
 */
#include <troupe/kit_net.h>

#include "support/test.h"

int client_main(int argc, char **argv);
#define main client_main
#include "../examples/27_client/client.c"
#undef main

#define ADDRESS "127.0.0.1:6379"
#define REQUEST "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n"

TR_MESSAGE(found_redis, (ref_of(redis), redis));
TR_REQUEST(get_redis, found_redis);
TR_ACTOR(owner, get_redis);

static tr_next set_up_owner(tr_self *self, redis_ref *redis)
{
    *redis = tr_spawn(self, redis, "redis", open_redis, .address = ADDRESS);
    return TR_SAME;
}

static tr_next on_get_redis(tr_self *self, redis_ref *redis)
{
    return tr_reply(self, found_redis, .redis = *redis);
}

TR_BEHAVIOR(owner, redis_ref, TR_SETUP(set_up_owner), TR_ON(get_redis, on_get_redis),
            TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = TR_RESTARTS_MAX,
                         .backoff = {.initial_ns = 100 * TR_MILLISECOND,
                                     .max_ns = 10 * TR_SECOND}));

static tr_kit *kit;
static tr_client *test;
static redis_ref redis;

static tr_kit_peer *begin(void)
{
    owner_ref owner;
    const struct found_redis *found;
    kit = tr_kit_new(NULL);
    test = tr_kit_client(kit);
    ck_assert_ptr_null(tr_kit_accept(kit, ADDRESS, 0)); /* the test listens */
    ck_assert_int_eq(tr_try_spawn(test, &owner, owner, "owner"), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, owner, get_redis), &found), TR_OK);
    redis = found->redis;
    tr_kit_peer *server = tr_kit_accept(kit, ADDRESS, TR_SECOND);
    ck_assert_ptr_nonnull(server);
    return server;
}

static void ask_some(increment_ask *asks, int count)
{
    for (int i = 0; i < count; i++)
        asks[i] = tr_ask(test, redis, increment, .key = "n");
    tr_kit_settle(kit);
}

static void check_requests(tr_kit_peer *server, int count)
{
    tr_bytes bytes = tr_kit_receive(server, TR_SECOND);
    ck_assert_uint_eq(bytes.size, (size_t)count * strlen(REQUEST));
    for (int i = 0; i < count; i++)
        ck_assert_mem_eq(
            (const char *)bytes.data + (size_t)i * strlen(REQUEST), REQUEST, strlen(REQUEST));
}

static void send_text(tr_kit_peer *server, const char *text)
{
    ck_assert_uint_eq(tr_kit_send(server, (tr_bytes){text, strlen(text)}), strlen(text));
    tr_kit_settle(kit);
}

static void check_counted(increment_ask ask, int64_t value)
{
    const struct counted *counted;
    ck_assert_int_eq(tr_try_await(test, ask, &counted), TR_OK);
    ck_assert_int_eq(counted->value, value);
}

TEST(requests_share_a_connection_and_are_answered_in_order, "C-03")
{
    tr_kit_peer *server = begin();
    increment_ask asks[3];
    ask_some(asks, 3);
    check_requests(server, 3); /* before the first was answered */
    send_text(server, ":7\r\n-ERR wro");
    send_text(server, "ng\r\n:9\r\n");
    check_counted(asks[2], 9);
    check_counted(asks[0], 7);
    ck_assert_int_eq(tr_try_await(test, asks[1], NULL), TR_REFUSED);
    ck_assert_str_eq(tr_ask_error(test, asks[1])->text, "-ERR wrong");
    tr_kit_free(kit);
}

TEST(a_lost_connection_fails_what_is_under_way_and_is_made_again, "C-03", "C-09", "CH-03")
{
    tr_kit_peer *server = begin();
    increment_ask asks[3];
    ask_some(asks, 3);
    check_requests(server, 3);
    send_text(server, ":1\r\n");
    check_counted(asks[0], 1);
    tr_time lost = tr_kit_now(kit);
    tr_kit_reset(server);
    for (int i = 1; i < 3; i++)
        ck_assert_int_ne(tr_try_await(test, asks[i], NULL), TR_OK);
    server = tr_kit_accept(kit, ADDRESS, TR_SECOND);
    ck_assert_ptr_nonnull(server);
    ck_assert_int_ge(tr_kit_now(kit) - lost, 100 * TR_MILLISECOND);
    ask_some(asks, 2);
    check_requests(server, 2);
    send_text(server, ":2\r\n:3\r\n");
    check_counted(asks[0], 2);
    check_counted(asks[1], 3);
    tr_kit_free(kit);
}

TEST(requests_wait_while_there_is_no_connection, "C-09")
{
    tr_kit_peer *server = begin();
    increment_ask ask;
    tr_kit_finish(server); /* in order, but nobody handles tr_closed: the actor fails */
    tr_kit_settle(kit);
    ask_some(&ask, 1);
    ck_assert(!tr_is_answered(test, ask));
    server = tr_kit_accept(kit, ADDRESS, TR_SECOND);
    ck_assert_ptr_nonnull(server);
    check_requests(server, 1);
    send_text(server, ":1\r\n");
    check_counted(ask, 1);
    tr_kit_free(kit);
}

SUITE("example client", requests_share_a_connection_and_are_answered_in_order,
      a_lost_connection_fails_what_is_under_way_and_is_made_again,
      requests_wait_while_there_is_no_connection)
