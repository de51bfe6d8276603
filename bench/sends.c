/* SPDX-License-Identifier: Apache-2.0 */
/**
 * client_tell and kit_tell: the two ways by which a message comes from another thread, from a client and
 * from an actor of another worker. For tools/bench-guard, which counts their instructions; their times
 * say little, since a kit does much beside.
 */
#include "bench.h"

#include <troupe/kit.h>

TR_MESSAGE(parcel, (u64, number));
TR_MESSAGE(address, (u64, expected), (ref, client));
TR_ACTOR(shelf, parcel);

struct shelf {
    uint64_t count;
    uint64_t sum;
    uint64_t expected; /* in each burst */
    tr_ref client;
};

enum { BURST = 100 };

static tr_next set_up_shelf(struct shelf *shelf, const struct address *message)
{
    shelf->expected = message->expected;
    shelf->client = message->client;
    return TR_SAME;
}

static tr_next on_parcel(tr_self *self, struct shelf *shelf, const struct parcel *message)
{
    shelf->sum += message->number;
    if (++shelf->count % shelf->expected == 0)
        tr_tell(self, shelf->client, done, .value = shelf->sum);
    return TR_SAME;
}

TR_BEHAVIOR(shelf, struct shelf, TR_SETUP_WITH(address, set_up_shelf), TR_ON(parcel, on_parcel));

void bench_client_tell(struct bench *bench)
{
    uint64_t bursts = bench_count(10000);
    uint64_t sum = 0;
    shelf_ref shelf;
    uint64_t begin = bench_now();
    bench_must(tr_try_spawn(bench->client,
                            &shelf,
                            shelf,
                            NULL,
                            address,
                            .expected = BURST,
                            .client = tr_client_ref(bench->client)),
               "spawn");
    for (uint64_t i = 0; i < bursts; i++) {
        for (uint64_t k = 0; k < BURST; k++)
            bench_must(tr_tell(bench->client, shelf, parcel, .number = k), "tell");
        sum = bench_wait(bench);
    }
    uint64_t end = bench_now();
    bench_check("the sum", sum, bursts * BURST * (BURST - 1) / 2);
    bench_report(bench->workload, bench->threads, bursts * BURST, end - begin);
}

TR_MESSAGE(post_all, (ref_of(shelf), shelf));
TR_ACTOR(postman, post_all);

static tr_next on_post_all(tr_self *self, const struct post_all *message)
{
    for (uint64_t k = 0; k < BURST; k++)
        tr_tell(self, message->shelf, parcel, .number = k);
    return TR_SAME;
}

TR_BEHAVIOR(postman, void, TR_ON(post_all, on_post_all));

/* Two workers of a kit, which one thread plays; the kit's own steps are counted too. */
void bench_kit_tell(struct bench *bench)
{
    uint64_t bursts = bench_count(10000);
    uint64_t sum = 0;
    shelf_ref shelf;
    postman_ref postman;
    uint64_t begin = bench_now();
    tr_kit *kit = tr_kit_new(&(tr_kit_options){.workers = 2});
    if (!kit)
        bench_die(BENCH_NO_RESULT, "tr_kit_new");
    tr_client *client = tr_kit_client(kit);
    tr_ref ref = tr_client_ref(client);
    bench_must(
        tr_try_spawn_at(client, &shelf, 0, shelf, NULL, address, .expected = BURST, .client = ref),
        "spawn");
    bench_must(tr_try_spawn_at(client, &postman, 1, postman, NULL), "spawn");
    for (uint64_t i = 0; i < bursts; i++) {
        bench_must(tr_tell(client, postman, post_all, .shelf = shelf), "tell");
        const struct done *done = tr_receive(client, done, RESULT_TIMEOUT);
        if (!done)
            bench_die(BENCH_NO_RESULT, "kit_tell did not end");
        sum = done->value;
    }
    tr_kit_free(kit);
    uint64_t end = bench_now();
    bench_check("the sum", sum, bursts * BURST * (BURST - 1) / 2);
    bench_report(bench->workload, bench->threads, bursts * BURST, end - begin);
}
