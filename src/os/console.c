/* SPDX-License-Identifier: Apache-2.0 */
#include "os/console.h"

#include <stdarg.h>
#include <stdio.h>

void tr__console_say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vprintf(format, list);
    va_end(list);
    (void)fflush(stdout);
}

void tr__console_complain(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vfprintf(stderr, format, list);
    va_end(list);
}
