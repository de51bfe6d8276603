/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A system: workers, slots, names, dead letters and clients. All state of the runtime is reachable
 * from struct tr_system.
 */
#ifndef ACTOR_CELL_SYSTEM_H
#define ACTOR_CELL_SYSTEM_H

#include <troupe/system.h>

#include "actor/cell/worker.h"
#include "os/atomic.h"
#include "os/lock.h"
#include "queue/admission.h"
#include "sched/watch.h"

enum { RUN_ONCE_TURNS = 4096 }; /* one tr_system_run_once runs at most this many turns */

enum system_phase {
    SYSTEM_NEW,
    SYSTEM_EMBEDDED, /* tr_system_run_once or a kit runs the system, which never gets threads */
    SYSTEM_STARTED,
    SYSTEM_ENDED
};

/** Where log lines are written. */
struct system_log {
    void (*write)(void *context, tr_level level, const char *path, const char *text);
    void *context;
    tr_log_format format; /* the form of lines that the platform writes */
    struct log_levels *levels;
    /* the last lines of the log, see actor/cell/log_kept.h; NULL: lines are not kept */
    atomptr kept;
};

/** Options that do not change. */
struct system_settings {
    bool exit_when_empty;
    bool traps_faults;
    bool names_faults;
    size_t stack_size; /* of a fiber */
    tr_time spin_ns;
    tr_time round_min_ns;
    uint64_t seed;
    tr_balance balance;
};

/** How many workers are open; see tr_system_set_workers. */
struct system_scale {
    atom32 open;       /* number of open workers, on which actors start; see system_open_workers */
    atom32 open_most;  /* the largest number that was ever open */
    atom32 leave_call; /* how often tr_system_set_workers has reduced `open` */
    atom32 threads;    /* number of workers that have a thread, or are about to get one */
    atom32 hungry;     /* number of workers for which balance.is_hungry is set */
    struct lock lock;  /* a thread that takes both locks takes run.wait_lock first */
};

/** The guardian /user, and its children. */
struct system_user {
    struct cell *guardian; /* owned by worker 0 */
    struct name *name;
    tr_supervision supervision; /* supervision of top-level actors */
    struct {
        tr_child_spec spec;
        /* lent to the system; NULL: the root does not handle tr_args, or there is no app */
        const struct tr_args *args;
    } root; /* the root of an app; see actor/life/root.h */
    /* number of children that belong to the pool; written by worker 0 */
    uint32_t pool_linked;
    /* number of children that are keepers of durable actors; written by worker 0 */
    uint32_t keepers_linked;
    /* how many children are actors of schedules; written by worker 0 */
    uint32_t schedules_linked;
    atom32 failures; /* number of top-level actors that ended by a failure */
    /* Only for an app: see tr_app_exit and tr_app_ready. */
    atom32 exit_status; /* the status passed to tr_app_exit, plus 1; 0: not called */
    atom32 unready;     /* bits: what the app waits for before it is ready; see app/service.c */
    /*
     * The handler of the root's first turn and the set-up of the root, as the program has them.
     * app/service.c replaces these two functions by its own, to see when they have run. A member is
     * NULL if the program has no such function, or if app/service.c did not replace it. Written
     * before the start.
     */
    tr_next (*first_call)(tr_self *self, void *state, const void *message);
    tr_next (*first_setup)(tr_self *self, void *state, const void *message);
    /* timeout of the shutdown that tr_app_exit begins; written before the start */
    tr_time exit_timeout_ns;
    struct behavior_list *behaviors; /* the behaviors of the program; written before the start */
    const char
        *inspector; /* address of the inspector's page; NULL: none; written before the start */
};

/** The pool: named actors that are spread over the workers. Made and freed by pool/pool.c. */
struct system_pool {
    atomptr state;
    struct lock lock;
    tr_supervision supervision;
    bool has_supervision;
    void (*free)(struct tr_system *system);
    /* called after the number of open workers has changed */
    void (*follow)(struct tr_system *system);
    /* returns whether an actor of the pool has this name; see actor/life/pooled.h */
    bool (*holds)(struct tr_system *system, const char *name);
};

/** Durable actors. Made and freed by durable/host.c. */
struct system_durable {
    struct durable_host *host;
    struct turn_recorder *recorder; /* NULL: no turn is recorded; written before the start */
    uint32_t awake_max;
    uint64_t awake_bytes_max;
    void (*free)(struct tr_system *system);
    /*
     * Returns at what time the store's thread began to write, or 0 if it is not writing. Any
     * thread.
     */
    tr_time (*writing_since)(const struct tr_system *system);
    /* called on the worker of the keepers, before they are ordered to stop */
    void (*stop)(struct worker *worker);
    /*
     * Returns whether a new durable actor may be set up now. If not, the actor is posted to this
     * worker again later. If this member is NULL, a durable actor may always be set up.
     */
    bool (*admits)(struct worker *worker, struct cell *cell);
    /*
     * Writes what is queued for the store. Only a kit calls this function, because in a kit the
     * store has no thread of its own.
     */
    bool (*work)(struct tr_system *system);
    bool (*has_work)(struct tr_system *system);
    bool (*has_failed)(struct tr_system *system); /* returns whether the store has failed */
};

/** The channels of all workers. Made and freed by net/table.c. */
struct system_channels {
    atomptr table; /* a struct channel_table */
    struct lock lock;
    /*
     * a list of struct listener_shared, under the lock; not initialized before the first listener
     */
    struct list listeners;
    atomptr contexts; /* a struct secure_contexts; see net/secure.c */
    void (*free_contexts)(struct tr_system *system);
    const struct channel_hooks *hooks; /* set before the first channel is made */
    void (*free)(struct tr_system *system);
};

/** Gateways. Made by gateway/rate.c. */
struct system_gateway {
    struct lock lock;
    atom64 causes;  /* number of causal ids that gateways have made so far; see gateway/gateway.c */
    atom64 streams; /* number of streams of events over HTTP/2 so far; see http/events.c */
    atomptr rates;  /* a struct rates: how often each caller has asked */
    void (*free)(struct tr_system *system);
};

/** Data of threads that are not workers. */
struct system_foreign {
    struct lock lock;
    /* threads take envelopes from the pool under the lock, and return envelopes without the lock */
    struct envelope_pool pool;
    struct counters counters;  /* under the lock */
    struct tr_client *clients; /* all clients that were ever created, under the lock */
};

/** How the system runs. */
struct system_run {
    struct lock wait_lock; /* a thread that takes both locks takes this one before `lock` */
    struct lock lock;
    enum system_phase phase; /* under `lock` */
    /* the status that tr_system_run or tr_system_wait returned; under `lock` */
    tr_status ended;
    struct loop **loops; /* the loops of all workers, lent to the watch */
    /*
     * the first error that on_worker_start returned on a worker that started with the system;
     * TR_OK: none so far. See actor/system/start_barrier.h
     */
    atom32 start_status;
};

/** Counters of single actors during a shutdown. See actor/mail/shutdown_stats.h. */
struct shutdown_stats {
    atomptr entries; /* an array of struct shutdown_stats_entry, by slot; NULL: no counters */
    uint32_t count;  /* number of entries; written before `entries` */
};

/**
 * The end of the system, as far as all rooms see it. The rules, and the rest of the shutdown: see
 * actor/system/shutdown.h.
 */
struct system_ending {
    atom32 is_stopping; /* spawns are refused */
    /*
     * Counts the spawns that are between tr__spawn_enter and tr__spawn_leave, except those below
     * keepers. A shutdown refuses new ones, and orders /user to stop when none is left.
     */
    struct admission spawns;
    /*
     * As `spawns`, for spawns below keepers, which wake durable actors. When none is left, the
     * shutdown orders the keepers to stop.
     */
    struct admission wakes;
    atom32 is_over;      /* /user has stopped: the workers end */
    atom32 has_begun;    /* /user has asked its children to stop */
    atom32 is_forced;    /* the deadline has passed: actors that have not stopped are killed */
    atom32 is_abandoned; /* see rule 4 of actor/system/shutdown.h; written under the lock */
    atom32 sweep;        /* number of the last sweep that was requested */
    atom64 deadline_ns;  /* deadline of the shutdown, 0: none yet */
    atom64 began_ns;     /* when the actors were asked to stop; 0: not yet */
    atom64 over_ns;      /* when /user stopped; 0: not yet */
    /* parker of the thread that waits for the shutdown; NULL until the system is started */
    atomptr parker;
    struct shutdown_stats shutdown_stats;
    tr_time timeout_default_ns;
    /*
     * durable actors cannot be woken any more; see rule 6 of actor/system/shutdown.h. Worker 0 only
     */
    bool is_closing;
    bool are_keepers_told; /* the keepers were asked to stop. Worker 0 only */
    /*
     * protects is_abandoned, and most of struct shutdown. A thread that holds this lock takes no
     * other lock except the lock of a name
     */
    struct lock lock;
};

/*
 * A part that few functions use is held by pointer, so that only these functions include the header
 * that declares it. See struct system_memory of actor/system/system.c.
 */
struct tr_system {
    void *memory; /* what the memory source returned; the system is aligned inside it */
    const tr_platform *platform;
    struct memory_source source;
    atom64 heap_trim_stopped; /* number of actors that had stopped at the last tr__os_memory_trim */
    char name[TR_NAME_MAX + 1];
    struct system_log log;
    struct system_settings options;
    /* number of all workers; the workers that are not open wait for tr_system_set_workers */
    uint32_t worker_count;
    struct worker **workers;
    struct envelope_pool **pools;
    struct slots *slots;
    struct names *names;
    struct system_scale scale;
    struct system_user user;
    struct dead_letters *dead_letters;
    struct failure_log *failure_log;
    struct ended_names *ended_names;
    struct system_samples *samples;
    struct follow *follow;
    struct group_addresses *group_addresses;
    struct topics *topics;
    struct watch watch;
    struct doorbell doorbell; /* wakes the thread of the control socket; see observe/control.h */
    struct stalls *stalls;
    struct schedules *schedules;
    struct blocking *blocking;
    struct thread_handoff *handoff;
    struct shutdown *shutdown;
    struct start_barrier *start_barrier;
    struct system_pool pool;
    struct system_durable durable;
    struct system_channels channels;
    struct system_gateway gateway;
    struct system_foreign foreign;
    struct system_run run;
    struct system_ending ending;
};

/**
 * Returns the number of open workers, which are the workers with the lowest indexes. Actors start
 * only there. Any thread.
 */
static inline uint32_t system_open_workers(const struct tr_system *system)
{
    return atom32_load(&system->scale.open, ATOM_ACQUIRE); /* pairs with tr_system_set_workers */
}

/**
 * Returns the index of the worker for a new actor that was to start on `worker`: `worker` itself
 * or, if it is no longer open, another worker. Any thread.
 */
static inline uint32_t system_place(const struct tr_system *system, int worker)
{
    uint32_t open = system_open_workers(system);
    return (uint32_t)worker < open ? (uint32_t)worker : (uint32_t)worker % open;
}

/** Whether on_worker_start has failed for a worker: then new actors are not set up. Any thread. */
static inline bool system_start_has_failed(const struct tr_system *system)
{
    return (tr_status)atom32_load(&system->run.start_status, ATOM_RELAXED) != TR_OK;
}

/**
 * Whether slots of actors that have ended may be reused: rule 4 of actor/system/shutdown.h. Any
 * thread.
 */
static inline bool system_may_reuse(const struct tr_system *system)
{
    return !atom32_load(&system->ending.is_abandoned, ATOM_ACQUIRE); /* pairs with abandon */
}

#endif
