/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Signals that come by mail: tr_terminated and tr_child_failed.
 *
 * They wait among the notices, by arrival, but take no capacity, do not reset a receive timeout, and are
 * dropped behind a PoisonPill or where nobody handles them. Their descriptors are the runtime's own:
 * a message of the same name that an actor tells another is no signal, and unhandled.
 */
#ifndef ACTOR_CELL_SIGNAL_H
#define ACTOR_CELL_SIGNAL_H

#include <troupe/message.h>

extern const tr_type tr__terminated_type;
extern const tr_type tr__child_failed_type;
/** The type of the receive timeout, as the runtime sends it. */
extern const tr_type tr__idle_type;

/** What a carrier of tr_ask_then holds, three pointers; and its type. See actor/ask/ask_then.h. */
TR_MESSAGE(tr_answered, (u64, ask), (u64, then), (u64, context));
extern const tr_type tr__then_type;

/** Whether messages of this type come from the runtime alone, and this descriptor is not its own. */
bool tr__signal_is_forged(const tr_type *type);
/** Whether this is a descriptor of the runtime's own. */
bool tr__signal_is_own(const tr_type *type);

#endif
