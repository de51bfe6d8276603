/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sends of clients: from threads that are no workers.
 */
#ifndef ACTOR_VERBS_CLIENT_SEND_H
#define ACTOR_VERBS_CLIENT_SEND_H

#include <troupe/status.h>
#include <troupe/message.h>

#include "actor/mail/kind.h"

struct cell;
struct client_ask;
struct tr_client;

/** Sends one envelope; `ask` is NULL or the ask that it is. One with a callback does not wait for capacity. */
tr_status tr__client_send(struct tr_client *client, struct cell *cell, uint64_t to,
                          enum envelope_kind kind, const tr_type *type, const void *message,
                          const struct client_ask *ask);
/**
 * The same to one of those behind a group address, whose cell and ref *cell and *to are; then they are those of
 * who has it, or on TR_MAILBOX_FULL of whose turn it was.
 */
tr_status tr__client_send_group(struct tr_client *client, struct cell **cell, uint64_t *to,
                                const tr_type *type, const void *message, struct client_ask *ask);

#endif
