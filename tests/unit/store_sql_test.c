/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An actor's own tables in the store: pages on their way, power cuts, faults of the disk and of memory.
 */
#include "support/shelf.h"

#include "support/tamper.h"

#include <sqlite3.h>

/* ---- Pages. ---- */

static unsigned char page_bytes[STORE_PAGE_SIZE];

static void stage(struct pages *pages, uint32_t number, int content)
{
    memset(page_bytes, content, sizeof page_bytes);
    ck_assert_int_eq(tr__pages_stage(pages, number, page_bytes), TR_OK);
}

static int content_of(const struct pages *pages, uint32_t number)
{
    const unsigned char *page = tr__pages_find(pages, number);
    return page ? page[0] : -1;
}

TEST(each_step_back_forgets_what_was_ahead_of_it, "K-03")
{
    struct memory_source source = stores_source();
    struct pages pages;
    tr__pages_init(&pages, &source);
    tr__pages_begin(&pages, 2);
    ck_assert_int_eq(content_of(&pages, 1), -1);
    stage(&pages, 1, 'a');
    stage(&pages, 3, 'a');
    ck_assert_uint_eq(pages.count, 3);
    tr__pages_unstage(&pages);
    ck_assert_uint_eq(pages.count, 2);
    ck_assert_int_eq(content_of(&pages, 1), -1);
    stage(&pages, 1, 'a');
    tr__pages_keep(&pages);
    tr__pages_submitted(&pages, 1);
    stage(&pages, 1, 'b');
    stage(&pages, 1, 'c');
    tr__pages_keep(&pages);
    stage(&pages, 1, 'd');
    stage(&pages, 9, 'd');
    ck_assert_int_eq(content_of(&pages, 1), 'd');
    tr__pages_unstage(&pages);
    ck_assert_int_eq(content_of(&pages, 1), 'c');
    stage(&pages, 4, 'e');
    tr__pages_undo(&pages);
    ck_assert_int_eq(content_of(&pages, 1), 'a');
    ck_assert_uint_eq(pages.count, 2);
    stage(&pages, 1, 'f');
    tr__pages_keep(&pages);
    tr__pages_submitted(&pages, 2);
    stage(&pages, 2, 'g');
    ck_assert(!tr__pages_cut(&pages, 1));
    ck_assert(tr__pages_cut(&pages, 2));
    tr__pages_stored(&pages, 1);
    ck_assert_int_eq(content_of(&pages, 1), 'f');
    tr__pages_stored(&pages, 2);
    ck_assert_int_eq(content_of(&pages, 1), -1);
    ck_assert_int_eq(content_of(&pages, 2), 'g');
    tr__pages_deinit(&pages);
}

/* ---- Power cuts. ---- */

struct world {
    struct store_disk *disk;
    struct shelf *shelf;
    struct rng rng;
    uint64_t points;
    enum disk_crash how;
    bool is_in;
    bool is_canary;
};

static unsigned losses; /* that the canary is to find */

static void check_copy(struct world *world)
{
    struct store_disk *copy;
    ck_assert_int_eq(tr__disk_clone(world->disk, &copy), TR_OK);
    tr__disk_crash(copy, world->how, &world->rng);
    struct store_options options = stores_options(copy);
    struct store *store = NULL;
    tr_status status = tr__store_open(&options, &store, NULL);
    if (world->is_canary && status != TR_OK) {
        losses++;
    } else {
        ck_assert_int_eq(status, TR_OK);
        uint64_t found = shelf_read(store);
        if (world->is_canary)
            losses += found < world->shelf->acknowledged;
        else
            ck_assert_uint_ge(found, world->shelf->acknowledged);
        ck_assert_uint_le(found, world->shelf->round + 1);
        tr__store_close(store);
    }
    tr__disk_free(copy);
}

static tr_status on_io(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size)
{
    (void)file;
    (void)offset;
    (void)size;
    struct world *world = context;
    if (io == STORE_IO_READ || world->is_in)
        return TR_OK;
    world->is_in = true;
    world->points++;
    check_copy(world);
    world->is_in = false;
    return TR_OK;
}

static void cut_everywhere(enum disk_crash how, bool is_canary)
{
    struct shelf shelf = {0};
    struct world world = {.how = how, .shelf = &shelf, .is_canary = is_canary};
    world.disk = stores_disk(true);
    rng_init(&world.rng, test_seed());
    tr__disk_hook(world.disk, (struct store_io_hook){on_io, &world});
    struct store_options options = stores_options(world.disk);
    options.log_pages = 60; /* so that the log is tidied now and then */
    options.is_sync_off = is_canary;
    for (int i = 0; i < 2; i++) {
        struct store *store = stores_open(&options);
        ck_assert_int_eq(shelf_open(&shelf, store), TR_OK);
        for (uint64_t j = 0; j < test_scale(TEST_HAS_SANITIZER ? 2 : 4, 20); j++)
            ck_assert_int_eq(shelf_round(&shelf), TR_OK);
        shelf_close(&shelf);
        tr__store_close(store);
    }
    tr__disk_free(world.disk);
    printf("%llu power cuts\n", (unsigned long long)world.points);
    ck_assert_uint_gt(world.points, 40);
}

TEST(the_end_of_a_process_loses_no_row, "K-03", "K-09")
{
    cut_everywhere(DISK_CRASH_KEEP, false);
}

TEST(a_power_cut_loses_no_row, "K-03", "K-09")
{
    cut_everywhere(DISK_CRASH_DROP, false);
    cut_everywhere(DISK_CRASH_ORDER, false);
}

TEST(a_power_cut_that_garbles_loses_no_row, "K-03", "K-09")
{
    cut_everywhere(DISK_CRASH_MIX, false);
    cut_everywhere(DISK_CRASH_WASTE, false);
}

TEST(without_syncs_rows_are_lost_and_it_is_seen, "K-09")
{
    cut_everywhere(DISK_CRASH_DROP, true);
    ck_assert_uint_gt(losses, 0);
}

/* ---- Faults. ---- */

/* SQLite's memory: the n-th request fails, or all from there on. */
static sqlite3_mem_methods real_memory;
static uint64_t requests;
static uint64_t fail_at; /* 0: none */
static bool fails_on;

static bool is_refused(void)
{
    requests++;
    return fail_at && (requests == fail_at || (fails_on && requests > fail_at));
}

static void *memory_new(int size)
{
    return is_refused() ? NULL : real_memory.xMalloc(size);
}

static void *memory_resize(void *memory, int size)
{
    return is_refused() ? NULL : real_memory.xRealloc(memory, size);
}

static void *source_fails(void *context, void *memory, size_t size)
{
    (void)context;
    if (size && is_refused())
        return NULL;
    const tr_platform *platform = tr_platform_real();
    return platform->resize(platform, memory, size);
}

static void own_memory(void)
{
    sqlite3_mem_methods mine;
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory), SQLITE_OK);
    mine = real_memory;
    mine.xMalloc = memory_new;
    mine.xRealloc = memory_resize;
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &mine), SQLITE_OK);
}

/* Two rounds with a fault, then one without, on what is left. */
static uint64_t live(uint64_t nth, bool and_all_after)
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    options.source.resize = source_fails;
    struct shelf shelf = {0};
    struct store *store = stores_open(&options);
    requests = 0;
    fail_at = nth;
    fails_on = and_all_after;
    tr_status status = shelf_open(&shelf, store);
    for (int i = 0; i < 2 && status == TR_OK; i++) {
        tr_status outcome = shelf_round(&shelf);
        ck_assert_msg(outcome == TR_OK || outcome == TR_NO_MEMORY || outcome == TR_STALE,
                      "%s",
                      tr_status_name(outcome));
        if (shelf.round != shelf.acknowledged)
            break; /* what was submitted has failed: its owner starts again */
    }
    uint64_t count = requests;
    fail_at = 0;
    shelf_close(&shelf);
    uint64_t found = shelf_read(store);
    ck_assert_uint_ge(found, shelf.acknowledged);
    ck_assert_uint_le(found, shelf.round);
    shelf.round = found;
    ck_assert_int_eq(shelf_open(&shelf, store), TR_OK);
    ck_assert_int_eq(shelf_round(&shelf), TR_OK);
    shelf_close(&shelf);
    ck_assert_uint_eq(shelf_read(store), found + 1);
    tr__store_close(store);
    tr__disk_free(disk);
    return count;
}

TEST(each_allocation_may_fail, "K-03")
{
    own_memory();
    uint64_t count = live(0, false);
    uint64_t step = test_is_long() ? 1 : TEST_HAS_SANITIZER ? 61 : 13;
    ck_assert_uint_gt(count, 100);
    for (uint64_t nth = 1 + test_seed() % step; nth <= count; nth += step) {
        (void)live(nth, false);
        (void)live(nth, true);
    }
}

/* Statements that fail for want of a page, or of a place for one, leave what was there before them. */
TEST(a_statement_that_fails_in_the_middle_changes_nothing, "K-03")
{
    own_memory();
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    options.source.resize = source_fails;
    struct shelf shelf = {0};
    struct store *store = stores_open(&options);
    ck_assert_int_eq(shelf_open(&shelf, store), TR_OK);
    ck_assert_int_eq(shelf_round(&shelf), TR_OK);
    ck_assert_int_eq(
        shelf_run(&shelf, "INSERT INTO book (round, text) VALUES (?, 'kept')", 1, NULL), TR_OK);
    unsigned failed = 0;
    for (uint64_t nth = 1; nth < 400; nth++) {
        int64_t books = 0;
        requests = 0;
        fails_on = true;
        fail_at = nth;
        tr_status status = shelf_run(&shelf,
                                     "INSERT INTO book (round, text) SELECT 1, text FROM book "
                                     "UNION ALL SELECT 1, text FROM book WHERE id > ?",
                                     0,
                                     NULL);
        fail_at = 0;
        if (status == TR_OK)
            break;
        ck_assert_int_eq(status, TR_NO_MEMORY);
        failed++;
        ck_assert_int_eq(shelf_run(&shelf, "SELECT count(*) FROM book", 0, &books), TR_OK);
        ck_assert_int_eq(books, 21);
        ck_assert_int_eq(shelf_run(&shelf, "PRAGMA integrity_check", 0, &books), TR_OK);
        ck_assert_int_eq(books, 1);
    }
    ck_assert_uint_gt(failed, 10);
    shelf_close(&shelf);
    tr__store_close(store);
    tr__disk_free(disk);
}

/* ---- What cannot be trusted, and who may write. ---- */

TEST(a_page_that_does_not_fit_its_seal_is_not_trusted, "K-03")
{
    static const char *const ways[] = {
        "UPDATE page SET bytes = zeroblob(4096) WHERE number = 2",
        "UPDATE page SET number = number + 100",
        "UPDATE page SET bytes = x'00' WHERE number = 2",
        "UPDATE page SET bytes = (SELECT bytes FROM page WHERE number = 3) WHERE number = 2",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct store_disk *disk = stores_disk(false);
        struct store_options options = stores_options(disk);
        struct shelf shelf = {0};
        struct store *store = stores_open(&options);
        ck_assert_int_eq(shelf_open(&shelf, store), TR_OK);
        ck_assert_int_eq(shelf_round(&shelf), TR_OK);
        shelf_close(&shelf);
        tr__store_close(store);
        tamper(disk, ways[i]);
        store = stores_open(&options);
        ck_assert_int_eq(shelf_open(&shelf, store), TR_OK);
        ck_assert_int_eq(shelf_run(&shelf, "SELECT sum(n) FROM round", 0, NULL), TR_STORE_CORRUPT);
        shelf_close(&shelf);
        tr__store_close(store);
        tr__disk_free(disk);
    }
}

TEST(an_earlier_generation_writes_no_page, "K-03", "K-06")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct shelf old = {0};
    struct shelf young = {0};
    ck_assert_int_eq(shelf_open(&old, store), TR_OK);
    ck_assert_int_eq(shelf_round(&old), TR_OK);
    young.round = old.round;
    ck_assert_int_eq(shelf_open(&young, store), TR_OK);
    ck_assert_int_eq(shelf_round(&old), TR_STALE);
    ck_assert_int_eq(shelf_round(&young), TR_OK);
    shelf_close(&old);
    shelf_close(&young);
    ck_assert_uint_eq(shelf_read(store), 2);
    tr__store_close(store);
    tr__disk_free(disk);
}

SUITE("store SQL", each_step_back_forgets_what_was_ahead_of_it, the_end_of_a_process_loses_no_row,
      a_power_cut_loses_no_row, a_power_cut_that_garbles_loses_no_row,
      without_syncs_rows_are_lost_and_it_is_seen, each_allocation_may_fail,
      a_statement_that_fails_in_the_middle_changes_nothing,
      a_page_that_does_not_fit_its_seal_is_not_trusted, an_earlier_generation_writes_no_page)
