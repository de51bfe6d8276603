/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Native faults (SIGSEGV, SIGBUS, SIGFPE) of user code that the process can survive.
 *
 * A thread that runs user code on separate stacks opens a fault_thread, which gives the thread an
 * alternate stack for signals. When the thread faults, the signal handler asks the thread's owner
 * (a fault_owner) for the span of the user code that runs (a fault_span). Then the handler walks
 * the stack from the fault up to the base of that span. If all of these frames are code of the
 * application (os/text.h), the handler drops the span: the frames are abandoned without unwinding,
 * and the thread continues in owner->leave, at the top of the same stack. In all other cases the
 * handler passes the fault to the handler that was installed before the runtime's. If there was
 * none, the runtime's handler writes a report and the process aborts.
 *
 * The handler does not allocate, takes no lock and does not use stdio. It walks the stack by the
 * unwind tables, which gcc and clang emit by default. Frames without unwind tables are never
 * dropped.
 *
 * tr__faults_open also installs the handler of os/stack_look.h.
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
    bool is_overflow; /* the cause is a full stack */
    uintptr_t address;
    uint32_t depth; /* number of frames that were dropped */
    /*
     * The code addresses of the innermost FAULT_FRAMES_HALF frames, and behind them, in a ring,
     * those of the outermost frames. Read them by fault_frame.
     */
    uintptr_t frames[FAULT_FRAMES_MAX];
};

static inline size_t fault_place(uint32_t index)
{
    return index < FAULT_FRAMES_HALF ? index : FAULT_FRAMES_HALF + index % FAULT_FRAMES_HALF;
}

/**
 * Returns the code address of frame `index`; 0 is the innermost frame. Returns 0 for frames in the
 * middle, which are not kept.
 */
static inline uintptr_t fault_frame(const struct fault *fault, uint32_t index)
{
    /*
     * The walk has also recorded the frame that called the span. `depth` does not count that frame,
     * but it takes a place among the outermost ones.
     */
    bool is_kept = index < FAULT_FRAMES_HALF || index + FAULT_FRAMES_HALF > fault->depth;
    return is_kept && index < fault->depth ? fault->frames[fault_place(index)] : 0;
}

enum { FAULT_TEXT_SIZE = 2048 };

/** User code that runs now on a thread, and the stack that it runs on. */
struct fault_span {
    /*
     * an address in the frame that called the user code; the user code's frames are at lower
     * addresses
     */
    const char *base;
    const char *low; /* lowest address of the stack */
    size_t size;
};

struct fault_owner {
    /**
     * Fills in the span that runs on the calling thread. False: no span runs. In a signal handler.
     */
    bool (*find)(void *context, struct fault_span *span);
    /**
     * Continues the thread after its user code was dropped. The signal mask is the one from before the fault. Never
     * returns. If this member is NULL, no fault is survived: the process prints a line that names what ran, and ends by
     * the signal.
     */
    void (*leave)(void *context, const struct fault *fault);
    /**
     * Fills in the stack of the calling thread, and a text that names the code that runs there,
     * such as "/user/a, handling go". Returns false if they are not known. In a signal handler, and
     * only before the process ends.
     */
    bool (*describe)(void *context, struct fault_span *stack, char text[FAULT_TEXT_SIZE]);
    void *context;
};

struct fault_thread;

/**
 * Installs the handlers of the process if they are not installed, and counts the calls. Fails with
 * TR_NOT_SUPPORTED. If `survives` is true, this status means that no fault can be survived with
 * this processor or this way of linking (os/text.h). If `survives` is false, it means that a
 * sanitizer has handlers of its own. Any thread.
 */
TR_MUST_CHECK tr_status tr__faults_open(bool survives);
/**
 * Undoes one tr__faults_open. The last call restores the previous handlers. Handlers that the
 * program has installed over the runtime's stay. They may continue to call the runtime's handler,
 * even if a later tr__faults_open installs the runtime's handler over them.
 */
void tr__faults_close(void);

/**
 * Traps faults of the calling thread. Only between tr__faults_open and tr__faults_close. Fails with
 * TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr__fault_thread_open(const struct fault_owner *owner,
                                              struct fault_thread **thread);
/** Ends tr__fault_thread_open, on the same thread. NULL does nothing. */
void tr__fault_thread_close(struct fault_thread *thread);

/**
 * Whether the thread with this id of the kernel is between tr__fault_thread_open and tr__fault_thread_close. Any
 * thread.
 */
bool tr__fault_thread_is_open(uint32_t id);

/** Returns the name of a signal, such as "SIGSEGV". */
const char *tr__fault_signal_name(int signal);

#endif
