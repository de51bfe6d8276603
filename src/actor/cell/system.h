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

/** Where log lines are written. */
struct system_log {
    void (*write)(void *context, tr_level level, const char *path, const char *text);
    void *context;
};

/** Options that do not change. */
struct system_settings {
    bool exit_when_empty;
    bool traps_faults;
    bool names_faults;
    size_t stack_size; /* of a fiber */
    tr_time spin_ns;
    uint32_t io_percent;
    tr_time round_min_ns;
    uint64_t seed;
    tr_balance balance;
};

/** How many workers are open; see tr_system_set_workers. */
struct system_scale {
    atom32 open;       /* workers on which actors start; see system_open_workers */
    atom32 open_most;  /* as many as were ever open */
    atom32 leave_call; /* how often the number was reduced */
    atom32 threads;    /* workers that have a thread, or are about to */
    atom32 hungry;     /* workers that are */
    struct lock lock;  /* taken after run.wait_lock */
};

/** The guardian /user and what is directly below it. */
struct system_user {
    struct cell *guardian; /* owned by worker 0 */
    struct name *name;
    tr_supervision supervision; /* of top-level actors */
    struct {
        tr_child_spec spec;
        const struct tr_args *args; /* NULL: it does not want them, or there is no app. Lent */
    } root;                         /* of an app; see actor/life/root.h */
    uint32_t pool_linked;           /* children that belong to the pool; worker 0's */
    uint32_t keepers_linked;        /* children that are above durable actors; worker 0's */
    atom32 failures;                /* top-level actors that ended by a failure */
};

/** The pool of names over workers. Made and freed by pool/pool.c. */
struct system_pool {
    atomptr state;
    struct lock lock;
    tr_supervision supervision;
    bool has_supervision;
    void (*free)(struct tr_system *system);
    void (*follow)(struct tr_system *system); /* another number of workers is open */
    bool (*holds)(struct tr_system *system, const char *name); /* see actor/life/pooled.h */
};

/** Durable actors. Made and freed by durable/host.c. */
struct system_durable {
    struct durable_host *host;
    uint32_t awake_max;
    uint64_t awake_bytes_max;
    void (*free)(struct tr_system *system);
    /* Since when the store's thread has been writing; 0: it is not. Any thread. */
    tr_time (*writing_since)(const struct tr_system *system);
    void (*stop)(struct worker *worker); /* keepers are about to stop, on their worker */
    /* Whether a new actor may be set up now, else it is posted to this worker later. NULL: always. */
    bool (*admits)(struct worker *worker, struct cell *cell);
    bool (*work)(struct tr_system *system); /* of a kit: writes what is to be written */
    bool (*has_work)(struct tr_system *system);
    bool (*has_failed)(struct tr_system *system); /* whether the store has failed */
};

/** Threads that are no workers. */
struct system_foreign {
    struct lock lock;
    struct envelope_pool pool; /* under the lock, but for envelopes that come home */
    struct counters counters;  /* under the lock */
    struct tr_client *clients; /* all that were ever made, under the lock */
};

/** How the system runs. */
struct system_run {
    struct lock wait_lock; /* taken before `lock` */
    struct lock lock;
    enum system_phase phase; /* under `lock` */
    tr_status ended;         /* what run and wait gave; under `lock` */
    struct loop **loops;     /* lent to the watch */
};

/** The way to the end; see actor/system/shutdown.h. */
struct system_ending {
    atom32 is_stopping; /* spawns are refused */
    struct admission
        spawns; /* below /user, not by it: it is told of the shutdown when all are linked */
    struct admission wakes; /* below the keepers: they are told to stop when all are linked */
    atom32 is_over;         /* /user has stopped: workers end */
    atom64 deadline_ns;     /* of the shutdown, 0 for none yet */
};

struct tr_system {
    void *memory; /* what the source gave; the system is aligned inside it */
    const tr_platform *platform;
    struct memory_source source;
    char name[TR_NAME_MAX + 1];
    struct system_log log;
    struct system_settings options;
    uint32_t worker_count; /* all; those that are not open wait for tr_system_set_workers */
    struct worker **workers;
    struct envelope_pool **pools;
    struct slots slots;
    struct names names;
    struct system_scale scale;
    struct system_user user;
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
    struct system_pool pool;
    struct system_durable durable;
    struct system_foreign foreign;
    struct system_run run;
    struct system_ending ending;
};

/** The number of workers on which actors start: the first ones. Any thread. */
static inline uint32_t system_open_workers(const struct tr_system *system)
{
    return atom32_load(&system->scale.open, ATOM_ACQUIRE); /* partner: tr_system_set_workers */
}

/** The worker for an actor that was to begin on this one, which may not be open any more. Any thread. */
static inline uint32_t system_place(const struct tr_system *system, int worker)
{
    uint32_t open = system_open_workers(system);
    return (uint32_t)worker < open ? (uint32_t)worker : (uint32_t)worker % open;
}

/** tr_system_new, without the actors of its pool; the options are whole. */
TR_MUST_CHECK tr_status tr__system_new(const tr_system_options *options, tr_system **system);

/** Writes a line to the log. `path` may be NULL. Any thread. */
void tr__log(struct tr_system *system, tr_level level, const char *path, const char *format, ...)
    TR_PRINTF(4, 5);
void tr__log_list(struct tr_system *system, tr_level level, const char *path, const char *format,
                  va_list list);

/**
 * The path of an actor, into TR_PATH_MAX + 1 bytes; gives the length of the whole, as snprintf
 * does. Any thread that knows it alive.
 */
size_t tr__cell_path(struct tr_system *system, const struct cell *cell, char *path);

/** Posts a door that is to be posted: to its worker, or to its client. `counters` may be NULL. */
void tr__system_post(struct tr_system *system, struct counters *counters, struct cell *cell);

/** /user has stopped. */
void tr__system_over(struct tr_system *system);

/** Stops everything on the calling thread; no worker has a thread. */
void tr__system_drain(struct tr_system *system);

/**
 * tr_system_wait, calling `on_wake` each time its sleep ends; the system was started. TR_OK,
 * TR_ESCALATED, TR_SHUTDOWN_INCOMPLETE.
 */
tr_status tr__system_wait(struct tr_system *system, void (*on_wake)(void *context), void *context);

/** Whether top-level actors ended by a failure so far. Any thread. */
bool tr__system_has_failed(struct tr_system *system);

#endif
