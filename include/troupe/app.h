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
 * A flag that the program defines: an element of TR_FLAGS. A user writes --rate 10 or --rate=10.
 * Set exactly one of the pointers is_set, number, time_ns and text. tr_app_run stores the value in
 * the variable that the pointer leads to, and the pointer's type is the type of the value. What the
 * variable holds before the call is the default. Values are read in the order of the arguments,
 * before any actor starts. If a value is wrong, the program writes a sentence to standard error and
 * ends with exit status 2.
 */
typedef struct tr_flag {
    const char *name TR_ZERO; /* without the dashes: "rate"; letters, digits and dashes */
    bool *is_set TR_ZERO;     /* becomes true if the user gives the flag, which takes no value */
    int64_t *number TR_ZERO;  /* a decimal number, from `min` to `max` */
    tr_time *time_ns TR_ZERO; /* 30s, 500ms, 2m, 1h; a bare number is seconds; at most 24h */
    /* any text that is not empty; tr_app_run makes *text point into argv */
    const char **text TR_ZERO;
    int64_t min TR_ZERO; /* for `number`; min and max both 0: any number */
    int64_t max TR_ZERO;
    /* what --help calls the value; NULL: "N", "TIME" or "TEXT", by the type */
    const char *takes TR_ZERO;
    const char *help TR_ZERO;    /* one sentence for --help */
    const char *example TR_ZERO; /* "--rate 1000", for --help; NULL: none */
} tr_flag;

/**
 * The flags of a program: .flags = TR_FLAGS({.name = "rate", .number = &rate, .help = "payments in a second"}). The app
 * does not start if two of its flags have the same name, or if one has the name of a flag of tr_app_run. Any thread.
 * Does not wait.
 */
#define TR_FLAGS(...) TR_FLAGS_(__VA_ARGS__)

/** The options of an app. All zero is the default. Borrowed for the call. */
typedef struct tr_app {
    size_t size TR_ZERO; /* need not be set */
    /* name of the root actor; NULL: the name of its behavior */
    const char *name TR_ZERO;
    int workers TR_ZERO;                 /* 0: one for each CPU; --workers N replaces it */
    tr_time shutdown_timeout_ns TR_ZERO; /* 0: 10 s; --shutdown-timeout 30s replaces it */
    bool traps_faults TR_ZERO;           /* see tr_system_options */
    /* See tr_system_options and pool.h. */
    const tr_child_spec *pool TR_ZERO;
    const tr_supervision *pool_supervision TR_ZERO;
    tr_status (*on_worker_start)(tr_system *system, int worker, void *context) TR_ZERO;
    void *context TR_ZERO; /* passed to on_worker_start */
    int workers_max TR_ZERO;
    /*
     * For durable actors (durable.h): their kinds, the directory of their store, which --store DIR
     * replaces, and how many may be awake (see tr_system_options).
     */
    const struct tr_durables *durable TR_ZERO;
    const char *store TR_ZERO;
    uint32_t awake_max TR_ZERO;
    uint64_t awake_bytes_max TR_ZERO;
    size_t stack_bytes TR_ZERO; /* stack of each turn; see tr_system_options */
    /**
     * The path of the control socket, by which the tool `troupe` looks into the program
     * (docs/guide/operating.md); at most 107 bytes. "off": there is no control socket. NULL:
     * <name>.<pid>.sock in the first of these directories that can be used:
     * $XDG_RUNTIME_DIR/troupe, /run/troupe, the directory of the store, /tmp/troupe-<user>. If none
     * can be used, a line of the log says so. --control replaces this member. Only the same user
     * and root can connect.
     */
    const char *control TR_ZERO;
    /**
     * Where GET /metrics gives the metrics of the program to Prometheus: "127.0.0.1:9100",
     * "[::1]:0", or the path of a UNIX socket. NULL: nowhere. --metrics replaces this member. An
     * address that other machines can reach needs metrics_anywhere or --metrics-anywhere, because
     * there is no password.
     */
    const char *metrics TR_ZERO;
    bool metrics_anywhere TR_ZERO;
    /**
     * The collector of OpenTelemetry that gets the turns of followed messages as spans, by
     * OTLP/HTTP: "http://127.0.0.1:4318" (docs/guide/operating.md). NULL: spans go nowhere. --otlp
     * replaces this member. One of otlp_every messages from outside is followed; 0 means one of
     * 100. With UINT32_MAX, the only messages that are followed are those of HTTP requests whose
     * traceparent asks for it. --otlp-every replaces otlp_every.
     */
    const char *otlp TR_ZERO;
    uint32_t otlp_every TR_ZERO;
    /**
     * All other options of the system: .system = {.supervision = &rules, .actors_max = 10000}. A
     * member of tr_app that is not zero replaces the member of the same name here, and a flag of
     * the command line replaces both. exit_when_empty is always set. names_faults is set unless
     * handoff_after_ns is set. tr_app_run needs the real platform, for signals and the console:
     * with another platform the exit status is 1.
     */
    tr_system_options system TR_ZERO;
    const char *summary TR_ZERO; /* the first line of --help; NULL: none */
    /**
     * What --help shows for arguments that are no flags: "FILE...". If this is NULL and `flags` is
     * set, the program takes no such arguments: they are refused, except behind "--".
     */
    const char *arguments TR_ZERO;
    /* the program's version for --version; NULL: --version prints only Troupe's version */
    const char *version TR_ZERO;
    /**
     * Where the inspector shows what the program does, as a page for a browser: "127.0.0.1:0", an
     * address that only this machine can reach. Standard error gets a line with the address of the
     * page and a token, without which nothing is shown. NULL: there is no inspector. --inspect
     * replaces this member. The inspector needs the control socket. The page can only look; with
     * inspect_allow or --inspect-allow it can also change things: docs/guide/inspector.md.
     */
    const char *inspect TR_ZERO;
    bool inspect_allow TR_ZERO;
    /**
     * The flags that the program defines. --help shows them before the flags of tr_app_run. Every
     * other argument that begins with a dash is refused, except behind "--". If `flags` is NULL and
     * `arguments` is set, arguments that begin with a dash are not refused, because the program
     * then reads its flags itself. All arguments that are not refused go to the root in its
     * tr_args. If the root has no handler for tr_args, every argument is refused.
     */
    const tr_flag *flags TR_ZERO;
    /**
     * The path of a file that contains the number of the process while the app runs. The file is locked: a second
     * process with the same file does not start (exit status 1). A file that a dead process has left is replaced. NULL:
     * no file. --pid-file replaces this member.
     */
    const char *pid_file TR_ZERO;
    /**
     * True: the app is ready when it calls tr_app_ready. False: the app is ready when the first
     * turn of its root has ended without a failure. The first turn is the turn of tr_args. If the
     * root does not handle tr_args, the first turn is the turn of tr_pre_start. If the root handles
     * neither of them, the set-up counts as the first turn. This member matters only under systemd
     * (docs/guide/app.md).
     */
    bool says_ready TR_ZERO;
    /**
     * These four members let other machines reach the inspector. If inspect_anywhere is set and
     * inspect_certificate is the path of a PEM file, `inspect` may be any address. If inspect_key
     * is NULL, the key is in the file of the certificate. Browsers reach the inspector by its
     * address, by localhost, and by the name inspect_host; other names are refused. Flags of the
     * same names replace the members.
     */
    bool inspect_anywhere TR_ZERO;
    const char *inspect_certificate TR_ZERO;
    const char *inspect_key TR_ZERO;
    const char *inspect_host TR_ZERO;
    /**
     * The path of a file with the token of the inspector. If there is no file, it is made, with mode 0600 and a new token.
     * A file that other users may use is refused. With this file and a port that is the same each time, a page that is left
     * open finds the program again after a restart. NULL: each start has a new token. --inspect-token replaces this member.
     */
    const char *inspect_token TR_ZERO;
} tr_app;

/**
 * Runs an app and returns the exit status for main: tr_app_main(argc, argv, root actor,
 * options...).
 * One thread. May wait: until the app has ended.
 *
 * Flags: --workers N; --shutdown-timeout T; --store DIR and --rehearse DIR (docs/guide/schema.md), for an app with durable
 * actors; --records on|off|secrets and --replay FILE (docs/guide/replay.md); --as-json, with --replay or --rehearse;
 * --control PATH|off; --metrics ADDRESS; --otlp URL; --otlp-every N; --inspect ADDRESS, --inspect-allow, --inspect-anywhere,
 * --inspect-certificate FILE, --inspect-key FILE, --inspect-host NAME and --inspect-token FILE (docs/guide/inspector.md);
 * --log-format text|json|journald; --log-level RULES, which leaves out lines of the log, as the variable TROUPE_LOG
 * does (docs/guide/operating.md); --pid-file PATH; --schema, which prints the messages and durable kinds and ends;
 * --version; --help; and the flags of tr_app.flags.
 * The variable TROUPE_GRACE says how long the program has from SIGTERM until it is killed. A line
 * of the log warns if the shutdown may take that long (docs/guide/deploying.md).
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
 *     0    no error, also after a signal. tr_app_exit sets another status
 *     1    the root failed; a root that is restarted failed too often; an actor of the pool failed;
 *          or the app could not start
 *     2    a flag is wrong
 *     70   a handler, a function of tr_blocking or a hook had not returned in the time that a shutdown gives it, or
 *          changes of a durable actor were not stored in that time
 *     71   a failure reached the root of the tree, and the system was shut down: the `decide` of .system.supervision
 *          returned TR_ESCALATE for a top-level actor that would otherwise have been restarted
 *     72   the store of durable actors has failed, and the system was shut down
 *
 * A fault (SIGSEGV, SIGBUS, SIGFPE) in a handler ends the process by that signal, unless
 * traps_faults is set. Before that, a line on standard error names the actor and the handler
 * (tr_system_options.names_faults).
 *
 * The runner raises the soft limit of descriptors of the process to the hard limit (setrlimit), so
 * that the program may have as many channels as it is allowed to. Child processes get the soft
 * limit from before.
 */
#define tr_app_main(argc, argv, ...) TR_APP_MAIN_(argc, argv, __VA_ARGS__)

TR_BEGIN_C
/**
 * Runs an app, as tr_app_main does, and returns the exit status. If `app` is NULL, all options have
 * their defaults. One thread. May wait: until the app has ended.
 */
TR_INLINE int tr_app_run(int argc, char **argv, const tr_behavior *root, const tr_app *app);
/**
 * Ends the app with the exit status `status`: return tr_app_exit(self, 3). Starts a shutdown, as a
 * signal does, and returns TR_SAME. Only the first call counts. If something else goes wrong, a
 * status of the runner (1, 70, 71, 72) replaces `status`. If `status` is not 0 to 255, the turn
 * ends with TR_INVALID_ARGUMENT. In a turn. Does not wait.
 */
tr_next tr_app_exit(tr_self *self, int status);
/**
 * Notifies systemd that the app is ready. Only the first call in an app with says_ready has an
 * effect. In a turn. Does not wait.
 */
void tr_app_ready(tr_self *self);
/**
 * Returns the address of the inspector's page, with its token. The token is a secret: with this address, anybody can
 * see what the inspector shows, and change what it allows to be changed. Give the address to operators only, not to all
 * visitors of a web page. Returns NULL if the app has no inspector (tr_app.inspect, --inspect).
 * In a turn. Does not wait.
 */
const char *tr_app_inspector(tr_self *self);
TR_END_C

#include <troupe/detail/app.h>

#endif
