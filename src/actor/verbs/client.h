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
#include "timer/wheel.h"

/** Has the bounds of a client's mailbox. */
TR_BEHAVIOR_DECLARE(tr_inbox);

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

/** Wakes the clients that wait: the system is over. Any thread. */
void tr__clients_nudge(struct tr_system *system);
/** Closes the clients of a system that nobody has freed. */
void tr__clients_close(struct tr_system *system);
/** Frees all clients of a system. */
void tr__clients_free(struct tr_system *system);

#endif
