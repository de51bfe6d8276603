/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The runner: tr_app_run. The main thread starts the workers, and then only waits on a parker. A
 * signal or the end of the system wakes it.
 */
#include <stdio.h>
#include <string.h>

#include <troupe/app.h>

#include "actor/cell/behavior_list.h"
#include "actor/cell/dispatch.h"
#include "actor/cell/system.h"
#include "app/exports.h"
#include "app/flags.h"
#include "app/inspected.h"
#include "app/log_rules.h"
#include "app/own_flags.h"
#include "app/refusal.h"
#include "app/rehearse.h"
#include "app/replay.h"
#include "app/service.h"
#include "app/usage.h"
#include "base/sized.h"
#include "durable/record.h"
#include "inspect/inspector.h"
#include "observe/control.h"
#include "observe/dump.h"
#include "observe/json_line.h"
#include "observe/schema.h"
#include "os/console.h"
#include "os/descriptor_limit.h"
#include "os/local_socket.h"
#include "os/pid_file.h"
#include "os/signals.h"
#include "os/small_file.h"
#include "actor/system/shutdown_wait.h"
#include "actor/system/system.h"
#include "actor/system/system_run.h"
#include "actor/cell/log.h"

/* 70 and 71 are EX_SOFTWARE and EX_OSERR of sysexits.h, so that a supervisor can distinguish them
 * from 1. */
enum exit_status {
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_USAGE,
    EXIT_INCOMPLETE = 70,
    EXIT_ESCALATED = 71,
    EXIT_STORE = 72
};

/* Tokens of the descriptors for which the main thread waits. */
enum { TOKEN_SIGNALS, TOKEN_SERVICE };

struct runner {
    const tr_platform *platform;
    const char *program;
    const tr_behavior *behavior; /* the behavior with which the root is spawned */
    tr_app app;
    tr_system *system;
    tr_client *client;
    struct signals *signals;
    int signal; /* the first signal that the process got; 0: none */
    tr_ref root;
    struct tr_args args;
    struct control *control; /* NULL: none */
    struct schema_source schema;
    struct recorder recorder;
    bool has_no_records;
    bool has_secret_records;
    char standard[TR_NAME_MAX +
                  /* the directory of the store if the program is given no other directory */
                  sizeof ".data"];
    struct exports exports;
    struct inspector *inspector; /* NULL: none */
    struct service service;
    struct log_rules log_level; /* the rules of --log-level; no rules: the flag was not given */
};

static tr_parker *parker_of(struct runner *runner)
{
    return atomptr_load(&runner->system->ending.parker, ATOM_ACQUIRE);
}

/*
 * Makes the main thread receive signals. If that is not possible, the signals keep their default
 * actions, because otherwise the app could not be stopped.
 */
static void listen_for_signals(struct runner *runner)
{
    tr_status status = runner->platform->io_watch(
        runner->platform, parker_of(runner), tr__signals_fd(runner->signals), TOKEN_SIGNALS);
    if (status == TR_OK)
        return;
    tr__signals_close(runner->signals);
    runner->signals = NULL;
}

/*
 * Writes the state of the program to standard error. Does not ask the workers, because they may be
 * stuck.
 */
static void dump(struct runner *runner)
{
    struct json_line text;
    tr__json_line_init(&text, &runner->system->source);
    tr__dump_write(&text, runner->system);
    tr__json_put(&text, "", 1);
    if (!text.has_failed)
        tr__console_complain("%s: what it does now:\n%s", runner->app.name, text.data);
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
        tr__service_stop(&runner->service);
        tr__log(runner->system,
                TR_LEVEL_INFO,
                NULL,
                "signal %d: stopping; a second one kills it",
                signal);
        tr_system_shutdown(runner->system, runner->app.shutdown_timeout_ns);
    }
}

static void on_wake(void *context)
{
    struct runner *runner = context;
    tr_io_event event;
    while (runner->platform->io_poll(runner->platform, parker_of(runner), &event, 1)) {
        if (event.token == TOKEN_SERVICE)
            tr__service_tick(&runner->service);
        else
            hear_signals(runner);
    }
}

/*
 * Prints the report of a shutdown. After a signal always prints it, otherwise only if something
 * went wrong.
 */
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
    /* the name that `troupe ps` and the socket have; complaints about the command line have that of the file */
    tr__console_complain("%s: %s", runner->app.name, text);
    runner->platform->resize(runner->platform, text, 0);
}

/*
 * Whether to send tr_args to the root. Only a root that has a handler for tr_args gets it, as with
 * all signals.
 */
static bool wants_args(const tr_behavior *behavior)
{
    for (size_t i = 0; i < behavior->handler_count; i++) {
        const tr_type *type = behavior->handlers[i].type;
        if (!type || tr_type_is_equal(type, &tr_type_tr_args))
            return true;
    }
    return false;
}

static tr_status root_start(struct runner *runner, const tr_behavior *behavior,
                            const char *const *argv, size_t argc)
{
    tr_error error = {.status = TR_OK};
    /*
     * A root that fails is not restarted, unless its options say so: the program ends. A restart
     * would begin with the same arguments, as the user or a service manager can do by starting the
     * program again.
     */
    tr_child_spec *spec = &runner->system->user.root.spec;
    *spec = (tr_child_spec){.behavior = behavior, .name = runner->app.name};
    if (!runner->behavior->options.restart)
        spec->restart = TR_TEMPORARY;
    runner->args = (struct tr_args){.argv = {argv, argc}};
    if (wants_args(runner->behavior))
        runner->system->user.root.args = &runner->args;
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = behavior,
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

/* Returns the exit status. To be called when everything has ended. */
static enum exit_status exit_status_of(struct runner *runner, tr_status ended)
{
    tr_error error;
    /*
     * The timeout of 0 means that this call does not wait. The outcome of the spawn is known by
     * now, unless the root was never set up.
     */
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
        return EXIT_STORE; /* the reason is in the log */
    if (tr_system_error(runner->system, &error) == TR_ESCALATED) {
        tr__console_complain("%s: a failure was escalated to the root: %s%s%s: %s\n",
                             runner->program,
                             error.path,
                             error.path[0] ? ": " : "",
                             tr_status_name(error.status),
                             error.text);
        return EXIT_ESCALATED;
    }
    if (tr__system_has_failed(runner->system))
        return EXIT_FAILED; /* the reason is in the log */
    uint32_t said = atom32_load(&runner->system->user.exit_status, ATOM_RELAXED);
    return said ? (enum exit_status)(said - 1) : EXIT_DONE;
}

/*
 * Returns the options of the system. An option that the app itself has replaces the same option in
 * app.system.
 */
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
 * Starts the control socket. If the user asked for a control socket and it cannot be made, returns
 * false. If the control socket cannot be made at its default place, only logs that.
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
            runner->system, &runner->schema, wanted ? wanted : path, &runner->control, why);
    if (status == TR_OK)
        return true;
    if (wanted)
        tr__console_complain("%s: %s\n", runner->program, why);
    else
        tr__log(runner->system, TR_LEVEL_WARN, NULL, "%s", why);
    return !wanted;
}

/*
 * Makes the system write records to the directory of the store, unless a flag says otherwise. The
 * system records failed turns of durable actors, and turns that a user of `troupe` asks for. If the
 * program has no store, this makes the directory that its store would have.
 */
static void records_switch_on(struct runner *runner)
{
    if (runner->has_no_records)
        return;
    (void)snprintf(runner->standard, sizeof runner->standard, "%s.data", runner->app.name);
    tr__recorder_init(&runner->recorder,
                      runner->system,
                      runner->app.store ? runner->app.store : runner->standard,
                      runner->has_secret_records);
}

/* Runs the app until its end. Returns the exit status. */
static enum exit_status run_started(struct runner *runner)
{
    listen_for_signals(runner);
    bool has_metrics = tr__exports_wait(&runner->exports, runner->program, runner->client);
    if (!has_metrics)
        tr_system_shutdown(runner->system, runner->app.shutdown_timeout_ns);
    int ticker = has_metrics ? tr__service_start(&runner->service) : -1;
    if (ticker >= 0 && runner->platform->io_watch(
                           runner->platform, parker_of(runner), ticker, TOKEN_SERVICE) != TR_OK)
        tr__log(runner->system, TR_LEVEL_WARN, NULL, "the watchdog of systemd is not notified");
    tr_status ended = tr__system_wait(runner->system, on_wake, runner);
    tr__service_stop(&runner->service);
    say_report(runner, ended);
    return has_metrics ? exit_status_of(runner, ended) : EXIT_FAILED;
}

/*
 * Warns if the manager of the program (Kubernetes, systemd) may kill the program before its
 * shutdown has ended. TROUPE_GRACE says how long the program may run after SIGTERM.
 */
static void grace_check(const struct runner *runner)
{
    const char *text = tr__environment("TROUPE_GRACE");
    tr_time grace_ns = text ? tr__flags_duration(text) : 0;
    tr_time timeout_ns = runner->app.shutdown_timeout_ns;
    if (text && !grace_ns)
        tr__log(runner->system,
                TR_LEVEL_WARN,
                NULL,
                "TROUPE_GRACE has no effect: \"%.80s\" is no time up to 24h, such as 30s",
                text);
    else if (text && grace_ns <= timeout_ns)
        tr__log(
            runner->system,
            TR_LEVEL_WARN,
            NULL,
            "TROUPE_GRACE is %.80s, and the shutdown may take %.1f s: the program would be killed "
            "before it has stopped; see --shutdown-timeout",
            text,
            (double)timeout_ns / (double)TR_SECOND);
}

/*
 * Frees the system, and what its root uses. If some threads did not stop, keeps these parts,
 * because handlers of the root may still run.
 */
static void system_free(struct runner *runner)
{
    bool is_left = tr__shutdown_is_left(runner->system);
    tr_system_free(runner->system);
    tr__service_close(&runner->service, is_left);
}

static enum exit_status run_system(struct runner *runner, const char *const *argv, size_t argc)
{
    const tr_system_options options = options_of(runner);
    enum exit_status result = EXIT_FAILED;
    tr__descriptor_limit_raise();
    tr_status status = tr_system_new(&options, &runner->system);
    if (status != TR_OK)
        goto complain;
    runner->system->user.exit_timeout_ns = runner->app.shutdown_timeout_ns;
    *runner->system->user.behaviors =
        (struct behavior_list){runner->schema.behaviors, runner->schema.behaviors_end};
    const tr_behavior *root = tr__service_open(
        &runner->service, runner->system, runner->behavior, runner->app.says_ready);
    status = root ? TR_OK : TR_NO_MEMORY;
    if (!root)
        goto free_system;
    tr__log_rules_apply(runner->system, &runner->log_level, tr__environment("TROUPE_LOG"));
    grace_check(runner);
    records_switch_on(runner);
    status = tr_client_new(runner->system, &runner->client);
    if (status != TR_OK)
        goto free_system;
    /*
     * Make the control socket first: if that fails, nothing of the program has run. Start the root
     * before the workers, because the workers read the data of the root.
     */
    if (control_start(runner) && root_start(runner, root, argv, argc) == TR_OK &&
        tr__exports_start(&runner->exports, &runner->app, runner->program, runner->client) &&
        tr__inspected_start(
            &runner->app, runner->program, runner->control, runner->system, &runner->inspector)) {
        status = tr_system_start(runner->system);
        if (status == TR_OK)
            result = run_started(runner);
    }
    tr__inspector_stop(runner->inspector);
    tr__control_stop(runner->control);
    tr_client_free(runner->client);
free_system:
    system_free(runner);
complain:
    if (status != TR_OK)
        tr__refusal_say(runner->program, &runner->app, status);
    return result;
}

static enum exit_status run_with_pid_file(struct runner *runner, const char *const *argv,
                                          size_t argc)
{
    const char *path = runner->app.pid_file;
    char why[FLAGS_ERROR_SIZE];
    int fd = -1;
    if (path && tr__pid_file_open(path, &fd, why, sizeof why) != TR_OK) {
        tr__console_complain("%s: %s\n", runner->program, why);
        return EXIT_FAILED;
    }
    enum exit_status result = run_system(runner, argv, argc);
    tr__pid_file_close(fd, path);
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
    enum exit_status result = run_with_pid_file(runner, argv, argc);
    tr__signals_close(runner->signals);
    return result;
}

/* Sets where the messages of the program are found. */
static void schema_fill(struct runner *runner, const tr_behavior *const *behaviors,
                        const tr_behavior *const *behaviors_end)
{
    const tr_app *app = &runner->app;
    runner->schema = (struct schema_source){.app = app->name,
                                            .root = runner->behavior,
                                            .pool = app->pool ? app->pool : app->system.pool,
                                            .durables = app->durable,
                                            .behaviors = behaviors,
                                            .behaviors_end = behaviors_end};
}

static enum exit_status say_schema(struct runner *runner)
{
    const struct memory_source memory = {.platform = runner->platform};
    struct json_line text;
    tr__json_line_init(&text, &memory);
    tr_status status = tr__schema_write(&text, &runner->schema, &memory);
    tr__json_put(&text, "", 1);
    if (status == TR_OK && !text.has_failed)
        tr__console_say("%s\n", text.data);
    else
        tr__console_complain("%s: the schema cannot be written: %s\n",
                             runner->program,
                             tr_status_text(status == TR_OK ? TR_NO_MEMORY : status));
    bool is_done = status == TR_OK && !text.has_failed;
    tr__json_line_free(&text);
    return is_done ? EXIT_DONE : EXIT_FAILED;
}

static const char *program_of(int argc, char **argv)
{
    const char *path = argc > 0 ? argv[0] : "";
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Fills in the options that the caller has left out. Returns false if the app is invalid. */
static bool runner_fill(struct runner *runner, const tr_app *app, size_t size)
{
    const char *why;
    char text[FLAGS_ERROR_SIZE];
    if (!tr__behavior_is_valid(runner->behavior, &why))
        goto complain;
    why = "unknown options or a wrong .size: the program was built for another version of the "
          "library";
    if (app && !sized_read(&runner->app, sizeof runner->app, app, size))
        goto complain;
    why = "its system has another platform; a kit, or tr_system_new, runs a system on that";
    if (runner->app.system.platform && runner->app.system.platform != runner->platform)
        goto complain;
    if (!tr__own_flags_are_valid(runner->app.flags, runner->app.durable, text)) {
        why = text;
        goto complain;
    }
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

/*
 * Copies the flags into the options of the app. If a flag is invalid, returns false, with a
 * sentence on standard error.
 */
static bool flags_apply(struct runner *runner, const struct flags *flags)
{
    char error[LOG_RULES_ERROR_SIZE];
    if (flags->has_log_format && flags->log_format && runner->app.system.on_log) {
        tr__console_complain(
            "%s: --log-format has no effect here: the program has a log of its own\n",
            runner->program);
        return false;
    }
    if (flags->log_level &&
        tr__log_rules_parse(flags->log_level, &runner->log_level, error) != TR_OK) {
        tr__console_complain("%s: --log-level: %s (see --help)\n", runner->program, error);
        return false;
    }
    if (flags->has_log_format)
        runner->app.system.log_format = flags->log_format;
    runner->has_no_records = flags->has_no_records;
    runner->has_secret_records = flags->has_secret_records;
    runner->app.metrics_anywhere |= flags->is_metrics_anywhere;
    runner->app.inspect_allow |= flags->allows_inspector;
    runner->app.inspect_anywhere |= flags->inspects_anywhere;
    if (flags->has_otlp_every)
        runner->app.otlp_every = flags->otlp_every ? flags->otlp_every : UINT32_MAX;
#define REPLACE(member)                                                                            \
    if (flags->member)                                                                             \
    runner->app.member = flags->member
    REPLACE(metrics);
    REPLACE(otlp);
    REPLACE(inspect);
    REPLACE(inspect_certificate);
    REPLACE(inspect_key);
    REPLACE(inspect_host);
    REPLACE(inspect_token);
    REPLACE(workers);
    REPLACE(shutdown_timeout_ns);
    REPLACE(store);
    REPLACE(control);
    REPLACE(pid_file);
#undef REPLACE
    return true;
}

static bool replay(const struct runner *runner, const char *path, bool is_json)
{
    const struct replay_source source = {
        .program = runner->program,
        .is_json = is_json,
        .stack_bytes = options_of(runner).stack_bytes,
        .durables = runner->app.durable,
        .behaviors = {runner->schema.behaviors, runner->schema.behaviors_end}};
    return tr__replay_run(&source, path);
}

/* Does what the flags say: prints something, tries something, or runs the app. */
static enum exit_status run_flags(struct runner *runner, const struct flags *flags,
                                  const char **rest, size_t rest_count)
{
    const tr_app *app = &runner->app;
    bool is_right;
    if (flags->is_schema)
        return say_schema(runner);
    if (flags->rehearse)
        is_right =
            tr__rehearse(runner->program, app->name, app->durable, flags->rehearse, flags->is_json);
    else if (flags->replay)
        is_right = replay(runner, flags->replay, flags->is_json);
    else if (!flags_apply(runner, flags))
        return EXIT_USAGE;
    else
        return run_with_signals(runner, rest, rest_count);
    return is_right ? EXIT_DONE : EXIT_FAILED;
}

/* Reads the arguments, puts those for the root into `rest`, and runs the app. */
static enum exit_status run_arguments(struct runner *runner, int argc, char **argv,
                                      const char **rest)
{
    const tr_app *app = &runner->app;
    bool has_args = wants_args(runner->behavior);
    struct flags flags = {0};
    char error[FLAGS_ERROR_SIZE];
    tr_status status = tr__flags_parse(argc, argv, app->durable, &flags, rest, error);
    if (status == TR_OK && flags.is_help) {
        tr__usage_say(runner->program, app, app->durable);
        return EXIT_DONE;
    }
    if (status == TR_OK && flags.is_version) {
        tr__version_say(runner->program, app);
        return EXIT_DONE;
    }
    size_t count = flags.rest_count;
    size_t before = flags.rest_before;
    /*
     * The root may read flags itself, if the app has no table of flags but says that it takes
     * arguments.
     */
    bool takes_any = !app->flags && app->arguments && has_args;
    if (status == TR_OK)
        status = tr__own_flags_parse(app->flags, rest, &count, &before, takes_any, error);
    if (status == TR_OK && count > 1 &&
        (!has_args || (app->flags && !app->arguments && before > 1))) {
        (void)snprintf(error, sizeof error, "the program takes no arguments: \"%.80s\"", rest[1]);
        status = TR_INVALID_ARGUMENT;
    }
    if (status == TR_OK)
        return run_flags(runner, &flags, rest, count);
    tr__console_complain("%s: %s (see --help)\n", runner->program, error);
    return EXIT_USAGE;
}

int tr_app_run_sized(int argc, char **argv, const tr_behavior *root, const tr_app *app, size_t size,
                     const tr_behavior *const *behaviors, const tr_behavior *const *behaviors_end)
{
    struct runner runner = {.platform = tr_platform_real(), .behavior = root};
    if (argc < 0 || !argv)
        argc = 0;
    runner.program = program_of(argc, argv);
    if (!runner_fill(&runner, app, size))
        return EXIT_FAILED;
    schema_fill(&runner, behaviors, behaviors_end);

    size_t room = sizeof(const char *) * ((size_t)argc + 1);
    const char **rest = runner.platform->resize(runner.platform, NULL, room);
    if (!rest) {
        tr__console_complain("%s: %s\n", runner.program, tr_status_text(TR_NO_MEMORY));
        return EXIT_FAILED;
    }
    enum exit_status result = run_arguments(&runner, argc, argv, rest);
    runner.platform->resize(runner.platform, rest, 0);
    return (int)result;
}
