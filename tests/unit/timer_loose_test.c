/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Timers without a key: their numbers, which never lead to another timer, and their memory.
 */
#include "support/test.h"
#include "support/fake_memory.h"

#include "timer/loose.h"

enum { LISTS = 3, TIMERS = 3000, MILLION = 1000000 };

struct row {
    struct timer_entry *entry; /* NULL: it has none. */
    uint64_t number;           /* The last one. */
    unsigned list;
};

static struct fake_memory fake;
static struct loose_pool pool;
static struct loose_list lists[LISTS];
static unsigned counts[LISTS];
static struct row rows[MILLION];

static void start(void)
{
    struct memory_source source = fake_memory_init(&fake);
    tr__loose_init(&pool, &source);
    memset(lists, 0, sizeof lists);
    memset(counts, 0, sizeof counts);
    memset(rows, 0, sizeof rows);
}

static void finish(void)
{
    tr__loose_deinit(&pool);
    ck_assert_uint_eq(fake.bytes, 0);
    ck_assert_uint_eq(fake.blocks, 0);
}

static const tr_type type;

/* What a row says of itself: some that follow one another have the same context. */
static struct timer_context context_of(const struct row *row, unsigned list)
{
    uint64_t which = (uint64_t)(row - rows) / 5 % 4;
    return (struct timer_context){which == 3 ? NULL : &type, which / 2, list + 1, 0};
}

static uint64_t index_of(const struct timer_entry *entry)
{
    uint64_t index;
    memcpy(&index, entry->bytes, sizeof index);
    return index;
}

/* False when out of memory: then nothing has changed. */
static bool row_add(struct row *row, unsigned list)
{
    struct loose_list before = lists[list];
    uint64_t number = 0;
    struct timer_context context = context_of(row, list);
    struct timer_entry *entry =
        tr__loose_add(&lists[list], &pool, context.type, context.value, context.owner, &number);
    if (!entry) {
        MODEL_ASSERT(before.first == lists[list].first && before.count == lists[list].count);
        return false;
    }
    MODEL_ASSERT(number != 0 && number != row->number);
    MODEL_ASSERT((uintptr_t)entry % 8 == 0);
    MODEL_ASSERT(!timer_is_armed(&entry->node) && !timer_has(entry, TIMER_OWN | TIMER_KEYED));
    MODEL_ASSERT(timer_kind(entry) == TIMER_ONCE && !entry->envelope);
    MODEL_ASSERT(tr__loose_number(&pool, entry) == number);
    memcpy(entry->bytes, &(uint64_t){(uint64_t)(row - rows)}, sizeof entry->bytes);
    *row = (struct row){entry, number, list};
    counts[list]++;
    return true;
}

static void row_remove(struct row *row)
{
    MODEL_ASSERT(tr__loose_find(&pool, row->number) == row->entry);
    MODEL_ASSERT(index_of(row->entry) == (uint64_t)(row - rows));
    tr__loose_remove(&lists[row->list], &pool, row->entry);
    row->entry = NULL;
    counts[row->list]--;
    MODEL_ASSERT(!tr__loose_find(&pool, row->number));
}

/* All that are in a list, each once. */
static void list_check(unsigned list)
{
    unsigned count = 0;
    const struct timer_entry *entry = tr__loose_first(&lists[list], &pool);
    for (; entry; entry = tr__loose_after(&pool, entry)) {
        const struct row *row = &rows[index_of(entry)];
        MODEL_ASSERT(row->entry == entry && row->list == list);
        count++;
    }
    MODEL_ASSERT(count == counts[list] && lists[list].count == count);
}

static void rows_check(void)
{
    for (unsigned i = 0; i < TIMERS; i++) {
        const struct row *row = &rows[i];
        MODEL_ASSERT(tr__loose_find(&pool, row->number) == row->entry);
        if (!row->entry)
            continue;
        const struct timer_context *context = loose_context(&pool, row->entry);
        struct timer_context expected = context_of(row, row->list);
        MODEL_ASSERT(context->type == expected.type && context->value == expected.value);
        MODEL_ASSERT(context->owner == expected.owner);
        MODEL_ASSERT(tr__loose_number(&pool, row->entry) == row->number);
    }
    for (unsigned i = 0; i < LISTS; i++)
        list_check(i);
}

static void waves_run(uint64_t *random, bool is_refusing)
{
    start();
    for (unsigned wave = 0; wave < 12; wave++) {
        unsigned live = 1 + (unsigned)(fake_random(random) % TIMERS);
        for (unsigned step = 0; step < 3 * live; step++) {
            struct row *row = &rows[fake_random(random) % live];
            bool is_rare = fake_random(random) % 4 == 0;
            fake.fail_all = is_refusing && fake_random(random) % 4 == 0;
            if ((wave % 2 == 0) == is_rare && row->entry)
                row_remove(row);
            else if ((wave % 2 == 0) != is_rare && !row->entry)
                (void)row_add(row, (unsigned)(fake_random(random) % LISTS));
        }
        rows_check();
        if (fake_random(random) % 3 == 0)
            tr__loose_trim(&pool);
        rows_check();
    }
    fake.fail_all = is_refusing;
    /* An actor ends: all that is in its list goes. */
    for (unsigned i = 0; i < LISTS; i++) {
        for (struct timer_entry *entry; (entry = tr__loose_first(&lists[i], &pool));)
            row_remove(&rows[index_of(entry)]);
        rows_check();
    }
    finish();
}

TEST(random_waves_agree_with_a_model, "T-01")
{
    uint64_t random = test_seed();
    for (uint64_t round = 0; round < test_scale(20, 2000); round++)
        waves_run(&random, round % 2);
}

TEST(each_refused_request_changes_nothing, "U-03")
{
    unsigned refused = 0;
    for (size_t n = 1;; n++) {
        start();
        fake.fail_at = n;
        for (unsigned i = 0; i < TIMERS; i++) {
            while (!row_add(&rows[i], 0)) {
                refused++;
                rows_check();
            }
        }
        size_t requests = fake.requests;
        for (unsigned i = 0; i < TIMERS; i++)
            row_remove(&rows[i]);
        finish();
        if (n > requests)
            break;
    }
    ck_assert_uint_gt(refused, 5);
}

/* Every number that was ever given leads to its own timer, or nowhere; also over freed slabs. */
TEST(an_old_number_never_leads_to_a_new_timer, "T-01", "TM-03")
{
    enum { KEPT = 200000 };
    static uint64_t numbers[KEPT];
    unsigned count = 0;
    uint64_t random = test_seed();
    start();
    while (count < KEPT) {
        unsigned live = 1 + (unsigned)(fake_random(&random) % 300);
        for (unsigned i = 0; i < live && count < KEPT; i++) {
            MODEL_ASSERT(row_add(&rows[i], 0));
            numbers[count++] = rows[i].number;
        }
        for (unsigned i = 0; i < live; i++) {
            if (rows[i].entry)
                row_remove(&rows[i]);
        }
        if (count % 7 == 0)
            tr__loose_trim(&pool);
    }
    for (unsigned i = 0; i < TIMERS; i++)
        MODEL_ASSERT(row_add(&rows[i], 0));
    for (unsigned i = 0; i < KEPT; i++)
        MODEL_ASSERT(!tr__loose_find(&pool, numbers[i]));
    for (unsigned i = 0; i < TIMERS; i++)
        row_remove(&rows[i]);
    finish();
}

TEST(what_is_no_number_finds_nothing, "T-01", "U-02")
{
    uint64_t random = test_seed();
    start();
    ck_assert_ptr_null(tr__loose_find(&pool, 0));
    ck_assert_ptr_null(tr__loose_find(&pool, UINT64_MAX));
    for (unsigned i = 0; i < 100; i++)
        MODEL_ASSERT(row_add(&rows[i], 0));
    for (unsigned i = 0; i < 50; i++)
        row_remove(&rows[i]);
    ck_assert_ptr_null(tr__loose_find(&pool, 0));
    ck_assert_ptr_null(tr__loose_find(&pool, UINT64_MAX));
    ck_assert_ptr_null(tr__loose_find(&pool, rows[60].number | UINT64_C(1) << 63));
    for (unsigned i = 0; i < 1000000; i++) {
        uint64_t number = fake_random(&random) >> fake_random(&random) % 64;
        struct timer_entry *entry = tr__loose_find(&pool, number);
        MODEL_ASSERT(!entry || rows[index_of(entry)].number == number);
    }
    for (unsigned i = 50; i < 100; i++)
        row_remove(&rows[i]);
    finish();
}

/* An entry whose generations are used up is not given again, nor is its place after its slab. */
TEST(generations_that_are_used_up_do_not_begin_anew, "T-01")
{
    enum { SOME = LOOSE_SLAB_FIRST * 2 / 3 }; /* With their runs, they are in one slab. */
    start();
    ck_assert(row_add(&rows[0], 0));
    ck_assert(row_add(&rows[1], 0));
    struct timer_entry *worn = rows[0].entry;
    uint32_t place = (uint32_t)rows[0].number;
    uint32_t generation = LOOSE_GENERATION_END - 1;
    worn->state = generation << TIMER_GENERATION_SHIFT | TIMER_LOOSE;
    rows[0].number = (uint64_t)generation << 32 | place;
    uint64_t last = rows[0].number;
    row_remove(&rows[0]);
    ck_assert_ptr_null(tr__loose_find(&pool, (uint64_t)LOOSE_GENERATION_END << 32 | place));
    for (unsigned i = 2; i < SOME; i++) {
        ck_assert(row_add(&rows[i], 0));
        ck_assert_ptr_ne(rows[i].entry, worn);
    }
    ck_assert_uint_eq(pool.made, LOOSE_SLAB_FIRST);
    for (unsigned i = 1; i < SOME; i++)
        row_remove(&rows[i]);
    tr__loose_trim(&pool);
    ck_assert_uint_eq(pool.made, 0);
    for (unsigned i = 0; i < 1000; i++) {
        ck_assert(row_add(&rows[i], 0));
        ck_assert_uint_ne((uint32_t)rows[i].number >> LOOSE_SLAB_BITS, place >> LOOSE_SLAB_BITS);
    }
    ck_assert_ptr_null(tr__loose_find(&pool, last));
    for (unsigned i = 0; i < 1000; i++)
        row_remove(&rows[i]);
    finish();
}

/*
 * At every number of other timers. Records come back in another order, and so the eight may be in more
 * runs than before: that is one slab and the table of slabs, once.
 */
TEST(one_timer_more_or_less_takes_nothing_in_the_steady_state, "")
{
    start();
    for (unsigned live = 0; live + 8 < TIMERS; live++) {
        size_t requests = 0;
        for (unsigned turn = 0; turn < 20; turn++) {
            for (unsigned i = live; i < live + 8; i++)
                ck_assert(row_add(&rows[i], 0));
            for (unsigned i = live; i < live + 8; i++)
                row_remove(&rows[i]);
            if (turn == 0)
                requests = fake.requests;
        }
        ck_assert_uint_le(fake.requests, requests + 2);
        ck_assert(row_add(&rows[live], 0));
    }
    for (unsigned i = 0; i + 8 < TIMERS; i++)
        row_remove(&rows[i]);
    finish();
}

TEST(a_million_cost_a_line_each_and_leave_nothing, "TM-11")
{
    start();
    for (unsigned i = 0; i < MILLION; i++)
        MODEL_ASSERT(row_add(&rows[i], 0));
    ck_assert_uint_le(fake.bytes, (size_t)MILLION * 48 + (size_t)10 * 1024 * 1024);
    ck_assert_uint_eq(tr__loose_bytes(&pool), fake.bytes);
    for (unsigned i = 0; i < MILLION; i++) {
        if (i % 10)
            row_remove(&rows[i]);
    }
    for (unsigned i = 0; i < MILLION; i += 10)
        row_remove(&rows[i]);
    /* One slab stays until the worker sleeps; then only where numbers continue. */
    ck_assert_uint_le(fake.bytes, (size_t)17 * 1024 * 1024);
    tr__loose_trim(&pool);
    ck_assert_uint_le(fake.bytes, 4096);
    ck_assert_uint_eq(tr__loose_bytes(&pool), fake.bytes);
    finish();
}

TEST_ABORTS(a_timer_of_another_list_is_not_removed, "")
{
    start();
    for (unsigned i = 0; i < 8; i++)
        ck_assert(row_add(&rows[i], i % 2));
    tr__loose_remove(&lists[2], &pool, rows[7].entry);
}

TEST_ABORTS(an_armed_timer_is_not_removed, "")
{
    static struct wheel wheel;
    start();
    tr__wheel_init(&wheel, 0);
    ck_assert(row_add(&rows[0], 0));
    tr__wheel_arm(&wheel, &rows[0].entry->node, 10);
    row_remove(&rows[0]);
}

SUITE("timers without a key", random_waves_agree_with_a_model, each_refused_request_changes_nothing,
      an_old_number_never_leads_to_a_new_timer, what_is_no_number_finds_nothing,
      generations_that_are_used_up_do_not_begin_anew,
      one_timer_more_or_less_takes_nothing_in_the_steady_state,
      a_million_cost_a_line_each_and_leave_nothing, a_timer_of_another_list_is_not_removed,
      an_armed_timer_is_not_removed)
