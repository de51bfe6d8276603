/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients: how threads that are no workers speak with actors.
 *
 * A client has an address, a cell whose door posts to the client's own ready inbox. Its memory is
 * the system's until that ends, since who posted may still be about to wake it.
 */
#ifndef ACTOR_VERBS_CLIENT_H
#define ACTOR_VERBS_CLIENT_H

#include <troupe/callback.h>

#include "actor/ask/ask_trace.h"

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

/** Has the bounds of a client's mailbox. */
TR_BEHAVIOR_DECLARE(tr_inbox);

/** What a client is told of a spawn that failed. */
TR_MESSAGE(tr_outcome, (u64, ref), (i32, status), (str, text), (str, where));
/** What a client asks an actor: are you up? The answer travels in the same envelope. */
TR_MESSAGE(tr_probe, (u64, ref), (i32, status));

/** A request of a client. */
struct client_ask {
    struct client_ask *next; /* in its place; of one with a callback that is due, in that queue */
    struct envelope *answer; /* NULL: none yet */
    const tr_type *type;
    uint64_t to;
    tr_time deadline_ns;
    const tr_callback *callback; /* or NULL */
    void *context;
    struct timer_node timeout; /* of one with a callback */
    tr_status status;          /* of one that got no answer: how it ended, or TR_OK */
    uint32_t id;
    bool is_look; /* a question of the runtime's own: nobody asks where it is */
};

/** Where a request is that got no answer in time. */
struct client_ask_trace {
    uint32_t id;
    bool is_told;
    char words[STORY_MAX];
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

/** Takes in what has arrived. The client's thread only, as all of these. */
void tr__client_look(struct tr_client *client);
/** As tr__client_look; if the system is over, client->is_last says so and all that came is here. */
void tr__client_look_last(struct tr_client *client);
/** Waits for something to arrive, until the deadline. False: there is nothing more to wait for. */
bool tr__client_wait(struct tr_client *client, tr_time deadline_ns);
/**
 * The end of a call that has taken something in: makes the descriptor readable, or not, as tr_client_fd
 * says. A wake may come so late that the descriptor is readable for nothing: is_sure has the kernel
 * asked, which one call of each loop must do.
 */
void tr__client_announce(struct tr_client *client, bool is_sure);
/** When a wait that begins now ends; 0 for none, never for TR_NEVER. */
tr_time tr__client_deadline(struct tr_client *client, tr_time timeout_ns);
/** Frees an envelope. */
void tr__client_give(struct tr_client *client, struct envelope *envelope);

/** Answers a probe: whether the actor was set up. Takes the envelope. */
void tr__probe_answer(struct worker *worker, struct envelope *envelope, bool is_up);

/** Tells a client that a spawn failed. */
void tr__outcome_send(struct worker *worker, uint64_t client, uint64_t ref, const tr_error *error);

/** Wakes the clients that wait: the system is over. Any thread. */
void tr__clients_nudge(struct tr_system *system);
/** Closes the clients of a system that nobody has freed. */
void tr__clients_close(struct tr_system *system);
/** Frees all clients of a system. */
void tr__clients_free(struct tr_system *system);

#endif
