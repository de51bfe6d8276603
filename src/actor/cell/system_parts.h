/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parts of a system that later rooms use, as plain records: struct tr_system holds one of each. What they mean, and
 * which thread writes what, is said in the headers of these rooms, which have the functions.
 */
#ifndef ACTOR_CELL_SYSTEM_PARTS_H
#define ACTOR_CELL_SYSTEM_PARTS_H

#include <troupe/limits.h>
#include <troupe/shutdown.h>
#include <troupe/system.h>

#include "actor/cell/names.h"
#include "base/list.h"
#include "os/atomic.h"
#include "os/lock.h"
#include "timer/wheel.h"

struct handoff_thread;
struct schedule_place;
struct tr_system;
struct view;

/** Messages that nobody handled: actor/mail/dead_letter.h. */
struct dead_letters {
    struct lock lock;
    uint64_t total;
    tr_dead_letter_record *ring;                          /* TR_DEAD_LETTERS_MAX of them */
    uint64_t subscribers[TR_DEAD_LETTER_SUBSCRIBERS_MAX]; /* refs */
    size_t subscriber_count; /* poked: who has many looks first whether there is anybody */
    /* The log's limit. */
    tr_time second_ns; /* when the present second began */
    uint32_t logged;
    uint64_t unlogged;
};

/** The addresses of groups: actor/mail/group_address.h. */
struct group_addresses {
    struct lock lock;
    atomptr buckets; /* GROUP_BUCKETS of atomptr; NULL until the first group address */
    uint32_t count;  /* under the lock */
};

/** The helpers that run functions of tr_blocking: actor/turn/blocking.h. */
struct blocking {
    struct tr_system *system;
    struct lock lock; /* for all below */
    struct list queue;
    struct list running;
    struct list idle; /* of struct helper: asleep, the last one first */
    struct list over; /* of struct helper: ended, to be joined */
    uint32_t queued;
    uint32_t helpers; /* alive */
    uint32_t helpers_max;
    bool is_over;
    bool is_played; /* a kit calls tr__blocking_step; there are no threads */
};

/** Topics: actor/verbs/topic.h. */
enum { TOPICS_CHUNK = 256, TOPICS_CHUNKS = TR_TOPICS_MAX / TOPICS_CHUNK };

struct topics {
    struct lock lock;
    atomptr chunks[TOPICS_CHUNKS]; /* of struct topic; written under the lock, read by anybody */
    uint32_t used;                 /* places that were ever used; under the lock, as the rest */
    uint32_t free_first;           /* place + 1, 0 for none */
    uint32_t generation_first;
    struct names names;
};

/** Schedules: actor/verbs/schedule.h. */
struct schedules {
    struct lock lock;
    atom64 next_ns;  /* when worker 0 is to look; written under the lock */
    uint32_t linked; /* actors of schedules among the children of /user; worker 0 only */
    /* Under the lock. */
    struct wheel wheel;
    struct schedule_place *places;
    uint32_t place_count;
    uint32_t free_first;
    uint32_t count;
    uint32_t generation_first;
    uint64_t causal_next;
};

/** Turns that take long: actor/system/stall.h. Written by the watch's thread. */
struct stalls {
    tr_time report_ns; /* TR_TURN_REPORT_NS or the application's; 0: none */
    void (*on_stall)(void *context, const tr_stall *stall);
    void *context;
    atom64 total;
    struct view *views; /* one per worker: the turn of which something was said last */
    tr_time second_ns;  /* since when lines are counted, */
    uint32_t logged;    /* and how many there were */
    uint64_t unlogged;  /* left out since the last line */
};

/** Threads that take a worker from one that is stuck: actor/system/thread_handoff.h. */
struct thread_handoff {
    struct tr_system *system;
    tr_time after_ns; /* 0: nobody is replaced */
    uint32_t spares_max;
    uint32_t worker_count;
    struct handoff_thread *threads; /* those of the workers, then spares; NULL: it is not open */
    struct view *views;             /* one for each thread; the watch's */
    struct lock lock;
    struct list idle;
    uint32_t spares; /* made so far; under the lock */
    bool is_over;
    atom64 total;
};

/** on_worker_start, which all workers call before the first actor: actor/system/start_barrier.h. */
struct start_barrier {
    tr_status (*on_worker_start)(tr_system *system, int worker, void *context);
    void *context;
    tr_parker *parker; /* of who starts the workers */
    atom32 arrived;    /* workers whose function has returned */
    atom32 status;     /* the first that was not TR_OK, of those that start together */
    atom32 late;       /* that of the last one that was added later */
    atom32 is_open;    /* the workers may go on */
    bool has_called;   /* of tr_system_run_once */
};

/** Whether it has failed for some worker: actors that are new are not set up. Any thread. */
static inline bool start_barrier_has_failed(const struct start_barrier *start_barrier)
{
    return (tr_status)atom32_load(&start_barrier->status, ATOM_RELAXED) != TR_OK;
}

/** What actors do during a shutdown: actor/mail/shutdown_stats.h. */
struct shutdown_stats {
    atomptr entries; /* of struct shutdown_stats_entry, by slot; NULL: none */
    uint32_t count;  /* written before `entries` */
};

/** A function that a shutdown calls: actor/system/hooks.h. */
struct hook {
    struct tr_system *system;
    tr_status (*on_shutdown)(void *context);
    void *context;
    char name[64];
    tr_hook_phase phase;
    tr_time timeout_ns;
    tr_parker *parker; /* of who waits for it */
    tr_thread *thread; /* NULL: none was made, or it was joined */
    tr_status status;  /* written by its thread before is_done */
    atom32 is_done;
};

struct hooks {
    struct hook list[TR_HOOKS_MAX]; /* under the lock of the shutdown until that is called */
    uint32_t count;
    tr_thread *leader; /* of those before; written by tr_system_shutdown, under the lock */
    atom32 hung;       /* how many had not returned in time */
    atom32 are_over;   /* those of TR_AFTER_STOP were called */
};

/** Of actors in a report, those worth most first. */
struct report_lines {
    uint32_t count;
    tr_report_actor line[TR_REPORT_ACTORS_MAX];
};

/** A shutdown, and the rules for it: actor/system/shutdown.h. */
struct shutdown {
    atomptr parker;       /* of who waits; NULL until the system is started */
    atom32 workers_ended; /* threads of workers that are about to return */
    atom32 has_begun;     /* /user has told its children */
    atom32 is_forced;     /* the deadline has passed: who has not stopped is killed */
    atom32 is_abandoned;  /* see rule 4; written under the lock */
    atom32 sweep;         /* number of the last sweep that was asked for */
    atom64 began_ns;      /* when the actors were told; 0: not yet */
    atom64 over_ns;       /* when /user had stopped; 0: not yet */
    atom64 slow_ns;       /* who stops later than this is worth a note */
    atom64 floor; /* actors have to be worth more than this for a line; see actor/system/report.c */
    struct shutdown_stats shutdown_stats;
    tr_time timeout_default_ns;
    bool is_closing;       /* worker 0's: durable actors cannot be woken any more; see rule 6 */
    bool are_keepers_told; /* worker 0's: to stop */

    struct lock
        lock; /* for all below; but for that of a name, nothing else is taken while it is held */
    bool is_asked_for;
    bool is_escalated;
    bool is_lost; /* the thread that waits for the shutdown has returned: final says what is left */
    tr_error escalation;
    tr_time called_ns;
    tr_time timeout_ns;
    tr_counters before;
    tr_shutdown_report final; /* slow[] and hook[] while it lasts; all of it when is_lost */
    struct report_lines lines;
    struct hooks hooks;
};

#endif
