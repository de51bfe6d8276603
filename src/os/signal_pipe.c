/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Each signal has an entry in `takers`. Its handler writes the number of the signal into the pipe of the entry. Rules:
 * 1. takers[n].pipe is the writing end of the pipe for signal n, plus 1; 0: nobody has taken the signal. Handlers read
 *    it without the lock.
 * 2. A handler counts itself in `handlers` before it reads the pipe. A pipe is first removed from
 *    all entries. It is closed after that, when `handlers` was 0 once. So no handler writes to a
 *    descriptor whose number has got another use.
 * 3. All other data are written under takers_lock.
 */
#include "os/signal_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "os/atomic.h"
#include "os/lock.h"

enum { SIGNALS = 65 }; /* one entry for each signal of Linux, 1 to 64, and an unused one for 0 */

struct taker {
    atom32 pipe;    /* rule 1 */
    int fd;         /* the reading end, if `pipe` is set */
    uint32_t claim; /* how many runners have claimed the signal */
    struct sigaction before;
};

static struct taker takers[SIGNALS];
static atom32 handlers;
static struct lock takers_lock;

static void on_signal(int signal)
{
    int error = errno;
    atom32_fetch_add(&handlers, 1, ATOM_SEQ_CST);
    uint32_t pipe = atom32_load(&takers[signal].pipe, ATOM_SEQ_CST);
    if (pipe) {
        unsigned char number = (unsigned char)signal;
        /*
         * If the pipe is full, the signal is lost. That is allowed, because the kernel, too, may merge several signals
         * with the same number into one.
         */
        ssize_t size = write((int)pipe - 1, &number, 1);
        (void)size;
    }
    atom32_fetch_sub(&handlers, 1, ATOM_SEQ_CST);
    errno = error;
}

tr_status tr__signal_may_be_taken(int signal)
{
    switch (signal) {
    case SIGKILL:
    case SIGSTOP:
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGSYS:
    case SIGPROF:
    case SIGCHLD: /* process_reap needs the default action of SIGCHLD */
        return TR_NOT_PERMITTED;
    default:
        /* the C library keeps the first real-time signals, from 32 to SIGRTMIN - 1, for itself */
        return signal > 0 && signal < SIGNALS && (signal < 32 || signal >= SIGRTMIN)
                   ? TR_OK
                   : TR_INVALID_ARGUMENT;
    }
}

/* Restores the action of a signal that nobody takes any more. Under the lock. */
static void give_back(int signal)
{
    (void)sigaction(signal, &takers[signal].before, NULL);
    atom32_store(&takers[signal].pipe, 0, ATOM_SEQ_CST);
}

static tr_status take(int signal, const int pipe[2])
{
    struct taker *taker = &takers[signal];
    tr_status status = tr__signal_may_be_taken(signal);
    if (status != TR_OK)
        return status;
    if (taker->claim || atom32_load(&taker->pipe, ATOM_RELAXED))
        return TR_NAME_EXISTS;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
    (void)sigemptyset(&action.sa_mask);
    taker->fd = pipe[0];
    atom32_store(&taker->pipe, (uint32_t)pipe[1] + 1, ATOM_SEQ_CST);
    if (sigaction(signal, &action, &taker->before) == 0)
        return TR_OK;
    atom32_store(&taker->pipe, 0, ATOM_SEQ_CST);
    return TR_INVALID_ARGUMENT;
}

/* Waits until all handlers that may have read an entry before this call have returned: rule 2. */
static void wait_for_handlers(void)
{
    while (atom32_load(&handlers, ATOM_SEQ_CST))
        (void)sched_yield();
}

tr_status tr__real_signals_open(const tr_platform *platform, const int *signals, size_t count,
                                int *fd)
{
    (void)platform;
    int pipe[2];
    if (!count)
        return TR_INVALID_ARGUMENT;
    if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return TR_LIMIT;
    tr_status status = TR_OK;
    size_t taken = 0;
    lock_take(&takers_lock);
    while (taken < count && status == TR_OK) {
        status = take(signals[taken], pipe);
        taken += status == TR_OK;
    }
    for (size_t i = 0; status != TR_OK && i < taken; i++)
        give_back(signals[i]);
    lock_give(&takers_lock);
    if (status == TR_OK) {
        *fd = pipe[0];
        return TR_OK;
    }
    wait_for_handlers();
    (void)close(pipe[0]);
    (void)close(pipe[1]);
    return status;
}

tr_status tr__real_signals_read(const tr_platform *platform, int fd, int *signal)
{
    (void)platform;
    unsigned char number;
    ssize_t size;
    do {
        size = read(fd, &number, 1);
    } while (size < 0 && errno == EINTR);
    if (size != 1)
        return TR_WOULD_BLOCK;
    *signal = number;
    return TR_OK;
}

void tr__real_signals_close(const tr_platform *platform, int fd)
{
    (void)platform;
    int writing = -1;
    lock_take(&takers_lock);
    for (int signal = 1; signal < SIGNALS; signal++) {
        uint32_t pipe = atom32_load(&takers[signal].pipe, ATOM_RELAXED);
        if (!pipe || takers[signal].fd != fd)
            continue;
        writing = (int)pipe - 1;
        give_back(signal);
    }
    lock_give(&takers_lock);
    wait_for_handlers();
    (void)close(fd);
    if (writing >= 0)
        (void)close(writing);
}

tr_status tr__signal_claim(int signal)
{
    struct taker *taker = &takers[signal];
    lock_take(&takers_lock);
    bool is_taken = atom32_load(&taker->pipe, ATOM_RELAXED);
    taker->claim += !is_taken;
    lock_give(&takers_lock);
    return is_taken ? TR_NAME_EXISTS : TR_OK;
}

void tr__signal_unclaim(int signal)
{
    lock_take(&takers_lock);
    takers[signal].claim--;
    lock_give(&takers_lock);
}
