/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times the restart of a leaf: from the failure of its turn to the message that follows, which its
 * next incarnation handles.
 *
 *     cmake --build build --target micro_restart && build/micro/restart
 *
 * Prints the median and the best of the rounds, in nanoseconds for one restart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <troupe/troupe.h>

enum { ROUNDS = 31, RESTARTS = 10000 };

TR_MESSAGE(poke);
TR_MESSAGE(over);
TR_ACTOR(leaf, poke, over);
TR_ACTOR(branch);

static tr_next on_poke(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "poked");
}

static tr_next on_over(tr_self *self)
{
    return tr_reply(self, over);
}

TR_BEHAVIOR(leaf, void, TR_ON(poke, on_poke), TR_ON(over, on_over));

/* The window is over when the next failure comes. */
TR_BEHAVIOR(branch, void, TR_SUPERVISE(TR_ONE_FOR_ONE, .window_ns = 1), TR_CHILD(leaf, "leaf"));

static void drop_line(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    const tr_system_options options = {.size = sizeof options, .workers = 1, .on_log = drop_line};
    tr_system *system;
    tr_client *client;
    branch_ref branch;
    double rounds[ROUNDS];
    if (tr_system_new(&options, &system) || tr_system_start(system) ||
        tr_client_new(system, &client) || tr_try_spawn(client, &branch, branch, "branch") ||
        tr_spawn_wait(client, branch, TR_NEVER, NULL))
        return 1;
    leaf_ref leaf = tr_find(client, leaf, "/user/branch/leaf");
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec begin;
        struct timespec end;
        tr_suspend(client, leaf);
        for (int i = 0; i < RESTARTS; i++)
            tr_tell(client, leaf, poke);
        tr_tell(client, leaf, over);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        tr_resume(client, leaf);
        (void)tr_receive(client, over, TR_NEVER);
        clock_gettime(CLOCK_MONOTONIC, &end);
        rounds[round] =
            ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
            RESTARTS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, by_size);
    tr_counters counters;
    tr_system_counters(system, &counters);
    printf("restart: median %.0f ns, best %.0f ns (%llu restarts)\n",
           rounds[ROUNDS / 2],
           rounds[0],
           (unsigned long long)counters.restarts);
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    int result = tr_system_wait(system) == TR_OK ? 0 : 1;
    tr_system_free(system);
    return result;
}
