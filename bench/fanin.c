/* SPDX-License-Identifier: Apache-2.0 */
/**
 * fanin20, fanin2 and counting: senders that send all they have in a loop inside one turn.
 */
#include "bench.h"

enum { MAILBOX_MAX = 1024 }; /* senders that are faster than the receiver wait */

/* fanin: many senders, one receiver that counts. */

TR_MESSAGE(item, (u64, value));
TR_MESSAGE(expect, (u64, items), (ref, client));
TR_ACTOR(sink, item);

TR_MESSAGE(flow, (ref_of(sink), sink), (u64, items));
TR_MESSAGE(open_tap);
TR_ACTOR(source, open_tap);

TR_MESSAGE(fan_in, (u64, sources), (u64, items_each), (u32, spread));
TR_ACTOR(manifold, fan_in);

struct sink {
    uint64_t count;
    uint64_t sum;
    uint64_t expected;
    tr_ref client;
};

static tr_next set_up_sink(struct sink *sink, const struct expect *message)
{
    sink->expected = message->items;
    sink->client = message->client;
    return TR_SAME;
}

static tr_next on_item(tr_self *self, struct sink *sink, const struct item *message)
{
    sink->sum += message->value;
    if (++sink->count == sink->expected)
        tr_tell(self, sink->client, done, .value = sink->sum);
    return TR_SAME;
}

TR_BEHAVIOR(sink, struct sink, TR_SETUP_WITH(expect, set_up_sink), TR_ON(item, on_item),
            TR_OPTIONS(.mailbox_max = MAILBOX_MAX, .overflow = TR_PARK));

struct source {
    sink_ref sink;
    uint64_t items;
};

static tr_next set_up_source(struct source *source, const struct flow *message)
{
    source->sink = message->sink;
    source->items = message->items;
    return TR_SAME;
}

static tr_next on_open_tap(tr_self *self, struct source *source)
{
    for (uint64_t i = 0; i < source->items; i++)
        tr_tell(self, source->sink, item, .value = i);
    return TR_STOP;
}

TR_BEHAVIOR(source, struct source, TR_SETUP_WITH(flow, set_up_source),
            TR_ON(open_tap, on_open_tap));

static tr_next on_fan_in(tr_self *self, const struct fan_in *message)
{
    sink_ref sink = tr_spawn(self,
                             sink,
                             "sink",
                             expect,
                             .items = message->sources * message->items_each,
                             .client = tr_sender(self));
    for (uint64_t i = 0; i < message->sources; i++) {
        source_ref source = tr_spawn_at(self,
                                        (int)((i + 1) % message->spread),
                                        source,
                                        NULL,
                                        flow,
                                        .sink = sink,
                                        .items = message->items_each);
        tr_tell(self, source, open_tap);
    }
    return TR_SAME;
}

TR_BEHAVIOR(manifold, void, TR_ON(fan_in, on_fan_in));

static void run_fan_in(struct bench *bench, uint64_t sources)
{
    uint64_t each = bench_count(1000000);
    manifold_ref manifold;
    uint64_t begin = bench_now();
    bench_must(tr_try_spawn(bench->client, &manifold, manifold, "manifold"), "spawn");
    tr_tell(bench->client,
            manifold,
            fan_in,
            .sources = sources,
            .items_each = each,
            .spread = bench->spread);
    uint64_t sum = bench_wait(bench);
    uint64_t end = bench_now();
    bench_check("the sum", sum, sources * (each * (each - 1) / 2));
    bench_report(bench->workload, bench->threads, sources * each, end - begin);
}

void bench_fanin20(struct bench *bench)
{
    run_fan_in(bench, 20);
}

void bench_fanin2(struct bench *bench)
{
    run_fan_in(bench, 2);
}

/* counting: one sender, which asks for the count at the end. */

TR_MESSAGE(increment, (u64, by));
TR_MESSAGE(count, (u64, value));
TR_REQUEST(get_count, count);
TR_ACTOR(counter, increment, get_count);

TR_MESSAGE(produce, (u64, increments), (u32, spread));
TR_ACTOR(producer, produce, count);
TR_ACTOR(workshop, produce);

struct counter {
    uint64_t value;
};

static tr_next on_increment(struct counter *counter, const struct increment *message)
{
    counter->value += message->by;
    return TR_SAME;
}

static tr_next on_get_count(tr_self *self, struct counter *counter)
{
    return tr_reply(self, count, .value = counter->value);
}

TR_BEHAVIOR(counter, struct counter, TR_ON(increment, on_increment), TR_ON(get_count, on_get_count),
            TR_OPTIONS(.mailbox_max = MAILBOX_MAX, .overflow = TR_PARK));

struct producer {
    tr_ref client;
};

static tr_next on_produce(tr_self *self, struct producer *producer, const struct produce *message)
{
    counter_ref counter = tr_spawn_at(self, 0, counter, "counter");
    producer->client = tr_sender(self);
    for (uint64_t i = 0; i < message->increments; i++)
        tr_tell(self, counter, increment, .by = 1);
    tr_tell(self, counter, get_count);
    return TR_SAME;
}

static tr_next on_count(tr_self *self, struct producer *producer, const struct count *message)
{
    tr_tell(self, producer->client, done, .value = message->value);
    return TR_SAME;
}

TR_BEHAVIOR(producer, struct producer, TR_ON(produce, on_produce), TR_ON(count, on_count));

static tr_next on_produce_somewhere(tr_self *self, const struct produce *message)
{
    producer_ref producer = tr_spawn_at(self, (int)(1 % message->spread), producer, "producer");
    return tr_forward(self, producer);
}

TR_BEHAVIOR(workshop, void, TR_ON(produce, on_produce_somewhere));

void bench_counting(struct bench *bench)
{
    uint64_t increments = bench_count(10000000);
    workshop_ref workshop;
    uint64_t begin = bench_now();
    bench_must(tr_try_spawn(bench->client, &workshop, workshop, "workshop"), "spawn");
    tr_tell(bench->client, workshop, produce, .increments = increments, .spread = bench->spread);
    uint64_t count = bench_wait(bench);
    uint64_t end = bench_now();
    bench_check("the count", count, increments);
    bench_report(bench->workload, bench->threads, increments, end - begin);
}
