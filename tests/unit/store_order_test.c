/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The contract of a store, part two: batches are whole and told of in order, and only the newest
 * generation writes.
 */
#include "support/stores.h"

#include "os/atomic.h"

static struct store *store;
static struct store_reader *reader;

static void open_store(void)
{
    struct store_options options = stores_options(NULL);
    store = stores_open(&options);
    reader = stores_reader(store);
}

static void close_store(void)
{
    tr__store_reader_free(reader);
    tr__store_close(store);
}

/* Who was told, in order. */
struct told {
    char text[4096];
    size_t size;
};
struct promise {
    struct told *told;
    char name[16];
};

static void on_told(void *context, struct store_batch *batch, tr_status status)
{
    struct promise *promise = context;
    struct told *told = promise->told;
    int written = snprintf(told->text + told->size,
                           sizeof told->text - told->size,
                           "%s:%s ",
                           promise->name,
                           tr_status_name(status));
    told->size += (size_t)written;
    tr__store_batch_free(batch);
}

static struct store_batch *batch_with_state(struct store_entry *entry, const char *state)
{
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes(state)), TR_OK);
    return batch;
}

static void submit(struct store_batch *batch, struct promise *promise, struct told *told,
                   const char *name)
{
    promise->told = told;
    (void)snprintf(promise->name, sizeof promise->name, "%s", name);
    ck_assert_int_eq(tr__store_submit(batch, on_told, promise), TR_OK);
}

TEST(a_group_is_told_of_in_order_of_submission, "PE-05", "PE-01")
{
    struct told told = {0};
    struct promise promises[4];
    open_store();
    struct store_entry *a = stores_enter(store, "k", "a");
    struct store_entry *b = stores_enter(store, "k", "b");
    submit(batch_with_state(a, "a1"), &promises[0], &told, "a1");
    submit(batch_with_state(b, "b1"), &promises[1], &told, "b1");
    submit(batch_with_state(a, "a2"), &promises[2], &told, "a2");
    submit(stores_batch(b), &promises[3], &told, "b2");
    ck_assert_str_eq(told.text, "");
    ck_assert_str_eq(stores_state(reader, "k", "a"), "TR_NOT_FOUND");
    ck_assert(tr__store_work(store));
    ck_assert_str_eq(told.text, "a1:TR_OK b1:TR_OK a2:TR_OK b2:TR_OK ");
    ck_assert(!tr__store_work(store));
    ck_assert_str_eq(stores_state(reader, "k", "a"), "a2");
    ck_assert_str_eq(stores_state(reader, "k", "b"), "b1");
    tr__store_leave(a);
    tr__store_leave(b);
    close_store();
}

/* A batch with more pages than a group is taken alone. Nothing of it is read when the next group is taken. */
TEST(what_follows_a_batch_larger_than_a_group_is_stored, "K-02", "PE-05")
{
    enum { KEYS = 2100 }; /* two pages are estimated for each, and a group has 4,000 */
    static char keys[KEYS][8];
    struct told told = {0};
    struct promise promises[3];
    open_store();
    struct store_entry *a = stores_enter(store, "k", "a");
    struct store_batch *large = batch_with_state(a, "a1");
    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "%d", i);
        ck_assert_int_eq(tr__store_kv_put(large, stores_bytes(keys[i]), stores_bytes("v")), TR_OK);
    }
    submit(large, &promises[0], &told, "large");
    ck_assert(tr__store_work(store));
    ck_assert(!tr__store_work(store));
    struct store_batch *destroy = stores_batch(a);
    ck_assert_int_eq(tr__store_destroy(destroy), TR_OK);
    submit(destroy, &promises[1], &told, "destroy");
    submit(batch_with_state(a, "a2"), &promises[2], &told, "a2");
    while (tr__store_work(store))
        continue;
    ck_assert_str_eq(told.text, "large:TR_OK destroy:TR_OK a2:TR_OK ");
    ck_assert_str_eq(stores_state(reader, "k", "a"), "a2");
    ck_assert_str_eq(stores_kv(reader, "k", "a", "7"), "TR_NOT_FOUND");
    tr__store_leave(a);
    close_store();
}

TEST(one_bad_batch_fails_alone_and_whole, "K-02", "AL-07")
{
    struct told told = {0};
    struct promise promises[5];
    open_store();
    struct store_entry *a = stores_enter(store, "k", "a");
    struct store_entry *b = stores_enter(store, "k", "b");
    struct store_entry *c = stores_enter(store, "k", "c");
    submit(batch_with_state(a, "a1"), &promises[0], &told, "a1");
    /* One alarm too many: found only after all of it was written. */
    struct store_batch *batch = batch_with_state(b, "b1");
    for (int i = 0; i <= TR_ALARMS_MAX + 1; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%d", i);
        ck_assert_int_eq(tr__store_alarm_set(batch, name, 1, stores_bytes("")), TR_OK);
    }
    submit(batch, &promises[1], &told, "b1");
    submit(batch_with_state(c, "c1"), &promises[2], &told, "c1");
    submit(batch_with_state(b, "b2"), &promises[3], &told, "b2");
    submit(batch_with_state(a, "a2"), &promises[4], &told, "a2");
    ck_assert(tr__store_work(store));
    ck_assert_str_eq(told.text, "a1:TR_OK b1:TR_LIMIT c1:TR_OK b2:TR_STALE a2:TR_OK ");
    ck_assert_str_eq(stores_state(reader, "k", "a"), "a2");
    ck_assert_str_eq(stores_state(reader, "k", "b"), "TR_NOT_FOUND");
    ck_assert_str_eq(stores_state(reader, "k", "c"), "c1");

    /* The entry is over; a new one continues. */
    ck_assert_int_eq(stores_put(store, b, 1, "b3"), TR_STALE);
    tr__store_leave(b);
    b = stores_enter(store, "k", "b");
    ck_assert_int_eq(stores_put(store, b, 1, "b4"), TR_OK);
    ck_assert_str_eq(stores_state(reader, "k", "b"), "b4");
    tr__store_leave(a);
    tr__store_leave(b);
    tr__store_leave(c);
    close_store();
}

TEST(limits_have_statuses, "K-02")
{
    open_store();
    static char big[TR_STATE_MAX + STORE_FRONT_MAX + 1];
    struct store_entry *entry;
    tr_bytes long_key = {big, TR_KEY_MAX + 1};
    char long_kind[TR_NAME_MAX + 2];
    memset(long_kind, 'k', sizeof long_kind - 1);
    long_kind[sizeof long_kind - 1] = '\0';
    ck_assert_int_eq(tr__store_enter(store, "k", long_key, NULL, NULL, &entry),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__store_enter(store, "k", (tr_bytes){0}, NULL, NULL, &entry),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__store_enter(store, "", stores_bytes("x"), NULL, NULL, &entry),
                     TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__store_enter(store, long_kind, stores_bytes("x"), NULL, NULL, &entry),
                     TR_INVALID_ARGUMENT);
    long_key.size--;
    long_kind[TR_NAME_MAX] = '\0';
    ck_assert_int_eq(tr__store_enter(store, long_kind, long_key, NULL, NULL, &entry), TR_OK);

    struct store_batch *batch = stores_batch(entry);
    tr_bytes one = stores_bytes("1");
    ck_assert_int_eq(tr__store_put_state(batch, 1, (tr_bytes){big, sizeof big}), TR_TOO_LARGE);
    ck_assert_int_eq(tr__store_kv_put(batch, (tr_bytes){0}, one), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__store_kv_put(batch, (tr_bytes){big, TR_KV_KEY_MAX + 1}, one),
                     TR_TOO_LARGE);
    ck_assert_int_eq(tr__store_kv_put(batch, one, (tr_bytes){big, TR_KV_VALUE_MAX + 1}),
                     TR_TOO_LARGE);
    ck_assert_int_eq(tr__store_alarm_set(batch, "a", 1, (tr_bytes){big, TR_ALARM_BYTES_MAX + 1}),
                     TR_TOO_LARGE);
    ck_assert_int_eq(tr__store_alarm_set(batch, "", 1, one), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(
        tr__store_queue_push(
            batch, "q", 1, (tr_bytes){big, TR_QUEUE_ITEM_MAX + STORE_QUEUE_FRONT_MAX + 1}),
        TR_TOO_LARGE);
    ck_assert_int_eq(tr__store_queue_push(batch, "q", UINT64_MAX, one), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(
        tr__store_event_append(batch, 0, (tr_bytes){big, TR_EVENT_MAX + STORE_FRONT_MAX + 1}),
        TR_TOO_LARGE);
    ck_assert(tr__store_batch_is_empty(batch));

    ck_assert_int_eq(tr__store_put_state(batch, 1, (tr_bytes){big, sizeof big - 1}), TR_OK);
    ck_assert_int_eq(
        tr__store_kv_put(batch, (tr_bytes){big, TR_KV_KEY_MAX}, (tr_bytes){big, TR_KV_VALUE_MAX}),
        TR_OK);
    for (uint64_t i = 0; i < 2000; i++)
        ck_assert_int_eq(tr__store_queue_push(batch, "q", i, one), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    struct store_state state;
    ck_assert_int_eq(tr__store_read_state(reader, long_kind, long_key, &state), TR_OK);
    ck_assert_uint_eq(state.bytes.size, sizeof big - 1);
    tr__store_leave(entry);
    close_store();
}

TEST(entering_makes_earlier_entries_stale, "K-06")
{
    struct told told = {0};
    struct promise promise;
    open_store();
    struct store_entry *first = stores_enter(store, "k", "x");
    ck_assert_int_eq(stores_put(store, first, 1, "first"), TR_OK);
    /* Nothing of it is on its way, so the second one is ready at once. */
    struct store_entry *second = stores_enter(store, "k", "x");
    ck_assert(tr__store_entry_is_ready(second));
    ck_assert(tr__store_entry_is_current(second));
    ck_assert(!tr__store_entry_is_current(first));
    ck_assert_int_gt(store_generation_compare(tr__store_entry_generation(second),
                                              tr__store_entry_generation(first)),
                     0);
    ck_assert_int_eq(stores_put(store, first, 1, "late"), TR_STALE);
    ck_assert_int_eq(stores_put(store, second, 1, "second"), TR_OK);

    /* What waits and was not left is refused; the third one is ready when that was told. */
    submit(batch_with_state(second, "waits"), &promise, &told, "waits");
    struct store_entry *third = stores_enter(store, "k", "x");
    ck_assert(!tr__store_entry_is_ready(third));
    ck_assert(tr__store_work(store));
    ck_assert_str_eq(told.text, "waits:TR_STALE ");
    ck_assert(tr__store_entry_is_ready(third));
    ck_assert_str_eq(stores_state(reader, "k", "x"), "second");
    ck_assert_int_eq(stores_put(store, third, 1, "third"), TR_OK);
    tr__store_leave(second);
    tr__store_leave(first);
    tr__store_leave(third);
    close_store();
}

static void on_ready(void *context, struct store_entry *entry)
{
    ck_assert(tr__store_entry_is_ready(entry));
    ++*(int *)context;
}

TEST(who_left_is_committed_and_waited_for, "K-06")
{
    struct told told = {0};
    struct promise promises[2];
    int ready = 0;
    open_store();
    struct store_entry *first = stores_enter(store, "k", "x");
    submit(batch_with_state(first, "last words"), &promises[0], &told, "1");
    tr__store_leave(first);
    struct store_entry *second;
    tr_bytes key = stores_bytes("x");
    ck_assert_int_eq(tr__store_enter(store, "k", key, on_ready, &ready, &second), TR_OK);
    ck_assert(!tr__store_entry_is_ready(second));
    /* One that leaves before it was ready is passed over. */
    tr__store_leave(second);
    struct store_entry *third;
    ck_assert_int_eq(tr__store_enter(store, "k", key, on_ready, &ready, &third), TR_OK);
    ck_assert(!tr__store_entry_is_ready(third));
    ck_assert_int_eq(ready, 0);
    ck_assert(tr__store_work(store));
    ck_assert_str_eq(told.text, "1:TR_OK ");
    ck_assert_int_eq(ready, 1);
    ck_assert_str_eq(stores_state(reader, "k", "x"), "last words");
    ck_assert_int_eq(stores_put(store, third, 1, "third"), TR_OK);
    tr__store_leave(third);
    close_store();
}

TEST(generations_grow_over_openings, "K-06")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store_generation last = {0};
    for (uint64_t i = 1; i <= 5; i++) {
        store = stores_open(&options);
        ck_assert_uint_eq(tr__store_epoch(store), i);
        for (int j = 0; j < 3; j++) {
            struct store_entry *entry = stores_enter(store, "k", j == 1 ? "x" : "y");
            struct store_generation now = tr__store_entry_generation(entry);
            ck_assert_int_gt(store_generation_compare(now, last), 0);
            last = now;
            ck_assert_int_eq(stores_put(store, entry, 1, "s"), TR_OK);
            tr__store_leave(entry);
        }
        tr__store_close(store);
    }
    tr__disk_free(disk);
}

TEST(many_entries_are_told_apart, "K-06")
{
    enum { COUNT = 1000 };
    static struct store_entry *entries[COUNT];
    char key[16];
    open_store();
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        entries[i] = stores_enter(store, "k", key);
    }
    tr_status outcome;
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        struct store_batch *batch = stores_batch(entries[i]);
        char *state = tr__store_batch_alloc(batch, sizeof key);
        memcpy(state, key, sizeof key);
        ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes(state)), TR_OK);
        ck_assert_int_eq(tr__store_submit(batch, stores_on_done, &outcome), TR_OK);
        tr__store_leave(entries[i]);
    }
    while (tr__store_work(store))
        continue;
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        ck_assert_str_eq(stores_state(reader, "k", key), key);
    }
    close_store();
}

/* ---- With threads ---- */

enum { THREADS = 4, ACTORS = 8, ROUNDS = 100 };

struct writer {
    tr_thread *thread;
    struct store *store;
    int number;
    atom32 done;
    uint32_t last;
    bool is_ordered;
};

struct round {
    struct writer *writer;
    uint32_t number;
};

static void on_round(void *context, struct store_batch *batch, tr_status status)
{
    struct round *round = context;
    struct writer *writer = round->writer;
    writer->is_ordered = writer->is_ordered && status == TR_OK && round->number == writer->last + 1;
    writer->last = round->number;
    tr__store_batch_free(batch);
    atom32_fetch_add(&writer->done, 1, ATOM_RELEASE);
}

static void write_rounds(void *context)
{
    static struct round rounds[THREADS][ACTORS * ROUNDS];
    struct writer *writer = context;
    struct store_entry *entries[ACTORS];
    char key[32];
    for (int i = 0; i < ACTORS; i++) {
        (void)snprintf(key, sizeof key, "%d.%d", writer->number, i);
        entries[i] = stores_enter(writer->store, "k", key);
    }
    for (uint32_t i = 0; i < ACTORS * ROUNDS; i++) {
        struct round *round = &rounds[writer->number][i];
        *round = (struct round){writer, i + 1};
        struct store_batch *batch = stores_batch(entries[i % ACTORS]);
        char *state = tr__store_batch_alloc(batch, 16);
        (void)snprintf(state, 16, "%u", i / ACTORS);
        ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes(state)), TR_OK);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("k"), stores_bytes(state)), TR_OK);
        ck_assert_int_eq(tr__store_submit(batch, on_round, round), TR_OK);
    }
    for (int i = 0; i < ACTORS; i++)
        tr__store_leave(entries[i]);
}

static void run_threads(struct store_options options)
{
    const tr_platform *platform = tr_platform_real();
    static struct writer writers[THREADS];
    options.is_threadless = false;
    store = stores_open(&options);
    for (int i = 0; i < THREADS; i++) {
        writers[i] = (struct writer){.store = store, .number = i, .is_ordered = true};
        atom32_init(&writers[i].done, 0);
        tr_status status =
            platform->thread_start(platform, "w", write_rounds, &writers[i], &writers[i].thread);
        ck_assert_int_eq(status, TR_OK);
    }
    /* Reads continue meanwhile; state and key of one batch are never seen apart by a later read. */
    reader = stores_reader(store);
    for (int i = 0; i < 200; i++) {
        const char *state = stores_state(reader, "k", "0.0");
        int before = atoi(state[0] == 'T' ? "0" : state);
        const char *value = stores_kv(reader, "k", "0.0", "k");
        ck_assert_int_ge(atoi(value[0] == 'T' ? "0" : value), before);
    }
    for (int i = 0; i < THREADS; i++) {
        platform->thread_join(platform, writers[i].thread);
        while (atom32_load(&writers[i].done, ATOM_ACQUIRE) < ACTORS * ROUNDS)
            platform->yield(platform);
        ck_assert(writers[i].is_ordered);
    }
    char key[32];
    char last[16];
    (void)snprintf(last, sizeof last, "%d", ROUNDS - 1);
    for (int i = 0; i < THREADS * ACTORS; i++) {
        (void)snprintf(key, sizeof key, "%d.%d", i / ACTORS, i % ACTORS);
        ck_assert_str_eq(stores_state(reader, "k", key), last);
        ck_assert_str_eq(stores_kv(reader, "k", key, "k"), last);
    }
    close_store();
}

TEST(threads_write_and_are_told_in_order_in_memory, "PE-05", "K-06")
{
    run_threads(stores_options(NULL));
}

TEST(threads_write_and_are_told_in_order_on_disk, "PE-05", "K-06")
{
    struct store_options options = stores_options(NULL);
    options.path = stores_directory();
    run_threads(options);
    stores_remove(options.path);
}

SUITE("store order", a_group_is_told_of_in_order_of_submission,
      what_follows_a_batch_larger_than_a_group_is_stored, one_bad_batch_fails_alone_and_whole,
      limits_have_statuses, entering_makes_earlier_entries_stale,
      who_left_is_committed_and_waited_for, generations_grow_over_openings,
      many_entries_are_told_apart, threads_write_and_are_told_in_order_in_memory,
      threads_write_and_are_told_in_order_on_disk)
