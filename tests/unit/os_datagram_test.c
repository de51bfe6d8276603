/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Datagrams of the real platform: many at once, whole or marked as cut, and lost ones are counted.
 */
#include "support/sockets.h"

#include <netinet/in.h>
#include <stdlib.h>

enum { CAPACITY = 64, MANY = 40, AT_ONCE = 32 };

static const tr_platform *real;
static char bytes[MANY][CAPACITY];
static tr_packet packets[MANY];

static int bind_udp(tr_address address)
{
    tr_socket_spec spec = spec_of(TR_SOCKET_BIND, address);
    real = tr_platform_real();
    return must_open(&spec);
}

static tr_status receive(int fd, size_t max, size_t *count, uint64_t *lost)
{
    for (size_t i = 0; i < MANY; i++)
        packets[i] = (tr_packet){.data = bytes[i], .capacity = CAPACITY, .size = 12345};
    return real->socket_receive_many(real, fd, packets, max, count, lost);
}

/* Receives what has come, at least one. Returns how many. */
static size_t must_receive(int fd, uint64_t *lost)
{
    size_t count = 0;
    await_events(fd, POLLIN);
    ck_assert_int_eq(receive(fd, MANY, &count, lost), TR_OK);
    ck_assert_uint_gt(count, 0);
    return count;
}

static tr_packet packet_of(const char *text, tr_address to)
{
    return (tr_packet){.data = (void *)(uintptr_t)text, .size = strlen(text), .address = to};
}

static tr_status send_text(int fd, const char *text, tr_address to)
{
    size_t sent = 0;
    tr_packet packet = packet_of(text, to);
    tr_status status = real->socket_send_many(real, fd, &packet, 1, &sent);
    ck_assert_uint_eq(sent, status == TR_OK);
    return status;
}

TEST(many_datagrams_go_and_come_at_once, "")
{
    int fds[2] = {bind_udp(loopback_v4(0)), bind_udp(loopback_v4(0))};
    tr_address to = address_of(fds[1], false);
    tr_packet out[MANY];
    char texts[MANY][8];
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%d", i);
        out[i] = packet_of(texts[i], to);
    }
    size_t done = 0;
    while (done < MANY) {
        size_t sent = 0;
        ck_assert_int_eq(real->socket_send_many(real, fds[0], out + done, MANY - done, &sent),
                         TR_OK);
        ck_assert_uint_le(sent, AT_ONCE);
        done += sent;
    }
    size_t count = 0;
    size_t total = 0;
    uint64_t lost = 99;
    while (total < MANY) {
        count = must_receive(fds[1], &lost);
        for (size_t i = 0; i < count; i++, total++) {
            ck_assert_uint_eq(packets[i].size, strlen(texts[total]));
            ck_assert_mem_eq(packets[i].data, texts[total], packets[i].size);
            ck_assert(is_same(packets[i].address, address_of(fds[0], false)));
        }
        ck_assert_uint_eq(lost, 0);
    }
    ck_assert_int_eq(receive(fds[1], MANY, &count, &lost), TR_WOULD_BLOCK);
    ck_assert_int_eq(receive(fds[1], 0, &count, &lost), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(real->socket_send_many(real, fds[0], out, 0, &count), TR_INVALID_ARGUMENT);
    close_all(fds, 2);
}

TEST(a_datagram_that_is_too_large_is_cut_and_says_so, "")
{
    int fds[2] = {bind_udp(loopback_v4(0)), bind_udp(loopback_v4(0))};
    char large[CAPACITY + 5] = {0};
    memset(large, 'x', CAPACITY + 4);
    size_t count;
    uint64_t lost;
    ck_assert_int_eq(send_text(fds[0], large, address_of(fds[1], false)), TR_OK);
    ck_assert_int_eq(send_text(fds[0], "", address_of(fds[1], false)), TR_OK);
    ck_assert_int_eq(send_text(fds[0], "whole", address_of(fds[1], false)), TR_OK);
    count = must_receive(fds[1], &lost);
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(packets[0].size, CAPACITY + 4);
    ck_assert_mem_eq(packets[0].data, large, CAPACITY);
    ck_assert_uint_eq(packets[1].size, 0);
    ck_assert_uint_eq(packets[2].size, 5);
    close_all(fds, 2);
}

TEST(one_that_cannot_be_sent_ends_the_call, "")
{
    int fds[2] = {bind_udp(loopback_v4(0)), bind_udp(loopback_v4(0))};
    tr_address to = address_of(fds[1], false);
    static char huge[70000];
    const struct {
        tr_packet packet;
        tr_status status;
    } wrong[] = {
        {{.data = huge, .size = sizeof huge, .address = to}, TR_TOO_LARGE},
        {packet_of("x", (tr_address){.family = TR_FAMILY_UNIX}), TR_ADDRESS_INVALID},
        {packet_of("x", (tr_address){.family = 99}), TR_ADDRESS_INVALID},
        {packet_of("x", (tr_address){.family = TR_FAMILY_NONE}), TR_INVALID_ARGUMENT},
        {packet_of("x",
                   (tr_address){.family = TR_FAMILY_V4, .port = 9, .host = {255, 255, 255, 255}}),
         TR_NOT_PERMITTED},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tr_packet out[3] = {packet_of("first", to), wrong[i].packet, packet_of("last", to)};
        size_t sent = 0;
        ck_assert_int_eq(real->socket_send_many(real, fds[0], out, 3, &sent), TR_OK);
        ck_assert_uint_eq(sent, 1);
        ck_assert_int_eq(real->socket_send_many(real, fds[0], out + 1, 2, &sent), wrong[i].status);
        size_t count;
        uint64_t lost;
        count = must_receive(fds[1], &lost);
        ck_assert_uint_eq(count, 1);
    }
    close_all(fds, 2);
}

TEST(a_datagram_that_nobody_took_is_reported_once, "")
{
    int fds[2] = {bind_udp(loopback_v4(0))};
    tr_socket_spec spec = spec_of(TR_SOCKET_CONNECT, address_of(fds[0], false));
    spec.is_datagram = true;
    fds[1] = must_open(&spec);
    const tr_address connected = {.family = TR_FAMILY_NONE};
    size_t count;
    uint64_t lost;
    ck_assert_int_eq(send_text(fds[1], "taken", connected), TR_OK);
    count = must_receive(fds[0], &lost);
    ck_assert(is_same(packets[0].address, address_of(fds[1], false)));
    close_all(fds, 1);
    ck_assert_int_eq(send_text(fds[1], "not taken", connected), TR_OK);
    await_events(fds[1], POLLERR);
    ck_assert_int_eq(receive(fds[1], MANY, &count, &lost), TR_CONNECT_REFUSED);
    ck_assert_int_eq(receive(fds[1], MANY, &count, &lost), TR_WOULD_BLOCK);
    ck_assert_int_eq(send_text(fds[1], "not taken", connected), TR_OK);
    await_events(fds[1], POLLERR);
    ck_assert_int_eq(send_text(fds[1], "not sent", connected), TR_CONNECT_REFUSED);
    close_all(&fds[1], 1);
}

TEST(lost_datagrams_are_counted, "")
{
    int fds[2] = {bind_udp(loopback_v4(0)), bind_udp(loopback_v4(0))};
    tr_address to = address_of(fds[1], false);
    int size = 4096;
    ck_assert_int_eq(setsockopt(fds[1], SOL_SOCKET, SO_RCVBUF, &size, sizeof size), 0);
    const uint64_t sent = 200;
    for (uint64_t i = 0; i < sent; i++)
        ck_assert_int_eq(send_text(fds[0], "x", to), TR_OK);
    uint64_t got = 0;
    uint64_t lost = 0;
    size_t count;
    while (receive(fds[1], MANY, &count, &lost) == TR_OK)
        got += count;
    ck_assert_uint_lt(got, sent);
    /* A datagram knows what was lost before it. */
    ck_assert_int_eq(send_text(fds[0], "x", to), TR_OK);
    count = must_receive(fds[1], &lost);
    ck_assert_uint_eq(got + lost, sent);
    close_all(fds, 2);
}

TEST(a_socket_of_ipv6_talks_to_ipv4, "")
{
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) != 0)
        test_skip("this machine has no IPv6");
    close(fd);
    int fds[2] = {bind_udp((tr_address){.family = TR_FAMILY_V6}), bind_udp(loopback_v4(0))};
    uint64_t lost;
    ck_assert_int_eq(send_text(fds[1], "in", loopback_v4(address_of(fds[0], false).port)), TR_OK);
    (void)must_receive(fds[0], &lost);
    ck_assert_int_eq(packets[0].address.family, TR_FAMILY_V4);
    ck_assert_int_eq(send_text(fds[0], "out", packets[0].address), TR_OK);
    (void)must_receive(fds[1], &lost);
    ck_assert_uint_eq(packets[0].size, 3);
    ck_assert_uint_eq(packets[0].address.port, address_of(fds[0], false).port);
    close_all(fds, 2);
}

TEST(datagrams_go_to_a_path, "")
{
    real = tr_platform_real();
    struct socket_path path = path_make();
    tr_socket_spec spec = unix_spec(TR_SOCKET_BIND, path.path);
    int fds[2] = {must_open(&spec)};
    spec.role = TR_SOCKET_CONNECT;
    fds[1] = must_open(&spec);
    const tr_address connected = {.family = TR_FAMILY_NONE};
    size_t count;
    uint64_t lost;
    ck_assert_int_eq(send_text(fds[1], "hello", connected), TR_OK);
    count = must_receive(fds[0], &lost);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(packets[0].size, 5);
    ck_assert_int_eq(packets[0].address.family, TR_FAMILY_NONE); /* the sender has no path */
    /* A full receiver loses nothing: its sender has to wait. */
    size_t sent = 0;
    tr_status status;
    while ((status = send_text(fds[1], "x", connected)) == TR_OK)
        sent++;
    ck_assert_int_eq(status, TR_WOULD_BLOCK);
    size_t got = 0;
    while (receive(fds[0], MANY, &count, &lost) == TR_OK)
        got += count;
    ck_assert_uint_eq(got, sent);
    close_all(fds, 1);
    ck_assert_int_eq(send_text(fds[1], "x", connected), TR_CONNECT_REFUSED);
    close_all(&fds[1], 1);
    path_remove(&path);
}

SUITE("os datagram", many_datagrams_go_and_come_at_once,
      a_datagram_that_is_too_large_is_cut_and_says_so, one_that_cannot_be_sent_ends_the_call,
      a_datagram_that_nobody_took_is_reported_once, lost_datagrams_are_counted,
      a_socket_of_ipv6_talks_to_ipv4, datagrams_go_to_a_path)
