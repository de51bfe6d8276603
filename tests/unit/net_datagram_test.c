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

SUITE("net datagram", errors_of_sent_datagrams_are_counted_and_bounded)
