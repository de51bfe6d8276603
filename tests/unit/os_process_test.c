/* SPDX-License-Identifier: Apache-2.0 */
/** What a child inherits of descriptors, on a kernel without close_range. */
#include "support/test.h"

#include <troupe/platform.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FAR = 900, PATIENCE_MS = 20000 };

/* Has a system call fail as on a kernel without it. */
static void lose_call(uint32_t number)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        test_skip("the kernel takes no seccomp filter");
}

/* Runs a child that counts its descriptors: the three, and that of its look. */
static int descriptors_of_child(void)
{
    const tr_platform *platform = tr_platform_real();
    const char *const arguments[] = {"sh", "-c", "ls /proc/self/fd | wc -l", NULL};
    const tr_process_spec spec = {.size = sizeof spec,
                                  .program = "sh",
                                  .arguments = (const char **)(uintptr_t)arguments,
                                  .input = TR_PROCESS_NOTHING,
                                  .output = TR_PROCESS_CHANNEL,
                                  .errors = TR_PROCESS_NOTHING};
    tr_process_handle process;
    tr_process_exit how;
    char text[64] = "";
    ck_assert_int_eq(platform->process_start(platform, &spec, &process), TR_OK);
    struct pollfd output = {.fd = process.io, .events = POLLIN};
    ck_assert_int_eq(poll(&output, 1, PATIENCE_MS), 1);
    ck_assert_int_gt(read(process.io, text, sizeof text - 1), 0);
    ck_assert_int_eq(platform->process_reap(platform, &process, PATIENCE_MS * TR_MILLISECOND, &how),
                     TR_OK);
    ck_assert_int_eq(how.code, 0);
    close(process.io);
    close(process.fd);
    return atoi(text);
}

TEST(a_kernel_without_close_range_leaves_no_descriptors_to_a_child, "C-17")
{
    const struct rlimit low = {.rlim_cur = FAR / 2, .rlim_max = FAR / 2};
    ck_assert_int_eq(dup2(open("/dev/null", O_RDONLY), FAR), FAR); /* NOLINT: on purpose */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0); /* a limit says nothing of what is open */
    ck_assert_int_eq(descriptors_of_child(), 4);
    lose_call(SYS_close_range);
    ck_assert_int_eq(descriptors_of_child(), 4);
}

SUITE("os processes", a_kernel_without_close_range_leaves_no_descriptors_to_a_child)
