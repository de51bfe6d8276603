/* SPDX-License-Identifier: Apache-2.0 */
#include "net/listener_shared.h"

#include <string.h>

#include "actor/cell/names.h"
#include "base/hash.h"

tr_status tr__listener_shared_new(struct tr_system *system, struct endpoint *endpoint,
                                  const tr_listen_args *args, struct listener_shared **made)
{
    size_t size = sizeof(struct listener_shared) + system->worker_count * sizeof(atom32);
    struct listener_shared *shared = source_resize(&system->source, NULL, size);
    if (!shared)
        return TR_NO_MEMORY;
    memset(shared, 0, size);
    shared->system = system;
    shared->behavior = args->behavior;
    shared->setup_type = args->setup_type;
    shared->worker_count = system->worker_count;
    if (args->setup_type) {
        shared->setup = tr_message_copy(args->setup_type, args->setup);
        if (!shared->setup) {
            source_resize(&system->source, shared, 0);
            return TR_NO_MEMORY;
        }
    }
    shared->endpoint = tr__endpoint_share(endpoint);
    endpoint->listener = shared;
    list_init(&shared->link);
    list_init(&shared->accepted);
    lock_init(&shared->lock);
    atom32_init(&shared->users, 1);
    atom32_init(&shared->total, 0);
    atom32_init(&shared->is_full, 0);
    for (uint32_t i = 0; i < shared->worker_count; i++)
        atom32_init(&shared->counts[i], 0);
    *made = shared;
    return TR_OK;
}

struct listener_shared *tr__listener_share(struct listener_shared *shared)
{
    atom32_fetch_add(&shared->users, 1, ATOM_RELAXED);
    return shared;
}

void tr__listener_shared_drop(struct listener_shared *shared)
{
    const struct memory_source *source = &shared->system->source;
    if (atom32_fetch_sub(&shared->users, 1, ATOM_ACQ_REL) != 1)
        return;
    for (size_t i = 0; i < PEER_BUCKETS; i++) {
        while (shared->peers[i]) {
            struct peer_count *peer = shared->peers[i];
            shared->peers[i] = peer->next;
            source_resize(source, peer, 0);
        }
    }
    tr_message_free(shared->setup_type, shared->setup);
    tr__endpoint_drop(source, shared->endpoint);
    source_resize(source, shared, 0);
}

void tr__listener_show(struct listener_shared *shared)
{
    struct tr_system *system = shared->system;
    lock_take(&system->channels.lock);
    if (!system->channels.listeners.next)
        list_init(&system->channels.listeners);
    list_push_last(&system->channels.listeners, &shared->link);
    lock_give(&system->channels.lock);
}

void tr__listener_hide(struct listener_shared *shared)
{
    lock_take(&shared->system->channels.lock);
    list_remove(&shared->link);
    lock_give(&shared->system->channels.lock);
}

struct listener_shared *tr__listener_find(struct tr_system *system, uint64_t ref)
{
    struct listener_shared *found = NULL;
    lock_take(&system->channels.lock);
    if (system->channels.listeners.next) {
        LIST_EACH (link, &system->channels.listeners) {
            struct listener_shared *shared = LIST_OWNER(link, struct listener_shared, link);
            if (shared->ref == ref)
                found = tr__listener_share(shared);
        }
    }
    lock_give(&system->channels.lock);
    return found;
}

/* ---- Connections on their way to a deck. ---- */

struct accepted *tr__accepted_new(struct listener_shared *shared, int fd, uint32_t worker,
                                  const tr_address *peer)
{
    struct accepted *accepted = source_resize(&shared->system->source, NULL, sizeof *accepted);
    if (!accepted)
        return NULL;
    *accepted = (struct accepted){.fd = fd, .worker = worker, .peer = *peer};
    list_init(&accepted->link);
    lock_take(&shared->lock);
    accepted->number = ++shared->numbers;
    list_push_last(&shared->accepted, &accepted->link);
    lock_give(&shared->lock);
    return accepted;
}

struct accepted tr__accepted_take(struct listener_shared *shared, struct accepted *accepted)
{
    lock_take(&shared->lock);
    list_remove(&accepted->link);
    lock_give(&shared->lock);
    struct accepted taken = *accepted;
    source_resize(&shared->system->source, accepted, 0);
    return taken;
}

struct accepted *tr__accepted_find(struct listener_shared *shared, uint32_t worker)
{
    struct accepted *found = NULL;
    lock_take(&shared->lock);
    LIST_EACH (link, &shared->accepted) {
        struct accepted *accepted = LIST_OWNER(link, struct accepted, link);
        if (accepted->worker == worker) {
            found = accepted;
            break;
        }
    }
    lock_give(&shared->lock);
    return found;
}

/*
 * Removes the connection with this number from the list, and copies it to *taken. Number 0 means
 * the first one. Returns false if there is none.
 */
static bool claim(struct listener_shared *shared, uint64_t number, struct accepted *taken)
{
    struct accepted *found = NULL;
    lock_take(&shared->lock);
    LIST_EACH (link, &shared->accepted) {
        struct accepted *accepted = LIST_OWNER(link, struct accepted, link);
        if (accepted->number == number || !number) {
            found = accepted;
            list_remove(&accepted->link);
            break;
        }
    }
    lock_give(&shared->lock);
    if (!found)
        return false;
    *taken = *found;
    source_resize(&shared->system->source, found, 0);
    return true;
}

bool tr__accepted_claim(struct listener_shared *shared, uint64_t number, struct accepted *taken)
{
    return number && claim(shared, number, taken);
}

void tr__accepted_reset(struct listener_shared *shared)
{
    const tr_platform *platform = shared->system->platform;
    struct accepted taken;
    /* between two claims the lock is free, so an actor may claim a connection meanwhile */
    while (claim(shared, 0, &taken))
        platform->socket_close(platform, taken.fd, true);
}

/* ---- Counting connections by address. ---- */

/* a customer usually has a whole /64, so all addresses of a /64 count as one */
enum { PEER_V6_BYTES = 8 };

static struct peer_count **peer_find(struct listener_shared *shared, const tr_address *address)
{
    size_t size = address->family == TR_FAMILY_V6 ? PEER_V6_BYTES : sizeof address->host;
    uint64_t hash = hash_bytes(shared->system->names->key, address->host, size);
    struct peer_count **at = &shared->peers[hash % PEER_BUCKETS];
    while (*at && ((*at)->address.family != address->family ||
                   memcmp((*at)->address.host, address->host, size) != 0))
        at = &(*at)->next;
    return at;
}

bool tr__listener_count_peer(struct listener_shared *shared, const tr_address *peer)
{
    uint32_t max = shared->endpoint->options.connections_per_peer_max;
    bool may_come = true;
    if (!max || peer->family == TR_FAMILY_UNIX || !peer->family)
        return true;
    lock_take(&shared->lock);
    struct peer_count **at = peer_find(shared, peer);
    if (!*at) {
        *at = source_resize(&shared->system->source, NULL, sizeof **at);
        if (*at)
            **at = (struct peer_count){.address = *peer};
    }
    may_come = *at && (*at)->count < max;
    if (may_come)
        (*at)->count++;
    lock_give(&shared->lock);
    return may_come;
}

void tr__listener_uncount_peer(struct listener_shared *shared, const tr_address *peer)
{
    if (!shared->endpoint->options.connections_per_peer_max || peer->family == TR_FAMILY_UNIX ||
        !peer->family)
        return;
    lock_take(&shared->lock);
    struct peer_count **at = peer_find(shared, peer);
    if (*at && !--(*at)->count) {
        struct peer_count *gone = *at;
        *at = gone->next;
        source_resize(&shared->system->source, gone, 0);
    }
    lock_give(&shared->lock);
}
