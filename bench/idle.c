/* SPDX-License-Identifier: Apache-2.0 */
/**
 * idle_memory and idle_touched: a million actors that wait for their first message, and then get
 * it. What counts is the memory of each.
 */
#include "bench.h"

#include <string.h>

TR_MESSAGE(poke, (u64, value));
TR_MESSAGE(poked, (u64, value));
TR_ACTOR(sleeper, poke);

TR_MESSAGE(room, (u64, beds), (ref, client));
TR_MESSAGE(fill);
TR_MESSAGE(poke_all);
TR_ACTOR(dormitory, fill, poke_all, poked);

struct sleeper {
    uint64_t value;
};

static tr_next on_poke(tr_self *self, struct sleeper *sleeper, const struct poke *message)
{
    sleeper->value = message->value;
    return tr_reply(self, poked, .value = sleeper->value);
}

TR_BEHAVIOR(sleeper, struct sleeper, TR_ON(poke, on_poke));

struct dormitory {
    sleeper_ref *sleepers;
    uint64_t beds;
    uint64_t missing;
    uint64_t sum;
    tr_ref client;
};

static tr_next set_up_dormitory(tr_self *self, struct dormitory *dormitory,
                                const struct room *message)
{
    size_t size = message->beds * sizeof *dormitory->sleepers;
    dormitory->beds = message->beds;
    dormitory->client = message->client;
    dormitory->sleepers = tr_alloc(self, size);
    /* The table is no part of the actors: its pages are in memory before the first is spawned. */
    memset(dormitory->sleepers, 0xff, size);
    tr_tell(self, dormitory->client, done, .value = dormitory->beds);
    return TR_SAME;
}

static tr_next on_fill(tr_self *self, struct dormitory *dormitory)
{
    for (uint64_t i = 0; i < dormitory->beds; i++)
        dormitory->sleepers[i] = tr_spawn(self, sleeper, NULL);
    tr_tell(self, dormitory->client, done, .value = dormitory->beds);
    return TR_SAME;
}

static tr_next on_poke_all(tr_self *self, struct dormitory *dormitory)
{
    dormitory->missing = dormitory->beds;
    for (uint64_t i = 0; i < dormitory->beds; i++)
        tr_tell(self, dormitory->sleepers[i], poke, .value = i);
    return TR_SAME;
}

static tr_next on_poked(tr_self *self, struct dormitory *dormitory, const struct poked *message)
{
    dormitory->sum += message->value;
    if (--dormitory->missing == 0)
        tr_tell(self, dormitory->client, done, .value = dormitory->sum);
    return TR_SAME;
}

TR_BEHAVIOR(dormitory, struct dormitory, TR_SETUP_WITH(room, set_up_dormitory),
            TR_ON(fill, on_fill), TR_ON(poke_all, on_poke_all), TR_ON(poked, on_poked));

static uint64_t grown_since(uint64_t base)
{
    uint64_t now = bench_rss();
    return now > base ? now - base : 0;
}

void bench_idle(struct bench *bench)
{
    uint64_t actors = bench_count(1000000);
    dormitory_ref dormitory;
    bench_must(tr_try_spawn(bench->client,
                            &dormitory,
                            dormitory,
                            "dormitory",
                            room,
                            .beds = actors,
                            .client = tr_client_ref(bench->client)),
               "spawn");
    bench_check("size of the table", bench_wait(bench), actors);
    uint64_t base = bench_rss();

    uint64_t begin = bench_now();
    tr_tell(bench->client, dormitory, fill);
    bench_check("number of actors", bench_wait(bench), actors);
    uint64_t end = bench_now();
    bench_report_idle(bench->workload, bench->threads, actors, end - begin, grown_since(base));

    begin = bench_now();
    tr_tell(bench->client, dormitory, poke_all);
    uint64_t sum = bench_wait(bench);
    end = bench_now();
    bench_check("the sum", sum, actors * (actors - 1) / 2);
    bench_report_idle("idle_touched", bench->threads, actors, end - begin, grown_since(base));
}
