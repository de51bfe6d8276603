/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "inspect/inspector.h"

/* Which program is shown. */
struct shown {
    const char *which; /* a number, a name or a path; a number is that of the first process */
    char app[129];     /* its name, by which it is found again after a restart */
};

/* Finds the socket of the program: by what the command line says, and after a restart by its name. */
static bool find(void *context, char *path, size_t path_size, char *why, size_t why_size)
{
    const struct shown *shown = context;
    char sentence[FOUND_WHY_SIZE];
    if (program_find(shown->which, path, path_size, sentence) ||
        (strcmp(shown->which, shown->app) != 0 &&
         program_find(shown->app, path, path_size, sentence)))
        return true;
    (void)snprintf(why, why_size, "%.*s", (int)strcspn(sentence, "\n"), sentence);
    return false;
}

/* Looks whether the program is there, and notes its name. */
static int program_check(struct shown *shown, const char *which)
{
    struct connection connection;
    if (!connection_open(&connection, which))
        return EXIT_NO_PROGRAM;
    (void)snprintf(
        shown->app, sizeof shown->app, "%s", json_text(connection.greeting, "app", "program"));
    shown->which = which ? which : shown->app;
    connection_close(&connection);
    return EXIT_OK;
}

/* Waits for SIGINT or SIGTERM, which all threads have blocked. */
static void signal_wait(const sigset_t *signals)
{
    int signal;
    (void)fflush(stdout);
    while (sigwait(signals, &signal) != 0)
        ;
}

int inspect_run(const struct options *options)
{
    struct shown shown = {.which = NULL};
    struct inspector *inspector;
    char why[INSPECTOR_WHY_SIZE];
    sigset_t signals;
    if (options->store || (options->program && options->argument_count)) {
        fprintf(stderr,
                "troupe: inspect shows one program that runs: %s\n",
                options->store ? "--store names one that does not" : "-p names another one");
        return EXIT_USAGE;
    }
    int code =
        program_check(&shown, options->argument_count ? options->arguments[0] : options->program);
    if (code != EXIT_OK)
        return code;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    const struct inspector_options inspected = {.address = options->listen ? options->listen
                                                                           : "127.0.0.1:0",
                                                .anywhere = options->anywhere,
                                                .certificate = options->certificate,
                                                .key = options->key,
                                                .host = options->host,
                                                .allows = options->allows,
                                                .token_file = options->token,
                                                .is_tool = true,
                                                .find = find,
                                                .context = &shown};
    if (tr__inspector_start(&inspected, &inspector, why) != TR_OK) {
        fprintf(stderr, "troupe: inspect: %s: %s\n", inspected.address, why);
        return EXIT_REFUSED;
    }
    fprintf(stderr, "inspector: %s\n", tr__inspector_url(inspector));
    signal_wait(&signals);
    tr__inspector_stop(inspector);
    return EXIT_OK;
}
