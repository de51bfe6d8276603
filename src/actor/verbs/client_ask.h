/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of clients.
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

/** An ask that is not sent. TR_NO_MEMORY, TR_LIMIT: too many are neither awaited nor polled for. */
TR_MUST_CHECK tr_status tr__client_ask_new(struct tr_client *client, tr_ref to, const tr_type *type,
                                           struct client_ask **ask);
/** Sends it to whoever has this cell, NULL for nobody; ask->status says what went wrong. */
void tr__client_ask_send(struct tr_client *client, struct cell *cell, enum envelope_kind kind,
                         struct client_ask *ask, const void *message, tr_time timeout_ns);
/** A trace has arrived; takes it. */
void tr__client_told(struct tr_client *client, struct envelope *envelope);
/** Takes an ask out of the table; false: it is not there. */
bool tr__client_ask_leave(struct tr_client *client, struct client_ask *ask);
/** The ask of this number that is in the table, or NULL. */
struct client_ask *tr__client_ask_find(const struct tr_client *client, uint64_t id);
/** How an ask that left the table has ended, in words. */
void tr__client_ask_error(const struct client_ask *ask, tr_error *error);
/** Frees one that has left the table, and its answer. */
void tr__client_ask_free(struct tr_client *client, struct client_ask *ask);
/** A REPLY or an EXCEPTION has arrived: false when nobody waits for it. */
bool tr__client_answered(struct tr_client *client, struct envelope *envelope);
/** Asks whoever has this cell, in an envelope of this kind; how it ended: tr_client_try_await. */
tr_pending tr__client_ask(struct tr_client *client, struct cell *cell, uint64_t to,
                          enum envelope_kind kind, const tr_type *type, const void *message,
                          tr_time timeout_ns);
/** Frees what is left of its asks, which have no callbacks any more. */
void tr__client_asks_free(struct tr_client *client);

#endif
