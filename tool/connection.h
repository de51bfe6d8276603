/* SPDX-License-Identifier: Apache-2.0 */
/** Finds running programs by their control sockets, connects to one, and exchanges lines with it. */
#ifndef TOOL_CONNECTION_H
#define TOOL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "json.h"

enum { PROGRAMS_MAX = 256, FOUND_WHY_SIZE = 1000 };

struct program {
    char app[129];
    int pid;
    char path[512];   /* of the socket */
    struct stat file; /* of the socket: one file has many paths */
};

struct offline;

struct connection {
    struct offline *offline; /* the store of a program that does not run; NULL: a program */
    int fd;
    char *input;
    size_t input_size;
    size_t input_capacity;
    struct json *greeting;
};

/** Writes which programs run, at most PROGRAMS_MAX, of this user; for root of all users. Returns how many. */
size_t programs_find(struct program *programs);

/**
 * Finds the socket of a program: by the number of its process, its name, or the path of its socket; NULL: the only one
 * that runs. Returns false with a sentence, which may have several lines.
 */
bool program_find(const char *which, char *path, size_t size, char why[FOUND_WHY_SIZE]);
/**
 * Connects to a program: by the number of its process, its name, or the path of its socket; NULL: the only one that
 * runs. Returns false with a sentence on standard error.
 */
bool connection_open(struct connection *connection, const char *which);
/** Opens the store of a program that does not run. Returns false with a sentence on standard error. */
bool connection_open_store(struct connection *connection, const char *directory);
void connection_close(struct connection *connection);

/** Sends a line. Returns false if the program is gone. */
bool connection_send(struct connection *connection, const char *line, size_t length);
/**
 * Receives a line; free it with json_free. It is borrowed in *text. NULL: the program is gone, has said nothing for 90 seconds,
 * or it is no JSON. Lines that say how far the program is are shown on a terminal, and left out.
 */
struct json *connection_receive(struct connection *connection, const char **text, size_t *length);

#endif
