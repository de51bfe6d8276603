/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Keyed timers: a table that grows, shrinks and is walked, its memory, and a million of them.
 */
#include "support/test.h"
#include "support/fake_memory.h"

#include "timer/keys.h"

#include <stdio.h>

enum {
    KEYS = 4096,
    MILLION = 1000000,
    MS_NS = 1000000,
};

/* What the model knows of a key. */
struct row {
    struct timer_entry *entry; /* NULL when it is not in the table. */
    unsigned walked;           /* The walk that gave it last. */
    unsigned char key_length;
    char key[TR_TIMER_KEY_MAX];
};

/* The model puts its own pointer where the runtime has that of an envelope. */
static void *user_of(const struct timer_entry *entry)
{
    return entry->envelope;
}

static void user_set(struct timer_entry *entry, void *user)
{
    entry->envelope = user;
}

static struct fake_memory fake;
static struct timer_pool pool;
static struct timer_keys keys;
static struct row rows[KEYS];
static unsigned row_count; /* Keys in the table. */
static unsigned walk_number;

/* Keys of all lengths, the empty one and such with NUL in them included; all different. */
static void rows_init(void)
{
    memset(rows, 0, sizeof rows);
    for (unsigned i = 1; i < KEYS; i++) {
        struct row *row = &rows[i];
        int digits = snprintf(row->key, sizeof row->key, "%x", i);
        row->key_length = (unsigned char)(digits + (int)(i * 7 % (TR_TIMER_KEY_MAX - 5)));
        for (int at = digits; at < row->key_length; at++)
            row->key[at] = (char)(i % 5 == 0 ? '\0' : 'x');
    }
}

static void start(void)
{
    struct memory_source source = fake_memory_init(&fake);
    tr__timer_pool_init(&pool, &source, (struct hash_key){test_seed(), 7});
    keys = (struct timer_keys){0};
    row_count = 0;
    rows_init();
}

static void finish(void)
{
    ck_assert_uint_eq(keys.count, 0);
    tr__timer_pool_deinit(&pool);
    ck_assert_uint_eq(fake.bytes, 0);
    ck_assert_uint_eq(fake.blocks, 0);
}

static void row_check(struct row *row)
{
    struct timer_entry *entry = tr__keys_find(&keys, &pool, row->key, row->key_length);
    MODEL_ASSERT(entry == row->entry);
    if (!entry)
        return;
    MODEL_ASSERT(user_of(entry) == row);
    MODEL_ASSERT(entry->keyed.key_length == row->key_length);
    MODEL_ASSERT(memcmp(keyed_of(entry)->key, row->key, row->key_length) == 0);
    MODEL_ASSERT(keyed_of(entry)->key[row->key_length] == '\0');
}

/* False when out of memory: then nothing has changed. */
static bool row_obtain(struct row *row)
{
    struct timer_keys before = keys;
    bool is_new = true;
    struct timer_entry *entry = tr__keys_obtain(&keys, &pool, row->key, row->key_length, &is_new);
    if (!entry) {
        MODEL_ASSERT(memcmp(&before, &keys, sizeof keys) == 0);
        MODEL_ASSERT(!row->entry);
        row_check(row);
        return false;
    }
    MODEL_ASSERT(is_new == !row->entry);
    if (is_new) {
        MODEL_ASSERT(!timer_is_armed(&entry->node));
        MODEL_ASSERT(!user_of(entry));
        MODEL_ASSERT(timer_kind(entry) == TIMER_ONCE);
        MODEL_ASSERT(timer_context(&pool, entry)->value == 0);
        row_count++;
    } else {
        MODEL_ASSERT(entry == row->entry);
        MODEL_ASSERT(user_of(entry) == row);
    }
    user_set(entry, row);
    keyed_of(entry)->context.value = (uint64_t)(row - rows);
    row->entry = entry;
    return true;
}

static void row_remove(struct row *row)
{
    MODEL_ASSERT(keyed_of(row->entry)->context.value == (uint64_t)(row - rows));
    tr__keys_remove(&keys, &pool, row->entry);
    row->entry = NULL;
    row_count--;
}

/* Walks and removes one entry in `removed_in`, 0 for none. Everything is given exactly once. */
static void rows_walk(uint64_t *random, uint64_t removed_in)
{
    unsigned given = 0;
    unsigned expected = row_count;
    walk_number++;
    struct keys_walk walk = tr__keys_walk(&keys);
    for (struct timer_entry *entry; (entry = tr__keys_walk_next(&keys, &pool, &walk));) {
        struct row *row = user_of(entry);
        MODEL_ASSERT(row->entry == entry);
        MODEL_ASSERT(row->walked != walk_number);
        row->walked = walk_number;
        given++;
        if (removed_in > 0 && fake_random(random) % removed_in == 0) {
            tr__keys_walk_remove(&keys, &pool, &walk);
            row->entry = NULL;
            row_count--;
        }
    }
    MODEL_ASSERT(given == expected);
    MODEL_ASSERT(keys.count == row_count);
    MODEL_ASSERT(tr__keys_walk_next(&keys, &pool, &walk) == NULL);
}

static void rows_check_all(void)
{
    MODEL_ASSERT(keys.count == row_count);
    for (unsigned i = 0; i < KEYS; i++)
        row_check(&rows[i]);
}

/* Fills and empties in waves, so that the table grows and shrinks. */
static void waves_run(uint64_t *random, bool is_refusing)
{
    start();
    for (unsigned wave = 0; wave < 10; wave++) {
        unsigned live = 1 + (unsigned)(fake_random(random) % (wave % 3 == 0 ? 8 : KEYS));
        bool is_filling = wave % 2 == 0;
        for (unsigned step = 0; step < 4 * live; step++) {
            struct row *row = &rows[fake_random(random) % live];
            bool is_rare = fake_random(random) % 4 == 0;
            fake.fail_all = is_refusing && fake_random(random) % 4 == 0;
            if (is_filling != is_rare)
                (void)row_obtain(row);
            else if (row->entry)
                row_remove(row);
            row_check(row);
            MODEL_ASSERT(keys.count == row_count);
        }
        rows_check_all();
        rows_walk(random, fake_random(random) % 4);
        rows_check_all();
        if (fake_random(random) % 4 == 0)
            tr__timer_pool_trim(&pool);
    }
    fake.fail_all = is_refusing;
    rows_walk(random, 1);
    finish();
}

TEST(random_waves_agree_with_a_model, "")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(20, 2000); round++)
        waves_run(&random, false);
}

TEST(random_waves_survive_refused_memory, "U-03")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(20, 2000); round++)
        waves_run(&random, true);
}

/* Adds and removes all keys. A refused step is done again. Says how many were refused. */
static unsigned program_run(void)
{
    unsigned refused = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        while (!row_obtain(&rows[i])) {
            refused++;
            rows_check_all();
        }
    }
    rows_check_all();
    for (unsigned i = 0; i < KEYS; i++)
        row_remove(&rows[i]);
    finish();
    return refused;
}

TEST(each_refused_request_changes_nothing, "U-03")
{
    start();
    ck_assert_uint_eq(program_run(), 0);
    size_t requests = fake.requests;
    unsigned refused = 0;
    for (size_t n = 1; n <= requests; n++) {
        start();
        fake.fail_at = n;
        unsigned once = program_run(); /* A table that could not shrink stays as it was. */
        ck_assert_uint_le(once, 1);
        refused += once;
    }
    ck_assert_uint_gt(refused, 10);
}

/* A walk over every small table, with every choice of what it removes. */
TEST(a_walk_may_remove_what_it_is_at, "")
{
    for (unsigned seed = 0; seed < TEST_SEEDS(70); seed++) {
        unsigned count = seed % 7;
        for (unsigned choice = 0; choice < 1U << count; choice++) {
            start();
            pool.key.high = seed;
            for (unsigned i = 0; i < count; i++)
                MODEL_ASSERT(row_obtain(&rows[i]));
            unsigned given = 0;
            struct keys_walk walk = tr__keys_walk(&keys);
            for (struct timer_entry *entry; (entry = tr__keys_walk_next(&keys, &pool, &walk));) {
                struct row *row = user_of(entry);
                given |= 1U << (row - rows);
                if ((choice >> (row - rows) & 1) == 0)
                    continue;
                tr__keys_walk_remove(&keys, &pool, &walk);
                row->entry = NULL;
                row_count--;
            }
            MODEL_ASSERT(given == (1U << count) - 1);
            rows_check_all();
            uint64_t random = seed;
            rows_walk(&random, 1);
            finish();
        }
    }
}

TEST(a_table_without_entries_holds_no_memory, "")
{
    start();
    for (unsigned count = 1; count <= KEYS; count += count < 20 ? 1 : count) {
        for (unsigned i = 0; i < count; i++)
            ck_assert(row_obtain(&rows[i]));
        for (unsigned i = 0; i < count; i++)
            row_remove(&rows[count - 1 - i]);
        tr__timer_pool_trim(&pool);
        ck_assert_uint_eq(tr__timer_pool_bytes(&pool), 0);
        ck_assert_uint_eq(fake.bytes, 0);
    }
    finish();
}

/* Also with a refusal in the middle, which must not leave the table large forever. */
TEST(a_table_shrinks_with_its_entries, "")
{
    start();
    for (unsigned i = 0; i < KEYS; i++)
        ck_assert(row_obtain(&rows[i]));
    fake.fail_all = true;
    for (unsigned i = 10; i < KEYS - 1; i++)
        row_remove(&rows[i]);
    fake.fail_all = false;
    row_remove(&rows[KEYS - 1]);
    ck_assert_uint_le((UINT32_C(1) << keys.bits), 128);
    tr__timer_pool_trim(&pool);
    ck_assert_uint_le(fake.bytes, 4 * 64 * 1024);
    rows_check_all();
    for (unsigned i = 0; i < 10; i++)
        row_remove(&rows[i]);
    finish();
}

/* At every number of other timers; also where a table is about to grow or to shrink. */
TEST(arm_and_cancel_take_nothing_in_the_steady_state, "")
{
    start();
    for (unsigned live = 0; live + 8 < KEYS; live++) {
        for (unsigned i = live; i < live + 8; i++) { /* Whatever a pool or table needs once. */
            ck_assert(row_obtain(&rows[i]));
            row_remove(&rows[i]);
        }
        size_t requests = fake.requests;
        for (unsigned turn = 0; turn < 4; turn++) {
            for (unsigned i = live; i < live + 8; i++) {
                ck_assert(row_obtain(&rows[i]));
                row_remove(&rows[i]);
            }
        }
        ck_assert_uint_eq(fake.requests, requests);
        ck_assert(row_obtain(&rows[live]));
    }
    uint64_t random = 1;
    rows_walk(&random, 1);
    finish();
}

TEST_ABORTS(an_armed_entry_is_not_removed, "")
{
    static struct wheel wheel;
    start();
    tr__wheel_init(&wheel, 0);
    ck_assert(row_obtain(&rows[1]));
    tr__wheel_arm(&wheel, &rows[1].entry->node, 10);
    tr__keys_remove(&keys, &pool, rows[1].entry);
}

TEST_ABORTS(an_entry_of_another_table_is_not_removed, "")
{
    static struct timer_keys other;
    bool is_new;
    start();
    for (unsigned i = 0; i < 8; i++)
        ck_assert(row_obtain(&rows[i]));
    tr__keys_remove(&keys, &pool, tr__keys_obtain(&other, &pool, "a", 1, &is_new));
}

/* The million: for each key its deadline, 0 when it is not armed; and how many are due when. */
static struct wheel storm_wheel;
static uint32_t storm_ms[MILLION];
static unsigned storm_due[1 << 16];
static unsigned storm_count;

static struct timer_entry *storm_obtain(unsigned i)
{
    char key[16];
    int length = snprintf(key, sizeof key, "t%u", i);
    bool is_new;
    struct timer_entry *entry = tr__keys_obtain(&keys, &pool, key, (size_t)length, &is_new);
    MODEL_ASSERT(entry);
    MODEL_ASSERT(is_new == (storm_ms[i] == 0));
    MODEL_ASSERT(is_new || user_of(entry) == &storm_ms[i]);
    user_set(entry, &storm_ms[i]);
    return entry;
}

static void storm_forget(unsigned i)
{
    storm_due[storm_ms[i]]--;
    storm_ms[i] = 0;
    storm_count--;
}

static void storm_arm(unsigned i, uint32_t ms)
{
    struct timer_entry *entry = storm_obtain(i);
    MODEL_ASSERT(tr__wheel_cancel(&storm_wheel, &entry->node) == (storm_ms[i] != 0));
    if (storm_ms[i] != 0)
        storm_forget(i);
    tr__wheel_arm(&storm_wheel, &entry->node, (tr_time)ms * MS_NS);
    storm_ms[i] = ms;
    storm_due[ms]++;
    storm_count++;
}

static void storm_cancel(unsigned i)
{
    char key[16];
    int length = snprintf(key, sizeof key, "t%u", i);
    struct timer_entry *entry = tr__keys_find(&keys, &pool, key, (size_t)length);
    MODEL_ASSERT((entry != NULL) == (storm_ms[i] != 0));
    if (!entry)
        return;
    MODEL_ASSERT(tr__wheel_cancel(&storm_wheel, &entry->node));
    tr__keys_remove(&keys, &pool, entry);
    storm_forget(i);
}

/* Expires what is due up to a millisecond: all of it, and in order. */
static void storm_advance(uint32_t *now_ms, uint32_t to_ms)
{
    uint32_t last_ms = *now_ms;
    tr_time now_ns = (tr_time)to_ms * MS_NS;
    for (struct timer_node *node; (node = tr__wheel_expire(&storm_wheel, now_ns));) {
        struct timer_entry *entry = timer_entry_of(node);
        uint32_t *ms = user_of(entry);
        MODEL_ASSERT((tr_time)*ms * MS_NS == node->deadline_ns);
        MODEL_ASSERT(*ms >= last_ms);
        MODEL_ASSERT(*ms <= to_ms);
        last_ms = *ms;
        storm_forget((unsigned)(ms - storm_ms));
        tr__keys_remove(&keys, &pool, entry);
    }
    while (*now_ms < to_ms)
        MODEL_ASSERT(storm_due[(*now_ms)++] == 0);
    MODEL_ASSERT(storm_due[to_ms] == 0);
    MODEL_ASSERT(storm_wheel.count == storm_count);
    MODEL_ASSERT(keys.count == storm_count);
}

TEST(a_million_timers_come_and_go, "TM-11")
{
    uint64_t random = test_seed();
    unsigned million = (unsigned)test_scale(MILLION, MILLION);
    start();
    uint32_t now_ms = 1;
    tr__wheel_init(&storm_wheel, MS_NS);
    for (unsigned i = 0; i < million; i++)
        storm_arm(i, now_ms + 3000 + i * UINT32_C(7919) % 2000);
    ck_assert_uint_eq(storm_wheel.count, million);
    size_t peak = fake.bytes;
    if (million == MILLION)
        ck_assert_uint_le(peak, (size_t)MILLION * 192); /* Their messages included. */
    for (unsigned step = 0; step < 3 * million; step++) {
        unsigned i = (unsigned)(fake_random(&random) % million);
        if (fake_random(&random) % 2 == 0)
            storm_arm(i, now_ms + 1 + (uint32_t)(fake_random(&random) % 8000));
        else
            storm_cancel(i);
        if (step % 1000 == 0)
            storm_advance(&now_ms, now_ms + 1);
    }
    for (unsigned i = 0; i < million; i++) {
        if (fake_random(&random) % 10 != 0)
            storm_cancel(i);
    }
    storm_advance(&now_ms, now_ms + 10000);
    ck_assert_uint_eq(storm_count, 0);
    ck_assert_int_eq(tr__wheel_next(&storm_wheel), TR_NEVER);
    /* The pool keeps its reserve, and nothing when it is told so. */
    ck_assert_uint_le(fake.bytes, 2 * 1024 * 1024);
    tr__timer_pool_trim(&pool);
    ck_assert_uint_eq(fake.bytes, 0);
    finish();
}

SUITE("timer keys", random_waves_agree_with_a_model, random_waves_survive_refused_memory,
      each_refused_request_changes_nothing, a_walk_may_remove_what_it_is_at,
      a_table_without_entries_holds_no_memory, a_table_shrinks_with_its_entries,
      arm_and_cancel_take_nothing_in_the_steady_state, an_armed_entry_is_not_removed,
      an_entry_of_another_table_is_not_removed, a_million_timers_come_and_go)
