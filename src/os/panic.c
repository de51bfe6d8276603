/* SPDX-License-Identifier: Apache-2.0 */
/** Ends the process after a failed assertion or damage that cannot be undone. */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void panic_print(const char *text, int length)
{
    if (length <= 0)
        return;
    ssize_t written = write(STDERR_FILENO, text, (size_t)length);
    (void)written;
}

void tr__assert_failed(const char *file, int line, const char *function, const char *text)
{
    /*
     * Write the message without stdio's streams and without the heap, because these may be damaged.
     */
    char message[512];
    int length = snprintf(
        message, sizeof message, "%s:%d: %s: assertion failed: %s\n", file, line, function, text);
    if (length >= (int)sizeof message)
        length = (int)sizeof message - 1;
    panic_print(message, length);
    abort();
}

void tr__panic(const char *text)
{
    panic_print(text, (int)strlen(text));
    panic_print("\n", 1);
    abort();
}
