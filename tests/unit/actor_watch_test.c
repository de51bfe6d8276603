/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tables of death watch: by themselves, and what is left in them when watchers and targets end.
 */
#include "support/kits.h"

#include "actor/cell/system.h"
#include "actor/cell/watch_table.h"
#include "base/rng.h"
#include "support/fake_memory.h"

enum { TARGETS = 3000 };

static uint64_t target_of(uint64_t i)
{
    return (i + 1) << 32 | (i * 7 + 1);
}

/* ---- Whom one watches. ---- */

TEST(a_table_finds_what_is_in_it, "WA-02")
{
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    struct watch_table table = {0};
    static bool is_in[TARGETS];
    struct rng rng;
    rng_init(&rng, 1);
    uint32_t count = 0;
    for (int round = 0; round < 200000; round++) {
        /* It fills, then it empties. */
        bool adds = rng_below(&rng, 100) < (round / 25000 % 2 ? 30u : 70u);
        uint64_t i = rng_below(&rng, TARGETS);
        struct watch_entry *found = tr__watch_find(&table, target_of(i));
        MODEL_ASSERT((found != NULL) == is_in[i]);
        if (found)
            MODEL_ASSERT((uintptr_t)found->watch == i);
        if (adds && !is_in[i]) {
            MODEL_ASSERT(tr__watch_reserve(&table, &source));
            tr__watch_insert(&table,
                             &(struct watch_entry){.target = target_of(i),
                                                   .watch = (struct envelope *)(uintptr_t)i});
            is_in[i] = true;
            count++;
        } else if (!adds && is_in[i]) {
            tr__watch_remove(&table, &source, found);
            is_in[i] = false;
            count--;
        }
        MODEL_ASSERT(table.count == count);
    }
    for (uint64_t i = 0; i < TARGETS; i++) {
        struct watch_entry *found = tr__watch_find(&table, target_of(i));
        MODEL_ASSERT((found != NULL) == is_in[i]);
        if (found)
            tr__watch_remove(&table, &source, found);
    }
    ck_assert_uint_eq(table.count, 0);
    ck_assert_uint_le(table.mask, 15); /* it has shrunk */
    tr__watch_table_free(&table, &source);
    ck_assert_uint_eq(memory.blocks, 0);
}

/* ---- Who are watched. ---- */

static struct envelope letters[8 * TARGETS];
static uint32_t of_target[TARGETS];

static struct envelope *letter_new(uint64_t number, uint64_t target)
{
    struct envelope *envelope = &letters[number];
    *envelope = (struct envelope){.block_class = ENVELOPE_NO_BLOCK, .sender = number};
    watch_letter(envelope)->target = target_of(target);
    of_target[target]++;
    return envelope;
}

/* Takes all of a target; gives how many, and checks that the oldest come first. */
static uint32_t take_all(struct watched *watched, const struct memory_source *source, uint64_t i)
{
    struct envelope *first = tr__watched_take(watched, source, target_of(i));
    uint32_t count = 0;
    uint64_t last = 0;
    while (first) {
        struct envelope *envelope = first;
        watch_ring_remove(&first, envelope);
        MODEL_ASSERT(watch_letter(envelope)->target == target_of(i));
        MODEL_ASSERT(!count || envelope->sender > last);
        last = envelope->sender;
        count++;
    }
    return count;
}

static void play_watched(bool has_memory)
{
    struct fake_memory memory;
    struct memory_source source = fake_memory_init(&memory);
    struct watched watched = {0};
    struct rng rng;
    rng_init(&rng, 7);
    memset(of_target, 0, sizeof of_target);
    if (!has_memory)
        memory.fail_all = true;
    static bool is_in[8 * TARGETS];
    memset(is_in, 0, sizeof is_in);
    for (uint64_t i = 0; i < 8 * TARGETS; i++) {
        /* Some targets have many. */
        uint64_t target = rng_below(&rng, i % 4 ? TARGETS : 3);
        tr__watched_add(&watched, &source, letter_new(i, target));
        is_in[i] = true;
        uint64_t gone = rng_below(&rng, i + 1);
        if (i % 3 == 0 && is_in[gone]) {
            of_target[(watch_letter(&letters[gone])->target >> 32) - 1]--;
            tr__watched_remove(&watched, &source, &letters[gone]);
            is_in[gone] = false;
        }
    }
    ck_assert((watched.buckets != NULL) == has_memory);
    uint32_t rings = 0;
    for (uint64_t i = 0; i < TARGETS; i++)
        rings += of_target[i] > 0;
    ck_assert_uint_eq(watched.count, rings);
    for (uint64_t i = 0; i < TARGETS; i++)
        ck_assert_uint_eq(take_all(&watched, &source, i), of_target[i]);
    ck_assert_uint_eq(watched.count, 0);
    ck_assert_ptr_null(watched.buckets);
    tr__watched_free(&watched, &source);
    ck_assert_uint_eq(memory.blocks, 0);
}
TEST(rings_are_found_and_taken, "WA-13")
{
    play_watched(true);
}
TEST(rings_need_no_memory, "WA-01")
{
    play_watched(false);
}

/* ---- What is left with the workers. ---- */

TR_ACTOR(mourner, run);
static tr_next on_end(void)
{
    return TR_SAME;
}
TR_BEHAVIOR(mourner, void, TR_ON(run, on_run), TR_ON(tr_terminated, on_end));

enum { MOURNERS = 12 };
static mourner_ref mourners[MOURNERS];

static tr_next watch_each_other(tr_self *self)
{
    for (int i = 0; i < MOURNERS; i++)
        tr_watch(self, mourners[i]);
    return TR_SAME;
}

static tr_next unwatch_each_other(tr_self *self)
{
    for (int i = 0; i < MOURNERS; i++)
        tr_unwatch(self, mourners[i]);
    return TR_SAME;
}

static uint32_t watched_count(void)
{
    tr_system *system = tr_kit_system(kit);
    uint32_t count = 0;
    for (uint32_t i = 0; i < system->worker_count; i++)
        count += system->workers[i]->life.watched.count;
    return count;
}

static void begin(int workers)
{
    for (int i = 0; i < MOURNERS; i++)
        ck_assert_int_eq(tr_try_spawn_at(test, &mourners[i], i % workers, mourner, NULL), TR_OK);
    for (int i = 0; i < MOURNERS; i++)
        TELL_RUN(test, mourners[i], watch_each_other);
    tr_kit_settle(kit);
    ck_assert_uint_eq(watched_count(), MOURNERS);
}

TEST(nothing_is_left_of_watchers_that_end, "WA-13", "WA-11")
{
    for (int workers = 1; workers <= 4; workers++) {
        kit_open(workers, (uint64_t)workers);
        begin(workers);
        /* All but one end; it watches nobody any more, and is watched by nobody. */
        for (int i = 1; i < MOURNERS; i++)
            tr_kill(test, mourners[i]);
        tr_kit_settle(kit);
        ck_assert_uint_eq(watched_count(), 0);
        kit_close();

        kit_open(workers, (uint64_t)workers);
        begin(workers);
        for (int i = 0; i < MOURNERS; i++)
            TELL_RUN(test, mourners[i], unwatch_each_other);
        tr_kit_settle(kit);
        ck_assert_uint_eq(watched_count(), 0);
        kit_close();

        kit_open(workers, (uint64_t)workers);
        begin(workers);
        tr_client *client;
        ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &client), TR_OK);
        for (int i = 1; i < MOURNERS; i++)
            tr_stop(test, mourners[i]);
        for (int i = 0; i < MOURNERS; i++)
            ck_assert_int_eq(tr_watch(client, mourners[i]), TR_OK);
        tr_kit_settle(kit);
        ck_assert_uint_eq(watched_count(), 1);
        tr_client_free(client);
        tr_kit_settle(kit);
        ck_assert_uint_eq(watched_count(), 0);
        kit_close();
    }
}

SUITE("actor watch", a_table_finds_what_is_in_it, rings_are_found_and_taken, rings_need_no_memory,
      nothing_is_left_of_watchers_that_end)
