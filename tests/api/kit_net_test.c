/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The network of the kit, with the test on both sides of each connection.
 */
#include "support/test.h"

#include <string.h>
#include <troupe/kit_net.h>
#include <troupe/troupe.h>

#define ADDRESS "127.0.0.1:7000"

static size_t say(tr_kit_peer *peer, const char *text)
{
    return tr_kit_send(peer, (tr_bytes){text, strlen(text)});
}

/* Connects two peers; the first has connected, the second has accepted. */
static void join(tr_kit *kit, const char *address, tr_kit_peer *peers[2])
{
    ck_assert_ptr_null(tr_kit_accept(kit, address, 0));
    peers[0] = tr_kit_connect(kit, address);
    ck_assert_ptr_nonnull(peers[0]);
    peers[1] = tr_kit_accept(kit, address, TR_SECOND);
    ck_assert_ptr_nonnull(peers[1]);
}

TEST(nobody_listens_until_the_test_accepts, "C-14", "V-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_kit_peer *peers[2];
    ck_assert_ptr_null(tr_kit_connect(kit, ADDRESS));
    ck_assert_ptr_null(tr_kit_connect(kit, "/run/none"));
    ck_assert_ptr_null(tr_kit_connect(kit, "not an address"));
    ck_assert_ptr_null(tr_kit_accept(kit, "not an address", TR_SECOND));
    join(kit, ADDRESS, peers);
    ck_assert_ptr_null(tr_kit_accept(kit, "0.0.0.0:7000", 0)); /* in use */
    join(kit, ADDRESS, peers);
    join(kit, "/run/troupe.sock", peers);
    join(kit, "@troupe", peers);
    ck_assert_uint_eq(tr_kit_open_channels(kit), 0); /* the system has none of them */
    tr_kit_free(kit);
}

TEST(waiting_for_a_connection_takes_virtual_time, "C-14", "V-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_time start_ns = tr_kit_now(kit);
    ck_assert_ptr_null(tr_kit_accept(kit, ADDRESS, 5 * TR_SECOND));
    ck_assert_int_eq(tr_kit_now(kit), start_ns + 5 * TR_SECOND);
    tr_kit_set_network(kit, &(tr_kit_network){.delay_ns = TR_SECOND});
    ck_assert_ptr_nonnull(tr_kit_connect(kit, ADDRESS));
    ck_assert_int_eq(tr_kit_now(kit), start_ns + 7 * TR_SECOND); /* there and back */
    ck_assert_ptr_null(tr_kit_connect(kit, "127.0.0.1:7001"));
    ck_assert_int_eq(tr_kit_now(kit), start_ns + 9 * TR_SECOND);
    tr_kit_free(kit);
}

TEST(what_is_sent_is_received_in_time, "C-14", "V-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_kit_peer *peers[2];
    join(kit, ADDRESS, peers);
    tr_kit_set_network(kit, &(tr_kit_network){.delay_ns = 2 * TR_SECOND});
    tr_time start_ns = tr_kit_now(kit);
    ck_assert_uint_eq(say(peers[0], "hello"), 5);
    ck_assert_str_eq(tr_kit_receive_text(peers[1], 0), "");
    ck_assert_str_eq(tr_kit_receive_text(peers[1], TR_SECOND), "");
    ck_assert_int_eq(tr_kit_now(kit), start_ns + TR_SECOND);
    ck_assert_str_eq(tr_kit_receive_text(peers[1], TR_MINUTE), "hello");
    ck_assert_int_eq(tr_kit_now(kit), start_ns + 2 * TR_SECOND);
    ck_assert_uint_eq(say(peers[1], "one"), 3);
    tr_kit_advance(kit, TR_MINUTE);
    ck_assert_uint_eq(say(peers[1], "two"), 3);
    tr_bytes bytes = tr_kit_receive(peers[0], TR_MINUTE);
    ck_assert_uint_eq(bytes.size, 3);
    ck_assert_int_eq(memcmp(bytes.data, "one", 3), 0);
    ck_assert_str_eq(tr_kit_receive_text(peers[0], TR_NEVER), "two");
    tr_kit_free(kit);
}

TEST_ABORTS(a_receive_that_can_never_end_is_found, "V-02")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_kit_peer *peers[2];
    join(kit, ADDRESS, peers);
    (void)tr_kit_receive(peers[0], TR_NEVER);
}

TEST(more_than_a_window_is_taken_in_parts, "C-14")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_kit_peer *peers[2];
    static char large[200000];
    join(kit, ADDRESS, peers);
    for (size_t i = 0; i < sizeof large; i++)
        large[i] = (char)(i * 7);
    tr_kit_set_network(kit, &(tr_kit_network){.window = 1000, .piece_max = TR_KIT_RANDOM});
    ck_assert_uint_eq(tr_kit_send(peers[0], (tr_bytes){large, sizeof large}), 1000);
    ck_assert_uint_eq(tr_kit_send(peers[0], (tr_bytes){large, sizeof large}), 0);
    ck_assert_uint_eq(tr_kit_receive(peers[1], 0).size, 1000);
    tr_kit_set_network(kit, &(tr_kit_network){.window = sizeof large});
    ck_assert_uint_eq(tr_kit_send(peers[0], (tr_bytes){large, sizeof large}), sizeof large);
    tr_bytes bytes = tr_kit_receive(peers[1], 0);
    ck_assert_uint_eq(bytes.size, sizeof large);
    ck_assert_int_eq(memcmp(bytes.data, large, sizeof large), 0);
    tr_kit_free(kit);
}

TEST(a_finish_is_seen_and_the_other_way_stays_open, "C-14")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_kit_peer *peers[2];
    join(kit, ADDRESS, peers);
    say(peers[0], "last");
    tr_kit_finish(peers[0]);
    ck_assert_uint_eq(say(peers[0], "more"), 0);
    ck_assert_int_eq(tr_kit_peer_status(peers[0]), TR_OK);
    ck_assert_int_eq(tr_kit_peer_status(peers[1]), TR_CLOSED);
    ck_assert_str_eq(tr_kit_receive_text(peers[1], TR_NEVER), "last");
    ck_assert_str_eq(tr_kit_receive_text(peers[1], TR_NEVER), "");
    say(peers[1], "answer");
    ck_assert_str_eq(tr_kit_receive_text(peers[0], 0), "answer");
    tr_kit_close(peers[1]);
    ck_assert_int_eq(tr_kit_peer_status(peers[0]), TR_CLOSED);
    tr_kit_close(peers[0]);
    tr_kit_close(NULL);
    tr_kit_free(kit);
}

TEST(a_reset_is_seen_by_both, "C-14")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_kit_peer *peers[2];
    join(kit, ADDRESS, peers);
    tr_kit_set_network(kit, &(tr_kit_network){.delay_ns = TR_SECOND});
    say(peers[0], "lost");
    tr_kit_reset(peers[0]);
    tr_kit_reset(peers[0]);
    ck_assert_int_eq(tr_kit_peer_status(peers[0]), TR_RESET);
    ck_assert_int_eq(tr_kit_peer_status(peers[1]), TR_OK);
    ck_assert_str_eq(tr_kit_receive_text(peers[1], TR_NEVER), "");
    ck_assert_int_eq(tr_kit_peer_status(peers[1]), TR_RESET);
    ck_assert_uint_eq(say(peers[1], "x"), 0);
    ck_assert_uint_eq(say(peers[0], "x"), 0);
    ck_assert_str_eq(tr_kit_receive_text(peers[0], TR_NEVER), "");
    tr_kit_finish(peers[0]);
    tr_kit_free(kit);
}

TEST(a_partition_hides_what_happens_behind_it, "C-14")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_kit_peer *peers[2];
    join(kit, ADDRESS, peers);
    tr_kit_partition(kit, &peers[0], 1, true);
    say(peers[0], "later");
    say(peers[1], "later, too");
    ck_assert_str_eq(tr_kit_receive_text(peers[1], TR_HOUR), "");
    tr_kit_partition(kit, &peers[0], 1, false);
    ck_assert_str_eq(tr_kit_receive_text(peers[1], 0), "later");
    ck_assert_str_eq(tr_kit_receive_text(peers[0], 0), "later, too");
    /* One side vanishes during the partition: the other learns it when it sends. */
    tr_kit_partition(kit, &peers[0], 1, true);
    tr_kit_reset(peers[0]);
    tr_kit_partition(kit, &peers[0], 1, false);
    ck_assert_int_eq(tr_kit_peer_status(peers[1]), TR_OK);
    say(peers[1], "still there?");
    ck_assert_int_eq(tr_kit_peer_status(peers[1]), TR_RESET);
    tr_kit_free(kit);
}

TEST(datagrams_go_from_peer_to_peer, "C-14")
{
    static const char *const addresses[][2] = {
        {"127.0.0.1:53", "127.0.0.1:54"}, {"[::1]:53", "[::1]:54"}, {"/run/a", "/run/b"}};
    for (size_t i = 0; i < 3; i++) {
        tr_kit *kit = tr_kit_new(NULL);
        tr_kit_peer *a = tr_kit_bind(kit, addresses[i][0]);
        tr_kit_peer *b = tr_kit_bind(kit, addresses[i][1]);
        ck_assert_ptr_null(tr_kit_bind(kit, addresses[i][1]));
        tr_address from = {0};
        tr_address is = tr_kit_peer_address(a);
        ck_assert_int_eq(tr_kit_send_to(a, addresses[i][1], (tr_bytes){"one", 3}), TR_OK);
        ck_assert_int_eq(tr_kit_send_to(a, addresses[i][1], (tr_bytes){NULL, 0}), TR_OK);
        tr_bytes bytes = tr_kit_receive_from(b, 0, &from);
        ck_assert_uint_eq(bytes.size, 3);
        ck_assert_int_eq(memcmp(bytes.data, "one", 3), 0);
        ck_assert(tr_address_is_equal(&from, &is));
        bytes = tr_kit_receive_from(b, 0, NULL);
        ck_assert_ptr_nonnull(bytes.data);
        ck_assert_uint_eq(bytes.size, 0);
        ck_assert_ptr_null(tr_kit_receive_from(b, TR_SECOND, NULL).data);
        static char large[65507];
        tr_bytes whole = {large, sizeof large};
        ck_assert_int_eq(tr_kit_send_to(a, addresses[i][1], whole), TR_OK);
        ck_assert_uint_eq(tr_kit_receive_from(b, 0, NULL).size, sizeof large);
        whole.size++;
        ck_assert_int_eq(tr_kit_send_to(a, addresses[i][1], whole), TR_TOO_LARGE);
        ck_assert_int_eq(tr_kit_send_to(a, "nowhere", whole), TR_ADDRESS_INVALID);
        tr_kit_partition(kit, &b, 1, true);
        ck_assert_int_eq(tr_kit_send_to(a, addresses[i][1], (tr_bytes){"lost", 4}), TR_OK);
        tr_kit_partition(kit, &b, 1, false);
        ck_assert_ptr_null(tr_kit_receive_from(b, 0, NULL).data);
        tr_kit_free(kit);
    }
}

/* Plays with delays and pieces of a seed. Returns the trace. */
static uint64_t trace_of(uint64_t seed)
{
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.seed = seed});
    tr_kit_peer *peers[2];
    join(kit, ADDRESS, peers);
    tr_kit_set_network(kit,
                       &(tr_kit_network){.delay_ns = TR_MILLISECOND,
                                         .jitter_ns = TR_SECOND,
                                         .piece_max = TR_KIT_RANDOM});
    for (int i = 0; i < 10; i++)
        say(peers[i % 2], "some bytes");
    for (int i = 0; i < 10; i++)
        (void)tr_kit_receive(peers[i % 2], TR_SECOND);
    uint64_t trace = tr_kit_trace(kit);
    tr_kit_free(kit);
    return trace;
}

TEST(the_trace_of_a_seed_has_the_network_in_it, "C-14", "V-01")
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ck_assert_uint_eq(trace_of(seed), trace_of(seed));
        ck_assert_uint_ne(trace_of(seed), trace_of(seed + 1));
    }
}

TEST(memory_that_is_refused_is_no_peer_and_no_bytes, "C-14", "U-03")
{
    tr_kit *kit = tr_kit_new(NULL);
    tr_kit_peer *peers[2];
    join(kit, ADDRESS, peers);
    tr_kit_fail_allocation(kit, 1, true);
    ck_assert_ptr_null(tr_kit_connect(kit, ADDRESS));
    ck_assert_ptr_null(tr_kit_accept(kit, "127.0.0.1:7001", 0));
    ck_assert_ptr_null(tr_kit_bind(kit, "127.0.0.1:7001"));
    ck_assert_uint_eq(say(peers[0], "x"), 0);
    ck_assert(!tr_kit_add_name(kit, "a", "127.0.0.1"));
    ck_assert(!tr_kit_fail_name(kit, "a", TR_TIMEOUT));
    tr_kit_fail_allocation(kit, 0, false);
    ck_assert_int_eq(tr_kit_peer_status(peers[0]), TR_OK);
    tr_kit_free(kit);
}

TEST_ABORTS(a_share_above_one_is_a_mistake, "C-14")
{
    tr_kit_set_network(tr_kit_new(NULL), &(tr_kit_network){.loses = 1.5});
}

TEST_ABORTS(a_call_that_does_not_exist_is_a_mistake, "C-14")
{
    tr_kit_fail_network(tr_kit_new(NULL), "fly", 1, TR_LIMIT);
}

TEST_ABORTS(a_datagram_peer_has_no_stream, "C-14")
{
    (void)tr_kit_receive(tr_kit_bind(tr_kit_new(NULL), ":0"), 0);
}

SUITE("kit net", nobody_listens_until_the_test_accepts, waiting_for_a_connection_takes_virtual_time,
      what_is_sent_is_received_in_time, a_receive_that_can_never_end_is_found,
      more_than_a_window_is_taken_in_parts, a_finish_is_seen_and_the_other_way_stays_open,
      a_reset_is_seen_by_both, a_partition_hides_what_happens_behind_it,
      datagrams_go_from_peer_to_peer, the_trace_of_a_seed_has_the_network_in_it,
      memory_that_is_refused_is_no_peer_and_no_bytes, a_share_above_one_is_a_mistake,
      a_call_that_does_not_exist_is_a_mistake, a_datagram_peer_has_no_stream)
