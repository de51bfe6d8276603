/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Systems and clients: Troupe in a program that has its own main.
 *
 * ```c
 * #include <troupe/troupe.h>
 *
 * TR_MESSAGE(number, (i32, value));
 * TR_ACTOR(doubler, number);
 *
 * static tr_next on_number(tr_self *self, const struct number *message)
 * {
 *     return tr_reply(self, number, .value = 2 * message->value);
 * }
 *
 * TR_BEHAVIOR(doubler, void, TR_ON(number, on_number));
 *
 * int main(void)
 * {
 *     tr_system *system;
 *     tr_client *client;
 *     doubler_ref doubler;
 *     tr_system_options options = {.workers = 2};
 *     if (tr_system_new(&options, &system) != TR_OK || tr_system_start(system) != TR_OK ||
 *         tr_client_new(system, &client) != TR_OK ||
 *         tr_try_spawn(client, &doubler, doubler, "doubler") != TR_OK)
 *         return 1;
 *     tr_tell(client, doubler, number, .value = 21);
 *     const struct number *answer = tr_receive(client, number, 5 * TR_SECOND);
 *     bool is_right = answer && answer->value == 42;
 *     tr_client_free(client);
 *     tr_system_shutdown(system, 5 * TR_SECOND);
 *     tr_status status = tr_system_wait(system);
 *     tr_system_free(system);
 *     return is_right && status == TR_OK ? 0 : 1;
 * }
 * ```
 *
 * A system is a set of workers, each a thread, with their actors. A process may have several
 * systems. A client lets a thread that is no worker use a system: tr_tell, tr_try_spawn, tr_stop,
 * ... take a `tr_client *` in place of `self`. No signal handler is installed, unless traps_faults
 * or names_faults is set.
 */
#ifndef TROUPE_SYSTEM_H
#define TROUPE_SYSTEM_H

#include <troupe/platform.h>
#include <troupe/self.h>

/**
 * A turn that takes long: the argument of tr_system_options.on_stall. Texts are borrowed for the
 * call. A text that is not known is NULL.
 */
typedef struct tr_stall {
    tr_ref actor;
    const char *path;
    const char *type;     /* type of the message; NULL: the turn is a set-up */
    const char *handler;  /* the name of the function in TR_ON */
    const char *behavior; /* the name of the behavior; its file and line follow */
    const char *file;
    uint32_t line;
    int worker;
    bool is_over;       /* the turn has ended */
    bool is_handed_off; /* another thread runs the worker of the turn: handoff_after_ns */
    /*
     * how long the turn has taken so far, or in all if is_over; exact to about a millisecond. It
     * may be up to 3 ms too long if the turns of the worker became long only just before this turn
     */
    tr_time duration_ns;
    const char *peer; /* the other side of a channel of the actor, "127.0.0.1:5511" */
} tr_stall;

/**
 * Whether actors move between workers (docs/guide/workers.md). A handler sees no difference, except
 * by tr_worker. These actors do not move: actors that are pinned (tr_options) or have a budget;
 * and, as long as this is so, actors with a turn that waits, with an ask that is not answered, with
 * more than TR_MOVED_TIMERS_MAX timers, or with two timers that are due at the same nanosecond.
 */
typedef enum tr_balance {
    /* ready actors move to idle workers; actors that send to each other move to one worker */
    TR_BALANCE_ON,
    TR_BALANCE_OFF,     /* every actor stays on the worker where it was spawned */
    TR_BALANCE_RESTLESS /* for tests: every actor that may move moves all the time, without need */
} tr_balance;

/**
 * The options of a system. All zero is the default. What the members point to is borrowed until the
 * system is freed.
 */
typedef struct tr_system_options {
    size_t size TR_ZERO;         /* need not be set */
    const char *name TR_ZERO;    /* "troupe" */
    int workers TR_ZERO;         /* 0: one per CPU; at most TR_WORKERS_MAX */
    uint64_t seed TR_ZERO;       /* 0: a random seed from the platform */
    uint32_t actors_max TR_ZERO; /* 0: TR_ACTORS_MAX */
    /*
     * how long an idle worker looks for work before it sleeps; -1: not at all; 0: TR_SPIN_NS,
     * or longer if IO, an answer or a commit is expected
     */
    tr_time spin_ns TR_ZERO;
    /* time between two checks of timers and IO; 0: 500 us, or 200 us in a worker with IO */
    tr_time round_min_ns TR_ZERO;
    bool exit_when_empty TR_ZERO; /* shuts down when only actors of the pool are left below /user */
    const tr_platform *platform TR_ZERO; /* NULL: the real platform */
    /**
     * Allocates, resizes and frees memory, as realloc does: a size of 0 frees, a `memory` of NULL
     * allocates. Returns NULL if there is no memory. Called on any thread. If this member is NULL,
     * the platform's function is used. Stacks, threads and buffers always come from the platform.
     */
    void *(*resize)(void *context, void *memory, size_t size)TR_ZERO;
    /**
     * Writes a line to the log. `path` is the path of the actor that the line is about, or NULL if
     * the line is about the system. Called on any thread. If this member is NULL, the platform's
     * log is used.
     */
    void (*on_log)(void *context, tr_level level, const char *path, const char *text) TR_ZERO;
    void *context TR_ZERO; /* the `context` that resize, on_log, on_stall and on_worker_start get */
    /* tr_blocking has at most this many helper threads; 0: TR_BLOCKING_THREADS_MAX */
    uint32_t blocking_threads_max TR_ZERO;
    /* how top-level actors are supervised; copied; NULL: all defaults */
    const tr_supervision *supervision TR_ZERO;
    /**
     * A turn that takes longer than this is reported in the log: when the system notices it, when
     * the turn has taken ten times as long, and so on, and when the turn ends. 0:
     * TR_TURN_REPORT_NS; -1: never. At most TR_OPTION_NS_MAX. What counts is the time of the clock,
     * whether the handler computes or blocks, or its thread gets no CPU. Kits and
     * tr_system_run_once report nothing, because they have no thread that could notice a long turn.
     */
    tr_time turn_report_ns TR_ZERO;
    /**
     * Called for each report of a long turn (turn_report_ns), also if the log leaves the report
     * out. Called on the thread of the system that watches all workers, so it must not wait. May be
     * NULL.
     */
    void (*on_stall)(void *context, const tr_stall *stall) TR_ZERO;
    /**
     * Native faults become failures. A SIGSEGV, SIGBUS or SIGFPE in the code of a handler, set-up
     * or signal handler, also an overflow of its stack, is a failure of that actor with TR_FAULT.
     * The turn, and other turns of the actor that wait, are abandoned: functions of tr_defer do not
     * run, functions of tr_at_end do.
     *
     * This does not help against every mistake. What the code damaged before the fault stays
     * damaged. What it acquired without tr_at_end (malloc, a lock, a file) is not released. Only a
     * fault in code of the application becomes a failure. Other faults are those inside the
     * runtime, in the C library (except the mem* and str* functions), below a callback that the
     * runtime or the C library calls, on another thread, or on a stack that cannot be followed.
     * Such a fault goes to the handler that was installed before; without an earlier handler it
     * ends the process with a report. Below each stack is a guard of 256 KiB: a stack frame that is
     * larger can reach beyond the guard. See docs/guide/faults.md.
     *
     * The handlers of the three signals belong to the process: the first system with this option
     * installs them, and the last such system restores the handlers from before. This option works
     * on x86-64 and arm64. The runtime must be distinguishable from the application: link
     * libtroupe.so, or libtroupe.a with -fno-lto. Otherwise the status is TR_NOT_SUPPORTED.
     */
    bool traps_faults TR_ZERO;
    /* the timeout of a shutdown that the runtime itself begins; 0: TR_SHUTDOWN_TIMEOUT_NS */
    tr_time shutdown_timeout_ns TR_ZERO;
    tr_balance balance TR_ZERO;
    /**
     * Actors of the pool that start with the system, in this order: a table of TR_POOLED that ends
     * with an element of zeros. NULL: none. See pool.h.
     */
    const tr_child_spec *pool TR_ZERO;
    /* how actors of the pool are supervised; copied; NULL: as `supervision` */
    const tr_supervision *pool_supervision TR_ZERO;
    /**
     * Called for each worker on the worker's thread, before any worker runs its first turn: for
     * example to make a context of a library. If the function returns an error, the start of the
     * system returns this error: no turn has run, and everything is stopped again. With
     * handoff_after_ns the function is also called on each thread that is made for a handoff. It is
     * called before the thread's first turn, with the index of the worker that the thread takes
     * first. If the function returns an error there, the thread takes no worker; if the thread is
     * still needed a second later, the function is called again. The first tr_system_run_once calls
     * the function and returns its status. If the system stops before it runs, the function is not
     * called. May be NULL.
     */
    tr_status (*on_worker_start)(tr_system *system, int worker, void *context) TR_ZERO;
    /* tr_system_set_workers may set at most this many workers; each takes some memory; 0: as `workers` */
    int workers_max TR_ZERO;
    /**
     * Handoff: if a handler has not returned after this time, and is not inside the runtime,
     * another thread takes over its worker. The worker's other actors continue on that thread, with
     * their messages, timers, asks and spawns. The handler keeps its thread. Its actor handles
     * nothing, not even an order to stop, until the handler has returned. When the handler calls a
     * verb, its thread first gets the worker back, as soon as the other thread is between two
     * turns. 0: no handoff. 20 ms is a good choice; a value below 3 ms counts as 3 ms; at most
     * TR_OPTION_NS_MAX.
     *
     * Handoff is for handlers that block against the rules; tr_blocking costs less. With handoff a
     * turn that has waited may continue on another thread of the system, so thread-local variables,
     * such as errno, do not survive a wait. While a set-up, a signal handler, a function of
     * tr_defer or a cancelled turn runs, its worker is not handed off. In kits and with
     * tr_system_run_once this option has no effect. The status is TR_NOT_SUPPORTED together with
     * traps_faults or names_faults, and if the kernel has no membarrier (Linux 4.14 has it). See
     * docs/guide/blocking.md.
     */
    tr_time handoff_after_ns TR_ZERO;
    /* at most this many threads are made for handoff; 0: TR_HANDOFF_THREADS_MAX */
    uint32_t handoff_threads_max TR_ZERO;
    /**
     * The kinds of durable actors: .durable = TR_DURABLES(cart, reminder). NULL: none. See
     * durable.h.
     */
    const struct tr_durables *durable TR_ZERO;
    /**
     * The directory in which durable actors are stored. The system makes it if it does not exist.
     * Only one process at a time can use it. If this member is NULL, the directory is "<name>.data"
     * in the current directory.
     */
    const char *store TR_ZERO;
    /**
     * How many durable actors may be awake. Each worker has its share, at least one. If more are
     * awake, the actors that have been idle for longest go to sleep at once. An actor that has work
     * (durable.h) stays awake. If all actors that are awake have work, an actor that is to wake has
     * to wait: its state is not read yet, and its messages wait in its mailbox. Such actors wake in
     * the order in which they came. If no actor has become idle for TR_AWAKE_WAIT_NS, one of those
     * that wait wakes nevertheless, because the actors that are awake may wait for it. So the limit
     * is soft. Actors that are falling asleep do not count. 0: no limit.
     */
    uint32_t awake_max TR_ZERO;
    /**
     * How much memory durable actors that are awake may have, in bytes, with the rules of
     * awake_max. Their states, what they have allocated, their alarms and their queues count,
     * approximately. Their messages do not count. If only one actor of a worker is awake, this
     * actor may be larger than the limit. 0: no limit.
     */
    uint64_t awake_bytes_max TR_ZERO;
    /**
     * Bytes of the stack of each turn, rounded up to pages. Only the pages that a handler touches
     * take memory. 0: TR_STACK_SIZE. Less than TR_STACK_SIZE gives TR_INVALID_ARGUMENT, and more
     * than TR_STACK_LARGEST gives TR_LIMIT.
     */
    size_t stack_bytes TR_ZERO;
    /**
     * Before a SIGSEGV, SIGBUS or SIGFPE on a worker's thread ends the process, a line on standard
     * error names the signal, the actor and the handler, and for an overflow of the stack also the
     * size of the stack. The process then ends as it would without this option, with a core file if
     * the machine makes one. If the process had a handler for the signal before, that handler is
     * called. tr_app_main sets this member; traps_faults includes it.
     *
     * The handlers of the three signals belong to the process: the first system with this option
     * installs them, and the last such system restores the handlers from before. If the program has
     * no handler of SIGURG, one is installed in the same way. That handler lets `troupe stalls`
     * show the stack of a turn that takes long and computes. In a library that was built with a
     * sanitizer this option has no effect. Together with handoff_after_ns the status is
     * TR_NOT_SUPPORTED.
     */
    bool names_faults TR_ZERO;
    /**
     * The form of the log lines that the platform writes. A line that a turn writes ends with the
     * causal id of its message (tr_causal_id); in JSON the id is a member. Together with on_log,
     * which gets each text as it is, the status is TR_INVALID_ARGUMENT.
     */
    tr_log_format log_format TR_ZERO;
} tr_system_options;

/**
 * Sums over all workers since the system was made. Only `live` and `queued` are present numbers.
 */
typedef struct tr_counters {
    uint64_t accepted;     /* messages that a mailbox has accepted */
    uint64_t handled;      /* messages whose turn has ended */
    uint64_t dead_letters; /* messages that were never handled; includes `refused` */
    uint64_t refused;      /* messages that no mailbox has accepted */
    uint64_t turns;        /* calls of handlers */
    uint64_t runs;         /* how often a worker ran an actor, each time for one turn or more */
    /* how often a thread made an actor of another worker ready to run */
    uint64_t posts;
    uint64_t wakes;   /* how often a sleeping worker was woken */
    uint64_t parks;   /* how often a worker went to sleep */
    uint64_t spawned; /* actors started */
    uint64_t stopped; /* actors ended */
    uint64_t live;    /* actors alive */
    /* messages accepted and not yet handled: in a mailbox, or in a turn that runs or waits */
    uint64_t queued;
    uint64_t failures; /* turns that failed */
    uint64_t restarts; /* restarts after a failure */
    uint64_t stalls;   /* turns that took longer than turn_report_ns */
    uint64_t moves;    /* moves of actors to another worker */
    uint64_t handoffs; /* how often a worker was handed off: handoff_after_ns */
} tr_counters;

/** A dead letter that the system remembers. Names that are too long are cut. */
typedef struct tr_dead_letter_record {
    char type[64];     /* of the message */
    char behavior[64]; /* behavior of the receiver, if it has no handler for the message; else "" */
    tr_ref from;
    tr_ref to;
    tr_status reason;
    tr_time time_ns; /* as tr_now */
    /*
     * The paths of sender and receiver at that time. If a path is too long, "..." replaces its
     * beginning. The path of an actor that had ended has a number as its last part: "/user/$2a.1".
     * Instead of a path there may be "nobody", "a client", or "an actor that has stopped".
     */
    char from_path[TR_DEAD_LETTER_PATH_MAX + 1];
    char to_path[TR_DEAD_LETTER_PATH_MAX + 1];
    uint64_t size; /* bytes of the message, with everything that it points to */
    /*
     * The message as JSON, cut to fit, without the values of secret fields (TR_SECRET). "" for a
     * reply, for a message larger than TR_DEAD_LETTER_SHOWN_MAX, for messages of one second after
     * the first TR_DEAD_LETTER_TEXTS_MAX, and for a message whose receiver was stopped by a
     * deadline.
     */
    char message[TR_DEAD_LETTER_TEXT_MAX + 1];
} tr_dead_letter_record;

TR_BEGIN_C
/**
 * Makes a system, which is given to the caller. If `options` is NULL, all options have their
 * defaults. Starts no thread yet.
 * Any thread. May wait: opens the store of durable actors.
 *
 * TR_INVALID_ARGUMENT; TR_NAME_INVALID; TR_LIMIT (workers, actors_max, blocking_threads_max,
 * handoff_threads_max, stack_bytes); TR_NO_MEMORY; TR_NOT_SUPPORTED (traps_faults,
 * handoff_after_ns, shadow stacks of the processor). With `pool`: also the statuses of tr_try_pool_spawn; a name that
 * is in the table twice gives TR_NAME_EXISTS. With `durable`: also TR_INVALID_ARGUMENT for a kind that is not valid,
 * which the log explains. If the store cannot be opened: TR_STORE_FAILED, TR_STORE_BUSY, TR_STORE_FULL,
 * TR_STORE_CORRUPT, TR_STORE_FOREIGN or TR_STORE_NEWER.
 */
TR_MUST_CHECK TR_INLINE tr_status tr_system_new(const tr_system_options *options,
                                                tr_system **system);
/**
 * Frees a system that was never started, or whose tr_system_run or tr_system_wait has returned.
 * Free its clients first. NULL does nothing.
 * One thread. May wait: for threads of the system to end.
 *
 * If the result was TR_SHUTDOWN_INCOMPLETE because functions had not returned, the system keeps its
 * memory and threads for those functions, until the process ends. The caller must not use the
 * system any more.
 */
void tr_system_free(tr_system *system);

/**
 * Starts the worker threads and returns. A system can be started once.
 * Any thread. May wait: until each worker has called on_worker_start.
 *
 * TR_OK; TR_NO_MEMORY; TR_INVALID_TRANSITION: the system runs or has run, even if only by one
 * tr_system_run_once, or the call is in a handler or in a kit; and any error of on_worker_start.
 */
TR_MUST_CHECK tr_status tr_system_start(tr_system *system);
/**
 * Starts a system and waits until it has stopped: tr_system_start, then tr_system_wait.
 * Any thread. May wait.
 *
 * If the start fails, returns the error of the start, and everything has stopped again. In a
 * handler of the system, returns TR_INVALID_TRANSITION.
 */
TR_MUST_CHECK tr_status tr_system_run(tr_system *system);
/**
 * Waits until a started system has stopped, and for its hooks (shutdown.h). Several threads may
 * wait. Any thread. May wait.
 *
 * Returns TR_OK. TR_ESCALATED: a failure at the root shut the system down; tr_system_error returns
 * this failure. TR_SHUTDOWN_INCOMPLETE: a function had not returned 30 to 50 ms after the deadline,
 * or changes of a durable actor could not be stored before the deadline; tr_system_report names the
 * functions and actors. shutdown.h says how long a shutdown may take. TR_INVALID_TRANSITION: the
 * system was never started, or runs by tr_system_run_once. TR_WOULD_DEADLOCK: the call is in a
 * handler of the system, also in a kit.
 */
TR_MUST_CHECK tr_status tr_system_wait(tr_system *system);
/**
 * Runs what is ready, for a system with one worker inside another event loop. Makes no thread. One
 * thread. May wait: at most `wait_ns` until something is ready (0: does not wait; TR_NEVER: no
 * limit).
 *
 * TR_OK: the system runs; call the function again. TR_STOPPED: the system has stopped; each further
 * call returns this too. TR_INVALID_TRANSITION: the system was started, has more than one worker,
 * or another thread is inside this call. TR_WOULD_DEADLOCK: the call is in a handler of the system.
 * After the first call the system never gets threads of its own.
 */
TR_MUST_CHECK tr_status tr_system_run_once(tr_system *system, tr_time wait_ns);
/**
 * Returns a descriptor for the event loop that calls tr_system_run_once (poll, epoll, libuv). It is
 * readable while tr_system_run_once has something to do: a message has arrived, or a timer is due.
 * One thread. Does not wait.
 *
 * So a loop waits for the descriptor without a timeout: poll(fds, count, -1). The descriptor is
 * readable before the first tr_system_run_once. The descriptor may once be readable although there
 * is nothing to do, for example at the time of a timer that was cancelled. Returns -1 if the system
 * was started, has more than one worker, or is in a kit, or if the process has no descriptor left.
 * The descriptor is borrowed until the system is freed; do not read from it. Call tr_system_fd on
 * the thread of tr_system_run_once.
 */
int tr_system_fd(const tr_system *system);
/**
 * Returns in how many nanoseconds the next timer is due: 0 if a timer is due now, TR_NEVER if there
 * is no timer. A loop that does not use the descriptor needs this function. Call tr_system_timeout
 * on the thread of tr_system_run_once. One thread. Does not wait.
 */
tr_time tr_system_timeout(const tr_system *system);
/**
 * Starts a shutdown and returns at once. Further calls do nothing.
 * Any thread. Does not wait.
 *
 * The top-level actors get a poison pill, and actors that have not stopped within timeout_ns
 * (TR_NEVER: no limit) are killed. shutdown.h has the whole order.
 */
void tr_system_shutdown(tr_system *system, tr_time timeout_ns);

/** Returns the number of workers. Any thread. Does not wait. */
int tr_system_workers(const tr_system *system);
/**
 * Changes the number of workers, also while the system runs. No message is lost.
 * Any thread. May wait: until each new worker has called on_worker_start. In a turn it blocks the
 * worker's thread.
 *
 * If there are more workers than before, actors stay where they are; the new workers run when the
 * call returns. If there are fewer, no actor starts on the last workers any more, and the actors of
 * these workers move to the others as soon as they can be moved (docs/guide/workers.md). Pinned
 * actors, actors with a budget and the supervisors of groups stay. An actor stays as long as it is
 * suspended, has a turn that waits, has an ask that is not answered, or has more than
 * TR_MOVED_TIMERS_MAX timers. Children of actors that stay start on the same worker, and move like
 * other actors. A worker without actors sleeps. This call does not wait for the moves. The pool
 * places new actors by the new number of workers; a name that has an actor keeps this actor.
 *
 * TR_OK; TR_LIMIT: more than workers_max; TR_STOPPING; TR_NO_MEMORY, TR_LIMIT: no thread could be
 * made; an error of on_worker_start for a new worker; TR_WOULD_DEADLOCK: the call is in
 * on_worker_start; TR_INVALID_ARGUMENT. On failure nothing has changed.
 */
TR_MUST_CHECK tr_status tr_system_set_workers(tr_system *system, int workers);
/**
 * Writes the counters. They are exact while nothing runs, and a little old otherwise.
 * Any thread. Does not wait.
 */
TR_INLINE void tr_system_counters(tr_system *system, tr_counters *counters);
/**
 * Copies up to `max` of the last dead letters, the newest first, and writes to *count how many it
 * has copied; `count` may be NULL. Returns how many dead letters there have been in all.
 * Any thread. Does not wait.
 */
TR_INLINE uint64_t tr_system_dead_letters(tr_system *system, tr_dead_letter_record *last,
                                          size_t max, size_t *count);
/**
 * Sends a tr_dead_letter to `who` for each new dead letter.
 * Any thread. Does not wait.
 *
 * TR_OK; TR_STOPPED; TR_LIMIT (TR_DEAD_LETTER_SUBSCRIBERS_MAX).
 */
tr_status tr_system_subscribe_dead_letters(tr_system *system, tr_ref who);
/**
 * Ends the subscription of `who` to dead letters. TR_NOT_FOUND: `who` was no subscriber. Any
 * thread. Does not wait.
 */
tr_status tr_system_unsubscribe_dead_letters(tr_system *system, tr_ref who);

/**
 * Makes a client, which is given to the caller. Only one thread at a time may use the client. Free
 * the client before its system. Any thread. Does not wait.
 *
 * Fails with TR_STOPPING, TR_LIMIT or TR_NO_MEMORY.
 */
TR_MUST_CHECK tr_status tr_client_new(tr_system *system, tr_client **client);
/**
 * Frees a client. Messages that it has not received are dead letters. NULL does nothing.
 * Client's thread. Does not wait.
 */
void tr_client_free(tr_client *client);
/**
 * Returns the ref of a client: actors can send to it, and it is the sender of the client's
 * messages.
 * Any thread. Does not wait.
 */
tr_ref tr_client_ref(const tr_client *client);
/** Returns the system of this client, borrowed. Any thread. Does not wait. */
tr_system *tr_client_system(const tr_client *client);

/**
 * See tr_receive. If `type` is NULL, waits for a message of any type. Client's thread. May wait.
 */
const void *tr_client_receive(tr_client *client, const tr_type *type, tr_time timeout_ns);
/**
 * Waits for a message of any type, the oldest first, as tr_receive does.
 * Client's thread. May wait.
 *
 * message.type is the type of the message, and tr_message_as returns its struct. Both members are
 * NULL if no message came.
 *
 * ```c
 * tr_message message = tr_receive_any(client, TR_SECOND);
 * const struct number *number = tr_message_as(&message, number);
 * if (number)
 *     printf("the number %d\n", (int)number->value);
 * else if (message.type)
 *     printf("a message of type %s\n", message.type->name);
 * ```
 */
tr_message tr_receive_any(tr_client *client, tr_time timeout_ns);
/** See tr_spawn_wait. Client's thread. May wait. */
TR_MUST_CHECK tr_status tr_client_spawn_wait(tr_client *client, tr_ref ref, tr_time timeout_ns,
                                             tr_error *error);
TR_END_C

/**
 * Waits for a message to the client: tr_receive(client, alert, TR_SECOND) returns a `const struct
 * alert *`, borrowed until the next call on this client.
 * Client's thread. May wait: at most timeout_ns (0: does not wait; TR_NEVER: forever).
 *
 * Returns NULL if no such message came in time, or if the system has stopped. Messages of other
 * types stay, in order.
 */
#define tr_receive(client, m, timeout_ns)                                                          \
    ((const struct m *)tr_client_receive(client, &tr_type_##m, timeout_ns))

/**
 * Waits until the set-up of an actor that this client spawned has run.
 * Client's thread. May wait: at most timeout_ns.
 *
 * TR_OK; TR_INIT_FAILED: *error has the cause; TR_STOPPED: the set-up did not fail, and the actor
 * has ended since; TR_TIMEOUT. `error` may be NULL. The client remembers the last
 * TR_CLIENT_FAILURES_MAX failures.
 */
#define tr_spawn_wait(client, ref, timeout_ns, error)                                              \
    tr_client_spawn_wait(client, tr_any(ref), timeout_ns, error)

#include <troupe/detail/system.h>

#endif
