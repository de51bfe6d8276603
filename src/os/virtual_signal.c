/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_signal.h"

#include "base/assert.h"
#include "os/signal_pipe.h"
#include "os/virtual.h"
#include "os/virtual_socket.h"
#include "os/virtual_stream.h"

struct taker {
    struct list link; /* in virtual_net.takers */
    struct virtual_socket *ours;
    struct virtual_socket *theirs; /* the network writes signals to this socket, one byte each */
    uint64_t taken[2];             /* bit n: signal n */
};

static struct virtual_net *net_of(const tr_platform *platform)
{
    return &((struct virtual_platform *)(uintptr_t)platform)->net;
}

static bool has_taken(const struct taker *taker, int signal)
{
    return taker->taken[signal / 64] >> (signal % 64) & 1;
}

static struct taker *taker_of(struct virtual_net *net, int signal)
{
    LIST_EACH (link, &net->takers) {
        struct taker *taker = LIST_OWNER(link, struct taker, link);
        if (has_taken(taker, signal))
            return taker;
    }
    return NULL;
}

tr_status tr__virtual_signals_open(const tr_platform *platform, const int *signals, size_t count,
                                   int *fd)
{
    struct virtual_net *net = net_of(platform);
    struct taker fresh = {.ours = NULL};
    tr_status status = tr__virtual_net_call(net, VIRTUAL_CALL_SIGNALS);
    for (size_t i = 0; i < count && status == TR_OK; i++) {
        status = tr__signal_may_be_taken(signals[i]);
        if (status == TR_OK && (taker_of(net, signals[i]) || has_taken(&fresh, signals[i])))
            status = TR_NAME_EXISTS;
        if (status == TR_OK)
            fresh.taken[signals[i] / 64] |= UINT64_C(1) << (signals[i] % 64);
    }
    if (status != TR_OK)
        return status;
    struct taker *taker = tr__virtual_net_new(net, sizeof *taker);
    if (!taker)
        return TR_NO_MEMORY;
    status = tr__virtual_pair(net, &fresh.ours, &fresh.theirs);
    if (status != TR_OK) {
        tr__virtual_net_free(net, taker);
        return status;
    }
    *taker = fresh;
    list_push_last(&net->takers, &taker->link);
    *fd = taker->ours->fd;
    return TR_OK;
}

tr_status tr__virtual_signals_read(const tr_platform *platform, int fd, int *signal)
{
    struct virtual_net *net = net_of(platform);
    unsigned char number;
    size_t got;
    tr__virtual_net_settle(net);
    tr_status status = tr__virtual_receive(tr__virtual_socket_find(net, fd), &number, 1, &got);
    if (status == TR_OK)
        *signal = number;
    return status;
}

void tr__virtual_signals_close(const tr_platform *platform, int fd)
{
    struct virtual_net *net = net_of(platform);
    LIST_EACH (link, &net->takers) {
        struct taker *taker = LIST_OWNER(link, struct taker, link);
        if (taker->ours->fd != fd)
            continue;
        list_remove(&taker->link);
        tr__virtual_close(taker->theirs, true);
        tr__virtual_close(taker->ours, true);
        tr__virtual_net_free(net, taker);
        return;
    }
    TR_NOT_REACHED("it was closed before");
}

bool tr__virtual_signal_raise(struct virtual_net *net, int signal)
{
    struct taker *taker = tr__signal_may_be_taken(signal) == TR_OK ? taker_of(net, signal) : NULL;
    unsigned char number = (unsigned char)signal;
    tr_bytes bytes = {&number, 1};
    size_t sent;
    return taker && tr__virtual_send(taker->theirs, &bytes, 1, &sent) == TR_OK;
}
