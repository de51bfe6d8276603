/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a turn of a durable actor does to its channels is held in the outbox of the turn, in order
 * with its messages, until the changes of the turn are on disk.
 *
 * Bytes that are written are in the pages of the channel at once, but count as held: net/output.c
 * sends only the bytes before them. For the actor, tr_finish, tr_close and tr_reset take effect at
 * once: it can no longer write, or read. For the other side they take effect when the outbox is
 * released. If the turn fails, all of this is dropped. Then the incarnation ends, and its channels
 * are reset.
 *
 * A turn whose outbox is open may append bytes behind held ones. They are not held themselves, but
 * are sent only when nothing is held any more. Owner only.
 */
#ifndef NET_HELD_H
#define NET_HELD_H

#include "net/channel.h"

enum held_what { HELD_BYTES, HELD_FINISH, HELD_CLOSE, HELD_RESET, HELD_DATAGRAM };

/**
 * Whether the effects on this channel are held now, because the running turn of its actor has an
 * outbox.
 */
bool tr__held_applies(const struct channel *channel);
/** Implements held_prepare for a turn with an outbox. */
TR_MUST_CHECK tr_status tr__held_prepare(struct channel *channel);
/**
 * Makes sure that the bytes which are appended to the output next can be counted as held. Fails
 * with TR_NO_MEMORY.
 */
TR_MUST_CHECK static inline tr_status held_prepare(struct channel *channel)
{
    return __builtin_expect(channel->worker->outbox_turn != NULL, 0) ? tr__held_prepare(channel)
                                                                     : TR_OK;
}
/** Counts appended output as held. Call only after held_prepare has succeeded. */
void tr__held_count(struct channel *channel, size_t size);
/** Ends a channel when the changes of this turn are stored. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__held_end_later(struct channel *channel, enum held_what what);
/** Ends a channel now. The channel may be freed. */
void tr__held_end(struct channel *channel, enum held_what what);
/** Sends a datagram when the changes of this turn are stored. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__held_send(struct channel *channel, const tr_address *to,
                                      tr_bytes bytes);

/** Implement the hooks on_release and on_drop of actor/cell/channel.h. */
void tr__held_release(struct worker *worker, struct channel_effect *effect);
void tr__held_drop(struct worker *worker, struct channel_effect *effect);

#endif
