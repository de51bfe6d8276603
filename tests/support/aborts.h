/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of assertions: runs what must fail one in a process of its own, and compares what that process said. A
 * test that only waits for SIGABRT passes for any other assertion, too.
 */
#ifndef TESTS_SUPPORT_ABORTS_H
#define TESTS_SUPPORT_ABORTS_H

#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Which builds check an assertion: TR_ASSERT or TR_ASSERT_SLOW. */
enum asserts { ALWAYS, IN_DEBUG_BUILDS };

static inline bool assertion_fires(enum asserts asserts)
{
#ifdef TR_DEBUG
    (void)asserts;
    return true;
#else
    return asserts == ALWAYS;
#endif
}

/*
 * Calls breach(context) in another process. There the assertion `condition` of this function must fail; where the
 * build does not check it, the call must end quietly.
 */
static inline void expect_assertion(void (*breach)(void *context), void *context,
                                    enum asserts asserts, const char *function,
                                    const char *condition)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL); /* Check would take it for its own */
        breach(context);
        _exit(0);
    }
    close(ends[1]);
    char text[512] = {0};
    size_t length = 0;
    ssize_t count;
    while ((count = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)count;
    close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (!assertion_fires(asserts)) {
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "ended by \"%s\"", text);
        return;
    }
    char expected[256];
    snprintf(expected, sizeof expected, " %s: assertion failed: %s\n", function, condition);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "\"%s\"", text);
    ck_assert_msg(strstr(text, expected), "not \"%s\" but \"%s\"", expected, text);
}

#endif
