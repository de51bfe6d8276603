/* SPDX-License-Identifier: Apache-2.0 */
/** Finds running programs by their control sockets, connects to one, and exchanges lines with it. */
#ifndef TOOL_CONNECTION_H
#define TOOL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"

enum { PROGRAMS_MAX = 256 };

struct program {
    char app[129];
    int pid;
    char path[512]; /* of the socket */
};

struct connection {
    int fd;
    char *input;
    size_t input_size;
    size_t input_capacity;
    struct json *greeting;
};

/** Writes which programs run, at most PROGRAMS_MAX. Returns how many. Sockets without a program are removed. */
size_t programs_find(struct program *programs);

/**
 * Connects to a program: by the number of its process, its name, or the path of its socket; NULL: the only one that
 * runs. Returns false with a sentence on standard error.
 */
bool connection_open(struct connection *connection, const char *which);
void connection_close(struct connection *connection);

/** Sends a line. Returns false if the program is gone. */
bool connection_send(struct connection *connection, const char *line, size_t length);
/** Receives a line; free it with json_free. It is borrowed in *text. NULL: the program is gone, or it is no JSON. */
struct json *connection_receive(struct connection *connection, const char **text, size_t *length);

#endif
