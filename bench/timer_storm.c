/* SPDX-License-Identifier: Apache-2.0 */
/**
 * timer_storm: one actor arms a million timers, takes nine of ten back, and waits for the rest.
 *
 * Timers have no keys here: the handle that tr_timer_once gives takes one back, as a Go program
 * would do it with a *time.Timer.
 */
#include "bench.h"

TR_MESSAGE(storm, (u64, timers));
TR_MESSAGE(thunder, (u64, number));
TR_MESSAGE(calm, (u64, fired), (u64, arm_ns), (u64, cancel_ns));
TR_ACTOR(sky, storm);

enum { KEEP_EACH = 10 };

struct sky {
    uint64_t fired;
    uint64_t kept;
    uint64_t arm_ns;
    uint64_t cancel_ns;
    tr_ref client;
};

static tr_next on_storm(tr_self *self, struct sky *sky, const struct storm *message)
{
    uint64_t count = message->timers;
    tr_timer *timers = tr_alloc(self, count * sizeof *timers);
    sky->client = tr_sender(self);
    uint64_t begin = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        tr_time delay_ns = (tr_time)(3000 + i * 7919 % 2000) * TR_MILLISECOND;
        timers[i] = tr_timer_once(self, NULL, delay_ns, thunder, .number = i);
    }
    uint64_t armed = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        if (i % KEEP_EACH)
            (void)tr_timer_stop(self, timers[i]);
        else
            sky->kept++;
    }
    sky->arm_ns = armed - begin;
    sky->cancel_ns = bench_now() - armed;
    return TR_SAME;
}

static tr_next on_thunder(tr_self *self, struct sky *sky, const struct thunder *message)
{
    bench_check("number of a timer that was not taken back", message->number % KEEP_EACH, 0);
    if (++sky->fired == sky->kept)
        tr_tell(self,
                sky->client,
                calm,
                .fired = sky->fired,
                .arm_ns = sky->arm_ns,
                .cancel_ns = sky->cancel_ns);
    return TR_SAME;
}

TR_BEHAVIOR(sky, struct sky, TR_ON(storm, on_storm), TR_ON(thunder, on_thunder));

void bench_timer_storm(struct bench *bench)
{
    uint64_t count = bench_count(1000000);
    uint64_t kept = (count + KEEP_EACH - 1) / KEEP_EACH;
    sky_ref sky;
    bench_must(tr_try_spawn(bench->client, &sky, sky, "sky"), "spawn");
    tr_tell(bench->client, sky, storm, .timers = count);
    const struct calm *calm = tr_receive(bench->client, calm, RESULT_TIMEOUT);
    if (!calm)
        bench_die_without_result(bench);
    bench_check("number of timers that fired", calm->fired, kept);
    bench_report_timers(bench->workload,
                        bench->threads,
                        count,
                        count - kept,
                        calm->arm_ns,
                        calm->cancel_ns,
                        calm->fired);
}
