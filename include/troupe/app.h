/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A whole program: flags, signals, one system, a root actor.
 *
 *     int main(int argc, char **argv)
 *     {
 *         return tr_app_main(argc, argv, bank, .workers = 4);
 *     }
 */
#ifndef TROUPE_APP_H
#define TROUPE_APP_H

#include <troupe/shutdown.h>
#include <troupe/system.h>

/** All zero is the default; borrowed for the call. */
typedef struct tr_app {
    size_t size TR_ZERO;                 /* need not be set: tr_app_run knows it */
    const char *name TR_ZERO;            /* of the root; NULL: the name of its behavior */
    int workers TR_ZERO;                 /* 0: one per CPU; --workers N says otherwise */
    tr_time shutdown_timeout_ns TR_ZERO; /* 0: 10 s; --shutdown-timeout 30s says otherwise */
    bool traps_faults TR_ZERO;           /* see tr_system_options */
    /* See tr_system_options and pool.h. */
    const tr_child_spec *pool TR_ZERO;
    const tr_supervision *pool_supervision TR_ZERO;
    tr_status (*on_worker_start)(tr_system *system, int worker, void *context) TR_ZERO;
    void *context TR_ZERO; /* of on_worker_start */
    int workers_max TR_ZERO;
    /* See durable.h: the kinds, and where they are stored; --store DIR says otherwise. */
    const struct tr_durables *durable TR_ZERO;
    const char *store TR_ZERO;
    uint32_t awake_max TR_ZERO;
    uint64_t awake_bytes_max TR_ZERO;
    size_t stack_bytes TR_ZERO; /* of each turn; see tr_system_options */
} tr_app;

/**
 * Runs an app and gives the exit status of main: tr_app_main(argc, argv, root actor, options...).
 *
 * Flags: --workers N; --shutdown-timeout T; --store DIR, of an app with durable actors; --help. The root
 * gets what is left of the arguments in a tr_args, its first message after tr_pre_start. SIGINT and SIGTERM
 * start a shutdown, and how it went is said on standard error (shutdown.h); a second one ends the process
 * at once, with 128 and its number: 130, 143.
 *
 * When the root stops the app ends as well. So it does when the root fails: it is not restarted, the log
 * has the cause, and the status is 1. A root that is to be restarted says so, with
 * TR_OPTIONS(.restart = TR_TRANSIENT) or TR_PERMANENT; each incarnation gets the tr_args again. The status:
 *
 *     0    all is well, also after a signal
 *     1    the root failed; or, where it is restarted, it failed too often; or one of the pool did; or the
 *          app could not start
 *     2    a flag is wrong
 *     70   a handler, a function of tr_blocking or a hook had not returned in time, or what a durable
 *          actor had changed was not stored in time
 *     71   a failure reached the root of the tree, and so all was shut down
 *     72   the store of durable actors has failed, and so all was shut down
 *
 * A fault (SIGSEGV, SIGBUS, SIGFPE) in a handler ends the process by that signal, unless traps_faults is set. Before,
 * a line on standard error names the actor and the handler (tr_system_options.names_faults).
 */
#define tr_app_main(argc, argv, ...) TR_APP_MAIN_(argc, argv, __VA_ARGS__)

TR_BEGIN_C
/** What tr_app_main calls. app NULL: all defaults. */
TR_INLINE int tr_app_run(int argc, char **argv, const tr_behavior *root, const tr_app *app);
TR_END_C

#include <troupe/detail/app.h>

#endif
