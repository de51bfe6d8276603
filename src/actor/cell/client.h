/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The record of a client: a thread that is no worker and speaks with actors. See actor/verbs/client.h.
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

/** The asks of a client that are not forgotten, by number. All zero is none. */
struct client_asks {
    struct client_ask **places; /* lists; NULL: `few` is all */
    struct client_ask *few[8];
    uint32_t mask; /* of places */
    uint32_t count;
    uint32_t due;  /* those with a callback that have ended and wait for a poll */
    uint32_t last; /* the number of the last ask */
};

struct tr_client {
    struct tr_client *next; /* of the system */
    struct tr_system *system;
    struct cell *cell;
    tr_parker *parker;
    struct ready ready;
    struct grace_reader reader; /* of the names */
    struct envelope *received;  /* a ring, oldest first */
    uint32_t received_count;
    uint32_t news_count;   /* of them the newest, which make the descriptor readable; */
    uint32_t fresh_count;  /* of these the newest, which arrived after the last poll */
    struct envelope *lent; /* what tr_receive gave out last */
    uint64_t causal_next;
    uint64_t wait_last;     /* number of the last wait for capacity */
    struct envelope *grant; /* its answer */
    atom64 waits; /* its number until somebody answers it or it ends, then 0; any thread */
    struct client_asks asks;
    struct client_calls *calls; /* NULL until the first tr_ask_callback */
    struct envelope *told;      /* the reply that tr_try_await gave out last */
    tr_error why;               /* how the ask that it waited for last has ended */
    uint64_t why_id;
    struct client_ask_trace *trace; /* what it wants to be told, NULL for nothing */
    struct watch_table watches;     /* whom it watches; see actor/life/watchers.h */
    struct envelope *watchers;      /* who watches it: a ring, by its first one */
    bool has_fd;                    /* somebody waits for the parker's descriptor, which is: */
    enum {
        FD_DARK,      /* not readable */
        FD_ANNOUNCED, /* not readable; the next post makes it so, and sleep says whether there was one */
        FD_LIT        /* readable */
    } fd;
    bool is_used; /* under the system's foreign lock */
    bool is_last; /* the system is over: what is here is all there will be */
    enum { PROBE_IS_OUT, PROBE_IS_UP, PROBE_IS_GONE } probe; /* what became of the last one */
    uint64_t probed;
    uint32_t failure_count;
    struct client_failure *failures; /* a ring of TR_CLIENT_FAILURES_MAX, NULL until needed */
};

/** Whether a client still waits for capacity under this number. Any thread. */
static inline bool client_waits(const struct tr_client *client, uint64_t number)
{
    return atom64_load(&client->waits, ATOM_RELAXED) == number;
}

/** Ends that wait: true for one caller only, who must answer if it is not the client. Any thread. */
static inline bool client_claim(struct tr_client *client, uint64_t number)
{
    return atom64_compare_exchange(&client->waits, &number, 0, ATOM_RELAXED, ATOM_RELAXED);
}

/** Frees an envelope that a client has. The client's thread only. */
void tr__client_give(struct tr_client *client, struct envelope *envelope);

#endif
