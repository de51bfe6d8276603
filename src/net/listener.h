/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Listeners: an actor that accepts connections, and one deck on each worker, the parent of the
 * sessions there.
 *
 * The listener accepts a connection, chooses the worker with the fewest sessions, and sends the
 * descriptor to the deck of that worker. The deck makes the channel and spawns the session below
 * itself, so that a session and its parent are on one worker. A struct listener_shared has what all
 * of them need. It has the counts of sessions, which workers change when sessions begin and end,
 * and which the listener reads.
 */
#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include "net/channel.h"

/** What a tr_listener_order_ asks for. */
enum listener_order { ORDER_PAUSE, ORDER_RESUME, ORDER_LOOK };

/** The type of the event by which a listener learns that connections have come. */
extern const tr_type tr__acceptable_type;

struct listener_shared;

/**
 * The set-up message of a listener, with its record and its socket. The listener owns the socket
 * from then on.
 */
TR_MESSAGE(tr_listener_open_, (u64, shared), (i32, fd));

/**
 * Subtracts a connection that is over or was refused from the counts, so that others may come.
 * `worker` is the worker of the caller; `index` says which count.
 */
void tr__listener_uncount(struct listener_shared *shared, struct worker *worker, uint32_t index,
                          const tr_address *peer);
/**
 * Removes a session that has ended from the counts of its listener. A second call does nothing.
 * Owner only.
 */
void tr__session_uncount(struct channel *channel);

/** Lets a listener look for connections again. Owner only. */
void tr__listener_again(struct channel *channel);

#endif
