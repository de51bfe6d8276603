/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SIGINT and SIGTERM through a descriptor; what was before is restored.
 */
#include "support/test.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/signals.h"

static bool is_readable(const struct signals *signals)
{
    struct pollfd poll_fd = {.fd = tr__signals_fd(signals), .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 1;
}

static bool is_blocked(int signal)
{
    sigset_t set;
    ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &set), 0);
    return sigismember(&set, signal) == 1;
}

TEST(signals_wait_to_be_read, "")
{
    struct signals *signals;
    ck_assert_int_eq(tr__signals_open(&signals), TR_OK);
    ck_assert(!is_readable(signals));
    ck_assert_int_eq(tr__signals_read(signals), 0);
    ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
    ck_assert(is_readable(signals));
    ck_assert_int_eq(tr__signals_read(signals), SIGTERM);
    ck_assert_int_eq(tr__signals_read(signals), 0);
    ck_assert_int_eq(kill(getpid(), SIGINT), 0);
    ck_assert_int_eq(tr__signals_read(signals), SIGINT);
    ck_assert(!is_readable(signals));
    tr__signals_close(signals);
}

TEST(close_restores_the_mask_and_forgets_what_waits, "")
{
    struct signals *signals;
    ck_assert(!is_blocked(SIGINT));
    ck_assert_int_eq(tr__signals_open(&signals), TR_OK);
    ck_assert(is_blocked(SIGINT));
    ck_assert(is_blocked(SIGTERM));
    ck_assert_int_eq(kill(getpid(), SIGTERM), 0);
    tr__signals_close(signals); /* Else this process would end here. */
    ck_assert(!is_blocked(SIGINT));
    ck_assert(!is_blocked(SIGTERM));
    tr__signals_close(NULL);
}

TEST(exit_has_the_status_of_a_signal, "")
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        tr__signals_exit(SIGINT);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 130);
}

SUITE("os signals", signals_wait_to_be_read, close_restores_the_mask_and_forgets_what_waits,
      exit_has_the_status_of_a_signal)
