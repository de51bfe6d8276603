/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients: how threads that are no workers speak with actors.
 *
 * A client has an address, a cell whose door posts to the client's own ready inbox. Its memory is
 * the system's until that ends, since who posted may still be about to wake it.
 */
#ifndef ACTOR_CLIENT_H
#define ACTOR_CLIENT_H

#include "actor/mail.h"

struct client_failure {
    uint64_t ref;
    tr_error error;
};

struct tr_client {
    struct tr_client *next; /* of the system */
    struct tr_system *system;
    struct cell *cell;
    tr_parker *parker;
    struct ready ready;
    struct envelope *received; /* a ring, oldest first */
    struct envelope *lent;     /* what tr_receive gave out last */
    uint64_t causal_next;
    uint64_t wait_last;     /* number of the last wait for room */
    uint64_t wait_number;   /* of the present one, or 0 */
    struct envelope *grant; /* its answer */
    struct client_ask *asks;
    uint32_t ask_last;     /* number of the last ask */
    struct envelope *told; /* the reply that tr_try_await gave out last */
    bool is_used;          /* under the system's foreign lock */
    bool is_last;          /* the system is over: what is here is all there will be */
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
    struct client_ask *next;
    struct envelope *answer; /* NULL: none yet */
    tr_time deadline_ns;
    tr_status status; /* of one that could not be sent */
    uint32_t id;
};

/** A REPLY or an EXCEPTION has arrived: false when nobody waits for it. */
bool tr__client_answered(struct tr_client *client, struct envelope *envelope);
/** Asks whoever has this cell, in an envelope of this kind; how it ended: tr_client_try_await. */
tr_pending tr__client_ask(struct tr_client *client, struct cell *cell, uint64_t to,
                          enum envelope_kind kind, const tr_type *type, const void *message,
                          tr_time timeout_ns);
/** Frees what is left of its asks. */
void tr__client_asks_free(struct tr_client *client);

/** Sends one envelope; `ask` is NULL or the ask that it is. */
tr_status tr__client_send(struct tr_client *client, struct cell *cell, uint64_t to,
                          enum envelope_kind kind, const tr_type *type, const void *message,
                          const struct client_ask *ask);

/** Takes in what has arrived. The client's thread only, as all of these. */
void tr__client_look(struct tr_client *client);
/** Waits for something to arrive, until the deadline. False: there is nothing more to wait for. */
bool tr__client_wait(struct tr_client *client, tr_time deadline_ns);
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
