/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands and options of the tool: one table, of which --help, the man page, the completion of shells and the checks
 * of arguments are made, so that they cannot differ.
 */
#ifndef TOOL_CATALOG_H
#define TOOL_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

struct options;

struct command {
    const char *name; /* one word or two */
    const char *arguments;
    size_t least; /* number of arguments */
    size_t most;
    /* of the request: one word for each argument. "dir" is a directory of the program's machine, sent as "text". Behind
     * a '|' are the members for more arguments than those before it. */
    const char *members;
    const char *options; /* names of the options that it takes, with a space behind each */
    const char *text;    /* what it does */
    const char *example; /* the rest of a command line */
};

/** Commands in their groups; a row without a text is the title of a group. */
extern const struct command commands[];
extern const size_t command_count;

struct option {
    const char *name;
    const char *value; /* what follows it; NULL: it is a switch */
    bool is_number;
    bool is_global; /* all commands take it */
    size_t member;  /* offset in struct options: of a const char *, or of a bool for a switch */
    const char *text;
};

extern const struct option option_table[];
extern const size_t option_count;

/** Finds a command by its first word, and the second one if that is needed. *words: how many it has. NULL: none. */
const struct command *command_find(const char *first, const char *second, size_t *words);
/** Whether a command takes an option. */
bool command_takes(const struct command *command, const struct option *option);

/** Whether a command writes a text for people, and has no JSON. */
bool command_is_text(const struct command *command);
/** Writes the text of --help: of all, or of one command. */
void help_print(const struct command *command);
/** Writes the man page, troupe.1. */
void man_print(void);
/** Writes the completion for bash. */
void completion_print(void);

#endif
