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
 * These calls ask no worker and no actor. They read only what workers write in any case. So they
 * cost the workers nothing, and answer even while every worker is stuck in a handler. What they say
 * of one actor was true a moment ago; the numbers of several actors are not of the same moment.
 * Programs of tr_app_main show all this on their control socket, to the tool `troupe`:
 * docs/guide/operating.md.
 */
#ifndef TROUPE_OBSERVE_H
#define TROUPE_OBSERVE_H

#include <troupe/system.h>

/** Which actors to list. All zero: all of them. Texts are borrowed for the call. */
typedef struct tr_actor_query {
    size_t size TR_ZERO;          /* need not be set */
    uint32_t from TR_ZERO;        /* where to continue: see tr_system_actors; 0: the beginning */
    tr_ref below TR_ZERO;         /* this actor and all below it; TR_NOBODY: everything */
    const char *behavior TR_ZERO; /* only actors of a behavior of this name; NULL: of any */
    const char *state TR_ZERO;    /* only actors in this state, such as "Running"; NULL: any */
    uint32_t queued_min TR_ZERO;  /* only actors with at least this many messages queued */
} tr_actor_query;

/** One actor of a list. Texts that are pointers are constants of the program. */
typedef struct tr_actor_info {
    tr_ref actor;
    tr_ref parent;        /* TR_NOBODY: the actor has none */
    const char *state;    /* "New", "Starting", "Running", "Suspended", "Stopping" */
    const char *behavior; /* name of the behavior; file and line follow. NULL: not set up yet */
    const char *file;
    uint32_t line;
    int worker;          /* -1: none, because the actor starts or moves */
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
    bool is_open;    /* actors start here: tr_system_set_workers */
    bool is_running; /* the worker runs a handler: the members up to `path` say which */
    tr_ref actor;
    const char *type;     /* of the message; NULL: a signal or a set-up */
    const char *handler;  /* NULL: not known */
    const char *behavior; /* NULL: not known; file and line follow */
    const char *file;
    uint32_t line;
    /* for how long the worker has been in this turn; 0: less than two milliseconds */
    tr_time since_ns;
    char path[TR_PATH_MAX + 1];
    uint64_t handled; /* messages, since the system was made */
    uint64_t runs;    /* times that the worker ran an actor */
    uint64_t parks;   /* times that the worker went to sleep */
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
    /* since the system was made; counted for the first TR_FAILED_BEHAVIORS_MAX names only */
    uint64_t failures;
    uint64_t queued_bytes; /* of the messages in all mailboxes of these actors */
    tr_ref fullest; /* the actor with the fullest of these mailboxes; TR_NOBODY: all are empty */
    /* memory of the actors, their states and queued_bytes; what their handlers have allocated is not counted */
    uint64_t bytes;
    uint64_t suspended; /* those of `live` that are suspended */
    uint64_t stopping;  /* those of `live` that are stopping */
} tr_behavior_info;

/** A failure, or the restart after it. Texts that are too long are cut. */
typedef struct tr_failure_record {
    tr_time time_ns; /* as tr_now */
    tr_ref actor;
    bool is_restart;      /* the actor runs again; status and text are from its failure */
    uint32_t incarnation; /* of the actor, from 1 */
    tr_status status;
    char behavior[64];
    char where[64]; /* the message that the actor handled, or "its set-up", or a signal */
    char text[192];
    char path[TR_DEAD_LETTER_PATH_MAX + 1]; /* the beginning of a long one is cut: "..." */
} tr_failure_record;

/** How many messages of a type wait. */
typedef struct tr_mail_info {
    const char *type;
    uint32_t count;
} tr_mail_info;

/** The report of tr_actor_show, in memory of the caller: 10 KiB. */
typedef struct tr_actor_report {
    tr_time asked_ns;     /* as tr_now */
    uint32_t mail_count;  /* elements of `mail` */
    tr_mail_info mail[8]; /* what waits in the mailboxes, by type; the rest is in mail_more */
    uint32_t mail_more;   /* messages of other types, and all messages after the first 10,000 */
    const char *oldest;   /* the type of the oldest message that waits; NULL: none */
    tr_ref oldest_from;
    /* if an earlier report has the same mark, the oldest message is still the same */
    uint64_t oldest_mark;
    uint32_t timers;          /* timers that are armed */
    uint32_t asks;            /* requests that the actor has sent and that are not answered */
    uint32_t replies_owed;    /* requests whose reply the actor has deferred */
    uint32_t turns_waiting;   /* turns that wait */
    uint32_t stashed;         /* messages */
    uint32_t senders_waiting; /* senders that wait for capacity of its mailbox */
    uint32_t watches;         /* actors that this actor watches */
    uint32_t incarnation;     /* from 1 */
    uint64_t bytes;           /* that the actor holds: state, tr_alloc, messages, timers */
    uint64_t bytes_max;       /* budget of the actor; 0: none */
    const char *state_type;   /* the name of the message that describes the state; NULL: none */
    uint32_t state_length;    /* of state_text */
    char state_text[8192];    /* the state as JSON; "": not described, or larger than this */
    uint32_t replies_late;    /* of replies_owed: nobody waits for them any more */
    uint64_t oldest_causal;   /* the causal id of the oldest message; 0: none */
    /* CPU time of this incarnation, and its budget. Measured only if the actor or one of its trees
     * has a budget of CPU time. 0: no budget, as in the next members */
    tr_time cpu_ns;
    tr_time cpu_max_ns;
    uint64_t tree_bytes; /* that the actor and all below it hold, if their tree has a budget */
    uint64_t tree_bytes_max;
    tr_time tree_cpu_ns; /* CPU time of the actor and all below it, if their tree has a budget */
    tr_time tree_cpu_max_ns;
} tr_actor_report;

TR_BEGIN_C
/**
 * Lists actors. Writes at most `max` of them and how many to *count. If there may be more, sets
 * query->from so that the next call continues; else to 0.
 * Any thread. Does not wait.
 *
 * Actors are in no useful order. One that exists during all calls is listed once; one that starts
 * or ends meanwhile may be missing. A call looks at no more than TR_LOOK_MAX actors, so *count can
 * be 0 although query->from is not. TR_OK. TR_INVALID_ARGUMENT: NULL, a state that does not exist,
 * or members that the library does not know. TR_STOPPED: query->below is no actor any more.
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
 * Writes at most `max` behaviors, and how many to *count: those that have actors, or had actors
 * that failed. Behaviors with the most actors come first. Looks at all actors: 50 ms for a million.
 * Any thread. Does not wait.
 *
 * TR_OK, TR_INVALID_ARGUMENT, TR_NO_MEMORY. TR_LIMIT: there are more than TR_LOOKED_BEHAVIORS_MAX
 * behaviors; those that were found first are written.
 */
TR_MUST_CHECK TR_INLINE tr_status tr_system_behaviors(tr_system *system,
                                                      tr_behavior_info *behaviors, size_t max,
                                                      size_t *count);
/**
 * Copies up to `max` of the last failures and restarts, the newest first, and writes how many to
 * *count, which may be NULL. Returns how many there have been in all. TR_FAILURES_KEPT are kept.
 * Any thread. Does not wait.
 */
TR_INLINE uint64_t tr_system_failures(tr_system *system, tr_failure_record *last, size_t max,
                                      size_t *count);
/**
 * Returns the actor of a path, also of one without a name: "/user/$2a.1". TR_NOBODY: there is none.
 * Any thread. Does not wait.
 */
tr_ref tr_system_find(tr_system *system, const char *path);
/**
 * Writes what only the worker of an actor knows: mailboxes by type, timers, asks, and the state as
 * JSON if the behavior has a descriptor for it (tr_options.shows).
 * Client's thread. May wait: for the actor's worker, at most TR_WHY_NS.
 *
 * The question takes no capacity of the mailbox, and an actor that is suspended or full answers it
 * too. TR_OK. TR_TIMEOUT: its worker has not answered; tr_system_running says what it does.
 * TR_STOPPED, TR_NO_MEMORY, TR_INVALID_ARGUMENT. On failure *report is unchanged.
 */
TR_MUST_CHECK TR_INLINE tr_status tr_actor_show(tr_client *client, tr_ref actor,
                                                tr_actor_report *report);
TR_END_C

#include <troupe/detail/observe.h>

#endif
