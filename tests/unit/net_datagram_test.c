/* SPDX-License-Identifier: Apache-2.0 */
/** Errors that come back for datagrams that a channel has sent. */
#include "actor/system/kit.h"
#include "os/virtual.h"
#include "support/net.h"

static tr_channel channel;

static tr_next on_datagram(const struct tr_datagram *message)
{
    say("got %zu", message->bytes.size);
    return TR_SAME;
}

TR_BEHAVIOR(udp, void, TR_ON(run, on_run), TR_ON(tr_datagram, on_datagram));

static tr_next bind_udp(tr_self *self)
{
    channel = tr_bind(self, TR_UDP("127.0.0.1:8125"));
    return TR_SAME;
}

static tr_next say_refused(tr_self *self)
{
    say("%u", (unsigned)tr_datagrams_refused(self, channel));
    return TR_SAME;
}

/* Each call gives an error of a datagram that was sent: a hostile network must not hold the worker. */
static uint64_t errors_left;
static uint64_t error_calls;

static tr_status receive_errors(const tr_platform *platform, int fd, tr_packet *packets, size_t max,
                                size_t *count, uint64_t *lost)
{
    (void)platform;
    (void)fd;
    (void)packets;
    (void)max;
    (void)count;
    (void)lost;
    error_calls++;
    if (!errors_left)
        return TR_WOULD_BLOCK;
    errors_left--;
    return errors_left % 2 ? TR_UNREACHABLE : TR_CONNECT_REFUSED;
}

TEST(errors_of_sent_datagrams_are_counted_and_bounded, "C-13", "CH-11")
{
    kit_open(1, 1);
    HOST(udp, bind_udp);
    tr_kit_peer *peer = tr_kit_bind(kit, "127.0.0.1:9999");
    kit->virtual->table.socket_receive_many = receive_errors;
    errors_left = 1000;
    error_calls = 0;
    ck_assert_int_eq(tr_kit_send_to(peer, "127.0.0.1:8125", TR_BYTES("x")), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_le(error_calls, 32);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert_uint_eq(errors_left, 0);
    host_run(say_refused);
    SAID("1000");
    tr_kit_close(peer);
    kit_close();
}

static tr_status send_refused(const tr_platform *platform, int fd, const tr_packet *packets,
                              size_t count, size_t *sent)
{
    (void)platform;
    (void)fd;
    (void)packets;
    (void)count;
    *sent = 0;
    return TR_CONNECT_REFUSED;
}

static tr_next send_in_vain(tr_self *self)
{
    tr_address to;
    ck_assert_int_eq(tr_address_parse("127.0.0.1:9", &to), TR_OK);
    const tr_outgoing one = {.to = to, .bytes = TR_BYTES("x")};
    ck_assert_int_eq(tr_send_to(self, channel, &to, TR_BYTES("x")), TR_CONNECT_REFUSED);
    ck_assert_int_eq(tr_send_many(self, channel, &one, 1, NULL), TR_CONNECT_REFUSED);
    return TR_SAME;
}

TEST(datagrams_that_nobody_takes_are_counted, "C-13")
{
    kit_open(1, 1);
    HOST(udp, bind_udp);
    kit->virtual->table.socket_send_many = send_refused;
    host_run(send_in_vain);
    host_run(say_refused);
    SAID("2");
    kit_close();
}

SUITE("net datagram", errors_of_sent_datagrams_are_counted_and_bounded,
      datagrams_that_nobody_takes_are_counted)
