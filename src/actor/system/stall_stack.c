/* SPDX-License-Identifier: Apache-2.0 */
#include "actor/system/stall_stack.h"

#include "actor/cell/system.h"
#include "actor/system/stall.h"

enum {
    FIRST_LOOKS_MAX = 8
}; /* at most this many turns get their first look in one second; a look takes about 0.1 ms */

static bool may_look(struct stalls *stalls, tr_time now_ns)
{
    if (!stalls->looks_ns || now_ns - stalls->looks_ns >= TR_SECOND) {
        stalls->looks_ns = now_ns;
        stalls->looks = 0;
    }
    return stalls->looks++ < FIRST_LOOKS_MAX;
}

void tr__stall_look(struct tr_system *system, const tr_thread *thread,
                    const struct tr_handler *handler, bool is_first, struct stall_stack *stack)
{
    const tr_platform *platform = system->platform;
    uintptr_t last = handler ? (uintptr_t)handler->call : 0;
    stack->looked_ns = platform->mono_now(platform);
    stack->count = 0;
    if (!thread || (is_first && !may_look(system->stalls, stack->looked_ns)))
        return;
    stack->count =
        (uint32_t)platform->thread_stack(platform, thread, last, stack->frames, STALL_FRAMES_MAX);
}
