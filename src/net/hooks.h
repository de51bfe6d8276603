/* SPDX-License-Identifier: Apache-2.0 */
/** The hooks through which the actor layer reaches channels: actor/cell/channel.h. */
#ifndef NET_HOOKS_H
#define NET_HOOKS_H

#include "net/channel.h"

extern const struct channel_hooks tr__net_hooks;

/** The types of events that only the runtime's own handlers get. */
extern const tr_type tr__dialing_type;
extern const tr_type tr__acceptable_type;

#endif
