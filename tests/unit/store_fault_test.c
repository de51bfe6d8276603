/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Faults of the disk and of memory: every operation of a scenario fails once, or from then on; nothing
 * acknowledged is lost, nothing is half there, and what can go on does.
 */
#include "support/ledger.h"

#include "store/core.h"
#include "store/sqlite/session.h"

#include <sqlite3.h>

/* Which operations fail. */
struct fault {
    uint64_t kinds; /* bits of enum store_io */
    uint64_t at;    /* the number of the first one, from 1 on; 0: none */
    bool lasts;
    tr_status status;
    uint64_t count;       /* operations of these kinds so far */
    uint64_t after_fault; /* of them, after the first failure */
    bool is_off;
};

static tr_status on_io(void *context, enum store_io io, const char *file, uint64_t offset,
                       size_t size)
{
    (void)file;
    (void)offset;
    (void)size;
    struct fault *fault = context;
    if (fault->is_off || !(fault->kinds & (UINT64_C(1) << io)))
        return TR_OK;
    fault->count++;
    if (fault->at == 0 || fault->count < fault->at)
        return TR_OK;
    fault->after_fault += fault->count > fault->at;
    return fault->count == fault->at || fault->lasts ? fault->status : TR_OK;
}

static int failures; /* calls of on_failed */

static void on_failed(void *context, const char *why)
{
    (void)context;
    ck_assert_str_ne(why, "");
    failures++;
}

enum { OPENINGS = 2, ROUNDS = 3 };
#define BIT(io) (UINT64_C(1) << (io))
#define CHANGES                                                                                    \
    (BIT(STORE_IO_WRITE) | BIT(STORE_IO_SYNC) | BIT(STORE_IO_TRUNCATE) | BIT(STORE_IO_DELETE))

/*
 * Plays with a fault, then opens what is left without it and checks. Gives how many operations of these
 * kinds there were. A disk that is full lets the store live; any other failure of a commit ends it.
 */
static uint64_t play(struct fault fault)
{
    struct ledger ledger = {0};
    struct store_disk *disk = stores_disk(true);
    struct store_options options = stores_options(disk);
    options.log_pages = 60;
    options.on_failed = on_failed;
    tr__disk_hook(disk, (struct store_io_hook){on_io, &fault});
    for (int i = 0; i < OPENINGS; i++) {
        struct store *store = NULL;
        tr_error error = {0};
        failures = 0;
        tr_status status = tr__store_open(&options, &store, &error);
        if (status != TR_OK) {
            ck_assert_str_ne(error.text, "");
            ck_assert(status == TR_STORE_FULL || status == TR_STORE_FAILED ||
                      status == TR_STORE_CORRUPT);
            continue;
        }
        int j_failed = -1;
        ledger_enter(&ledger, store);
        for (int j = 0; j < ROUNDS; j++) {
            ledger_round(&ledger);
            for (size_t k = 0; k < LEDGER_ACTORS; k++) {
                if (fault.status == TR_STORE_FULL)
                    ck_assert(ledger.outcomes[k] == TR_OK || ledger.outcomes[k] == TR_STORE_FULL);
            }
            if (tr__store_status(store) == TR_OK)
                ledger_renew(&ledger);
            else if (j_failed < 0)
                j_failed = j;
        }
        if (tr__store_status(store) != TR_OK) {
            ck_assert_int_ne(fault.status, TR_STORE_FULL);
            ck_assert_int_eq(failures, 1);
            /* Unless it was the tidying after the last round. */
            ck_assert(ledger.outcomes[0] == TR_STORE_FAILED || j_failed == ROUNDS - 1);
        } else {
            ck_assert_int_eq(failures, 0);
            fault.is_off = true;
            ledger_check(&ledger, store);
            fault.is_off = false;
        }
        ledger_leave(&ledger);
        tr__store_close(store);
        fault.lasts = false; /* The next opening finds the disk well. */
    }
    fault.is_off = true;
    struct store *store = stores_open(&options);
    ledger_check(&ledger, store);
    ledger_adopt(&ledger, store);
    ledger_enter(&ledger, store);
    ledger_round(&ledger);
    ledger_check(&ledger, store);
    for (size_t k = 0; k < LEDGER_ACTORS; k++)
        ck_assert_int_eq(ledger.outcomes[k], TR_OK);
    ledger_leave(&ledger);
    tr__store_close(store);
    tr__disk_free(disk);
    return fault.count;
}

static void play_all(uint64_t kinds, tr_status status)
{
    uint64_t count = play((struct fault){.kinds = kinds});
    uint64_t step = test_is_long() ? 1 : TEST_HAS_SANITIZER ? 23 : 5;
    ck_assert_uint_gt(count, 5);
    for (uint64_t at = 1 + test_seed() % step; at <= count; at += step) {
        (void)play((struct fault){.kinds = kinds, .at = at, .status = status});
        (void)play((struct fault){.kinds = kinds, .at = at, .status = status, .lasts = true});
    }
}

TEST(a_full_disk_refuses_and_goes_on_when_there_is_room, "PE-14")
{
    play_all(BIT(STORE_IO_WRITE), TR_STORE_FULL);
}

TEST(an_error_of_a_sync_is_the_end, "PE-13", "K-06")
{
    play_all(BIT(STORE_IO_SYNC), TR_STORE_FAILED);
}

TEST(an_error_of_a_write_is_the_end, "K-06")
{
    play_all(CHANGES & ~BIT(STORE_IO_SYNC), TR_STORE_FAILED);
}

TEST(an_error_of_a_read_loses_nothing, "")
{
    play_all(BIT(STORE_IO_READ), TR_STORE_FAILED);
}

TEST(after_a_failed_sync_nothing_is_tried_again, "PE-13")
{
    struct fault fault = {.kinds = CHANGES, .status = TR_STORE_FAILED};
    struct store_disk *disk = stores_disk(true);
    struct store_options options = stores_options(disk);
    options.on_failed = on_failed;
    tr__disk_hook(disk, (struct store_io_hook){on_io, &fault});
    struct store *store = stores_open(&options);
    struct store_entry *a = stores_enter(store, "k", "a");
    struct store_entry *b = stores_enter(store, "k", "b");
    ck_assert_int_eq(stores_put(store, a, 1, "one"), TR_OK);
    fault.kinds = BIT(STORE_IO_SYNC);
    fault.count = 0;
    fault.at = 1;
    tr_status outcome = TR_OK;
    struct store_batch *batch = stores_batch(b);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("waits")), TR_OK);
    ck_assert_int_eq(tr__store_submit(batch, stores_on_done, &outcome), TR_OK);
    ck_assert_int_eq(stores_put(store, a, 1, "two"), TR_STORE_FAILED);
    ck_assert_int_eq(outcome, TR_STORE_FAILED);
    ck_assert_int_eq(failures, 1);
    ck_assert_int_eq(tr__store_status(store), TR_STORE_FAILED);
    fault.kinds = CHANGES;
    fault.after_fault = 0;
    ck_assert_int_eq(stores_put(store, a, 1, "three"), TR_STORE_FAILED);
    struct store_entry *c;
    ck_assert_int_eq(tr__store_enter(store, "k", stores_bytes("c"), NULL, NULL, &c),
                     TR_STORE_FAILED);
    struct store_reader *reader;
    ck_assert_int_eq(tr__store_reader_new(store, &reader), TR_STORE_FAILED);
    tr__store_leave(a);
    tr__store_leave(b);
    tr__store_close(store);
    ck_assert_uint_eq(fault.after_fault, 0);
    ck_assert_int_eq(failures, 1);
    fault.is_off = true;
    store = stores_open(&options);
    reader = stores_reader(store);
    const char *state = stores_state(reader, "k", "a");
    ck_assert(strcmp(state, "one") == 0 || strcmp(state, "two") == 0);
    tr__store_reader_free(reader);
    tr__store_close(store);
    tr__disk_free(disk);
}

TEST(room_that_comes_back_is_used, "PE-14")
{
    struct store_disk *disk = stores_disk(true);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    static char large[TR_KV_VALUE_MAX];
    unsigned refusals = 0;
    for (uint64_t room = 0; room < 200000; room += 5000) {
        struct store_entry *entry = stores_enter(store, "k", "x");
        struct store_batch *batch = stores_batch(entry);
        memset(large, (int)(room % 255), sizeof large);
        ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("large")), TR_OK);
        tr_bytes value = {large, sizeof large};
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("k"), value), TR_OK);
        tr__disk_set_space(disk, room);
        tr_status status = stores_commit(store, batch);
        tr__disk_set_space(disk, UINT64_MAX);
        ck_assert(status == TR_STORE_FULL || status == TR_OK);
        refusals += status != TR_OK;
        tr__store_leave(entry);
        entry = stores_enter(store, "k", "x");
        ck_assert_str_ne(stores_state(reader, "k", "x"), status == TR_OK ? "small" : "large");
        ck_assert_int_eq(stores_put(store, entry, 1, "small"), TR_OK);
        ck_assert_str_eq(stores_state(reader, "k", "x"), "small");
        tr__store_leave(entry);
    }
    ck_assert_uint_gt(refusals, 0);
    ck_assert_uint_lt(refusals, 40);
    tr__store_reader_free(reader);
    tr__store_close(store);
    tr__disk_free(disk);
}

TEST(files_of_the_system_have_the_same_faults, "PE-13", "PE-14")
{
    struct fault fault = {.kinds = BIT(STORE_IO_WRITE), .status = TR_STORE_FULL, .lasts = true};
    struct store_io_hook hook = {on_io, &fault};
    struct store_options options = stores_options(NULL);
    options.path = stores_directory();
    options.hook = &hook;
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    ck_assert_int_eq(stores_put(store, entry, 1, "one"), TR_OK);
    fault.at = fault.count + 1;
    ck_assert_int_eq(stores_put(store, entry, 1, "no room"), TR_STORE_FULL);
    fault.at = 0;
    tr__store_leave(entry);
    entry = stores_enter(store, "k", "x");
    ck_assert_int_eq(stores_put(store, entry, 1, "two"), TR_OK);
    fault = (struct fault){.kinds = BIT(STORE_IO_SYNC), .status = TR_STORE_FAILED, .at = 1};
    ck_assert_int_eq(stores_put(store, entry, 1, "three"), TR_STORE_FAILED);
    tr__store_leave(entry);
    tr__store_close(store);
    options.hook = NULL;
    store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    const char *state = stores_state(reader, "k", "x");
    ck_assert(strcmp(state, "two") == 0 || strcmp(state, "three") == 0);
    tr__store_reader_free(reader);
    tr__store_close(store);
    stores_remove(options.path);
}

/* ---- Memory: ours and SQLite's, counted together ---- */

static uint64_t requests;
static uint64_t fail_at;
static bool fail_lasts;
static int64_t blocks;

static bool is_refused(void)
{
    requests++;
    return fail_at != 0 && (requests == fail_at || (fail_lasts && requests > fail_at));
}

static void *resize(void *context, void *memory, size_t size)
{
    (void)context;
    if (size > 0 && is_refused())
        return NULL;
    blocks += (size > 0) - (memory != NULL);
    if (size > 0)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

static sqlite3_mem_methods real_methods;

static void *their_malloc(int size)
{
    if (is_refused())
        return NULL;
    blocks++;
    return real_methods.xMalloc(size);
}

static void *their_realloc(void *memory, int size)
{
    return is_refused() ? NULL : real_methods.xRealloc(memory, size);
}

static void their_free(void *memory)
{
    blocks--;
    real_methods.xFree(memory);
}

static void count_memory(void)
{
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_methods), SQLITE_OK);
    sqlite3_mem_methods ours = real_methods;
    ours.xMalloc = their_malloc;
    ours.xRealloc = their_realloc;
    ours.xFree = their_free;
    ck_assert_int_eq(sqlite3_config(SQLITE_CONFIG_MALLOC, &ours), SQLITE_OK);
    ck_assert_int_eq(sqlite3_initialize(), SQLITE_OK);
}

/* False: the disk in memory itself could not be had. */
static void play_with_memory(uint64_t at, bool lasts)
{
    struct ledger ledger = {0};
    struct store_disk *disk = stores_disk(false); /* not counted: it is the world */
    struct store_options options = stores_options(disk);
    options.source.resize = resize;
    requests = 0;
    fail_at = at;
    fail_lasts = lasts;
    struct store *store = NULL;
    struct store_reader *reader = NULL;
    tr_error error = {0};
    tr_status status = tr__store_open(&options, &store, &error);
    if (status == TR_OK) {
        ledger_enter(&ledger, store);
        for (int i = 0; i < 2; i++) {
            ledger_round(&ledger);
            for (size_t k = 0; k < LEDGER_ACTORS; k++)
                ck_assert(ledger.outcomes[k] == TR_OK || ledger.outcomes[k] == TR_NO_MEMORY);
            ledger_renew(&ledger);
        }
        ck_assert_int_eq(tr__store_status(store), TR_OK);
        if (tr__store_reader_new(store, &reader) == TR_OK) {
            struct store_state state;
            status = tr__store_read_state(reader, "k", stores_bytes(ledger_key(0)), &state);
            ck_assert(status == TR_OK || status == TR_NO_MEMORY || status == TR_NOT_FOUND);
            tr__store_reader_free(reader);
        }
    } else {
        ck_assert_int_eq(status, TR_NO_MEMORY);
        ck_assert_str_ne(error.text, "");
    }
    fail_at = 0;
    if (store) {
        ledger_renew(&ledger);
        ledger_round(&ledger);
        ledger_check(&ledger, store);
        for (size_t k = 0; k < LEDGER_ACTORS; k++)
            ck_assert_int_eq(ledger.outcomes[k], TR_OK);
        ledger_leave(&ledger);
        tr__store_close(store);
    }
    store = stores_open(&options);
    ledger_check(&ledger, store);
    tr__store_close(store);
    tr__disk_free(disk);
}

TEST(memory_may_run_out_anywhere, "")
{
    count_memory();
    play_with_memory(0, false);
    uint64_t count = requests;
    int64_t rest = blocks; /* what SQLite keeps between openings */
    uint64_t step = test_is_long() ? 1 : TEST_HAS_SANITIZER ? 127 : 29;
    ck_assert_uint_gt(count, 100);
    for (uint64_t at = 1 + test_seed() % step; at <= count; at += step) {
        play_with_memory(at, false);
        ck_assert_int_eq(blocks, rest);
        play_with_memory(at, true);
        ck_assert_int_eq(blocks, rest);
    }
}

/* ---- A reader that repairs the head of the log's index. ---- */

static struct store *repaired;
static struct shm_user repairer;
static bool is_repair_short;
enum { WRITE_LOCK = 0 }; /* WAL_WRITE_LOCK of SQLite */

static void on_yield(const tr_platform *platform)
{
    (void)platform;
    if (is_repair_short)
        (void)tr__shm_lock(&repaired->session->vfs.shm,
                           &repairer,
                           WRITE_LOCK,
                           1,
                           SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
}

static tr_time on_now(const tr_platform *platform)
{
    static tr_time now_ns;
    (void)platform;
    return now_ns += TR_SECOND;
}

static void repair_begin(bool is_short)
{
    is_repair_short = is_short;
    ck_assert_int_eq(tr__shm_lock(&repaired->session->vfs.shm,
                                  &repairer,
                                  WRITE_LOCK,
                                  1,
                                  SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE),
                     SQLITE_OK);
}

/* SQLite's readers have the lock of writers for a moment if they find that head half written. */
TEST(a_commit_waits_for_a_reader_that_has_the_lock_of_writers, "K-06")
{
    struct store_options options = stores_options(NULL);
    tr_platform platform = *options.source.platform;
    platform.yield = on_yield;
    platform.mono_now = on_now;
    options.source.platform = &platform;
    options.on_failed = on_failed;
    repaired = stores_open(&options);
    struct store_entry *entry = stores_enter(repaired, "k", "a");
    repairer = (struct shm_user){0};
    failures = 0;
    for (int i = 0; i < 3; i++) {
        repair_begin(true);
        ck_assert_int_eq(stores_put(repaired, entry, 1, i ? "one" : "two"), TR_OK);
    }
    ck_assert_int_eq(failures, 0);
    struct store_reader *reader = stores_reader(repaired);
    ck_assert_str_eq(stores_state(reader, "k", "a"), "one");
    tr__store_reader_free(reader);
    repair_begin(false); /* forever: no commit waits so long */
    ck_assert_int_eq(stores_put(repaired, entry, 1, "three"), TR_STORE_FAILED);
    ck_assert_int_eq(failures, 1);
    is_repair_short = true;
    on_yield(NULL);
    tr__store_leave(entry);
    tr__store_close(repaired);
}

SUITE("store fault", a_full_disk_refuses_and_goes_on_when_there_is_room,
      an_error_of_a_sync_is_the_end, an_error_of_a_write_is_the_end,
      an_error_of_a_read_loses_nothing, after_a_failed_sync_nothing_is_tried_again,
      room_that_comes_back_is_used, a_commit_waits_for_a_reader_that_has_the_lock_of_writers,
      files_of_the_system_have_the_same_faults, memory_may_run_out_anywhere)
