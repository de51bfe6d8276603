/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Records of turns of actors that are not durable: which turns, and what is kept of them. See durable/record.h.
 *
 * An order, made by tr__record_plain_order, says which turns are recorded. While there is an order, all turns call
 * turn_recorder.on_begin: the order calls tr__follow_open when it begins, and tr__follow_close when it ends.
 */
#ifndef DURABLE_RECORD_PLAIN_H
#define DURABLE_RECORD_PLAIN_H

#include "actor/cell/dispatch.h"
#include "durable/record.h"

/**
 * Why turns of this behavior cannot be recorded, as a sentence; NULL: they can be.
 */
const char *tr__record_plain_refusal(const struct behavior_list *known,
                                     const tr_behavior *behavior);
/**
 * Records the next `count` turns of an actor that is not durable; with `only_failing` the next ones that fail. Replaces the
 * order of an earlier call. Returns TR_OK or TR_NO_MEMORY. Any thread.
 */
TR_MUST_CHECK tr_status tr__record_plain_order(struct recorder *recorder, uint64_t actor,
                                               uint32_t count, bool only_failing);
/** Implement turn_recorder.on_begin, on_end and has_loaded. */
void tr__record_plain_begin(struct tr_self *self);
void tr__record_plain_end(struct tr_self *self, tr_next next);
bool tr__record_plain_loaded(const struct turn_recorder *recorder, const void *memory);

#endif
