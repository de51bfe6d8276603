/* SPDX-License-Identifier: Apache-2.0 */
/** The hooks by which src/actor calls channels. See actor/cell/channel.h. */
#ifndef NET_HOOKS_H
#define NET_HOOKS_H

struct channel_hooks;

extern const struct channel_hooks tr__net_hooks;

#endif
