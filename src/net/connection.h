/* SPDX-License-Identifier: Apache-2.0 */
/** A connection that was accepted becomes a channel. All functions: owner only. */
#ifndef NET_CONNECTION_H
#define NET_CONNECTION_H

#include <troupe/status.h>

struct accepted;
struct channel;
struct listener_shared;
struct worker;

/** Makes the channel of a connection, without an actor. The descriptor is closed on an error. */
TR_MUST_CHECK tr_status tr__connection_make(struct worker *worker, struct listener_shared *shared,
                                            const struct accepted *accepted, struct channel **made);
/** The channel of a connection has an actor: opens it, or lets it shake hands. It may end. */
void tr__connection_begin(struct channel *channel);

#endif
