/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shutting down: hooks before and after the actors stop, and a report.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/troupe.h>
 *
 * static tr_status leave_balancer(void *context)
 * {
 *     puts((const char *)context);
 *     return TR_OK;
 * }
 *
 * int main(void)
 * {
 *     static tr_shutdown_report report;
 *     static char text[TR_REPORT_TEXT_MAX];
 *     static char name[] = "leaving";
 *     tr_system *system;
 *     if (tr_system_new(NULL, &system) != TR_OK || tr_system_start(system) != TR_OK ||
 *         tr_system_add_hook(system, TR_BEFORE_STOP, "leave the balancer", 2 * TR_SECOND,
 *                            leave_balancer, name) != TR_OK)
 *         return 1;
 *     tr_system_shutdown(system, 10 * TR_SECOND);
 *     tr_status status = tr_system_wait(system);
 *     if (tr_system_report(system, &report) == TR_OK) {
 *         tr_shutdown_report_print(&report, text, sizeof text);
 *         fputs(text, stdout);
 *     }
 *     tr_system_free(system);
 *     return status == TR_OK ? 0 : 1;
 * }
 * ```
 *
 * The steps of a shutdown (docs/guide/shutdown.md has the reasons):
 *
 *   1. The hooks of TR_BEFORE_STOP, one after the other. The actors work as usual.
 *   2. Spawns are refused. The top-level actors get a poison pill. Each actor handles the messages
 *      it has, stops its children, gets tr_post_stop and ends, children before parents. The timeout
 *      of tr_system_shutdown counts from the beginning of this step. Durable actors stay awake at
 *      first, and handlers can wake them. They are asked to sleep when all other actors have
 *      stopped, or when three quarters of the timeout are over.
 *   3. At the deadline actors that have not stopped are killed: mailboxes are closed, turns that
 *      wait are cancelled, and tr_post_stop is still called, children first. If a durable actor had
 *      changes that were not stored yet, because they wait for interval_ns or tr_save, the report
 *      and the log name the actor, and the result is TR_SHUTDOWN_INCOMPLETE.
 *   4. A handler, a set-up, or a function of tr_blocking that does not return cannot be ended in C.
 *      The shutdown stops waiting for such a function 30 to 50 ms after the deadline. All other
 *      actors stop as if it had returned, the report names the function, and the result is
 *      TR_SHUTDOWN_INCOMPLETE.
 *   5. The hooks of TR_AFTER_STOP. Then tr_system_run and tr_system_wait return.
 *
 * How long a shutdown takes: each hook takes at most its own timeout. The actors take at most
 * timeout_ns, plus 50 ms (TR_SHUTDOWN_GRACE_NS) if a function does not return. If no function is at
 * fault, but very many actors are being killed or threads get no CPU, the shutdown takes up to
 * TR_SHUTDOWN_EXTRA_NS more before the result is TR_SHUTDOWN_INCOMPLETE. With TR_NEVER there is no
 * deadline, and the shutdown waits for every function.
 */
#ifndef TROUPE_SHUTDOWN_H
#define TROUPE_SHUTDOWN_H

#include <troupe/limits.h>
#include <troupe/system.h>

/** When a hook is called. */
typedef enum tr_hook_phase {
    TR_BEFORE_STOP, /* the actors work as usual: leave a load balancer, stop accepting */
    TR_AFTER_STOP   /* all actors have ended, except those that the shutdown no longer waits for */
} tr_hook_phase;

/**
 * A function that was still running when the shutdown stopped waiting for it. A text that is too
 * long for its member is cut; a path loses its beginning.
 */
typedef struct tr_report_busy {
    char path[256];
    /*
     * type of the message that the function handles; "a signal" for a set-up, tr_pre_start and
     * tr_post_stop
     */
    char type[64];
    char where[64]; /* the name of the handler, "tr_blocking", or "the store" */
    /* index of the worker; -1: a helper thread of tr_blocking, or the thread of the store */
    int worker;
    tr_time age_ns; /* how long the function has run, to a millisecond or so */
} tr_report_busy;

/** An actor that took long to stop. */
typedef struct tr_report_slow {
    char path[256];
    tr_time after_ns; /* time from the order that stops all actors until this actor ended */
} tr_report_slow;

/** What one actor has done since all actors were ordered to stop. */
typedef struct tr_report_actor {
    char path[256];
    uint64_t handled;      /* messages */
    uint64_t dead_letters; /* messages to the actor that became dead letters before it had ended */
    bool is_forced;        /* the kill at the deadline ended it */
    /* time from the order to stop until this actor ended; -1: it has not ended */
    tr_time after_ns;
} tr_report_actor;

/**
 * How a hook ended. `status` is what the hook returned, or TR_TIMEOUT if it had not returned in
 * time.
 */
typedef struct tr_report_hook {
    char name[64];
    tr_hook_phase phase;
    tr_status status;
    tr_time took_ns;
} tr_report_hook;

/** How a shutdown ended. The counts begin with the shutdown. */
typedef struct tr_shutdown_report {
    tr_status status; /* what tr_system_wait returns */
    /*
     * time from tr_system_shutdown to the end of the last actor; if some actors have not ended, the
     * time until the shutdown stopped waiting for them
     */
    tr_time took_ns;
    tr_time timeout_ns; /* the time that the actors had; TR_NEVER: no limit */
    uint64_t stopped;   /* actors that have ended */
    uint64_t forced;    /* actors among `stopped` that the kill at the deadline ended */
    uint64_t left;      /* actors that have not ended */
    uint64_t handled;   /* messages that were handled */
    /* messages that were not handled; includes messages that were refused */
    uint64_t dead_letters;
    uint64_t unstored;       /* durable actors of which some changes are not in the store */
    char unstored_path[256]; /* the path of the first actor that `unstored` counts; "": none */
    uint32_t busy_count;     /* functions that had not returned; the first of them are in busy[] */
    uint32_t slow_count;     /* entries of slow[], the slowest actor first; 0: all were quick */
    /* actors that handled a message, left a message unhandled, or were killed */
    uint32_t actor_count;
    uint32_t hook_count; /* hooks that were called; hook[] begins with the hooks that failed */
    tr_report_busy busy[TR_REPORT_BUSY_MAX];
    tr_report_slow slow[TR_REPORT_SLOW_MAX];
    /**
     * At most TR_REPORT_ACTORS_MAX of the actors that actor_count counts: first the actors with the
     * most dead letters, then the actors that were killed or have not ended, then the others by how
     * many messages they handled. The sums above include all actors, and also clients, messages to
     * actors that had ended, and what a busy worker did until it noticed the shutdown, at most half
     * a millisecond. If there was no memory for these numbers, actor_count is 0.
     */
    tr_report_actor actor[TR_REPORT_ACTORS_MAX];
    tr_report_hook hook[TR_HOOKS_MAX];
} tr_shutdown_report;

TR_BEGIN_C
/**
 * Adds a function that is called when the system shuts down. The hooks of a phase are called in the
 * order in which they were added.
 * Any thread. Does not wait.
 *
 * Each hook runs on a thread of its own, so it may block. On a platform without threads (the kit),
 * the thread that shuts down calls the hook. A hook returns TR_OK, or a status for the report that
 * says why it failed. If it has not returned after timeout_ns (0: TR_HOOK_TIMEOUT_NS), the next
 * hook begins, and the result of the shutdown is TR_SHUTDOWN_INCOMPLETE. A system that is driven by
 * tr_system_run_once calls its hooks before tr_system_run_once returns TR_STOPPED. A system that is
 * freed without having run calls no hooks. The name is copied, the context borrowed.
 *
 * TR_INVALID_ARGUMENT; TR_STOPPING: a shutdown has begun; TR_LIMIT (TR_HOOKS_MAX); TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr_system_add_hook(tr_system *system, tr_hook_phase phase, const char *name,
                                           tr_time timeout_ns,
                                           tr_status (*on_shutdown)(void *context), void *context);

/**
 * Writes how the shutdown ended.
 * Any thread. Does not wait.
 *
 * TR_OK; TR_INVALID_TRANSITION: the shutdown is not over, or has not started; TR_INVALID_ARGUMENT; TR_NO_MEMORY, which
 * comes only in a program that was compiled with another version of the struct.
 */
TR_MUST_CHECK TR_INLINE tr_status tr_system_report(tr_system *system, tr_shutdown_report *report);

/**
 * Writes the report as text, at most size - 1 characters and a NUL.
 * Any thread. Does not wait.
 *
 * The text has one line if all went well, and a further line for each thing that did not. Of the
 * actors in actor[], the text has only those that missed messages or took too long. Returns the
 * length of the whole text, as snprintf does. TR_REPORT_TEXT_MAX bytes are always enough.
 */
size_t tr_shutdown_report_print(const tr_shutdown_report *report, char *text, size_t size);

/**
 * Returns TR_ESCALATED if a failure reached the root, else TR_OK.
 * Any thread. Does not wait.
 *
 * With TR_ESCALATED, *error is the first such failure; `error` may be NULL. error->links are the
 * supervisors that failed because of this failure; the last one is /user.
 */
tr_status tr_system_error(tr_system *system, tr_error *error);
TR_END_C

#include <troupe/detail/shutdown.h>

#endif
