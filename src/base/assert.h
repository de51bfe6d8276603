/* SPDX-License-Identifier: Apache-2.0 */
/** Assertions: for mistakes of the runtime and broken contracts, never for input or resources. */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

/**
 * Prints "file:line: function: assertion failed: text" and aborts. Implemented in os/panic.c,
 * because only src/os makes system calls. Any thread, any stack.
 */
__attribute__((__noreturn__, __cold__)) void tr__assert_failed(const char *file, int line,
                                                               const char *function,
                                                               const char *text);

/**
 * Prints a line and aborts. Use it for mistakes of the program, not for those of the runtime. Any
 * thread, any stack.
 */
__attribute__((__noreturn__, __cold__)) void tr__panic(const char *text);

/** Checks the condition in every build. */
#define TR_ASSERT(condition)                                                                       \
    (__builtin_expect(!(condition), 0)                                                             \
         ? tr__assert_failed(__FILE__, __LINE__, __func__, #condition)                             \
         : (void)0)

/**
 * Checks the condition only if TR_DEBUG is defined. The compiler sees the condition in every build.
 * Use it for costly checks.
 */
#ifdef TR_DEBUG
#define TR_ASSERT_SLOW(condition) TR_ASSERT(condition)
#else
#define TR_ASSERT_SLOW(condition) (0 ? (void)!(condition) : (void)0)
#endif

/**
 * Marks a place that is never reached. `text` says which mistake of the runtime would lead there.
 */
#define TR_NOT_REACHED(text) tr__assert_failed(__FILE__, __LINE__, __func__, text)

#endif
