/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls of clients: asks whose outcome a function receives.
 */
#ifndef ACTOR_VERBS_CLIENT_CALL_H
#define ACTOR_VERBS_CLIENT_CALL_H

#include <troupe/status.h>

struct client_ask;
struct tr_client;

/** An ask with a callback has ended: it is due, and no longer in the table. */
void tr__client_call_due(struct tr_client *client, struct client_ask *ask);
/** The client ends: calls all that are left. */
void tr__client_calls_end(struct tr_client *client);
/** Whether a callback is to be called, and when the next one will be without a message. */
bool tr__client_calls_are_due(struct tr_client *client, tr_time *next_ns);

#endif
