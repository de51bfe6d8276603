/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The runner: tr_app_run. The main thread starts the workers and then only waits, for a signal or for the end of the
 * system. Both wake the parker on which it waits.
 */
#include <string.h>

#include <troupe/app.h>

#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "app/flags.h"
#include "base/sized.h"
#include "observe/control.h"
#include "observe/dump.h"
#include "observe/json_line.h"
#include "os/console.h"
#include "os/local_socket.h"
#include "os/signals.h"
#include "actor/system/system.h"
#include "actor/system/system_run.h"
#include "actor/cell/log.h"

/* 70 and 71 are EX_SOFTWARE and EX_OSERR of sysexits.h. So a supervisor can distinguish them from 1. */
enum exit_status {
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_USAGE,
    EXIT_INCOMPLETE = 70,
    EXIT_ESCALATED = 71,
    EXIT_STORE = 72
};

struct runner {
    const tr_platform *platform;
    const char *program;
    const tr_behavior *behavior; /* behavior of the root */
    tr_app app;
    tr_system *system;
    tr_client *client;
    struct signals *signals;
    int signal; /* the first signal that came; 0: none */
    tr_ref root;
    struct tr_args args;
    struct control *control; /* NULL: none */
};

static tr_parker *parker_of(struct runner *runner)
{
    return atomptr_load(&runner->system->shutdown.parker, ATOM_ACQUIRE);
}

/* If signals cannot be received, their default actions must stay, or the app could not be stopped. */
static void listen_for_signals(struct runner *runner)
{
    tr_status status = runner->platform->io_watch(
        runner->platform, parker_of(runner), tr__signals_fd(runner->signals), 0);
    if (status == TR_OK)
        return;
    tr__signals_close(runner->signals);
    runner->signals = NULL;
}

/* Writes what can be seen from outside to standard error. Asks no worker: they may be stuck. */
static void dump(struct runner *runner)
{
    struct json_line text;
    tr__json_line_init(&text, &runner->system->source);
    tr__dump_write(&text, runner->system);
    tr__json_put(&text, "", 1);
    if (!text.has_failed)
        tr__console_complain("%s: what it does now:\n%s", runner->program, text.data);
    tr__json_line_free(&text);
}

static void hear_signals(struct runner *runner)
{
    int signal;
    while ((signal = tr__signals_read(runner->signals)) != 0) {
        if (tr__signal_is_quit(signal)) {
            dump(runner);
            continue;
        }
        if (runner->signal)
            tr__signals_exit(signal);
        runner->signal = signal;
        tr__log(runner->system,
                TR_LEVEL_INFO,
                NULL,
                "signal %d: stopping; send the signal again to end the program at once",
                signal);
        tr_system_shutdown(runner->system, runner->app.shutdown_timeout_ns);
    }
}

static void on_wake(void *context)
{
    struct runner *runner = context;
    tr_io_event event;
    if (runner->platform->io_poll(runner->platform, parker_of(runner), &event, 1))
        hear_signals(runner);
}

/* Prints the report of a shutdown. After a signal it is always printed, otherwise only if something went wrong. */
static void say_report(struct runner *runner, tr_status ended)
{
    tr_shutdown_report report;
    static const size_t size = TR_REPORT_TEXT_MAX;
    if (tr_system_report(runner->system, &report) != TR_OK)
        return;
    if (!runner->signal && ended == TR_OK && !report.forced)
        return;
    char *text = runner->platform->resize(runner->platform, NULL, size);
    if (!text)
        return;
    (void)tr_shutdown_report_print(&report, text, size);
    tr__console_complain("%s: %s", runner->program, text);
    runner->platform->resize(runner->platform, text, 0);
}

/* tr_args is a signal. It is sent only to a root that has a handler for it. */
static bool wants_args(const tr_behavior *behavior)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_type *type = behavior->handlers[i].type;
        if (!type || tr_type_is_equal(type, &tr_type_tr_args))
            return true;
    }
    return false;
}

static tr_status root_start(struct runner *runner, const char *const *argv, size_t argc)
{
    tr_error error = {.status = TR_OK};
    /*
     * Unless its options say otherwise, a root that fails ends the program. A restart would have the same arguments,
     * and the caller of the program can start it again.
     */
    tr_child_spec *spec = &runner->system->user.root.spec;
    *spec = (tr_child_spec){.behavior = runner->behavior, .name = runner->app.name};
    if (!runner->behavior->options.restart)
        spec->restart = TR_TEMPORARY;
    runner->args = (struct tr_args){.argv = {argv, argc}};
    if (wants_args(runner->behavior))
        runner->system->user.root.args = &runner->args;
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = runner->behavior,
                                .name = runner->app.name,
                                .worker = -1,
                                .error = &error,
                                .spec = spec};
    uint64_t bits;
    tr_status status = tr_client_try_spawn(runner->client, &args, &bits);
    if (status != TR_OK) {
        tr__console_complain(
            "%s: %s\n", runner->program, error.text[0] ? error.text : tr_status_text(status));
        return status;
    }
    runner->root = tr_ref_from_bits(bits);
    return TR_OK;
}

/* Returns the exit status, after everything has ended. */
static enum exit_status exit_status_of(struct runner *runner, tr_status ended)
{
    tr_error error;
    /* This does not wait: the outcome is known, unless the root was set up. */
    tr_status status = tr_spawn_wait(runner->client, runner->root, 0, &error);
    bool was_stopped_early = runner->signal && error.status == TR_STOPPING;
    if (status == TR_INIT_FAILED && !was_stopped_early) {
        tr__console_complain("%s: %s did not start: %s: %s\n",
                             runner->program,
                             runner->app.name,
                             tr_status_name(error.status),
                             error.text);
        return EXIT_FAILED;
    }
    if (ended == TR_SHUTDOWN_INCOMPLETE)
        return EXIT_INCOMPLETE;
    if (runner->system->durable.host && runner->system->durable.has_failed(runner->system))
        return EXIT_STORE; /* the log has the reason */
    if (tr_system_error(runner->system, &error) == TR_ESCALATED) {
        tr__console_complain("%s: a failure was escalated to the root: %s%s%s: %s\n",
                             runner->program,
                             error.path,
                             error.path[0] ? ": " : "",
                             tr_status_name(error.status),
                             error.text);
        return EXIT_ESCALATED;
    }
    return tr__system_has_failed(runner->system) ? EXIT_FAILED /* the log has the reason */
                                                 : EXIT_DONE;
}

/* Returns the options of the system: those of the app replace those in its `system`. */
static tr_system_options options_of(const struct runner *runner)
{
    const tr_app *app = &runner->app;
    tr_system_options options = app->system;
    options.size = sizeof options;
    options.exit_when_empty = true;
    options.platform = runner->platform;
    options.traps_faults |= app->traps_faults;
    options.names_faults |= !options.handoff_after_ns;
    options.shutdown_timeout_ns = app->shutdown_timeout_ns;
    if (app->durable)
        options.name = app->name;
#define REPLACE(member)                                                                            \
    if (app->member)                                                                               \
    options.member = app->member
    REPLACE(workers);
    REPLACE(stack_bytes);
    REPLACE(context);
    REPLACE(pool);
    REPLACE(pool_supervision);
    REPLACE(on_worker_start);
    REPLACE(workers_max);
    REPLACE(durable);
    REPLACE(store);
    REPLACE(awake_max);
    REPLACE(awake_bytes_max);
#undef REPLACE
    return options;
}

/*
 * Starts the control socket. Returns false if the program was asked to have one at a certain place and cannot; a
 * missing place that nobody asked for is only a line of the log.
 */
static bool control_start(struct runner *runner)
{
    char path[LOCAL_PATH_MAX + 1];
    char why[CONTROL_WHY_SIZE] = "no control socket: no directory for it; --control PATH names one";
    const char *wanted = runner->app.control;
    if (wanted && strcmp(wanted, "off") == 0)
        return true;
    bool has_place =
        wanted || tr__control_place(runner->app.name, runner->app.store, path, sizeof path);
    tr_status status = TR_NOT_FOUND;
    if (has_place)
        status = tr__control_start(
            runner->system, runner->app.name, wanted ? wanted : path, &runner->control, why);
    if (status == TR_OK)
        return true;
    if (wanted)
        tr__console_complain("%s: %s\n", runner->program, why);
    else
        tr__log(runner->system, TR_LEVEL_WARN, NULL, "%s", why);
    return !wanted;
}

static enum exit_status run_system(struct runner *runner, const char *const *argv, size_t argc)
{
    const tr_system_options options = options_of(runner);
    enum exit_status result = EXIT_FAILED;
    tr_status status = tr_system_new(&options, &runner->system);
    if (status != TR_OK)
        goto complain;
    status = tr_client_new(runner->system, &runner->client);
    if (status != TR_OK)
        goto free_system;
    /* Start the root before the workers, which read it. */
    if (root_start(runner, argv, argc) == TR_OK && control_start(runner)) {
        status = tr_system_start(runner->system);
        if (status == TR_OK) {
            listen_for_signals(runner);
            tr_status ended = tr__system_wait(runner->system, on_wake, runner);
            say_report(runner, ended);
            result = exit_status_of(runner, ended);
        }
    }
    tr__control_stop(runner->control);
    tr_client_free(runner->client);
free_system:
    tr_system_free(runner->system);
complain:
    if (status != TR_OK)
        tr__console_complain("%s: %s\n", runner->program, tr_status_text(status));
    return result;
}

static enum exit_status run_with_signals(struct runner *runner, const char *const *argv,
                                         size_t argc)
{
    tr_status status = tr__signals_open(&runner->signals);
    if (status != TR_OK) {
        tr__console_complain("%s: %s\n", runner->program, tr_status_text(status));
        return EXIT_FAILED;
    }
    enum exit_status result = run_system(runner, argv, argc);
    tr__signals_close(runner->signals);
    return result;
}

static void say_usage(const char *program, bool has_store)
{
    tr__console_say(
        "usage: %s [--workers N] [--shutdown-timeout T] %s[--control PATH] [--help] [--] "
        "[argument...]\n\n  "
        "--workers N           number of worker threads, 1 to %d (default: one per CPU)\n  "
        "--shutdown-timeout T  time limit for stopping all actors, such as 30s, 500ms or 2m\n%s  "
        "--control PATH        socket by which the tool troupe looks into the program, or off\n  "
        "-h, --help            print this text\n  --                    end of these options: pass "
        "all later arguments to the program\n",
        program,
        has_store ? "[--store DIR] " : "",
        TR_WORKERS_MAX,
        has_store ? "  --store DIR           directory of the store of durable actors\n" : "");
}

static const char *program_of(int argc, char **argv)
{
    const char *path = argc > 0 ? argv[0] : "";
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Fills in what the caller has left out. Returns false if the app is invalid. */
static bool runner_fill(struct runner *runner, const tr_app *app, size_t size)
{
    const char *why;
    if (!tr__behavior_is_valid(runner->behavior, &why))
        goto complain;
    why = "unknown options or a wrong .size: the program was built for another version of the "
          "library";
    if (app && !sized_read(&runner->app, sizeof runner->app, app, size))
        goto complain;
    why = "its system has another platform; a kit, or tr_system_new, runs a system on that";
    if (runner->app.system.platform && runner->app.system.platform != runner->platform)
        goto complain;
    if (!runner->app.name)
        runner->app.name = runner->behavior->name;
    if (!runner->app.durable && runner->app.system.durable)
        runner->app.durable = runner->app.system.durable; /* for --store */
    if (runner->app.shutdown_timeout_ns <= 0)
        runner->app.shutdown_timeout_ns = runner->app.system.shutdown_timeout_ns;
    if (runner->app.shutdown_timeout_ns <= 0)
        runner->app.shutdown_timeout_ns = TR_SHUTDOWN_TIMEOUT_NS;
    return true;

complain:
    tr__console_complain("%s: the app is not valid: %s\n", runner->program, why);
    return false;
}

int tr_app_run_sized(int argc, char **argv, const tr_behavior *root, const tr_app *app, size_t size)
{
    struct runner runner = {.platform = tr_platform_real(), .behavior = root};
    if (argc < 0 || !argv)
        argc = 0;
    runner.program = program_of(argc, argv);
    if (!runner_fill(&runner, app, size))
        return EXIT_FAILED;

    size_t room = sizeof(const char *) * ((size_t)argc + 1);
    const char **rest = runner.platform->resize(runner.platform, NULL, room);
    if (!rest) {
        tr__console_complain("%s: %s\n", runner.program, tr_status_text(TR_NO_MEMORY));
        return EXIT_FAILED;
    }
    struct flags flags;
    char error[FLAGS_ERROR_SIZE];
    enum exit_status result;
    if (tr__flags_parse(argc, argv, runner.app.durable, &flags, rest, error) != TR_OK) {
        tr__console_complain("%s: %s (see --help)\n", runner.program, error);
        result = EXIT_USAGE;
    } else if (flags.is_help) {
        say_usage(runner.program, runner.app.durable);
        result = EXIT_DONE;
    } else {
        if (flags.workers)
            runner.app.workers = flags.workers;
        if (flags.shutdown_timeout_ns)
            runner.app.shutdown_timeout_ns = flags.shutdown_timeout_ns;
        if (flags.store)
            runner.app.store = flags.store;
        if (flags.control)
            runner.app.control = flags.control;
        result = run_with_signals(&runner, rest, flags.rest_count);
    }
    runner.platform->resize(runner.platform, rest, 0);
    return (int)result;
}
