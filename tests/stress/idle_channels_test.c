/* SPDX-License-Identifier: Apache-2.0 */
/** Connections on which nothing happens: no worker wakes, and no system call is made for them. */
#include "support/real_net.h"

#include <dirent.h>

#include "actor/cell/system.h"
#include "os/parker.h"

/* ThreadSanitizer has a thread of its own, which runs now and then, and makes connections slow. */
#ifdef __SANITIZE_THREAD__
enum { CONNECTIONS_MAX = 400, COUNTS_TIME = 0 };
#else
enum { CONNECTIONS_MAX = 10000, COUNTS_TIME = 1 };
#endif

static tr_next on_echo(tr_self *self, const struct tr_received *message)
{
    tr_write(self, message->channel, message->bytes);
    return TR_SAME;
}

TR_BEHAVIOR(echo, void, TR_ON(tr_received, on_echo));

static uint64_t listen_echo(tr_self *self, uint64_t argument)
{
    (void)argument;
    tr_listener_ref listener = tr_listen(self, echo, TR_TCP("127.0.0.1:0"));
    return tr_listener_address(self, listener).port;
}

/* What workers do is counted here: how often they slept, how often the kernel was asked to, and what they ran. */
struct work {
    uint64_t parks;
    uint64_t runs;
    uint64_t waits;
};

static struct work work_so_far(void)
{
    tr_counters counters;
    tr_system_counters(real_system, &counters);
    struct work work = {.parks = counters.parks, .runs = counters.runs};
    for (uint32_t i = 0; i < real_system->worker_count; i++)
        work.waits += tr__real_parker_waits(real_system->workers[i]->loop.parker);
    return work;
}

static bool is_asleep(void)
{
    for (uint32_t i = 0; i < real_system->worker_count; i++) {
        const struct worker *worker = real_system->workers[i];
        if (atom32_load(&worker->loop.ready.sleep, ATOM_SEQ_CST) != READY_ASLEEP)
            return false;
    }
    return atom32_load(&real_system->watch.is_asleep, ATOM_SEQ_CST);
}

/*
 * Returns for how long the threads of this process but this one have run, in nanoseconds, as the kernel counts it. If the
 * number does not change, they have executed nothing, and so made no system call.
 */
static uint64_t others_ran_ns(void)
{
    uint64_t sum = 0;
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        char path[300], text[128] = "";
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == (int)gettid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file || !fgets(text, sizeof text, file))
            strcpy(text, "0"); /* the thread has ended */
        if (file)
            (void)fclose(file);
        sum += strtoull(text, NULL, 10);
        count++;
    }
    (void)closedir(tasks);
    ck_assert_uint_ge(count, 2); /* the workers */
    return sum;
}

/* Returns how many connections this process may have both ends of. */
static int connections_allowed(void)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t count = limit.rlim_cur / 2 - 100;
    return count < CONNECTIONS_MAX ? (int)count : CONNECTIONS_MAX;
}

TEST(idle_connections_cost_no_system_calls, "CH-24", "P-04")
{
    static int fds[CONNECTIONS_MAX];
    int count = connections_allowed();
    real_open(2);
    uint64_t port = GO(listen_echo);
    for (int i = 0; i < count; i++) {
        fds[i] = dial_port(port);
        char byte = 'x';
        send_all(fds[i], &byte, 1);
        ck_assert_int_eq(recv(fds[i], &byte, 1, 0), 1);
    }
    /* Memory goes back and the watch loses patience, as in idle_test. */
    for (int i = 0; i < 200 && !is_asleep(); i++)
        ck_assert_ptr_null(tr_receive(real_client, went, 100 * TR_MILLISECOND));
    ck_assert_ptr_null(tr_receive(real_client, went, 400 * TR_MILLISECOND));
    struct work before = work_so_far();
    uint64_t ran_before_ns = others_ran_ns();
    ck_assert_uint_gt(ran_before_ns, 0);
    ck_assert_ptr_null(tr_receive(real_client, went, TR_SECOND));
    if (COUNTS_TIME)
        ck_assert_uint_eq(others_ran_ns(), ran_before_ns);
    struct work after = work_so_far();
    ck_assert(is_asleep());
    ck_assert_uint_eq(after.parks, before.parks);
    ck_assert_uint_eq(after.runs, before.runs);
    ck_assert_uint_eq(after.waits, before.waits);
    for (int i = 0; i < count; i++) { /* each is there when it is needed */
        char byte = 'y';
        send_all(fds[i], &byte, 1);
        ck_assert_int_eq(recv(fds[i], &byte, 1, 0), 1);
        close(fds[i]);
    }
    real_close();
}

SUITE("idle channels", idle_connections_cost_no_system_calls)
