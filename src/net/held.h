/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A turn of a durable actor may write to channels and close them. These effects are held in the
 * outbox of the turn, in order with its messages, until the changes of the turn are on disk.
 *
 * Bytes that the turn writes are appended to the output of the channel at once, but count as held.
 * net/output.c sends only the bytes before the held ones. For the actor, tr_finish, tr_close and
 * tr_reset take effect at once: after them the actor can no longer write, or read. For the other
 * side they take effect when the outbox is released. If the turn fails, its outbox is dropped. Then
 * the incarnation ends, and its channels are reset.
 *
 * An outbox that is open (outbox.is_open) holds nothing back. If a turn with an open outbox appends
 * bytes behind held ones, its bytes are not held themselves, but they are sent only when no bytes
 * are held any more. Owner only.
 */
#ifndef NET_HELD_H
#define NET_HELD_H

#include "net/channel.h"

struct channel_effect;

enum held_what { HELD_BYTES, HELD_FINISH, HELD_CLOSE, HELD_RESET, HELD_DATAGRAM };

/**
 * Whether effects on this channel must be held now, because the running turn of its actor has an
 * outbox that holds them.
 */
bool tr__held_applies(const struct channel *channel);
/** What held_prepare does for a turn with an outbox. */
TR_MUST_CHECK tr_status tr__held_prepare(struct channel *channel);
/**
 * Prepares to count bytes as held that the caller will append to the output. Fails with
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK static inline tr_status held_prepare(struct channel *channel)
{
    return __builtin_expect(channel->worker->outbox_turn != NULL, 0) ? tr__held_prepare(channel)
                                                                     : TR_OK;
}
/** Counts appended output as held. Call only after held_prepare has succeeded. */
void tr__held_count(struct channel *channel, size_t size);
/**
 * Lets `what`, such as tr_close, happen to a channel when the changes of this turn are stored.
 * Fails with TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__held_end_later(struct channel *channel, enum held_what what);
/** Finishes, closes or resets a channel now. The channel may be freed. */
void tr__held_end(struct channel *channel, enum held_what what);
/** Sends a datagram when the changes of this turn are stored. Fails with TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__held_send(struct channel *channel, const tr_address *to,
                                      tr_bytes bytes);

/** Implement the hooks on_release and on_drop of actor/cell/channel.h. */
void tr__held_release(struct worker *worker, struct channel_effect *effect);
void tr__held_drop(struct worker *worker, struct channel_effect *effect);

#endif
