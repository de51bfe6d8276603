/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The record of a client: a thread that is not a worker and exchanges messages with actors. See
 * actor/verbs/client.h.
 */
#ifndef ACTOR_CELL_CLIENT_H
#define ACTOR_CELL_CLIENT_H

#include <troupe/platform.h>

#include "actor/cell/system.h"
#include "base/assert.h"
#include "mem/envelope.h"
#include "os/atomic.h"

struct client_failure {
    uint64_t ref;
    tr_error error;
};

/** A hash table of the asks of a client, by number. A table of zeros has no asks. */
struct client_asks {
    /* the buckets, each of which is a list; NULL: `few` has the buckets */
    struct client_ask **places;
    struct client_ask *few[8];
    uint32_t mask; /* of places */
    uint32_t count;
    /* number of asks with a callback that have an outcome and wait for tr_client_poll */
    uint32_t due;
    uint32_t last; /* the number of the last ask */
};

/**
 * Which thread is in a call of the client. Only debug builds write these members: see CLIENT_VERB.
 */
struct client_use {
    atom64 thread_id; /* 0: none */
    uint32_t depth;   /* how many calls of that thread are inside each other */
};

struct tr_client {
    struct tr_client *next; /* the next client in the list of all clients of the system */
    struct tr_system *system;
    struct cell *cell;
    tr_parker *parker;
    struct ready ready;
    struct grace_reader reader; /* reader of the directory of names */
    struct envelope *received;  /* a ring of the messages that wait, the oldest first */
    uint32_t received_count;
    /* the newest `news_count` messages in `received` are news: they make the descriptor readable */
    uint32_t news_count;
    /* number of messages in `received` that have arrived since the last tr_client_poll */
    uint32_t fresh_count;
    struct envelope *lent; /* the message that tr_receive returned last */
    uint64_t causal_next;
    uint64_t wait_last;     /* number of the last wait for capacity */
    struct envelope *grant; /* the answer to the last wait for capacity */
    /*
     * number of the current wait for capacity; 0: there is none, or it was answered. Read and
     * written by any thread
     */
    atom64 waits;
    struct client_asks asks;
    struct client_calls *calls; /* NULL until the first tr_ask_callback */
    struct envelope *told;      /* the reply that tr_try_await returned last */
    tr_error why;               /* the error of the ask for which the client waited last */
    uint64_t why_id;
    struct client_ask_trace *trace; /* the trace that the client waits for, NULL for none */
    /* the actors that the client watches; see actor/life/watchers.h */
    struct watch_table watches;
    /* a ring of WATCHes, by its first envelope: the watches of actors that watch the client */
    struct envelope *watchers;
    /* the application uses the parker's descriptor, whose state is `fd` */
    bool has_fd;
    enum {
        FD_DARK, /* not readable */
        /*
         * not readable, but the next post makes it readable. `ready` of the client says whether
         * that post has come
         */
        FD_ANNOUNCED,
        FD_LIT /* readable */
    } fd;
    /* the client never waits for capacity of a mailbox. Set before its first message */
    bool never_waits;
    /* the record belongs to a client that exists. Read and written under system->foreign.lock */
    bool is_used;
    bool is_last; /* the system is over: no more messages will arrive */
    /*
     * what is known of the last ENVELOPE_PROBE: no answer yet; the probed actor runs; the actor is
     * gone
     */
    enum { PROBE_IS_OUT, PROBE_IS_UP, PROBE_IS_GONE } probe;
    uint64_t probed;
    uint32_t failure_count;
    struct client_use use;
    void *listed;                    /* memory of the keys that tr_durable_list returned last */
    struct client_failure *failures; /* a ring of TR_CLIENT_FAILURES_MAX, NULL until needed */
};

/** Whether the client still waits for capacity, in the wait with this number. Any thread. */
static inline bool client_waits(const struct tr_client *client, uint64_t number)
{
    return atom64_load(&client->waits, ATOM_RELAXED) == number;
}

/**
 * Ends the wait for capacity with this number. If several threads call this function, it returns
 * true to only one of them. If that thread is not the client's thread, it must answer the client.
 * Any thread.
 */
static inline bool client_claim(struct tr_client *client, uint64_t number)
{
    return atom64_compare_exchange(&client->waits, &number, 0, ATOM_RELAXED, ATOM_RELAXED);
}

/** Debug builds check which thread calls a client. */
#ifdef TR_DEBUG
enum { CLIENT_CHECKS_USE = true };
#else
enum { CLIENT_CHECKS_USE = false };
#endif

/** Returns the platform's number of the calling thread. Any thread. */
static inline uint64_t client_thread_id(const struct tr_client *client)
{
    const tr_platform *platform = client->system->platform;
    return platform->thread_id(platform);
}

/**
 * Whether no other thread is in a call of this client. This is what "The client's thread only"
 * requires: a client has no thread of its own, and several threads may use it one after the other.
 */
static inline bool client_is_mine(const struct tr_client *client)
{
    uint64_t id = CLIENT_CHECKS_USE ? atom64_load(&client->use.thread_id, ATOM_RELAXED) : 0;
    return !id || id == client_thread_id(client);
}

/** Notes that a call of the client begins. Returns the client for client_end, or NULL. */
static inline struct tr_client *client_begin(struct tr_client *client)
{
    if (!CLIENT_CHECKS_USE || !client)
        return NULL;
    uint64_t id = client_thread_id(client);
    uint64_t user = 0;
    if (!atom64_compare_exchange(&client->use.thread_id, &user, id, ATOM_RELAXED, ATOM_RELAXED))
        TR_ASSERT(user == id); /* if this fails, two threads use the client at the same time */
    client->use.depth++;
    return client;
}

static inline void client_end(struct tr_client **client)
{
    if (*client && !--(*client)->use.depth)
        atom64_store(&(*client)->use.thread_id, 0, ATOM_RELAXED);
}

/** Must be the first line of each public function that a client's thread calls. */
#define CLIENT_VERB(client)                                                                        \
    __attribute__((__cleanup__(client_end), __unused__)) struct tr_client *client_in_use =         \
        client_begin(client)

/** Frees an envelope that a client holds. The client's thread only. */
void tr__client_give(struct tr_client *client, struct envelope *envelope);

#endif
