/* SPDX-License-Identifier: Apache-2.0 */
/** The data that a listener, its decks and its sessions share. */
#ifndef NET_LISTENER_SHARED_H
#define NET_LISTENER_SHARED_H

#include "actor/cell/system.h"
#include "net/endpoint.h"

/** How many connections one address has, for connections_per_peer_max. */
struct peer_count {
    struct peer_count *next;
    tr_address address; /* without port */
    uint32_t count;
};

enum { PEER_BUCKETS = 64 };

/**
 * A connection that the listener has accepted, on its way to a deck or to the actor to which it is
 * offered.
 */
struct accepted {
    struct list link; /* link in listener_shared.accepted */
    int fd;
    uint32_t worker; /* index of the worker whose deck gets the connection */
    uint64_t number; /* number of the connection; an offer to an actor names it, see net/offer.c */
    tr_address peer;
};

struct listener_shared {
    struct list link; /* in the list of all listeners of the system */
    atom32 users;
    struct tr_system *system;
    struct endpoint *endpoint;
    const tr_behavior *behavior; /* behavior of the sessions */
    const tr_type *setup_type;
    void *setup;        /* copy of the set-up message of sessions; NULL: none */
    uint64_t ref;       /* ref of the listener */
    tr_address address; /* the address at which the listener listens */
    bool has_socket;    /* the listener has taken over the descriptor of the socket */
    /*
     * number of sessions, and of connections that are offered or on their way to a deck
     */
    atom32 total;
    atom32 is_full; /* the listener accepts nothing until a session ends */
    /* tr_listener_pause was called; the listener writes this, sessions read it */
    atom32 is_paused;
    struct lock lock; /* protects `peers`, `accepted` and `numbers` */
    /* number of records of connections made so far; the next record gets the next number */
    uint64_t numbers;
    struct list accepted; /* list of struct accepted: connections that nobody has taken yet */
    struct peer_count *peers[PEER_BUCKETS];
    uint32_t worker_count;
    atom32 counts[]; /* by worker */
};

/**
 * Makes the record, which becomes a user of the endpoint. Fails with TR_NO_MEMORY, TR_TOO_LARGE.
 */
TR_MUST_CHECK tr_status tr__listener_shared_new(struct tr_system *system, struct endpoint *endpoint,
                                                const tr_listen_args *args,
                                                struct listener_shared **made);
struct listener_shared *tr__listener_share(struct listener_shared *shared);
/** Any thread. */
void tr__listener_shared_drop(struct listener_shared *shared);

/**
 * Finds the record of a listener and adds a user to it. Returns NULL if the listener has ended. Any
 * thread.
 */
struct listener_shared *tr__listener_find(struct tr_system *system, uint64_t ref);
/**
 * tr__listener_show lets tr__listener_find find a listener by its ref. tr__listener_hide ends that.
 * Any thread.
 */
void tr__listener_show(struct listener_shared *shared);
void tr__listener_hide(struct listener_shared *shared);

/**
 * Records a connection that is on its way to a deck. Returns NULL if there is no memory. Any
 * thread.
 */
struct accepted *tr__accepted_new(struct listener_shared *shared, int fd, uint32_t worker,
                                  const tr_address *peer);
/**
 * Removes the record of a connection from the list, frees it, and returns what was in it. Any
 * thread.
 */
struct accepted tr__accepted_take(struct listener_shared *shared, struct accepted *accepted);
/**
 * Claims the connection with this number: removes it from the list. Returns false if it was claimed
 * before. Any thread.
 */
TR_MUST_CHECK bool tr__accepted_claim(struct listener_shared *shared, uint64_t number,
                                      struct accepted *taken);
/**
 * Finds a connection that is on its way to the deck of this worker. Call when that deck has ended.
 * Returns NULL if there is no such connection. Any thread.
 */
struct accepted *tr__accepted_find(struct listener_shared *shared, uint32_t worker);
/** Resets all connections that were neither taken nor claimed. Call when all decks have ended. */
void tr__accepted_reset(struct listener_shared *shared);

/**
 * tr__listener_count_peer counts a connection from this address. It returns false if the address
 * has too many connections, or if out of memory. tr__listener_uncount_peer subtracts the connection
 * again.
 */
bool tr__listener_count_peer(struct listener_shared *shared, const tr_address *peer);
void tr__listener_uncount_peer(struct listener_shared *shared, const tr_address *peer);

#endif
