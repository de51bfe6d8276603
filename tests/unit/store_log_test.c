/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The log of the store has a bound at any load and is given back.
 */
#include "support/stores.h"

#include "os/atomic.h"
#include "store/core.h"
#include "store/driver.h"
#include "store/sql.h"
#include "store/tidy.h"

#include <sched.h>
#include <stdatomic.h>

/* TR_STORE_LOG_MAX is for a log that is tidied from this many pages on; it scales with that. */
enum { PAGES_DEFAULT = 1000, WRITERS = 32, VALUE = 64 * 1024 };

/* What a hook has seen of the log. */
struct watch {
    atom64 end_max; /* the greatest end of a write */
    atom32 is_cut;
    tr_parker *parker; /* to be woken when the log is cut; may be NULL */
};

/* A log without frames has a header and the tail. */
enum { SHORT_LOG = 16384 };

static tr_status on_io(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size)
{
    struct watch *watch = context;
    if (!strstr(file, "-log"))
        return TR_OK;
    uint64_t end = io == STORE_IO_WRITE ? offset + size : 0;
    uint64_t seen = atom64_load(&watch->end_max, ATOM_RELAXED);
    while (end > seen &&
           !atom64_compare_exchange(&watch->end_max, &seen, end, ATOM_RELAXED, ATOM_RELAXED))
        continue;
    if (io == STORE_IO_TRUNCATE && offset <= SHORT_LOG && watch->parker) {
        atom32_store(&watch->is_cut, 1, ATOM_RELEASE);
        tr_platform_real()->wake(tr_platform_real(), watch->parker);
    }
    return TR_OK;
}

/* Each writer has one batch on its way at any time, until so many are done. */
struct load {
    struct store *store;
    size_t value_size;
    atom64 left;
    atom32 running;
    atom32 is_woken;
    tr_parker *parker;
    struct writer {
        struct load *load;
        struct store_entry *entry;
        uint64_t round;
    } writers[WRITERS];
};

static void submit(struct writer *writer);

static void on_written(void *context, struct store_batch *batch, tr_status status)
{
    struct writer *writer = context;
    struct load *load = writer->load;
    ck_assert_int_eq(status, TR_OK);
    tr__store_batch_free(batch);
    if ((int64_t)atom64_fetch_sub(&load->left, 1, ATOM_RELAXED) > 0)
        submit(writer);
    else if (atom32_fetch_sub(&load->running, 1, ATOM_ACQ_REL) == 1) {
        tr_platform_real()->wake(tr_platform_real(), load->parker);
        atom32_store(&load->is_woken, 1, ATOM_RELEASE); /* the parker is not used any more */
    }
}

static void submit(struct writer *writer)
{
    size_t size = writer->load->value_size;
    struct store_batch *batch = stores_batch(writer->entry);
    char *value = tr__store_batch_alloc(batch, size);
    ck_assert_ptr_nonnull(value);
    memset(value, (int)('a' + writer->round++ % 26), size);
    ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("key"), (tr_bytes){value, size}), TR_OK);
    ck_assert_int_eq(tr__store_submit(batch, on_written, writer), TR_OK);
}

static void run_load(struct load *load, struct store *store, uint64_t batches, size_t value_size)
{
    const tr_platform *platform = tr_platform_real();
    *load = (struct load){.store = store, .value_size = value_size};
    ck_assert_int_eq(platform->parker_new(platform, &load->parker), TR_OK);
    atom64_init(&load->left, batches);
    atom32_init(&load->running, WRITERS);
    for (int i = 0; i < WRITERS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        load->writers[i] =
            (struct writer){.load = load, .entry = stores_enter(store, "k", key), .round = 0};
    }
    for (int i = 0; i < WRITERS; i++)
        submit(&load->writers[i]);
    while (atom32_load(&load->running, ATOM_ACQUIRE) > 0)
        platform->park(platform, load->parker, TR_NEVER);
    while (!atom32_load(&load->is_woken, ATOM_ACQUIRE))
        (void)sched_yield();
    for (int i = 0; i < WRITERS; i++)
        tr__store_leave(load->writers[i].entry);
    platform->parker_free(platform, load->parker);
}

/* Reads all the time: each read begins a transaction that may keep the log from starting over. */
struct nosy {
    struct store *store;
    atom32 is_over;
    tr_thread *thread;
};

static void read_on(void *context)
{
    struct nosy *nosy = context;
    struct store_reader *reader = stores_reader(nosy->store);
    while (!atom32_load(&nosy->is_over, ATOM_ACQUIRE)) {
        tr_bytes value;
        tr_status status =
            tr__store_read_kv(reader, "k", stores_bytes("7"), stores_bytes("key"), &value);
        ck_assert(status == TR_OK || status == TR_NOT_FOUND);
    }
    tr__store_reader_free(reader);
}

static void check_bound(struct store_options options, struct watch *watch, uint64_t batches,
                        size_t value_size)
{
    const tr_platform *platform = tr_platform_real();
    unsigned log_pages = options.log_pages ? options.log_pages : PAGES_DEFAULT;
    options.is_threadless = false;
    struct store *store = stores_open(&options);
    struct nosy nosy = {.store = store};
    ck_assert_int_eq(platform->thread_start(platform, "r", read_on, &nosy, &nosy.thread), TR_OK);
    struct load load;
    run_load(&load, store, batches, value_size);
    atom32_store(&nosy.is_over, 1, ATOM_RELEASE);
    platform->thread_join(platform, nosy.thread);
    tr__store_close(store);
    uint64_t limit = (uint64_t)TR_STORE_LOG_MAX / PAGES_DEFAULT * log_pages;
    ck_assert_uint_gt(atom64_load(&watch->end_max, ATOM_RELAXED), 0);
    ck_assert_uint_le(atom64_load(&watch->end_max, ATOM_RELAXED), limit);
}

/* docs/mends.md, 11. */
TEST(large_writes_without_a_pause_keep_the_log_below_its_limit, "K-11", "U-01")
{
    struct store_disk *disk = stores_disk(false);
    struct watch watch = {0};
    tr__disk_hook(disk, (struct store_io_hook){on_io, &watch});
    check_bound(stores_options(disk), &watch, test_scale(2000, 40000), VALUE);
    tr__disk_free(disk);
}

/* docs/mends.md, 11. The hot pages of a small database, over and over. */
TEST(small_writes_without_a_pause_keep_the_log_below_its_limit, "K-11")
{
    struct store_disk *disk = stores_disk(false);
    struct watch watch = {0};
    tr__disk_hook(disk, (struct store_io_hook){on_io, &watch});
    struct store_options options = stores_options(disk);
    options.log_pages = 100;
    check_bound(options, &watch, test_scale(60000, 1000000), 100);
    tr__disk_free(disk);
}

/* docs/mends.md, 11. */
TEST(the_log_on_disk_stays_below_its_limit, "K-11")
{
    const char *directory = stores_directory();
    struct watch watch = {0};
    const struct store_io_hook hook = {on_io, &watch};
    struct store_options options = stores_options(NULL);
    options.path = directory;
    options.hook = &hook;
    options.log_pages = 50;
    check_bound(options, &watch, test_scale(20000, 200000), 100);
    stores_remove(directory);
}

/* ---- What keeps the log from starting over ---- */

enum { PAGES_SHORT = 50, BATCHES = 2000 };

/* Ends of writes to a log that is tidied from PAGES_SHORT pages on. */
static const uint64_t short_limit = (uint64_t)TR_STORE_LOG_MAX / PAGES_DEFAULT * PAGES_SHORT;

static struct store *short_open(struct store_disk *disk, struct watch *watch,
                                const tr_platform *platform)
{
    tr__disk_hook(disk, (struct store_io_hook){on_io, watch});
    struct store_options options = stores_options(disk);
    options.is_threadless = false;
    options.log_pages = PAGES_SHORT;
    if (platform)
        options.source.platform = platform;
    return stores_open(&options);
}

/* While the turn is held, a second passes whenever the committing thread waits. */
static struct {
    tr_platform platform;
    _Atomic(const tr_parker *) writer;
    atom64 passed_ns;
    atom32 is_held;
    tr_parker *holder; /* of the thread that holds the turn */
} slow;
enum { SECONDS = 30 };

static tr_time slow_now(const tr_platform *platform)
{
    (void)platform;
    return tr_platform_real()->mono_now(tr_platform_real()) +
           (tr_time)atom64_load(&slow.passed_ns, ATOM_RELAXED);
}

static void slow_park(const tr_platform *platform, tr_parker *parker, tr_time deadline_ns)
{
    const tr_platform *real = tr_platform_real();
    if (parker != atomic_load(&slow.writer) || deadline_ns == TR_NEVER ||
        !atom32_load(&slow.is_held, ATOM_ACQUIRE)) {
        tr_time passed_ns = (tr_time)atom64_load(&slow.passed_ns, ATOM_RELAXED);
        real->park(real, parker, deadline_ns == TR_NEVER ? TR_NEVER : deadline_ns - passed_ns);
        return;
    }
    if (atom64_load(&slow.passed_ns, ATOM_RELAXED) >= SECONDS * (uint64_t)TR_SECOND) {
        /* no more time passes until the holder has woken, however long the machine takes for that */
        real->wake(real, slow.holder);
        real->yield(real);
        return;
    }
    tr_time left_ns = deadline_ns - slow_now(platform);
    uint64_t step_ns = left_ns > TR_SECOND ? TR_SECOND : left_ns > 0 ? (uint64_t)left_ns : 0;
    uint64_t passed_ns = atom64_fetch_add(&slow.passed_ns, step_ns, ATOM_RELAXED) + step_ns;
    if (passed_ns >= SECONDS * (uint64_t)TR_SECOND)
        real->wake(real, slow.holder);
    real->yield(real);
}

static void hold_long(void *context)
{
    struct store *store = context;
    const tr_platform *real = tr_platform_real();
    struct store_why why;
    tr__tidy_hold(store);
    atom32_store(&slow.is_held, 1, ATOM_RELEASE);
    while (atom64_load(&slow.passed_ns, ATOM_RELAXED) < SECONDS * (uint64_t)TR_SECOND)
        real->park(real, slow.holder, TR_NEVER);
    /* A compaction has the turn too, and it is the thread that waits that makes it. */
    ck_assert_int_eq(tr__store_order_shrink(store, NULL, &why), TR_NOT_SUPPORTED);
    atom32_store(&slow.is_held, 0, ATOM_RELEASE);
    tr__tidy_give(store);
}

/* A backup on a slow disk. docs/mends.md, 11. */
TEST(a_hold_of_half_a_minute_keeps_the_log_below_its_limit, "K-11", "K-22")
{
    const tr_platform *real = tr_platform_real();
    struct store_disk *disk = stores_disk(false);
    struct watch watch = {0};
    struct load load;
    tr_thread *thread;
    slow.platform = *real;
    slow.platform.mono_now = slow_now;
    slow.platform.park = slow_park;
    ck_assert_int_eq(real->parker_new(real, &slow.holder), TR_OK);
    struct store *store = short_open(disk, &watch, &slow.platform);
    atomic_store(&slow.writer, store->writer_parker);
    ck_assert_int_eq(real->thread_start(real, "h", hold_long, store, &thread), TR_OK);
    while (!atom32_load(&slow.is_held, ATOM_ACQUIRE))
        (void)sched_yield();
    run_load(&load, store, BATCHES, VALUE);
    real->thread_join(real, thread);
    atomic_store(&slow.writer, NULL);
    tr__store_close(store);
    ck_assert_uint_ge(atom64_load(&slow.passed_ns, ATOM_RELAXED), SECONDS * (uint64_t)TR_SECOND);
    ck_assert_uint_le(atom64_load(&watch.end_max, ATOM_RELAXED), short_limit);
    real->parker_free(real, slow.holder);
    tr__disk_free(disk);
}

/* A reader that is held until its reads say that commits wait. */
struct held {
    struct store *store;
    atom32 is_held;
    int rows;
};

static bool until_full(void *context, const struct store_row *row)
{
    struct held *held = context;
    (void)row;
    held->rows++;
    while (!atom32_load(&held->store->is_log_full, ATOM_RELAXED))
        (void)sched_yield();
    return true;
}

static tr_status on_sql_row(void *context, const tr_sql_value *values, size_t count)
{
    (void)context;
    (void)values;
    (void)count;
    return TR_OK;
}

static void hold_reader(void *context)
{
    struct held *held = context;
    struct store_reader *reader = stores_reader(held->store);
    const struct store_range all = {{0}, {0}, {0}, 0, false};
    const struct store_sql_options options = {.steps_max = TR_SQL_STEPS_MAX};
    struct store_sql_call call = {.text = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
                                          "FROM c WHERE n < 10000) SELECT count(*) FROM c",
                                  .visit = on_sql_row};
    struct store_sql *sql;
    tr_bytes value;
    ck_assert_int_eq(tr__store_sql_new(held->store, "k", stores_bytes("sql"), &options, &sql),
                     TR_OK);
    ck_assert_int_eq(tr__store_reader_hold(reader), TR_OK);
    atom32_store(&held->is_held, 1, ATOM_RELEASE);
    ck_assert_int_eq(tr__store_list_kv(reader, "k", stores_bytes("pair"), &all, until_full, held),
                     TR_STORE_BUSY);
    ck_assert_int_eq(held->rows, 1);
    ck_assert_int_eq(
        tr__store_read_kv(reader, "k", stores_bytes("pair"), stores_bytes("a"), &value),
        TR_STORE_BUSY);
    ck_assert_int_eq(tr__store_sql_run(sql, reader, &call), TR_STORE_BUSY);
    ck_assert_ptr_nonnull(strstr(call.error, "the log of the store is full"));
    tr__store_reader_release(reader);
    ck_assert_int_eq(
        tr__store_read_kv(reader, "k", stores_bytes("pair"), stores_bytes("a"), &value), TR_OK);
    ck_assert_int_eq(tr__store_sql_run(sql, reader, &call), TR_OK);
    tr__store_sql_free(sql);
    tr__store_reader_free(reader);
}

static void on_put(void *context, struct store_batch *batch, tr_status status)
{
    ck_assert_int_eq(status, TR_OK);
    tr__store_batch_free(batch);
    atom32_store((atom32 *)context, 1, ATOM_RELEASE);
}

static void submit_and_wait(struct store_batch *batch)
{
    atom32 is_done = {0};
    ck_assert_int_eq(tr__store_submit(batch, on_put, &is_done), TR_OK);
    while (!atom32_load(&is_done, ATOM_ACQUIRE))
        (void)sched_yield();
}

/* An export of a large actor, or a statement of troupe sql. */
TEST(a_reader_that_is_held_ends_when_the_log_is_full, "K-11")
{
    const tr_platform *real = tr_platform_real();
    struct store_disk *disk = stores_disk(false);
    struct watch watch = {0};
    struct load load;
    struct store *store = short_open(disk, &watch, NULL);
    struct held held = {.store = store};
    struct store_entry *pair = stores_enter(store, "k", "pair");
    struct store_batch *batch = stores_batch(pair);
    tr_thread *thread;
    ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("a"), stores_bytes("1")), TR_OK);
    ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("b"), stores_bytes("2")), TR_OK);
    submit_and_wait(batch);
    ck_assert_int_eq(real->thread_start(real, "r", hold_reader, &held, &thread), TR_OK);
    while (!atom32_load(&held.is_held, ATOM_ACQUIRE))
        (void)sched_yield();
    run_load(&load, store, BATCHES, VALUE);
    real->thread_join(real, thread);
    tr__store_leave(pair);
    tr__store_close(store);
    ck_assert_uint_le(atom64_load(&watch.end_max, ATOM_RELAXED), short_limit);
    tr__disk_free(disk);
}

/* The one exception: a batch is one commit, however large it is. */
TEST(only_one_large_batch_makes_the_log_longer_and_for_itself_alone, "K-11")
{
    enum { VALUES = 100 };
    struct store_disk *disk = stores_disk(false);
    struct watch watch = {0};
    struct load load;
    struct store *store = short_open(disk, &watch, NULL);
    struct store_entry *large = stores_enter(store, "k", "large");
    struct store_batch *batch = stores_batch(large);
    for (int i = 0; i < VALUES; i++) {
        char *key = tr__store_batch_alloc(batch, 16);
        char *value = tr__store_batch_alloc(batch, VALUE);
        ck_assert_ptr_nonnull(key);
        ck_assert_ptr_nonnull(value);
        (void)snprintf(key, 16, "%d", i);
        memset(value, 'a', VALUE);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes(key), (tr_bytes){value, VALUE}),
                         TR_OK);
    }
    submit_and_wait(batch);
    ck_assert_uint_gt(atom64_load(&watch.end_max, ATOM_RELAXED), VALUES * VALUE);
    atom64_store(&watch.end_max, 0, ATOM_RELAXED);
    run_load(&load, store, BATCHES, VALUE);
    ck_assert_uint_le(atom64_load(&watch.end_max, ATOM_RELAXED), short_limit);
    tr__store_leave(large);
    tr__store_close(store);
    tr__disk_free(disk);
}

/* ---- Who makes checkpoints ---- */

enum { LOG_SOON = 50 }; /* pages; so that the log of each load should start over a few times */

static const struct store_driver *real_driver;
static atom32 checkpoints; /* under way */
static atom32 passes;
static atom32 restarts;
static atom32 logs;       /* times that a log began: its header was written */
static atom32 logs_begun; /* of these, before the pass under way */

/*
 * A pass that finds nothing to write is no mistake: a transaction that begins may keep it from all pages for a moment.
 * But no page may go into the database by a pass that began with an earlier log.
 */
static tr_status on_page(void *context, enum store_io io, const char *file, uint64_t offset,
                         size_t size)
{
    (void)context;
    (void)size;
    if (io != STORE_IO_WRITE)
        return TR_OK;
    if (strstr(file, "-log"))
        atom32_fetch_add(&logs, offset == 0, ATOM_RELAXED);
    else if (atom32_load(&checkpoints, ATOM_ACQUIRE))
        ck_assert_uint_eq(atom32_load(&logs, ATOM_RELAXED), atom32_load(&logs_begun, ATOM_RELAXED));
    return TR_OK;
}

static atom32 commits_over; /* no further commit comes before the next load, or none at all */
static atom32 log_pages;    /* how long the log was after the last commit */

static tr_status watched_commit(struct store_session *session, struct store_batch *first,
                                struct store_why *why)
{
    struct store_log log;
    tr_status status = real_driver->commit(session, first, why);
    real_driver->look(session, &log);
    atom32_store(&log_pages, (uint32_t)log.pages, ATOM_RELAXED);
    return status;
}

/*
 * Every second pass begins late, when the log should have started over. Otherwise, where commits are slow, each pass would
 * complete the log, and the committing thread would have nothing to do.
 */
static void await_long_log(void)
{
    static uint32_t calls; /* of the tidying thread */
    const tr_platform *platform = tr_platform_real();
    bool is_late = ++calls % 2 == 0;
    while (is_late && atom32_load(&log_pages, ATOM_RELAXED) < LOG_SOON * TIDY_DUE &&
           !atom32_load(&commits_over, ATOM_RELAXED))
        platform->yield(platform);
}

static tr_status watched_checkpoint(struct store_session *session, size_t *pages,
                                    struct store_why *why)
{
    await_long_log();
    atom32_store(&logs_begun, atom32_load(&logs, ATOM_RELAXED), ATOM_RELAXED);
    ck_assert_uint_eq(atom32_fetch_add(&checkpoints, 1, ATOM_ACQ_REL), 0);
    tr_status status = real_driver->checkpoint(session, pages, why);
    ck_assert_uint_eq(atom32_fetch_sub(&checkpoints, 1, ATOM_ACQ_REL), 1);
    atom32_fetch_add(&passes, *pages > 0, ATOM_RELAXED);
    return status;
}

static tr_status watched_restart(struct store_session *session, bool is_cut, struct store_why *why)
{
    atom32_store(&logs_begun, atom32_load(&logs, ATOM_RELAXED), ATOM_RELAXED);
    ck_assert_uint_eq(atom32_fetch_add(&checkpoints, 1, ATOM_ACQ_REL), 0);
    tr_status status = real_driver->restart(session, is_cut, why);
    ck_assert_uint_eq(atom32_fetch_sub(&checkpoints, 1, ATOM_ACQ_REL), 1);
    atom32_fetch_add(&restarts, 1, ATOM_RELAXED);
    return status;
}

/*
 * SQLite before 3.51.3 loses commits if the log starts over after a checkpoint has begun and before it has looked how
 * much is to be done.
 */
TEST(one_thread_makes_a_checkpoint_and_only_of_a_log_that_is_not_complete, "K-11", "K-09")
{
    struct store_driver driver = *tr__store_driver_default();
    if (!driver.checkpoint)
        test_skip("built without SQLite");
    real_driver = tr__store_driver_default();
    driver.checkpoint = watched_checkpoint;
    driver.restart = watched_restart;
    driver.commit = watched_commit;
    struct store_disk *disk = stores_disk(false);
    tr__disk_hook(disk, (struct store_io_hook){on_page, NULL});
    struct store_options options = stores_options(disk);
    options.is_threadless = false;
    options.driver = &driver;
    options.log_pages = LOG_SOON;
    struct store *store = stores_open(&options);
    struct load load;
    for (int i = 0; i < 10; i++) { /* with pauses, in which a pass may complete the log */
        atom32_store(&commits_over, 0, ATOM_RELAXED);
        run_load(&load, store, test_scale(4000, 40000), 100);
        atom32_store(&commits_over, 1, ATOM_RELAXED);
    }
    tr__store_close(store);
    ck_assert_uint_gt(atom32_load(&passes, ATOM_RELAXED), 0);
    ck_assert_uint_gt(atom32_load(&restarts, ATOM_RELAXED), 0);
    ck_assert_uint_gt(atom32_load(&logs, ATOM_RELAXED), 1);
    tr__disk_free(disk);
}

/* docs/mends.md, 11. */
TEST(the_log_is_given_back_when_nothing_is_written, "K-11")
{
    const tr_platform *platform = tr_platform_real();
    struct store_disk *disk = stores_disk(false);
    struct watch watch = {0};
    ck_assert_int_eq(platform->parker_new(platform, &watch.parker), TR_OK);
    tr__disk_hook(disk, (struct store_io_hook){on_io, &watch});
    struct store_options options = stores_options(disk);
    options.is_threadless = false;
    struct store *store = stores_open(&options);
    struct load load;
    run_load(&load, store, test_scale(500, 500), VALUE);
    while (!atom32_load(&watch.is_cut, ATOM_ACQUIRE))
        platform->park(platform, watch.parker, TR_NEVER);
    struct store_reader *reader = stores_reader(store);
    tr_bytes value;
    ck_assert_int_eq(tr__store_read_kv(reader, "k", stores_bytes("7"), stores_bytes("key"), &value),
                     TR_OK);
    ck_assert_uint_eq(value.size, VALUE);
    tr__store_reader_free(reader);
    run_load(&load, store, 100, VALUE); /* and it grows again */
    tr__store_close(store);
    platform->parker_free(platform, watch.parker);
    tr__disk_free(disk);
}

SUITE("store log", large_writes_without_a_pause_keep_the_log_below_its_limit,
      small_writes_without_a_pause_keep_the_log_below_its_limit,
      the_log_on_disk_stays_below_its_limit, a_hold_of_half_a_minute_keeps_the_log_below_its_limit,
      a_reader_that_is_held_ends_when_the_log_is_full,
      only_one_large_batch_makes_the_log_longer_and_for_itself_alone,
      one_thread_makes_a_checkpoint_and_only_of_a_log_that_is_not_complete,
      the_log_is_given_back_when_nothing_is_written)
