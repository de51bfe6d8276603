/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Signals that arrive by mail: tr_terminated and tr_child_failed.
 *
 * Signals wait among the notices, by arrival. They take no capacity and do not reset a receive
 * timeout. They are dropped if they arrive after a PoisonPill, or if the actor has no handler for
 * them. They use type descriptors of the runtime: a message of the same name that one actor sends
 * to another is no signal, and counts as unhandled.
 */
#ifndef ACTOR_CELL_SIGNAL_H
#define ACTOR_CELL_SIGNAL_H

#include <troupe/message.h>

extern const tr_type tr__terminated_type;
extern const tr_type tr__child_failed_type;
/** The type of the signal of a receive timeout. */
extern const tr_type tr__idle_type;

/**
 * The content of a carrier of tr_ask_then, three pointers, and its type. See actor/ask/ask_then.h.
 */
TR_MESSAGE(tr_answered, (u64, ask), (u64, then), (u64, context));
extern const tr_type tr__then_type;

/**
 * Whether a type has the name of a signal of the runtime, but this is not the runtime's descriptor.
 * Only the runtime may send such messages.
 */
bool tr__signal_is_forged(const tr_type *type);
/** Whether this descriptor is one of the runtime's. */
bool tr__signal_is_own(const tr_type *type);

#endif
