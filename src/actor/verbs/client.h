/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Clients: how threads that are not workers exchange messages with actors.
 *
 * A client has an address: a cell whose door posts to the client's own ready inbox. The system
 * keeps the memory of a client until the system ends, because a thread that has posted to the
 * client may still be about to wake it.
 */
#ifndef ACTOR_VERBS_CLIENT_H
#define ACTOR_VERBS_CLIENT_H

#include <troupe/callback.h>

#include "actor/ask/ask_trace.h"
#include "timer/wheel.h"

/** The behavior whose options are the bounds of a client's mailbox. It has no handlers. */
TR_BEHAVIOR_DECLARE(tr_inbox);

/** An ask of a client. */
struct client_ask {
    /*
     * The next ask in the same place of the table. While the callback of this ask is due, the next
     * ask in the queue of due asks.
     */
    struct client_ask *next;
    struct envelope *answer; /* NULL: no answer has arrived */
    const tr_type *type;
    uint64_t to;
    tr_time deadline_ns;
    const tr_callback *callback; /* NULL: none */
    void *context;
    struct timer_node timeout; /* only used with a callback */
    /* if the ask has ended without an answer, the reason; otherwise TR_OK */
    tr_status status;
    uint32_t id;
    bool is_look; /* the runtime itself has made this ask: if the ask times out, it gets no trace */
};

/**
 * When an ask of a client has timed out, the client waits for the trace of the ask. This is the
 * trace: it says where the request of the ask is.
 */
struct client_ask_trace {
    uint32_t id;
    bool is_told;
    char words[ASK_TRACE_MAX];
};

/** Takes in the mail that has arrived. The client's thread only. */
void tr__client_look(struct tr_client *client);
/**
 * If the system is over, sets client->is_last. Then does what tr__client_look does. If is_last is
 * set, nothing more arrives after this call. The client's thread only.
 */
void tr__client_look_last(struct tr_client *client);
/**
 * Waits until something arrives or the deadline passes. Returns true if the caller must look for
 * mail. Returns false at once if the deadline has passed, or if client->is_last is set. When the
 * system is over, the first call sets is_last and returns true at once. The client's thread only.
 */
bool tr__client_wait(struct tr_client *client, tr_time deadline_ns);
/**
 * Makes the client's descriptor readable, or not readable, as tr_client_fd says. Every call that
 * takes mail in ends with this. A wake that comes late may make the descriptor readable although
 * there is nothing to do. With is_sure, this function asks the kernel for the state of the
 * descriptor, and makes it unreadable in that case. In each iteration of a client's event loop, one
 * call must have is_sure. The client's thread only.
 */
void tr__client_announce(struct tr_client *client, bool is_sure);
/**
 * Returns the deadline of a wait that begins now. Returns 0 if timeout_ns is 0 or negative, and
 * TR_NEVER if timeout_ns is TR_NEVER. The client's thread only.
 */
tr_time tr__client_deadline(struct tr_client *client, tr_time timeout_ns);

/** Wakes all clients that wait, because the system is over. Any thread. */
void tr__clients_nudge(struct tr_system *system);
/**
 * Frees the clients that are still in use, as tr_client_free does. No other thread may use a client
 * any more.
 */
void tr__clients_close(struct tr_system *system);
/** Frees the memory of all clients of a system. None of them may be in use. */
void tr__clients_free(struct tr_system *system);

#endif
