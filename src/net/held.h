/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a turn of a durable actor does to a channel of its own: it is held in the outbox of the turn, in order with the
 * messages that the turn sends, until what the turn has changed is on disk.
 *
 * Bytes that are written are in the pages of the channel at once, but count as held: net/output.c
 * sends only the bytes before them. For the actor, tr_finish, tr_close and tr_reset take effect at
 * once: it writes and reads nothing more. For the other side they take effect when they are
 * released. If the turn fails, all of this is dropped. Then the incarnation ends, and its channels
 * are reset.
 *
 * Bytes can come behind held ones and not be held themselves, in a turn whose outbox is open. They leave when nothing
 * is held any more. Owner only.
 */
#ifndef NET_HELD_H
#define NET_HELD_H

#include "net/channel.h"

enum held_what { HELD_BYTES, HELD_FINISH, HELD_CLOSE, HELD_RESET, HELD_DATAGRAM };

/** Whether what is done to this channel now is held, because the running turn of its actor has an outbox. */
bool tr__held_applies(const struct channel *channel);
/** Does the work of held_prepare in a turn with an outbox. */
TR_MUST_CHECK tr_status tr__held_prepare(struct channel *channel);
/** Makes sure that bytes which are appended to the output next can be counted as held. TR_NO_MEMORY. */
TR_MUST_CHECK static inline tr_status held_prepare(struct channel *channel)
{
    return __builtin_expect(channel->worker->outbox_turn != NULL, 0) ? tr__held_prepare(channel)
                                                                     : TR_OK;
}
/** Counts bytes that were appended to the output. held_prepare must have succeeded before. */
void tr__held_count(struct channel *channel, size_t size);
/** Ends a channel when this turn is stored. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__held_end_later(struct channel *channel, enum held_what what);
/** Ends a channel now. It may be freed. */
void tr__held_end(struct channel *channel, enum held_what what);
/** Sends a datagram when this turn is stored. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__held_send(struct channel *channel, const tr_address *to,
                                      tr_bytes bytes);

/** The hooks on_release and on_drop. */
void tr__held_release(struct worker *worker, struct channel_effect *effect);
void tr__held_drop(struct worker *worker, struct channel_effect *effect);

#endif
