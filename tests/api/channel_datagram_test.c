/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Datagrams: one by one and in batches, cut, lost, refused, sent many at once. On the network of kits.
 */
#include "support/net.h"

#define ONCE(name, ...)                                                                            \
    static tr_next name(tr_self *self)                                                             \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return TR_SAME;                                                                            \
    }

static tr_channel channel;

static tr_next on_datagram(tr_self *self, const struct tr_datagram *message)
{
    say("%.*s%s",
        (int)message->bytes.size,
        (const char *)message->bytes.data,
        message->is_cut ? " cut" : "");
    tr_send_to(self, message->channel, &message->from, TR_BYTES("pong"));
    return TR_SAME;
}

TR_BEHAVIOR(udp, void, TR_ON(run, on_run), TR_ON(tr_datagram, on_datagram));
ONCE(bind_udp, channel = tr_bind(self, TR_UDP("127.0.0.1:8125", .frame_max = 6)))
ONCE(bind_again, {
    tr_channel none;
    say("%s", tr_status_name(tr_try_bind(self, TR_UDP("127.0.0.1:8125"), &none)));
    say("%s", tr_status_name(tr_try_bind(self, TR_TCP("127.0.0.1:8126"), &none)));
    say("%s", tr_status_name(tr_send_to(self, channel, NULL, TR_BYTES("x"))));
    tr_close(self, channel);
})

static void play_datagrams(void)
{
    HOST(udp, bind_udp);
    tr_kit_peer *peer = tr_kit_bind(kit, "127.0.0.1:9999");
    ck_assert_ptr_nonnull(peer);
    for (int i = 0; i < 100; i++) {
        char text[8];
        snprintf(text, sizeof text, "n%d", i);
        ck_assert_int_eq(tr_kit_send_to(peer, "127.0.0.1:8125", (tr_bytes){text, strlen(text)}),
                         TR_OK);
    }
    tr_kit_send_to(peer, "127.0.0.1:8125", TR_BYTES("longer than six"));
    tr_kit_settle(kit);
    const char *text = said();
    ck_assert_int_eq(strncmp(text, "n0; n1; n2; ", 12), 0);
    ck_assert_ptr_nonnull(strstr(text, "n98; n99; longer cut"));
    for (int i = 0; i < 101; i++) {
        tr_bytes pong = tr_kit_receive_from(peer, TR_SECOND, NULL);
        ck_assert_uint_eq(pong.size, 4);
    }
    host_run(bind_again);
    SAID("TR_ADDRESS_IN_USE; TR_INVALID_ARGUMENT; TR_INVALID_ARGUMENT");
    tr_kit_settle(kit);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0);
}

TEST(datagrams_come_one_by_one_and_cut_ones_say_so, "C-13", "CH-11")
{
    kits_each(play_datagrams);
}

/* A handler of batches gets all that have come, up to its own limit, in order. */
static tr_next on_datagrams(tr_self *self, const struct tr_datagram *const *datagrams, size_t count)
{
    say("%zu", count);
    for (size_t i = 0; i < count; i++)
        tr_send_to(self, datagrams[i]->channel, &datagrams[i]->from, datagrams[i]->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(udp_batches, void, TR_ON(run, on_run),
            TR_ON_BATCH(tr_datagram, on_datagrams, .batch_max = 20));
ONCE(bind_batches, channel = tr_bind(self, TR_UDP("127.0.0.1:8125")))

static void play_datagram_batches(void)
{
    HOST(udp_batches, bind_batches);
    tr_kit_peer *peer = tr_kit_bind(kit, "127.0.0.1:9999");
    ck_assert_ptr_nonnull(peer);
    for (int i = 0; i < 33; i++) {
        char text[8];
        snprintf(text, sizeof text, "n%d", i);
        ck_assert_int_eq(tr_kit_send_to(peer, "127.0.0.1:8125", (tr_bytes){text, strlen(text)}),
                         TR_OK);
    }
    tr_kit_settle(kit);
    SAID("20; 12; 1"); /* the kernel is asked for 32 at a time */
    for (int i = 0; i < 33; i++) {
        char text[8];
        int size = snprintf(text, sizeof text, "n%d", i);
        tr_bytes back = tr_kit_receive_from(peer, TR_SECOND, NULL);
        ck_assert_uint_eq(back.size, (size_t)size);
        ck_assert_mem_eq(back.data, text, back.size);
    }
}

TEST(datagrams_come_in_batches_to_those_who_want_them, "C-13")
{
    kits_each(play_datagram_batches);
}

static tr_next on_unwanted(const struct tr_datagram *const *messages, size_t count)
{
    (void)messages;
    say("%zu", count);
    return TR_DECLINE;
}

TR_BEHAVIOR(udp_decliner, void, TR_ON(run, on_run), TR_ON_BATCH(tr_datagram, on_unwanted));

static void play_declined_datagrams(void)
{
    HOST(udp_decliner, bind_batches);
    tr_kit_peer *peer = tr_kit_bind(kit, "127.0.0.1:9999");
    ck_assert_ptr_nonnull(peer);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(tr_kit_send_to(peer, "127.0.0.1:8125", TR_BYTES("x")), TR_OK);
    tr_kit_settle(kit);
    SAID("5");
    ck_assert_uint_eq(dead_letters(TR_UNHANDLED), 5);
    tr_kit_close(peer);
}

TEST(each_datagram_of_a_declined_batch_is_a_dead_letter, "C-13", "B-02")
{
    kits_each(play_declined_datagrams);
}

/* ---- What is lost, and what does not fit. ---- */

ONCE(say_lost, say("%u", (unsigned)tr_datagrams_lost(self, channel)))

static tr_next on_counted(const struct tr_datagram *const *messages, size_t count)
{
    (void)messages;
    say("%zu", count);
    return TR_SAME;
}

TR_BEHAVIOR(udp_counter, void, TR_ON(run, on_run), TR_ON_BATCH(tr_datagram, on_counted));

TEST(datagrams_that_the_kernel_drops_are_counted, "C-13", "CH-11")
{
    kit_open(1, 1);
    HOST(udp_counter, bind_batches);
    host_run(say_lost);
    SAID("0");
    tr_kit_peer *peer = tr_kit_bind(kit, "127.0.0.1:9999");
    static const char kilobyte[1024];
    for (int i = 0; i < 70; i++) /* 64 fit */
        ck_assert_int_eq(
            tr_kit_send_to(peer, "127.0.0.1:8125", (tr_bytes){kilobyte, sizeof kilobyte}), TR_OK);
    tr_kit_settle(kit);
    SAID("32; 32");
    host_run(say_lost);
    SAID("6");
    tr_kit_close(peer);
    kit_close();
}

/* The datagram is the only one, so no later event of the socket helps it. */
TEST(a_datagram_waits_for_memory, "C-13", "CH-11")
{
    int waited = 0;
    for (uint64_t nth = 1; nth <= 6; nth++) {
        kit_open(1, 1);
        HOST(udp_counter, bind_batches);
        tr_kit_peer *peer = tr_kit_bind(kit, "127.0.0.1:9999");
        ck_assert_int_eq(tr_kit_send_to(peer, "127.0.0.1:8125", TR_BYTES("x")), TR_OK);
        tr_kit_fail_allocation(kit, nth, true);
        tr_kit_settle(kit);
        bool waits = !*said();
        waited += waits;
        tr_kit_fail_allocation(kit, 0, false);
        tr_kit_advance(kit, 50 * MS);
        SAID(waits ? "1" : "");
        tr_kit_close(peer);
        kit_close();
    }
    ck_assert_int_ge(waited, 2); /* its event, then its batch */
}

TEST(a_kernel_without_memory_is_asked_again, "C-13", "CH-11")
{
    kit_open(1, 1);
    HOST(udp_counter, bind_batches);
    tr_kit_peer *peer = tr_kit_bind(kit, "127.0.0.1:9999");
    tr_kit_fail_network(kit, "receive_many", 1, TR_NO_MEMORY);
    ck_assert_int_eq(tr_kit_send_to(peer, "127.0.0.1:8125", TR_BYTES("x")), TR_OK);
    tr_kit_settle(kit);
    SAID("");
    tr_kit_advance(kit, 50 * MS);
    SAID("1");
    tr_kit_close(peer);
    kit_close();
}

/* ---- Many at once. ---- */

static tr_next on_answered(tr_self *self, const struct tr_datagram *const *messages, size_t count)
{
    tr_outgoing answers[20];
    size_t sent;
    for (size_t i = 0; i < count; i++)
        answers[i] = (tr_outgoing){messages[i]->from, messages[i]->bytes};
    tr_status status = tr_send_many(self, messages[0]->channel, answers, count, &sent);
    say("%s %zu", tr_status_name(status), sent);
    return TR_SAME;
}

TR_BEHAVIOR(udp_answers, void, TR_ON(run, on_run),
            TR_ON_BATCH(tr_datagram, on_answered, .batch_max = 20));

static void play_many(void)
{
    HOST(udp_answers, bind_batches);
    tr_kit_peer *peer = tr_kit_bind(kit, "127.0.0.1:9999");
    tr_kit_fail_network(kit, "send_many", 2, TR_UNREACHABLE); /* the second batch */
    for (int i = 0; i < 32; i++)
        ck_assert_int_eq(tr_kit_send_to(peer, "127.0.0.1:8125", (tr_bytes){&"abcdefgh"[i % 8], 1}),
                         TR_OK);
    tr_kit_settle(kit);
    SAID("TR_OK 20; TR_UNREACHABLE 0");
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(*(const char *)tr_kit_receive_from(peer, TR_SECOND, NULL).data,
                         "abcdefgh"[i % 8]);
    ck_assert_ptr_null(tr_kit_receive_from(peer, TR_SECOND, NULL).data);
    tr_kit_close(peer);
}

TEST(many_datagrams_are_sent_by_one_call, "C-13", "CH-11")
{
    kits_each(play_many);
}

ONCE(send_badly, {
    tr_address to;
    ck_assert_int_eq(tr_address_parse("127.0.0.1:9999", &to), TR_OK);
    tr_outgoing many[] = {{to, TR_BYTES("a")}, {{.family = TR_FAMILY_NONE}, TR_BYTES("b")}};
    static const char huge[TR_DATAGRAM_MAX + 1];
    tr_outgoing large[] = {{to, TR_BYTES("c")}, {to, {huge, sizeof huge}}, {to, TR_BYTES("d")}};
    size_t sent;
    tr_status status = tr_send_many(self, channel, many, 2, &sent);
    say("%s %zu", tr_status_name(status), sent);
    status = tr_send_many(self, channel, large, 3, &sent);
    say("%s %zu", tr_status_name(status), sent);
    say("%s", tr_status_name(tr_send_many(self, channel, many, 1, NULL)));
    say("%s", tr_status_name(tr_send_many(self, channel, NULL, 0, NULL)));
    say("%s", tr_status_name(tr_send_many(self, TR_NO_CHANNEL, many, 1, &sent)));
})

TEST(those_before_a_datagram_that_cannot_be_sent_are_sent, "C-13")
{
    kit_open(1, 1);
    HOST(udp_counter, bind_batches);
    tr_kit_peer *peer = tr_kit_bind(kit, "127.0.0.1:9999");
    host_run(send_badly);
    SAID("TR_ADDRESS_INVALID 1; TR_TOO_LARGE 1; TR_OK; TR_OK; TR_NOT_OWNER");
    static const char *const expected[] = {"a", "c", "a"};
    for (size_t i = 0; i < 3; i++)
        ck_assert_mem_eq(tr_kit_receive_from(peer, TR_SECOND, NULL).data, expected[i], 1);
    ck_assert_ptr_null(tr_kit_receive_from(peer, TR_SECOND, NULL).data);
    tr_kit_close(peer);
    kit_close();
}

SUITE("channels of datagrams", datagrams_come_one_by_one_and_cut_ones_say_so,
      datagrams_come_in_batches_to_those_who_want_them,
      each_datagram_of_a_declined_batch_is_a_dead_letter,
      datagrams_that_the_kernel_drops_are_counted, a_datagram_waits_for_memory,
      a_kernel_without_memory_is_asked_again, many_datagrams_are_sent_by_one_call,
      those_before_a_datagram_that_cannot_be_sent_are_sent)
