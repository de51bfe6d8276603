/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/kit_net.h"

#include <stdio.h>
#include <string.h>
#include <troupe/kit_net.h>

#include "actor/system/kit.h"
#include "actor/system/kit_child.h"
#include "base/assert.h"
#include "base/sized.h"
#include "os/memory.h"
#include "os/virtual_datagram.h"
#include "os/virtual_names.h"
#include "os/virtual_socket.h"
#include "os/virtual_stream.h"

enum {
    /*
     * After this many steps of a system that is never idle, the kit checks whether the wait is
     * over.
     */
    STEPS_MAX = 10000,
    PIECE = 4096 /* a receive needs this many free bytes in the buffer */
};
#define CONNECT_NS (30 * TR_SECOND)

struct tr_kit_peer {
    struct list link; /* in tr_kit.peers */
    struct tr_kit *kit;
    struct virtual_socket *socket;
    /*
     * For a peer of a child process: the address of the pointer to the socket. NULL for other
     * peers, which have a socket of their own.
     */
    struct virtual_socket **of_child;
    char path[TR_ADDRESS_PATH_MAX]; /* the sender of the last datagram */
    char *bytes;                    /* the received bytes, with a NUL behind them */
    size_t size;
    size_t capacity;
};

/* An address where the test accepts connections. */
struct kit_listener {
    struct list link; /* in tr_kit.listeners */
    struct virtual_socket *socket;
    struct virtual_place place; /* the address that the test gave */
};

static struct virtual_net *net_of(const struct tr_kit *kit)
{
    return &kit->virtual->net;
}

/*
 * Aborts because of a mistake in the test. The text is, for example, "tr_kit_send: the peer is a
 * datagram socket".
 */
_Noreturn static void refuse(const char *verb, const char *why)
{
    char text[160];
    snprintf(text, sizeof text, "%s: %s", verb, why);
    tr__panic(text);
}

/*
 * Returns the socket of a peer. Returns NULL if the socket belonged to a child process that has
 * ended.
 */
static struct virtual_socket *socket_of(const tr_kit_peer *peer)
{
    return peer->of_child ? *peer->of_child : peer->socket;
}

/*
 * Delivers everything that is due. Returns the socket of a peer that is a connection. Returns NULL
 * if the socket belonged to a child process that has ended.
 */
static struct virtual_socket *stream_of(const tr_kit_peer *peer, const char *verb)
{
    if (!peer)
        refuse(verb, "there is no peer");
    tr__virtual_net_settle(net_of(peer->kit));
    struct virtual_socket *socket = socket_of(peer);
    if (socket && socket->kind != VIRTUAL_STREAM)
        refuse(verb, "the peer is a datagram socket");
    return socket;
}

static struct virtual_socket *datagram_of(const tr_kit_peer *peer, const char *verb)
{
    if (!peer || peer->of_child || peer->socket->kind != VIRTUAL_DATAGRAM)
        refuse(verb, peer ? "the peer is a connection" : "there is no peer");
    tr__virtual_net_settle(net_of(peer->kit));
    return peer->socket;
}

static tr_status read_place(const char *address, struct virtual_place *place)
{
    tr_address read = {.family = TR_FAMILY_UNIX};
    bool is_path = strchr(address, '/') || address[0] == '@';
    tr_status status = is_path ? TR_OK : tr_address_parse(address, &read);
    return status == TR_OK ? tr__virtual_place(place, &read, is_path ? address : NULL) : status;
}

/* Makes a socket of the test. Returns what socket_open returns. */
static tr_status open_at(struct tr_kit *kit, tr_socket_role role, const char *address,
                         struct virtual_place *place, struct virtual_socket **socket)
{
    tr_status status = read_place(address, place);
    if (status != TR_OK)
        return status;
    tr__virtual_net_settle(net_of(kit));
    tr_socket_spec spec = {.size = sizeof spec,
                           .role = role,
                           .is_datagram = role == TR_SOCKET_BIND,
                           .address = place->address,
                           .path = place->path};
    return tr__virtual_open(net_of(kit), &spec, true, socket);
}

/*
 * Makes a peer with a socket. Takes the socket. If there is no memory, closes the socket and
 * returns NULL.
 */
static tr_kit_peer *peer_new(struct tr_kit *kit, struct virtual_socket *socket)
{
    tr_kit_peer *peer = tr__os_resize(NULL, sizeof *peer);
    if (!peer) {
        tr__virtual_close(socket, true);
        return NULL;
    }
    *peer = (tr_kit_peer){.kit = kit, .socket = socket};
    list_push_last(&kit->peers, &peer->link);
    return peer;
}

tr_kit_peer *tr__kit_peer_of_child(tr_kit *kit, struct virtual_socket **socket)
{
    tr_kit_peer *peer = tr__os_resize(NULL, sizeof *peer);
    if (!peer)
        return NULL;
    *peer = (tr_kit_peer){.kit = kit, .of_child = socket};
    list_push_last(&kit->peers, &peer->link);
    return peer;
}

static void peer_reserve(tr_kit_peer *peer, size_t size)
{
    if (peer->size + size < peer->capacity)
        return;
    peer->capacity = 2 * (peer->size + size) + 1;
    peer->bytes = tr__os_resize(peer->bytes, peer->capacity);
    TR_ASSERT(peer->bytes);
}

tr_time tr__kit_deadline(const struct tr_kit *kit, tr_time timeout_ns)
{
    tr_time now_ns = kit->virtual->mono;
    if (timeout_ns <= 0)
        return now_ns;
    return timeout_ns > TR_NEVER - now_ns ? TR_NEVER : now_ns + timeout_ns;
}

void tr__kit_wait_until(struct tr_kit *kit, tr_time deadline_ns, bool (*is_done)(void *context),
                        void *context)
{
    for (;;) {
        for (int steps = 0; steps < STEPS_MAX && tr_kit_step(kit); steps++)
            ;
        tr__virtual_net_settle(net_of(kit));
        if (is_done(context) || kit->virtual->mono >= deadline_ns)
            return;
        tr__kit_wait(kit, deadline_ns);
    }
}

void tr__kit_net_free(struct tr_kit *kit)
{
    LIST_EACH (link, &kit->peers)
        tr_kit_close(LIST_OWNER(link, struct tr_kit_peer, link));
    LIST_EACH (link, &kit->listeners) {
        struct kit_listener *listener = LIST_OWNER(link, struct kit_listener, link);
        tr__virtual_close(listener->socket, false);
        tr__os_resize(listener, 0);
    }
    tr__kit_children_free(kit);
    tr__virtual_clear(kit->virtual);
}

void tr_kit_set_network_sized(tr_kit *kit, const tr_kit_network *network, size_t size)
{
    tr_kit_network whole;
    if (!sized_read(&whole, sizeof whole, network, size))
        refuse("tr_kit_set_network", "invalid network: wrong size");
    if (whole.delay_ns < 0 || whole.jitter_ns < 0)
        refuse("tr_kit_set_network", "invalid network: a negative time");
    if (!(whole.loses >= 0 && whole.loses <= 1 && whole.reorders >= 0 && whole.reorders <= 1))
        refuse("tr_kit_set_network", "invalid network: a share that is not from 0 to 1");
    struct virtual_weather weather = {.delay_ns = whole.delay_ns,
                                      .jitter_ns = whole.jitter_ns,
                                      .piece_max = whole.piece_max,
                                      .window = whole.window,
                                      .datagram_max = whole.datagram_max,
                                      .loses = whole.loses,
                                      .reorders = whole.reorders};
    tr__virtual_set_weather(kit->virtual, &weather);
}

tr_kit_peer *tr_kit_connect(tr_kit *kit, const char *address)
{
    struct virtual_place place;
    struct virtual_socket *socket = NULL;
    tr_status status = open_at(kit, TR_SOCKET_CONNECT, address, &place, &socket);
    if (!socket || (status != TR_OK && status != TR_WOULD_BLOCK))
        return NULL;
    tr_time deadline_ns = tr__kit_deadline(kit, CONNECT_NS);
    while (tr__virtual_outcome(socket) == TR_WOULD_BLOCK && kit->virtual->mono < deadline_ns) {
        tr__kit_wait(kit, deadline_ns);
        tr__virtual_net_settle(net_of(kit));
    }
    if (tr__virtual_outcome(socket) == TR_OK)
        return peer_new(kit, socket);
    tr__virtual_close(socket, true);
    return NULL;
}

/*
 * Returns the listener of the test at an address. Makes it if there is none. Returns NULL if there
 * cannot be one.
 */
static struct kit_listener *listener_at(struct tr_kit *kit, const char *address)
{
    struct virtual_place place;
    if (read_place(address, &place) != TR_OK)
        return NULL;
    LIST_EACH (link, &kit->listeners) {
        struct kit_listener *listener = LIST_OWNER(link, struct kit_listener, link);
        if (tr_address_is_equal(&listener->place.address, &place.address) &&
            strcmp(listener->place.path, place.path) == 0)
            return listener;
    }
    struct kit_listener *made = tr__os_resize(NULL, sizeof *made);
    if (!made)
        return NULL;
    *made = (struct kit_listener){.place = place};
    if (open_at(kit, TR_SOCKET_LISTEN, address, &place, &made->socket) != TR_OK) {
        tr__os_resize(made, 0);
        return NULL;
    }
    list_push_last(&kit->listeners, &made->link);
    return made;
}

static bool can_accept(void *context)
{
    const struct kit_listener *listener = context;
    return tr__virtual_listener_possible(listener->socket);
}

tr_kit_peer *tr_kit_accept(tr_kit *kit, const char *address, tr_time timeout_ns)
{
    struct kit_listener *listener = listener_at(kit, address);
    tr_time deadline_ns = tr__kit_deadline(kit, timeout_ns);
    if (!listener)
        return NULL;
    for (;;) {
        struct virtual_socket *socket;
        tr__kit_wait_until(kit, deadline_ns, can_accept, listener);
        tr_status status = tr__virtual_accept(listener->socket, true, &socket);
        if (status == TR_OK)
            return peer_new(kit, socket);
        if (status == TR_WOULD_BLOCK)
            return NULL;
        TR_ASSERT(status == TR_RESET); /* this connection has ended already; look at the next one */
    }
}

size_t tr_kit_send(tr_kit_peer *peer, tr_bytes bytes)
{
    size_t sent = 0;
    struct virtual_socket *socket = stream_of(peer, "tr_kit_send");
    return socket && tr__virtual_send(socket, &bytes, 1, &sent) == TR_OK ? sent : 0;
}

/*
 * Takes the bytes that have arrived. Returns true if there were any, or if no more bytes can come.
 */
static bool take_bytes(void *context)
{
    tr_kit_peer *peer = context;
    for (;;) {
        size_t got = 0;
        struct virtual_socket *socket = socket_of(peer);
        peer_reserve(peer, PIECE);
        if (!socket)
            return true;
        tr_status status = tr__virtual_receive(
            socket, peer->bytes + peer->size, peer->capacity - peer->size - 1, &got);
        if (status == TR_OK && got > 0)
            peer->size += got;
        else
            return status != TR_WOULD_BLOCK || peer->size > 0;
    }
}

tr_bytes tr_kit_receive(tr_kit_peer *peer, tr_time timeout_ns)
{
    (void)stream_of(peer, "tr_kit_receive");
    peer->size = 0;
    tr__kit_wait_until(peer->kit, tr__kit_deadline(peer->kit, timeout_ns), take_bytes, peer);
    peer->bytes[peer->size] = '\0';
    return (tr_bytes){peer->bytes, peer->size};
}

const char *tr_kit_receive_text(tr_kit_peer *peer, tr_time timeout_ns)
{
    return tr_kit_receive(peer, timeout_ns).data;
}

void tr_kit_finish(tr_kit_peer *peer)
{
    struct virtual_socket *socket = stream_of(peer, "tr_kit_finish");
    if (socket)
        tr__virtual_finish(socket);
}

void tr_kit_reset(tr_kit_peer *peer)
{
    struct virtual_socket *socket = stream_of(peer, "tr_kit_reset");
    if (socket)
        tr__virtual_stream_reset(socket);
}

void tr_kit_close(tr_kit_peer *peer)
{
    if (!peer)
        return;
    tr__virtual_net_settle(net_of(peer->kit));
    struct virtual_socket *socket = socket_of(peer);
    if (socket)
        tr__virtual_close(socket, false);
    if (peer->of_child)
        *peer->of_child = NULL;
    list_remove(&peer->link);
    tr__os_resize(peer->bytes, 0);
    tr__os_resize(peer, 0);
}

tr_status tr_kit_peer_status(const tr_kit_peer *peer)
{
    const struct virtual_socket *socket = stream_of(peer, "tr_kit_peer_status");
    if (!socket || tr__virtual_outcome(socket) != TR_OK)
        return TR_RESET;
    return tr__virtual_stream_possible(socket) & TR_IO_END ? TR_CLOSED : TR_OK;
}

tr_address tr_kit_peer_address(const tr_kit_peer *peer)
{
    if (peer->of_child)
        return (tr_address){.family = TR_FAMILY_UNIX};
    tr_address address = peer->socket->local.address;
    if (peer->socket->local.path[0])
        address.path = peer->socket->local.path;
    return address;
}

void tr_kit_partition(tr_kit *kit, tr_kit_peer *const *peers, size_t count, bool is_cut)
{
    tr__virtual_net_settle(net_of(kit));
    for (size_t i = 0; i < count; i++) {
        if (peers[i]->of_child)
            refuse("tr_kit_partition", "the peer belongs to a child process");
        if (peers[i]->socket->kind == VIRTUAL_STREAM)
            tr__virtual_stream_cut(peers[i]->socket, is_cut);
        else
            tr__virtual_datagram_cut(peers[i]->socket, is_cut);
    }
}

tr_kit_peer *tr_kit_bind(tr_kit *kit, const char *address)
{
    struct virtual_place place;
    struct virtual_socket *socket;
    return open_at(kit, TR_SOCKET_BIND, address, &place, &socket) == TR_OK ? peer_new(kit, socket)
                                                                           : NULL;
}

tr_status tr_kit_send_to(tr_kit_peer *peer, const char *address, tr_bytes bytes)
{
    struct virtual_socket *socket = datagram_of(peer, "tr_kit_send_to");
    struct virtual_place to;
    tr_status status = read_place(address, &to);
    return status == TR_OK ? tr__virtual_datagram_send_to(socket, &to, bytes) : status;
}

static bool can_take_datagram(void *context)
{
    const tr_kit_peer *peer = context;
    return tr__virtual_datagram_possible(peer->socket) & TR_IO_IN;
}

tr_bytes tr_kit_receive_from(tr_kit_peer *peer, tr_time timeout_ns, tr_address *from)
{
    struct virtual_socket *socket = datagram_of(peer, "tr_kit_receive_from");
    peer->size = 0;
    tr__kit_wait_until(peer->kit, tr__kit_deadline(peer->kit, timeout_ns), can_take_datagram, peer);
    peer_reserve(peer, tr__virtual_datagram_size(socket));
    tr_packet packet = {.data = peer->bytes, .capacity = peer->capacity, .path = peer->path};
    size_t count;
    if (tr__virtual_datagram_receive(socket, &packet, 1, &count, NULL) != TR_OK)
        return (tr_bytes){NULL, 0};
    if (from)
        *from = packet.address;
    return (tr_bytes){peer->bytes, packet.size};
}

void tr_kit_fail_network(tr_kit *kit, const char *call, uint64_t nth, tr_status status)
{
    enum virtual_call found = tr__virtual_call_named(call);
    if (found == VIRTUAL_CALLS)
        refuse("tr_kit_fail_network: unknown call", call);
    if (status == TR_OK || (found == VIRTUAL_CALL_OPEN && status == TR_WOULD_BLOCK))
        refuse("tr_kit_fail_network: invalid status", tr_status_name(status));
    tr__virtual_net_fail(net_of(kit), found, nth, status);
}

bool tr_kit_add_name(tr_kit *kit, const char *name, const char *host)
{
    tr_address address;
    return tr__virtual_read_host(host, &address) &&
           tr__virtual_names_add(net_of(kit), name, &address, TR_OK) == TR_OK;
}

bool tr_kit_fail_name(tr_kit *kit, const char *name, tr_status status)
{
    if (status == TR_OK)
        refuse("tr_kit_fail_name: invalid status", tr_status_name(status));
    return tr__virtual_names_add(net_of(kit), name, NULL, status) == TR_OK;
}

bool tr_kit_delay_name(tr_kit *kit, const char *name, tr_time ns)
{
    if (ns < 0)
        refuse("tr_kit_delay_name: negative", name);
    return tr__virtual_names_delay(net_of(kit), name, ns) == TR_OK;
}

size_t tr_kit_open_channels(const tr_kit *kit)
{
    return net_of(kit)->open_count;
}
