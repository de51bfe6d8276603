/* SPDX-License-Identifier: Apache-2.0 */
/** Signals as messages: a channel that receives signals of the process. Owner only. */
#ifndef NET_SIGNALS_H
#define NET_SIGNALS_H

#include "net/channel.h"

/** The type of tr_signal. */
extern const tr_type *const tr__signal_type;

/** Fills an event with the next signal. Returns false if there is none. */
bool tr__signal_put(struct channel *channel, struct envelope *envelope);

#endif
