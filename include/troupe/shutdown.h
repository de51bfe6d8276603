/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shutting down: what is called before and after the actors stop, and how it went.
 *
 *     tr_system_add_hook(system, TR_BEFORE_STOP, "leave the balancer", 2 * TR_SECOND, leave, NULL);
 *     tr_system_add_hook(system, TR_AFTER_STOP, "flush metrics", TR_SECOND, flush, metrics);
 *     ...
 *     tr_system_shutdown(system, 10 * TR_SECOND);
 *     tr_status status = tr_system_wait(system);
 *     tr_shutdown_report report;
 *     char text[TR_REPORT_TEXT_MAX];
 *     if (status != TR_OK && tr_system_report(system, &report) == TR_OK) {
 *         tr_shutdown_report_print(&report, text, sizeof text);
 *         fputs(text, stderr);
 *     }
 *
 * The order of a shutdown (docs/guide/shutdown.md has the reasons):
 *
 *   1. The hooks of TR_BEFORE_STOP, one after the other. The actors work as ever.
 *   2. Spawns are refused. The top-level actors get a poison pill; each handles what it has, stops
 *      its children, gets tr_post_stop and is gone: leaves before parents. The timeout of
 *      tr_system_shutdown counts from here.
 *      Durable actors stay awake meanwhile, and handlers can wake them. They are told to sleep when the
 *      others have stopped, or when three quarters of the time are over.
 *   3. At the deadline whatever has not stopped is killed: mailboxes are closed, turns that wait are
 *      cancelled, tr_post_stop is still called, children first. If a durable actor had changes that were
 *      not stored (interval_ns or tr_save were still to come), the report and the log name it, and the
 *      result is TR_SHUTDOWN_INCOMPLETE.
 *   4. A handler, a set-up, or a function of tr_blocking that does not return cannot be ended in C.
 *      30 to 50 ms after the deadline the wait for it is over: the others have stopped as if it had, the
 *      report names it, and the result is TR_SHUTDOWN_INCOMPLETE.
 *   5. The hooks of TR_AFTER_STOP; then tr_system_run and tr_system_wait return.
 *
 * How long that takes: the hooks their own timeouts at most; the actors timeout_ns and 50 ms
 * (TR_SHUTDOWN_GRACE_NS) when a function does not return. When none is in the way, but very many
 * actors are being killed or threads lack a CPU, they are given TR_SHUTDOWN_EXTRA_NS more before
 * that is TR_SHUTDOWN_INCOMPLETE. With TR_NEVER there is no deadline, and no function is given up.
 */
#ifndef TROUPE_SHUTDOWN_H
#define TROUPE_SHUTDOWN_H

#include <troupe/limits.h>
#include <troupe/system.h>

/** When a hook is called. */
typedef enum tr_hook_phase {
    TR_BEFORE_STOP, /* the actors work as ever: leave a load balancer, stop accepting */
    TR_AFTER_STOP   /* no actor is left, or those that are will not be waited for */
} tr_hook_phase;

/** Somebody who was still busy when the wait was over. Texts are cut to fit, paths at their front. */
typedef struct tr_report_busy {
    char path[256];
    char type[64]; /* of the message; "a signal" of a set-up, tr_pre_start, tr_post_stop */
    char where
        [64]; /* the name of the handler, "tr_blocking", or "the store", which writes for durable actors */
    int worker;     /* -1: a helper thread of tr_blocking, or that of the store */
    tr_time age_ns; /* how long it has run, to a millisecond or so */
} tr_report_busy;

/** Somebody who took long to stop. */
typedef struct tr_report_slow {
    char path[256];
    tr_time after_ns; /* when it had stopped, from the moment that the actors were told to */
} tr_report_slow;

/** What an actor did from the moment that the actors were told to stop. */
typedef struct tr_report_actor {
    char path[256];
    uint64_t handled;      /* messages */
    uint64_t dead_letters; /* messages to it that nobody handled, until it had ended */
    bool is_forced;        /* it was ended by the kill at the deadline */
    tr_time after_ns;      /* when it had ended, from that moment; -1: it has not */
} tr_report_actor;

/** What became of a hook: TR_OK, what it returned, or TR_TIMEOUT: it had not returned in time. */
typedef struct tr_report_hook {
    char name[64];
    tr_hook_phase phase;
    tr_status status;
    tr_time took_ns;
} tr_report_hook;

/** How a shutdown went. Counts are of what happened from its beginning on. */
typedef struct tr_shutdown_report {
    tr_status status;   /* as tr_system_wait */
    tr_time took_ns;    /* from tr_system_shutdown to the end of the last actor, or the verdict */
    tr_time timeout_ns; /* for the actors; TR_NEVER: none */
    uint64_t stopped;   /* actors that have ended */
    uint64_t forced;    /* of them, by the kill at the deadline */
    uint64_t left;      /* actors that have not ended */
    uint64_t handled;   /* messages that were handled meanwhile */
    uint64_t dead_letters;   /* messages that were not, and refused ones */
    uint64_t unstored;       /* durable actors that ended with changes that are not in the store */
    char unstored_path[256]; /* of the first of them; "": there is none */
    uint32_t busy_count;     /* functions that had not returned; the first of them are in busy[] */
    uint32_t slow_count;     /* in slow[], slowest first; empty when all was quick */
    uint32_t actor_count;    /* actors that handled or missed a message, or were forced */
    uint32_t hook_count; /* hooks that were called; in hook[] those that went wrong come first */
    tr_report_busy busy[TR_REPORT_BUSY_MAX];
    tr_report_slow slow[TR_REPORT_SLOW_MAX];
    /**
     * The first TR_REPORT_ACTORS_MAX of them: most dead letters first, then those that were forced,
     * or have not ended, then by what they handled. The sums above are of all, and of more: of
     * clients, of messages to actors that had ended, and of the half millisecond at most that a
     * busy worker takes to hear of the shutdown. Out of memory for the numbers there are none, and
     * actor_count is 0.
     */
    tr_report_actor actor[TR_REPORT_ACTORS_MAX];
    tr_report_hook hook[TR_HOOKS_MAX];
} tr_shutdown_report;

TR_BEGIN_C
/**
 * Has a function called when the system shuts down; those of a phase in the order of their adding.
 * Each runs on a thread of its own, so it may block; on a platform without threads (the kit) it is
 * called in place. It returns TR_OK, or why it failed, which the report tells. One that has not
 * returned after timeout_ns (0: TR_HOOK_TIMEOUT_NS) is left alone and the next one begins; then the
 * shutdown is TR_SHUTDOWN_INCOMPLETE. Hooks of a system whose only worker is driven by
 * tr_system_run_once are called as well, the last ones before it gives TR_STOPPED; those of a system
 * that is freed without having run are not. The name is copied, the context borrowed.
 *
 * TR_INVALID_ARGUMENT, TR_STOPPING (a shutdown has begun), TR_LIMIT (TR_HOOKS_MAX), TR_NO_MEMORY. Any
 * thread.
 */
TR_MUST_CHECK tr_status tr_system_add_hook(tr_system *system, tr_hook_phase phase, const char *name,
                                           tr_time timeout_ns,
                                           tr_status (*on_shutdown)(void *context), void *context);

/**
 * Writes how the shutdown went. TR_INVALID_TRANSITION: it is not over (or was never begun);
 * TR_INVALID_ARGUMENT, also for a program that was compiled for another report than the library's. Any
 * thread.
 */
TR_MUST_CHECK TR_INLINE tr_status tr_system_report(tr_system *system, tr_shutdown_report *report);

/**
 * The report for people, at most size - 1 characters and a 0: one line when all went well, and a
 * line for each thing that did not; of those in actor[], only who missed messages or was not quick
 * enough. Gives the length of the whole, as snprintf does; TR_REPORT_TEXT_MAX bytes are enough for
 * any. Any thread.
 */
size_t tr_shutdown_report_print(const tr_shutdown_report *report, char *text, size_t size);

/**
 * Whether a failure reached the root: TR_ESCALATED, and *error (may be NULL) is the first, with all
 * the supervisors that failed by it in links[], /user the last of them; or TR_OK. Any thread.
 */
tr_status tr_system_error(tr_system *system, tr_error *error);
TR_END_C

#include <troupe/detail/shutdown.h>

#endif
