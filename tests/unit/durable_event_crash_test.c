/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors with events on a disk in memory: at every write and sync the disk is copied, what was not synced is kept,
 * dropped, torn or spoiled, and another system starts the actor from what is left. Also: rows that were changed behind
 * the store's back, and commits that fail.
 */
#include "support/books.h"
#include "support/tamper.h"

#include "actor/cell/system.h"
#include "base/rng.h"
#include "durable/host.h"
#include "store/core.h"
#include "store/driver.h"

/* ---- A kit on a disk. ---- */

struct stage {
    tr_kit *kit;
    tr_client *test;
};

static void on_work(void *context)
{
    struct durable_host *host = context;
    atom32_store(&host->has_work, 1, ATOM_RELEASE);
}

/* Its store was on nothing; nobody has used it yet. */
static tr_status stage_begin(struct stage *stage, struct store_disk *disk)
{
    stage->kit = tr_kit_new(&(tr_kit_options){
        .size = sizeof(tr_kit_options), .workers = 1, .durable = TR_DURABLES(book)});
    ck_assert_ptr_nonnull(stage->kit);
    stage->test = tr_kit_client(stage->kit);
    tr_system *system = tr_kit_system(stage->kit);
    struct durable_host *host = system->durable.host;
    tr_kit_settle(stage->kit);
    struct store_options options = {.source = system->source,
                                    .program = system->name,
                                    .is_threadless = true,
                                    .on_work = on_work,
                                    .context = host,
                                    .log_pages = 60,
                                    .disk = disk};
    struct store *store;
    tr_error error = {0};
    tr_status status = tr__store_open(&options, &store, &error);
    if (status != TR_OK)
        return status;
    tr__store_reader_free(host->contexts[0].reader);
    tr__store_close(host->store);
    host->store = store;
    ck_assert_int_eq(tr__store_reader_new(store, &host->contexts[0].reader), TR_OK);
    return TR_OK;
}

static tr_status stage_try(struct stage *stage, book_call *call, int64_t n, int64_t *value)
{
    book_ref ref;
    const struct acted *acted;
    ck_assert_int_eq(tr_try_durable(stage->test, &ref, book, "a"), TR_OK);
    act_ask ask =
        tr_ask_within(stage->test, TR_HOUR, ref, act, .call = (uint64_t)(uintptr_t)call, .n = n);
    tr_status status = tr_try_await(stage->test, ask, &acted);
    if (status == TR_OK && value)
        *value = acted->value;
    return status;
}

/* ---- Power cuts. ---- */

struct world {
    struct store_disk *disk;
    struct rng rng;
    enum disk_crash how;
    int64_t asked;
    int64_t acknowledged;
    unsigned points;
    unsigned seen; /* states that were neither the first nor the last */
    bool is_in;
};

enum { EACH = 3 }; /* events of a request */

static tr_next add_some(tr_self *self, const struct book_state *book, int64_t n)
{
    for (int i = 0; i < EACH; i++)
        tr_persist(self, added, .n = n);
    tr_persist(self, listed, .n = n, .text = "a line");
    tr_kv_put(self, (tr_bytes){"n", 1}, (tr_bytes){&n, sizeof n});
    return tr_reply(self, acted, .value = book->sum);
}

/* The number of requests that are in the state; whatever else there is agrees with it. */
static tr_next check(tr_self *self, const struct book_state *book, int64_t n)
{
    tr_bytes value;
    (void)n;
    int64_t done = (int64_t)book->items.count;
    ck_assert_uint_eq(book->count, (uint64_t)done * (EACH + 1));
    ck_assert_uint_eq(tr_event_last(self), book->count);
    ck_assert_int_eq(book->sum, EACH * done * (done + 1) / 2);
    for (int64_t i = 0; i < done; i++)
        ck_assert_int_eq(book->items.items[i].n, i + 1);
    ck_assert(tr_kv_get(self, (tr_bytes){"n", 1}, &value) == (done > 0));
    if (done)
        ck_assert_mem_eq(value.data, &done, sizeof done);
    return tr_reply(self, acted, .value = done);
}

static void check_copy(struct world *world)
{
    struct store_disk *copy;
    struct stage stage;
    int64_t done = 0;
    ck_assert_int_eq(tr__disk_clone(world->disk, &copy), TR_OK);
    tr__disk_crash(copy, world->how, &world->rng);
    ck_assert_int_eq(stage_begin(&stage, copy), TR_OK);
    ck_assert_int_eq(stage_try(&stage, check, 0, &done), TR_OK);
    ck_assert_int_ge(done, world->acknowledged);
    ck_assert_int_le(done, world->asked);
    world->seen += done > 0;
    ck_assert_int_eq(stage_try(&stage, add_some, done + 1, NULL), TR_OK);
    ck_assert_int_eq(stage_try(&stage, check, 0, &done), TR_OK);
    tr_kit_free(stage.kit);
    tr__disk_free(copy);
}

static tr_status on_io(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size)
{
    struct world *world = context;
    (void)file;
    (void)offset;
    (void)size;
    if (io == STORE_IO_READ || world->is_in)
        return TR_OK;
    world->is_in = true;
    /* Under the sanitizers a third of them. */
    if (!TEST_HAS_SANITIZER || world->points % 3 == 0)
        check_copy(world);
    world->points++;
    world->is_in = false;
    return TR_OK;
}

static void cut_everywhere(enum disk_crash how)
{
    struct world world = {.how = how, .disk = stores_disk(true)};
    struct stage stage;
    books_reset();
    books_events.snapshots = (tr_snapshots){.every = 6, .kept = 2, .drops_events = true};
    rng_init(&world.rng, test_seed());
    ck_assert_int_eq(stage_begin(&stage, world.disk), TR_OK);
    tr__disk_hook(world.disk, (struct store_io_hook){on_io, &world});
    for (int64_t n = 1; n <= (int64_t)test_scale(TEST_HAS_SANITIZER ? 8 : 16, 60); n++) {
        world.asked = n;
        ck_assert_int_eq(stage_try(&stage, add_some, n, NULL), TR_OK);
        world.acknowledged = n;
        if (n % 5 == 0)
            tr_kit_advance(stage.kit, TR_MINUTE); /* it sleeps */
    }
    tr__disk_hook(world.disk, (struct store_io_hook){NULL, NULL});
    tr_kit_free(stage.kit);
    tr__disk_free(world.disk);
    printf("%u power cuts\n", world.points);
    ck_assert_uint_gt(world.points, 20);
    ck_assert_uint_gt(world.seen, 5);
}

TEST(the_end_of_a_process_loses_no_acknowledged_event, "K-08", "K-09")
{
    cut_everywhere(DISK_CRASH_KEEP);
}

TEST(a_power_cut_loses_no_acknowledged_event, "K-08", "K-09")
{
    cut_everywhere(DISK_CRASH_DROP);
}

TEST(a_power_cut_that_mixes_sectors_loses_no_acknowledged_event, "K-08", "K-09")
{
    cut_everywhere(DISK_CRASH_MIX);
}

TEST(a_power_cut_that_leaves_garbage_loses_no_acknowledged_event, "K-08", "K-09")
{
    cut_everywhere(DISK_CRASH_WASTE);
}

/* ---- Rows that cannot be trusted. ---- */

static struct store_disk *disk_with(int64_t count, tr_snapshots snapshots)
{
    struct store_disk *disk = stores_disk(false);
    struct stage stage;
    books_reset();
    books_events.snapshots = snapshots;
    ck_assert_int_eq(stage_begin(&stage, disk), TR_OK);
    for (int64_t n = 1; n <= count; n++)
        ck_assert_int_eq(stage_try(&stage, book_add, 1, NULL), TR_OK);
    tr_kit_free(stage.kit);
    return disk;
}

static tr_status sum_of(struct store_disk *disk, int64_t *sum)
{
    struct stage stage;
    books_applied = 0;
    ck_assert_int_eq(stage_begin(&stage, disk), TR_OK);
    tr_status status = stage_try(&stage, book_sum, 0, sum);
    tr_kit_free(stage.kit);
    return status;
}

TEST(a_damaged_snapshot_is_passed_over, "K-08", "PE-09", "PE-12")
{
    int64_t sum = 0;
    struct store_disk *disk = disk_with(35, (tr_snapshots){.every = 10, .kept = 2});
    tamper(disk, "UPDATE snapshot SET bytes = x'9105' WHERE sequence = 30");
    ck_assert_int_eq(sum_of(disk, &sum), TR_OK);
    ck_assert_int_eq(sum, 35);
    ck_assert_uint_eq(books_applied, 15);
    tamper(disk, "UPDATE snapshot SET version = 9 WHERE sequence = 20");
    ck_assert_int_eq(sum_of(disk, &sum), TR_OK);
    ck_assert_int_eq(sum, 35);
    ck_assert_uint_eq(books_applied, 35);
    tamper(disk, "DELETE FROM snapshot");
    ck_assert_int_eq(sum_of(disk, &sum), TR_OK);
    ck_assert_int_eq(sum, 35);
    tr__disk_free(disk);
}

TEST(a_damaged_snapshot_without_its_events_is_refused, "K-08", "PE-09", "PE-12")
{
    int64_t sum = 0;
    struct store_disk *disk =
        disk_with(35, (tr_snapshots){.every = 10, .kept = 2, .drops_events = true});
    tamper(disk, "UPDATE snapshot SET bytes = x'9105' WHERE sequence = 30");
    ck_assert_int_eq(sum_of(disk, &sum), TR_OK); /* the one before stands, and so do its events */
    ck_assert_int_eq(sum, 35);
    tamper(disk, "UPDATE snapshot SET bytes = x'9105' WHERE sequence = 20");
    ck_assert_int_eq(sum_of(disk, &sum), TR_START_FAILED);
    tr__disk_free(disk);
}

TEST(a_damaged_event_is_refused, "K-08", "PE-07", "PE-12", "PE-21")
{
    static const char *const wrongs[] = {
        "UPDATE event SET bytes = bytes || x'00' WHERE sequence = 4",
        "UPDATE event SET bytes = (SELECT bytes FROM event WHERE sequence = 3), seal = (SELECT "
        "seal "
        "FROM event WHERE sequence = 3) WHERE sequence = 4",
        "DELETE FROM event WHERE sequence = 4",
        "DELETE FROM event WHERE sequence = 1",
        "DELETE FROM event WHERE sequence = 5",
        "DELETE FROM event",
        "UPDATE event SET sequence = 6 WHERE sequence = 5",
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        int64_t sum = 0;
        struct store_disk *disk = disk_with(5, (tr_snapshots){.every = 10});
        ck_assert_int_eq(sum_of(disk, &sum), TR_OK);
        ck_assert_int_eq(sum, 5);
        tamper(disk, wrongs[i]);
        ck_assert_msg(sum_of(disk, &sum) == TR_START_FAILED, "%s", wrongs[i]);
        tr__disk_free(disk);
    }
}

/* ---- Commits that fail. ---- */

static const struct store_driver *real_driver;
static int fails_in; /* so many commits from now; 0: none */

static tr_status commit(struct store_session *session, struct store_batch *first,
                        struct store_why *why)
{
    if (!fails_in || --fails_in)
        return real_driver->commit(session, first, why);
    for (struct store_batch *batch = first; batch; batch = batch->next) {
        batch->status = TR_STORE_FULL;
        atom32_store(&batch->entry->is_broken, 1, ATOM_RELAXED);
    }
    return TR_OK;
}

TEST(a_commit_that_fails_leaves_no_event_and_no_hook, "K-08", "PE-03", "PE-14")
{
    static struct store_driver driver;
    for (int nth = 1; nth <= 12; nth++) {
        int64_t acknowledged = 0;
        struct stage stage;
        struct store_disk *disk = stores_disk(false);
        books_reset();
        books_hooks = 0;
        books_events.snapshots.every = 3;
        ck_assert_int_eq(stage_begin(&stage, disk), TR_OK);
        struct store *store = tr_kit_system(stage.kit)->durable.host->store;
        real_driver = store->driver;
        driver = *real_driver;
        driver.commit = commit;
        store->driver = &driver;
        fails_in = nth;
        for (int n = 0; n < 12; n++) {
            tr_status status = stage_try(&stage, book_mark, -1, NULL);
            ck_assert(status == TR_OK || status == TR_STORE_FULL);
            acknowledged += status == TR_OK;
        }
        int64_t sum = 0;
        ck_assert_int_eq(stage_try(&stage, book_sum, 0, &sum), TR_OK);
        ck_assert_int_eq(sum, acknowledged);
        ck_assert_int_lt(acknowledged, 12);
        tr_kit_settle(stage.kit);
        ck_assert_int_eq(books_hooks, acknowledged);
        store->driver = real_driver;
        tr_kit_free(stage.kit);
        ck_assert_int_eq(sum_of(disk, &sum), TR_OK);
        ck_assert_int_eq(sum, acknowledged);
        tr__disk_free(disk);
    }
}

SUITE("durable events and crashes", the_end_of_a_process_loses_no_acknowledged_event,
      a_power_cut_loses_no_acknowledged_event,
      a_power_cut_that_mixes_sectors_loses_no_acknowledged_event,
      a_power_cut_that_leaves_garbage_loses_no_acknowledged_event,
      a_damaged_snapshot_is_passed_over, a_damaged_snapshot_without_its_events_is_refused,
      a_damaged_event_is_refused, a_commit_that_fails_leaves_no_event_and_no_hook)
