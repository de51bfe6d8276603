/* SPDX-License-Identifier: Apache-2.0 */
/** Makes channels of connections that were accepted. All functions: owner only. */
#ifndef NET_CONNECTION_H
#define NET_CONNECTION_H

#include <troupe/status.h>

struct accepted;
struct channel;
struct listener_shared;
struct worker;

/**
 * Makes the channel of a connection. The channel has no actor yet. On failure closes the descriptor
 * of the connection.
 */
TR_MUST_CHECK tr_status tr__connection_make(struct worker *worker, struct listener_shared *shared,
                                            const struct accepted *accepted, struct channel **made);
/**
 * Call when the channel of a connection has got its actor. Opens the channel, or begins its
 * handshake. May end the channel.
 */
void tr__connection_begin(struct channel *channel);

#endif
