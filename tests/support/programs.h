/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs other programs, for cases about what they do to our files. A program shares nothing with the test: neither the
 * locks of a process that was forked nor the memory of a library that knows of them.
 */
#ifndef TROUPE_TESTS_SUPPORT_PROGRAMS_H
#define TROUPE_TESTS_SUPPORT_PROGRAMS_H

#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAM_MISSING = 127, PROGRAM_OUTPUT = 4096 };

/** Runs a program, found by $PATH, and gives its exit status; what it wrote to both outputs is in `output`. */
static inline int program_run(const char *const argv[], char output[PROGRAM_OUTPUT])
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    (void)fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execvp(argv[0], (char *const *)(const void *)argv);
        _exit(PROGRAM_MISSING);
    }
    (void)close(ends[1]);
    size_t size = 0;
    ssize_t got;
    while ((got = read(ends[0], output + size, PROGRAM_OUTPUT - 1 - size)) > 0)
        size += (size_t)got;
    output[size] = '\0';
    (void)close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "%s was ended by signal %d", argv[0], WTERMSIG(status));
    return WEXITSTATUS(status);
}

/** Runs the tool of SQLite on a file. It must be there: the case would prove nothing without it. */
static inline int program_sqlite(const char *file, const char *sql, char output[PROGRAM_OUTPUT])
{
    const char *const argv[] = {"sqlite3", "-batch", file, sql, NULL};
    int status = program_run(argv, output);
    ck_assert_msg(status != PROGRAM_MISSING,
                  "the program sqlite3 is missing; tools/bootstrap installs it");
    return status;
}

/**
 * Runs one case of this program again, as a process of its own, with $TROUPE_TEST_PATH set to `path`. Gives whether it
 * passed. The case finds out by program_path which of the two it is.
 */
static inline bool program_again(const char *name, const char *path, char output[PROGRAM_OUTPUT])
{
    const char *const argv[] = {"/proc/self/exe", name, NULL};
    ck_assert_int_eq(setenv("TROUPE_TEST_PATH", path, 1), 0);
    int status = program_run(argv, output);
    ck_assert_int_eq(unsetenv("TROUPE_TEST_PATH"), 0);
    return status == 0;
}

/** The path that program_again was given; NULL: this is not the process that it has started. */
static inline const char *program_path(void)
{
    return getenv("TROUPE_TEST_PATH");
}

#endif
