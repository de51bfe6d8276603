/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Datagrams of the virtual network, and its names.
 */
#include "os/virtual_datagram.h"
#include "os/virtual_names.h"
#include "support/virtual_net.h"

/* Three sockets: two that are bound, one that is connected to the first. */
struct post {
    struct virtual_platform *virtual;
    const tr_platform *table;
    int first;
    int second;
    int client;
};

static tr_status open_connected(const tr_platform *table, const char *where, int *fd)
{
    tr_socket_spec spec = net_spec(TR_SOCKET_CONNECT, where);
    spec.is_datagram = true;
    return table->socket_open(table, &spec, fd);
}

static struct post post_new(uint64_t seed, const struct virtual_weather *weather)
{
    struct post post = {.virtual = tr__virtual_new(seed)};
    post.table = &post.virtual->table;
    if (weather)
        tr__virtual_set_weather(post.virtual, weather);
    post.first = net_open(post.table, TR_SOCKET_BIND, "127.0.0.1:5000");
    post.second = net_open(post.table, TR_SOCKET_BIND, "127.0.0.1:5001");
    ck_assert_int_eq(open_connected(post.table, "127.0.0.1:5000", &post.client), TR_OK);
    return post;
}

static void post_free(struct post *post)
{
    const int fds[] = {post->first, post->second, post->client};
    for (size_t i = 0; i < 3; i++) {
        if (fds[i])
            post->table->socket_close(post->table, fds[i], false);
    }
    tr__virtual_clear(post->virtual);
    ck_assert_uint_eq(tr__virtual_live_blocks(post->virtual), 0);
    tr__virtual_free(post->virtual);
}

/* Sends a text to an address; NULL: to that of the connection. */
static tr_status throw_one(const tr_platform *table, int fd, const char *to, const char *text)
{
    tr_packet packet = {.data = (void *)(uintptr_t)text, .size = strlen(text)};
    size_t sent = 0;
    if (to)
        ck_assert_int_eq(tr_address_parse(to, &packet.address), TR_OK);
    tr_status status = table->socket_send_many(table, fd, &packet, 1, &sent);
    ck_assert_uint_eq(sent, status == TR_OK);
    return status;
}

/* Receives one datagram as a text; "": there is none. */
static const char *catch_one(const tr_platform *table, int fd, tr_address *from)
{
    static char text[100];
    tr_packet packet = {.data = text, .capacity = sizeof text - 1};
    size_t count = 0;
    uint64_t lost;
    tr_status status = table->socket_receive_many(table, fd, &packet, 1, &count, &lost);
    ck_assert(status == TR_OK || status == TR_WOULD_BLOCK);
    text[status == TR_OK ? packet.size : 0] = '\0';
    if (from && status == TR_OK)
        *from = packet.address;
    return text;
}

TEST(datagrams_come_whole_with_the_address_of_their_sender, "C-14")
{
    struct post post = post_new(1, NULL);
    const tr_platform *table = post.table;
    tr_address from;
    char text[TR_ADDRESS_TEXT_MAX];
    ck_assert_int_eq(throw_one(table, post.client, NULL, "one"), TR_OK);
    ck_assert_int_eq(throw_one(table, post.second, "127.0.0.1:5000", "two"), TR_OK);
    ck_assert_int_eq(throw_one(table, post.client, "127.0.0.1:5001", "three"), TR_OK);
    ck_assert_str_eq(catch_one(table, post.first, &from), "one");
    ck_assert_int_eq(throw_one(table, post.first, tr_address_print(&from, text), "answer"), TR_OK);
    ck_assert_str_eq(catch_one(table, post.client, &from), "answer");
    ck_assert_uint_eq(from.port, 5000);
    ck_assert_str_eq(catch_one(table, post.first, &from), "two");
    ck_assert_uint_eq(from.port, 5001);
    ck_assert_str_eq(catch_one(table, post.first, NULL), "");
    ck_assert_str_eq(catch_one(table, post.second, NULL), "three");
    /* A connected socket takes only what its other side sends. */
    ck_assert_int_eq(table->socket_address(table, post.client, false, &from), TR_OK);
    ck_assert_int_eq(throw_one(table, post.second, tr_address_print(&from, text), "stranger"),
                     TR_OK);
    ck_assert_str_eq(catch_one(table, post.client, NULL), "");
    post_free(&post);
}

TEST(many_are_sent_and_received_at_once, "C-14")
{
    struct post post = post_new(1, NULL);
    char data[5][4] = {"a", "bb", "", "ccc", "dddd"};
    tr_packet packets[5];
    size_t count;
    uint64_t lost = 9;
    for (int i = 0; i < 5; i++)
        packets[i] = (tr_packet){.data = data[i], .size = i == 4 ? 4 : strlen(data[i])};
    ck_assert_int_eq(post.table->socket_send_many(post.table, post.client, packets, 5, &count),
                     TR_OK);
    ck_assert_uint_eq(count, 5);
    char got[5][3];
    for (int i = 0; i < 5; i++)
        packets[i] = (tr_packet){.data = got[i], .capacity = 3};
    ck_assert_int_eq(
        post.table->socket_receive_many(post.table, post.first, packets, 4, &count, &lost), TR_OK);
    ck_assert_uint_eq(count, 4);
    ck_assert_uint_eq(packets[2].size, 0);
    ck_assert_uint_eq(packets[3].size, 3);
    ck_assert_uint_eq(lost, 0);
    ck_assert_int_eq(
        post.table->socket_receive_many(post.table, post.first, packets, 4, &count, &lost), TR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(packets[0].size, 4); /* more than there was space for */
    ck_assert_int_eq(memcmp(got[0], "ddd", 3), 0);
    post_free(&post);
}

TEST(what_cannot_be_sent_says_why, "C-14")
{
    struct post post = post_new(1, &(struct virtual_weather){.datagram_max = 10});
    const tr_platform *table = post.table;
    ck_assert_int_eq(throw_one(table, post.client, NULL, "ten bytes."), TR_OK);
    ck_assert_int_eq(throw_one(table, post.client, NULL, "more than 10"), TR_TOO_LARGE);
    ck_assert_int_eq(throw_one(table, post.first, NULL, "to whom?"), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(throw_one(table, post.first, "[::1]:5000", "v6"), TR_UNREACHABLE);
    tr_packet packets[] = {{.data = "ok", .size = 2}, {.data = "much too large", .size = 14}};
    size_t sent;
    ck_assert_int_eq(table->socket_send_many(table, post.client, packets, 2, &sent), TR_OK);
    ck_assert_uint_eq(sent, 1);
    int fd;
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_BIND, "127.0.0.1:5000", &fd), TR_ADDRESS_IN_USE);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_LISTEN, "127.0.0.1:5000", &fd), TR_OK);
    table->socket_close(table, fd, false); /* ports of streams are others */
    post_free(&post);
}

TEST(a_datagram_for_nobody_is_refused_by_the_next_call, "C-14")
{
    struct post post = post_new(1, NULL);
    const tr_platform *table = post.table;
    tr_packet packet = {0};
    size_t count;
    uint64_t lost;
    table->socket_close(table, post.first, false);
    post.first = 0;
    ck_assert_int_eq(throw_one(table, post.client, NULL, "x"), TR_OK);
    ck_assert_int_eq(table->socket_receive_many(table, post.client, &packet, 1, &count, &lost),
                     TR_CONNECT_REFUSED);
    ck_assert_int_eq(table->socket_receive_many(table, post.client, &packet, 1, &count, &lost),
                     TR_WOULD_BLOCK);
    ck_assert_int_eq(throw_one(table, post.client, NULL, "x"), TR_OK);
    ck_assert_int_eq(throw_one(table, post.client, NULL, "x"), TR_CONNECT_REFUSED);
    /* One that is not connected does not learn it. */
    ck_assert_int_eq(throw_one(table, post.second, "127.0.0.1:5000", "x"), TR_OK);
    ck_assert_str_eq(catch_one(table, post.second, NULL), "");
    post_free(&post);
}

TEST(datagrams_that_find_no_space_are_lost_and_counted, "C-14")
{
    struct post post = post_new(1, &(struct virtual_weather){.window = 10});
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(throw_one(post.table, post.client, NULL, "four"), TR_OK);
    char byte;
    tr_packet packets[5] = {{.data = &byte}, {.data = &byte}, {.data = &byte}};
    size_t count;
    uint64_t lost;
    ck_assert_int_eq(
        post.table->socket_receive_many(post.table, post.first, packets, 5, &count, &lost), TR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(lost, 3);
    post_free(&post);
}

/* Sends the letters a to z. Returns those that arrive, as they arrive. */
static const char *letters(uint64_t seed, double loses, double reorders)
{
    static char seen[30];
    struct post post =
        post_new(seed, &(struct virtual_weather){.loses = loses, .reorders = reorders});
    size_t size = 0;
    for (char c = 'a'; c <= 'z'; c++)
        ck_assert_int_eq(throw_one(post.table, post.client, NULL, (char[]){c, '\0'}), TR_OK);
    for (;;) {
        const char *text;
        while (*(text = catch_one(post.table, post.first, NULL)))
            seen[size++] = *text;
        tr_time next_ns = tr__virtual_next_event_ns(post.virtual);
        if (next_ns == TR_NEVER)
            break;
        tr__virtual_advance_to(post.virtual, next_ns);
    }
    seen[size] = '\0';
    post_free(&post);
    return seen;
}

static bool is_sorted(const char *text)
{
    for (; text[0] && text[1]; text++) {
        if (text[0] > text[1])
            return false;
    }
    return true;
}

TEST(the_seed_chooses_what_is_lost_and_overtaken, "C-14")
{
    char first[30];
    ck_assert_str_eq(letters(1, 0, 0), "abcdefghijklmnopqrstuvwxyz");
    ck_assert_str_eq(letters(1, 1, 0), "");
    memcpy(first, letters(5, 0.3, 0), sizeof first);
    ck_assert_uint_gt(strlen(first), 10);
    ck_assert_uint_lt(strlen(first), 26);
    ck_assert(is_sorted(first));
    ck_assert_str_eq(letters(5, 0.3, 0), first);
    ck_assert_str_ne(letters(6, 0.3, 0), first);
    memcpy(first, letters(5, 0, 0.3), sizeof first);
    ck_assert_uint_eq(strlen(first), 26);
    ck_assert(!is_sorted(first));
    ck_assert_str_eq(letters(5, 0, 0.3), first);
    ck_assert_str_ne(letters(6, 0, 0.3), first);
}

TEST(a_cut_socket_loses_both_ways, "C-14")
{
    struct post post = post_new(1, NULL);
    const tr_platform *table = post.table;
    struct virtual_socket *first = tr__virtual_socket_find(&post.virtual->net, post.first);
    tr__virtual_datagram_cut(first, true);
    ck_assert_int_eq(throw_one(table, post.client, NULL, "lost"), TR_OK);
    ck_assert_int_eq(throw_one(table, post.first, "127.0.0.1:5001", "lost"), TR_OK);
    tr__virtual_datagram_cut(first, false);
    ck_assert_int_eq(throw_one(table, post.client, NULL, "found"), TR_OK);
    ck_assert_str_eq(catch_one(table, post.first, NULL), "found");
    ck_assert_str_eq(catch_one(table, post.second, NULL), "");
    post_free(&post);
}

TEST(a_socket_at_every_address_answers_both_families, "C-14")
{
    struct post post = post_new(1, NULL);
    const tr_platform *table = post.table;
    int any = net_open(table, TR_SOCKET_BIND, ":5002");
    tr_address from;
    char text[TR_ADDRESS_TEXT_MAX];
    ck_assert_int_eq(throw_one(table, post.first, "127.0.0.1:5002", "question"), TR_OK);
    ck_assert_str_eq(catch_one(table, any, &from), "question");
    ck_assert_int_eq(throw_one(table, any, tr_address_print(&from, text), "answer"), TR_OK);
    ck_assert_str_eq(catch_one(table, post.first, &from), "answer");
    ck_assert_str_eq(tr_address_print(&from, text), "127.0.0.1:5002");
    table->socket_close(table, any, false);
    post_free(&post);
}

TEST(datagrams_of_unix_sockets_block_instead_of_being_lost, "C-14")
{
    struct virtual_weather weather = {.window = 8, .loses = 1, .delay_ns = TR_SECOND};
    struct post post = post_new(1, &weather);
    const tr_platform *table = post.table;
    tr_parker *parker;
    tr_io_event event;
    int server = net_open(table, TR_SOCKET_BIND, "/run/log");
    int client;
    ck_assert_int_eq(open_connected(table, "/run/none", &client), TR_CONNECT_REFUSED);
    ck_assert_int_eq(open_connected(table, "/run/log", &client), TR_OK);
    ck_assert_int_eq(table->parker_new(table, &parker), TR_OK);
    ck_assert_int_eq(table->io_watch(table, parker, client, 5), TR_OK);
    ck_assert_uint_eq(table->io_poll(table, parker, &event, 1), 1);
    ck_assert_int_eq(throw_one(table, client, NULL, "12345"), TR_OK);
    ck_assert_int_eq(throw_one(table, client, NULL, "6789"), TR_WOULD_BLOCK);
    ck_assert_uint_eq(table->io_poll(table, parker, &event, 1), 0);
    ck_assert_str_eq(catch_one(table, server, NULL), "12345");
    ck_assert_uint_eq(table->io_poll(table, parker, &event, 1), 1);
    ck_assert_uint_eq(event.what, TR_IO_OUT);
    ck_assert_int_eq(throw_one(table, client, NULL, "6789"), TR_OK);
    table->socket_close(table, server, false);
    ck_assert_int_eq(throw_one(table, client, NULL, "x"), TR_CONNECT_REFUSED);
    table->socket_close(table, client, false);
    table->parker_free(table, parker);
    post_free(&post);
}

TEST(datagrams_are_reported_when_none_was_there, "C-14")
{
    struct post post = post_new(1, NULL);
    const tr_platform *table = post.table;
    tr_parker *parker;
    tr_io_event event = {0};
    ck_assert_int_eq(table->parker_new(table, &parker), TR_OK);
    ck_assert_int_eq(table->io_watch(table, parker, post.first, 5), TR_OK);
    ck_assert_uint_eq(table->io_poll(table, parker, &event, 1), 1);
    ck_assert_uint_eq(event.what, TR_IO_OUT);
    ck_assert_int_eq(throw_one(table, post.client, NULL, "one"), TR_OK);
    ck_assert_uint_eq(table->io_poll(table, parker, &event, 1), 1);
    ck_assert_uint_eq(event.what, TR_IO_IN | TR_IO_OUT);
    ck_assert_int_eq(throw_one(table, post.client, NULL, "two"), TR_OK);
    ck_assert_uint_eq(table->io_poll(table, parker, &event, 1), 0);
    table->parker_free(table, parker);
    post_free(&post);
}

TEST(memory_that_is_refused_is_a_status, "C-14", "U-03")
{
    struct post post = post_new(1, NULL);
    const tr_platform *table = post.table;
    int fd;
    tr__virtual_fail_allocation(post.virtual, 1, true);
    ck_assert_int_eq(throw_one(table, post.client, NULL, "x"), TR_NO_MEMORY);
    ck_assert_int_eq(net_try_open(table, TR_SOCKET_BIND, ":0", &fd), TR_NO_MEMORY);
    tr_address address = {.family = TR_FAMILY_V4};
    ck_assert_int_eq(tr__virtual_names_add(&post.virtual->net, "x", &address, TR_OK), TR_NO_MEMORY);
    tr__virtual_fail_allocation(post.virtual, 0, false);
    tr__virtual_set_weather(post.virtual, &(struct virtual_weather){.delay_ns = 1});
    ck_assert_int_eq(throw_one(table, post.client, NULL, "still on its way at the end"), TR_OK);
    post_free(&post);
}

TEST(names_come_from_the_table_of_the_test, "C-14")
{
    struct post post = post_new(1, NULL);
    const tr_platform *table = post.table;
    struct virtual_net *net = &post.virtual->net;
    tr_address found[4];
    tr_address first;
    tr_address second;
    size_t count = 0;
    char text[TR_ADDRESS_TEXT_MAX];
    ck_assert_int_eq(tr_address_parse("10.0.0.1:0", &first), TR_OK);
    ck_assert_int_eq(tr_address_parse("[fe80::1]:0", &second), TR_OK);
    ck_assert_int_eq(tr__virtual_names_add(net, "db.example", &first, TR_OK), TR_OK);
    ck_assert_int_eq(tr__virtual_names_add(net, "db.example", &second, TR_OK), TR_OK);
    ck_assert_int_eq(tr__virtual_names_add(net, "slow.example", NULL, TR_TIMEOUT), TR_OK);
    ck_assert_int_eq(table->resolve(table, "DB.example", 5432, found, 4, &count), TR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(tr_address_print(&found[0], text), "10.0.0.1:5432");
    ck_assert_str_eq(tr_address_print(&found[1], text), "[fe80::1]:5432");
    ck_assert_int_eq(table->resolve(table, "db.example", 1, found, 1, &count), TR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(table->resolve(table, "slow.example", 1, found, 4, &count), TR_TIMEOUT);
    ck_assert_int_eq(table->resolve(table, "nobody.example", 1, found, 4, &count),
                     TR_ADDRESS_INVALID);
    ck_assert_int_eq(table->resolve(table, "", 1, found, 4, &count), TR_ADDRESS_INVALID);
    ck_assert_int_eq(table->resolve(table, "::1", 7, found, 4, &count), TR_OK);
    ck_assert_str_eq(tr_address_print(&found[0], text), "[::1]:7");
    ck_assert_int_eq(table->resolve(table, "127.0.0.1", 7, found, 4, &count), TR_OK);
    ck_assert_str_eq(tr_address_print(&found[0], text), "127.0.0.1:7");
    tr__virtual_net_fail(net, VIRTUAL_CALL_RESOLVE, 1, TR_NO_MEMORY);
    ck_assert_int_eq(table->resolve(table, "::1", 7, found, 4, &count), TR_NO_MEMORY);
    post_free(&post);
}

SUITE("os virtual datagram", datagrams_come_whole_with_the_address_of_their_sender,
      many_are_sent_and_received_at_once, what_cannot_be_sent_says_why,
      a_datagram_for_nobody_is_refused_by_the_next_call,
      datagrams_that_find_no_space_are_lost_and_counted,
      the_seed_chooses_what_is_lost_and_overtaken, a_cut_socket_loses_both_ways,
      a_socket_at_every_address_answers_both_families,
      datagrams_of_unix_sockets_block_instead_of_being_lost,
      datagrams_are_reported_when_none_was_there, memory_that_is_refused_is_a_status,
      names_come_from_the_table_of_the_test)
