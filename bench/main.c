/* SPDX-License-Identifier: Apache-2.0 */
/**
 * troupe-bench WORKLOAD THREADS: one workload in one process, one line of JSON per result.
 *
 * tools/bench runs it side by side with the same workloads of other runtimes, in bench/peers.
 */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHUTDOWN_TIMEOUT (1 * TR_MINUTE)

struct workload {
    const char *name;
    int threads_min;
    void (*run)(struct bench *bench);
    const char *what;
};

static const struct workload workloads[] = {
    {"pingpong_local", 1, bench_pingpong_local, "2 actors, 5 M round trips"},
    {"pingpong_cross", 2, bench_pingpong_cross, "2 actors on two workers, 1 M round trips"},
    {"ring", 1, bench_ring, "1000 actors, one token, 5 M hops"},
    {"fanin20", 1, bench_fanin20, "20 senders of 1 M messages each, one receiver"},
    {"fanin2", 1, bench_fanin2, "2 senders of 1 M messages each, one receiver"},
    {"counting", 1, bench_counting, "1 sender of 10 M messages, one receiver"},
    {"spawn_tree", 1, bench_spawn_tree, "a tree of ten branches per node with 1 M leaves"},
    {"idle_memory", 1, bench_idle, "1 M actors that wait, then one message to each"},
    {"big", 1, bench_big, "120 actors, each 20,000 round trips with random others"},
    {"bank_ask", 1, bench_bank_ask, "1 teller, 1000 accounts, 2 M requests one by one"},
    {"bank_ask_c20", 1, bench_bank_ask_c20, "20 tellers, 100,000 requests each"},
    {"timer_storm", 1, bench_timer_storm, "1 M timers, nine of ten taken back"},
    {"client_tell", 1, bench_client_tell, "1 M messages from a client, a hundred at a time"},
    {"kit_tell", 1, bench_kit_tell, "1 M messages between two workers of a test kit"},
    {"kit_echo", 1, bench_kit_echo, "1.6 M pieces over 16 channels of a test kit, and answers"},
};

enum { WORKLOAD_COUNT = sizeof workloads / sizeof *workloads };

void bench_die_without_result(struct bench *bench)
{
    tr_counters counters;
    tr_system_counters(bench->system, &counters);
    bench_die(BENCH_NO_RESULT,
              "%s did not end in time: %" PRIu64 " messages handled, %" PRIu64 " queued, %" PRIu64
              " dead letters, %" PRIu64 " actors alive",
              bench->workload,
              counters.handled,
              counters.queued,
              counters.dead_letters,
              counters.live);
}

uint64_t bench_wait(struct bench *bench)
{
    const struct done *done = tr_receive(bench->client, done, RESULT_TIMEOUT);
    if (!done)
        bench_die_without_result(bench);
    return done->value;
}

void bench_check(const char *what, uint64_t got, uint64_t expected)
{
    if (got != expected)
        bench_die(
            BENCH_WRONG, "wrong result: %s is %" PRIu64 ", not %" PRIu64, what, got, expected);
}

void bench_must(tr_status status, const char *what)
{
    if (status != TR_OK)
        bench_die(BENCH_NO_RESULT, "%s: %s", what, tr_status_text(status));
}

static void print_help(void)
{
    puts("usage: troupe-bench WORKLOAD THREADS\n"
         "\n"
         "Runs one workload on THREADS workers and prints one line of JSON per result.\n");
    for (size_t i = 0; i < WORKLOAD_COUNT; i++)
        printf("  %-16s %s\n", workloads[i].name, workloads[i].what);
    puts(
        "\n"
        "Environment\n"
        "  SCALE=d          divides the number of operations by d\n"
        "  TIMES=k          multiplies it by k\n"
        "  SPREAD=1         spreads the actors over the workers where the workload leaves it open\n"
        "  ALONE=1          without threads and real time: the same instructions each time\n"
        "\n"
        "Exit codes: 0 success, 1 usage error, 2 no result, 3 wrong result, 4 unknown workload.");
}

/** What was measured: a number of a debug build says nothing. */
static void print_version(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const char *kind = "with sanitizers";
#elif defined(__OPTIMIZE__)
    const char *kind = "optimised";
#else
    const char *kind = "not optimised";
#endif
    printf("troupe-bench, %s, compiler %s\n", kind, __VERSION__);
}

static const struct workload *find_workload(const char *name)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++)
        if (strcmp(workloads[i].name, name) == 0)
            return &workloads[i];
    return NULL;
}

static void run(const struct workload *workload, int threads)
{
    struct bench bench = {
        .workload = workload->name,
        .threads = threads,
        .spread = bench_setting("SPREAD", 0) ? (uint32_t)threads : 1,
    };
    bool is_alone = bench_setting("ALONE", 0);
    const tr_system_options options = {.size = sizeof options,
                                       .name = "bench",
                                       .workers = threads,
                                       .platform = is_alone ? bench_alone_platform() : NULL};
    tr_counters counters;

    bench_must(tr_system_new(&options, &bench.system), "tr_system_new");
    bench_must(tr_client_new(bench.system, &bench.client), "tr_client_new");
    if (is_alone)
        bench_alone_begin(bench.system);
    else
        bench_must(tr_system_start(bench.system), "tr_system_start");

    workload->run(&bench);

    tr_system_counters(bench.system, &counters);
    bench_check("number of dead letters", counters.dead_letters, 0);
    tr_system_shutdown(bench.system, SHUTDOWN_TIMEOUT);
    if (is_alone)
        bench_alone_end();
    else
        bench_must(tr_system_wait(bench.system), "tr_system_wait");
    tr_client_free(bench.client);
    tr_system_free(bench.system);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        print_help();
        return BENCH_OK;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        print_version();
        return BENCH_OK;
    }
    if (argc != 3)
        bench_die(BENCH_USAGE, "usage: troupe-bench WORKLOAD THREADS (--help lists the workloads)");

    const struct workload *workload = find_workload(argv[1]);
    if (!workload)
        bench_die(BENCH_UNKNOWN, "unknown workload: %s (--help lists them)", argv[1]);

    char *end;
    long threads = strtol(argv[2], &end, 10);
    if (*end || threads < 1 || threads > TR_WORKERS_MAX)
        bench_die(BENCH_USAGE, "THREADS must be 1 to %d, not %s", (int)TR_WORKERS_MAX, argv[2]);
    if (threads < workload->threads_min)
        bench_die(BENCH_UNKNOWN, "%s needs %d threads", workload->name, workload->threads_min);

    run(workload, (int)threads);
    return BENCH_OK;
}
