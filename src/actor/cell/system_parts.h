/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parts of struct tr_system that belong to later rooms of src/actor, as plain records. The
 * functions for a part are in a header of its room, which also says what the record means and which
 * thread writes what.
 */
#ifndef ACTOR_CELL_SYSTEM_PARTS_H
#define ACTOR_CELL_SYSTEM_PARTS_H

#include <troupe/limits.h>
#include <troupe/observe.h>
#include <troupe/shutdown.h>
#include <troupe/system.h>

#include "base/list.h"
#include "os/atomic.h"
#include "os/lock.h"
#include "timer/wheel.h"

struct handoff_thread;
struct names;
struct schedule_place;
struct tr_system;
struct view;

/** A ref, and its path as dead letters show it, kept for the next dead letter with this ref. */
struct dead_letter_path {
    uint64_t ref;
    bool is_known;
    char text[TR_DEAD_LETTER_PATH_MAX + 1];
};

/** Messages that were not delivered or not handled. See actor/mail/dead_letter.h. */
struct dead_letters {
    struct lock lock;
    uint64_t total;
    tr_dead_letter_record *ring;       /* an array of TR_DEAD_LETTERS_MAX */
    struct dead_letter_path last_from; /* the path of the sender in the newest record */
    struct dead_letter_path last_to;
    uint64_t subscribers[TR_DEAD_LETTER_SUBSCRIBERS_MAX]; /* refs */
    /*
     * written by ATOM_POKE: a thread with many dead letters first checks without the lock whether
     * there are subscribers
     */
    size_t subscriber_count;
    /* Dead letters in the log, of which there is a limit for each second: */
    tr_time second_ns; /* when the current second began */
    uint32_t logged;
    uint64_t unlogged;
    /* Dead letters whose message is shown as text, of which there is a limit for each second: */
    tr_time texts_second_ns;
    uint32_t texts;
};

/**
 * All behaviors of a program, as an array from `first` to before `end`. All zero: they are not
 * known.
 */
struct behavior_list {
    const tr_behavior *const *first;
    const tr_behavior *const *end;
};

enum { ENDED_NAMES_MAX = 64 };

/**
 * The paths of the named actors that have ended last, so that dead letters can show these paths. See actor/cell/view.h.
 */
struct ended_names {
    struct lock lock; /* for all members below */
    uint64_t total;
    struct ended_name {
        uint64_t ref; /* 0: this entry is not used */
        char path[TR_DEAD_LETTER_PATH_MAX + 1];
    } ring[ENDED_NAMES_MAX];
};

/** Failures of actors, and restarts. See actor/cell/failure_log.h. */
struct failure_log {
    struct lock lock; /* for all members below */
    uint64_t total;
    tr_failure_record *ring; /* an array of TR_FAILURES_KEPT; NULL until the first failure */
    struct {
        /* a behavior whose actors have failed; NULL: this entry is not used */
        const tr_behavior *behavior;
        uint64_t count;
    } behaviors[TR_FAILED_BEHAVIORS_MAX];
    uint64_t others; /* number of failures of behaviors that have no entry in `behaviors` */
    struct {
        const char *behavior; /* NULL: this entry is not used */
        char where[64];       /* the handler */
        uint64_t count;
    } handlers[TR_FAILED_BEHAVIORS_MAX];
};

/** The timing of turns for tools. See actor/turn/samples.h. */
struct system_samples {
    /* turns are timed until this time of the monotonic clock; 0: nobody has asked */
    atom64 until_ns;
    /*
     * the first request after a pause increments this number, and all figures start from zero
     */
    atom32 generation;
    atom64 since_ns; /* when `generation` was incremented last */
    /* Members of observe/observer.h: */
    struct lock lock;    /* protects worker_samples.awake */
    atom64 is_looked_at; /* 1: the observer has looked at the mailboxes at least once */
    /*
     * The observer looks at the fullest mailboxes. This is when it first saw the oldest message of
     * these mailboxes. 0: all of them are empty.
     */
    atom64 oldest_ns;
};

/** The addresses of groups. See actor/mail/group_address.h. */
struct group_addresses {
    struct lock lock;
    atomptr buckets; /* GROUP_BUCKETS of atomptr; NULL until the first group address */
    uint32_t count;  /* under the lock */
};

/** The helper threads that run functions of tr_blocking. See actor/turn/blocking.h. */
struct blocking {
    struct tr_system *system;
    struct lock lock; /* for all members below */
    struct list queue;
    struct list running;
    /*
     * a list of struct helper: the helpers that sleep; the helper that fell asleep last is the
     * first
     */
    struct list idle;
    /* a list of struct helper: the helpers that have ended and are not joined yet */
    struct list over;
    /* a list of struct shared_job: the jobs that have not returned; see actor/turn/shared_job.h */
    struct list shared;
    /*
     * how many shared jobs are queued or run; the other shared jobs wait until one of these has
     * returned
     */
    uint32_t shared_running;
    uint32_t shared_count; /* number of all shared jobs */
    uint32_t queued;
    uint32_t helpers;  /* helpers that are alive, or are being started */
    uint32_t starting; /* how many helper threads are being started */
    uint64_t tickets;  /* how many jobs were ever queued */
    uint32_t helpers_max;
    bool is_over;
    bool is_played; /* there are no helper threads: a kit calls tr__blocking_step instead */
};

/** Topics. See actor/verbs/topic.h. */
enum { TOPICS_CHUNK = 256, TOPICS_CHUNKS = TR_TOPICS_MAX / TOPICS_CHUNK };

struct topics {
    struct lock lock;
    /* arrays of struct topic; written under the lock, read by any thread */
    atomptr chunks[TOPICS_CHUNKS];
    /* number of places that were ever used; under the lock, like all members below */
    uint32_t used;
    uint32_t free_first; /* index of the first free place, plus 1; 0: there is none */
    uint32_t generation_first;
    struct names *names;
};

/** Schedules. See actor/verbs/schedule.h. */
struct schedules {
    struct lock lock;
    atom64 next_ns;  /* when worker 0 has to look at the schedules next; written under the lock */
    uint32_t linked; /* how many children of /user are actors of schedules; worker 0 only */
    /* Under the lock: */
    struct wheel wheel;
    struct schedule_place *places;
    uint32_t place_count;
    uint32_t free_first;
    uint32_t count;
    uint32_t generation_first;
    uint64_t causal_next;
};

enum { STALLS_KEPT = 64, STALL_FRAMES_MAX = 24 };

/**
 * The result of one look at the stack of a thread in a long turn: the functions on this stack. See
 * actor/system/stall_stack.h.
 */
struct stall_stack {
    tr_time looked_ns;                  /* the time of the look */
    uint32_t count;                     /* number of frames; 0: not known */
    uintptr_t frames[STALL_FRAMES_MAX]; /* an address in each function, the innermost first */
};

/** A long turn. See actor/system/stall_log.h. All texts except the path are constants of the program. */
struct stall_entry {
    uint64_t number; /* from 1 */
    uint64_t actor;
    tr_time begun_ns;
    tr_time took_ns; /* how long the turn took, or has taken so far if it is not over */
    const char *type;
    const char *handler;
    const char *behavior;
    const char *file;
    uint32_t line;
    int worker;
    bool is_over;
    bool is_handed_off;
    struct stall_stack stack; /* the result of the last look that has found functions */
    char path[TR_DEAD_LETTER_PATH_MAX + 1];
};

struct stall_log {
    struct lock lock;
    uint64_t total;
    /* an array of STALLS_KEPT, in any order; NULL until the first long turn */
    struct stall_entry *entries;
};

/** Long turns. See actor/system/stall.h. Written by the watch's thread. */
struct stalls {
    tr_time report_ns; /* TR_TURN_REPORT_NS, or the application's value; 0: no reports */
    void (*on_stall)(void *context, const tr_stall *stall);
    void *context;
    atom64 total;
    struct view *views; /* for each worker, the last turn that was reported */
    struct stall_log log;
    struct lock threads_lock; /* while it is held, the threads of workers are not joined */
    tr_time second_ns;        /* since when `logged` counts */
    uint32_t logged;          /* number of lines since second_ns */
    uint64_t unlogged;        /* number of reports that were left out since the last line */
    tr_time looks_ns;         /* since when `looks` counts */
    uint32_t looks;           /* how often stacks were looked at since looks_ns */
};

/** Threads that take a worker from a stuck thread. See actor/system/thread_handoff.h. */
struct thread_handoff {
    struct tr_system *system;
    /* how long a handler runs before another thread gets its worker; 0: no handoff */
    tr_time after_ns;
    uint32_t spares_max;
    uint32_t worker_count;
    /* an array: first the threads of the workers, then the spares; NULL: there is no handoff */
    struct handoff_thread *threads;
    struct view *views; /* one view for each thread; only the watch uses it */
    struct lock lock;
    struct list idle;
    uint32_t spares; /* number of spare threads that were started so far; under the lock */
    bool is_over;
    atom64 total;
};

/**
 * The wait of all workers for on_worker_start, before the first actor runs. See
 * actor/system/start_barrier.h.
 */
struct start_barrier {
    tr_status (*on_worker_start)(tr_system *system, int worker, void *context);
    void *context;
    tr_parker *parker; /* parker of the thread that starts the workers */
    atom32 arrived;    /* number of workers whose on_worker_start has returned */
    /*
     * the first error that on_worker_start returned on a worker that started with the system;
     * TR_OK: none so far
     */
    atom32 status;
    /* what on_worker_start returned on the last worker that was added to the running system */
    atom32 late;
    atom32 is_open;  /* the workers may continue */
    bool has_called; /* tr_system_run_once has called on_worker_start */
};

/** Whether on_worker_start has failed for a worker: then new actors are not set up. Any thread. */
static inline bool start_barrier_has_failed(const struct start_barrier *start_barrier)
{
    return (tr_status)atom32_load(&start_barrier->status, ATOM_RELAXED) != TR_OK;
}

/** Counters of single actors during a shutdown. See actor/mail/shutdown_stats.h. */
struct shutdown_stats {
    atomptr entries; /* an array of struct shutdown_stats_entry, by slot; NULL: no counters */
    uint32_t count;  /* number of entries; written before `entries` */
};

/** A function that a shutdown calls. See actor/system/hooks.h. */
struct hook {
    struct tr_system *system;
    tr_status (*on_shutdown)(void *context);
    void *context;
    char name[64];
    tr_hook_phase phase;
    tr_time timeout_ns;
    tr_parker *parker; /* parker of the thread that waits for the hook */
    tr_thread *thread; /* NULL: not started, or already joined */
    tr_status status;  /* written by the hook's thread before is_done */
    atom32 is_done;
};

struct hooks {
    /* written under the lock of the shutdown, until tr_system_shutdown is called */
    struct hook list[TR_HOOKS_MAX];
    uint32_t count;
    /*
     * the thread that calls the hooks of TR_BEFORE_STOP; written by tr_system_shutdown, under the
     * lock
     */
    tr_thread *leader;
    atom32 hung;     /* number of hooks that did not return in time */
    atom32 are_over; /* the hooks of TR_AFTER_STOP have been called */
};

/** The lines about actors in a report, the most important first. */
struct report_lines {
    uint32_t count;
    tr_report_actor line[TR_REPORT_ACTORS_MAX];
};

/** A shutdown, and the rules for it. See actor/system/shutdown.h. */
struct shutdown {
    /* parker of the thread that waits for the shutdown; NULL until the system is started */
    atomptr parker;
    atom32 workers_ended; /* number of workers whose threads are about to return */
    atom32 has_begun;     /* /user has asked its children to stop */
    atom32 is_forced;     /* the deadline has passed: actors that have not stopped are killed */
    atom32 is_abandoned;  /* see rule 4 of actor/system/shutdown.h; written under the lock */
    atom32 sweep;         /* number of the last sweep that was requested */
    atom64 began_ns;      /* when the actors were asked to stop; 0: not yet */
    atom64 over_ns;       /* when /user stopped; 0: not yet */
    /* an actor that takes longer than this to stop gets an entry in slow[] of the report */
    atom64 slow_ns;
    /* an actor gets a line in the report if its worth is above this; see actor/system/report.c */
    atom64 floor;
    struct shutdown_stats shutdown_stats;
    tr_time timeout_default_ns;
    /*
     * durable actors cannot be woken any more; see rule 6 of actor/system/shutdown.h. Worker 0 only
     */
    bool is_closing;
    bool are_keepers_told; /* the keepers were asked to stop. Worker 0 only */
    /*
     * protects all members below. A thread that holds this lock takes no other lock except the lock
     * of a name
     */
    struct lock lock;
    bool is_asked_for;
    bool is_escalated;
    /* the thread that waits for the shutdown has given up: `final` says which actors are left */
    bool is_lost;
    tr_error escalation;
    tr_time called_ns;
    tr_time timeout_ns;
    tr_counters before;
    /* the report. Until is_lost is set, only its members slow[] and hook[] are written */
    tr_shutdown_report final;
    struct report_lines lines;
    struct hooks hooks;
};

#endif
