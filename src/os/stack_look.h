/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Looks at the stack of another thread of this process: in which functions it is.
 *
 * A thread that waits in the kernel is not disturbed: the calling thread reads its stack pointer and the address of its
 * code from /proc, and reads its stack. So a call that a signal would interrupt, such as a sleep, continues. A thread
 * that computes gets the signal SIGURG, whose handler only copies the registers and the innermost part of the stack.
 * Only threads that have called tr__fault_thread_open get the signal, because they have an alternate stack for signals.
 * The stack on which a handler of an actor runs may be too full for a signal handler.
 */
#ifndef OS_STACK_LOOK_H
#define OS_STACK_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Writes an address in each function that a thread is in, the innermost first, until the function that begins at
 * `last`. `id` is the kernel's id of the thread. Returns how many addresses were written; 0 if nothing is known. If the
 * thread continues meanwhile, the addresses may be wrong. Any thread but the one with this id. May wait for
 * STACK_LOOK_WAIT_NS.
 */
size_t tr__stack_look(uint32_t id, uintptr_t last, uintptr_t *frames, size_t max);

#define STACK_LOOK_WAIT_NS (20 * 1000000L)

/**
 * tr__stack_look_install installs the handler of SIGURG, unless the program has installed one.
 * tr__stack_look_uninstall removes the handler again. One thread at a time.
 */
void tr__stack_look_install(void);
void tr__stack_look_uninstall(void);
/** Sets whether the calling thread gets the signal. Returns whether it got the signal before. */
bool tr__stack_look_allow(bool is_allowed);

#endif
