/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The real platform apart from its parker: clocks, randomness, memory, log, CPUs, threads.
 */
#include <troupe/platform.h>
#include <troupe/system.h>

#include "os/cpu.h"
#include "os/memory.h"
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(the_table_is_complete, "")
{
    const tr_platform *real = tr_platform_real();
    ck_assert_uint_eq(real->size, sizeof(tr_platform));
    const unsigned char *bytes = (const unsigned char *)real;
    const unsigned char none[sizeof(void *)] = {0};
    for (size_t at = sizeof(size_t); at < sizeof *real; at += sizeof none)
        ck_assert_int_ne(memcmp(bytes + at, none, sizeof none), 0);
}

TEST(the_clock_never_goes_back, "")
{
    const tr_platform *real = tr_platform_real();
    tr_time first = real->mono_now(real);
    tr_time last = first;
    for (int i = 0; i < 100000; i++) {
        tr_time now = real->mono_now(real);
        ck_assert_int_ge(now, last);
        last = now;
    }
    ck_assert_int_gt(last, first);
    ck_assert_int_gt(real->wall_now(real), INT64_C(1700000000) * TR_SECOND);
}

TEST(random_bits_differ, "")
{
    const tr_platform *real = tr_platform_real();
    ck_assert_uint_ne(real->random(real), real->random(real));
}

TEST(resize_is_realloc, "")
{
    const tr_platform *real = tr_platform_real();
    char *memory = real->resize(real, NULL, 3);
    ck_assert_ptr_nonnull(memory);
    memcpy(memory, "ab", 3);
    memory = real->resize(real, memory, 100000);
    ck_assert_str_eq(memory, "ab");
    ck_assert_ptr_null(real->resize(real, memory, 0));
    ck_assert_ptr_null(real->resize(real, NULL, 0));
}

TEST(advice_leaves_memory_as_it_is, "")
{
    const size_t sizes[] = {1, 4096, (size_t)4 << 20, ((size_t)9 << 20) + 5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *memory = tr__os_resize(NULL, sizes[i]);
        ck_assert_ptr_nonnull(memory);
        memset(memory, 7, sizes[i]);
        tr__os_advise_huge(memory, sizes[i]);
        ck_assert_uint_eq(memory[0] + memory[sizes[i] - 1], 14);
        tr__os_resize(memory, 0);
    }
}

/* Piece by piece, until the end and not beyond, from whatever address; more often than it waits. */
TEST(memory_is_made_ready_in_pieces_and_left_as_it_is, "")
{
    const size_t sizes[] = {1, 40, 4096, 100000, (size_t)4 << 20, ((size_t)9 << 20) + 5};
    for (size_t round = 0; round < 60; round++) {
        size_t size = sizes[round % (sizeof sizes / sizeof *sizes)];
        unsigned char *memory = tr__os_resize(NULL, size + 100);
        ck_assert_ptr_nonnull(memory);
        memory[0] = memory[size - 1] = memory[size + 99] = 7;
        size_t pieces = 0;
        for (size_t at = round % 100 < size ? round % 100 : 0; at < size; pieces++) {
            size_t ready = tr__os_memory_ready(memory + at, size - at);
            ck_assert_uint_gt(ready, 0);
            ck_assert_uint_le(ready, size - at);
            ck_assert_uint_le(ready, ((size_t)2 << 20) + tr__os_page_size());
            memory[at + ready - 1] = 7;
            at += ready;
        }
        ck_assert_uint_le(pieces, 3 + size / (64 * 1024));
        ck_assert_int_eq(memory[0] + memory[size - 1] + memory[size + 99], 21);
        tr__os_resize(memory, 0);
    }
}

TEST(a_slab_of_stacks_beyond_reason_is_refused, "U-03")
{
    enum os_guard guard;
    ck_assert_ptr_null(tr__os_stack_slab(0, 65536, &guard));
    ck_assert_ptr_null(tr__os_stack_slab(1, 0, &guard));
    ck_assert_ptr_null(tr__os_stack_slab(1, 1000, &guard));
    ck_assert_ptr_null(tr__os_stack_slab(SIZE_MAX / 2, 65536, &guard));
    ck_assert_ptr_null(tr__os_stack_slab((size_t)1 << 44, 65536, &guard));
    ck_assert_ptr_null(tr__os_stack_slab(2, (size_t)1 << 62, &guard));
    tr__os_stack_slab_free(NULL, 1, 65536, OS_GUARD_NONE);
}

/* What a call of the log leaves on standard error, without the time in front. */
static const char *log_line(tr_level level, const char *path, const char *text)
{
    static char line[8192];
    const tr_platform *real = tr_platform_real();
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    int saved = dup(STDERR_FILENO);
    ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
    real->log(real, level, path, text);
    ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
    close(saved);
    ssize_t length = pread(fileno(file), line, sizeof line - 1, 0);
    ck_assert_int_gt(length, 28);
    line[length] = '\0';
    (void)fclose(file);
    return line;
}

TEST(a_log_line_has_time_level_path_and_text, "")
{
    char today[16];
    char tomorrow[16]; /* Should midnight pass during the test. */
    time_t now = (time_t)(tr_platform_real()->wall_now(tr_platform_real()) / TR_SECOND);
    struct tm date;
    (void)strftime(today, sizeof today, "%Y-%m-%dT", gmtime_r(&now, &date));
    const char *line = log_line(TR_LEVEL_WARN, "/user/a", "two\nlines");
    now += 60;
    (void)strftime(tomorrow, sizeof tomorrow, "%Y-%m-%dT", gmtime_r(&now, &date));
    ck_assert(strncmp(line, today, 11) == 0 || strncmp(line, tomorrow, 11) == 0);
    ck_assert_int_eq(line[26], 'Z');
    ck_assert_str_eq(line + 28, "WARN  /user/a: two lines\n");
    ck_assert_str_eq(log_line(TR_LEVEL_ERROR, NULL, "text") + 28, "ERROR text\n");
    ck_assert_str_eq(log_line((tr_level)77, NULL, "text") + 28, "? text\n");
}

TEST(a_log_line_that_is_too_long_is_cut, "")
{
    static char text[10000];
    memset(text, 'x', sizeof text - 1);
    const char *line = log_line(TR_LEVEL_INFO, NULL, text);
    size_t length = strlen(line);
    ck_assert_uint_le(length, 4096);
    ck_assert_str_eq(line + length - 5, "x...\n");
}

TEST(there_is_a_cpu, "")
{
    const tr_platform *real = tr_platform_real();
    ck_assert_uint_ge(real->cpu_count(real), 1);
}

TEST(a_system_has_a_worker_for_each_cpu_it_may_use, "P-03")
{
    const tr_platform *real = tr_platform_real();
    const tr_system_options options = {.size = sizeof options};
    cpu_set_t all;
    cpu_set_t some;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&some);
    unsigned most = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && most < 3; cpu++) {
        tr_system *made;
        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_SET(cpu, &some);
        most++;
        ck_assert_int_eq(sched_setaffinity(0, sizeof some, &some), 0);
        /* A control group may allow less. */
        unsigned count = real->cpu_count(real);
        ck_assert_uint_ge(count, 1);
        ck_assert_uint_le(count, most);
        ck_assert_int_eq(tr_system_new(&options, &made), TR_OK);
        ck_assert_int_eq(tr_system_workers(made), (int)count);
        tr_system_free(made);
    }
}

static char root[256];

static void file_write(const char *path, const char *text)
{
    char full[512];
    (void)snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    (void)fclose(file);
}

static unsigned group_limit(const char *membership)
{
    char path[512];
    file_write("/membership", membership);
    (void)snprintf(path, sizeof path, "%s/membership", root);
    return tr__cpu_group_limit(path, root);
}

static void root_make(void)
{
    const char *parent = getenv("TMPDIR");
    (void)snprintf(root, sizeof root, "%s/os_real_test.XXXXXX", parent ? parent : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void root_remove(void)
{
    char command[512];
    (void)snprintf(command, sizeof command, "rm -r '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

TEST(the_limit_of_a_control_group_is_rounded_up, "P-03")
{
    root_make();
    file_write("/a/cpu.max", "150000 100000\n");
    file_write("/a/b/cpu.max", "max 100000\n");
    file_write("/a/b/c/cpu.max", "20000 100000\n");
    file_write("/full/cpu.max", "300000 100000\n");
    file_write("/odd/cpu.max", "-5 nonsense\n");
    ck_assert_uint_eq(group_limit("0::/a\n"), 2);
    ck_assert_uint_eq(group_limit("0::/a/b\n"), 2);
    ck_assert_uint_eq(group_limit("0::/a/b/c\n"), 1);
    ck_assert_uint_eq(group_limit("0::/full\n"), 3);
    ck_assert_uint_eq(group_limit("0::/odd\n"), 0);
    ck_assert_uint_eq(group_limit("0::/\n"), 0);
    ck_assert_uint_eq(group_limit("0::/elsewhere/on/the/host\n"), 0);
    ck_assert_uint_eq(group_limit("nonsense\n:\n::\n0::\n"), 0);
    ck_assert_uint_eq(tr__cpu_group_limit("/nowhere", root), 0);
    file_write("/cpu.max", "100000 100000\n");
    ck_assert_uint_eq(group_limit("0::/elsewhere/on/the/host\n"), 1);
    root_remove();
}

TEST(control_groups_of_version_1_are_understood, "P-03")
{
    root_make();
    file_write("/cpu/x/cpu.cfs_quota_us", "250000\n");
    file_write("/cpu/x/cpu.cfs_period_us", "100000\n");
    file_write("/cpu/y/cpu.cfs_quota_us", "-1\n");
    file_write("/cpu/y/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(group_limit("7:cpuset:/x\n4:cpu,cpuacct:/x\n"), 3);
    ck_assert_uint_eq(group_limit("4:cpuacct,cpu:/x\n1:name=systemd:/\n"), 3);
    ck_assert_uint_eq(group_limit("4:cpu,cpuacct:/y\n"), 0);
    ck_assert_uint_eq(group_limit("4:cpuacct:/x\n"), 0);
    root_remove();
}

TEST(a_long_list_of_control_groups_is_read_to_its_end, "P-03")
{
    static char list[40000];
    root_make();
    file_write("/a/cpu.max", "150000 100000\n");
    size_t length = 0;
    for (int i = 0; length < sizeof list - 200; i++)
        length += (size_t)snprintf(list + length, 200, "%d:name=%d:/%0*d\n", i + 1, i, i % 150, 0);
    (void)snprintf(list + length, 200, "0::/a\n");
    ck_assert_uint_eq(group_limit(list), 2);
    (void)snprintf(list + length, 200, "0::/a");
    ck_assert_uint_eq(group_limit(list), 2);
    root_remove();
}

struct seen {
    char name[32];
    sigset_t mask;
};

static void look_around(void *context)
{
    struct seen *seen = context;
    (void)pthread_getname_np(pthread_self(), seen->name, sizeof seen->name);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &seen->mask);
}

TEST(a_thread_has_its_name_and_no_signals, "")
{
    const tr_platform *real = tr_platform_real();
    struct seen seen;
    sigset_t before;
    sigset_t after;
    tr_thread *thread = NULL;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &before);
    ck_assert_int_eq(
        real->thread_start(real, "a name that is too long", look_around, &seen, &thread), TR_OK);
    real->yield(real);
    real->thread_join(real, thread);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);
    ck_assert_str_eq(seen.name, "a name that is ");
    ck_assert_int_eq(sigismember(&seen.mask, SIGTERM), 1);
    ck_assert_int_eq(sigismember(&seen.mask, SIGINT), 1);
    ck_assert_int_eq(sigismember(&seen.mask, SIGSEGV), 0);
    for (int number = 1; number < 32; number++)
        ck_assert_int_eq(sigismember(&before, number), sigismember(&after, number));
}

SUITE("os real", the_table_is_complete, the_clock_never_goes_back, random_bits_differ,
      resize_is_realloc, advice_leaves_memory_as_it_is,
      memory_is_made_ready_in_pieces_and_left_as_it_is, a_slab_of_stacks_beyond_reason_is_refused,
      a_log_line_has_time_level_path_and_text, a_log_line_that_is_too_long_is_cut, there_is_a_cpu,
      a_system_has_a_worker_for_each_cpu_it_may_use, the_limit_of_a_control_group_is_rounded_up,
      control_groups_of_version_1_are_understood, a_long_list_of_control_groups_is_read_to_its_end,
      a_thread_has_its_name_and_no_signals)
