/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A listener is an actor that accepts connections. On each worker it has a deck, which is the
 * parent of the sessions there.
 *
 * The listener accepts a connection, chooses the worker with the fewest sessions, and sends the
 * descriptor to the deck of that worker. The deck makes the channel and spawns the session as its
 * child, so that a session and its parent are on the same worker. The listener, its decks and its
 * sessions share a struct listener_shared. It has the counts of sessions. Workers change the counts
 * when sessions begin and end, and the listener reads them.
 */
#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include "net/channel.h"

/** What a tr_listener_order_ tells a listener to do. */
enum listener_order { ORDER_PAUSE, ORDER_RESUME, ORDER_LOOK };

/** The type of the event by which a listener learns that connections have come. */
extern const tr_type tr__acceptable_type;

struct listener_shared;

/**
 * The set-up message of a listener: its record and its socket. With this message the listener
 * becomes the owner of the socket.
 */
TR_MESSAGE(tr_listener_open_, (u64, shared), (i32, fd));

/**
 * Subtracts a connection that has ended or was refused from the counts, so that the listener can
 * accept another one. `worker` is the worker of the caller. `index` says in which count the
 * connection is.
 */
void tr__listener_uncount(struct listener_shared *shared, struct worker *worker, uint32_t index,
                          const tr_address *peer);
/**
 * Subtracts a session that has ended from the counts of its listener. A second call does nothing.
 * Owner only.
 */
void tr__session_uncount(struct channel *channel);

/** Lets a listener look for connections again. Owner only. */
void tr__listener_again(struct channel *channel);

#endif
