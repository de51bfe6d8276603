/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_datagram.h"

#include "base/assert.h"
#include "os/virtual_io.h"

#include <string.h>

/* A datagram on its way, or in the queue of its receiver. */
struct datagram {
    struct virtual_transit transit;
    struct virtual_place from;
    struct virtual_place to;
    size_t size;
    unsigned char data[];
};

struct post_box {
    struct virtual_socket socket; /* must be first */
    struct list arrived;          /* transits of datagrams, oldest first */
    size_t used;                  /* bytes of the arrived datagrams */
    uint64_t lost;                /* number of datagrams for which this socket had no space */
    bool is_connected;
    bool is_cut;
    /* an earlier datagram of this socket was refused, and no call has reported that yet */
    bool is_refused;
    bool is_blocked;  /* the socket could not send, because its receiver had no space */
    bool has_blocked; /* a sender could not send, because this socket had no space */
};

static struct post_box *box_of(const struct virtual_socket *socket)
{
    TR_ASSERT(socket->kind == VIRTUAL_DATAGRAM);
    return (struct post_box *)(uintptr_t)socket;
}

static bool is_unix(const struct virtual_place *place)
{
    return place->address.family == TR_FAMILY_UNIX;
}

/* Whether an event with this probability happens now. The random numbers come from the seed. */
static bool happens(struct virtual_net *net, double share)
{
    return share > 0 && (double)(rng_next(&net->rng) >> 11) * 0x1p-53 < share;
}

static struct post_box *box_find(struct virtual_net *net, const struct virtual_place *place)
{
    struct virtual_socket *found = tr__virtual_bound(net, VIRTUAL_DATAGRAM, place);
    return found ? box_of(found) : NULL;
}

static bool box_has_space(const struct post_box *box, size_t size)
{
    size_t window = box->socket.net->weather.window;
    return box->used == 0 || box->used + size <= (window ? window : VIRTUAL_WINDOW);
}

/* Whether a socket takes a datagram. A connected socket takes only datagrams of its other side. */
static bool box_takes(const struct post_box *box, const struct datagram *datagram)
{
    return !box->is_connected ||
           tr_address_is_equal(&box->socket.remote.address, &datagram->from.address);
}

/*
 * If the sender of a datagram is connected, makes its next call report that no socket has taken the
 * datagram.
 */
static void datagram_refuse(struct virtual_net *net, const struct datagram *datagram)
{
    struct post_box *sender = box_find(net, &datagram->from);
    if (!sender || !sender->is_connected ||
        !tr_address_is_equal(&sender->socket.remote.address, &datagram->to.address))
        return;
    sender->is_refused = true;
    tr__virtual_socket_report(&sender->socket);
}

static void on_datagram(struct virtual_net *net, struct virtual_transit *transit)
{
    struct datagram *datagram = LIST_OWNER(transit, struct datagram, transit);
    struct post_box *box = box_find(net, &datagram->to);
    tr__virtual_net_trace(net, datagram->size);
    if (box && !box->is_cut && box_takes(box, datagram) && box_has_space(box, datagram->size)) {
        bool was_empty = list_is_empty(&box->arrived);
        list_push_last(&box->arrived, &transit->link);
        box->used += datagram->size;
        if (was_empty)
            tr__virtual_socket_report(&box->socket);
        return;
    }
    if (!box)
        datagram_refuse(net, datagram);
    else if (!box->is_cut && box_takes(box, datagram))
        box->lost++;
    tr__virtual_net_free(net, datagram);
}

/* Binds a socket to its own address, and connects it to an address if the spec says so. */
static tr_status box_bind(struct post_box *box, const tr_socket_spec *spec)
{
    struct virtual_net *net = box->socket.net;
    struct virtual_place place;
    tr_status status = tr__virtual_place(&place, &spec->address, spec->path);
    if (status != TR_OK)
        return status;
    if (spec->role == TR_SOCKET_BIND)
        return tr__virtual_bind(&box->socket, &place);
    tr__virtual_place_loopback(&place);
    box->is_connected = true;
    box->socket.remote = place;
    if (is_unix(&place)) {
        box->socket.local.address.family = TR_FAMILY_UNIX;
        return box_find(net, &place) ? TR_OK : TR_CONNECT_REFUSED;
    }
    struct virtual_place source = {.address = {.family = place.address.family}};
    if (spec->source.family != TR_FAMILY_NONE)
        source.address = spec->source;
    if (source.address.family != place.address.family)
        return TR_ADDRESS_INVALID;
    tr__virtual_place_loopback(&source);
    return tr__virtual_bind(&box->socket, &source);
}

tr_status tr__virtual_datagram_open(struct virtual_net *net, const tr_socket_spec *spec,
                                    bool is_peer, struct virtual_socket **made)
{
    struct post_box *box = tr__virtual_net_new(net, sizeof *box);
    if (!box)
        return TR_NO_MEMORY;
    memset(box, 0, sizeof *box);
    tr__virtual_socket_init(net, &box->socket, VIRTUAL_DATAGRAM);
    box->socket.reuses_port = spec->reuses_port;
    box->socket.only_v6 = spec->only_v6;
    list_init(&box->arrived);
    tr_status status = box_bind(box, spec);
    if (status != TR_OK) {
        tr__virtual_net_free(net, box);
        return status;
    }
    tr__virtual_socket_number(&box->socket, is_peer);
    *made = &box->socket;
    return TR_OK;
}

/* The box has space again: notifies the senders that found no space in it. */
static void box_widen(struct post_box *box)
{
    struct virtual_net *net = box->socket.net;
    box->has_blocked = false;
    for (int i = 0; i < VIRTUAL_BUCKETS; i++) {
        for (struct virtual_socket *socket = net->buckets[i]; socket; socket = socket->next) {
            if (socket->kind != VIRTUAL_DATAGRAM || !box_of(socket)->is_blocked ||
                strcmp(socket->remote.path, box->socket.local.path) != 0)
                continue;
            box_of(socket)->is_blocked = false;
            tr__virtual_socket_report(socket);
        }
    }
}

tr_status tr__virtual_datagram_receive(struct virtual_socket *socket, tr_packet *packets,
                                       size_t max, size_t *count, uint64_t *lost)
{
    struct post_box *box = box_of(socket);
    if (box->is_refused) {
        box->is_refused = false;
        return TR_CONNECT_REFUSED;
    }
    if (list_is_empty(&box->arrived))
        return TR_WOULD_BLOCK;
    *count = 0;
    while (*count < max && !list_is_empty(&box->arrived)) {
        struct list *link = list_pop_first(&box->arrived);
        struct datagram *datagram = LIST_OWNER(link, struct datagram, transit.link);
        tr_packet *packet = &packets[(*count)++];
        size_t size = datagram->size < packet->capacity ? datagram->size : packet->capacity;
        if (size)
            memcpy(packet->data, datagram->data, size);
        packet->size = datagram->size;
        packet->address = datagram->from.address;
        if (packet->path && datagram->from.path[0])
            packet->address.path = strcpy(packet->path, datagram->from.path);
        box->used -= datagram->size;
        tr__virtual_net_free(socket->net, datagram);
    }
    if (lost)
        *lost = box->lost;
    tr__virtual_net_trace(socket->net, *count);
    if (box->has_blocked)
        box_widen(box);
    return TR_OK;
}

/* Whether a socket can send to addresses of this family. */
static bool box_reaches(const struct post_box *box, tr_family family)
{
    tr_family own = (tr_family)box->socket.local.address.family;
    return own == family || (own == TR_FAMILY_V6 && family == TR_FAMILY_V4 && !box->socket.only_v6);
}

/*
 * Finds the place that a packet is sent to: the packet's own address, or the socket's other side.
 */
static tr_status route(const struct post_box *box, const tr_packet *packet,
                       struct virtual_place *to)
{
    *to = box->socket.remote;
    if (packet->address.family == TR_FAMILY_NONE)
        return box->is_connected ? TR_OK : TR_INVALID_ARGUMENT;
    return tr__virtual_place(to, &packet->address, packet->address.path);
}

/* Checks whether a datagram may be sent. TR_OK: it may. */
static tr_status admit(struct post_box *box, const struct virtual_place *to, size_t size)
{
    struct virtual_net *net = box->socket.net;
    size_t max = net->weather.datagram_max ? net->weather.datagram_max : VIRTUAL_DATAGRAM_MAX;
    if (size > max)
        return TR_TOO_LARGE;
    if (!box_reaches(box, (tr_family)to->address.family))
        return TR_UNREACHABLE;
    if (!is_unix(to))
        return TR_OK;
    struct post_box *receiver = box_find(net, to);
    if (!receiver)
        return TR_CONNECT_REFUSED;
    if (box_has_space(receiver, size))
        return TR_OK;
    receiver->has_blocked = box->is_blocked = true;
    return TR_WOULD_BLOCK;
}

/* Returns the source address of a datagram. A socket that is bound to every address sends from the loopback address. */
static struct virtual_place source_of(const struct post_box *box, const struct virtual_place *to)
{
    struct virtual_place place = box->socket.local;
    if (place.address.family != to->address.family)
        place.address = (tr_address){.family = to->address.family, .port = place.address.port};
    tr__virtual_place_loopback(&place);
    return place;
}

static tr_time due_of(struct virtual_net *net, const struct virtual_place *to)
{
    if (is_unix(to))
        return tr__virtual_net_now(net);
    tr_time due_ns = tr__virtual_net_due(net);
    if (!happens(net, net->weather.reorders))
        return due_ns;
    tr_time longest_ns = net->weather.delay_ns + net->weather.jitter_ns + TR_MILLISECOND;
    return due_ns + 1 + (tr_time)rng_below(&net->rng, (uint64_t)longest_ns);
}

tr_status tr__virtual_datagram_send_to(struct virtual_socket *socket,
                                       const struct virtual_place *place, tr_bytes bytes)
{
    struct post_box *box = box_of(socket);
    struct virtual_net *net = socket->net;
    struct virtual_place to = *place;
    tr__virtual_place_loopback(&to);
    tr_status status = admit(box, &to, bytes.size);
    if (status != TR_OK)
        return status;
    if (box->is_cut || (!is_unix(&to) && happens(net, net->weather.loses)))
        return TR_OK; /* the network loses this datagram */
    struct datagram *datagram = tr__virtual_net_new(net, sizeof *datagram + bytes.size);
    if (!datagram)
        return TR_NO_MEMORY;
    *datagram = (struct datagram){.transit = {.arrive = on_datagram},
                                  .from = source_of(box, &to),
                                  .to = to,
                                  .size = bytes.size};
    if (bytes.size)
        memcpy(datagram->data, bytes.data, bytes.size);
    list_init(&datagram->transit.link);
    tr__virtual_net_post(net, &datagram->transit, due_of(net, &to));
    return TR_OK;
}

tr_status tr__virtual_datagram_send(struct virtual_socket *socket, const tr_packet *packets,
                                    size_t count, size_t *sent)
{
    struct post_box *box = box_of(socket);
    if (box->is_refused) {
        box->is_refused = false;
        return TR_CONNECT_REFUSED;
    }
    for (*sent = 0; *sent < count; (*sent)++) {
        const tr_packet *packet = &packets[*sent];
        struct virtual_place to;
        tr_status status = route(box, packet, &to);
        if (status == TR_OK)
            status =
                tr__virtual_datagram_send_to(socket, &to, (tr_bytes){packet->data, packet->size});
        if (status != TR_OK)
            return *sent ? TR_OK : status;
    }
    return TR_OK;
}

void tr__virtual_datagram_close(struct virtual_socket *socket)
{
    struct post_box *box = box_of(socket);
    tr__virtual_socket_unwatch(socket);
    tr__virtual_socket_release(socket);
    LIST_EACH (link, &box->arrived)
        tr__virtual_net_free(socket->net, LIST_OWNER(link, struct datagram, transit.link));
    if (box->has_blocked)
        box_widen(box);
    tr__virtual_net_free(socket->net, box);
}

void tr__virtual_datagram_cut(struct virtual_socket *socket, bool is_cut)
{
    box_of(socket)->is_cut = is_cut;
}

uint32_t tr__virtual_datagram_possible(const struct virtual_socket *socket)
{
    const struct post_box *box = box_of(socket);
    uint32_t what = box->is_blocked ? 0 : TR_IO_OUT;
    if (box->is_refused || !list_is_empty(&box->arrived))
        what |= TR_IO_IN;
    return what;
}

size_t tr__virtual_datagram_size(const struct virtual_socket *socket)
{
    const struct list *link = list_first(&box_of(socket)->arrived);
    return link ? LIST_OWNER(link, struct datagram, transit.link)->size : 0;
}

void tr__virtual_datagrams_drop(struct virtual_net *net)
{
    LIST_EACH (link, &net->transits) {
        struct virtual_transit *transit = LIST_OWNER(link, struct virtual_transit, link);
        if (transit->arrive != on_datagram)
            continue;
        list_remove(link);
        tr__virtual_net_free(net, LIST_OWNER(transit, struct datagram, transit));
    }
}
