/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The lock of a file: one holder, and nobody keeps it by chance.
 */
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static char directory[] = "/tmp/troupe-lock-XXXXXX";
static char path[64];

static void path_make(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/lock", directory);
}

static void path_drop(void)
{
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}

TEST(a_second_holder_is_refused_also_in_the_same_process, "PE-16")
{
    int first;
    int second;
    path_make();
    ck_assert_int_eq(tr__os_file_lock(path, &first, NULL), TR_OK);
    ck_assert_int_eq(tr__os_file_lock(path, &second, NULL), TR_STORE_BUSY);
    tr__os_file_unlock(first);
    ck_assert_int_eq(tr__os_file_lock(path, &second, NULL), TR_OK);
    tr__os_file_unlock(second);
    path_drop();
}

TEST(a_forked_child_does_not_keep_what_its_parent_gives_back, "PE-16")
{
    int fd;
    int ends[2];
    char byte;
    path_make();
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(tr__os_file_lock(path, &fd, NULL), TR_OK);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1); /* until its parent has closed it */
    }
    int again;
    ck_assert_int_eq(tr__os_file_lock(path, &again, NULL), TR_STORE_BUSY);
    tr__os_file_unlock(fd);
    ck_assert_int_eq(tr__os_file_lock(path, &again, NULL), TR_OK);
    tr__os_file_unlock(again);
    close(ends[1]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    path_drop();
}

SUITE("os file lock", a_second_holder_is_refused_also_in_the_same_process,
      a_forked_child_does_not_keep_what_its_parent_gives_back)
