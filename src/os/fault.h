/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Native faults (SIGSEGV, SIGBUS, SIGFPE) of user code, as something that can be survived.
 *
 * A thread that runs user code on stacks of its own opens a fault_thread: it gets an alternate stack
 * for signals. When it faults, the handler asks its owner which stretch of user code runs, walks the
 * stack from the fault up to the beginning of that stretch, and decides. If all of it is the
 * application's code (os/text.h), the stretch is left: its frames are dropped as they are, and the
 * thread goes on in owner->leave, on the same stack, from its top. In all other cases the fault goes
 * to the handler that was there before; where none was, a report is written and the process aborts.
 *
 * Nothing in the handler allocates, takes a lock or uses stdio. The stack is walked by the unwind
 * tables, which gcc and clang make unless told otherwise; code without them is never left.
 */
#ifndef OS_FAULT_H
#define OS_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <troupe/status.h>

enum { FAULT_FRAMES_HALF = 12, FAULT_FRAMES_MAX = 2 * FAULT_FRAMES_HALF };

/** A fault that was survived. */
struct fault {
    int signal;
    bool is_overflow; /* of the stack */
    uintptr_t address;
    uint32_t depth; /* how many frames were left */
    /* Addresses in code: of the innermost frames, and a ring of the others. See fault_frame. */
    uintptr_t frames[FAULT_FRAMES_MAX];
};

static inline size_t fault_place(uint32_t index)
{
    return index < FAULT_FRAMES_HALF ? index : FAULT_FRAMES_HALF + index % FAULT_FRAMES_HALF;
}

/** The address of frame `index`, the innermost is 0; 0 for those in the middle, which are forgotten. */
static inline uintptr_t fault_frame(const struct fault *fault, uint32_t index)
{
    /* One more than the depth was seen: the frame that the stretch was called from. */
    bool is_kept = index < FAULT_FRAMES_HALF || index + FAULT_FRAMES_HALF > fault->depth;
    return is_kept && index < fault->depth ? fault->frames[fault_place(index)] : 0;
}

enum { FAULT_TEXT_SIZE = 2048 };

/** User code that runs now. */
struct fault_span {
    const char *base; /* in the frame that called it: user code is at lower addresses */
    const char *low;  /* its stack */
    size_t size;
};

struct fault_owner {
    /** Fills in the stretch that runs on the calling thread; false: none. In a signal handler. */
    bool (*find)(void *context, struct fault_span *span);
    /**
     * Where the thread goes on, with all signals as before. Never returns. NULL: no fault is survived, and the
     * process ends by its signal after a line that names what ran.
     */
    void (*leave)(void *context, const struct fault *fault);
    /**
     * Fills in the stack that the calling thread runs on, and in words whose code runs there: "/user/a, handling go".
     * False: not known. In a signal handler, and only before the process ends.
     */
    bool (*describe)(void *context, struct fault_span *stack, char text[FAULT_TEXT_SIZE]);
    void *context;
};

struct fault_thread;

/**
 * Installs the handlers of the process, if nobody has before; counted. Any thread.
 * TR_NOT_SUPPORTED: with `survives`, the processor, or how the program was linked (os/text.h); without it, a
 * sanitizer, which has handlers of its own.
 */
TR_MUST_CHECK tr_status tr__faults_open(bool survives);
/**
 * The last one restores the handlers that were there, unless somebody has installed others since:
 * those stay, and may go on calling ours, also when it is installed upon them again.
 */
void tr__faults_close(void);

/** Makes the calling thread one whose faults are trapped. Between open and close. TR_NO_MEMORY. */
TR_MUST_CHECK tr_status tr__fault_thread_open(const struct fault_owner *owner,
                                              struct fault_thread **thread);
/** Ends that, on the same thread. NULL does nothing. */
void tr__fault_thread_close(struct fault_thread *thread);

/** "SIGSEGV" */
const char *tr__fault_signal_name(int signal);

#endif
