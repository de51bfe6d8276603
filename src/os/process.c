/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A child process shares the memory of this program until its own program is loaded, as with posix_spawn. So a start
 * takes no longer if this program has much memory. posix_spawn itself is not used, because it cannot make the kernel
 * kill the child together with its parent (PR_SET_PDEATHSIG). This program learns of the end of a child by a pidfd, and
 * so does not use SIGCHLD.
 *
 * Input and output of a child are one UNIX socket, not two pipes, because a channel has only one descriptor. To end the
 * input of the child, the program shuts down one direction of the socket.
 */
#include "os/process.h"

#include "os/descriptor_limit.h"
#include "os/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3 /* of Linux 5.4 */
#endif
#ifndef SYS_close_range
#define SYS_close_range 436 /* of Linux 5.9 */
#endif

enum {
    /* bytes of the stack that a child uses until its own program is loaded */
    STACK_SIZE = 16 * 1024,
    /* the largest number of descriptors that the kernel allows by default: fs.nr_open */
    DESCRIPTORS_MAX = 1 << 20
};

_Static_assert(sizeof(struct rlimit) == 2 * sizeof(uint64_t), "as prlimit64 has it");
_Static_assert(PROCESS_TERMINATE == SIGTERM && PROCESS_KILL == SIGKILL, "numbers of Linux");

/*
 * The descriptors that the child gets for its streams: `io` becomes 0 and 1, `errors` becomes 2. A
 * descriptor of -1: the stream is not connected to this program.
 */
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

/*
 * Makes a stream of two descriptors. This program keeps `ours`, which is non-blocking; the child gets `theirs`, which
 * blocks. Neither number is 0, 1 or 2.
 */
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

/* ---- The child, until its program is loaded. ---- */

/*
 * The child shares the memory of this program until its own program is loaded. Until then the
 * thread that has started the child waits. The child only makes system calls. It calls no function
 * of the C library, because such a function may need a lock that another thread holds, or change
 * data that this program also uses.
 */
struct birth {
    const tr_process_spec *spec;
    struct ends ends;
    char *const *environment;
    /* the directories in which the program is looked for; NULL: the program's name has a '/' */
    const char *path;
    pid_t parent;
    long error; /* why the program was not loaded */
    /* descriptors to close if the kernel has no close_range and there is no /proc */
    unsigned descriptors_max;
    bool has_limit; /* the child gets `limit` as its limit of descriptors */
    struct rlimit limit;
    /* A buffer: first for the entries of /proc/self/fd, later for a directory of PATH and the program's name. */
    _Alignas(8) char file[PATH_MAX];
    _Alignas(16) char stack[STACK_SIZE];
};

#define IN_CHILD __attribute__((__no_sanitize__("address"), __no_sanitize__("thread")))

/* Sets up descriptor `fd` of the child, as `stream` says. */
IN_CHILD static long stream_set(tr_process_stream stream, int end, int fd)
{
    long from;
    switch (stream) {
    case TR_PROCESS_CHANNEL:
        return os_call(SYS_dup3, end, fd, 0, 0, 0, 0);
    case TR_PROCESS_NOTHING:
        from = os_call(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0, 0);
        return from < 0 || from == fd ? from : os_call(SYS_dup3, from, fd, 0, 0, 0, 0);
    case TR_PROCESS_WITH_OUTPUT:
        return os_call(SYS_dup3, STDOUT_FILENO, fd, 0, 0, 0, 0);
    case TR_PROCESS_INHERIT:
    case TR_PROCESS_DEFAULT:
        break;
    }
    return 0;
}

/* An entry of a directory, as getdents64 returns it. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t size;
    unsigned char type;
    char name[];
};

/* Returns the number in the name of an entry of /proc/self/fd. Returns 0 if the name is no number. */
IN_CHILD static long number_of(const struct entry *entry)
{
    long number = 0;
    for (const char *at = entry->name; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (*at - '0');
    return number;
}

/*
 * Closes all descriptors from 3 on that /proc lists. Returns false if /proc lists no descriptors.
 */
IN_CHILD static bool listed_close(struct birth *birth)
{
    long size;
    long list = os_call(
        SYS_openat, AT_FDCWD, (long)"/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
    if (list < 0)
        return false;
    while ((size = os_call(SYS_getdents64, list, (long)birth->file, sizeof birth->file, 0, 0, 0)) >
           0) {
        const struct entry *entry;
        for (long at = 0; at < size; at += entry->size) {
            entry = (const struct entry *)(const void *)(birth->file + at);
            long fd = number_of(entry);
            if (fd > STDERR_FILENO && fd != list)
                (void)os_call(SYS_close, fd, 0, 0, 0, 0, 0);
        }
    }
    (void)os_call(SYS_close, list, 0, 0, 0, 0, 0);
    return size == 0;
}

/*
 * Closes all descriptors of the child except 0, 1 and 2, because libraries may have opened some that are not
 * close-on-exec. Kernels before 5.9, and some containers, have no close_range.
 */
IN_CHILD static void others_close(struct birth *birth)
{
    if (os_call(SYS_close_range, STDERR_FILENO + 1, (long)~0U, 0, 0, 0, 0) == 0 ||
        listed_close(birth))
        return;
    for (unsigned fd = STDERR_FILENO + 1; fd < birth->descriptors_max; fd++)
        (void)os_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

/*
 * Resets the signals that the child would inherit as blocked or ignored: the runtime's threads
 * block some, and the program may ignore some.
 */
IN_CHILD static void signals_reset(void)
{
    enum { SIGNALS = 64, SET_BYTES = SIGNALS / 8 };
    /* Zeros stand for a struct sigaction of the kernel with SIG_DFL, and for an empty set of signals. */
    const long usual[8] = {0};
    for (int signal = 1; signal <= SIGNALS; signal++)
        (void)os_call(SYS_rt_sigaction, signal, (long)usual, 0, SET_BYTES, 0, 0);
    (void)os_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)usual, 0, SET_BYTES, 0, 0);
}

/* Makes the kernel kill the child when the thread that starts it ends. */
IN_CHILD static long tie(const struct birth *birth)
{
    if (birth->spec->outlives)
        return 0;
    long result = os_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    if (result == 0 && os_call(SYS_getppid, 0, 0, 0, 0, 0, 0) != birth->parent)
        /* the parent ended before prctl, and the kernel gives the signal only for a later end */
        return -ESRCH;
    return result;
}

/*
 * Loads the program from the first directory of *path, and moves *path behind that directory.
 * Returns on failure only: a negative error number.
 */
IN_CHILD static long load_from(struct birth *birth, const char **path)
{
    size_t size = 0;
    for (; **path && **path != ':'; ++*path) {
        if (size < sizeof birth->file - 2)
            birth->file[size++] = **path;
    }
    if (size) /* an empty directory in PATH means the working directory, so no '/' is needed */
        birth->file[size++] = '/';
    for (const char *at = birth->spec->program; *at; at++) {
        if (size >= sizeof birth->file - 1)
            return -ENAMETOOLONG;
        birth->file[size++] = *at;
    }
    birth->file[size] = '\0';
    return os_call(SYS_execve,
                   (long)birth->file,
                   (long)birth->spec->arguments,
                   (long)birth->environment,
                   0,
                   0,
                   0);
}

/* Loads the program, as execvp would. Returns on failure only: a negative error number. */
IN_CHILD static long load(struct birth *birth)
{
    const char *path = birth->path;
    if (!path)
        return os_call(SYS_execve,
                       (long)birth->spec->program,
                       (long)birth->spec->arguments,
                       (long)birth->environment,
                       0,
                       0,
                       0);
    long found = -ENOENT;
    for (;;) {
        long result = load_from(birth, &path);
        if (result == -EACCES)
            /* a later directory may have a program of this name that can be loaded */
            found = result;
        else if (result != -ENOENT && result != -ENOTDIR && result != -ENAMETOOLONG &&
                 result != -ESTALE && result != -ENODEV && result != -ETIMEDOUT)
            return result;
        if (!*path)
            return found;
        path++;
    }
}

/*
 * All that the child does before its program is loaded. Returns only if the program could not be loaded: a negative
 * error number.
 */
IN_CHILD static long live(struct birth *birth)
{
    const tr_process_spec *spec = birth->spec;
    signals_reset();
    long result = tie(birth);
    if (result >= 0 && !spec->shares_group)
        result = os_call(SYS_setpgid, 0, 0, 0, 0, 0, 0);
    if (result >= 0 && spec->directory)
        result = os_call(SYS_chdir, (long)spec->directory, 0, 0, 0, 0, 0);
    if (result >= 0)
        result = stream_set(spec->input, birth->ends.io, STDIN_FILENO);
    if (result >= 0)
        result = stream_set(spec->output, birth->ends.io, STDOUT_FILENO);
    if (result >= 0)
        result = stream_set(spec->errors, birth->ends.errors, STDERR_FILENO);
    if (result < 0)
        return result;
    others_close(birth);
    if (birth->has_limit) /* lowering a limit never fails */
        (void)os_call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&birth->limit, 0, 0, 0);
    return load(birth);
}

IN_CHILD static int child_main(void *context)
{
    struct birth *birth = context;
    birth->error = live(birth);
    return 127;
}

/* ---- Starting. ---- */

static void birth_fill(struct birth *birth, const tr_process_spec *spec, const struct ends *ends)
{
    struct rlimit limit;
    birth->spec = spec;
    birth->ends = *ends;
    birth->environment = spec->environment ? (char *const *)(uintptr_t)spec->environment : environ;
    birth->parent = getpid();
    birth->descriptors_max =
        getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS_MAX
            ? (unsigned)limit.rlim_cur
            : DESCRIPTORS_MAX;
    birth->has_limit = tr__descriptor_limit_of_child(&birth->limit);
    if (strchr(spec->program, '/'))
        return;
    birth->path = getenv("PATH");
    if (!birth->path)
        birth->path = "/bin:/usr/bin";
}

#ifdef __SANITIZE_THREAD__
/*
 * ThreadSanitizer replaces clone. Its clone treats the child as one of fork, and afterwards ignores
 * what the calling thread synchronises. So call the clone of the C library.
 */
int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
#define clone __clone
#endif

/*
 * Makes a process, and waits until its program is loaded or has failed to load. Returns 0 or an
 * error number.
 */
static int spawn(const tr_process_spec *spec, const struct ends *ends, pid_t *pid)
{
    sigset_t all;
    sigset_t before;
    struct birth *birth = mmap(NULL,
                               sizeof *birth,
                               PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
                               -1,
                               0);
    if (birth == MAP_FAILED)
        return ENOMEM;
    birth_fill(birth, spec, ends);
    (void)sigfillset(&all);
    /* block all signals, because a signal handler of this program must not run in the child */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    *pid = clone(
        child_main, birth->stack + sizeof birth->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, birth);
    int error = *pid < 0 ? errno : (int)-birth->error;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (*pid >= 0 && error) {
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    (void)munmap(birth, sizeof *birth);
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
    /* this program has not reaped the process yet, so no other group can have the same number */
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
