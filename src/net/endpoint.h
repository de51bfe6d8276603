/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Endpoints: copies of a tr_endpoint, which says how to communicate at an address. All channels
 * that were made from an endpoint share it.
 */
#ifndef NET_ENDPOINT_H
#define NET_ENDPOINT_H

#include <troupe/net.h>

#include "mem/source.h"
#include "os/atomic.h"

struct listener_shared;
struct tls_context;

struct endpoint {
    atom32 users;
    /* the options with their defaults filled in; their strings are behind this struct */
    tr_endpoint options;
    struct tls_context *tls; /* NULL: none */
    /* set as long as the listener or one of its sessions exists */
    struct listener_shared *listener;
    /* data of the protocol for this endpoint; options.protocol makes and frees it; NULL: none */
    void *site;
    /*
     * for a bound UNIX socket: the id of its file, which platform->socket_file returns; all zero:
     * no file
     */
    uint64_t file[2];
};

/** What an endpoint is for. */
enum endpoint_role { ENDPOINT_LISTENS, ENDPOINT_CONNECTS, ENDPOINT_BINDS };

/**
 * Copies an endpoint. Fails with TR_NO_MEMORY, or with TR_INVALID_ARGUMENT for an invalid size, a
 * kind that does not fit the role, no address, a negative time, or an option that would have no
 * effect.
 */
TR_MUST_CHECK tr_status tr__endpoint_new(const struct memory_source *source,
                                         const tr_endpoint *from, enum endpoint_role role,
                                         struct endpoint **endpoint);
/**
 * Fills in where the socket of a spec listens or is bound: at a path, at an inherited descriptor
 * ("fd:3") or at an address. Fails with TR_INVALID_ARGUMENT.
 */
TR_MUST_CHECK tr_status tr__endpoint_place(const tr_endpoint *options, tr_socket_spec *spec);
/**
 * If the endpoint is a path of a UNIX socket, notes which file the bound socket has at this path.
 */
void tr__endpoint_note_file(const tr_platform *platform, struct endpoint *endpoint);
/** Adds a user. Any thread. */
struct endpoint *tr__endpoint_share(struct endpoint *endpoint);
/** Removes a user of an endpoint; the last one frees it. Any thread. */
void tr__endpoint_drop(const struct memory_source *source, struct endpoint *endpoint);

#endif
