/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Peers of a kit and sockets of its system, which actors use through the table of the platform.
 */
#include "actor/cell/system.h"
#include "support/test.h"

#include <string.h>
#include <troupe/kit_net.h>
#include <troupe/troupe.h>

#define ADDRESS "127.0.0.1:7000"

TR_MESSAGE(write_later, (i32, fd), (str, text), (i64, after_ns));
TR_ACTOR(writer, write_later);

static tr_next on_write_later(tr_self *self, const struct write_later *message)
{
    const tr_platform *table = tr_system_of(self)->platform;
    tr_bytes bytes = {message->text, strlen(message->text)};
    size_t sent;
    if (message->after_ns)
        tr_sleep(self, message->after_ns);
    ck_assert_int_eq(table->socket_send(table, message->fd, &bytes, 1, &sent), TR_OK);
    return TR_SAME;
}

TR_BEHAVIOR(writer, void, TR_ON(write_later, on_write_later));

static int open_socket(tr_kit *kit, tr_socket_role role, const char *address, tr_status expected)
{
    const tr_platform *table = tr_kit_system(kit)->platform;
    tr_socket_spec spec = {.size = sizeof spec, .role = role};
    int fd = -1;
    ck_assert_int_eq(tr_address_parse(address, &spec.address), TR_OK);
    ck_assert_int_eq(table->socket_open(table, &spec, &fd), expected);
    return fd;
}

TEST(waiting_for_a_peer_runs_actors_and_moves_the_clock, "C-14", "V-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    const tr_platform *table = tr_kit_system(kit)->platform;
    writer_ref writer;
    int listener = open_socket(kit, TR_SOCKET_LISTEN, ADDRESS, TR_OK);
    int fd;
    ck_assert_int_eq(tr_try_spawn(tr_kit_client(kit), &writer, writer, "writer"), TR_OK);
    tr_kit_peer *peer = tr_kit_connect(kit, ADDRESS);
    ck_assert_ptr_null(tr_kit_accept(kit, ADDRESS, TR_SECOND)); /* the system listens there */
    ck_assert_int_eq(table->socket_accept(table, listener, &fd, NULL), TR_OK);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 2);
    for (int other = listener + 1; other < fd; other++) /* the peer's: not for the system */
        ck_assert_int_eq(table->socket_outcome(table, other), TR_INVALID_ARGUMENT);
    ck_assert_int_gt(fd, listener + 1);

    /* What the system has to do is done before the receive gives what has come. */
    tr_tell(tr_kit_client(kit), writer, write_later, .fd = fd, .text = "one ");
    tr_kit_settle(kit);
    tr_tell(tr_kit_client(kit), writer, write_later, .fd = fd, .text = "two");
    ck_assert_str_eq(tr_kit_receive_text(peer, TR_SECOND), "one two");

    tr_time start_ns = tr_kit_now(kit);
    tr_tell(tr_kit_client(kit), writer, write_later, .fd = fd, .text = "x", .after_ns = TR_MINUTE);
    ck_assert_str_eq(tr_kit_receive_text(peer, TR_SECOND), "");
    ck_assert_int_eq(tr_kit_now(kit), start_ns + TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peer, TR_HOUR), "x");
    ck_assert_int_ge(tr_kit_now(kit), start_ns + TR_MINUTE);
    ck_assert_int_lt(tr_kit_now(kit), start_ns + TR_MINUTE + TR_SECOND);

    table->socket_close(table, fd, false);
    ck_assert_int_eq(tr_kit_peer_status(peer), TR_CLOSED);
    table->socket_close(table, listener, false);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
    tr_kit_free(kit);
}

TEST(the_test_accepts_what_the_system_connects, "C-14")
{
    tr_kit *kit = tr_kit_new(NULL);
    const tr_platform *table = tr_kit_system(kit)->platform;
    ck_assert_ptr_null(tr_kit_accept(kit, "10.0.0.9:80", 0));
    tr_kit_set_network(kit, &(tr_kit_network){.delay_ns = TR_SECOND});
    int gone = open_socket(kit, TR_SOCKET_CONNECT, "10.0.0.9:80", TR_WOULD_BLOCK);
    tr_kit_advance(kit, TR_SECOND);
    table->socket_close(table, gone, true); /* and is not accepted any more */
    int fd = open_socket(kit, TR_SOCKET_CONNECT, "10.0.0.9:80", TR_WOULD_BLOCK);
    tr_kit_advance(kit, TR_SECOND);
    tr_time start_ns = tr_kit_now(kit);
    tr_kit_peer *peer = tr_kit_accept(kit, "10.0.0.9:80", TR_MINUTE);
    ck_assert_ptr_nonnull(peer);
    ck_assert_int_eq(tr_kit_now(kit), start_ns);
    tr_address is = tr_kit_peer_address(peer);
    char text[TR_ADDRESS_TEXT_MAX];
    ck_assert_str_eq(tr_address_print(&is, text), "10.0.0.9:80");
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_int_eq(table->socket_outcome(table, fd), TR_OK);
    table->socket_close(table, fd, false);
    tr_kit_free(kit);
}

TEST(names_and_failures_are_those_of_the_test, "C-14")
{
    tr_kit *kit = tr_kit_new(NULL);
    const tr_platform *table = tr_kit_system(kit)->platform;
    tr_address found[4];
    size_t count = 0;
    ck_assert(tr_kit_add_name(kit, "db", "10.0.0.1"));
    ck_assert(tr_kit_add_name(kit, "db", "::2"));
    ck_assert(!tr_kit_add_name(kit, "db", "another.name"));
    ck_assert(tr_kit_fail_name(kit, "slow", TR_TIMEOUT));
    ck_assert_int_eq(table->resolve(table, "db", 1, found, 4, &count), TR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(table->resolve(table, "slow", 1, found, 4, &count), TR_TIMEOUT);
    ck_assert_int_eq(table->resolve(table, "localhost", 1, found, 4, &count), TR_ADDRESS_INVALID);
    tr_kit_fail_network(kit, "resolve", 2, TR_NO_MEMORY);
    ck_assert_int_eq(table->resolve(table, "db", 1, found, 4, &count), TR_OK);
    ck_assert_int_eq(table->resolve(table, "db", 1, found, 4, &count), TR_NO_MEMORY);
    /* Calls of peers do not count. */
    tr_kit_fail_network(kit, "open", 1, TR_LIMIT);
    ck_assert_ptr_null(tr_kit_accept(kit, ADDRESS, 0));
    ck_assert_ptr_nonnull(tr_kit_connect(kit, ADDRESS));
    (void)open_socket(kit, TR_SOCKET_LISTEN, ":0", TR_LIMIT);
    tr_kit_free(kit);
}

TEST_ABORTS(a_socket_that_the_system_has_not_closed_is_found, "C-14", "U-03")
{
    tr_kit *kit = tr_kit_new(NULL);
    (void)open_socket(kit, TR_SOCKET_LISTEN, ADDRESS, TR_OK);
    tr_kit_free(kit);
}

SUITE("actor kit net", waiting_for_a_peer_runs_actors_and_moves_the_clock,
      the_test_accepts_what_the_system_connects, names_and_failures_are_those_of_the_test,
      a_socket_that_the_system_has_not_closed_is_found)
