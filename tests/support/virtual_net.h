/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sockets of a virtual platform, for tests of its network: short calls of the table.
 */
#ifndef TROUPE_TESTS_SUPPORT_VIRTUAL_NET_H
#define TROUPE_TESTS_SUPPORT_VIRTUAL_NET_H

#include "os/virtual_socket.h"
#include "support/test.h"

#include <string.h>

/** A platform, a listener and a connection to it, with both ends. */
struct net_pair {
    struct virtual_platform *virtual;
    const tr_platform *table;
    tr_parker *parker;
    int listener;
    int client;
    int server;
};

static inline tr_socket_spec net_spec(tr_socket_role role, const char *where)
{
    tr_socket_spec spec = {.size = sizeof spec, .role = role};
    if (*where == '/') {
        spec.address.family = TR_FAMILY_UNIX;
        spec.path = where;
    } else if (tr_address_parse(where, &spec.address) != TR_OK) {
        ck_abort_msg("not an address: %s", where);
    }
    spec.is_datagram = role == TR_SOCKET_BIND;
    return spec;
}

static inline tr_status net_try_open(const tr_platform *table, tr_socket_role role,
                                     const char *where, int *fd)
{
    tr_socket_spec spec = net_spec(role, where);
    return table->socket_open(table, &spec, fd);
}

static inline int net_open(const tr_platform *table, tr_socket_role role, const char *where)
{
    int fd = -1;
    tr_status status = net_try_open(table, role, where, &fd);
    if (status != TR_OK && status != TR_WOULD_BLOCK)
        ck_abort_msg("%s: %s", where, tr_status_name(status));
    return fd;
}

/** Accepts what is there; -1: nothing. */
static inline int net_accept(const tr_platform *table, int listener)
{
    int fd = -1;
    return table->socket_accept(table, listener, &fd, NULL) == TR_OK ? fd : -1;
}

static inline tr_status net_send(const tr_platform *table, int fd, const void *data, size_t size,
                                 size_t *sent)
{
    tr_bytes bytes = {data, size};
    *sent = 0;
    return table->socket_send(table, fd, &bytes, 1, sent);
}

/** Sends a text, all of it. */
static inline void net_say(const tr_platform *table, int fd, const char *text)
{
    size_t sent;
    ck_assert_int_eq(net_send(table, fd, text, strlen(text), &sent), TR_OK);
    ck_assert_uint_eq(sent, strlen(text));
}

/** Receives until nothing is there. The text ends with "." at the end of the stream, "!" at a reset. */
static inline const char *net_taken(const tr_platform *table, int fd)
{
    static char text[4096];
    size_t size = 0;
    for (;;) {
        size_t got = 0;
        tr_status status =
            table->socket_receive(table, fd, text + size, sizeof text - 2 - size, &got);
        if (status == TR_OK && got > 0) {
            size += got;
            continue;
        }
        if (status == TR_OK)
            text[size++] = '.';
        else if (status == TR_RESET)
            text[size++] = '!';
        else
            ck_assert_int_eq(status, TR_WOULD_BLOCK);
        text[size] = '\0';
        return text;
    }
}

static inline struct net_pair net_pair_at(uint64_t seed, const struct virtual_weather *weather,
                                          const char *where)
{
    struct net_pair pair = {.virtual = tr__virtual_new(seed)};
    const tr_platform *table = pair.table = &pair.virtual->table;
    ck_assert_int_eq(table->parker_new(table, &pair.parker), TR_OK);
    pair.listener = net_open(table, TR_SOCKET_LISTEN, where);
    pair.client = net_open(table, TR_SOCKET_CONNECT, where);
    ck_assert_int_eq(table->socket_outcome(table, pair.client), TR_OK);
    pair.server = net_accept(table, pair.listener);
    ck_assert_int_gt(pair.server, 0);
    if (weather)
        tr__virtual_set_weather(pair.virtual, weather);
    return pair;
}

/** Makes two ends that are connected. */
static inline struct net_pair net_pair_new(uint64_t seed, const struct virtual_weather *weather)
{
    return net_pair_at(seed, weather, "127.0.0.1:7000");
}

/** Closes what is open, and checks that nothing is left. */
static inline void net_pair_free(struct net_pair *pair)
{
    const tr_platform *table = pair->table;
    const int fds[] = {pair->client, pair->server, pair->listener};
    for (size_t i = 0; i < 3; i++) {
        if (fds[i] > 0)
            table->socket_close(table, fds[i], false);
    }
    table->parker_free(table, pair->parker);
    tr__virtual_clear(pair->virtual);
    ck_assert_uint_eq(pair->virtual->net.open_count, 0);
    ck_assert_uint_eq(tr__virtual_live_blocks(pair->virtual), 0);
    tr__virtual_free(pair->virtual);
}

/** Watches a descriptor; its token is its number. */
static inline void net_watch(struct net_pair *pair, int fd)
{
    ck_assert_int_eq(pair->table->io_watch(pair->table, pair->parker, fd, (uint64_t)fd), TR_OK);
}

/** Takes one event. Returns what it says and sets *fd; 0: there is none. */
static inline uint32_t net_event(struct net_pair *pair, int *fd)
{
    tr_io_event event;
    if (pair->table->io_poll(pair->table, pair->parker, &event, 1) == 0)
        return 0;
    *fd = (int)event.token;
    return event.what;
}

/** Takes one event, which must be of this descriptor; 0: there is none. */
static inline uint32_t net_event_of(struct net_pair *pair, int fd)
{
    int found = fd;
    uint32_t what = net_event(pair, &found);
    ck_assert_int_eq(found, fd);
    return what;
}

#endif
