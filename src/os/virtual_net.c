/* SPDX-License-Identifier: Apache-2.0 */
#include "os/virtual_net.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

void tr__virtual_net_init(struct virtual_net *net, const tr_platform *platform, uint64_t seed)
{
    *net = (struct virtual_net){
        .platform = platform,
        .last_fd = VIRTUAL_FIRST_FD - 1,
        .last_port = VIRTUAL_FIRST_PORT - 1,
    };
    /* Mix the seed, so that the network does not get the same random numbers as the platform. */
    rng_init(&net->rng, hash_mix(seed));
    list_init(&net->transits);
    list_init(&net->bound);
    list_init(&net->names);
    list_init(&net->programs);
    list_init(&net->children);
    list_init(&net->takers);
}

void *tr__virtual_net_new(struct virtual_net *net, size_t size)
{
    return net->platform->resize(net->platform, NULL, size);
}

void tr__virtual_net_free(struct virtual_net *net, void *memory)
{
    if (memory)
        net->platform->resize(net->platform, memory, 0);
}

void tr__virtual_net_trace(struct virtual_net *net, uint64_t value)
{
    net->trace = hash_mix(net->trace ^ value);
}

tr_time tr__virtual_net_now(const struct virtual_net *net)
{
    return net->is_settling ? net->arriving_ns : net->platform->mono_now(net->platform);
}

tr_time tr__virtual_net_due(struct virtual_net *net)
{
    tr_time delay_ns = net->weather.delay_ns;
    if (net->weather.jitter_ns > 0)
        delay_ns += (tr_time)rng_below(&net->rng, (uint64_t)net->weather.jitter_ns + 1);
    return tr__virtual_net_now(net) + delay_ns;
}

void tr__virtual_net_post(struct virtual_net *net, struct virtual_transit *transit, tr_time due_ns)
{
    TR_ASSERT(list_is_empty(&transit->link));
    transit->due_ns = due_ns;
    /*
     * Search from the end, because most new transits are due after all others. Transits with the same time stay in the
     * order of the calls.
     */
    struct list *before = &net->transits;
    while (before->previous != &net->transits &&
           LIST_OWNER(before->previous, struct virtual_transit, link)->due_ns > due_ns)
        before = before->previous;
    list_insert_before(before, &transit->link);
    tr__virtual_net_settle(net);
}

void tr__virtual_net_settle(struct virtual_net *net)
{
    if (net->is_settling || list_is_empty(&net->transits))
        return; /* return before the clock is read, because tests count how often it is read */
    tr_time now_ns = net->platform->mono_now(net->platform);
    net->is_settling = true;
    while (!list_is_empty(&net->transits)) {
        struct virtual_transit *transit =
            LIST_OWNER(net->transits.next, struct virtual_transit, link);
        if (transit->due_ns > now_ns)
            break;
        list_remove(&transit->link);
        net->arriving_ns = transit->due_ns;
        tr__virtual_net_trace(net, (uint64_t)transit->due_ns);
        transit->arrive(net, transit);
    }
    net->is_settling = false;
}

tr_time tr__virtual_net_next_ns(struct virtual_net *net)
{
    tr__virtual_net_settle(net);
    struct list *link = list_first(&net->transits);
    return link ? LIST_OWNER(link, struct virtual_transit, link)->due_ns : TR_NEVER;
}

void tr__virtual_net_fail(struct virtual_net *net, enum virtual_call call, uint64_t n,
                          tr_status status)
{
    TR_ASSERT(call < VIRTUAL_CALLS);
    TR_ASSERT(status != TR_OK);
    net->failures[call] = (struct virtual_failure){.in = n, .status = status};
}

tr_status tr__virtual_net_call(struct virtual_net *net, enum virtual_call call)
{
    tr__virtual_net_settle(net);
    struct virtual_failure *failure = &net->failures[call];
    if (failure->in == 0 || --failure->in > 0)
        return TR_OK;
    tr__virtual_net_trace(net, (uint64_t)call);
    return failure->status;
}

void tr__virtual_socket_init(struct virtual_net *net, struct virtual_socket *socket,
                             enum virtual_kind kind)
{
    *socket = (struct virtual_socket){.net = net, .kind = kind};
    list_init(&socket->bound);
    list_init(&socket->watches);
}

static struct virtual_socket **bucket_of(const struct virtual_net *net, int fd)
{
    return (struct virtual_socket **)(uintptr_t)&net->buckets[(unsigned)fd % VIRTUAL_BUCKETS];
}

void tr__virtual_socket_number(struct virtual_socket *socket, bool is_peer)
{
    struct virtual_net *net = socket->net;
    TR_ASSERT(socket->fd == 0);
    socket->fd = ++net->last_fd;
    socket->is_peer = is_peer;
    socket->next = *bucket_of(net, socket->fd);
    *bucket_of(net, socket->fd) = socket;
    net->open_count += !is_peer;
    tr__virtual_net_trace(net, (uint64_t)socket->fd);
}

void tr__virtual_socket_release(struct virtual_socket *socket)
{
    struct virtual_net *net = socket->net;
    list_remove(&socket->bound);
    if (socket->fd == 0)
        return;
    struct virtual_socket **place = bucket_of(net, socket->fd);
    while (*place != socket)
        place = &(*place)->next;
    *place = socket->next;
    net->open_count -= !socket->is_peer;
    socket->fd = 0;
}

struct virtual_socket *tr__virtual_socket_find(const struct virtual_net *net, int fd)
{
    struct virtual_socket *socket = *bucket_of(net, fd);
    while (socket && socket->fd != fd)
        socket = socket->next;
    return socket && !socket->is_peer ? socket : NULL;
}

tr_status tr__virtual_place(struct virtual_place *place, const tr_address *address,
                            const char *path)
{
    bool is_unix = address->family == TR_FAMILY_UNIX;
    if (path && strncmp(path, "fd:", 3) == 0)
        return TR_NOT_SUPPORTED; /* there are no inherited descriptors on this platform */
    if (is_unix && (!path || !*path || strlen(path) >= VIRTUAL_PATH_MAX))
        return TR_ADDRESS_INVALID;
    if (!is_unix && address->family != TR_FAMILY_V4 && address->family != TR_FAMILY_V6)
        return TR_ADDRESS_INVALID;
    *place = (struct virtual_place){.address = *address};
    place->address.path = NULL; /* clear the pointer, because the path was copied to place->path */
    if (is_unix)
        memcpy(place->path, path, strlen(path) + 1);
    return TR_OK;
}

static size_t host_size(const tr_address *address)
{
    return address->family == TR_FAMILY_V4 ? 4 : sizeof address->host;
}

/* Whether an address is all zero, and so stands for every address of the machine. */
static bool is_any(const tr_address *address)
{
    for (size_t i = 0; i < host_size(address); i++) {
        if (address->host[i])
            return false;
    }
    return true;
}

/*
 * Whether a socket of IPv6 also takes what is sent to this IPv4 address. It does if `any`, to which
 * the socket is bound, is the address of zeros, unless the socket is for IPv6 only.
 */
static bool takes_v4(const tr_address *any, bool only_v6, const tr_address *address)
{
    return any->family == TR_FAMILY_V6 && address->family == TR_FAMILY_V4 && !only_v6 &&
           is_any(any);
}

static bool has_same_host(const tr_address *a, const tr_address *b)
{
    return a->family == b->family && a->scope == b->scope &&
           memcmp(a->host, b->host, host_size(a)) == 0;
}

/*
 * Returns how well a bound socket matches a place to which something is sent. 0: not at all. 1: the socket is bound to
 * every address. 2: the socket is bound to exactly this place.
 */
static int fit(const struct virtual_socket *socket, const struct virtual_place *place)
{
    const tr_address *local = &socket->local.address;
    const tr_address *to = &place->address;
    if (local->family == TR_FAMILY_UNIX || to->family == TR_FAMILY_UNIX)
        return local->family == to->family && strcmp(socket->local.path, place->path) == 0 ? 2 : 0;
    if (local->port != to->port)
        return 0;
    if (has_same_host(local, to))
        return 2;
    bool covers =
        (local->family == to->family && is_any(local)) || takes_v4(local, socket->only_v6, to);
    return covers ? 1 : 0;
}

/* Whether `bound` prevents `socket` from being bound to this place. */
static bool collides(const struct virtual_socket *bound, const struct virtual_socket *socket,
                     const struct virtual_place *place)
{
    const tr_address *a = &bound->local.address;
    const tr_address *b = &place->address;
    if (bound->kind != socket->kind || (bound->reuses_port && socket->reuses_port))
        return false;
    if (fit(bound, place))
        return true;
    if (a->family == TR_FAMILY_UNIX || b->family == TR_FAMILY_UNIX || a->port != b->port)
        return false;
    return (a->family == b->family && is_any(b)) || takes_v4(b, socket->only_v6, a);
}

tr_status tr__virtual_bind(struct virtual_socket *socket, const struct virtual_place *place)
{
    struct virtual_net *net = socket->net;
    TR_ASSERT(list_is_empty(&socket->bound));
    socket->local = *place;
    if (place->address.family != TR_FAMILY_UNIX && place->address.port == 0) {
        socket->local.address.port = tr__virtual_free_port(net, socket->kind);
        if (!socket->local.address.port)
            return TR_LIMIT;
    }
    LIST_EACH (link, &net->bound) {
        if (collides(LIST_OWNER(link, struct virtual_socket, bound), socket, &socket->local))
            return TR_ADDRESS_IN_USE;
    }
    list_push_last(&net->bound, &socket->bound);
    return TR_OK;
}

struct virtual_socket *tr__virtual_bound(struct virtual_net *net, enum virtual_kind kind,
                                         const struct virtual_place *place)
{
    struct virtual_socket *best = NULL;
    int best_fit = 1;
    /*
     * the number of sockets that match equally well; each of them is chosen with the same
     * probability
     */
    uint64_t equals = 0;
    LIST_EACH (link, &net->bound) {
        struct virtual_socket *socket = LIST_OWNER(link, struct virtual_socket, bound);
        int found = socket->kind == kind ? fit(socket, place) : 0;
        if (found < best_fit || found == 0)
            continue;
        equals = found > best_fit ? 1 : equals + 1;
        best_fit = found;
        if (equals == 1 || rng_below(&net->rng, equals) == 0)
            best = socket;
    }
    return best;
}

uint16_t tr__virtual_free_port(struct virtual_net *net, enum virtual_kind kind)
{
    for (int tries = VIRTUAL_FIRST_PORT; tries <= UINT16_MAX; tries++) {
        bool is_free = true;
        net->last_port =
            net->last_port == UINT16_MAX ? VIRTUAL_FIRST_PORT : (uint16_t)(net->last_port + 1);
        LIST_EACH (link, &net->bound) {
            const struct virtual_socket *socket = LIST_OWNER(link, struct virtual_socket, bound);
            if (socket->kind == kind && socket->local.address.port == net->last_port)
                is_free = false;
        }
        if (is_free)
            return net->last_port;
    }
    return 0;
}

void tr__virtual_place_loopback(struct virtual_place *place)
{
    tr_address *address = &place->address;
    if (address->family == TR_FAMILY_UNIX || !is_any(address))
        return;
    if (address->family == TR_FAMILY_V4)
        address->host[0] = 127;
    address->host[host_size(address) - 1] = 1;
}
