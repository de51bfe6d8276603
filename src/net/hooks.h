/* SPDX-License-Identifier: Apache-2.0 */
/** The hooks through which the actor layer reaches channels: actor/cell/channel.h. */
#ifndef NET_HOOKS_H
#define NET_HOOKS_H

#include "actor/cell/channel.h"

extern const struct channel_hooks tr__net_hooks;

#endif
