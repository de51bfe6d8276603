/* SPDX-License-Identifier: Apache-2.0 */
#include "os/signals.h"

#include "base/assert.h"
#include "os/memory.h"
#include "os/signal_pipe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct signals {
    int fd;
    sigset_t before;
};

/*
 * Claims SIGINT, SIGTERM and SIGQUIT, so that no actor can take them. TR_NAME_EXISTS: an actor has one of them already.
 */
static tr_status claim(void)
{
    tr_status status = tr__signal_claim(SIGINT);
    if (status != TR_OK)
        return status;
    status = tr__signal_claim(SIGTERM);
    if (status != TR_OK)
        tr__signal_unclaim(SIGINT);
    return status;
}

static void unclaim(void)
{
    tr__signal_unclaim(SIGINT);
    tr__signal_unclaim(SIGTERM);
}

tr_status tr__signals_open(struct signals **signals)
{
    tr_status claimed = claim();
    if (claimed != TR_OK)
        return claimed;
    struct signals *made = tr__os_resize(NULL, sizeof *made);
    if (!made) {
        unclaim();
        return TR_NO_MEMORY;
    }
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGQUIT);
    made->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (made->fd < 0) {
        tr_status status = errno == ENOMEM ? TR_NO_MEMORY : TR_LIMIT;
        unclaim();
        tr__os_resize(made, 0);
        return status;
    }
    int masked = pthread_sigmask(SIG_BLOCK, &set, &made->before);
    TR_ASSERT(masked == 0);
    *signals = made;
    return TR_OK;
}

void tr__signals_close(struct signals *signals)
{
    if (!signals)
        return;
    /*
     * Read all pending signals. When a signal is unblocked while it is pending, it ends the
     * process.
     */
    while (tr__signals_read(signals))
        ;
    int masked = pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
    TR_ASSERT(masked == 0);
    (void)close(signals->fd);
    unclaim();
    tr__os_resize(signals, 0);
}

int tr__signals_fd(const struct signals *signals)
{
    return signals->fd;
}

bool tr__signal_is_quit(int signal)
{
    return signal == SIGQUIT;
}

int tr__signals_read(struct signals *signals)
{
    struct signalfd_siginfo info;
    ssize_t size;
    do {
        size = read(signals->fd, &info, sizeof info);
    } while (size < 0 && errno == EINTR);
    return size == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void tr__signals_exit(int signal)
{
    _exit(128 + signal);
}
