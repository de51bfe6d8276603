/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Systems and clients: Troupe inside a program that has its own main.
 *
 *     tr_system *system;
 *     tr_client *client;
 *     tr_system_new(NULL, &system);
 *     tr_system_start(system);
 *     tr_client_new(system, &client);
 *     ... tr_try_spawn(client, ...), tr_tell(client, ...), tr_receive(client, ...) ...
 *     tr_client_free(client);
 *     tr_system_shutdown(system, 5 * TR_SECOND);
 *     tr_system_wait(system);
 *     tr_system_free(system);
 *
 * A system is a set of workers, each a thread, with their actors; a process may have several. A
 * client is how a thread that is no worker talks to a system: tr_tell, tr_try_spawn, tr_stop, ...
 * take a `tr_client *` where a handler gives `self`. No signal handler is installed, unless
 * traps_faults or names_faults asks for it.
 */
#ifndef TROUPE_SYSTEM_H
#define TROUPE_SYSTEM_H

#include <troupe/platform.h>
#include <troupe/self.h>

/**
 * A turn that takes long: what tr_system_options.on_stall is told. Text is borrowed for the call; what
 * is not known is NULL.
 */
typedef struct tr_stall {
    tr_ref actor;
    const char *path;
    const char *type;     /* of the message; NULL: of a set-up */
    const char *handler;  /* the function in TR_ON */
    const char *behavior; /* with its place: */
    const char *file;
    uint32_t line;
    int worker;
    bool is_over;        /* it has ended */
    bool is_handed_off;  /* another thread has its worker: handoff_after_ns */
    tr_time duration_ns; /* so far, or when is_over of the whole turn; to a millisecond */
} tr_stall;

/**
 * Whether actors move between workers (docs/guide/workers.md). Nothing that a handler can see depends
 * on it, but for tr_worker. Who stays: pinned actors (tr_options), those with a turn that waits, an
 * ask that is not answered, more than TR_MOVED_TIMERS_MAX timers or two that are due at the same
 * nanosecond, and those with a budget.
 */
typedef enum tr_balance {
    TR_BALANCE_ON,      /* an idle worker gets ready actors of a busy one; who talk come together */
    TR_BALANCE_OFF,     /* every actor stays where it was spawned */
    TR_BALANCE_RESTLESS /* for tests: who may move does, all the time and without need */
} tr_balance;

/** All zero is the default. What it points to is borrowed as long as the system lives. */
typedef struct tr_system_options {
    size_t size;          /* need not be set: tr_system_new knows it */
    const char *name;     /* "troupe" */
    int workers;          /* 0: one per CPU; at most TR_WORKERS_MAX */
    uint64_t seed;        /* 0: from the platform */
    uint32_t actors_max;  /* 0: TR_ACTORS_MAX */
    tr_time spin_ns;      /* -1: no spin; 0: TR_SPIN_NS, TR_SPIN_ANSWER_NS, TR_SPIN_COMMIT_NS */
    uint32_t io_percent;  /* of the time that IO may take while actors wait; 0: 50 */
    tr_time round_min_ns; /* how long actors run at least between two looks at IO; 0: 500 us */
    bool
        exit_when_empty; /* shuts down when the last actor below /user, not of the pool, has stopped */
    const tr_platform *platform; /* NULL: the real one */
    /**
     * Memory, as realloc: size 0 frees, NULL allocates; NULL when out of memory. Any thread. NULL:
     * the platform's. Stacks, threads and buffers are the platform's in any case.
     */
    void *(*resize)(void *context, void *memory, size_t size);
    /** One line of log; path NULL: of the system. Any thread. NULL: the platform's. */
    void (*on_log)(void *context, tr_level level, const char *path, const char *text);
    void *context;                 /* of resize, on_log, on_stall and on_worker_start */
    uint32_t blocking_threads_max; /* helper threads of tr_blocking; 0: TR_BLOCKING_THREADS_MAX */
    const tr_supervision *supervision; /* of top-level actors; NULL: all defaults. Copied. */
    /**
     * A turn that takes longer is reported in the log: when that is noticed, again when it has taken
     * ten times as long, and so on, and when it ends. 0: TR_TURN_REPORT_NS; -1: never. At most
     * TR_OPTION_NS_MAX. Time is that of the clock, whether the handler computes, blocks, or its thread
     * waits for a CPU. Not in kits and in tr_system_run_once, which have no thread that could notice.
     */
    tr_time turn_report_ns;
    /**
     * Told of each such report, also of those that the log leaves out. On a thread of the system that
     * looks after all workers: it must not wait. May be NULL.
     */
    void (*on_stall)(void *context, const tr_stall *stall);
    /**
     * Native faults become failures. A SIGSEGV, SIGBUS or SIGFPE in code of a handler, set-up or signal
     * of an actor, an overflow of its stack included, is a failure of that actor with TR_FAULT. Its
     * turn is abandoned where it stands, and so are those of its turns that wait: what tr_defer
     * registered does not run, what tr_at_end registered does.
     *
     * It is a net for mistakes and no proof against them. What the code had damaged before it
     * faulted stays damaged; what it held by other means than tr_at_end (malloc, a lock, a file) stays
     * held. Only code of the application is left: a fault inside the runtime, in the C library (but
     * for mem* and str* functions), below a callback that one of them calls, on other threads, or
     * on a stack that cannot be followed goes to the handler that was installed before, and
     * without one ends the process with a report. Below each stack is a guard of 256 KiB: a larger frame
     * can step over it. See docs/guide/faults.md.
     *
     * The handlers of the three signals are those of the process: the first such system installs them,
     * the last one restores what was there. x86-64 and arm64. The runtime must be told from the
     * application: link libtroupe.so, or libtroupe.a with -fno-lto; else TR_NOT_SUPPORTED.
     */
    bool traps_faults;
    tr_time shutdown_timeout_ns; /* of a shutdown that nobody called; 0: TR_SHUTDOWN_TIMEOUT_NS */
    tr_balance balance;
    /**
     * Actors of the pool that are there from the beginning, in this order; a table of TR_POOLED that
     * ends with an element of all zero. NULL: none. See pool.h.
     */
    const tr_child_spec *pool;
    const tr_supervision
        *pool_supervision; /* of the pool's actors; NULL: as `supervision`. Copied. */
    /**
     * Called for each worker on its thread, before any worker runs its first turn; a context of its own
     * for a library, say. With handoff_after_ns also on each thread made for that, before its first turn,
     * with the first worker that it takes; then another status than TR_OK keeps that thread from work. Another status than TR_OK ends the start with that status: no turn has run,
     * and everything is stopped again. With tr_system_run_once the first call calls it, and gives the
     * status; a system that is stopped before it runs does not call it. May be NULL.
     */
    tr_status (*on_worker_start)(tr_system *system, int worker, void *context);
    int workers_max; /* for tr_system_set_workers; 0: as many as `workers`. Each takes some memory. */
    /**
     * Handoff: a handler that has not returned after this time, and is not inside the runtime, keeps its
     * thread, and another thread goes on with the worker: the messages, timers, asks and spawns of its
     * other actors. The actor of the handler waits with all it has, orders to stop included, until the
     * handler has returned. When the handler calls a verb, its thread first gets the worker back, between
     * two turns. 0: none. 20 ms are a good choice; less than 3 ms is 3 ms; at most TR_OPTION_NS_MAX.
     *
     * A net for what blocks against the rules: tr_blocking costs less and takes no thread from anybody.
     * With it a turn that has waited may go on on another thread of the system, so that thread-local
     * variables, errno among them, do not last over a wait. Set-ups, signals, defers and turns that are
     * cancelled are not replaced. Not in kits and in tr_system_run_once, where it does nothing.
     * TR_NOT_SUPPORTED: together with traps_faults or names_faults, or the kernel has no membarrier (Linux 4.14).
     * See docs/guide/blocking.md.
     */
    tr_time handoff_after_ns;
    uint32_t handoff_threads_max; /* threads made for that; 0: TR_HANDOFF_THREADS_MAX */
    /**
     * The kinds of durable actors: .durable = TR_DURABLES(cart, reminder). NULL: none. See durable.h.
     */
    const struct tr_durables *durable;
    /**
     * The directory that has what durable actors store; made if it is not there. One process at a time has it.
     * NULL: "<name>.data" in the current directory.
     */
    const char *store;
    /**
     * How many durable actors may be awake; each worker has its share, at least one. Beyond that those sleep first that
     * have been idle for longest, without waiting for their idle time. An actor with work stays awake: a turn, mail that
     * waits, and whatever else keeps it from its idle sleep. If all have work, a key that is to wake waits, before its
     * state is read, in the order of arrival; its messages wait in its mailbox. When no actor has become idle for
     * TR_AWAKE_WAIT_NS, one of those that wait begins all the same, because those that are awake may wait for it: the
     * limit is soft. Actors that are on their way to sleep do not count. 0: as many as there are.
     */
    uint32_t awake_max;
    /**
     * The same for the memory of those that are awake, in bytes: their states, what they have allocated, alarms and queues,
     * without their mail; about. Each worker has its share. One that is larger by itself stays as long as others would.
     */
    uint64_t awake_bytes_max;
    /**
     * Bytes of the stack of each turn, rounded up to pages; only what a handler touches becomes memory. 0:
     * TR_STACK_SIZE. Less than that: TR_INVALID_ARGUMENT; more than TR_STACK_LARGEST: TR_LIMIT.
     */
    size_t stack_bytes;
    /**
     * A SIGSEGV, SIGBUS or SIGFPE on a worker's thread ends the process as it would otherwise, with a core where
     * the system makes one, but before that a line on standard error names the signal, the actor and the
     * handler, and for an overflow of the stack also the size of the stack. A handler that the process had before is
     * called instead. tr_app_main sets this; traps_faults includes it.
     *
     * The handlers of the three signals are those of the process: the first such system installs them, the last one
     * restores what was there. Does nothing in a library that was built with a sanitizer.
     * TR_NOT_SUPPORTED: together with handoff_after_ns.
     */
    bool names_faults;
} tr_system_options;

/** Sums over all workers since the system was made; those of live and queued are of now. */
typedef struct tr_counters {
    uint64_t accepted;     /* messages that were taken */
    uint64_t handled;      /* messages whose turn has ended */
    uint64_t dead_letters; /* messages that were taken and never handled, and refused ones */
    uint64_t refused;      /* messages that were not taken */
    uint64_t turns;        /* handlers that were called */
    uint64_t runs;         /* stays of actors on their workers */
    uint64_t posts;        /* actors made ready from another thread */
    uint64_t wakes;        /* sleeping workers woken */
    uint64_t parks;        /* times that a worker went to sleep */
    uint64_t spawned;      /* actors started */
    uint64_t stopped;      /* actors ended */
    uint64_t live;         /* actors alive */
    uint64_t queued;       /* messages taken and not yet handled */
    uint64_t failures;     /* turns that failed */
    uint64_t restarts;     /* incarnations that followed a failure */
    uint64_t stalls;       /* turns that took longer than turn_report_ns */
    uint64_t moves;        /* actors that went to another worker */
    uint64_t handoffs;     /* times that a worker was taken from a thread that was stuck */
} tr_counters;

/** A remembered dead letter. Names are cut to fit. */
typedef struct tr_dead_letter_record {
    char type[64];     /* of the message */
    char behavior[64]; /* of the receiver, when it did not know the message; else "" */
    tr_ref from;
    tr_ref to;
    tr_status reason;
    tr_time time_ns; /* as tr_now */
} tr_dead_letter_record;

TR_BEGIN_C
/**
 * Makes a system, given to the caller. options NULL: all defaults. No thread starts yet.
 * TR_INVALID_ARGUMENT, TR_NAME_INVALID, TR_LIMIT (workers, actors_max, blocking_threads_max,
 * handoff_threads_max, stack_bytes), TR_NO_MEMORY, TR_NOT_SUPPORTED (traps_faults, handoff_after_ns), and of the pool
 * what tr_try_pool_spawn gives,
 * TR_NAME_EXISTS also for a name that is in the table twice; with `durable` TR_INVALID_ARGUMENT for a kind that
 * cannot be one, which the log explains, and why the store cannot be opened: TR_STORE_FAILED, TR_STORE_BUSY,
 * TR_STORE_FULL, TR_STORE_CORRUPT, TR_STORE_FOREIGN, TR_STORE_NEWER. Any thread.
 */
TR_MUST_CHECK TR_INLINE tr_status tr_system_new(const tr_system_options *options,
                                                tr_system **system);
/**
 * Frees a system that was never started, or whose run or wait has returned; clients are freed
 * before. One whose run or wait gave TR_SHUTDOWN_INCOMPLETE because functions had not returned is kept, memory
 * and threads, for the functions that still run in it: it must not be used any more, and it is left to the end of the
 * process. NULL does nothing.
 */
void tr_system_free(tr_system *system);

/**
 * Starts the worker threads and returns. Once per system. TR_NO_MEMORY, TR_INVALID_TRANSITION
 * (it runs or has run, also by a single tr_system_run_once; always in a handler, and in a kit), and what
 * on_worker_start gave. Any thread.
 */
TR_MUST_CHECK tr_status tr_system_start(tr_system *system);
/**
 * tr_system_start, then tr_system_wait. When start fails, its error: everything has stopped again. In a
 * handler of the system: TR_INVALID_TRANSITION.
 */
TR_MUST_CHECK tr_status tr_system_run(tr_system *system);
/**
 * Waits until a started system has stopped, and for its hooks (shutdown.h). TR_OK. TR_ESCALATED: a
 * failure at the root shut it down; tr_system_error has it. TR_SHUTDOWN_INCOMPLETE: a function had
 * not returned 30 to 50 ms after the deadline, or what a durable actor had changed could not be stored
 * before it; tr_system_report names them. shutdown.h says how long it may take. TR_INVALID_TRANSITION: it
 * was never started, or runs by tr_system_run_once. In a handler of the system, in a kit too:
 * TR_WOULD_DEADLOCK. Several threads may.
 */
TR_MUST_CHECK tr_status tr_system_wait(tr_system *system);
/**
 * For a system with workers = 1 inside another event loop: no thread is made. Runs what is ready,
 * having waited for it at most `wait_ns` (0: not at all; TR_NEVER: until there is something).
 * TR_OK: call it again; TR_STOPPED: the system has stopped, and does so whenever it is called again.
 * TR_INVALID_TRANSITION: it was started, has more workers, or another thread is inside this call.
 * TR_WOULD_DEADLOCK: from a handler of the system. Any thread, one at a time; the first call decides that
 * the system never gets threads of its own.
 */
TR_MUST_CHECK tr_status tr_system_run_once(tr_system *system, tr_time wait_ns);
/**
 * For that loop (poll, epoll, libuv): a descriptor that is readable while run_once has something to do:
 * a message has arrived, or a timer is due. So a loop waits for it without a time limit:
 * poll(fds, count, -1). It is readable before the first run_once. Now and then it is readable for
 * nothing, once: at the time of a timer that was cancelled, say. -1: there is none (the system was
 * started, has more workers, or lives in a kit; or the process has no descriptor left). Borrowed until
 * the system is freed; do not read from it. The thread of tr_system_run_once.
 */
int tr_system_fd(const tr_system *system);
/**
 * For a loop that does not use the descriptor: nanoseconds until a timer is due, 0 when one is, TR_NEVER
 * when there is none. As tr_system_run_once.
 */
tr_time tr_system_timeout(const tr_system *system);
/**
 * Starts a shutdown and returns at once: the top-level actors get a poison pill, and what has not
 * stopped within timeout_ns (TR_NEVER: no limit) is killed. Further calls do nothing. shutdown.h has
 * the whole order. Any thread, also a handler.
 */
void tr_system_shutdown(tr_system *system, tr_time timeout_ns);

/** The number of workers. Any thread. */
int tr_system_workers(const tr_system *system);
/**
 * Changes the number of workers, also while the system runs. Nothing is lost. Those of the pool that are
 * spawned from now on are placed by the ring of the new number, and names that have an actor keep it.
 *
 * More: actors stay where they are; when this returns the new ones run. Fewer: nobody is placed on the last
 * workers any more, and those who live there move to the others, as soon as they can be moved
 * (docs/guide/workers.md). Pinned actors, those with a budget and the crews of groups stay; those with a
 * turn that waits or an ask that is not answered, with more than TR_MOVED_TIMERS_MAX timers, and Suspended
 * ones stay for as long as that lasts. Children of those who stay begin there too, and leave like others.
 * A worker that nobody lives on sleeps. This does not wait for it.
 *
 * TR_LIMIT: more than workers_max. TR_STOPPING. TR_NO_MEMORY, TR_LIMIT: there is no thread. What
 * on_worker_start gave for a new one. TR_WOULD_DEADLOCK: from
 * on_worker_start. TR_INVALID_ARGUMENT. Then all is as before. Any thread, also a handler.
 */
TR_MUST_CHECK tr_status tr_system_set_workers(tr_system *system, int workers);
/** Writes the counters; each is exact when nothing runs, a little old otherwise. Any thread. */
TR_INLINE void tr_system_counters(tr_system *system, tr_counters *counters);
/**
 * Copies up to `max` of the last dead letters, newest first, and writes how many to *count (may be
 * NULL). Returns the total so far. Any thread.
 */
TR_INLINE uint64_t tr_system_dead_letters(tr_system *system, tr_dead_letter_record *last,
                                          size_t max, size_t *count);
/**
 * Sends a tr_dead_letter of each new one to `who`. TR_STOPPED, TR_LIMIT
 * (TR_DEAD_LETTER_SUBSCRIBERS_MAX). Any thread.
 */
tr_status tr_system_subscribe_dead_letters(tr_system *system, tr_ref who);
/** Ends that; TR_NOT_FOUND when `who` had not subscribed. Any thread. */
tr_status tr_system_unsubscribe_dead_letters(tr_system *system, tr_ref who);

/**
 * Makes a client, given to the caller; it is used by one thread at a time and freed before its
 * system. TR_STOPPING, TR_LIMIT, TR_NO_MEMORY. Any thread.
 */
TR_MUST_CHECK tr_status tr_client_new(tr_system *system, tr_client **client);
/** Frees a client; what it has not received is dead letters. NULL does nothing. */
void tr_client_free(tr_client *client);
/** What actors can send to; it is also the sender of what the client tells. Any thread. */
tr_ref tr_client_ref(const tr_client *client);
/** The system of this client, borrowed. Any thread. */
tr_system *tr_client_system(const tr_client *client);

/** See tr_receive; type NULL: a message of any type (tr_receive_any says of which). */
const void *tr_client_receive(tr_client *client, const tr_type *type, tr_time timeout_ns);
/**
 * As tr_receive, for a message of any type, the oldest first: which one it is, message.type says, and
 * tr_message_as gives its struct. Both members are NULL when none came.
 *
 *     tr_message message = tr_receive_any(client, TR_SECOND);
 *     const struct alert *alert = tr_message_as(&message, alert);
 *     if (alert != NULL)
 *         ... it is an alert ...
 *     else if (message.type != NULL)
 *         printf("%s\n", message.type->name);
 */
tr_message tr_receive_any(tr_client *client, tr_time timeout_ns);
/** See tr_spawn_wait. */
TR_MUST_CHECK tr_status tr_client_spawn_wait(tr_client *client, tr_ref ref, tr_time timeout_ns,
                                             tr_error *error);
TR_END_C

/**
 * Waits for a message to the client: tr_receive(client, alert, TR_SECOND) gives a
 * `const struct alert *`, borrowed until the next call on this client, or NULL when none came in
 * time (0: does not wait; TR_NEVER: waits for ever) or the system has stopped. Messages of other
 * types stay, in order.
 */
#define tr_receive(client, m, timeout_ns)                                                          \
    ((const struct m *)tr_client_receive(client, &tr_type_##m, timeout_ns))

/**
 * Waits until an actor that this client spawned has been set up: TR_OK, TR_INIT_FAILED (*error has
 * the cause; error may be NULL), TR_STOPPED (it has ended since, and its set-up had not failed),
 * TR_TIMEOUT. Of the failures the last TR_CLIENT_FAILURES_MAX are remembered. Blocks its thread.
 */
#define tr_spawn_wait(client, ref, timeout_ns, error)                                              \
    tr_client_spawn_wait(client, tr_any(ref), timeout_ns, error)

#include <troupe/detail/system.h>

#endif
