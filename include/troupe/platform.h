/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The platform: everything a system takes from the world, as one table of functions.
 *
 * Time, randomness, memory, logs, threads, parking and IO reach a system only through the table it
 * was given when it was made, so that a simulator, a test or an embedding program can own them all.
 * Most programs never see this header: without a table a system uses the real one.
 *
 * A table is shared by the systems that use it and must outlive them. Every function is called with
 * the table itself; what it needs beyond that follows the table in memory (embed `tr_platform` as
 * the first member of your own struct).
 */
#ifndef TROUPE_PLATFORM_H
#define TROUPE_PLATFORM_H

#include <troupe/status.h>

typedef struct tr_platform tr_platform;
/** A place where one thread sleeps until it is woken; made and understood by the platform only. */
typedef struct tr_parker tr_parker;
typedef struct tr_thread tr_thread;

/** For deadlines: no deadline. */
#define TR_NEVER INT64_MAX

typedef enum tr_io_kind {
    TR_IO_READABLE, /* completes when `fd` can be read, or has ended */
    TR_IO_WRITABLE  /* completes when `fd` can be written, or has ended */
} tr_io_kind;

/** An IO operation: lent to the platform from io_submit until io_reap gives it back. */
typedef struct tr_io {
    struct tr_io *next; /* the platform's while it is lent */
    tr_io_kind kind;
    int fd;
    tr_status result;
    void *owner; /* the submitter's; untouched */
} tr_io;

struct tr_platform {
    /** sizeof(tr_platform) of whoever filled it in; members are only ever added at the end. */
    size_t size;

    /** Nanoseconds since some start; never goes back. Any thread. */
    tr_time (*mono_now)(const tr_platform *platform);
    /** Nanoseconds since 1970 (UTC); may jump. Any thread. */
    tr_time (*wall_now)(const tr_platform *platform);
    /** Random bits, used as a seed when a system was given none. Any thread. */
    uint64_t (*random)(const tr_platform *platform);

    /** As realloc: size 0 frees and gives NULL, NULL allocates. NULL when out of memory. Any thread. */
    void *(*resize)(const tr_platform *platform, void *memory, size_t size);
    /** One line of log, without a line end. `path` is the actor's, or NULL. Any thread. */
    void (*log)(const tr_platform *platform, tr_level level, const char *path, const char *text);

    /** CPUs this process may use, at least 1. */
    unsigned (*cpu_count)(const tr_platform *platform);
    /** Starts a thread; TR_NO_MEMORY, or TR_NOT_SUPPORTED where there are none. */
    tr_status (*thread_start)(const tr_platform *platform, const char *name,
                              void (*main)(void *context), void *context, tr_thread **thread);
    /** Waits for its end and frees it. */
    void (*thread_join)(const tr_platform *platform, tr_thread *thread);
    /** A number of the calling thread, never 0. Any thread. */
    uint64_t (*thread_id)(const tr_platform *platform);
    /** Gives the CPU to another thread for a moment. Any thread. */
    void (*yield)(const tr_platform *platform);

    /** TR_NO_MEMORY, TR_LIMIT (out of file descriptors). */
    tr_status (*parker_new)(const tr_platform *platform, tr_parker **parker);
    void (*parker_free)(const tr_platform *platform, tr_parker *parker);
    /**
     * Sleeps until wake was called (also before park: it is remembered, once), an IO operation
     * completed, or mono_now reached `deadline`. May return early. One thread per parker.
     */
    void (*park)(const tr_platform *platform, tr_parker *parker, tr_time deadline);
    /** Ends a park of that parker, or the next one. Any thread. */
    void (*wake)(const tr_platform *platform, tr_parker *parker);
    /**
     * A file descriptor that is readable while park would return at once, and from the time of
     * parker_alarm on; -1 where there is none, also for lack of descriptors. The thread that parks.
     */
    int (*parker_fd)(const tr_platform *platform, tr_parker *parker);

    /** Starts an operation whose completion ends a park of `parker`. TR_LIMIT, TR_INVALID_ARGUMENT. */
    tr_status (*io_submit)(const tr_platform *platform, tr_parker *parker, tr_io *io);
    /** Takes a pending operation back; false when it has completed already (reap gives it then). */
    bool (*io_cancel)(const tr_platform *platform, tr_parker *parker, tr_io *io);
    /** Gives back what has completed, linked by `next`; NULL for nothing. Never sleeps. */
    tr_io *(*io_reap)(const tr_platform *platform, tr_parker *parker);

    /**
     * The CPU time of a thread that could run now, whether or not it has a CPU; -1 of one that waits
     * in the kernel, or where nobody knows. Tells who hangs from who is starved. Any thread.
     */
    tr_time (*thread_cpu)(const tr_platform *platform, const tr_thread *thread);

    /**
     * Makes the descriptor of parker_fd readable when mono_now reaches `deadline`, or earlier, once, for
     * a deadline that was set before; TR_NEVER: not at all. Does nothing before parker_fd was called. A
     * park that sleeps ends it. It is cheap where the time to come stays the same or becomes later. The
     * thread that parks.
     */
    void (*parker_alarm)(const tr_platform *platform, tr_parker *parker, tr_time deadline);
};

TR_BEGIN_C
/** The real platform: Linux. Its memory is the C library's. Any thread. */
const tr_platform *tr_platform_real(void);
TR_END_C

#endif
