/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a running system does: which actors there are, what the workers run, what has failed.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/observe.h>
 * #include <troupe/troupe.h>
 *
 * static tr_next on_args(tr_self *self)
 * {
 *     static tr_actor_info actors[10];
 *     tr_actor_query query = {.queued_min = 0};
 *     size_t count;
 *     if (tr_system_actors(tr_system_of(self), &query, actors, 10, &count) == TR_OK) {
 *         for (size_t i = 0; i < count; i++)
 *             printf("%s %s\n", actors[i].path, actors[i].state);
 *     }
 *     return TR_STOP;
 * }
 *
 * TR_BEHAVIOR(looker, void, TR_ON(tr_args, on_args));
 *
 * int main(int argc, char **argv)
 * {
 *     return tr_app_main(argc, argv, looker);
 * }
 * ```
 *
 * Except tr_actor_show, these functions ask no worker and no actor. They read only what workers
 * write in any case. So they cost the workers nothing, and return even while every worker is stuck
 * in a handler. What they say of one actor was true a moment ago; the numbers of several actors are
 * not of the same moment. Programs with tr_app_main show all this to the tool `troupe`, by their
 * control socket: docs/guide/operating.md.
 */
#ifndef TROUPE_OBSERVE_H
#define TROUPE_OBSERVE_H

#include <troupe/system.h>

/** Which actors to list. All zero: all actors. Texts are borrowed for the call. */
typedef struct tr_actor_query {
    size_t size TR_ZERO; /* need not be set */
    /* where the list continues: see tr_system_actors; 0: at the beginning */
    uint32_t from TR_ZERO;
    /* only this actor and all actors below it; TR_NOBODY: all actors */
    tr_ref below TR_ZERO;
    const char *behavior TR_ZERO; /* only actors of a behavior of this name; NULL: of any */
    const char *state TR_ZERO;    /* only actors in this state, such as "Running"; NULL: any */
    uint32_t queued_min TR_ZERO;  /* only actors with at least this many messages queued */
} tr_actor_query;

/** One actor of a list. Texts that are pointers are constants of the program. */
typedef struct tr_actor_info {
    tr_ref actor;
    tr_ref parent;     /* TR_NOBODY: the actor has none */
    const char *state; /* "New", "Starting", "Running", "Suspended", "Stopping" */
    /* name of the behavior; its file and line follow; NULL: the actor is not set up yet */
    const char *behavior;
    const char *file;
    uint32_t line;
    int worker;          /* index of the worker; -1: none, because the actor starts or moves */
    bool is_running;     /* a handler of the actor runs now */
    bool is_ready;       /* the actor has something to do and waits for its worker */
    uint32_t queued;     /* messages that wait in the actor's mailbox */
    uint32_t queued_max; /* the bound of the mailbox */
    uint64_t queued_bytes;
    uint32_t children;
    char path[TR_PATH_MAX + 1];
} tr_actor_info;

/** What a worker does. */
typedef struct tr_worker_info {
    int worker;
    bool is_open;    /* new actors may start on this worker; see tr_system_set_workers */
    bool is_running; /* the worker runs a handler: the members up to `path` say which */
    tr_ref actor;
    const char *type;     /* type of the message; NULL: a signal or a set-up */
    const char *handler;  /* NULL: not known */
    const char *behavior; /* its file and line follow; NULL: not known */
    const char *file;
    uint32_t line;
    /* for how long the worker has been in this turn; 0: less than about five milliseconds */
    tr_time since_ns;
    char path[TR_PATH_MAX + 1];
    uint64_t handled; /* messages that the worker has handled since the system was made */
    uint64_t runs;    /* how often the worker ran an actor */
    uint64_t parks;   /* how often the worker went to sleep */
    uint64_t spawned;
    uint64_t failures;
    uint32_t ready; /* actors that were ready when the worker last looked */
} tr_worker_info;

/** The actors of one behavior. Texts are constants of the program. */
typedef struct tr_behavior_info {
    const char *behavior;
    const char *file;
    uint32_t line;
    uint64_t live;
    uint64_t queued;      /* messages in all mailboxes of these actors */
    uint32_t queued_most; /* messages in the fullest of these mailboxes */
    /*
     * failures of these actors since the system was made; counted only for the first
     * TR_FAILED_BEHAVIORS_MAX names of behaviors
     */
    uint64_t failures;
    uint64_t queued_bytes; /* bytes of the messages in all mailboxes of these actors */
    tr_ref fullest; /* the actor with the fullest of these mailboxes; TR_NOBODY: all are empty */
    /*
     * bytes of the actors, of their states, and queued_bytes; memory that their handlers have
     * allocated does not count
     */
    uint64_t bytes;
    uint64_t suspended; /* actors among `live` that are suspended */
    uint64_t stopping;  /* actors among `live` that are stopping */
} tr_behavior_info;

/** A failure, or the restart after it. Texts that are too long are cut. */
typedef struct tr_failure_record {
    tr_time time_ns; /* as tr_now */
    tr_ref actor;
    /* true: the actor was restarted; `status` and `text` are those of the failure before */
    bool is_restart;
    uint32_t incarnation; /* incarnation of the actor, counted from 1 */
    tr_status status;
    char behavior[64];
    char where[64]; /* what the actor handled: the name of a message or signal, or "its set-up" */
    char text[192];
    char path[TR_DEAD_LETTER_PATH_MAX + 1]; /* the beginning of a long path is cut: "..." */
} tr_failure_record;

/** How many messages of a type wait. */
typedef struct tr_mail_info {
    const char *type;
    uint32_t count;
} tr_mail_info;

/** The report of tr_actor_show, in memory of the caller: 10 KiB. */
typedef struct tr_actor_report {
    tr_time asked_ns;     /* as tr_now */
    uint32_t mail_count;  /* how many elements of `mail` are used */
    tr_mail_info mail[8]; /* what waits in the mailboxes, by type; the rest is in mail_more */
    /* messages of types that are not in `mail`, and all messages after the first 10,000 */
    uint32_t mail_more;
    const char *oldest; /* type of the oldest message that waits; NULL: no message waits */
    tr_ref oldest_from;
    /*
     * a number that stands for the oldest message: two reports with the same mark have the same
     * oldest message
     */
    uint64_t oldest_mark;
    uint32_t timers;          /* timers that are armed */
    uint32_t asks;            /* requests that the actor has sent and that are not answered */
    uint32_t replies_owed;    /* requests whose reply the actor has deferred */
    uint32_t turns_waiting;   /* turns that wait */
    uint32_t stashed;         /* messages */
    uint32_t senders_waiting; /* senders that wait for capacity of the actor's mailbox */
    uint32_t watches;         /* actors that this actor watches */
    uint32_t incarnation;     /* from 1 */
    uint64_t bytes;           /* bytes that the actor holds: state, tr_alloc, messages, timers */
    uint64_t bytes_max;       /* budget of the actor; 0: none */
    const char *state_type;   /* the name of the message that describes the state; NULL: none */
    uint32_t state_length;    /* length of state_text */
    /* the state as JSON; "": the state has no descriptor, or does not fit */
    char state_text[8192];
    uint32_t replies_late; /* replies among replies_owed for which nobody waits any more */
    /* the causal id of the oldest message; 0: the message has none, or no message waits */
    uint64_t oldest_causal;
    /*
     * CPU time of this incarnation, and its budget. The time is measured only if the actor, or a
     * tree with the actor, has a budget of CPU time. A budget of 0, here and below, means that
     * there is none
     */
    tr_time cpu_ns;
    tr_time cpu_max_ns;
    /* bytes that the actor and all actors below it hold, if their tree has a budget */
    uint64_t tree_bytes;
    uint64_t tree_bytes_max;
    /* CPU time of the actor and all actors below it, if their tree has a budget */
    tr_time tree_cpu_ns;
    tr_time tree_cpu_max_ns;
} tr_actor_report;

TR_BEGIN_C
/**
 * Lists actors. Writes at most `max` of them, and their number to *count. If there may be more,
 * sets query->from so that the next call continues the list; otherwise sets it to 0. Any thread.
 * Does not wait.
 *
 * The actors are in no useful order. An actor that exists during all calls is listed once; an actor
 * that starts or ends meanwhile may be missing. A call looks at no more than TR_LOOK_MAX actors, so
 * *count can be 0 although query->from is not. Returns TR_OK. TR_INVALID_ARGUMENT: NULL, a state
 * that does not exist, or members that the library does not know. TR_STOPPED: the actor
 * query->below has ended.
 */
TR_MUST_CHECK TR_INLINE tr_status tr_system_actors(tr_system *system, tr_actor_query *query,
                                                   tr_actor_info *actors, size_t max,
                                                   size_t *count);
/**
 * Writes what the workers do, at most `max` of them. Returns how many workers there are.
 * Any thread. Does not wait.
 */
TR_INLINE size_t tr_system_running(tr_system *system, tr_worker_info *workers, size_t max);
/**
 * Writes at most `max` behaviors, and their number to *count. These are behaviors that have actors,
 * or of which actors have failed. Behaviors with the most actors come first. Looks at all actors,
 * which takes 50 ms for a million. Any thread. Does not wait.
 *
 * Returns TR_OK, TR_INVALID_ARGUMENT or TR_NO_MEMORY. TR_LIMIT: there are more than
 * TR_LOOKED_BEHAVIORS_MAX behaviors, and only the behaviors that were found first are written.
 */
TR_MUST_CHECK TR_INLINE tr_status tr_system_behaviors(tr_system *system,
                                                      tr_behavior_info *behaviors, size_t max,
                                                      size_t *count);
/**
 * Copies up to `max` of the last failures and restarts, the newest first, and writes to *count how
 * many it has copied; `count` may be NULL. Returns how many there have been in all. The system
 * keeps the last TR_FAILURES_KEPT. Any thread. Does not wait.
 */
TR_INLINE uint64_t tr_system_failures(tr_system *system, tr_failure_record *last, size_t max,
                                      size_t *count);
/**
 * Returns the actor with a path, or TR_NOBODY if there is none. An actor without a name also has a
 * path: "/user/$2a.1". Any thread. Does not wait.
 */
tr_ref tr_system_find(tr_system *system, const char *path);
/**
 * Writes what only the worker of an actor knows: mailboxes by type, timers, asks, and the state as
 * JSON if the behavior has a descriptor for it (tr_options.shows). Client's thread. May wait: for
 * the actor's worker, at most TR_WHY_NS.
 *
 * The report takes no capacity of the actor's mailbox, and also comes for an actor that is
 * suspended or full. Returns TR_OK. TR_TIMEOUT: the worker of the actor has not answered;
 * tr_system_running says what this worker does. Also returns TR_STOPPED, TR_NO_MEMORY or
 * TR_INVALID_ARGUMENT. On failure *report is unchanged.
 */
TR_MUST_CHECK TR_INLINE tr_status tr_actor_show(tr_client *client, tr_ref actor,
                                                tr_actor_report *report);
TR_END_C

#include <troupe/detail/observe.h>

#endif
