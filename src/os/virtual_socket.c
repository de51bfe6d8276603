/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_socket.h"

#include "base/assert.h"
#include "base/sized.h"
#include "os/virtual_datagram.h"
#include "os/virtual_io.h"
#include "os/virtual_names.h"
#include "os/virtual_process.h"
#include "os/virtual_stream.h"

#include <string.h>

static struct virtual_net *net_of(const tr_platform *platform)
{
    return &((struct virtual_platform *)(uintptr_t)platform)->net;
}

/*
 * Begins a call on a socket of this kind. If the test makes the call fail with TR_WOULD_BLOCK, reports the socket as
 * ready again, because the next call would succeed.
 */
static tr_status begin(const tr_platform *platform, enum virtual_call call, enum virtual_kind kind,
                       int fd, struct virtual_socket **socket)
{
    struct virtual_net *net = net_of(platform);
    tr_status status = tr__virtual_net_call(net, call);
    *socket = tr__virtual_socket_find(net, fd);
    if (!*socket || (*socket)->kind != kind)
        return TR_INVALID_ARGUMENT;
    if (status == TR_WOULD_BLOCK)
        tr__virtual_socket_report(*socket);
    return status;
}

tr_status tr__virtual_socket_open(const tr_platform *platform, const tr_socket_spec *spec, int *fd)
{
    struct virtual_net *net = net_of(platform);
    struct virtual_socket *socket;
    tr_status status = tr__virtual_net_call(net, VIRTUAL_CALL_OPEN);
    if (status != TR_OK)
        return status;
    tr_socket_spec whole;
    if (!spec || !sized_read(&whole, sizeof whole, spec, spec->size ? spec->size : sizeof whole))
        return TR_INVALID_ARGUMENT;
    status = tr__virtual_open(net, &whole, false, &socket);
    if (status == TR_OK || status == TR_WOULD_BLOCK)
        *fd = socket->fd;
    return status;
}

tr_status tr__virtual_socket_outcome(const tr_platform *platform, int fd)
{
    struct virtual_socket *socket;
    tr_status status = begin(platform, VIRTUAL_CALL_OUTCOME, VIRTUAL_STREAM, fd, &socket);
    return status == TR_OK ? tr__virtual_outcome(socket) : status;
}

tr_status tr__virtual_socket_accept(const tr_platform *platform, int fd, int *accepted,
                                    tr_address *peer)
{
    struct virtual_socket *socket;
    struct virtual_socket *made;
    tr_status status = begin(platform, VIRTUAL_CALL_ACCEPT, VIRTUAL_LISTENER, fd, &socket);
    if (status == TR_OK)
        status = tr__virtual_accept(socket, false, &made);
    if (status != TR_OK)
        return status;
    *accepted = made->fd;
    if (peer)
        *peer = made->remote.address;
    return TR_OK;
}

tr_status tr__virtual_socket_receive(const tr_platform *platform, int fd, void *to, size_t size,
                                     size_t *got)
{
    struct virtual_socket *socket;
    tr_status status = begin(platform, VIRTUAL_CALL_RECEIVE, VIRTUAL_STREAM, fd, &socket);
    return status == TR_OK ? tr__virtual_receive(socket, to, size, got) : status;
}

tr_status tr__virtual_socket_send(const tr_platform *platform, int fd, const tr_bytes *pieces,
                                  size_t count, size_t *sent)
{
    struct virtual_socket *socket;
    tr_status status = begin(platform, VIRTUAL_CALL_SEND, VIRTUAL_STREAM, fd, &socket);
    return status == TR_OK ? tr__virtual_send(socket, pieces, count, sent) : status;
}

tr_status tr__virtual_socket_receive_many(const tr_platform *platform, int fd, tr_packet *packets,
                                          size_t max, size_t *count, uint64_t *lost)
{
    struct virtual_socket *socket;
    tr_status status = begin(platform, VIRTUAL_CALL_RECEIVE_MANY, VIRTUAL_DATAGRAM, fd, &socket);
    return status == TR_OK ? tr__virtual_datagram_receive(socket, packets, max, count, lost)
                           : status;
}

tr_status tr__virtual_socket_send_many(const tr_platform *platform, int fd,
                                       const tr_packet *packets, size_t count, size_t *sent)
{
    struct virtual_socket *socket;
    tr_status status = begin(platform, VIRTUAL_CALL_SEND_MANY, VIRTUAL_DATAGRAM, fd, &socket);
    return status == TR_OK ? tr__virtual_datagram_send(socket, packets, count, sent) : status;
}

void tr__virtual_socket_finish(const tr_platform *platform, int fd)
{
    struct virtual_net *net = net_of(platform);
    tr__virtual_net_settle(net);
    struct virtual_socket *socket = tr__virtual_socket_find(net, fd);
    TR_ASSERT(socket); /* the caller must not have closed the socket before */
    if (socket->kind == VIRTUAL_STREAM)
        tr__virtual_finish(socket);
}

void tr__virtual_socket_close(const tr_platform *platform, int fd, bool resets)
{
    struct virtual_net *net = net_of(platform);
    tr__virtual_net_settle(net);
    struct virtual_socket *socket = tr__virtual_socket_find(net, fd);
    TR_ASSERT(socket); /* the caller must not have closed the socket before */
    tr__virtual_close(socket, resets);
}

tr_status tr__virtual_socket_address(const tr_platform *platform, int fd, bool of_peer,
                                     tr_address *address)
{
    struct virtual_net *net = net_of(platform);
    tr_status status = tr__virtual_net_call(net, VIRTUAL_CALL_ADDRESS);
    struct virtual_socket *socket = tr__virtual_socket_find(net, fd);
    if (status != TR_OK)
        return status;
    if (!socket || (of_peer && socket->remote.address.family == TR_FAMILY_NONE))
        return TR_INVALID_ARGUMENT;
    if (of_peer && socket->kind == VIRTUAL_STREAM && tr__virtual_outcome(socket) != TR_OK)
        return TR_RESET;
    *address = of_peer ? socket->remote.address : socket->local.address;
    return TR_OK;
}

tr_time tr__virtual_next_event_ns(struct virtual_platform *virtual)
{
    return tr__virtual_net_next_ns(&virtual->net);
}

bool tr__virtual_has_event(struct virtual_platform *virtual, const tr_parker *parker)
{
    tr__virtual_net_settle(&virtual->net);
    return tr__virtual_watches_are_ready((const struct virtual_watches *)(const void *)parker);
}

void tr__virtual_set_weather(struct virtual_platform *virtual,
                             const struct virtual_weather *weather)
{
    struct virtual_net *net = &virtual->net;
    TR_ASSERT(weather->delay_ns >= 0);
    TR_ASSERT(weather->jitter_ns >= 0);
    tr__virtual_net_settle(net);
    net->weather = *weather;
    for (int i = 0; i < VIRTUAL_BUCKETS; i++) {
        for (struct virtual_socket *socket = net->buckets[i]; socket; socket = socket->next) {
            if (socket->kind == VIRTUAL_STREAM)
                tr__virtual_stream_widen(socket);
        }
    }
}

enum virtual_call tr__virtual_call_named(const char *name)
{
    static const char *const names[] = {
        [VIRTUAL_CALL_OPEN] = "open",
        [VIRTUAL_CALL_OUTCOME] = "outcome",
        [VIRTUAL_CALL_ACCEPT] = "accept",
        [VIRTUAL_CALL_RECEIVE] = "receive",
        [VIRTUAL_CALL_SEND] = "send",
        [VIRTUAL_CALL_RECEIVE_MANY] = "receive_many",
        [VIRTUAL_CALL_SEND_MANY] = "send_many",
        [VIRTUAL_CALL_ADDRESS] = "address",
        [VIRTUAL_CALL_WATCH] = "watch",
        [VIRTUAL_CALL_RESOLVE] = "resolve",
        [VIRTUAL_CALL_START] = "start",
        [VIRTUAL_CALL_SIGNALS] = "signals",
        [VIRTUAL_CALL_FILE_OPEN] = "file_open",
        [VIRTUAL_CALL_FILE_READ] = "file_read",
    };
    _Static_assert(sizeof names / sizeof names[0] == VIRTUAL_CALLS, "each call has a name");
    int call = 0;
    while (call < VIRTUAL_CALLS && strcmp(names[call], name) != 0)
        call++;
    return (enum virtual_call)call;
}

tr_status tr__virtual_open(struct virtual_net *net, const tr_socket_spec *spec, bool is_peer,
                           struct virtual_socket **made)
{
    switch (spec->role) {
    case TR_SOCKET_LISTEN:
        return spec->is_datagram ? TR_INVALID_ARGUMENT
                                 : tr__virtual_listen(net, spec, is_peer, made);
    case TR_SOCKET_CONNECT:
        return spec->is_datagram ? tr__virtual_datagram_open(net, spec, is_peer, made)
                                 : tr__virtual_connect(net, spec, is_peer, made);
    case TR_SOCKET_BIND:
        return tr__virtual_datagram_open(net, spec, is_peer, made);
    }
    return TR_INVALID_ARGUMENT;
}

void tr__virtual_close(struct virtual_socket *socket, bool resets)
{
    switch (socket->kind) {
    case VIRTUAL_LISTENER:
        tr__virtual_listener_close(socket);
        break;
    case VIRTUAL_STREAM:
        tr__virtual_stream_close(socket, resets);
        break;
    case VIRTUAL_DATAGRAM:
        tr__virtual_datagram_close(socket);
        break;
    }
}

void tr__virtual_clear(struct virtual_platform *virtual)
{
    tr__virtual_datagrams_drop(&virtual->net);
    tr__virtual_names_clear(&virtual->net);
    tr__virtual_processes_clear(&virtual->net);
}
