/* SPDX-License-Identifier: Apache-2.0 */
/** Messages to the person who started the program. The log is separate (os/log.h). */
#ifndef OS_CONSOLE_H
#define OS_CONSOLE_H

#include <troupe/detail/base.h>

/** Writes to standard output, in order with the program's own printf. Any thread. */
void tr__console_say(const char *format, ...) TR_PRINTF(1, 2);
/** Writes to standard error. Any thread. */
void tr__console_complain(const char *format, ...) TR_PRINTF(1, 2);

#endif
