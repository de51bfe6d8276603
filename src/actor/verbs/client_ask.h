/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of clients. The client's thread only.
 */
#ifndef ACTOR_VERBS_CLIENT_ASK_H
#define ACTOR_VERBS_CLIENT_ASK_H

#include <troupe/detail/base.h>
#include <troupe/status.h>
#include <troupe/message.h>

#include "mem/envelope.h"
#include "actor/mail/kind.h"

struct cell;
struct client_ask;
struct envelope;
struct tr_client;

/**
 * Makes an ask and adds it to the client's table, but does not send it. Returns TR_OK or
 * TR_NO_MEMORY. Returns TR_LIMIT if the client has TR_CLIENT_ASKS_MAX asks that it has neither
 * awaited nor polled.
 */
TR_MUST_CHECK tr_status tr__client_ask_new(struct tr_client *client, tr_ref to, const tr_type *type,
                                           struct client_ask **ask);
/**
 * Sends the request of an ask to the actor of this cell. If that fails, ask->status says why.
 * `cell` NULL: the actor does not exist, and the status becomes TR_STOPPED.
 */
void tr__client_ask_send(struct tr_client *client, struct cell *cell, enum envelope_kind kind,
                         struct client_ask *ask, const void *message, tr_time timeout_ns);
/** Handles an ask trace that has arrived. Takes the envelope. */
void tr__client_told(struct tr_client *client, struct envelope *envelope);
/** Removes an ask from the table. Returns false if it is not there. */
bool tr__client_ask_leave(struct tr_client *client, struct client_ask *ask);
/** Returns the ask in the table that has this id; NULL if there is none. */
struct client_ask *tr__client_ask_find(const struct tr_client *client, uint64_t id);
/**
 * Describes in `error` how an ask that has left the table ended. Writes the status of the ask and,
 * if that is not TR_OK, a text.
 */
void tr__client_ask_error(const struct client_ask *ask, tr_error *error);
/** Frees an ask that has left the table, and its answer. */
void tr__client_ask_free(struct tr_client *client, struct client_ask *ask);
/**
 * Passes a REPLY or an EXCEPTION, which has just arrived, to its ask. Returns true if the ask has
 * taken the envelope. Returns false if no open ask has this id. Returns false too if the answer was
 * sent after the deadline; then the ask ends with TR_TIMEOUT.
 */
bool tr__client_answered(struct tr_client *client, struct envelope *envelope);
/**
 * Makes an ask and sends it to the actor of this cell, in an envelope of this kind. If that fails,
 * tr_client_try_await returns the error later.
 */
tr_pending tr__client_ask(struct tr_client *client, struct cell *cell, uint64_t to,
                          enum envelope_kind kind, const tr_type *type, const void *message,
                          tr_time timeout_ns);
/**
 * Waits until an ask has ended, and leaves the ask in the table. Returns true if the ask has ended
 * with TR_STOPPED. Then *is_unbegun says whether no handler has seen the request.
 */
bool tr__client_ask_has_stopped(struct tr_client *client, tr_pending pending, bool *is_unbegun);
/** Removes an ask that has ended from the table, and frees the ask. */
void tr__client_ask_forget(struct tr_client *client, tr_pending pending);
/**
 * Frees the asks of a client that are left, and the reply that tr_client_try_await returned last.
 * None of these asks may have a callback, so the caller must call tr__client_calls_end before.
 */
void tr__client_asks_free(struct tr_client *client);

#endif
