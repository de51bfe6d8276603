/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Walks the stack of a thread that has faulted, in a signal handler, and decides whether the frames of its user code
 * can be dropped.
 */
#ifndef OS_FAULT_WALK_H
#define OS_FAULT_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct fault;

/** Whether the user code that has faulted can be dropped, or why not. */
enum verdict {
    VERDICT_OURS,    /* all frames are user code, and can be dropped */
    VERDICT_FOREIGN, /* the thread is not one of the runtime's */
    VERDICT_OUTSIDE, /* the thread ran no user code when the fault came */
    VERDICT_RUNTIME, /* one of the frames belongs to the runtime */
    VERDICT_SYSTEM,  /* one of the frames belongs to the C library */
    VERDICT_UNKNOWN, /* the walk could not reach the base of the span */
    VERDICT_BEYOND,  /* the stack pointer is below the guard of its stack */
    VERDICT_NESTED   /* a second fault came while the handler handled the first one */
};

/** One walk over a stack. The caller sets the first three members. */
struct fault_walk {
    /*
     * address of the code that faulted; the frames that the walk finds before this one belong to
     * the signal handler
     */
    uintptr_t pc;
    uintptr_t base; /* base of the span; 0: there is no span, so the walk records all frames */
    struct fault *fault;
    /*
     * an address in the code of the last recorded frame; the walk has not yet checked whether that
     * code is user code
     */
    uintptr_t frame;
    uintptr_t function; /* start of the function that contains `frame` */
    bool has_begun;
    bool is_over; /* the walk has reached the base of the span */
    enum verdict verdict;
};

/**
 * Walks the stack of the calling thread, records its frames in walk->fault, and writes its result
 * to walk->verdict. In a signal handler.
 */
void tr__fault_walk(struct fault_walk *walk);

#endif
