/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The header of W3C Trace Context:
 *
 *     traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *
 * It has the id of the trace (128 bits), the id of the span that sends the request, and whether
 * spans are wanted. Pure functions.
 */
#ifndef HTTP_TRACE_PARENT_H
#define HTTP_TRACE_PARENT_H

#include <stdbool.h>
#include <stdint.h>

enum { TRACE_PARENT_SIZE = 56 };

struct trace_parent {
    uint64_t trace_high;
    uint64_t trace_low;
    uint64_t span;
    bool is_sampled;
};

/** Reads the value of the header. Returns false if it is not valid. Any thread. */
bool tr__trace_parent_read(const char *text, struct trace_parent *parent);
/** Writes the value of the header, with a NUL. Any thread. */
void tr__trace_parent_write(const struct trace_parent *parent, char text[TRACE_PARENT_SIZE]);

#endif
