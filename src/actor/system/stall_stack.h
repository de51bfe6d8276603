/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions in which a long turn is, found from the stack of its thread. On the watch's thread.
 */
#ifndef ACTOR_SYSTEM_STALL_STACK_H
#define ACTOR_SYSTEM_STALL_STACK_H

#include <troupe/platform.h>

struct tr_handler;
struct tr_system;

enum { STALL_FRAMES_MAX = 24 };

/**
 * The result of one look at the stack of a thread in a long turn: the functions on this stack.
 */
struct stall_stack {
    tr_time looked_ns;                  /* the time of the look */
    uint32_t count;                     /* number of frames; 0: not known */
    uintptr_t frames[STALL_FRAMES_MAX]; /* an address in each function, the innermost first */
};

/**
 * Looks at the stack of a thread. If `handler` is not NULL, leaves out the functions of the runtime
 * that have called the handler. `is_first` says that this is the first report of the turn. Only a
 * few of these first looks are done in each second, because most long turns are over soon. `thread`
 * may be NULL.
 */
void tr__stall_look(struct tr_system *system, const tr_thread *thread,
                    const struct tr_handler *handler, bool is_first, struct stall_stack *stack);

#endif
