/* SPDX-License-Identifier: Apache-2.0 */
#include "http/trace_parent.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Reads hexadecimal digits in lower case, as the standard requires. Returns false if there are other characters. */
static bool digits_read(const char *text, size_t count, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_digit = text[i] >= '0' && text[i] <= '9';
        bool is_letter = text[i] >= 'a' && text[i] <= 'f';
        if (!is_digit && !is_letter)
            return false;
        *number = *number << 4 | (uint64_t)(is_digit ? text[i] - '0' : text[i] - 'a' + 10);
    }
    return true;
}

bool tr__trace_parent_read(const char *text, struct trace_parent *parent)
{
    struct trace_parent read;
    uint64_t version;
    uint64_t flags;
    size_t length = strnlen(text, TRACE_PARENT_SIZE);
    if (length < TRACE_PARENT_SIZE - 1 || text[2] != '-' || text[35] != '-' || text[52] != '-' ||
        !digits_read(text, 2, &version) || !digits_read(text + 3, 16, &read.trace_high) ||
        !digits_read(text + 19, 16, &read.trace_low) || !digits_read(text + 36, 16, &read.span) ||
        !digits_read(text + 53, 2, &flags))
        return false;
    /* A later version may have more fields behind these. 255 is no valid version. */
    if (version == 0xff || (length >= TRACE_PARENT_SIZE && (!version || text[55] != '-')))
        return false;
    if ((!read.trace_high && !read.trace_low) || !read.span)
        return false;
    read.is_sampled = flags & 1;
    *parent = read;
    return true;
}

void tr__trace_parent_write(const struct trace_parent *parent, char text[TRACE_PARENT_SIZE])
{
    (void)snprintf(text,
                   TRACE_PARENT_SIZE,
                   "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-%02x",
                   parent->trace_high,
                   parent->trace_low,
                   parent->span,
                   parent->is_sampled);
}
