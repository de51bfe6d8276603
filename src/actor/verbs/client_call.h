/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks of clients with a callback, a function that gets the outcome of the ask. The client's thread
 * only.
 */
#ifndef ACTOR_VERBS_CLIENT_CALL_H
#define ACTOR_VERBS_CLIENT_CALL_H

#include <troupe/status.h>

struct client_ask;
struct tr_client;

/**
 * Moves `ask`, an ask with a callback, from the table and the wheel to the queue of due asks. The
 * ask must have an answer or a status other than TR_OK.
 */
void tr__client_call_due(struct tr_client *client, struct client_ask *ask);
/** Ends all asks with a callback and calls their callbacks, because the client is being freed. */
void tr__client_calls_end(struct tr_client *client);
/**
 * Whether a callback is due. Sets *next_ns to the time at which the next ask with a callback times
 * out, or to TR_NEVER.
 */
bool tr__client_calls_are_due(struct tr_client *client, tr_time *next_ns);

#endif
