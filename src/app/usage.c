/* SPDX-License-Identifier: Apache-2.0 */
#include "app/usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <troupe/limits.h>

#include "os/console.h"

/* The version of the project. CMake defines it; the value here is for other builds. */
#ifndef TROUPE_VERSION
#define TROUPE_VERSION "0.1"
#endif

enum { COLUMNS = 79, INDENT = 24, TEXT_MAX = 400 };

/* A row of the text: the flag, its meaning, and an example, which may be NULL. */
struct usage_row {
    const char *flag;
    const char *help;
    const char *example;
    bool is_of_store;
};

#define TEXT_OF_(number) #number
#define TEXT_OF(number) TEXT_OF_(number)

static const struct usage_row runner_rows[] = {
    {"--workers N",
     "number of worker threads, 1 to " TEXT_OF(TR_WORKERS_MAX) "; default: one for each CPU",
     "--workers 2",
     false},
    {"--shutdown-timeout T", "time limit for stopping all actors", "--shutdown-timeout 30s", false},
    {"--store DIR", "directory of the store of durable actors", "--store /var/lib/bank", true},
    {"--records WHAT",
     "records of turns, in the directory of the store: on, off, or secrets, with secret fields",
     "--records off",
     false},
    {"--replay FILE",
     "run the turn of such a record again, and end",
     "--replay turn.record",
     false},
    {"--rehearse DIR",
     "load all actors of a store, from a copy, name those that fail, and end",
     "--rehearse bank.data",
     true},
    {"--as-json",
     "with --replay or --rehearse: print the result as JSON, one value in each line",
     "--as-json --replay turn.record",
     false},
    {"--control PATH",
     "socket by which the tool troupe looks into the program, or off",
     "--control /run/bank.sock",
     false},
    {"--metrics ADDRESS",
     "give metrics to Prometheus by HTTP, at /metrics",
     "--metrics 127.0.0.1:9100",
     false},
    {"--metrics-anywhere",
     "allow an address that other machines can reach",
     "--metrics :9100 --metrics-anywhere",
     false},
    {"--otlp URL",
     "send spans of followed messages to a collector of OpenTelemetry",
     "--otlp http://127.0.0.1:4318",
     false},
    {"--otlp-every N",
     "follow one of N messages from outside; default: 100; 0: only requests with a traceparent "
     "that says so",
     "--otlp-every 1000",
     false},
    {"--inspect ADDRESS",
     "show what the program does, as a page for a browser on this machine",
     "--inspect 127.0.0.1:0",
     false},
    {"--inspect-allow",
     "let these pages also change something",
     "--inspect 127.0.0.1:0 --inspect-allow",
     false},
    {"--inspect-certificate FILE",
     "serve these pages by HTTPS, with this certificate (PEM)",
     "--inspect 127.0.0.1:8443 --inspect-certificate b.pem",
     false},
    {"--inspect-key FILE", "its key; default: in the same file", "--inspect-key bank.key", false},
    {"--inspect-anywhere",
     "allow an address that other machines can reach; needs a certificate",
     "--inspect :8443 --inspect-anywhere",
     false},
    {"--inspect-host NAME",
     "a name under which browsers reach it, beside its address and localhost",
     "--inspect-host bank.example",
     false},
    {"--inspect-token FILE",
     "keep the token of these pages there, so that they are found again after a restart",
     "--inspect 127.0.0.1:8400 --inspect-token bank.token",
     false},
    {"--log-format F", "lines of the log: text, json, or journald", "--log-format json", false},
    {"--log-level RULES",
     "leave out lines of the log, by level and path, as the variable TROUPE_LOG does",
     "--log-level warn,/user/bank=debug",
     false},
    {"--pid-file PATH",
     "write the number of the process there while it runs",
     "--pid-file /run/bank.pid",
     false},
    {"--schema",
     "print the messages and durable kinds of the program as JSON, and end",
     "--schema >bank.schema",
     false},
    {"--version", "print the version, and end", "--version", false},
    {"-h, --help", "print this text, and end", NULL, false},
    {"--", "end of the flags: all later arguments are for the program", NULL, false},
};

/*
 * Prints a text, and breaks its lines between words. The cursor must be at column INDENT, where
 * each line begins.
 */
static void say_wrapped(const char *text)
{
    enum { WIDTH = COLUMNS - INDENT };
    for (;;) {
        size_t length = strlen(text);
        if (length > WIDTH) {
            length = WIDTH;
            while (length > 0 && text[length] != ' ')
                length--;
            if (length == 0)
                length = strcspn(text, " ");
        }
        tr__console_say("%.*s\n", (int)length, text);
        text += length + strspn(text + length, " ");
        if (!*text)
            return;
        tr__console_say("%*s", INDENT, "");
    }
}

static void say_row(const char *flag, const char *help, const char *example)
{
    tr__console_say("  %-*s", INDENT - 2, flag);
    if (strlen(flag) > INDENT - 3)
        tr__console_say("\n%*s", INDENT, "");
    say_wrapped(help);
    if (example)
        tr__console_say("%*s%s\n", INDENT, "", example);
}

/* Writes the value that a flag has now, which is its default: " [100]". */
static void default_write(const tr_flag *flag, char *text, size_t size)
{
    text[0] = '\0';
    if (flag->number)
        (void)snprintf(text, size, " [%" PRId64 "]", *flag->number);
    else if (flag->time_ns && *flag->time_ns)
        (void)snprintf(text, size, " [%" PRId64 "ms]", *flag->time_ns / TR_MILLISECOND);
    else if (flag->text && *flag->text)
        (void)snprintf(text, size, " [%.60s]", *flag->text);
}

static void say_own(const tr_flag *flag)
{
    char name[80];
    char help[TEXT_MAX];
    char standard[80];
    const char *takes = flag->takes;
    if (!takes)
        takes = flag->is_set ? "" : flag->number ? "N" : flag->time_ns ? "TIME" : "TEXT";
    (void)snprintf(name, sizeof name, "--%.40s%s%.30s", flag->name, *takes ? " " : "", takes);
    default_write(flag, standard, sizeof standard);
    (void)snprintf(help, sizeof help, "%.300s%s", flag->help ? flag->help : "", standard);
    say_row(name, help, flag->example);
}

void tr__usage_say(const char *program, const tr_app *app, bool has_store)
{
    const char *arguments = app->arguments ? app->arguments
                            : app->flags   ? ""
                                           : "[--] [argument...]";
    tr__console_say("usage: %s [flag...]%s%s\n", program, *arguments ? " " : "", arguments);
    if (app->summary)
        tr__console_say("\n%s\n", app->summary);
    if (app->flags && app->flags->name)
        tr__console_say("\nflags of this program, with their defaults and an example\n");
    for (const tr_flag *flag = app->flags; flag && flag->name; flag++)
        say_own(flag);
    tr__console_say("\nflags of every program of Troupe\n");
    for (size_t i = 0; i < sizeof runner_rows / sizeof *runner_rows; i++) {
        if (has_store || !runner_rows[i].is_of_store)
            say_row(runner_rows[i].flag, runner_rows[i].help, runner_rows[i].example);
    }
}

void tr__version_say(const char *program, const tr_app *app)
{
    if (app->version)
        tr__console_say("%s %s (Troupe " TROUPE_VERSION ")\n", program, app->version);
    else
        tr__console_say("%s (Troupe " TROUPE_VERSION ")\n", program);
}
