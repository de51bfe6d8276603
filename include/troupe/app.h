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

/**
 * A flag of the program's own: an element of TR_FLAGS. It is written --rate 10 or --rate=10.
 * Exactly one of is_set, number, time_ns and text is set: it says where the value goes, and which
 * type it has. What is stored there before the call is the default. Values are read in the order of
 * the arguments, before any actor starts. If one is wrong, the program writes a sentence to
 * standard error and ends with exit status 2.
 */
typedef struct tr_flag {
    const char *name TR_ZERO;  /* without the dashes: "rate"; letters, digits and dashes */
    bool *is_set TR_ZERO;      /* true if the flag is given; it takes no value */
    int64_t *number TR_ZERO;   /* a decimal number, from `min` to `max` */
    tr_time *time_ns TR_ZERO;  /* 30s, 500ms, 2m, 1h; a bare number is seconds; at most 24h */
    const char **text TR_ZERO; /* any text that is not empty; points into argv */
    int64_t min TR_ZERO;       /* for `number`; min and max both 0: any number */
    int64_t max TR_ZERO;
    const char *takes TR_ZERO;   /* what --help calls the value; NULL: "N", "TIME" or "TEXT" */
    const char *help TR_ZERO;    /* one sentence for --help */
    const char *example TR_ZERO; /* "--rate 1000", for --help; NULL: none */
} tr_flag;

/**
 * The flags of a program: .flags = TR_FLAGS({.name = "rate", .number = &rate, .help = "payments in a second"}). A name
 * that a flag of the runner has, or that occurs twice, makes the app invalid.
 * Any thread. Does not wait.
 */
#define TR_FLAGS(...) TR_FLAGS_(__VA_ARGS__)

/** The options of an app. All zero is the default. Borrowed for the call. */
typedef struct tr_app {
    size_t size TR_ZERO;                 /* need not be set */
    const char *name TR_ZERO;            /* of the root actor; NULL: the name of its behavior */
    int workers TR_ZERO;                 /* 0: one for each CPU; --workers N replaces it */
    tr_time shutdown_timeout_ns TR_ZERO; /* 0: 10 s; --shutdown-timeout 30s replaces it */
    bool traps_faults TR_ZERO;           /* see tr_system_options */
    /* See tr_system_options and pool.h. */
    const tr_child_spec *pool TR_ZERO;
    const tr_supervision *pool_supervision TR_ZERO;
    tr_status (*on_worker_start)(tr_system *system, int worker, void *context) TR_ZERO;
    void *context TR_ZERO; /* what on_worker_start gets */
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
     * Where GET /metrics gives the metrics of the program to Prometheus: "127.0.0.1:9100",
     * "[::1]:0", or the path of a UNIX socket. NULL: nowhere; --metrics replaces it. An address
     * that other machines can reach needs metrics_anywhere, or --metrics-anywhere: there is no
     * password.
     */
    const char *metrics TR_ZERO;
    bool metrics_anywhere TR_ZERO;
    /**
     * The collector of OpenTelemetry that gets the turns of followed messages as spans, by
     * OTLP/HTTP: "http://127.0.0.1:4318" (docs/guide/operating.md). NULL: nowhere; --otlp replaces
     * it. One of otlp_every messages from outside is followed (0: 100; UINT32_MAX: none but those
     * of HTTP requests whose traceparent says so); --otlp-every replaces it.
     */
    const char *otlp TR_ZERO;
    uint32_t otlp_every TR_ZERO;
    /**
     * All other options of the system: .system = {.supervision = &rules, .actors_max = 10000}. A
     * member of tr_app that is not zero replaces the one of the same name here, and a flag replaces
     * both. exit_when_empty is always set. names_faults is set unless handoff_after_ns is set.
     * Signals and the console need the real platform: with another one the exit status is 1.
     */
    tr_system_options system TR_ZERO;
    const char *summary TR_ZERO; /* the first line of --help; NULL: none */
    /**
     * What --help shows for arguments that are no flags: "FILE...". If this is NULL and `flags` is
     * set, the program takes no such arguments: they are refused, unless they stand behind "--".
     */
    const char *arguments TR_ZERO;
    const char *version TR_ZERO; /* for --version; NULL: only that of Troupe */
    /**
     * Where the inspector shows what the program does, as a page for a browser: "127.0.0.1:0", an
     * address that only this machine can reach. Standard error gets a line with the address of the
     * page and a token, without which nothing is shown. NULL: nowhere; --inspect replaces it. The
     * inspector needs the control socket. The page only looks, unless inspect_allow or
     * --inspect-allow is set: docs/guide/inspector.md.
     */
    const char *inspect TR_ZERO;
    bool inspect_allow TR_ZERO;
    /**
     * The flags of the program's own, which --help shows before the flags of the runner. Every
     * other argument that begins with a dash is refused, unless it stands behind "--". If this is
     * NULL and `arguments` is set, no argument is refused for its dash: the program reads flags in
     * a way of its own. All that is not refused goes to the root in its tr_args. If the root has no
     * handler for tr_args, every argument is refused.
     */
    const tr_flag *flags TR_ZERO;
    /**
     * A file that has the number of the process while the app runs. It is locked: a second process with the same file
     * does not start (exit status 1); a file that a dead process has left is replaced. NULL: none; --pid-file replaces it.
     */
    const char *pid_file TR_ZERO;
    /**
     * True: the app is ready when it calls tr_app_ready. False: the app is ready when the first
     * turn of its root has ended without a failure. That is the turn of tr_args; if the root does
     * not handle tr_args, the turn of tr_pre_start; if it handles neither, the set-up. Matters only
     * under systemd (docs/guide/app.md).
     */
    bool says_ready TR_ZERO;
    /**
     * These four let other machines reach the inspector. The address may be any if inspect_anywhere
     * is set and inspect_certificate is the path of a PEM file. If inspect_key is NULL, the key is
     * in the same file. Browsers reach the inspector by its address, by localhost, and by the name
     * inspect_host; other names are refused. Flags of the same names replace them.
     */
    bool inspect_anywhere TR_ZERO;
    const char *inspect_certificate TR_ZERO;
    const char *inspect_key TR_ZERO;
    const char *inspect_host TR_ZERO;
} tr_app;

/**
 * Runs an app and returns the exit status for main: tr_app_main(argc, argv, root actor,
 * options...).
 * One thread. May wait: until the app has ended.
 *
 * Flags: --workers N; --shutdown-timeout T; --store DIR and --rehearse DIR (docs/guide/schema.md), for an app with durable
 * actors; --records on|off|secrets and --replay FILE (docs/guide/replay.md); --as-json, with --replay or --rehearse;
 * --control PATH|off; --metrics ADDRESS; --otlp URL; --otlp-every N; --inspect ADDRESS, --inspect-allow, --inspect-anywhere,
 * --inspect-certificate FILE, --inspect-key FILE and --inspect-host NAME (docs/guide/inspector.md);
 * --log-format text|json|journald; --log-level RULES, as the variable
 * TROUPE_LOG, which leaves out lines of the log (docs/guide/operating.md); --pid-file PATH; --schema, which prints the
 * messages and durable kinds and ends; --version; --help. And those of `flags`.
 * TROUPE_GRACE says how long the program has from SIGTERM until it is killed: a line of the log
 * warns if the shutdown may take as long (docs/guide/deploying.md).
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
 *     0    no error, also after a signal; or what tr_app_exit said
 *     1    the root failed; or, if it is restarted, failed too often; or an actor of the pool
 *          failed; or the app could not start
 *     2    a flag is wrong
 *     70   a handler, a function of tr_blocking or a hook had not returned in time, or changes of a durable actor were not
 *          stored in time
 *     71   a failure reached the root of the tree, and the system was shut down: .system.supervision has a `decide` that
 *          returned TR_ESCALATE for a top-level actor that would be restarted
 *     72   the store of durable actors has failed, and the system was shut down
 *
 * A fault (SIGSEGV, SIGBUS, SIGFPE) in a handler ends the process by that signal, unless
 * traps_faults is set. Before that, a line on standard error names the actor and the handler
 * (tr_system_options.names_faults).
 *
 * The soft limit of descriptors of the process is raised to the hard one (setrlimit), so that the
 * program may have as many channels as it is allowed to. Child processes get the earlier limit.
 */
#define tr_app_main(argc, argv, ...) TR_APP_MAIN_(argc, argv, __VA_ARGS__)

TR_BEGIN_C
/**
 * The function of tr_app_main. app NULL: all defaults. One thread. May wait: until the app has
 * ended.
 */
TR_INLINE int tr_app_run(int argc, char **argv, const tr_behavior *root, const tr_app *app);
/**
 * Ends the app with an exit status of its own: return tr_app_exit(self, 3). Starts a shutdown, as a
 * signal does, and returns TR_SAME. Only the first call counts. A status of the runner (1, 70, 71,
 * 72) replaces it, because something else went wrong. A status is 0 to 255; any other ends the turn
 * with TR_INVALID_ARGUMENT. In a turn. Does not wait.
 */
tr_next tr_app_exit(tr_self *self, int status);
/**
 * Notifies systemd that the app is ready. Does nothing in an app without says_ready, or if it was
 * called before. In a turn. Does not wait.
 */
void tr_app_ready(tr_self *self);
/**
 * Returns the address of the inspector's page, with its token. A person who has it sees everything, and changes what the inspector
 * allows: give it to operators only, never to each visitor of a page.
 * NULL: the app has no inspector (tr_app.inspect, --inspect).
 * In a turn. Does not wait.
 */
const char *tr_app_inspector(tr_self *self);
TR_END_C

#include <troupe/detail/app.h>

#endif
