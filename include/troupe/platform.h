/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The platform: the table of functions through which a system reaches the world.
 *
 * ```c
 * #include <stdio.h>
 * #include <troupe/troupe.h>
 *
 * static void log_short(const tr_platform *platform, tr_level level, const char *path,
 *                       const char *text)
 * {
 *     (void)platform;
 *     printf("%d %s %s\n", (int)level, path ? path : "system", text);
 * }
 *
 * int main(void)
 * {
 *     tr_platform platform = *tr_platform_real(); // the real one, with another log
 *     platform.log = log_short;
 *     tr_system_options options = {.platform = &platform};
 *     tr_system *system;
 *     if (tr_system_new(&options, &system) != TR_OK)
 *         return 1;
 *     tr_system_free(system);
 *     return 0;
 * }
 * ```
 *
 * A system gets time, randomness, memory, the log, threads, parking and IO only through the table
 * in tr_system_options.platform. A simulator, a test or an embedding program can replace any of
 * them. Most programs do not use this header: without a table a system uses the real platform.
 *
 * Several systems may use one table. The table must outlive them. Every function gets the table as
 * its first argument. For data of its own, a platform puts `tr_platform` first into a larger
 * struct.
 */
#ifndef TROUPE_PLATFORM_H
#define TROUPE_PLATFORM_H

#include <troupe/status.h>

typedef struct tr_platform tr_platform;
/**
 * Something on which one thread sleeps until it is woken. Only the platform knows what is in it.
 */
typedef struct tr_parker tr_parker;
typedef struct tr_thread tr_thread;

/** As a deadline or timeout: none. */
#define TR_NEVER INT64_MAX

typedef enum tr_io_kind {
    TR_IO_READABLE, /* completes when `fd` can be read, or is at its end */
    TR_IO_WRITABLE  /* completes when `fd` can be written, or is at its end */
} tr_io_kind;

/** An IO operation: lent to the platform from io_submit until io_reap gives it back. */
typedef struct tr_io {
    struct tr_io *next; /* belongs to the platform while the operation is lent */
    tr_io_kind kind;
    int fd;
    tr_status result;
    void *owner; /* belongs to the submitter; the platform leaves it alone */
} tr_io;

struct tr_platform {
    /** sizeof(tr_platform) where the table was filled in. Members are added only at the end. */
    size_t size;

    /** Returns nanoseconds since some start; never goes back. Any thread. Does not wait. */
    tr_time (*mono_now)(const tr_platform *platform);
    /** Returns nanoseconds since 1970 (UTC); may jump. Any thread. Does not wait. */
    tr_time (*wall_now)(const tr_platform *platform);
    /** Returns random bits: the seed of a system that was given none. Any thread. Does not wait. */
    uint64_t (*random)(const tr_platform *platform);

    /**
     * As realloc: size 0 frees and returns NULL, memory NULL allocates. Returns NULL if out of
     * memory.
     * Any thread. Does not wait.
     */
    void *(*resize)(const tr_platform *platform, void *memory, size_t size);
    /** Writes a line to the log; text has no newline. `path` is an actor's, or NULL. Any thread. */
    void (*log)(const tr_platform *platform, tr_level level, const char *path, const char *text);

    /** Returns how many CPUs this process may use, at least 1. Any thread. Does not wait. */
    unsigned (*cpu_count)(const tr_platform *platform);
    /** Starts a thread. TR_NO_MEMORY; TR_NOT_SUPPORTED: the platform has no threads. Any thread. */
    tr_status (*thread_start)(const tr_platform *platform, const char *name,
                              void (*main)(void *context), void *context, tr_thread **thread);
    /** Waits until a thread has ended, and frees it. One thread. May wait. */
    void (*thread_join)(const tr_platform *platform, tr_thread *thread);
    /** Returns a number that identifies the calling thread, never 0. Any thread. Does not wait. */
    uint64_t (*thread_id)(const tr_platform *platform);
    /** Lets another thread have the CPU for a moment. Any thread. */
    void (*yield)(const tr_platform *platform);

    /** Makes a parker. TR_NO_MEMORY; TR_LIMIT: out of file descriptors. Any thread. */
    tr_status (*parker_new)(const tr_platform *platform, tr_parker **parker);
    /** Frees a parker on which no thread sleeps. One thread. */
    void (*parker_free)(const tr_platform *platform, tr_parker *parker);
    /**
     * Sleeps until wake is called, an IO operation completes, or mono_now reaches `deadline`. One
     * call of wake before park is remembered. May return early. One thread for each parker. May
     * wait.
     */
    void (*park)(const tr_platform *platform, tr_parker *parker, tr_time deadline);
    /** Ends a park of that parker, or the next park. Any thread. Does not wait. */
    void (*wake)(const tr_platform *platform, tr_parker *parker);
    /**
     * Returns a file descriptor that is readable while park would return at once, and from the time
     * of parker_alarm on. -1: the parker has no descriptor, or the process has none left. The
     * thread that parks.
     */
    int (*parker_fd)(const tr_platform *platform, tr_parker *parker);

    /**
     * Starts an operation whose completion ends a park of `parker`. TR_LIMIT, TR_INVALID_ARGUMENT.
     * The thread that parks. Does not wait.
     */
    tr_status (*io_submit)(const tr_platform *platform, tr_parker *parker, tr_io *io);
    /**
     * Cancels a pending operation. False: it has completed, and io_reap returns it. The thread that
     * parks. Does not wait.
     */
    bool (*io_cancel)(const tr_platform *platform, tr_parker *parker, tr_io *io);
    /**
     * Returns the completed operations, linked by `next`; NULL: none. The thread that parks. Does
     * not wait.
     */
    tr_io *(*io_reap)(const tr_platform *platform, tr_parker *parker);

    /**
     * Returns the CPU time of a thread that could run now, whether or not it has a CPU. -1: it
     * waits in the kernel, or the platform does not know. Tells a thread that hangs from one that
     * gets no CPU. Any thread. Does not wait.
     */
    tr_time (*thread_cpu)(const tr_platform *platform, const tr_thread *thread);

    /**
     * Makes the descriptor of parker_fd readable when mono_now reaches `deadline`. TR_NEVER: never.
     * The descriptor may become readable once more at a deadline that was set before. Does nothing
     * before parker_fd was called. A park that sleeps ends it. It is cheap if the deadline stays
     * the same or becomes later. The thread that parks. Does not wait.
     */
    void (*parker_alarm)(const tr_platform *platform, tr_parker *parker, tr_time deadline);
};

TR_BEGIN_C
/**
 * Returns the real platform: Linux, with the memory of the C library. It lives as long as the
 * process.
 * Any thread. Does not wait.
 */
const tr_platform *tr_platform_real(void);
TR_END_C

#endif
