/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Streams of the virtual network: what real ones do, and nothing that a seed does not choose.
 */
#include "os/virtual_stream.h"
#include "support/virtual_net.h"

static const char all[] = "abcdefghijklmnopqrstuvwxyz";

TEST(bytes_split_anywhere_arrive_in_order, "C-14")
{
    for (size_t cut = 0; cut < sizeof all; cut++) {
        struct net_pair pair = net_pair_new(1, NULL);
        const tr_platform *table = pair.table;
        size_t sent;
        ck_assert_int_eq(net_send(table, pair.client, all, cut, &sent), TR_OK);
        ck_assert_uint_eq(sent, cut);
        net_say(table, pair.client, all + cut);
        ck_assert_str_eq(net_taken(table, pair.server), all);
        tr_bytes pieces[] = {{all, cut}, {NULL, 0}, {all + cut, sizeof all - 1 - cut}};
        ck_assert_int_eq(table->socket_send(table, pair.server, pieces, 3, &sent), TR_OK);
        ck_assert_uint_eq(sent, sizeof all - 1);
        ck_assert_str_eq(net_taken(table, pair.client), all);
        net_pair_free(&pair);
    }
}

TEST(a_receive_gets_pieces_of_the_size_that_is_set, "C-14")
{
    for (size_t piece = 1; piece < sizeof all; piece++) {
        struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.piece_max = piece});
        net_say(pair.table, pair.client, all);
        char byte[64];
        size_t got;
        ck_assert_int_eq(
            pair.table->socket_receive(pair.table, pair.server, byte, sizeof byte, &got), TR_OK);
        ck_assert_uint_eq(got, piece);
        ck_assert_str_eq(net_taken(pair.table, pair.server), all + piece);
        net_pair_free(&pair);
    }
}

/* Returns the sizes of the pieces in which 1,000 bytes arrive. */
static uint64_t pieces_of(uint64_t seed, size_t *count)
{
    struct net_pair pair =
        net_pair_new(seed, &(struct virtual_weather){.piece_max = VIRTUAL_PIECE_RANDOM});
    char sent[1000] = {0};
    char got_bytes[1000];
    size_t got;
    uint64_t sizes = 0;
    ck_assert_int_eq(net_send(pair.table, pair.client, sent, sizeof sent, &got), TR_OK);
    for (*count = 0; pair.table->socket_receive(
                         pair.table, pair.server, got_bytes, sizeof got_bytes, &got) == TR_OK;
         (*count)++)
        sizes = sizes * 1009 + got;
    net_pair_free(&pair);
    return sizes;
}

TEST(the_seed_chooses_the_pieces, "C-14")
{
    size_t count;
    size_t again;
    uint64_t sizes = pieces_of(7, &count);
    ck_assert_uint_gt(count, 1);
    ck_assert_uint_eq(pieces_of(7, &again), sizes);
    ck_assert_uint_eq(again, count);
    ck_assert_uint_ne(pieces_of(8, &again), sizes);
}

TEST(a_full_window_blocks_until_the_other_side_reads, "C-14")
{
    struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.window = 10});
    const tr_platform *table = pair.table;
    char three[3];
    size_t sent;
    ck_assert_int_eq(net_send(table, pair.client, all, 26, &sent), TR_OK);
    ck_assert_uint_eq(sent, 10);
    ck_assert_int_eq(net_send(table, pair.client, all, 1, &sent), TR_WOULD_BLOCK);
    ck_assert_int_eq(net_send(table, pair.client, all, 0, &sent), TR_OK);
    net_say(table, pair.server, "other way"); /* has a window of its own */
    ck_assert_int_eq(table->socket_receive(table, pair.server, three, 3, &sent), TR_OK);
    ck_assert_int_eq(net_send(table, pair.client, all + 10, 16, &sent), TR_OK);
    ck_assert_uint_eq(sent, 3);
    ck_assert_str_eq(net_taken(table, pair.server), "defghijklm");
    /* Without a setting it is 64 KiB. */
    tr__virtual_set_weather(pair.virtual, &(struct virtual_weather){0});
    static const char large[100000];
    ck_assert_int_eq(net_send(table, pair.client, large, sizeof large, &sent), TR_OK);
    ck_assert_uint_eq(sent, 64 * 1024);
    ck_assert_str_eq(net_taken(table, pair.client), "other way");
    net_pair_free(&pair);
}

TEST(a_side_that_has_finished_still_receives, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    size_t sent;
    net_say(table, pair.client, "question");
    table->socket_finish(table, pair.client);
    table->socket_finish(table, pair.client);
    ck_assert_int_eq(net_send(table, pair.client, "x", 1, &sent), TR_RESET);
    ck_assert_str_eq(net_taken(table, pair.server), "question.");
    ck_assert_str_eq(net_taken(table, pair.server), ".");
    net_say(table, pair.server, "answer");
    table->socket_close(table, pair.server, false);
    pair.server = 0;
    ck_assert_str_eq(net_taken(table, pair.client), "answer.");
    net_pair_free(&pair);
}

TEST(a_reset_at_every_byte_is_seen_after_what_has_come, "C-14")
{
    for (size_t cut = 0; cut < sizeof all; cut++) {
        struct net_pair pair = net_pair_new(1, NULL);
        const tr_platform *table = pair.table;
        char seen[sizeof all + 1] = "";
        size_t sent;
        ck_assert_int_eq(net_send(table, pair.client, all, cut, &sent), TR_OK);
        table->socket_close(table, pair.client, true);
        pair.client = 0;
        memcpy(seen, all, cut);
        seen[cut] = '!';
        ck_assert_str_eq(net_taken(table, pair.server), seen);
        ck_assert_int_eq(net_send(table, pair.server, "x", 1, &sent), TR_RESET);
        tr_address address;
        ck_assert_int_eq(table->socket_address(table, pair.server, true, &address), TR_RESET);
        net_pair_free(&pair);
    }
}

TEST(a_close_with_unread_bytes_is_a_reset, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    net_say(table, pair.client, "not read");
    table->socket_close(table, pair.server, false);
    pair.server = 0;
    ck_assert_str_eq(net_taken(table, pair.client), "!");
    net_pair_free(&pair);
}

TEST(bytes_for_a_closed_socket_are_answered_by_a_reset, "C-14")
{
    struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.delay_ns = TR_SECOND});
    const tr_platform *table = pair.table;
    table->socket_close(table, pair.server, false);
    pair.server = 0;
    net_say(table, pair.client, "too late");
    tr__virtual_advance(pair.virtual, TR_SECOND);
    ck_assert_str_eq(net_taken(table, pair.client), "."); /* the reset is on its way */
    size_t sent;
    ck_assert_int_eq(net_send(table, pair.client, "x", 1, &sent), TR_OK);
    tr__virtual_advance(pair.virtual, TR_SECOND);
    ck_assert_int_eq(net_send(table, pair.client, "x", 1, &sent), TR_RESET);
    net_pair_free(&pair);
}

TEST(what_is_sent_arrives_after_its_delay_in_order, "C-14")
{
    struct virtual_weather weather = {.delay_ns = TR_SECOND, .jitter_ns = 10 * TR_SECOND};
    struct net_pair pair = net_pair_new(3, &weather);
    const tr_platform *table = pair.table;
    tr_time start_ns = pair.virtual->mono;
    ck_assert_int_eq(tr__virtual_next_event_ns(pair.virtual), TR_NEVER);
    for (size_t i = 0; i < 26; i++)
        net_say(table, pair.client, (char[]){all[i], '\0'});
    table->socket_finish(table, pair.client);
    ck_assert_str_eq(net_taken(table, pair.server), "");
    tr_time next_ns = tr__virtual_next_event_ns(pair.virtual);
    ck_assert_int_ge(next_ns, start_ns + TR_SECOND);
    ck_assert_int_le(next_ns, start_ns + 11 * TR_SECOND);
    tr__virtual_advance_to(pair.virtual, next_ns - 1);
    ck_assert_str_eq(net_taken(table, pair.server), "");
    tr__virtual_advance_to(pair.virtual, next_ns);
    ck_assert_int_eq(net_taken(table, pair.server)[0], 'a');
    tr__virtual_advance_to(pair.virtual, start_ns + 11 * TR_SECOND);
    const char *rest = net_taken(table, pair.server);
    ck_assert_ptr_nonnull(strstr(all, (char[]){rest[0], '\0'}));
    ck_assert_int_eq(rest[strlen(rest) - 1], '.');
    ck_assert_int_eq(strncmp(rest, all + 26 - (strlen(rest) - 1), strlen(rest) - 1), 0);
    ck_assert_int_eq(tr__virtual_next_event_ns(pair.virtual), TR_NEVER);
    net_pair_free(&pair);
}

TEST(a_connect_takes_a_round_trip, "C-14")
{
    struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.delay_ns = TR_SECOND});
    const tr_platform *table = pair.table;
    int fd;
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7000", &fd), TR_WOULD_BLOCK);
    int nobody;
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7001", &nobody),
                     TR_WOULD_BLOCK);
    size_t got;
    ck_assert_int_eq(net_send(table, fd, "x", 1, &got), TR_WOULD_BLOCK);
    ck_assert_int_eq(table->socket_receive(table, fd, &got, 1, &got), TR_WOULD_BLOCK);
    ck_assert_int_eq(net_accept(table, pair.listener), -1);
    tr__virtual_advance(pair.virtual, TR_SECOND);
    int accepted = net_accept(table, pair.listener);
    ck_assert_int_gt(accepted, 0);
    net_say(table, accepted, "hello");
    ck_assert_int_eq(table->socket_outcome(table, fd), TR_WOULD_BLOCK);
    ck_assert_int_eq(table->socket_outcome(table, nobody), TR_WOULD_BLOCK);
    tr__virtual_advance(pair.virtual, TR_SECOND);
    ck_assert_int_eq(table->socket_outcome(table, fd), TR_OK);
    ck_assert_str_eq(net_taken(table, fd), "hello");
    ck_assert_int_eq(table->socket_outcome(table, nobody), TR_CONNECT_REFUSED);
    ck_assert_int_eq(table->socket_receive(table, nobody, &got, 1, &got), TR_CONNECT_REFUSED);
    table->socket_close(table, fd, false);
    table->socket_close(table, nobody, true);
    table->socket_close(table, accepted, false);
    net_pair_free(&pair);
}

TEST(an_address_has_one_listener_unless_they_share_it, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    int fd;
    int other;
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_LISTEN, "127.0.0.1:7000", &fd),
                     TR_ADDRESS_IN_USE);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_LISTEN, "0.0.0.0:7000", &fd), TR_ADDRESS_IN_USE);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_LISTEN, ":7000", &fd), TR_ADDRESS_IN_USE);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_LISTEN, "10.0.0.1:7000", &fd), TR_OK);
    table->socket_close(table, fd, false);
    tr_socket_spec only_v6 = net_spec(TR_SOCKET_LISTEN, "[::]:7000");
    only_v6.only_v6 = true;
    ck_assert_int_eq(table->socket_open(table, &only_v6, &fd), TR_OK);
    table->socket_close(table, fd, false);
    table->socket_close(table, pair.listener, false);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_LISTEN, "127.0.0.1:7000", &fd), TR_OK);
    table->socket_close(table, fd, false);

    tr_socket_spec shared = net_spec(TR_SOCKET_LISTEN, ":7000");
    shared.reuses_port = true;
    ck_assert_int_eq(table->socket_open(table, &shared, &pair.listener), TR_OK);
    ck_assert_int_eq(table->socket_open(table, &shared, &other), TR_OK);
    int counts[2] = {0};
    for (int i = 0; i < 40; i++) {
        int client = net_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7000");
        int first = net_accept(table, pair.listener);
        int server = first > 0 ? first : net_accept(table, other);
        counts[first > 0]++;
        table->socket_close(table, client, false);
        table->socket_close(table, server, false);
    }
    ck_assert_int_gt(counts[0], 5);
    ck_assert_int_gt(counts[1], 5);
    table->socket_close(table, other, false);
    net_pair_free(&pair);
}

TEST(port_zero_gets_a_free_port, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    int fds[3];
    for (int i = 0; i < 3; i++) {
        tr_address address;
        fds[i] = net_open(table, TR_SOCKET_LISTEN, "127.0.0.1:0");
        ck_assert_int_eq(table->socket_address(table, fds[i], false, &address), TR_OK);
        ck_assert_uint_ge(address.port, VIRTUAL_FIRST_PORT);
        char text[TR_ADDRESS_TEXT_MAX];
        int client = net_open(table, TR_SOCKET_CONNECT, tr_address_print(&address, text));
        ck_assert_int_eq(table->socket_outcome(table, client), TR_OK);
        table->socket_close(table, client, false);
    }
    for (int i = 0; i < 3; i++)
        table->socket_close(table, fds[i], false);
    net_pair_free(&pair);
}

TEST(both_ends_know_both_addresses, "C-14")
{
    struct net_pair pair = net_pair_at(1, NULL, "[::1]:7000");
    const tr_platform *table = pair.table;
    tr_address here;
    tr_address there;
    for (int of_peer = 0; of_peer < 2; of_peer++) {
        ck_assert_int_eq(table->socket_address(table, pair.client, of_peer, &here), TR_OK);
        ck_assert_int_eq(table->socket_address(table, pair.server, !of_peer, &there), TR_OK);
        ck_assert(tr_address_is_equal(&here, &there));
        ck_assert_int_eq(here.port == 7000, of_peer);
    }
    ck_assert_int_eq(table->socket_address(table, pair.listener, true, &here), TR_INVALID_ARGUMENT);
    tr_socket_spec spec = net_spec(TR_SOCKET_CONNECT, "[::1]:7000");
    ck_assert_int_eq(tr_address_parse("[::7]:99", &spec.source), TR_OK);
    int fd;
    int accepted;
    ck_assert_int_eq(table->socket_open(table, &spec, &fd), TR_WOULD_BLOCK);
    ck_assert_int_eq(table->socket_accept(table, pair.listener, &accepted, &here), TR_OK);
    ck_assert(tr_address_is_equal(&here, &spec.source));
    table->socket_close(table, fd, false);
    table->socket_close(table, accepted, false);
    net_pair_free(&pair);
}

TEST(every_address_takes_connections_of_both_families, "C-14")
{
    struct net_pair pair = net_pair_at(1, NULL, ":7000");
    const tr_platform *table = pair.table;
    int v4 = net_open(table, TR_SOCKET_CONNECT, "10.1.2.3:7000");
    int accepted;
    tr_address peer;
    ck_assert_int_eq(table->socket_outcome(table, v4), TR_OK);
    ck_assert_int_eq(table->socket_accept(table, pair.listener, &accepted, &peer), TR_OK);
    ck_assert_uint_eq(peer.family, TR_FAMILY_V4);
    ck_assert_int_eq(table->socket_address(table, accepted, false, &peer), TR_OK);
    ck_assert_uint_eq(peer.host[0], 10);
    table->socket_close(table, v4, false);
    table->socket_close(table, accepted, false);
    net_pair_free(&pair);
}

TEST(a_path_is_a_name_of_the_network, "C-14")
{
    struct net_pair pair = net_pair_at(1, NULL, "/run/troupe.sock");
    const tr_platform *table = pair.table;
    int fd;
    tr_address address;
    char longer[VIRTUAL_PATH_MAX + 1];
    memset(longer, '/', VIRTUAL_PATH_MAX);
    longer[VIRTUAL_PATH_MAX] = '\0';
    net_say(table, pair.client, "by path");
    ck_assert_str_eq(net_taken(table, pair.server), "by path");
    ck_assert_int_eq(table->socket_address(table, pair.client, true, &address), TR_OK);
    ck_assert_uint_eq(address.family, TR_FAMILY_UNIX);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_LISTEN, "/run/troupe.sock", &fd),
                     TR_ADDRESS_IN_USE);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_CONNECT, "/run/other", &fd), TR_CONNECT_REFUSED);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_LISTEN, longer, &fd), TR_ADDRESS_INVALID);
    tr_socket_spec spec = net_spec(TR_SOCKET_LISTEN, "/x");
    spec.path = NULL;
    ck_assert_int_eq(table->socket_open(table, &spec, &fd), TR_ADDRESS_INVALID);
    spec.path = "fd:3";
    ck_assert_int_eq(table->socket_open(table, &spec, &fd), TR_NOT_SUPPORTED);
    net_pair_free(&pair);
}

TEST(a_full_backlog_keeps_connects_waiting, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    tr_socket_spec spec = net_spec(TR_SOCKET_LISTEN, "127.0.0.1:8000");
    spec.backlog = 2;
    int listener;
    int clients[4];
    ck_assert_int_eq(table->socket_open(table, &spec, &listener), TR_OK);
    for (int i = 0; i < 4; i++)
        clients[i] = net_open(table, TR_SOCKET_CONNECT, "127.0.0.1:8000");
    ck_assert_int_eq(table->socket_outcome(table, clients[1]), TR_OK);
    ck_assert_int_eq(table->socket_outcome(table, clients[2]), TR_WOULD_BLOCK);
    int accepted = net_accept(table, listener);
    ck_assert_int_eq(table->socket_outcome(table, clients[2]), TR_OK);
    ck_assert_int_eq(table->socket_outcome(table, clients[3]), TR_WOULD_BLOCK);
    table->socket_close(table, listener, false); /* nobody accepts the others */
    ck_assert_int_eq(table->socket_outcome(table, clients[0]), TR_OK);
    ck_assert_int_eq(table->socket_outcome(table, clients[1]), TR_RESET);
    ck_assert_int_eq(table->socket_outcome(table, clients[2]), TR_RESET);
    ck_assert_int_eq(table->socket_outcome(table, clients[3]), TR_CONNECT_REFUSED);
    for (int i = 0; i < 4; i++)
        table->socket_close(table, clients[i], false);
    table->socket_close(table, accepted, false);
    net_pair_free(&pair);
}

TEST(a_connect_can_be_given_up_at_any_time, "C-14")
{
    for (tr_time after_ns = 0; after_ns <= 4; after_ns++) {
        for (int resets = 0; resets < 2; resets++) {
            struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.delay_ns = 2});
            const tr_platform *table = pair.table;
            int fd = net_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7000");
            int nobody = net_open(table, TR_SOCKET_CONNECT, "127.0.0.1:7001");
            tr__virtual_advance(pair.virtual, after_ns);
            table->socket_close(table, fd, resets);
            table->socket_close(table, nobody, resets);
            tr__virtual_advance(pair.virtual, 10);
            int accepted = -1;
            tr_status status = table->socket_accept(table, pair.listener, &accepted, NULL);
            tr_status closed = resets ? TR_RESET : TR_OK;
            ck_assert_int_eq(status, after_ns < 2 ? TR_WOULD_BLOCK : closed);
            if (status == TR_OK) {
                ck_assert_str_eq(net_taken(table, accepted), ".");
                table->socket_close(table, accepted, false);
            }
            net_pair_free(&pair);
        }
    }
}

TEST(a_cut_connection_lets_nothing_through, "C-14")
{
    struct net_pair pair = net_pair_new(1, &(struct virtual_weather){.window = 8});
    const tr_platform *table = pair.table;
    struct virtual_socket *client = tr__virtual_socket_find(&pair.virtual->net, pair.client);
    size_t sent;
    net_say(table, pair.client, "before");
    tr__virtual_stream_cut(client, true);
    net_say(table, pair.client, "no");
    ck_assert_str_eq(net_taken(table, pair.server), "before");
    /* Its sender does not know that the window is open again. */
    ck_assert_int_eq(net_send(table, pair.client, "more", 4, &sent), TR_WOULD_BLOCK);
    table->socket_finish(table, pair.client);
    net_say(table, pair.server, "yes");
    ck_assert_str_eq(net_taken(table, pair.client), "");
    ck_assert_str_eq(net_taken(table, pair.server), "");
    tr__virtual_stream_cut(client, false);
    ck_assert_str_eq(net_taken(table, pair.server), "no.");
    ck_assert_str_eq(net_taken(table, pair.client), "yes");
    net_pair_free(&pair);
}

TEST(a_reset_during_a_cut_is_found_out_by_the_next_bytes, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    struct virtual_socket *server = tr__virtual_socket_find(&pair.virtual->net, pair.server);
    tr__virtual_stream_cut(server, true);
    table->socket_close(table, pair.client, true);
    pair.client = 0;
    ck_assert_str_eq(net_taken(table, pair.server), "");
    tr__virtual_stream_cut(server, false);
    ck_assert_str_eq(net_taken(table, pair.server), ""); /* half open */
    net_say(table, pair.server, "still there?");
    ck_assert_str_eq(net_taken(table, pair.server), "!");
    net_pair_free(&pair);
}

TEST(bad_calls_are_refused, "C-14", "U-02")
{
    struct net_pair pair = net_pair_new(1, NULL);
    const tr_platform *table = pair.table;
    char byte;
    size_t got;
    int fd;
    tr_address address;
    tr_packet packet = {.data = &byte, .capacity = 1};
    const int wrong[] = {-1, 0, 1, VIRTUAL_FIRST_FD - 1, VIRTUAL_FIRST_FD + 1024, pair.listener};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(table->socket_outcome(table, wrong[i]), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(table->socket_receive(table, wrong[i], &byte, 1, &got),
                         TR_INVALID_ARGUMENT);
        ck_assert_int_eq(net_send(table, wrong[i], "x", 1, &got), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(table->socket_receive_many(table, wrong[i], &packet, 1, &got, NULL),
                         TR_INVALID_ARGUMENT);
        ck_assert_int_eq(table->socket_send_many(table, wrong[i], &packet, 1, &got),
                         TR_INVALID_ARGUMENT);
        if (wrong[i] == pair.listener)
            break;
        ck_assert_int_eq(table->socket_accept(table, wrong[i], &fd, NULL), TR_INVALID_ARGUMENT);
        ck_assert_int_eq(table->socket_address(table, wrong[i], false, &address),
                         TR_INVALID_ARGUMENT);
        ck_assert_int_eq(table->io_watch(table, pair.parker, wrong[i], 1), TR_INVALID_ARGUMENT);
        table->io_unwatch(table, pair.parker, wrong[i]);
    }
    ck_assert_int_eq(table->socket_accept(table, pair.client, &fd, NULL), TR_INVALID_ARGUMENT);
    tr_socket_spec spec = {.size = sizeof spec};
    ck_assert_int_eq(table->socket_open(table, &spec, &fd), TR_ADDRESS_INVALID);
    spec = net_spec(TR_SOCKET_LISTEN, "127.0.0.1:1");
    spec.is_datagram = true;
    ck_assert_int_eq(table->socket_open(table, &spec, &fd), TR_INVALID_ARGUMENT);
    spec.size = 1;
    ck_assert_int_eq(table->socket_open(table, &spec, &fd), TR_INVALID_ARGUMENT);
    net_pair_free(&pair);
}

TEST_ABORTS(a_descriptor_that_is_closed_twice_is_found, "C-14")
{
    struct net_pair pair = net_pair_new(1, NULL);
    pair.table->socket_close(pair.table, pair.client, false);
    pair.table->socket_close(pair.table, pair.client, false);
}

SUITE("os virtual net", bytes_split_anywhere_arrive_in_order,
      a_receive_gets_pieces_of_the_size_that_is_set, the_seed_chooses_the_pieces,
      a_full_window_blocks_until_the_other_side_reads, a_side_that_has_finished_still_receives,
      a_reset_at_every_byte_is_seen_after_what_has_come, a_close_with_unread_bytes_is_a_reset,
      bytes_for_a_closed_socket_are_answered_by_a_reset,
      what_is_sent_arrives_after_its_delay_in_order, a_connect_takes_a_round_trip,
      an_address_has_one_listener_unless_they_share_it, port_zero_gets_a_free_port,
      both_ends_know_both_addresses, every_address_takes_connections_of_both_families,
      a_path_is_a_name_of_the_network, a_full_backlog_keeps_connects_waiting,
      a_connect_can_be_given_up_at_any_time, a_cut_connection_lets_nothing_through,
      a_reset_during_a_cut_is_found_out_by_the_next_bytes, bad_calls_are_refused,
      a_descriptor_that_is_closed_twice_is_found)
