/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The keeper: a parent process that starts the bank again when it is killed, as systemd or a container would. It has no
 * threads and no actors. It waits longer after each death, from 0.1 s to 5 s, unless the bank has lived for ten seconds.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "program.h"

enum { FIRST_WAIT_MS = 100, LONGEST_WAIT_MS = 5000, GOOD_LIFE_S = 10 };

struct shared *shared_new(void)
{
    void *memory = mmap(
        NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static time_t seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Ctrl-Z: the child, which is in another process group, stands and continues with the keeper. No child: 0. */
static void stand_still(pid_t child)
{
    if (child)
        kill(child, SIGSTOP);
    raise(SIGSTOP);
    if (child)
        kill(child, SIGCONT);
}

/* Waits for the end of the child, which is in a process group of its own: Ctrl-C comes here, and is passed on once. */
static int wait_for(pid_t child, const sigset_t *signals, bool *is_to_stop)
{
    int status;
    for (;;) {
        int signal = sigwaitinfo(signals, NULL);
        if (signal == SIGINT || signal == SIGTERM) {
            *is_to_stop = true;
            kill(child, signal);
        } else if (signal == SIGTSTP) {
            stand_still(child);
        }
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
    }
}

/* Rests before the next start. Returns false if a signal came meanwhile. */
static bool rest(const sigset_t *signals, int ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    int signal;
    do {
        signal = sigtimedwait(signals, NULL, &left);
        if (signal == SIGTSTP)
            stand_still(0);
    } while (signal == SIGCHLD || signal == SIGTSTP || (signal < 0 && errno == EINTR));
    return signal < 0;
}

/* The child ends in order when the keeper is killed. */
static void become_child(pid_t keeper, const sigset_t *signals)
{
    setpgid(0, 0);
    sigprocmask(SIG_UNBLOCK, signals, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != keeper)
        raise(SIGTERM);
}

int keep(struct shared *shared)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGTSTP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    pid_t keeper = getpid();
    int wait_ms = FIRST_WAIT_MS;
    bool is_to_stop = false;
    for (;;) {
        time_t begin = seconds_now();
        shared->starts++;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            become_child(keeper, &signals);
            return -1;
        }
        if (child < 0) {
            fprintf(stderr, "the bank cannot be started: %s\n", strerror(errno));
            return 1;
        }
        int status = wait_for(child, &signals, &is_to_stop);
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        if (is_to_stop)
            return 128 + WTERMSIG(status);
        if (seconds_now() - begin >= GOOD_LIFE_S)
            wait_ms = FIRST_WAIT_MS;
        printf("-- the bank was killed by signal %d; it starts again in %d.%d s\n",
               WTERMSIG(status),
               wait_ms / 1000,
               wait_ms % 1000 / 100);
        if (!rest(&signals, wait_ms))
            return 0;
        wait_ms = 2 * wait_ms < LONGEST_WAIT_MS ? 2 * wait_ms : LONGEST_WAIT_MS;
    }
}
