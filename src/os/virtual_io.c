/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_io.h"

#include "os/virtual.h"
#include "os/virtual_datagram.h"
#include "os/virtual_stream.h"

struct watch {
    struct list of_socket; /* in virtual_socket.watches */
    struct list of_parker; /* in virtual_watches.all */
    struct list ready;     /* in virtual_watches.ready, or in no list */
    struct virtual_watches *watches;
    struct virtual_socket *socket;
    uint64_t token;
};

static struct virtual_watches *watches_of(tr_parker *parker)
{
    return (struct virtual_watches *)(void *)parker;
}

static struct virtual_net *net_of(const tr_platform *platform)
{
    return &((struct virtual_platform *)(uintptr_t)platform)->net;
}

static void watch_free(struct watch *watch)
{
    list_remove(&watch->of_socket);
    list_remove(&watch->of_parker);
    list_remove(&watch->ready);
    tr__virtual_net_free(watch->socket->net, watch);
}

/* Returns what is possible on a socket now: TR_IO_IN, TR_IO_OUT, TR_IO_END. */
static uint32_t socket_possible(struct virtual_socket *socket)
{
    switch (socket->kind) {
    case VIRTUAL_LISTENER:
        return tr__virtual_listener_possible(socket);
    case VIRTUAL_STREAM:
        return tr__virtual_stream_possible(socket);
    case VIRTUAL_DATAGRAM:
        return tr__virtual_datagram_possible(socket);
    }
    return 0;
}

static struct watch *watch_find(struct virtual_watches *watches, struct virtual_socket *socket)
{
    LIST_EACH (link, &socket->watches) {
        struct watch *watch = LIST_OWNER(link, struct watch, of_socket);
        if (watch->watches == watches)
            return watch;
    }
    return NULL;
}

void tr__virtual_watches_init(struct virtual_watches *watches)
{
    list_init(&watches->all);
    list_init(&watches->ready);
}

void tr__virtual_watches_deinit(struct virtual_watches *watches)
{
    LIST_EACH (link, &watches->all)
        watch_free(LIST_OWNER(link, struct watch, of_parker));
}

bool tr__virtual_watches_are_ready(const struct virtual_watches *watches)
{
    LIST_EACH (link, &watches->ready) {
        if (socket_possible(LIST_OWNER(link, struct watch, ready)->socket))
            return true;
    }
    return false;
}

void tr__virtual_socket_report(struct virtual_socket *socket)
{
    LIST_EACH (link, &socket->watches) {
        struct watch *watch = LIST_OWNER(link, struct watch, of_socket);
        if (list_is_empty(&watch->ready))
            list_push_last(&watch->watches->ready, &watch->ready);
    }
}

void tr__virtual_socket_unwatch(struct virtual_socket *socket)
{
    LIST_EACH (link, &socket->watches)
        watch_free(LIST_OWNER(link, struct watch, of_socket));
}

tr_status tr__virtual_io_watch(const tr_platform *platform, tr_parker *parker, int fd,
                               uint64_t token)
{
    struct virtual_net *net = net_of(platform);
    struct virtual_socket *socket = tr__virtual_socket_find(net, fd);
    tr_status status = tr__virtual_net_call(net, VIRTUAL_CALL_WATCH);
    if (status != TR_OK)
        return status;
    if (!socket || watch_find(watches_of(parker), socket))
        return TR_INVALID_ARGUMENT;
    struct watch *watch = tr__virtual_net_new(net, sizeof *watch);
    if (!watch)
        return TR_NO_MEMORY;
    *watch = (struct watch){.watches = watches_of(parker), .socket = socket, .token = token};
    list_init(&watch->ready);
    list_push_last(&socket->watches, &watch->of_socket);
    list_push_last(&watch->watches->all, &watch->of_parker);
    list_push_last(&watch->watches->ready, &watch->ready);
    return TR_OK;
}

tr_status tr__virtual_io_watch_output(const tr_platform *platform, tr_parker *parker, int fd,
                                      uint64_t token)
{
    (void)token;
    struct virtual_socket *socket = tr__virtual_socket_find(net_of(platform), fd);
    bool is_watched = socket && watch_find(watches_of(parker), socket);
    return is_watched ? TR_OK : TR_INVALID_ARGUMENT;
}

void tr__virtual_io_unwatch(const tr_platform *platform, tr_parker *parker, int fd)
{
    struct virtual_socket *socket = tr__virtual_socket_find(net_of(platform), fd);
    struct watch *watch = socket ? watch_find(watches_of(parker), socket) : NULL;
    if (watch)
        watch_free(watch);
}

size_t tr__virtual_io_poll(const tr_platform *platform, tr_parker *parker, tr_io_event *events,
                           size_t max)
{
    struct virtual_net *net = net_of(platform);
    size_t count = 0;
    tr__virtual_net_settle(net);
    LIST_EACH (link, &watches_of(parker)->ready) {
        struct watch *watch = LIST_OWNER(link, struct watch, ready);
        if (count == max)
            break;
        list_remove(link);
        uint32_t what = socket_possible(watch->socket);
        if (!what)
            continue; /* an earlier call has already read what the event announced */
        events[count++] = (tr_io_event){.token = watch->token, .what = what};
        tr__virtual_net_trace(net, watch->token ^ what);
    }
    return count;
}
