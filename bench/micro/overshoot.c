/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How long after its deadline a shutdown is over, when much is in its way.
 *
 *     cmake --build build --target micro_overshoot
 *     build/micro/overshoot [workers] [rounds] [beginning of a case's name]
 *
 * The promise is 50 ms (X-01 of docs/contract.md). Six cases, each in a process of its own, since
 * some leave a thread behind:
 *     looping handler    one worker is in a handler that loops forever; a thousand others must stop
 *     all handlers loop  every worker is
 *     sleeping handler   one worker is in a system call forever
 *     flood              a hundred actors with 10,000 messages each, and two threads that send more
 *     depth 64           64 actors below each other, on the workers in turn, each with a turn that waits
 *     width 100,000      as many children of one parent, each with ten messages
 * Where handlers return, each takes ten microseconds, so that the deadline finds most of the work
 * undone. On a machine that is busy with other things the CPU time tells more than the clock.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <troupe/troupe.h>
#include <unistd.h>

TR_MESSAGE(work, (u64, n));
TR_MESSAGE(loop_forever);
TR_MESSAGE(sleep_forever);
TR_MESSAGE(doze);
TR_MESSAGE(grow, (u64, count), (u64, depth));
TR_ACTOR(node, work, loop_forever, sleep_forever, doze, grow);

static const tr_time timeout_ns = 200 * TR_MILLISECOND;
static volatile uint64_t sink;
static volatile bool has_end; /* it has not */
static atomic_bool floods;

static tr_time now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (tr_time)time.tv_sec * TR_SECOND + time.tv_nsec;
}

static tr_next on_work(void)
{
    tr_time end_ns = now_ns() + 10 * TR_MICROSECOND;
    while (now_ns() < end_ns)
        sink++;
    return TR_SAME;
}

static tr_next on_loop_forever(void)
{
    while (!has_end)
        sink++;
    return TR_SAME;
}

static tr_next on_sleep_forever(void)
{
    while (!has_end)
        pause();
    return TR_SAME;
}

static tr_next on_doze(tr_self *self)
{
    (void)tr_sleep(self, TR_HOUR);
    return TR_SAME;
}

static tr_next on_grow(tr_self *self, const struct grow *message)
{
    int workers = tr_system_workers(tr_system_of(self));
    if (message->depth > 1) {
        node_ref child = tr_spawn_at(self, (int)(message->depth % (uint64_t)workers), node, NULL);
        tr_tell(self, child, grow, .depth = message->depth - 1);
        tr_tell(self, tr_me(self), doze);
    }
    for (uint64_t i = 0; i < message->count; i++) {
        node_ref child = tr_spawn_at(self, (int)(i % (uint64_t)workers), node, NULL);
        for (uint64_t n = 0; n < 10; n++)
            tr_tell(self, child, work, .n = n);
    }
    return TR_SAME;
}

TR_BEHAVIOR(node, void, TR_ON(work, on_work), TR_ON(loop_forever, on_loop_forever),
            TR_ON(sleep_forever, on_sleep_forever), TR_ON(doze, on_doze), TR_ON(grow, on_grow));

struct stage {
    tr_system *system;
    tr_client *client;
    int workers;
};

static node_ref put(struct stage *stage, int worker)
{
    node_ref node;
    if (tr_try_spawn_at(stage->client, &node, worker % stage->workers, node, NULL) != TR_OK ||
        tr_spawn_wait(stage->client, node, TR_NEVER, NULL) != TR_OK)
        exit(1);
    return node;
}

static void others(struct stage *stage)
{
    for (int i = 0; i < 1000; i++)
        (void)put(stage, i);
}

static void looping(struct stage *stage)
{
    others(stage);
    tr_tell(stage->client, put(stage, 1), loop_forever);
}

static void all_looping(struct stage *stage)
{
    others(stage);
    node_ref nodes[TR_WORKERS_MAX];
    for (int i = 0; i < stage->workers; i++)
        nodes[i] = put(stage, i);
    for (int i = 0; i < stage->workers; i++)
        tr_tell(stage->client, nodes[i], loop_forever);
}

static void sleeping(struct stage *stage)
{
    others(stage);
    tr_tell(stage->client, put(stage, 1), sleep_forever);
}

struct flood {
    tr_system *system;
    node_ref to;
};

static void *flood(void *argument)
{
    struct flood *flood = argument;
    tr_client *client;
    if (tr_client_new(flood->system, &client) != TR_OK)
        exit(1);
    /* What is refused is a dead letter, too. */
    while (atomic_load(&floods)) {
        if (tr_tell(client, flood->to, work) != TR_OK)
            usleep(10);
    }
    tr_client_free(client);
    return NULL;
}

static pthread_t flooders[2];

static void flooding(struct stage *stage)
{
    static struct flood flooded[2];
    atomic_store(&floods, true);
    for (int i = 0; i < 100; i++) {
        node_ref node = put(stage, i);
        for (uint64_t n = 0; n < 10000; n++)
            tr_tell(stage->client, node, work, .n = n);
        if (i < 2) {
            flooded[i] = (struct flood){stage->system, node};
            pthread_create(&flooders[i], NULL, flood, &flooded[i]);
        }
    }
}

static void await_live(struct stage *stage, uint64_t count)
{
    tr_counters counters;
    do {
        (void)tr_receive(stage->client, work, TR_MILLISECOND);
        tr_system_counters(stage->system, &counters);
    } while (counters.live < count);
}

static void deep(struct stage *stage)
{
    tr_tell(stage->client, put(stage, 0), grow, .depth = TR_DEPTH_MAX);
    await_live(stage, TR_DEPTH_MAX);
}

static void wide(struct stage *stage)
{
    tr_tell(stage->client, put(stage, 0), grow, .count = 100000);
    await_live(stage, 100001);
}

static double cpu_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void measure(const char *name, int workers, void (*fill)(struct stage *stage))
{
    const tr_system_options options = {
        .size = sizeof options, .workers = workers, .on_log = no_log};
    struct stage stage = {.workers = workers};
    tr_shutdown_report report;
    if (tr_system_new(&options, &stage.system) != TR_OK || tr_system_start(stage.system) != TR_OK ||
        tr_client_new(stage.system, &stage.client) != TR_OK)
        exit(1);
    fill(&stage);
    double cpu = cpu_ms();
    tr_time begin_ns = now_ns();
    tr_system_shutdown(stage.system, timeout_ns);
    tr_status status = tr_system_wait(stage.system);
    double late_ms = (double)(now_ns() - begin_ns - timeout_ns) / 1e6;
    cpu = cpu_ms() - cpu;
    if (tr_system_report(stage.system, &report) != TR_OK)
        exit(1);
    printf("%-18s %8.1f ms late  %8.1f ms of CPU  %7" PRIu64 " stopped, %6" PRIu64
           " by force, %" PRIu64 " left  %8" PRIu64 " dead letters  %s\n",
           name,
           late_ms,
           cpu,
           report.stopped,
           report.forced,
           report.left,
           report.dead_letters,
           tr_status_name(status));
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*fill)(struct stage *stage);
    } cases[] = {{"looping handler", looping},
                 {"all handlers loop", all_looping},
                 {"sleeping handler", sleeping},
                 {"flood", flooding},
                 {"depth 64", deep},
                 {"width 100,000", wide}};
    int workers = argc > 1 ? atoi(argv[1]) : 2;
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    const char *only = argc > 3 ? argv[3] : "";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_wanted = strncmp(cases[i].name, only, strlen(only)) == 0;
        for (int round = 0; is_wanted && round < rounds; round++) {
            pid_t child = fork();
            if (!child)
                measure(cases[i].name, workers, cases[i].fill);
            waitpid(child, NULL, 0);
        }
    }
    return 0;
}
