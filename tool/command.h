/* SPDX-License-Identifier: Apache-2.0 */
/** The commands of the tool: what each asks of a program, and how its answer is printed. */
#ifndef TOOL_COMMAND_H
#define TOOL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "connection.h"

/** Exit codes. */
enum {
    EXIT_OK = 0,
    EXIT_REFUSED = 1, /* the program has said no */
    EXIT_USAGE = 2,
    EXIT_NO_PROGRAM = 3, /* none was found, or several */
    EXIT_LOST = 4        /* the connection ended before the answer */
};

/** What the command line says. */
struct options {
    const char *program; /* -p */
    bool is_json;
    bool follows; /* -f */
    bool is_once;
    bool is_sorted;
    const char *behavior;
    const char *state;
    const char *limit; /* numbers, checked */
    const char *queued;
    const char *timeout_ms;
    const char *every_s;
    const char *verb;
    const char *arguments[4];
    size_t argument_count;
};

/** Asks the program, prints its answer, and returns the exit code. */
int command_run(struct connection *connection, const struct options *options);

/**
 * Sends a request. The members are those of the options that are set, `path` may be NULL, and `extra` is further JSON,
 * such as ",\"after\":5", or "". Returns false if the program is gone.
 */
bool command_send(struct connection *connection, const struct options *options, const char *verb,
                  const char *path, const char *extra);

/** Prints a text of a program: control characters, which could change a terminal, become "?". */
void text_print(const char *text);

/** Prints at most `width` columns of a text, and fills up with spaces. */
void text_print_cut(const char *text, int width);

/** Writes a number in a short form: 950, 12.3k, 4.5M. */
const char *number_short(double value, char *text, size_t size);

/** Shows what the program does, again and again. Returns the exit code. */
int top_run(struct connection *connection, const struct options *options);

#endif
