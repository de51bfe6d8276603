/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a thread handoff gives and what it costs. Not part of the build:
 *
 *     cc -O3 -D_GNU_SOURCE -Iinclude bench/micro/handoff.c build/libtroupe.a \
 *         -lpthread -o /tmp/handoff
 *     /tmp/handoff late [rounds] [handoff_after in ms, 0 for none]
 *     /tmp/handoff pingpong [round trips] [handoff_after in ms]
 *
 * late: on the only worker one actor blocks for 200 ms unannounced, again and again, while another has a
 * timer each millisecond and a third is asked to end and to begin by a client. How late the timer's
 * messages are, how long the asked-for spawn and kill take to be done. Per round the latest of each
 * counts: that is how long the worker stood still. The promise is 50 ms (P19).
 *
 * pingpong: two actors of one worker; to be run under valgrind --tool=callgrind, with and without.
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <troupe/troupe.h>

TR_MESSAGE(block);
TR_MESSAGE(tick);
TR_MESSAGE(begin, (i64, period));
TR_MESSAGE(done, (u64, value));
TR_MESSAGE(ping, (u64, left));
TR_MESSAGE(meet, (ref, other), (ref, who));
TR_ACTOR(blocker, block);
TR_ACTOR(clock_watcher, begin, tick);
TR_ACTOR(player, ping, meet);

enum { BLOCK_MS = 200 };
#define PERIOD_NS TR_MILLISECOND

static atomic_llong latest_ns; /* of the timer's messages in this round */
static atomic_int is_blocked;
static atomic_int gone;

static tr_time now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (tr_time)time.tv_sec * TR_SECOND + time.tv_nsec;
}

static void must(tr_status status)
{
    if (status == TR_OK)
        return;
    fprintf(stderr, "handoff: %s\n", tr_status_text(status));
    exit(1);
}

static tr_next on_block(void)
{
    atomic_store(&is_blocked, 1);
    (void)poll(NULL, 0, BLOCK_MS);
    atomic_store(&is_blocked, 0);
    return TR_SAME;
}

static tr_next on_blocker_stop(void)
{
    atomic_fetch_add(&gone, 1);
    return TR_SAME;
}

TR_BEHAVIOR(blocker, void, TR_ON(block, on_block), TR_ON(tr_post_stop, on_blocker_stop));

struct clock_watcher {
    tr_time last_ns;
};

static tr_next on_begin(tr_self *self, struct clock_watcher *state, const struct begin *message)
{
    state->last_ns = now_ns();
    tr_timer_fixed_delay(self, "tick", message->period, tick);
    return TR_SAME;
}

static tr_next on_tick(struct clock_watcher *state)
{
    tr_time this_ns = now_ns();
    tr_time late_ns = this_ns - state->last_ns - PERIOD_NS;
    if (late_ns > atomic_load(&latest_ns))
        atomic_store(&latest_ns, late_ns);
    state->last_ns = this_ns;
    return TR_SAME;
}

TR_BEHAVIOR(clock_watcher, struct clock_watcher, TR_ON(begin, on_begin), TR_ON(tick, on_tick));

struct player {
    tr_ref other;
    tr_ref who;
};

static tr_next on_meet(struct player *state, const struct meet *message)
{
    state->other = message->other;
    state->who = message->who;
    return TR_SAME;
}

static tr_next on_ping(tr_self *self, struct player *state, const struct ping *message)
{
    if (message->left)
        tr_tell(self, state->other, ping, .left = message->left - 1);
    else
        tr_tell(self, state->who, done, .value = 1);
    return TR_SAME;
}

TR_BEHAVIOR(player, struct player, TR_ON(ping, on_ping), TR_ON(meet, on_meet));

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static tr_system *open_system(tr_time after_ns, tr_client **client)
{
    tr_system *system;
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .on_log = no_log, .handoff_after_ns = after_ns};
    must(tr_system_new(&options, &system));
    must(tr_client_new(system, client));
    must(tr_system_start(system));
    return system;
}

static void close_system(tr_system *system, tr_client *client)
{
    tr_system_shutdown(system, TR_MINUTE);
    must(tr_system_wait(system));
    tr_client_free(client);
    tr_system_free(system);
}

static int compare(const void *a, const void *b)
{
    const tr_time *x = a;
    const tr_time *y = b;
    return (*x > *y) - (*x < *y);
}

static void print(const char *name, tr_time *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    printf("%s: median %.1f ms, p99 %.1f ms, worst %.1f ms of %d\n",
           name,
           (double)values[count / 2] / 1e6,
           (double)values[(count - 1) * 99 / 100] / 1e6,
           (double)values[count - 1] / 1e6,
           count);
}

enum { ROUNDS_MAX = 1000 };

static void late(int rounds, tr_time after_ns)
{
    static tr_time timers[ROUNDS_MAX];
    static tr_time orders[ROUNDS_MAX];
    tr_client *client;
    tr_system *system = open_system(after_ns, &client);
    clock_watcher_ref watcher;
    blocker_ref blocker;
    must(tr_try_spawn(client, &watcher, clock_watcher, NULL));
    must(tr_try_spawn(client, &blocker, blocker, NULL));
    tr_tell(client, watcher, begin, .period = PERIOD_NS);
    for (int i = 0; i < rounds; i++) {
        blocker_ref victim;
        must(tr_try_spawn(client, &victim, blocker, NULL));
        must(tr_spawn_wait(client, victim, TR_MINUTE, NULL));
        int gone_before = atomic_load(&gone);
        atomic_store(&latest_ns, 0);
        tr_tell(client, blocker, block);
        while (!atomic_load(&is_blocked))
            ;
        tr_time begin_ns = now_ns();
        must(tr_kill(client, victim));
        while (atomic_load(&gone) == gone_before)
            (void)poll(NULL, 0, 1);
        orders[i] = now_ns() - begin_ns;
        while (atomic_load(&is_blocked))
            (void)poll(NULL, 0, 1);
        (void)poll(NULL, 0, 20);
        timers[i] = atomic_load(&latest_ns);
    }
    print("timers", timers, rounds);
    print("kill", orders, rounds);
    tr_counters counters;
    tr_system_counters(system, &counters);
    printf("handoffs: %llu\n", (unsigned long long)counters.handoffs);
    close_system(system, client);
}

static void pingpong(uint64_t trips, tr_time after_ns)
{
    tr_client *client;
    tr_system *system = open_system(after_ns, &client);
    player_ref players[2];
    for (int i = 0; i < 2; i++)
        must(tr_try_spawn(client, &players[i], player, NULL));
    for (int i = 0; i < 2; i++)
        tr_tell(client,
                players[i],
                meet,
                .other = tr_any(players[1 - i]),
                .who = tr_client_ref(client));
    tr_time begin_ns = now_ns();
    tr_tell(client, players[0], ping, .left = 2 * trips);
    (void)tr_receive(client, done, TR_HOUR);
    printf("%.1f ns per message\n", (double)(now_ns() - begin_ns) / (double)(2 * trips));
    close_system(system, client);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "late";
    bool is_late = strcmp(what, "late") == 0;
    long count = argc > 2 ? atol(argv[2]) : is_late ? 20 : 1000000;
    tr_time after_ns = (argc > 3 ? atol(argv[3]) : 20) * TR_MILLISECOND;
    if (is_late)
        late(count < ROUNDS_MAX ? (int)count : ROUNDS_MAX, after_ns);
    else
        pingpong((uint64_t)count, after_ns);
    return 0;
}
