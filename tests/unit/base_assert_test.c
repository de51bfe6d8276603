/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Assertions.
 */
#include "base/assert.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;

static bool increment(void)
{
    count++;
    return true;
}

TEST(a_true_condition_is_evaluated_once, "")
{
    TR_ASSERT(increment());
    ck_assert_int_eq(count, 1);
}

TEST(a_slow_condition_is_evaluated_in_debug_builds_only, "")
{
    TR_ASSERT_SLOW(increment());
#ifdef TR_DEBUG
    ck_assert_int_eq(count, 1);
#else
    ck_assert_int_eq(count, 0);
#endif
}

TEST_ABORTS(a_false_condition_aborts, "")
{
    TR_ASSERT(count == 1);
}

TEST(a_failure_names_its_place_and_text, "")
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        tr__assert_failed("a.c", 12, "f", "x > 0");
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGABRT);
    char text[256] = {0};
    ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
    const char *expected = "a.c:12: f: assertion failed: x > 0\n";
    ck_assert_int_eq(strncmp(text, expected, strlen(expected)), 0);
    close(ends[0]);
    close(ends[1]);
}

SUITE("base assert", a_true_condition_is_evaluated_once,
      a_slow_condition_is_evaluated_in_debug_builds_only, a_false_condition_aborts,
      a_failure_names_its_place_and_text)
