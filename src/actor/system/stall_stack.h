/* SPDX-License-Identifier: Apache-2.0 */
/** In which functions a long turn is: the stack of its thread. On the watch's thread. */
#ifndef ACTOR_SYSTEM_STALL_STACK_H
#define ACTOR_SYSTEM_STALL_STACK_H

#include <troupe/platform.h>

#include "actor/cell/system_parts.h"

struct tr_handler;
struct tr_system;

/**
 * Looks at the stack of a thread. The functions of the runtime below `handler` are left out, if it is known. Of turns that
 * are reported for the first time only some of each second are looked at, because most of them are over soon. `thread` may
 * be NULL.
 */
void tr__stall_look(struct tr_system *system, const tr_thread *thread,
                    const struct tr_handler *handler, bool is_first, struct stall_stack *stack);

#endif
