/* SPDX-License-Identifier: Apache-2.0 */
/** Child processes that are real programs: sh, cat, sort, sleep. */
#include <troupe/process.h>

#include "support/real_net.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* ---- An actor that notes what comes from its child. ---- */

static char got[1 << 16]; /* written by the actor, read by the test after has_ended */
static size_t got_size;
static char errors_got[4096];
static struct tr_process_ended ended;
static sem_t has_ended;
static sem_t has_come;
static atomic_int ends;
static tr_channel child;
static int64_t child_pid;

static tr_next on_received(const struct tr_received *message)
{
    if (message->channel.bits == child.bits) {
        ck_assert_uint_lt(got_size + message->bytes.size, sizeof got);
        memcpy(got + got_size, message->bytes.data, message->bytes.size);
        got_size += message->bytes.size;
        got[got_size] = '\0';
    } else {
        ck_assert_uint_lt(message->bytes.size, sizeof errors_got);
        memcpy(errors_got, message->bytes.data, message->bytes.size);
    }
    sem_post(&has_come);
    return TR_SAME;
}

static tr_next on_ended(const struct tr_process_ended *message)
{
    ended = *message;
    atomic_fetch_add(&ends, 1);
    sem_post(&has_ended);
    return TR_SAME;
}

static tr_next on_closed(void)
{
    return TR_SAME;
}

TR_ACTOR(keeper, go);
TR_BEHAVIOR(keeper, void, TR_ON(go, on_go), TR_ON(tr_received, on_received),
            TR_ON(tr_process_ended, on_ended), TR_ON(tr_closed, on_closed));

static host_ref keeper;

static uint64_t keep(go_function *function)
{
    return go_in(keeper, function, 0);
}

static void await_one(sem_t *what)
{
    while (sem_wait(what) != 0)
        ck_assert_int_eq(errno, EINTR);
}

static void open_keeper(void)
{
    keeper_ref made;
    ck_assert_int_eq(sem_init(&has_ended, 0, 0), 0);
    ck_assert_int_eq(sem_init(&has_come, 0, 0), 0);
    real_open(2);
    ck_assert_int_eq(tr_try_spawn(real_client, &made, keeper, "keeper"), TR_OK);
    keeper.bits = made.bits;
}

/* No child is left, not even a zombie. */
static void close_keeper(void)
{
    real_close();
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}

#define START(name, ...)                                                                           \
    static uint64_t name(tr_self *self, uint64_t argument)                                         \
    {                                                                                              \
        (void)argument;                                                                            \
        child = tr_process_start(self, TR_PROCESS(__VA_ARGS__));                                   \
        child_pid = tr_process_id(self, child);                                                    \
        return 0;                                                                                  \
    }
#define SHELL(text) "sh", .arguments = TR_ARGUMENTS("-c", text)

/* Runs a child until its end. */
static void run_child(go_function *start)
{
    open_keeper();
    keep(start);
    await_one(&has_ended);
    ck_assert_int_eq(ended.status, TR_OK);
    close_keeper();
    ck_assert_int_eq(atomic_load(&ends), 1);
}

/* ---- Input, output, errors. ---- */

static uint64_t start_sort(tr_self *self, uint64_t argument)
{
    (void)argument;
    child = tr_process_start(self, TR_PROCESS("sort", .arguments = TR_ARGUMENTS("-n")));
    tr_write_text(self, child, "10\n9\n100\n");
    tr_finish(self, child);
    return 0;
}

TEST(a_real_program_sorts, "C-17")
{
    run_child(start_sort);
    ck_assert_str_eq(got, "9\n10\n100\n");
    ck_assert_int_eq(ended.code, 0);
}

/* More than sockets hold, in both directions at once. */
static uint64_t copy_much(tr_self *self, uint64_t argument)
{
    enum { SIZE = 3000000 };
    static char bytes[1000];
    tr_bytes piece;
    uint64_t sum = 0;
    (void)argument;
    child = tr_process_start(self, TR_PROCESS("cat", .output_max = 2 * SIZE));
    for (int i = 0; i < SIZE / 1000; i++)
        tr_write(self, child, (tr_bytes){bytes, sizeof bytes});
    tr_finish(self, child);
    while (tr_read(self, child, &piece))
        sum += piece.size;
    return sum;
}

TEST(much_goes_through_a_child, "C-17")
{
    open_keeper();
    ck_assert_uint_eq(keep(copy_much), 3000000);
    await_one(&has_ended);
    close_keeper();
}

START(start_errors, SHELL("echo out; echo err >&2; exit 3"), .errors = TR_PROCESS_CHANNEL)
START(start_joined, SHELL("echo err >&2; exit 0"), .errors = TR_PROCESS_WITH_OUTPUT)
START(start_silent, SHELL("read x || echo no input >&2; echo y"), .input = TR_PROCESS_NOTHING,
      .output = TR_PROCESS_NOTHING, .errors = TR_PROCESS_CHANNEL)

TEST(output_and_errors_come_apart, "C-17")
{
    run_child(start_errors);
    ck_assert_str_eq(got, "out\n");
    ck_assert_str_eq(errors_got, "err\n");
    ck_assert_int_eq(ended.code, 3);
}

TEST(errors_may_go_with_the_output, "C-17")
{
    run_child(start_joined);
    ck_assert_str_eq(got, "err\n");
}

TEST(input_and_output_may_be_nothing, "C-17")
{
    run_child(start_silent);
    ck_assert_str_eq(got, "");
    ck_assert_str_eq(errors_got, "no input\n");
}

START(start_head, SHELL("echo first; exec 0<&-; exit 0"))

static uint64_t write_more(tr_self *self, uint64_t argument)
{
    (void)argument;
    char bytes[100] = "x";
    return (uint64_t)-tr_write(self, child, (tr_bytes){bytes, sizeof bytes});
}

TEST(a_program_that_does_not_read_is_no_error, "C-17")
{
    open_keeper();
    keep(start_head);
    keep(write_more);
    await_one(&has_ended);
    ck_assert_int_eq(ended.status, TR_OK);
    ck_assert_int_eq(ended.code, 0);
    ck_assert_str_eq(got, "first\n");
    close_keeper();
}

/* ---- What it is started with. ---- */

START(start_there, SHELL("echo $PWD $LANG $HOME-"), .directory = "/",
      .environment = TR_ENVIRONMENT("LANG=C", "PATH=/usr/bin:/bin"))

TEST(directory_and_environment_are_as_said, "C-17")
{
    run_child(start_there);
    ck_assert_str_eq(got, "/ C -\n");
}

START(start_fds, SHELL("ls /proc/self/fd | wc -l; grep -E 'SigBlk|SigIgn' /proc/self/status"))

/* ls has the three and its directory. A descriptor that is not close-on-exec is not passed on. */
TEST(a_child_inherits_no_descriptors_and_no_signals, "C-17")
{
    int leaky = open("/dev/null", O_RDONLY); /* NOLINT: on purpose */
    signal(SIGPIPE, SIG_IGN);
    run_child(start_fds);
    close(leaky);
    int count = 0;
    unsigned long long blocked = 1;
    unsigned long long ignored = 1;
    ck_assert_int_eq(sscanf(got, "%d SigBlk: %llx SigIgn: %llx", &count, &blocked, &ignored), 3);
    ck_assert_int_eq(count, 4);
    ck_assert_uint_eq(blocked, 0);
    ck_assert_uint_eq(ignored & ~UINT64_C(0x180000000), 0); /* 32 and 33 are of the C library */
}

static uint64_t try_start(tr_self *self, const tr_process *process, const char *expected)
{
    tr_channel none;
    const char *why;
    tr_status status = tr_try_process_start(self, process, &none, &why);
    ck_assert_str_eq(why, expected);
    return (uint64_t)-status;
}

static uint64_t start_nothing(tr_self *self, uint64_t argument)
{
    (void)argument;
    return try_start(self, TR_PROCESS("no-such-program"), "No such file or directory");
}
static uint64_t start_data(tr_self *self, uint64_t argument)
{
    (void)argument;
    return try_start(self, TR_PROCESS("/etc/passwd"), "Permission denied");
}
static uint64_t start_nowhere(tr_self *self, uint64_t argument)
{
    (void)argument;
    return try_start(
        self, TR_PROCESS("cat", .directory = "/no/such/place"), "No such file or directory");
}

TEST(what_cannot_be_executed_says_why, "C-17")
{
    open_keeper();
    ck_assert_int_eq(-(int)keep(start_nothing), TR_CANNOT_EXECUTE);
    ck_assert_int_eq(-(int)keep(start_data), TR_CANNOT_EXECUTE);
    ck_assert_int_eq(-(int)keep(start_nowhere), TR_CANNOT_EXECUTE);
    close_keeper();
}

/* ---- Ends. ---- */

START(start_cat, "cat")

static uint64_t kill_child(tr_self *self, uint64_t argument)
{
    (void)argument;
    return (uint64_t)-tr_process_signal(self, child, SIGKILL);
}

static uint64_t terminate_child(tr_self *self, uint64_t argument)
{
    (void)argument;
    return (uint64_t)-tr_process_terminate(self, child);
}

TEST(a_killed_child_says_so, "C-17")
{
    open_keeper();
    keep(start_cat);
    ck_assert_uint_eq(keep(kill_child), 0);
    await_one(&has_ended);
    ck_assert_int_eq(ended.signal, SIGKILL);
    ck_assert_int_eq(ended.code, -1);
    ck_assert_int_eq(-(int)keep(kill_child), TR_CLOSED);
    close_keeper();
}

/* Its shell ignores SIGTERM, and the child of that has it blocked away. */
START(start_stubborn, SHELL("trap '' TERM; echo ready; while :; do sleep 100; done"),
      .grace_ns = 10 * TR_MILLISECOND)

TEST(a_stubborn_child_is_killed_after_its_grace, "C-17")
{
    open_keeper();
    keep(start_stubborn);
    await_one(&has_come);
    ck_assert_uint_eq(keep(terminate_child), 0);
    await_one(&has_ended);
    ck_assert_int_eq(ended.signal, SIGKILL);
    close_keeper();
}

static bool group_is_gone(int64_t pid)
{
    return kill(-(pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* The grandchild ignores SIGTERM; it holds no descriptor of the channel. */
START(start_group,
      SHELL("(trap '' TERM; exec sleep 1000 >/dev/null </dev/null) & echo ready; exec cat"))

TEST(what_a_child_has_started_ends_with_it, "C-17")
{
    open_keeper();
    keep(start_group);
    await_one(&has_come);
    ck_assert_uint_eq(keep(terminate_child), 0);
    await_one(&has_ended);
    ck_assert_int_eq(ended.signal, SIGTERM);
    while (!group_is_gone(child_pid)) /* init reaps it */
        ck_assert_int_eq(sched_yield(), 0);
    close_keeper();
}

START(start_long, SHELL("echo ready; exec sleep 1000"))

/* The system ends while its child runs: the child ends too, and was reaped. */
TEST(a_shutdown_leaves_no_child, "C-17")
{
    open_keeper();
    keep(start_long);
    await_one(&has_come);
    close_keeper();
    ck_assert_int_eq(kill((pid_t)child_pid, 0), -1);
    ck_assert_int_eq(errno, ESRCH);
}

/* A shutdown without time: the child is killed. */
TEST(a_shutdown_without_time_leaves_no_child, "C-17")
{
    open_keeper();
    keep(start_stubborn);
    await_one(&has_come);
    tr_client_free(real_client);
    tr_system_shutdown(real_system, 1);
    tr_status ended_as = tr_system_wait(real_system);
    ck_assert(ended_as == TR_OK || ended_as == TR_SHUTDOWN_INCOMPLETE);
    tr_system_free(real_system);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(kill((pid_t)child_pid, 0), -1);
}

static uint64_t start_true(tr_self *self, uint64_t argument)
{
    (void)argument;
    child = tr_process_start(self, TR_PROCESS("true", .output = TR_PROCESS_NOTHING));
    return 0;
}

/* Counts the descriptors but those of parkers, of which each helper thread has two. */
static int descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    const struct dirent *one;
    int count = 0;
    while ((one = readdir(all))) {
        char what[64] = "";
        count += readlinkat(dirfd(all), one->d_name, what, sizeof what - 1) > 0 &&
                 strncmp(what, "anon_inode:[event", strlen("anon_inode:[event")) != 0;
    }
    closedir(all);
    return count;
}

TEST(children_leave_no_descriptors, "C-17")
{
    open_keeper();
    keep(start_true);
    await_one(&has_ended);
    int before = descriptors();
    for (int i = 0; i < 20; i++) {
        keep(start_true);
        await_one(&has_ended);
        ck_assert_int_eq(ended.code, 0);
    }
    ck_assert_int_eq(descriptors(), before);
    close_keeper();
    ck_assert_int_eq(atomic_load(&ends), 21);
}

/* ---- Helper threads. ---- */

static sem_t may_load;
static atomic_int load_result; /* of the wait for may_load */
static pthread_t turn_thread;
static pthread_t load_thread;

/* A program that takes as long to load as another actor of the same worker needs for a turn. */
static tr_status load_slowly(const tr_platform *platform, const tr_process_spec *spec,
                             tr_process_handle *process)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    load_thread = pthread_self();
    atomic_store(&load_result, sem_timedwait(&may_load, &until));
    return tr_platform_real()->process_start(platform, spec, process);
}

static uint64_t start_noted(tr_self *self, uint64_t argument)
{
    turn_thread = pthread_self();
    return start_true(self, argument);
}

static uint64_t let_load(tr_self *self, uint64_t argument)
{
    (void)self, (void)argument;
    sem_post(&may_load);
    return 0;
}

static void open_keeper_on(const tr_platform *platform)
{
    const tr_system_options options = {.size = sizeof options, .workers = 1, .platform = platform};
    keeper_ref made;
    ck_assert_int_eq(sem_init(&has_ended, 0, 0), 0);
    ck_assert_int_eq(sem_init(&has_come, 0, 0), 0);
    ck_assert_int_eq(sem_init(&may_load, 0, 0), 0);
    real_open_with(&options);
    ck_assert_int_eq(tr_try_spawn(real_client, &made, keeper, "keeper"), TR_OK);
    keeper.bits = made.bits;
}

TEST(a_worker_has_other_turns_while_a_program_is_loaded, "C-17")
{
    tr_platform platform = *tr_platform_real();
    platform.process_start = load_slowly;
    open_keeper_on(&platform);
    tr_tell(real_client, keeper, go, .function = (uint64_t)(uintptr_t)start_noted);
    go_with(let_load, 0); /* the host is on the same worker */
    await_one(&has_ended);
    ck_assert_int_eq(atomic_load(&load_result), 0);
    /* a worker that is stuck is handed to another thread, which must not be what let the host run */
    ck_assert(!pthread_equal(load_thread, turn_thread));
    ck_assert_int_eq(ended.code, 0);
    close_keeper();
}

static _Atomic tr_time later_ns; /* added to the time */
static atomic_int parks;

static tr_time late_now(const tr_platform *platform)
{
    return tr_platform_real()->mono_now(platform) + atomic_load(&later_ns);
}

/* Sleeps a millisecond at most, so that nobody sleeps through a jump of the clock. */
static void park_shortly(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    const tr_platform *real = tr_platform_real();
    tr_time next = real->mono_now(real) + TR_MILLISECOND;
    (void)deadline;
    atomic_fetch_add(&parks, 1);
    real->park(platform, parker, next);
}

static void do_nothing(void *argument)
{
    (void)argument;
}

static uint64_t block(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_blocking(self, do_nothing, NULL);
    return 0;
}

START(start_copy, "cat")

static uint64_t write_word(tr_self *self, uint64_t argument)
{
    (void)argument;
    return (uint64_t)-tr_try_write(self, child, (tr_bytes){"word", 4});
}

static uint64_t end_input(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_finish(self, child);
    return 0;
}

/* The kernel kills a child with the thread that has started it, and helpers without work end after a while. */
TEST(a_child_lives_longer_than_an_idle_helper, "C-17")
{
    tr_platform platform = *tr_platform_real();
    platform.mono_now = late_now;
    platform.park = park_shortly;
    open_keeper_on(&platform);
    keep(start_copy);
    for (int i = 0; i < 3; i++) {
        atomic_fetch_add(&later_ns, 2 * TR_BLOCKING_IDLE_NS);
        for (int end = atomic_load(&parks) + 200; atomic_load(&parks) < end;)
            sched_yield(); /* the helper has looked at the time meanwhile */
        go_with(block, 0); /* it joins the threads that have ended */
        ck_assert_int_eq((int)keep(write_word), TR_OK);
        await_one(&has_come);
    }
    keep(end_input);
    await_one(&has_ended);
    ck_assert_int_eq(ended.signal, 0);
    ck_assert_int_eq(ended.code, 0);
    close_keeper();
}

/* ---- The end of this program. ---- */

static uint64_t start_sleeper(tr_self *self, uint64_t outlives)
{
    child = tr_process_start(self,
                             TR_PROCESS("sleep",
                                        .arguments = TR_ARGUMENTS("1000"),
                                        .input = TR_PROCESS_NOTHING,
                                        .output = TR_PROCESS_NOTHING,
                                        .outlives = outlives));
    return (uint64_t)tr_process_id(self, child);
}

/* Starts a program that has a child, kills the program, and returns the child. */
static pid_t orphan_make(bool outlives)
{
    int told[2];
    pid_t orphan = 0;
    ck_assert_int_eq(pipe(told), 0);
    pid_t program = fork();
    ck_assert_int_ge(program, 0);
    if (!program) {
        open_keeper();
        pid_t made = (pid_t)go_in(keeper, start_sleeper, outlives);
        (void)!write(told[1], &made, sizeof made);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(told[0], &orphan, sizeof orphan), (ssize_t)sizeof orphan);
    close(told[0]);
    close(told[1]);
    ck_assert_int_gt(orphan, 0);
    ck_assert_int_eq(kill(program, SIGKILL), 0);
    ck_assert_int_eq(waitpid(program, NULL, 0), program);
    return orphan;
}

/* Waits for the end of a process, and returns the signal that has ended it. */
static int killed_by(pid_t pid)
{
    int how;
    struct pollfd ended_fd = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    ck_assert_int_ge(ended_fd.fd, 0);
    ck_assert_int_eq(poll(&ended_fd, 1, 20000), 1);
    close(ended_fd.fd);
    ck_assert_int_eq(waitpid(pid, &how, 0), pid);
    ck_assert(WIFSIGNALED(how));
    return WTERMSIG(how);
}

TEST(a_program_that_is_killed_leaves_no_child, "C-17")
{
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* orphans become its children */
    ck_assert_int_eq(killed_by(orphan_make(false)), SIGKILL);
    pid_t orphan = orphan_make(true);
    ck_assert_int_eq(waitpid(orphan, NULL, WNOHANG), 0);
    ck_assert_int_eq(kill(orphan, SIGTERM), 0);
    ck_assert_int_eq(killed_by(orphan), SIGTERM);
}

SUITE("real child processes", a_real_program_sorts, much_goes_through_a_child,
      output_and_errors_come_apart, errors_may_go_with_the_output, input_and_output_may_be_nothing,
      a_program_that_does_not_read_is_no_error, directory_and_environment_are_as_said,
      a_child_inherits_no_descriptors_and_no_signals,

      what_cannot_be_executed_says_why, a_killed_child_says_so,
      a_stubborn_child_is_killed_after_its_grace, what_a_child_has_started_ends_with_it,
      a_shutdown_leaves_no_child, a_shutdown_without_time_leaves_no_child,
      children_leave_no_descriptors, a_worker_has_other_turns_while_a_program_is_loaded,
      a_child_lives_longer_than_an_idle_helper, a_program_that_is_killed_leaves_no_child)
