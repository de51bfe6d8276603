/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sends of clients: from threads that are not workers.
 */
#ifndef ACTOR_VERBS_CLIENT_SEND_H
#define ACTOR_VERBS_CLIENT_SEND_H

#include <troupe/status.h>
#include <troupe/message.h>

#include "actor/mail/kind.h"

struct cell;
struct client_ask;
struct tr_client;

/**
 * Sends one envelope. `ask`: if the envelope is a request, the ask that it belongs to, otherwise
 * NULL. If the mailbox is full and its policy is TR_PARK, the thread waits for capacity, unless
 * `ask` has a callback. The client's thread only.
 */
tr_status tr__client_send(struct tr_client *client, struct cell *cell, uint64_t to,
                          enum envelope_kind kind, const tr_type *type, const void *message,
                          const struct client_ask *ask);
/**
 * As tr__client_send, but sends to one member of a group. Before the call, *cell and *to are the
 * cell and the ref of the group address. On TR_OK they have become the cell and the ref of the
 * member that has got the message. On TR_MAILBOX_FULL they have become the cell and the ref of the
 * member that was tried first.
 */
tr_status tr__client_send_group(struct tr_client *client, struct cell **cell, uint64_t *to,
                                const tr_type *type, const void *message, struct client_ask *ask);

#endif
