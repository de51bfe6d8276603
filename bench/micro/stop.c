/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times what it takes to stop a tree of a million actors: in order, by a pill from the top, and by
 * force, when the deadline is now.
 *
 *     cmake --build build --target micro_stop && build/micro/stop [workers] [actors]
 *
 * Three shapes: one parent with all; a thousand parents with a thousand each; a binary tree whose
 * halves live on different workers from the second level on. All actors have a tr_post_stop. On a
 * machine that is busy with other things the CPU time tells more than the clock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <troupe/troupe.h>

TR_MESSAGE(grow, (u64, count), (u64, fan), (i32, worker));
TR_ACTOR(node, grow);

static int64_t post_stops; /* of worker 0's share only: so that the handler does something */

static tr_next on_grow(tr_self *self, const struct grow *message)
{
    int workers = tr_system_workers(tr_system_of(self));
    uint64_t left = message->count;
    uint64_t fan = message->fan < left ? message->fan : left;
    left -= fan;
    for (uint64_t i = 0; i < fan; i++) {
        int worker = (int)((uint64_t)message->worker + i) % workers;
        node_ref child = tr_spawn_at(self, worker, node, NULL);
        uint64_t share = left / (fan - i);
        left -= share;
        if (share)
            tr_tell(self, child, grow, .count = share, .fan = message->fan, .worker = worker);
    }
    return TR_SAME;
}

static tr_next on_stop(tr_self *self)
{
    post_stops += tr_worker(self) == 0;
    return TR_SAME;
}

TR_BEHAVIOR(node, void, TR_ON(grow, on_grow), TR_ON(tr_post_stop, on_stop));

static double cpu_ms(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void measure(const char *shape, int workers, uint64_t count, uint64_t fan,
                    tr_time timeout_ns)
{
    const tr_system_options options = {.size = sizeof options, .workers = workers};
    tr_system *system;
    tr_client *client;
    node_ref top;
    tr_counters counters;
    if (tr_system_new(&options, &system) != TR_OK || tr_system_start(system) != TR_OK ||
        tr_client_new(system, &client) != TR_OK || tr_try_spawn(client, &top, node, "top") != TR_OK)
        exit(1);
    tr_tell(client, top, grow, .count = count, .fan = fan);
    do
        tr_receive(client, grow, 10 * TR_MILLISECOND);
    while (tr_system_counters(system, &counters), counters.live < count + 1 || counters.queued);
    double cpu = cpu_ms();
    tr_system_shutdown(system, timeout_ns);
    tr_status status = tr_system_wait(system);
    cpu = cpu_ms() - cpu;
    tr_shutdown_report report;
    if (tr_system_report(system, &report) != TR_OK)
        exit(1);
    printf("%-28s %-9s %9" PRIu64 " actors  %8.1f ms  %8.1f ms of CPU  %s\n",
           shape,
           timeout_ns ? "in order" : "by force",
           report.stopped,
           (double)report.took_ns / 1e6,
           cpu,
           tr_status_name(status));
    tr_client_free(client);
    tr_system_free(system);
}

int main(int argc, char **argv)
{
    int workers = argc > 1 ? atoi(argv[1]) : 2;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    for (int i = 0; i < 2; i++) {
        tr_time timeout_ns = i ? 0 : TR_MINUTE;
        measure("one parent", workers, count, count, timeout_ns);
        measure("a thousand parents", workers, count, 1000, timeout_ns);
        measure("a binary tree", workers, count, 2, timeout_ns);
    }
    return 0;
}
