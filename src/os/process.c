/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A child process is made by posix_spawn, which shares the memory until the program is loaded, so that its time does
 * not grow with the memory of this program. Its end is seen by a pidfd, so that SIGCHLD stays with the program.
 *
 * Input and output are one UNIX socket, not two pipes: a channel is one descriptor, and the end of the input is a
 * shutdown of one direction.
 */
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3 /* of Linux 5.4 */
#endif

_Static_assert(PROCESS_TERMINATE == SIGTERM && PROCESS_KILL == SIGKILL, "numbers of Linux");

/* The ends of streams that the child gets: `io` as 0 and 1, `errors` as 2. -1: none was made. */
struct ends {
    int io;
    int errors;
};

static tr_status status_of(int error)
{
    switch (error) {
    case ENOMEM:
        return TR_NO_MEMORY;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
        return TR_LIMIT;
    case E2BIG:
        return TR_TOO_LARGE;
    case EINVAL:
        return TR_INVALID_ARGUMENT;
    default: /* ENOENT, EACCES, ENOEXEC, ENOTDIR, ELOOP, ETXTBSY, EISDIR, EPERM */
        return TR_CANNOT_EXECUTE;
    }
}

static void close_if(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

/* Makes a stream of two descriptors: `ours` is non-blocking, `theirs` is not. Neither number is 0, 1 or 2. */
static int stream_open(int *ours, int *theirs)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        if (pair[i] > STDERR_FILENO)
            continue;
        int higher = fcntl(pair[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        int error = errno;
        if (higher < 0) {
            (void)close(pair[0]);
            (void)close(pair[1]);
            return error;
        }
        (void)close(pair[i]);
        pair[i] = higher;
    }
    (void)fcntl(pair[0], F_SETFL, fcntl(pair[0], F_GETFL) | O_NONBLOCK);
    *ours = pair[0];
    *theirs = pair[1];
    return 0;
}

/* Adds the action that makes descriptor `fd` of the child. */
static int stream_set(posix_spawn_file_actions_t *actions, tr_process_stream stream, int end,
                      int fd)
{
    switch (stream) {
    case TR_PROCESS_CHANNEL:
        return posix_spawn_file_actions_adddup2(actions, end, fd);
    case TR_PROCESS_NOTHING:
        return posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
    case TR_PROCESS_WITH_OUTPUT:
        return posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, fd);
    case TR_PROCESS_INHERIT:
    case TR_PROCESS_DEFAULT:
        break;
    }
    return 0;
}

static int actions_fill(posix_spawn_file_actions_t *actions, const tr_process_spec *spec,
                        const struct ends *ends)
{
    int error = 0;
    if (spec->directory)
        error = posix_spawn_file_actions_addchdir_np(actions, spec->directory);
    if (!error)
        error = stream_set(actions, spec->input, ends->io, STDIN_FILENO);
    if (!error)
        error = stream_set(actions, spec->output, ends->io, STDOUT_FILENO);
    if (!error)
        error = stream_set(actions, spec->errors, ends->errors, STDERR_FILENO);
    /* All descriptors of the runtime are close-on-exec. Those of libraries may not be. */
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    return error;
}

/* Resets the signal mask of the child, which would inherit the blocked signals of a thread of the runtime. */
static int attributes_fill(posix_spawnattr_t *attributes, bool shares_group)
{
    sigset_t none;
    sigset_t all;
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    if (!shares_group)
        flags |= POSIX_SPAWN_SETPGROUP;
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error)
        error = posix_spawnattr_setpgroup(attributes, 0);
    return error ? error : posix_spawnattr_setflags(attributes, flags);
}

static int spawn(const tr_process_spec *spec, const struct ends *ends, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *const *environment =
        spec->environment ? (char *const *)(uintptr_t)spec->environment : environ;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = attributes_fill(&attributes, spec->shares_group);
        if (!error)
            error = actions_fill(&actions, spec, ends);
        if (!error)
            error = posix_spawnp(pid,
                                 spec->program,
                                 &actions,
                                 &attributes,
                                 (char *const *)(uintptr_t)spec->arguments,
                                 environment);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Opens the pidfd of a process. If that fails, kills the process, because its end would never be noticed. */
static int watch(pid_t pid, int *fd)
{
    *fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (*fd >= 0)
        return 0;
    int error = errno;
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return error;
}

tr_status tr__real_process_start(const tr_platform *platform, const tr_process_spec *spec,
                                 tr_process_handle *process)
{
    (void)platform;
    struct ends ends = {.io = -1, .errors = -1};
    pid_t pid = -1;
    *process = (tr_process_handle){
        .fd = -1, .io = -1, .errors = -1, .has_group = !spec->shares_group, .why = ""};
    int error = stream_open(&process->io, &ends.io);
    if (!error && spec->errors == TR_PROCESS_CHANNEL)
        error = stream_open(&process->errors, &ends.errors);
    if (!error)
        error = spawn(spec, &ends, &pid);
    close_if(ends.io);
    close_if(ends.errors);
    if (!error)
        error = watch(pid, &process->fd);
    if (!error) {
        process->pid = pid;
        return TR_OK;
    }
    close_if(process->io);
    close_if(process->errors);
    process->why = strerrordesc_np(error);
    if (!process->why)
        process->why = "unknown error";
    return status_of(error);
}

tr_status tr__real_process_signal(const tr_platform *platform, const tr_process_handle *process,
                                  int signal)
{
    (void)platform;
    /* The number belongs to this group until the process is reaped. */
    int result = process->has_group
                     ? kill(-(pid_t)process->pid, signal)
                     : (int)syscall(SYS_pidfd_send_signal, process->fd, signal, NULL, 0);
    if (result == 0)
        return TR_OK;
    switch (errno) {
    case ESRCH:
        return TR_NOT_FOUND;
    case EINVAL:
        return TR_INVALID_ARGUMENT;
    default:
        return TR_NOT_PERMITTED;
    }
}

tr_status tr__real_process_reap(const tr_platform *platform, const tr_process_handle *process,
                                tr_time timeout_ns, tr_process_exit *how)
{
    (void)platform;
    siginfo_t info = {.si_pid = 0};
    if (timeout_ns > 0) {
        struct pollfd ended = {.fd = process->fd, .events = POLLIN};
        struct timespec time = {.tv_sec = timeout_ns / TR_SECOND,
                                .tv_nsec = timeout_ns % TR_SECOND};
        (void)ppoll(&ended, 1, &time, NULL);
    }
    int result;
    do {
        result = waitid((idtype_t)P_PIDFD, (id_t)process->fd, &info, WEXITED | WNOHANG);
    } while (result < 0 && errno == EINTR);
    if (result < 0)
        return TR_NOT_FOUND;
    if (!info.si_pid)
        return TR_WOULD_BLOCK;
    bool is_exit = info.si_code == CLD_EXITED;
    *how = (tr_process_exit){.code = is_exit ? info.si_status : -1,
                             .signal = is_exit ? 0 : info.si_status};
    return TR_OK;
}
