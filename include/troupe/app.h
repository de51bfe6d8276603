/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A whole program: flags, signals, one system, a root actor.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/troupe.h>
 *
 * static tr_next on_args(const struct tr_args *message)
 * {
 *     for (size_t i = 0; i < message->argv.count; i++)
 *         printf("%s\n", message->argv.items[i]);
 *     return TR_STOP; // the program ends with its root
 * }
 *
 * TR_BEHAVIOR(arguments, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, arguments, .workers = 4);
 * }
 * ```
 */
#ifndef TROUPE_APP_H
#define TROUPE_APP_H

#include <troupe/shutdown.h>
#include <troupe/system.h>

/** The options of an app. All zero is the default. Borrowed for the call. */
typedef struct tr_app {
    size_t size TR_ZERO;                 /* need not be set */
    const char *name TR_ZERO;            /* of the root; NULL: the name of its behavior */
    int workers TR_ZERO;                 /* 0: one for each CPU; --workers N replaces it */
    tr_time shutdown_timeout_ns TR_ZERO; /* 0: 10 s; --shutdown-timeout 30s replaces it */
    bool traps_faults TR_ZERO;           /* see tr_system_options */
    /* See tr_system_options and pool.h. */
    const tr_child_spec *pool TR_ZERO;
    const tr_supervision *pool_supervision TR_ZERO;
    tr_status (*on_worker_start)(tr_system *system, int worker, void *context) TR_ZERO;
    void *context TR_ZERO; /* for on_worker_start */
    int workers_max TR_ZERO;
    /* See durable.h: the kinds, and the directory of their store; --store DIR replaces it. */
    const struct tr_durables *durable TR_ZERO;
    const char *store TR_ZERO;
    uint32_t awake_max TR_ZERO;
    uint64_t awake_bytes_max TR_ZERO;
    size_t stack_bytes TR_ZERO; /* of each turn; see tr_system_options */
    /**
     * The path of the control socket, by which the tool `troupe` looks into the program
     * (docs/guide/operating.md); at most 107 bytes. "off": none. NULL: <name>.<pid>.sock in
     * $XDG_RUNTIME_DIR/troupe, else in /run/troupe, the directory of the store, or
     * /tmp/troupe-<user>; if none of them can be used, a line of the log says so. --control
     * replaces it. Only the same user and root can connect.
     */
    const char *control TR_ZERO;
    /**
     * All other options of the system: .system = {.supervision = &rules, .actors_max = 10000}. A
     * member of tr_app that is not zero replaces the one of the same name here, and a flag replaces
     * both. exit_when_empty is always set, and names_faults too unless handoff_after_ns is. Signals
     * and the console need the real platform: another one here is status 1.
     */
    tr_system_options system TR_ZERO;
} tr_app;

/**
 * Runs an app and returns the exit status for main: tr_app_main(argc, argv, root actor,
 * options...).
 * One thread. May wait: until the app has ended.
 *
 * Flags: --workers N; --shutdown-timeout T; --store DIR, for an app with durable actors;
 * --control PATH|off; --help.
 * The root gets the other arguments in a tr_args, its first message after tr_pre_start. SIGINT and
 * SIGTERM start a shutdown, and standard error gets its report (shutdown.h). A second signal ends
 * the process at once, with 128 plus its number: 130, 143. SIGQUIT writes what the workers do, the
 * fullest mailboxes and the last failures and dead letters to standard error; the app continues.
 *
 * The app ends when the root stops. It also ends when the root fails: the root is not restarted,
 * the log has the cause, and the exit status is 1. To have the root restarted use
 * TR_OPTIONS(.restart = TR_TRANSIENT) or TR_PERMANENT; then each incarnation gets the tr_args
 * again. The exit status:
 *
 *     0    no error, also after a signal
 *     1    the root failed; or, if it is restarted, failed too often; or an actor of the pool did; or the app could not start
 *     2    a flag is wrong
 *     70   a handler, a function of tr_blocking or a hook had not returned in time, or changes of a durable actor were not
 *          stored in time
 *     71   a failure reached the root of the tree, and the system was shut down: .system.supervision has a `decide` that
 *          returned TR_ESCALATE for a top-level actor that would be restarted
 *     72   the store of durable actors has failed, and the system was shut down
 *
 * A fault (SIGSEGV, SIGBUS, SIGFPE) in a handler ends the process by that signal, unless
 * traps_faults is set. Before, a line on standard error names the actor and the handler
 * (tr_system_options.names_faults).
 */
#define tr_app_main(argc, argv, ...) TR_APP_MAIN_(argc, argv, __VA_ARGS__)

TR_BEGIN_C
/**
 * The function of tr_app_main. app NULL: all defaults. One thread. May wait: until the app has
 * ended.
 */
TR_INLINE int tr_app_run(int argc, char **argv, const tr_behavior *root, const tr_app *app);
TR_END_C

#include <troupe/detail/app.h>

#endif
