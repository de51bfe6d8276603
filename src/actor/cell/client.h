/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The record of a client: a thread that is not a worker and exchanges messages with actors. See
 * actor/verbs/client.h.
 */
#ifndef ACTOR_CELL_CLIENT_H
#define ACTOR_CELL_CLIENT_H

#include <troupe/platform.h>

#include "actor/cell/system.h"
#include "mem/envelope.h"
#include "os/atomic.h"

struct client_failure {
    uint64_t ref;
    tr_error error;
};

/** The asks of a client that are not freed, by number. All zero means no asks. */
struct client_asks {
    struct client_ask **places; /* buckets, each of which is a list; NULL: `few` is used */
    struct client_ask *few[8];
    uint32_t mask; /* of places */
    uint32_t count;
    uint32_t due;  /* asks with a callback that have ended and wait for a poll */
    uint32_t last; /* the number of the last ask */
};

struct tr_client {
    struct tr_client *next; /* the next one in the list of all clients of the system */
    struct tr_system *system;
    struct cell *cell;
    tr_parker *parker;
    struct ready ready;
    struct grace_reader reader; /* reader of the directory of names */
    struct envelope *received;  /* a ring, oldest first */
    uint32_t received_count;
    /* how many messages in `received`, the newest ones, make the descriptor readable */
    uint32_t news_count;
    /* how many messages in `received`, the newest ones, arrived after the last poll */
    uint32_t fresh_count;
    struct envelope *lent; /* the message that tr_receive returned last */
    uint64_t causal_next;
    uint64_t wait_last;     /* number of the last wait for capacity */
    struct envelope *grant; /* the answer to the last wait for capacity */
    /* number of the current wait for capacity; 0 when it was answered or has ended; any thread */
    atom64 waits;
    struct client_asks asks;
    struct client_calls *calls; /* NULL until the first tr_ask_callback */
    struct envelope *told;      /* the reply that tr_try_await returned last */
    tr_error why;               /* how the ask ended that the client waited for last */
    uint64_t why_id;
    struct client_ask_trace *trace; /* the trace that the client waits for, NULL for none */
    /* the actors that the client watches; see actor/life/watchers.h */
    struct watch_table watches;
    /* the WATCHes of actors that watch the client: a ring, known by its first envelope */
    struct envelope *watchers;
    /* the application uses the parker's descriptor, whose state is `fd` */
    bool has_fd;
    enum {
        FD_DARK, /* not readable */
        /* not readable; the next post makes it readable, and `sleep` shows whether there was one */
        FD_ANNOUNCED,
        FD_LIT /* readable */
    } fd;
    /* the client never waits for the capacity of a mailbox. Set before the first message */
    bool never_waits;
    bool is_used; /* under the system's foreign lock */
    bool is_last; /* the system is over: no more messages will arrive */
    enum { PROBE_IS_OUT, PROBE_IS_UP, PROBE_IS_GONE } probe; /* state of the last probe */
    uint64_t probed;
    uint32_t failure_count;
    void *listed;                    /* the page that tr_durable_list returned last */
    struct client_failure *failures; /* a ring of TR_CLIENT_FAILURES_MAX, NULL until needed */
};

/** Whether the client still waits for capacity under this number. Any thread. */
static inline bool client_waits(const struct tr_client *client, uint64_t number)
{
    return atom64_load(&client->waits, ATOM_RELAXED) == number;
}

/**
 * Ends the wait with this number. Returns true to one caller only. If that caller is not the
 * client, it must answer the client. Any thread.
 */
static inline bool client_claim(struct tr_client *client, uint64_t number)
{
    return atom64_compare_exchange(&client->waits, &number, 0, ATOM_RELAXED, ATOM_RELAXED);
}

/** Frees an envelope that a client holds. The client's thread only. */
void tr__client_give(struct tr_client *client, struct envelope *envelope);

#endif
