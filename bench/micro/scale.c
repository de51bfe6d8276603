/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What it costs to have many actors, from a hundred to ten millions on one worker: to spawn one, to have it,
 * to send it a message, to stop it.
 *
 *     cmake --build build --target micro_scale && build/micro/scale [actors]
 *
 * Each number of actors has a process of its own, small ones several. A line of JSON for each: nanoseconds
 * to spawn an actor with one u64 of state (each page is touched for the first time), for a message that goes
 * from one to the next in the order of their birth, for one of 64 that go to random ones, and to stop one
 * with all others; bytes of memory before and after all have got a message. As long as all actors are in
 * the cache, a message costs the same; beyond that, it waits for memory. What would take more than half
 * of the memory that is free is left out, and says so.
 */
#include "stage.h"

#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

TR_MESSAGE(walk, (u64, left), (u64, at));   /* to the next one, until none is left */
TR_MESSAGE(stroll, (u64, left), (u64, at)); /* `at` is the state of a random number */
TR_ACTOR(node, walk, stroll);
TR_MESSAGE(raise_on);
TR_ACTOR(parent, raise_on);

enum { STROLLERS = 64, SPAWNS_OF_A_TURN = 1000, HOPS_MIN = 2000000, BYTES_EACH = 400 };

static uint64_t actor_count;
static node_ref *nodes;

struct node {
    uint64_t visits;
};

static tr_next on_walk(tr_self *self, struct node *node, const struct walk *message)
{
    node->visits++;
    uint64_t next = message->at + 1 < actor_count ? message->at + 1 : 0;
    if (message->left > 1)
        tr_tell(self, nodes[next], walk, .left = message->left - 1, .at = next);
    else
        tr_tell(self, tr_client_ref(client), done);
    return TR_SAME;
}

static tr_next on_stroll(tr_self *self, struct node *node, const struct stroll *message)
{
    node->visits++;
    uint64_t at = message->at * 6364136223846793005u + 1442695040888963407u;
    if (message->left > 1)
        tr_tell(self, nodes[(at >> 33) % actor_count], stroll, .left = message->left - 1, .at = at);
    else
        tr_tell(self, tr_client_ref(client), done);
    return TR_SAME;
}
TR_BEHAVIOR(node, struct node, TR_ON(walk, on_walk), TR_ON(stroll, on_stroll));

struct parent {
    uint64_t born;
};

static tr_next on_raise_on(tr_self *self, struct parent *parent)
{
    for (int i = 0; i < SPAWNS_OF_A_TURN && parent->born < actor_count; i++)
        nodes[parent->born++] = tr_spawn(self, node, NULL);
    if (parent->born < actor_count)
        tr_tell(self, tr_me(self), raise_on);
    else
        tr_tell(self, tr_client_ref(client), done);
    return TR_SAME;
}
TR_BEHAVIOR(parent, struct parent, TR_ON(raise_on, on_raise_on));

/* A line of a file of /proc in bytes, such as "VmRSS:". */
static double bytes_of(const char *path, const char *key)
{
    FILE *file = fopen(path, "r");
    char line[256];
    double kib = 0;
    require(file, path);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0)
            kib = strtod(line + strlen(key), NULL);
    }
    fclose(file);
    return kib * 1024;
}

static double resident(void)
{
    return bytes_of("/proc/self/status", "VmRSS:");
}

/* Nanoseconds for one hop of one who goes round. */
static double walk_round(uint64_t hops)
{
    double from = now_ns();
    MUST(tr_tell(client, nodes[0], walk, .left = hops));
    wait_done();
    return (now_ns() - from) / (double)hops;
}

static double stroll_about(uint64_t hops)
{
    double from = now_ns();
    for (uint64_t i = 0; i < STROLLERS; i++)
        MUST(
            tr_tell(client, nodes[i % actor_count], stroll, .left = hops / STROLLERS, .at = i * i));
    for (int i = 0; i < STROLLERS; i++)
        wait_done();
    return (now_ns() - from) / (double)(hops / STROLLERS * STROLLERS);
}

static void measure(uint64_t count)
{
    tr_shutdown_report report;
    parent_ref parent;
    actor_count = count;
    nodes = malloc(count * sizeof *nodes);
    require(nodes, "malloc");
    memset(nodes, 0xff, count * sizeof *nodes); /* so that it is not counted as memory of actors */
    begin(1, TR_BALANCE_OFF, 0);
    MUST(tr_try_spawn(client, &parent, parent, "parent"));
    MUST(tr_spawn_wait(client, parent, TR_MINUTE, NULL));
    double base = resident();
    double from = now_ns();
    MUST(tr_tell(client, parent, raise_on));
    wait_done();
    double spawn_ns = (now_ns() - from) / (double)count;
    double idle = (resident() - base) / (double)count;
    (void)walk_round(count);
    double touched = (resident() - base) / (double)count;
    uint64_t hops = count > HOPS_MIN ? count : HOPS_MIN;
    double next_ns = walk_round(hops);
    double random_ns = stroll_about(HOPS_MIN);
    tr_client_free(client);
    tr_system_shutdown(system_, TR_MINUTE);
    MUST(tr_system_wait(system_));
    MUST(tr_system_report(system_, &report));
    require(report.stopped == count + 1, "not all have stopped");
    printf("{\"actors\":%" PRIu64 ",\"spawn_ns\":%.1f,\"bytes\":%.1f,\"bytes_touched\":%.1f,"
           "\"next_ns\":%.1f,\"random_ns\":%.1f,\"stop_ns\":%.1f}\n",
           count,
           spawn_ns,
           idle,
           touched,
           next_ns,
           random_ns,
           (double)report.took_ns / (double)count);
    fflush(stdout);
    _exit(0);
}

static void measure_apart(uint64_t count)
{
    double needed = (double)count * BYTES_EACH;
    if (needed > bytes_of("/proc/meminfo", "MemAvailable:") / 2) {
        printf(
            "{\"actors\":%" PRIu64 ",\"left_out\":\"%.0f MB are wanted\"}\n", count, needed / 1e6);
        fflush(stdout);
        return;
    }
    for (int round = 0; round < (count > 100000 ? 1 : 5); round++) {
        int status;
        pid_t child = fork();
        if (!child)
            measure(count);
        require(waitpid(child, &status, 0) == child && status == 0, "a process did not end well");
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        measure_apart(strtoull(argv[1], NULL, 10));
        return 0;
    }
    for (uint64_t count = 100; count <= 10000000; count *= 10)
        measure_apart(count);
    return 0;
}
