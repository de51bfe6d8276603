/* SPDX-License-Identifier: Apache-2.0 */
/** The commands of the tool: what each asks of a program, and how its answer is printed. */
#ifndef TOOL_COMMAND_H
#define TOOL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "catalog.h"
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
    const char *store;   /* --store */
    bool is_json;
    bool follows; /* -f */
    bool is_once;
    bool is_sorted;
    bool secrets;
    bool writes;
    bool replaces;
    bool failing;
    bool uses_gdb;
    bool allows;
    bool anywhere;
    bool is_durable;
    bool is_http;
    bool is_minimal;
    const char *behavior;
    const char *state;
    const char *limit; /* numbers, checked */
    const char *depth;
    bool is_openmetrics;
    const char *queued;
    const char *after;
    const char *from;
    const char *timeout_ms;
    const char *every_s;
    const char *replay;
    const char *output;
    const char *kind;
    const char *listen;
    const char *certificate;
    const char *key;
    const char *host;
    const char *token;
    const char *level;
    const char *causal;
    const char *verb; /* the name of the command */
    const struct command *command;
    const char *arguments[4];
    size_t argument_count;
};

/** Asks the program, prints its answer, and returns the exit code. */
int command_run(struct connection *connection, const struct options *options);

/** How the answer to a verb is printed as text. */
struct form {
    const char *verb;
    void (*part)(const struct json *part);     /* NULL: there are no parts */
    void (*answer)(const struct json *answer); /* the last line */
    bool has_both;                             /* with --json the last line is printed too */
    const char *none; /* printed if there was no part, and -f is not set; NULL: nothing */
};

/** Prints a count with its noun, such as "1 answer" or "2 answers". */
void count_print(int64_t count, const char *noun);
/** Prints a number of bytes: "812 bytes", or "4.2 MB (4202496 bytes)". */
void size_print(int64_t bytes);
/** Returns how the answer to a verb is printed. */
const struct form *answer_form(const char *verb);
/** The form of the verb asks. */
extern const struct form asks_form;
extern const struct form waits_form;
extern const struct form show_form;
/** Prints a turn: its handler, its message, its actor, and for how long it has run. */
void long_turn_print(const struct json *row);
/** Prints what a worker runs. */
void running_print(const struct json *row);
/** Returns the form of a verb for durable actors and stores; NULL: it is another verb. */
const struct form *durable_form(const char *verb);

/** Returns the form of a verb about channels, messages and lines of the log; NULL: it is another verb. */
const struct form *look_form(const char *verb);
/** Returns the form of a verb about messages that wait, slow turns, records and events; NULL: it is another verb. */
const struct form *past_form(const char *verb);

/**
 * Sends a request. The members are those of the options that are set, `path` may be NULL, and `extra` is further JSON,
 * such as ",\"after\":5", or "". If `verb` is the command, its arguments are members too. Returns false if the program is
 * gone.
 */
bool command_send(struct connection *connection, const struct options *options, const char *verb,
                  const char *path, const char *extra);

/** Which records a command with -f has. */
struct place {
    bool
        is_known; /* there was an answer: records that come later are missed if they are not shown */
    int64_t last; /* number of the last record */
};

/** Notes in *place what the last line of an answer says, and complains if records are missing. */
void follow_note(const struct json *answer, struct place *place);
/** Prints new records as they come, until the program ends or the reader of the output is gone. Returns the exit code. */
int follow_run(struct connection *connection, const struct options *options);

/** Receives one answer and prints it. `place` is NULL without -f. Returns the exit code. */
int answer_print(struct connection *connection, const struct options *options, struct place *place);
/** Prints a time that has passed. */
void age_print(int64_t ms);
/** Prints a value of JSON with line breaks, two spaces deeper for each level. */
void value_print(const struct json *value, int depth);
/** Says that there are more rows than were asked for. */
void list_end_print(const struct json *answer);
/** Appends a member that is a string to a request. Returns the new length; `size` if it does not fit. */
size_t member_add(char *line, size_t size, size_t length, const char *name, const char *value);

/** Opens a file that only its owner may read. Returns NULL with a sentence on standard error. */
FILE *output_open(const char *path);
/** durable get: prints one actor, or writes it to a file. Returns the exit code. */
int get_run(struct connection *connection, const struct options *options);
/** durable export: writes lines to standard output or to a file. Returns the exit code. */
int export_run(struct connection *connection, const struct options *options);
/** durable import: sends the lines of a file. Returns the exit code. */
int import_run(struct connection *connection, const struct options *options);

/** Prints a text of a program: control characters, which could change a terminal, become "?". */
void text_print(const char *text);

/** Prints at most `width` columns of a text, and fills up with spaces. */
void text_print_cut(const char *text, int width);

/** Writes a number in a short form: 950, 12.3k, 4.5M. */
const char *number_short(double value, char *text, size_t size);

/** Shows what the program does, again and again. Returns the exit code. */
int top_run(struct connection *connection, const struct options *options);

#endif
