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
 *     tr_platform platform = *tr_platform_real(); // the real platform, with another log
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
 * in tr_system_options.platform. A simulator, a test or an embedding program can replace any
 * function of the table. Most programs do not use this header: without a table a system uses the
 * real platform.
 *
 * Several systems may use one table. The table must outlive them. Every function gets the table as
 * its first argument. For data of its own, a platform puts `tr_platform` first into a larger
 * struct.
 */
#ifndef TROUPE_PLATFORM_H
#define TROUPE_PLATFORM_H

#include <troupe/address.h>

typedef struct tr_platform tr_platform;
/**
 * Something on which one thread sleeps until another thread wakes it. Only the platform knows the
 * members.
 */
typedef struct tr_parker tr_parker;
typedef struct tr_thread tr_thread;

/** A deadline or timeout that never comes. */
#define TR_NEVER INT64_MAX

/** What socket_open does with the socket that it makes. */
typedef enum tr_socket_role {
    TR_SOCKET_LISTEN, /* a stream that accepts connections at `address` or `path` */
    TR_SOCKET_CONNECT,
    TR_SOCKET_BIND /* a datagram socket at `address` or `path` */
} tr_socket_role;

/** What socket_open makes. Zero is the default of all members but `role` and `address`. */
typedef struct tr_socket_spec {
    size_t size; /* sizeof(tr_socket_spec); 0: the size that the platform was compiled with */
    tr_socket_role role;
    bool is_datagram;
    /* several sockets may be bound to the address; each gets a share of the connections */
    bool reuses_port;
    bool only_v6;     /* a listener at an IPv6 address accepts no IPv4 connections */
    bool delays;      /* the kernel collects small packets (Nagle); otherwise it does not */
    uint32_t backlog; /* of a listener */
    /* how long sent bytes may stay without an acknowledgement; 0: the kernel's default */
    tr_time stall_ns;
    tr_address address; /* with TR_FAMILY_UNIX, `path` is the path of the socket */
    /* path of a UNIX socket, or "fd:3" for a descriptor that the process has inherited */
    const char *path;
    /* for TR_SOCKET_CONNECT: the address from which it connects; TR_FAMILY_NONE: any */
    tr_address source;
} tr_socket_spec;

/** A datagram of socket_receive_many or socket_send_many. */
typedef struct tr_packet {
    void *data;
    size_t capacity; /* bytes of `data`, for socket_receive_many */
    /* bytes of the datagram; if they are more than `capacity`, the rest was lost */
    size_t size;
    /* address of the other side; TR_FAMILY_NONE: the address to which the socket is connected */
    tr_address address;
    /* where the path of a sender is written, TR_ADDRESS_PATH_MAX bytes; NULL: nowhere */
    char *path;
} tr_packet;

/** Events of a descriptor that is watched: what has become possible. */
enum {
    TR_IO_IN = 1,  /* the descriptor can be read, or accepted from */
    TR_IO_OUT = 2, /* the descriptor can be written to, or its connect has ended */
    /*
     * the other side has ended or reset the connection; what it sent before can still be read. For
     * a socket of datagrams: an earlier datagram found no receiver
     */
    TR_IO_END = 4
};

/** An event of io_poll. */
typedef struct tr_io_event {
    uint64_t token; /* the token that was given to io_watch */
    uint32_t what;  /* one or several of TR_IO_IN, TR_IO_OUT, TR_IO_END */
} tr_io_event;

/** What the input, the output or the errors of a child process are. */
typedef enum tr_process_stream {
    /* for input and output: a channel; for errors: the stream that this program has */
    TR_PROCESS_DEFAULT,
    TR_PROCESS_CHANNEL,    /* a channel of the actor */
    TR_PROCESS_INHERIT,    /* the stream that this program has */
    TR_PROCESS_NOTHING,    /* /dev/null */
    TR_PROCESS_WITH_OUTPUT /* only for the errors of the child: they go where its output goes */
} tr_process_stream;

/** What process_start starts. */
typedef struct tr_process_spec {
    size_t size;                  /* sizeof(tr_process_spec) */
    const char *program;          /* a name without a '/' is looked for in PATH */
    const char *const *arguments; /* the first is the name of the program; NULL ends the array */
    /* "NAME=value"; NULL ends the array; a NULL pointer: the environment of this program */
    const char *const *environment;
    const char *directory;   /* NULL: the working directory of this program */
    tr_process_stream input; /* never TR_PROCESS_DEFAULT */
    tr_process_stream output;
    tr_process_stream errors;
    /* the child stays in the process group of this program; otherwise it has a group of its own */
    bool shares_group;
    bool outlives; /* the child is not killed when the thread that starts it ends */
} tr_process_spec;

/** A child process that process_start has started. */
typedef struct tr_process_handle {
    int fd; /* readable (TR_IO_IN) when the process has ended */
    /*
     * a stream that carries the input and the output of the child; if the input or the output is no
     * channel, the stream has already ended in that direction
     */
    int io;
    int errors; /* a stream for the errors; -1: none */
    bool has_group;
    int64_t pid;
    const char *why; /* the reason of a failure, such as "No such file or directory"; constant */
} tr_process_handle;

/** How a child process has ended. */
typedef struct tr_process_exit {
    int code;   /* -1: a signal has ended it */
    int signal; /* 0: none */
} tr_process_exit;

struct tr_platform {
    /**
     * sizeof(tr_platform) in the header with which the table was compiled. Members are added only
     * at the end.
     */
    size_t size;

    /** Returns nanoseconds since some start; never goes back. Any thread. Does not wait. */
    tr_time (*mono_now)(const tr_platform *platform);
    /** Returns nanoseconds since 1970 (UTC); may jump. Any thread. Does not wait. */
    tr_time (*wall_now)(const tr_platform *platform);
    /**
     * Returns random bits. A system whose options have no seed uses them as its seed. Any thread.
     * Does not wait.
     */
    uint64_t (*random)(const tr_platform *platform);

    /**
     * Allocates, resizes and frees memory, as realloc does: a size of 0 frees and returns NULL, a
     * `memory` of NULL allocates. Returns NULL if there is no memory.
     * Any thread. Does not wait.
     */
    void *(*resize)(const tr_platform *platform, void *memory, size_t size);
    /**
     * Writes a line to the log; `text` has no newline. `path` is the path of an actor, or NULL. Any
     * thread.
     */
    void (*log)(const tr_platform *platform, tr_level level, const char *path, const char *text);

    /** Returns how many CPUs this process may use, at least 1. Any thread. Does not wait. */
    unsigned (*cpu_count)(const tr_platform *platform);
    /**
     * Starts a thread. TR_OK; TR_NO_MEMORY; TR_NOT_SUPPORTED: the platform has no threads. Any
     * thread.
     */
    tr_status (*thread_start)(const tr_platform *platform, const char *name,
                              void (*main)(void *context), void *context, tr_thread **thread);
    /** Waits until a thread has ended, and frees it. One thread. May wait. */
    void (*thread_join)(const tr_platform *platform, tr_thread *thread);
    /** Returns a number that identifies the calling thread, never 0. Any thread. Does not wait. */
    uint64_t (*thread_id)(const tr_platform *platform);
    /** Lets another thread have the CPU for a moment. Any thread. */
    void (*yield)(const tr_platform *platform);

    /**
     * Makes a parker. TR_OK; TR_NO_MEMORY; TR_LIMIT: there are no file descriptors left. Any
     * thread.
     */
    tr_status (*parker_new)(const tr_platform *platform, tr_parker **parker);
    /** Frees a parker on which no thread sleeps. One thread. */
    void (*parker_free)(const tr_platform *platform, tr_parker *parker);
    /**
     * Sleeps until wake is called, there is an event of a watched descriptor (io_watch), or mono_now
     * reaches `deadline`. If wake was called before park, park returns at once. park may return
     * early. One thread for each parker. May wait.
     */
    void (*park)(const tr_platform *platform, tr_parker *parker, tr_time deadline);
    /**
     * Wakes the thread that sleeps in park on this parker. If no thread does, the next park returns
     * at once. Any thread. Does not wait.
     */
    void (*wake)(const tr_platform *platform, tr_parker *parker);
    /**
     * Returns a file descriptor that is readable while park would return at once, and after the
     * deadline of parker_alarm has passed. Returns -1 if the parker has no descriptor, or if the
     * process has none left. Only the thread that parks.
     */
    int (*parker_fd)(const tr_platform *platform, tr_parker *parker);

    /**
     * Returns the CPU time of a thread that runs, waits for a CPU, or waits for a page or a disk.
     * Returns -1 if the thread sleeps, or if the platform does not know. With two such times a
     * caller can distinguish a thread that hangs from a thread that gets no CPU. Any thread. Does
     * not wait.
     */
    tr_time (*thread_cpu)(const tr_platform *platform, const tr_thread *thread);

    /**
     * Makes the descriptor of parker_fd readable when mono_now reaches `deadline`. TR_NEVER: never.
     * The deadline replaces that of an earlier call; the descriptor may nevertheless become
     * readable once at the earlier deadline. Does nothing if parker_fd was not called. A park that
     * sleeps ends the alarm. The call is cheap if the deadline stays the same or becomes later.
     * Only the thread that parks. Does not wait.
     */
    void (*parker_alarm)(const tr_platform *platform, tr_parker *parker, tr_time deadline);

    /*
     * Sockets. No call waits: a call that would have to wait gives TR_WOULD_BLOCK, and io_poll says
     * when to try again. Descriptors are numbers of the platform.
     */

    /**
     * Makes a socket. TR_OK: the socket listens, is bound, or is connected. TR_WOULD_BLOCK: the
     * socket is connecting, and after TR_IO_OUT socket_outcome says how that ended; *fd is set in
     * this case too. Also returns TR_ADDRESS_IN_USE, TR_ADDRESS_INVALID, TR_NOT_PERMITTED,
     * TR_CONNECT_REFUSED, TR_UNREACHABLE, TR_LIMIT (no descriptors, or the listener at a path has
     * as many waiting connections as its backlog says), TR_NO_MEMORY, TR_NOT_SUPPORTED or
     * TR_INVALID_ARGUMENT. If no process listens any more on a socket file, the file is replaced. A
     * path that begins with '@' is an abstract name. On a machine without IPv6 the address of
     * zeros, "every address of this machine", means every IPv4 address. Any thread. Does not wait.
     */
    tr_status (*socket_open)(const tr_platform *platform, const tr_socket_spec *spec, int *fd);
    /**
     * Says how a connect ended: TR_OK, TR_WOULD_BLOCK, TR_CONNECT_REFUSED, TR_UNREACHABLE, TR_TIMEOUT,
     * TR_RESET.
     * Any thread. Does not wait.
     */
    tr_status (*socket_outcome)(const tr_platform *platform, int fd);
    /**
     * Accepts a connection. TR_WOULD_BLOCK: there is none. TR_LIMIT: there are no descriptors or no memory; try again
     * later. TR_RESET: this connection has ended already; try the next one. `peer` may be NULL.
     * Any thread. Does not wait.
     */
    tr_status (*socket_accept)(const tr_platform *platform, int fd, int *accepted,
                               tr_address *peer);
    /**
     * Receives bytes of a stream. If socket_receive returns TR_OK and *got is 0, the other side has
     * ended. Fails with TR_WOULD_BLOCK, TR_RESET, TR_TIMEOUT or TR_UNREACHABLE. One thread for each
     * socket. Does not wait.
     */
    tr_status (*socket_receive)(const tr_platform *platform, int fd, void *to, size_t size,
                                size_t *got);
    /**
     * Sends pieces one after the other. If socket_send returns TR_OK and *sent is less than the
     * size of all pieces, the kernel has no space for the rest, or there was an error, which the
     * next call returns. TR_WOULD_BLOCK: nothing was sent. Also returns TR_RESET, TR_TIMEOUT,
     * TR_UNREACHABLE or TR_NO_MEMORY. One thread for each socket. Does not wait.
     */
    tr_status (*socket_send)(const tr_platform *platform, int fd, const tr_bytes *pieces,
                             size_t count, size_t *sent);
    /**
     * Receives up to `max` datagrams that have arrived. If *count is less than `max`, the next call
     * may still return more. *lost is the number of all datagrams to this socket that the kernel
     * had dropped when the last of the received datagrams arrived. TR_WOULD_BLOCK: no datagram has
     * arrived. TR_CONNECT_REFUSED: a datagram that was sent earlier was refused; the next call
     * receives again. One thread for each socket. Does not wait.
     */
    tr_status (*socket_receive_many)(const tr_platform *platform, int fd, tr_packet *packets,
                                     size_t max, size_t *count, uint64_t *lost);
    /**
     * Sends up to `count` datagrams, and sets *sent to the number that it has sent. The caller
     * calls again for the rest. A datagram that cannot be sent ends the call. If this is
     * packets[0], the status says why: TR_WOULD_BLOCK, TR_TOO_LARGE, TR_UNREACHABLE,
     * TR_CONNECT_REFUSED, TR_NOT_PERMITTED, TR_ADDRESS_INVALID.
     * One thread for each socket. Does not wait.
     */
    tr_status (*socket_send_many)(const tr_platform *platform, int fd, const tr_packet *packets,
                                  size_t count, size_t *sent);
    /** Ends the output: the other side sees that nothing more comes. Any thread. Does not wait. */
    void (*socket_finish)(const tr_platform *platform, int fd);
    /**
     * Closes a descriptor. The other side of a connection sees a reset if `resets` is set, or if
     * input has arrived that was not read; otherwise it sees a normal end. If `resets` is set, what
     * was not sent is dropped. On Linux, `resets` has no effect on a UNIX socket.
     * Any thread. Does not wait.
     */
    void (*socket_close)(const tr_platform *platform, int fd, bool resets);
    /**
     * Writes the address of a socket, or of its peer. Returns TR_OK, TR_RESET or
     * TR_INVALID_ARGUMENT. Any thread.
     */
    tr_status (*socket_address)(const tr_platform *platform, int fd, bool of_peer,
                                tr_address *address);

    /**
     * From now on io_poll of this parker reports events of this descriptor. First it reports what
     * is possible already, then each change from "would block" to possible, for input and for
     * output (edge-triggered). The tokens UINT64_MAX and UINT64_MAX - 1 are reserved for the
     * platform. TR_OK; TR_LIMIT; TR_NO_MEMORY; TR_INVALID_ARGUMENT: the descriptor is watched
     * already, or cannot be watched, such as that of a regular file. Only the thread that parks.
     * Does not wait.
     */
    tr_status (*io_watch)(const tr_platform *platform, tr_parker *parker, int fd, uint64_t token);
    /**
     * Ends io_watch. Called once for each watched descriptor, before the descriptor is closed. If
     * `fd` is -1, the descriptor was closed already. That close has ended the watch in the kernel,
     * because no other descriptor refers to the same socket. io_poll may still give events with the
     * old token that a park has collected before. Only the thread that parks. Does not wait.
     */
    void (*io_unwatch)(const tr_platform *platform, tr_parker *parker, int fd);
    /**
     * Writes up to `max` events, the oldest first, and returns their number. If park has waited for
     * events since the last io_poll, gives what park has found, perhaps nothing, without a system
     * call. Otherwise asks the kernel. Only the thread that parks. Does not wait.
     */
    size_t (*io_poll)(const tr_platform *platform, tr_parker *parker, tr_io_event *events,
                      size_t max);

    /**
     * Looks up a name, or reads an address of numbers. Puts `port` into each address. Returns TR_OK.
     * TR_ADDRESS_INVALID: nobody has this name. TR_TIMEOUT: there was no answer; try again later. TR_LIMIT: there are
     * no descriptors. Also returns TR_NO_MEMORY. TR_WOULD_BLOCK: ask again in a while; only a kit, whose time is
     * virtual, returns this. Any thread. May wait, for seconds; the runtime calls it on a helper thread.
     */
    tr_status (*resolve)(const tr_platform *platform, const char *name, uint16_t port,
                         tr_address *addresses, size_t max, size_t *count);

    /**
     * Starts a child process. The child inherits no descriptors except its input, output and
     * errors, and blocks and ignores no signal. If spec->outlives is not set, the kernel kills the
     * child when the thread that made this call ends. TR_CANNOT_EXECUTE: there is no such program,
     * or it cannot be executed; TR_LIMIT (no processes or descriptors), TR_TOO_LARGE (arguments and
     * environment), TR_NO_MEMORY, TR_INVALID_ARGUMENT. With each of these, process->why has the
     * reason. The caller closes the three descriptors of *process with socket_close.
     * Any thread. Waits until the program is loaded.
     */
    tr_status (*process_start)(const tr_platform *platform, const tr_process_spec *spec,
                               tr_process_handle *process);
    /**
     * Sends a signal to a process for which process_reap has not returned TR_OK yet, and to all of its group. TR_OK;
     * TR_NOT_FOUND: the process has ended; TR_NOT_PERMITTED; TR_INVALID_ARGUMENT: there is no such signal.
     * Any thread. Does not wait.
     */
    tr_status (*process_signal)(const tr_platform *platform, const tr_process_handle *process,
                                int signal);
    /**
     * Writes how a process has ended. This succeeds once, because the kernel then forgets the process. Returns TR_OK.
     * TR_WOULD_BLOCK: the process still runs. TR_NOT_FOUND: other code of this program has asked before, or SIGCHLD is
     * ignored in this program. Any thread. Waits for the end of the process, at most timeout_ns.
     */
    tr_status (*process_reap)(const tr_platform *platform, const tr_process_handle *process,
                              tr_time timeout_ns, tr_process_exit *how);

    /**
     * Takes signals: from now on each of them only makes the descriptor *fd readable, which can be
     * given to io_watch. A signal has one taker in a process. Returns TR_OK. TR_NAME_EXISTS: a
     * signal has another taker. TR_NOT_PERMITTED: nobody can take the signal (SIGKILL, SIGSTOP,
     * SIGCHLD, SIGPROF, and the signals of faults). TR_INVALID_ARGUMENT: there is no such signal.
     * TR_LIMIT: there are no descriptors. Any thread. Does not wait.
     */
    tr_status (*signals_open)(const tr_platform *platform, const int *signals, size_t count,
                              int *fd);
    /**
     * Writes the next signal that has come. TR_OK; TR_WOULD_BLOCK: no signal has come. One thread.
     * Does not wait.
     */
    tr_status (*signals_read)(const tr_platform *platform, int fd, int *signal);
    /**
     * Restores what the signals did before signals_open, and closes the descriptor. Any thread.
     * Does not wait.
     */
    void (*signals_close)(const tr_platform *platform, int fd);

    /**
     * Opens a file for reading, and writes how many bytes it has. Returns TR_OK, TR_NOT_FOUND, TR_NOT_PERMITTED,
     * TR_LIMIT, TR_NO_MEMORY, TR_INVALID_ARGUMENT (it is no regular file) or TR_FILE_FAILED. *why is a constant text
     * with the reason that the operating system gives. Any thread. May wait; the runtime calls it on a helper thread.
     */
    tr_status (*file_open)(const tr_platform *platform, const char *path, int *fd, uint64_t *size,
                           const char **why);
    /**
     * Writes how many bytes an open file has. The errors are those of file_open. Any thread. May
     * wait.
     */
    tr_status (*file_size)(const tr_platform *platform, int fd, uint64_t *size, const char **why);
    /**
     * Reads `size` bytes. TR_FILE_FAILED: the file cannot be read, or has become shorter.
     * Any thread. May wait; the runtime calls it on a helper thread.
     */
    tr_status (*file_read)(const tr_platform *platform, int fd, uint64_t offset, void *to,
                           size_t size, const char **why);
    /** Closes what file_open has opened. Any thread. Does not wait. */
    void (*file_close)(const tr_platform *platform, int fd);

    /**
     * Writes the device and the number of the socket file at this path, or zeros if there is no
     * such file. Any thread. Does not wait.
     */
    void (*socket_file)(const tr_platform *platform, const char *path, uint64_t id[2]);
    /**
     * Removes the file that socket_file has found. Does nothing if another process has bound the
     * path since. Any thread. Does not wait.
     */
    void (*socket_file_remove)(const tr_platform *platform, const char *path, const uint64_t id[2]);

    /**
     * Writes a line to the log unchanged, for TR_LOG_JSON and TR_LOG_JOURNALD. `line` has no
     * newline. Any thread. Does not wait.
     */
    void (*log_line)(const tr_platform *platform, tr_level level, const char *line, size_t size);

    /**
     * As io_watch, without TR_IO_OUT. For UNIX sockets and sockets of datagrams, the kernel reports
     * TR_IO_OUT each time that the other side has read something. These reports would wake a worker
     * that does not wait for output. Only the thread that parks. Does not wait.
     */
    tr_status (*io_watch_input)(const tr_platform *platform, tr_parker *parker, int fd,
                                uint64_t token);
    /**
     * From now on io_poll also reports TR_IO_OUT of a descriptor that is watched. If output is
     * possible already, the next io_poll reports it. Returns TR_OK, TR_NO_MEMORY or
     * TR_INVALID_ARGUMENT. Only the thread that parks. Does not wait.
     */
    tr_status (*io_watch_output)(const tr_platform *platform, tr_parker *parker, int fd,
                                 uint64_t token);

    /**
     * Writes one address for each function in which a thread is at present, the innermost first, up
     * to the function that begins at the address `last`. Returns how many addresses it has written,
     * or 0 if they are not known. If the thread continues meanwhile, the addresses are a guess. Any
     * other thread. May wait for 20 ms.
     */
    size_t (*thread_stack)(const tr_platform *platform, const tr_thread *thread, uintptr_t last,
                           uintptr_t *frames, size_t max);
};

TR_BEGIN_C
/**
 * Returns the real platform: Linux, with the memory of the C library. The table lives as long as
 * the process.
 * Any thread. Does not wait.
 */
const tr_platform *tr_platform_real(void);
TR_END_C

#endif
