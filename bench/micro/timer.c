/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Times timers as an actor uses them: what a pair of arm and cancel costs while few or many others
 * live, what a million of them cost one after the other, and what it costs when they fire.
 *
 *     cmake --build build --target micro_timer && build/micro/timer
 *
 * "cold" is the first time that the process touches the memory; the rest is the best of several
 * rounds. The clock is read once for each arm and is part of it; its cost is printed first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <troupe/troupe.h>

enum { MILLION = 1000000, ROUNDS = 200, PAIRS = 2000, KEY_SIZE = 24, FIRED = 100000 };

TR_MESSAGE(go);
TR_MESSAGE(small, (u64, number));
TR_MESSAGE(wide, (u64, a), (u64, b), (u64, c));
TR_MESSAGE(over);
TR_ACTOR(subject, go, small);

static tr_timer *handles;
static char (*keys)[KEY_SIZE];

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* An hour and more: none of these fires. */
static tr_time delay_of(uint64_t i)
{
    return TR_HOUR + (tr_time)(i * 7919 % 2000) * TR_MILLISECOND;
}

static void arm_loose(tr_self *self, uint64_t i)
{
    handles[i] = tr_timer_once(self, NULL, delay_of(i), small, .number = i);
}

static void arm_wide(tr_self *self, uint64_t i)
{
    handles[i] = tr_timer_once(self, NULL, delay_of(i), wide, .a = i);
}

static void cancel_loose(tr_self *self, uint64_t i)
{
    (void)tr_timer_stop(self, handles[i]);
}

static void arm_keyed(tr_self *self, uint64_t i)
{
    (void)tr_timer_once(self, keys[i], delay_of(i), small, .number = i);
}

static void cancel_keyed(tr_self *self, uint64_t i)
{
    (void)tr_timer_cancel(self, keys[i]);
}

static const struct way {
    const char *name;
    void (*arm)(tr_self *self, uint64_t i);
    void (*cancel)(tr_self *self, uint64_t i);
} ways[] = {
    {"without a key", arm_loose, cancel_loose},
    {"without a key, 24 bytes", arm_wide, cancel_loose},
    {"with a key", arm_keyed, cancel_keyed},
};

/* Pairs of the timers behind those that live, one of them or eight at a time. */
static double best_pair(tr_self *self, const struct way *way, uint64_t live, uint64_t at_a_time)
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();
        for (uint64_t i = 0; i < PAIRS; i += at_a_time) {
            for (uint64_t k = 0; k < at_a_time; k++)
                way->arm(self, live + k);
            for (uint64_t k = 0; k < at_a_time; k++)
                way->cancel(self, live + k);
        }
        double ns = (now_ns() - begin) / PAIRS;
        if (ns < best)
            best = ns;
    }
    return best;
}

/* The timers that live themselves, each taken back and armed again, in an order without a pattern. */
static double best_replaced(tr_self *self, const struct way *way, uint64_t live)
{
    double best = 1e9;
    uint64_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();
        for (uint64_t i = 0; i < PAIRS; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t which = (random >> 33) % live;
            way->cancel(self, which);
            way->arm(self, which);
        }
        double ns = (now_ns() - begin) / PAIRS;
        if (ns < best)
            best = ns;
    }
    return best;
}

static void storm(tr_self *self, const struct way *way, const char *when)
{
    double begin = now_ns();
    for (uint64_t i = 0; i < MILLION; i++)
        way->arm(self, i);
    double armed = now_ns();
    for (uint64_t i = 0; i < MILLION; i++)
        way->cancel(self, i);
    double end = now_ns();
    printf("%-24s a million, %-10s arm %6.1f  cancel %6.1f  pair %6.1f ns\n",
           way->name,
           when,
           (armed - begin) / MILLION,
           (end - armed) / MILLION,
           (end - begin) / MILLION);
}

static void measure(tr_self *self, const struct way *way)
{
    static const uint64_t lives[] = {0, 10, 1000, 100000, MILLION};
    storm(self, way, "cold");
    storm(self, way, "again");
    uint64_t armed = 0;
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
        for (; armed < lives[i]; armed++)
            way->arm(self, armed);
        printf("%-24s %7" PRIu64 " live    pair %6.1f  of eight %6.1f",
               way->name,
               armed,
               best_pair(self, way, armed, 1),
               best_pair(self, way, armed, 8));
        if (armed)
            printf("  any of them %6.1f", best_replaced(self, way, armed));
        puts(" ns");
    }
    while (armed > 0)
        way->cancel(self, --armed);
}

struct subject {
    tr_ref client;
    uint64_t fired;
    double begin_ns;
};

static tr_next on_go(tr_self *self, struct subject *subject)
{
    double begin = now_ns();
    for (int i = 0; i < MILLION; i++)
        (void)tr_now(self);
    printf("the clock               %6.1f ns\n", (now_ns() - begin) / MILLION);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        measure(self, &ways[i]);
    subject->client = tr_sender(self);
    for (uint64_t i = 0; i < FIRED; i++)
        (void)tr_timer_once(self, NULL, 0, small, .number = i);
    subject->begin_ns = now_ns();
    return TR_SAME;
}

static tr_next on_small(tr_self *self, struct subject *subject)
{
    if (++subject->fired < FIRED)
        return TR_SAME;
    printf("fire and handle         %6.1f ns, of %d that are due\n",
           (now_ns() - subject->begin_ns) / FIRED,
           (int)FIRED);
    tr_tell(self, subject->client, over);
    return TR_SAME;
}

TR_BEHAVIOR(subject, struct subject, TR_ON(go, on_go), TR_ON(small, on_small));

int main(void)
{
    handles = calloc(MILLION + 8, sizeof *handles);
    keys = calloc(MILLION + 8, sizeof *keys);
    if (!handles || !keys)
        return 1;
    for (uint64_t i = 0; i < MILLION + 8; i++) {
        snprintf(keys[i], sizeof keys[i], "timer %" PRIu64, i);
        handles[i].number = i; /* Touched before it is timed. */
    }
    tr_system *system;
    tr_client *client;
    subject_ref subject;
    if (tr_system_new(&(tr_system_options){.workers = 1}, &system) != TR_OK ||
        tr_client_new(system, &client) != TR_OK || tr_system_start(system) != TR_OK ||
        tr_try_spawn(client, &subject, subject, NULL) != TR_OK)
        return 1;
    tr_tell(client, subject, go);
    int code = tr_receive(client, over, 10 * TR_MINUTE) ? 0 : 1;
    tr_client_free(client);
    tr_system_shutdown(system, TR_MINUTE);
    if (tr_system_wait(system) != TR_OK)
        code = 1;
    tr_system_free(system);
    free(handles);
    free(keys);
    return code;
}
