/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A system: workers, slots, names, dead letters and clients. All state hangs from here.
 */
#ifndef ACTOR_CELL_SYSTEM_H
#define ACTOR_CELL_SYSTEM_H

#include <stdarg.h>
#include <troupe/system.h>

#include "actor/turn/blocking.h"
#include "actor/mail/dead_letter.h"
#include "actor/mail/group_address.h"
#include "actor/cell/names.h"
#include "actor/system/thread_handoff.h"
#include "actor/verbs/schedule.h"
#include "actor/system/shutdown.h"
#include "actor/cell/slots.h"
#include "actor/system/stall.h"
#include "actor/system/start_barrier.h"
#include "actor/verbs/topic.h"
#include "actor/cell/worker.h"
#include "queue/admission.h"
#include "sched/watch.h"

enum { RUN_ONCE_TURNS = 4096 }; /* turns of one tr_system_run_once before it returns */

enum system_phase {
    SYSTEM_NEW,
    SYSTEM_EMBEDDED, /* tr_system_run_once has run it, or a kit does: it never gets threads */
    SYSTEM_STARTED,
    SYSTEM_ENDED
};

struct tr_system {
    void *memory; /* what the source gave; the system is aligned inside it */
    const tr_platform *platform;
    struct memory_source source;
    void (*on_log)(void *context, tr_level level, const char *path, const char *text);
    void *on_log_context;
    char name[TR_NAME_MAX + 1];
    bool exit_when_empty;
    bool traps_faults;
    bool names_faults;
    size_t stack_size; /* of a fiber */
    tr_time spin_ns;
    uint32_t io_percent;
    tr_time round_min_ns;
    uint64_t seed;
    uint32_t worker_count; /* all; those that are not open wait for tr_system_set_workers */
    atom32 open_count;     /* those on which actors start; see system_open_workers */
    atom32 open_most;      /* as many as were ever open */
    atom32 leave_call;     /* how often there were to be fewer */
    atom32 thread_count;   /* those that have a thread, or are about to */
    struct lock grow_lock; /* taken after wait_lock */
    tr_balance balance;
    atom32 hungry; /* workers that are */
    struct worker **workers;
    struct slots slots;
    struct names names;
    struct dead_letters dead_letters;
    struct group_addresses group_addresses;
    struct topics topics;
    struct watch watch;
    struct stalls stalls;
    struct schedules schedules;
    struct blocking blocking;
    struct thread_handoff handoff;
    struct shutdown shutdown;
    struct start_barrier start_barrier;
    tr_supervision supervision; /* of top-level actors */
    struct {
        tr_child_spec spec;
        const struct tr_args *args; /* NULL: it does not want them, or there is no app. Lent */
    } root;                         /* of an app; see actor/life/root.h */
    struct cell *guardian;          /* /user; owned by worker 0 */
    uint32_t pool_linked;           /* of its children, those of the pool; worker 0's */
    uint32_t keepers_linked;        /* of these, those above durable actors; worker 0's */
    tr_supervision pool_supervision;
    bool has_pool_supervision;
    /* Made and freed by pool/pool.c. */
    atomptr pool;
    void (*pool_free)(struct tr_system *system);
    void (*pool_follow)(struct tr_system *system); /* another number of workers is open */
    bool (*pool_holds)(struct tr_system *system, const char *name); /* see actor/life/pooled.h */
    struct lock pool_lock;
    /* Made and freed by durable/host.c. */
    struct durable_host *durable;
    uint32_t awake_max;
    uint64_t awake_bytes_max;
    void (*durable_free)(struct tr_system *system);
    /* Since when the store's thread has been writing; 0: it is not. Any thread. */
    tr_time (*durable_writing_since)(const struct tr_system *system);
    void (*durable_stop)(struct worker *worker); /* keepers are about to stop, on their worker */
    /* Whether a new actor may be set up now, else it is posted to this worker later. NULL: always. */
    bool (*durable_admits)(struct worker *worker, struct cell *cell);
    bool (*durable_work)(struct tr_system *system); /* of a kit: writes what is to be written */
    bool (*durable_has_work)(struct tr_system *system);
    bool (*durable_has_failed)(struct tr_system *system); /* the store has */
    struct name *guardian_name;
    struct envelope_pool **pools;

    /* Threads that are no workers. */
    struct lock foreign_lock;
    struct envelope_pool foreign_pool; /* under the lock, but for what comes home */
    struct counters foreign_counters;  /* under the lock */
    struct tr_client *clients;         /* all ever made, under the lock */

    struct lock wait_lock; /* taken before run_lock */
    struct lock run_lock;
    enum system_phase phase; /* under run_lock */
    tr_status ended;         /* what run and wait gave; under run_lock */
    struct loop **loops;     /* lent to the watch */
    atom32 is_stopping;      /* spawns are refused */
    struct admission
        spawns; /* below /user, not by it: it is told of the shutdown when all are linked */
    struct admission wakes; /* below the keepers: they are told to stop when all are linked */
    atom32 is_over;         /* /user has stopped: workers end */
    atom64 shutdown_ns;     /* the deadline, 0 for none yet */
    atom32 root_failures;   /* top-level actors that ended by a failure */
};

/** The number of workers on which actors start: the first ones. Any thread. */
static inline uint32_t system_open_workers(const struct tr_system *system)
{
    return atom32_load(&system->open_count, ATOM_ACQUIRE); /* partner: tr_system_set_workers */
}

/** The worker for an actor that was to begin on this one, which may not be open any more. Any thread. */
static inline uint32_t system_place(const struct tr_system *system, int worker)
{
    uint32_t open = system_open_workers(system);
    return (uint32_t)worker < open ? (uint32_t)worker : (uint32_t)worker % open;
}

/** Whether the slots of actors that are gone may be used again: rule 4 of actor/system/shutdown.h. Any thread. */
static inline bool system_may_reuse(const struct tr_system *system)
{
    return !atom32_load(&system->shutdown.is_abandoned, ATOM_ACQUIRE); /* partner: abandon */
}

#endif
