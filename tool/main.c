/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tool `troupe`: looks into running programs by their control sockets (docs/guide/operating.md).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "compact.h"
#include "inspect.h"
#include "new.h"
#include "others.h"
#include "replay.h"
#include "salvage.h"
#include "schema.h"

enum { WORDS_MAX = 6, OPTIONS_MAX = 32 };

static int complain(const char *text, const char *argument)
{
    fprintf(stderr, "troupe: %s: \"%s\" (see --help)\n", text, argument);
    return EXIT_USAGE;
}

static bool is_number(const char *text)
{
    return *text && strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
}

/* Reads an option. Returns 0: it is none; 1: it was read; -1: it was wrong. */
static int option_read(struct options *options, int argc, char **argv, int *at,
                       const struct option **set, size_t *set_count)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        size_t length = strlen(option->name);
        const char *argument = argv[*at];
        const char *value = NULL;
        void *member = (char *)options + option->member;
        if (strncmp(argument, option->name, length) != 0 ||
            (argument[length] && (argument[length] != '=' || !option->value)))
            continue;
        set[(*set_count)++ % OPTIONS_MAX] = option;
        if (!option->value) {
            *(bool *)member = true;
            return 1;
        }
        if (argument[length] == '=')
            value = argument + length + 1;
        else if (*at + 1 < argc)
            value = argv[++*at];
        if (!value || !*value || (option->is_number && !is_number(value))) {
            complain(option->is_number ? "a number must follow this option"
                                       : "a value must follow this option",
                     option->name);
            return -1;
        }
        *(const char **)member = value;
        return 1;
    }
    return 0;
}

/* Whether the options that are set belong to the command: none is ignored. */
static int options_check(const struct options *options, const struct option *const *set,
                         size_t set_count)
{
    for (size_t i = 0; i < set_count && i < OPTIONS_MAX; i++) {
        if (!command_takes(options->command, set[i])) {
            fprintf(stderr,
                    "troupe: %s is no option of \"%s\" (see troupe %s --help)\n",
                    set[i]->name,
                    options->verb,
                    options->verb);
            return EXIT_USAGE;
        }
    }
    if (options->is_sorted && (options->behavior || options->state || options->argument_count))
        return complain("--fullest takes only --queued and --limit", options->verb);
    if (options->store && options->program)
        return complain("-p names a program that runs, --store the store of one that does not: "
                        "give one of them",
                        options->verb);
    if (options->is_json && command_is_text(options->command))
        return complain("this command writes a text, and takes no --json", options->verb);
    /* A running program refuses durable get --secrets. */
    bool needs_file = options->store || strcmp(options->verb, "durable export") == 0;
    bool prints =
        strcmp(options->verb, "durable get") == 0 || strcmp(options->verb, "durable export") == 0;
    if (options->secrets && prints && needs_file && !options->output)
        return complain("--secrets needs -o FILE, which only its owner may read", options->verb);
    if (options->is_json && options->uses_gdb)
        return complain("--gdb is a session with a person, and takes no --json", options->verb);
    if (options->follows && options->replay)
        return complain("-f and --replay are two commands", options->verb);
    return EXIT_OK;
}

/* Prints a text of the tool itself, if the command line asks for it. Returns false otherwise. */
static bool text_wanted(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--man") == 0)
        man_print();
    else if (argc == 2 && strcmp(argv[1], "--completion") == 0)
        completion_print();
    else if (argc == 2 && strcmp(argv[1], "--version") == 0)
        puts("troupe " TROUPE_VERSION);
    else
        return false;
    return true;
}

/* Finds the command of the words that are no options. */
static int command_choose(struct options *options, const char *const *words, size_t count,
                          bool wants_help)
{
    size_t taken = 0;
    options->command = count ? command_find(words[0], count > 1 ? words[1] : NULL, &taken) : NULL;
    if (wants_help && count && !options->command)
        return complain("unknown command", words[0]);
    if (wants_help) {
        help_print(options->command);
        exit(EXIT_OK);
    }
    if (!count) {
        fprintf(stderr, "usage: troupe [-p PROGRAM] [--json] COMMAND [argument...] (see --help)\n");
        return EXIT_USAGE;
    }
    if (!options->command)
        return complain("unknown command", words[0]);
    options->verb = options->command->name;
    options->argument_count = count - taken;
    if (options->argument_count < options->command->least)
        return complain("an argument is missing", options->verb);
    if (options->argument_count > options->command->most)
        return complain("too many arguments", words[count - 1]);
    for (size_t i = 0; i < options->argument_count; i++)
        options->arguments[i] = words[taken + i];
    return EXIT_OK;
}

static int options_read(struct options *options, int argc, char **argv)
{
    const char *words[WORDS_MAX];
    const struct option *set[OPTIONS_MAX];
    size_t set_count = 0;
    size_t count = 0;
    bool wants_help = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            wants_help = true;
            continue;
        }
        int read = option_read(options, argc, argv, &i, set, &set_count);
        if (read < 0)
            return EXIT_USAGE;
        if (read)
            continue;
        if (argv[i][0] == '-' && argv[i][1])
            return complain("unknown option", argv[i]);
        if (count == WORDS_MAX)
            return complain("too many arguments", argv[i]);
        words[count++] = argv[i];
    }
    int code = command_choose(options, words, count, wants_help);
    return code == EXIT_OK ? options_check(options, set, set_count) : code;
}

static int ps(bool is_json)
{
    static struct program programs[PROGRAMS_MAX];
    size_t count = programs_find(programs);
    for (size_t i = 0; i < count; i++) {
        if (is_json) {
            char line[6 * sizeof programs[i].path];
            size_t length = (size_t)snprintf(line, sizeof line, "{\"pid\":%d", programs[i].pid);
            length = member_add(line, sizeof line, length, "app", programs[i].app);
            length = member_add(line, sizeof line, length, "socket", programs[i].path);
            printf("%.*s}\n", (int)length, line);
        } else {
            printf("%8d  ", programs[i].pid);
            text_print_cut(programs[i].app, 20);
            putchar(' ');
            text_print(programs[i].path);
            putchar('\n');
        }
    }
    return EXIT_OK;
}

static int tool_run(int argc, char **argv)
{
    struct options options = {0};
    if (text_wanted(argc, argv))
        return EXIT_OK;
    int code = options_read(&options, argc, argv);
    if (code != EXIT_OK)
        return code;
    if (strcmp(options.verb, "ps") == 0)
        return ps(options.is_json);
    if (strcmp(options.verb, "schema diff") == 0)
        return schema_diff(options.arguments[0], options.arguments[1], options.is_json);
    if (strcmp(options.verb, "schema rehearse") == 0)
        return rehearse_run(options.arguments[0], options.arguments[1], options.is_json);
    if (strcmp(options.verb, "bench") == 0)
        return bench_run(&options);
    if (strcmp(options.verb, "new") == 0)
        return new_run(&options);
    if (strcmp(options.verb, "replay") == 0)
        return replay_run(options.arguments[0], options.uses_gdb, options.is_json);
    if (options.store && strcmp(options.verb, "store compact") == 0)
        return compact_run(options.store, options.is_json);
    if (strcmp(options.verb, "store salvage") == 0)
        return salvage_run(options.store, options.arguments[0], options.is_json);
    if (strcmp(options.verb, "inspect") == 0)
        return inspect_run(&options);
    struct connection connection;
    bool is_open = options.store ? connection_open_store(&connection, options.store)
                                 : connection_open(&connection, options.program);
    if (!is_open)
        return EXIT_NO_PROGRAM;
    code = command_run(&connection, &options);
    connection_close(&connection);
    return code;
}

int main(int argc, char **argv)
{
    int code = tool_run(argc, argv);
    /* A script must not take an answer for whole that a full disk has cut. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_OK) {
        fprintf(stderr, "troupe: the output cannot be written: %s\n", strerror(errno));
        code = EXIT_REFUSED;
    }
    return code;
}
