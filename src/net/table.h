/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The table of all channels of a system, by slot. A slot is reused under a new generation. So the
 * bits of a channel that was freed, and late events of its descriptor, never lead to the next
 * channel of the slot. Slots are not freed while the system lives.
 */
#ifndef NET_TABLE_H
#define NET_TABLE_H

#include "actor/cell/system.h"
#include "net/channel.h"

/** How many slots tr__table_find_owned looks at, which takes a millisecond or two. */
enum { TABLE_LOOKED_AT = 65536 };

/** Takes a free slot, with its next generation. Fails with TR_LIMIT, TR_NO_MEMORY. Any thread. */
TR_MUST_CHECK tr_status tr__table_take(struct tr_system *system, struct channel **channel,
                                       uint64_t *bits);
/** Gives a slot back. Any thread. */
void tr__table_give(struct tr_system *system, struct channel *channel);
/**
 * Returns the channel with these bits. Returns NULL if there is none. Any thread, but only the owner of the channel may
 * use what is returned.
 */
struct channel *tr__table_find(struct tr_system *system, uint64_t bits);
/**
 * Returns a channel of this actor, and sets *count to the number of its channels. Returns NULL if
 * the actor has none. Looks only at the first TABLE_LOOKED_AT slots. The channel may belong to
 * another actor by the time that the caller reads it. Any thread.
 */
struct channel *tr__table_find_owned(struct tr_system *system, uint64_t owner, uint32_t *count);
/** Returns 1 more than the number of the last slot that was ever used. Any thread. */
uint32_t tr__table_used(struct tr_system *system);
/**
 * Returns the slot with this number, which may have no channel now. Returns NULL if the slot was
 * never used. Any thread.
 */
const struct channel *tr__table_slot(struct tr_system *system, uint32_t number);
/**
 * Counts one child process more (is_more), or one less. TR_LIMIT, TR_NO_MEMORY: one more is not
 * possible. Any thread.
 */
tr_status tr__table_process_count(struct tr_system *system, bool is_more);
/** Returns how many channels there are. Any thread. */
size_t tr__table_count(struct tr_system *system);

#endif
