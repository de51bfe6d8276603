/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Switching from one stack to another.
 *
 * The leaver is the side that a switch leaves, and the arriver is the side on which the switch continues. In every
 * switch, code on the leaver's stack calls side_leave once, and code on the arriver's stack calls side_arrive once. At
 * the first run of a stack this code is fiber_entry. Later it is the code behind the jump with which the stack was
 * left. The stack of a fiber that has ended is in use until the jump is done, so the arriver gives it back to the pool.
 *
 * All functions here are inline: after a switch, the processor mispredicts each return to a
 * function that was called on the other stack. So there should be few calls around a switch.
 */
#ifndef FIBER_JUMP_H
#define FIBER_JUMP_H

#include "base/assert.h"
#include "fiber/fiber.h"
#include "fiber/switch.h"

#ifdef FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#define FIBER_INLINE __attribute__((__always_inline__)) static inline

/* Notifies the sanitizers before the jump. `is_last` is set if the leaver never continues. */
FIBER_INLINE void sanitizer_leave(struct fiber_side *leaver, struct fiber_side *next, bool is_last)
{
#ifdef FIBER_ASAN
    void **fake_stack = is_last ? NULL : &leaver->fake_stack;
    __sanitizer_start_switch_fiber(fake_stack, next->low, next->size);
#endif
#ifdef FIBER_TSAN
    __tsan_switch_to_fiber(next->shadow, 0);
#endif
    (void)leaver;
    (void)next;
    (void)is_last;
}

/* Notifies the sanitizers after the jump. */
FIBER_INLINE void sanitizer_arrive(struct fiber_side *leaver, struct fiber_side *arriver)
{
#ifdef FIBER_ASAN
    /*
     * This call also writes the bounds of the stack that was left. For a thread's own stack only
     * the sanitizer knows these bounds.
     */
    __sanitizer_finish_switch_fiber(arriver->fake_stack, &leaver->low, &leaver->size);
#endif
    (void)leaver;
    (void)arriver;
}

/*
 * Whether side_arrive has work to do for the leaver after the switch. Every switch makes this test,
 * so it is one test for all kinds of work.
 */
FIBER_INLINE bool side_needs_care(const struct fiber_side *leaver, bool is_last)
{
#ifdef FIBER_ASAN
    const bool is_heard = true; /* the sanitizer is notified of each switch */
#else
    const bool is_heard = false;
#endif
    return is_heard || __builtin_expect(leaver->is_bare, 0) || is_last;
}

FIBER_INLINE void side_arrive(struct fiber_host *host, struct fiber_side *arriver)
{
    struct fiber_side *leaver = host->leaver;
    if (__builtin_expect(!leaver, 1))
        return;
    host->leaver = NULL;
    sanitizer_arrive(leaver, arriver);
    /*
     * Check the canary after the switch, on the arriver's stack. The report of an overflow needs
     * stack itself, and the stack that was left may have none.
     */
    if (__builtin_expect(leaver->is_bare, 0) && !fiber_canary_is_alive(leaver))
        tr__fiber_overflow((struct fiber *)(void *)leaver);
    struct fiber *ended = host->ended;
    if (ended) {
        host->ended = NULL;
        tr__fiber_pool_give(ended->pool, ended);
    }
}

FIBER_INLINE void side_leave(struct fiber_host *host, struct fiber_side *leaver,
                             struct fiber_side *next, bool is_last)
{
    TR_ASSERT(next->context);
    if (side_needs_care(leaver, is_last))
        host->leaver = leaver;
    sanitizer_leave(leaver, next, is_last);
    /*
     * Use the value of `host` that the jump returns in a register; the value from before the jump would have to be read
     * from the stack.
     */
    host = switch_jump(&leaver->context, next->context, host);
    side_arrive(host, leaver);
}

/**
 * Leaves this fiber and runs another fiber. Returns when this fiber runs again. On a fiber only.
 */
FIBER_INLINE void fiber_switch(struct fiber_host *host, struct fiber *next)
{
    struct fiber *fiber = host->current;
    TR_ASSERT(fiber);
    TR_ASSERT(next != fiber);
    TR_ASSERT(next->is_lent);
    host->current = next;
    side_leave(host, &fiber->side, &next->side, false);
}

#endif
