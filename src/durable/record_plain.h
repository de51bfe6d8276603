/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Records of turns of actors that are not durable. These functions decide which turns are recorded, and what is kept of
 * them. See durable/record.h.
 *
 * tr__record_plain_order makes an order, which says which turns are recorded. While there is an order, all turns call
 * turn_recorder.on_begin. For this, tr__follow_open is called when an order begins, and tr__follow_close when it ends.
 */
#ifndef DURABLE_RECORD_PLAIN_H
#define DURABLE_RECORD_PLAIN_H

#include "durable/record.h"

/**
 * Returns a sentence that says why turns of this behavior cannot be recorded. Returns NULL if they
 * can be.
 */
const char *tr__record_plain_refusal(const struct behavior_list *known,
                                     const tr_behavior *behavior);
/**
 * Asks for records of the next `count` turns of an actor that is not durable. If `only_failing` is true, only turns
 * that fail are recorded and counted. Replaces what an earlier call has asked for. Returns TR_OK or TR_NO_MEMORY. Any
 * thread.
 */
TR_MUST_CHECK tr_status tr__record_plain_order(struct recorder *recorder, uint64_t actor,
                                               uint32_t count, bool only_failing);
/** The next three functions implement turn_recorder.on_begin, on_end and has_loaded. */
void tr__record_plain_begin(struct tr_self *self);
void tr__record_plain_end(struct tr_self *self, tr_next next);
bool tr__record_plain_loaded(const struct turn_recorder *recorder, const void *memory);

#endif
