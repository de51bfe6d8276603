/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Looks at the stack of another thread of this process: in which functions it is.
 *
 * A thread that waits in the kernel is not disturbed: its stack pointer and the address of its code are in /proc, and its
 * stack is read from here. So a call that a signal would interrupt, such as a sleep, continues. A thread that computes gets the
 * signal SIGURG, whose handler copies its registers and the innermost part of its stack and does nothing else. Only threads
 * that have asked for it by tr__fault_thread_open get it, because these have a stack for signals: the stack on which a
 * handler of an actor runs may be too full for one.
 */
#ifndef OS_STACK_LOOK_H
#define OS_STACK_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Writes an address in each function that a thread is in, the innermost first, until the function that begins at `last`.
 * `id` is the thread's id of the kernel. Returns how many were written, 0 if nothing is known. What is written is a guess
 * if the thread continues meanwhile. Any thread but that one. May wait for STACK_LOOK_WAIT_NS.
 */
size_t tr__stack_look(uint32_t id, uintptr_t last, uintptr_t *frames, size_t max);

#define STACK_LOOK_WAIT_NS (20 * 1000000L)

/** Installs the handler, unless the program has one for this signal, and removes it. One thread at a time. */
void tr__stack_look_install(void);
void tr__stack_look_uninstall(void);
/** Lets the calling thread get the signal, or not. Returns whether it did before. */
bool tr__stack_look_allow(bool is_allowed);

#endif
