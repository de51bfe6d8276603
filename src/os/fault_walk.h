/* SPDX-License-Identifier: Apache-2.0 */
/** Walks the stack of a thread from a fault on, in a signal handler, and judges whether its frames can be dropped. */
#ifndef OS_FAULT_WALK_H
#define OS_FAULT_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct fault;

/** Whether the user code that has faulted can be dropped, or why not. */
enum verdict {
    VERDICT_OURS,    /* user code that can be dropped */
    VERDICT_FOREIGN, /* not a thread of the runtime */
    VERDICT_OUTSIDE, /* no user code runs */
    VERDICT_RUNTIME, /* a frame of the runtime is below the user code */
    VERDICT_SYSTEM,  /* a frame of the C library is below the user code */
    VERDICT_UNKNOWN, /* the stack could not be walked to its end */
    VERDICT_BEYOND,  /* a frame has skipped the guard of its stack */
    VERDICT_NESTED   /* the stack is broken: a fault while walking it */
};

/** One walk over a stack. The caller sets the first three members. */
struct fault_walk {
    uintptr_t pc;   /* where the fault was; frames below it belong to the handler */
    uintptr_t base; /* base of the span; 0: there is no span, and all frames are recorded */
    struct fault *fault;
    uintptr_t frame; /* an address in the last frame that was recorded, which is not yet checked */
    uintptr_t function; /* start of the function that contains `frame` */
    bool has_begun;
    bool is_over; /* the base of the span was reached */
    enum verdict verdict;
};

/** Walks the stack, records its frames in the fault and sets the verdict. In a signal handler. */
void tr__fault_walk(struct fault_walk *walk);

#endif
