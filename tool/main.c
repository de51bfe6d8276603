/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tool `troupe`: looks into running programs by their control sockets (docs/guide/operating.md).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const char usage[] =
    "usage: troupe [-p PROGRAM] [--json] COMMAND [argument...]\n"
    "\n"
    "Looks into a running program.\n"
    "\n"
    "  ps                       running programs\n"
    "  info                     counters, and what each worker runs\n"
    "  ls [PATH]                actors: --behavior B, --state S, --queued N (at least), --limit "
    "N;\n"
    "                           --fullest: the 100 fullest mailboxes first\n"
    "  tree [PATH]              actors as a tree\n"
    "  show PATH                one actor: mailboxes, timers, asks, state as JSON\n"
    "  why PATH                 why an actor does not stop, run or take messages\n"
    "  top                      what the program does, each second; --once, --every S\n"
    "  behaviors                actors, queued messages and failures by behavior\n"
    "  stalls                   handlers that have run for long and still run\n"
    "  dead-letters             messages that no handler got: -f follows, --limit N\n"
    "  failures                 failures and restarts: -f follows, --limit N\n"
    "  store                    durable actors that are awake, by kind, and what the store does\n"
    "  metrics                  all figures in the text format of Prometheus\n"
    "  stop|kill PATH           stops an actor after its messages, or after its current turn\n"
    "  suspend|resume PATH      an actor handles no message until it is resumed\n"
    "  tell PATH MESSAGE [JSON] sends a message\n"
    "  ask PATH MESSAGE [JSON]  sends a request and prints the reply: --timeout MS\n"
    "  log LEVEL [PATH]         leaves out log lines below debug, info, warn or error\n"
    "\n"
    "  -p PROGRAM               number of the process, name of the program, or path of its "
    "socket;\n"
    "                           not needed if only one runs\n"
    "  --json                   answers as JSON, one value in each line\n"
    "  -h, --help               print this text\n"
    "\n"
    "Commands that change something leave a line in the log of the program.\n"
    "Exit status: 0 done; 1 the program refused; 2 wrong arguments; 3 no program, or several;\n"
    "4 the connection ended.\n"
    "\n"
    "examples:\n"
    "  troupe top\n"
    "  troupe -p chat ls --fullest --limit 10\n"
    "  troupe show /user/bank --json | jq .queued\n"
    "  troupe ask /user/bank get_balance '{\"account\":7}'\n"
    "  troupe dead-letters -f\n";

static const struct verb {
    const char *name;
    size_t least; /* number of arguments */
    size_t most;
} verbs[] = {{"ps", 0, 0},     {"info", 0, 0},         {"ls", 0, 1},       {"tree", 0, 1},
             {"show", 1, 1},   {"why", 1, 1},          {"top", 0, 0},      {"behaviors", 0, 0},
             {"stalls", 0, 0}, {"dead-letters", 0, 0}, {"failures", 0, 0}, {"metrics", 0, 0},
             {"store", 0, 0},  {"stop", 1, 1},         {"kill", 1, 1},     {"suspend", 1, 1},
             {"resume", 1, 1}, {"tell", 2, 3},         {"ask", 2, 3},      {"log", 1, 2}};

static int complain(const char *text, const char *argument)
{
    fprintf(stderr, "troupe: %s: \"%s\" (see --help)\n", text, argument);
    return EXIT_USAGE;
}

static bool is_number(const char *text)
{
    return *text && strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
}

/* Reads an option with a value. Returns 0: it is none; 1: it was read; -1: it was wrong. */
static int value_read(struct options *options, int argc, char **argv, int *at)
{
    const struct {
        const char *name;
        const char **value;
        bool is_number;
    } values[] = {{"-p", &options->program, false},
                  {"--behavior", &options->behavior, false},
                  {"--state", &options->state, false},
                  {"--limit", &options->limit, true},
                  {"--queued", &options->queued, true},
                  {"--timeout", &options->timeout_ms, true},
                  {"--every", &options->every_s, true}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        size_t length = strlen(values[i].name);
        const char *argument = argv[*at];
        const char *value = NULL;
        if (strncmp(argument, values[i].name, length) != 0)
            continue;
        if (argument[length] == '=')
            value = argument + length + 1;
        else if (argument[length] != '\0')
            continue;
        else if (*at + 1 < argc)
            value = argv[++*at];
        if (!value || !*value || (values[i].is_number && !is_number(value))) {
            complain(values[i].is_number ? "a number must follow this option"
                                         : "a value must follow this option",
                     values[i].name);
            return -1;
        }
        *values[i].value = value;
        return 1;
    }
    return 0;
}

/* Reads a switch. Returns false if it is none. */
static bool switch_read(struct options *options, const char *argument)
{
    const struct {
        const char *name;
        bool *value;
    } switches[] = {{"--json", &options->is_json},
                    {"-f", &options->follows},
                    {"--once", &options->is_once},
                    {"--fullest", &options->is_sorted}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (strcmp(argument, switches[i].name) != 0)
            continue;
        *switches[i].value = true;
        return true;
    }
    return false;
}

/* Whether the options that are set belong to the verb: none is ignored. */
static int options_check(const struct options *options)
{
    const char *verb = options->verb;
    bool is_list = strcmp(verb, "ls") == 0 || strcmp(verb, "tree") == 0;
    bool is_past = strcmp(verb, "dead-letters") == 0 || strcmp(verb, "failures") == 0;
    bool is_top = strcmp(verb, "top") == 0;
    if (options->follows && !is_past)
        return complain("-f is for dead-letters and failures", verb);
    if ((options->is_once || options->every_s) && !is_top)
        return complain("--once and --every are for top", verb);
    if ((options->behavior || options->state || options->queued) && !is_list)
        return complain("--behavior, --state and --queued are for ls and tree", verb);
    if (options->is_sorted && strcmp(verb, "ls") != 0)
        return complain("--fullest is for ls", verb);
    if (options->is_sorted && (options->behavior || options->state || options->argument_count))
        return complain("--fullest takes only --queued and --limit", verb);
    if (options->limit && !is_list && !is_past)
        return complain("--limit is for ls, tree, dead-letters and failures", verb);
    if (options->timeout_ms && strcmp(verb, "ask") != 0)
        return complain("--timeout is for ask", verb);
    return EXIT_OK;
}

static int options_read(struct options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            exit(EXIT_OK);
        }
        int read = value_read(options, argc, argv, &i);
        if (read < 0)
            return EXIT_USAGE;
        if (read || switch_read(options, argv[i]))
            continue;
        if (argv[i][0] == '-' && argv[i][1])
            return complain("unknown option", argv[i]);
        if (!options->verb)
            options->verb = argv[i];
        else if (options->argument_count == 3)
            return complain("too many arguments", argv[i]);
        else
            options->arguments[options->argument_count++] = argv[i];
    }
    if (!options->verb) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, options->verb) != 0)
            continue;
        if (options->argument_count < verbs[i].least)
            return complain("an argument is missing", options->verb);
        if (options->argument_count > verbs[i].most)
            return complain("too many arguments", options->verb);
        return options_check(options);
    }
    return complain("unknown command", options->verb);
}

static int ps(bool is_json)
{
    static struct program programs[PROGRAMS_MAX];
    size_t count = programs_find(programs);
    for (size_t i = 0; i < count; i++) {
        if (is_json)
            printf("{\"pid\":%d,\"app\":\"%s\",\"socket\":\"%s\"}\n",
                   programs[i].pid,
                   programs[i].app,
                   programs[i].path);
        else
            printf("%8d  %-20s %s\n", programs[i].pid, programs[i].app, programs[i].path);
    }
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    int code = options_read(&options, argc, argv);
    if (code != EXIT_OK)
        return code;
    if (strcmp(options.verb, "ps") == 0)
        return ps(options.is_json);
    struct connection connection;
    if (!connection_open(&connection, options.program))
        return EXIT_NO_PROGRAM;
    code = command_run(&connection, &options);
    connection_close(&connection);
    return code;
}
