/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compaction of a store that is in use: commits wait, readers read on, the log stays short, and nothing is lost.
 */
#include "support/store_load.h"

#include "store/core.h"
#include "store/sqlite/session.h"

#include <fcntl.h>

TEST(a_store_is_compacted_beside_commits, "K-22", "O-28")
{
    struct place place = place_make();
    make_much(&place);
    struct store *store = stores_open(&place.options);
    destroy_much(store);
    struct load load;
    load_begin(&load, store);
    load_await(&load, ROUNDS_BEFORE);
    struct store_compact report = {0};
    tr_error error = {0};
    tr_status status = TR_OK;
    do { /* the rows of a destroyed actor are deleted in the background */
        status = tr__store_shrink(store, NULL, &report, &error);
        ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    } while (report.bytes_after > STORE_BACKUP_STEP);
    load_await(&load, ROUNDS_BEFORE);
    load_end(&load);
    struct store_reader *reader = stores_reader(store);
    for (int i = 0; i < WRITERS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        uint64_t done = atom64_load(&load.writers[i].done, ATOM_ACQUIRE);
        ck_assert_uint_eq(strtoull(stores_state(reader, "k", key), NULL, 10), done);
    }
    tr__store_reader_free(reader);
    tr__store_close(store);
    struct store_options options = place.options;
    struct store_check checked;
    ck_assert_int_eq(tr__store_check(&options, &checked, NULL, NULL, &error), TR_OK);
    ck_assert_uint_eq(checked.damages, 0);
    ck_assert_uint_eq(checked.actors, WRITERS);
    place_remove(&place);
}

/* Which writes fail, and how. */
struct disk_fault {
    const char *file; /* a part of the name of the file */
    tr_status status;
    atom32 is_on;
};

static tr_status on_fault(void *context, enum store_io io, const char *file, uint64_t offset,
                          size_t size)
{
    struct disk_fault *fault = context;
    (void)offset;
    (void)size;
    bool fails = io == STORE_IO_WRITE && atom32_load(&fault->is_on, ATOM_ACQUIRE) &&
                 strstr(file, fault->file);
    return fails ? fault->status : TR_OK;
}

/* A compaction that fails; the store continues. */
static void fail_with(struct disk_fault *fault, tr_status expected)
{
    struct place place = place_make();
    atom32_init(&fault->is_on, 0);
    const struct store_io_hook hook = {on_fault, fault};
    make_much(&place);
    place.options.hook = &hook;
    struct store *store = stores_open(&place.options);
    struct store_entry *entry = stores_enter(store, "k", "0");
    ck_assert_int_eq(put_await(entry, "before"), TR_OK);
    struct store_compact report;
    tr_error error;
    char path[192];
    (void)snprintf(path, sizeof path, "%s/troupe.db-new", place.options.path);
    atom32_store(&fault->is_on, 1, ATOM_RELEASE);
    ck_assert_int_eq(tr__store_shrink(store, NULL, &report, &error), expected);
    ck_assert_ptr_nonnull(strstr(error.text, "compacting"));
    ck_assert(!is_there(path));
    atom32_store(&fault->is_on, 0, ATOM_RELEASE);
    ck_assert_int_eq(tr__store_status(store), TR_OK);
    ck_assert_int_eq(put_await(entry, "after"), TR_OK);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "0"), "after");
    tr__store_reader_free(reader);
    tr__store_leave(entry);
    tr__store_close(store);
    place_remove(&place);
}

TEST(a_full_disk_stops_a_compaction_and_not_the_store, "K-22", "O-28")
{
    struct disk_fault any = {.file = "", .status = TR_STORE_FULL};
    struct disk_fault new = {.file = "troupe.db-new", .status = TR_STORE_FULL};
    fail_with(&any, TR_STORE_FULL);
    fail_with(&new, TR_STORE_FULL);
}

TEST(a_new_file_that_cannot_be_written_does_not_end_the_store, "K-22", "K-06")
{
    struct disk_fault new = {.file = "troupe.db-new", .status = TR_STORE_FAILED};
    fail_with(&new, TR_FAILED);
}

TEST(the_file_that_a_compaction_replaces_keeps_no_space, "K-22")
{
    struct place place = place_make();
    char path[192];
    struct stat found;
    struct store_compact report;
    tr_error error;
    make_much(&place);
    (void)snprintf(path, sizeof path, "%s/troupe.db", place.options.path);
    struct store *store = stores_open(&place.options);
    struct store_reader *reader = stores_reader(store); /* has the file open */
    ck_assert_str_eq(stores_state(reader, "k", "0"), "0");
    int fd = open(path, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(tr__store_shrink(store, NULL, &report, &error), TR_OK);
    ck_assert_int_eq(fstat(fd, &found), 0);
    ck_assert_int_eq(found.st_size, 0);
    ck_assert_str_eq(stores_state(reader, "k", "0"), "0");
    (void)close(fd);
    tr__store_reader_free(reader);
    tr__store_close(store);
    place_remove(&place);
}

/* Sets a flag at the first write to a file whose name ends so. */
struct stopper {
    const char *end;
    atom32 is_cancelled;
};

static tr_status on_write(void *context, enum store_io io, const char *file, uint64_t offset,
                          size_t size)
{
    struct stopper *stopper = context;
    size_t length = strlen(file);
    size_t end = strlen(stopper->end);
    (void)offset;
    (void)size;
    if (io == STORE_IO_WRITE && *stopper->end && length >= end &&
        strcmp(file + length - end, stopper->end) == 0)
        atom32_store(&stopper->is_cancelled, 1, ATOM_RELAXED);
    return TR_OK;
}

/* Before it begins, and while rows are copied into the new file. */
TEST(a_compaction_is_cancelled_and_changes_nothing, "K-22", "O-28")
{
    static const char *const ends[] = {"", "troupe.db-new"};
    struct place place = place_make();
    struct stopper stopper = {.end = ""};
    const struct store_io_hook hook = {on_write, &stopper};
    make_much(&place);
    place.options.hook = &hook;
    struct store *store = stores_open(&place.options);
    struct store_entry *entry = stores_enter(store, "k", "0");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct store_compact report;
        tr_error error;
        ck_assert_int_eq(put_await(entry, "before"), TR_OK);
        stopper.end = ends[i];
        atom32_store(&stopper.is_cancelled, !*ends[i], ATOM_RELAXED);
        tr_status status = tr__store_shrink(store, &stopper.is_cancelled, &report, &error);
        ck_assert_msg(status == TR_CANCELLED, "%zu: %s", i, tr_status_name(status));
        ck_assert_ptr_nonnull(strstr(error.text, "nothing has changed"));
        stopper.end = "";
        ck_assert_int_eq(tr__store_status(store), TR_OK);
        ck_assert_int_eq(put_await(entry, "after"), TR_OK);
        struct store_reader *reader = stores_reader(store);
        ck_assert_str_eq(stores_state(reader, "k", "0"), "after");
        tr__store_reader_free(reader);
    }
    tr__store_leave(entry);
    tr__store_close(store);
    struct store_check checked;
    tr_error error;
    ck_assert_int_eq(tr__store_check(&place.options, &checked, NULL, NULL, &error), TR_OK);
    ck_assert_uint_eq(checked.damages, 0);
    place_remove(&place);
}

/* Reads the same rows without a pause, while the files change. */
struct looker {
    struct store *store;
    tr_thread *thread;
    atom32 is_over;
    atom64 looks;
};

static void look_on(void *context)
{
    struct looker *looker = context;
    struct store_reader *reader = stores_reader(looker->store);
    struct store_reader *last = NULL;
    for (uint64_t look = 0; !atom32_load(&looker->is_over, ATOM_ACQUIRE); look++) {
        tr_bytes value;
        char key[16];
        (void)snprintf(key, sizeof key, "%llu", (unsigned long long)(look % 100));
        ck_assert_int_eq(
            tr__store_read_kv(reader, "k", stores_bytes("kept"), stores_bytes(key), &value), TR_OK);
        ck_assert_uint_eq(value.size, 1000);
        ck_assert_int_eq(*(const char *)value.data, 'k');
        if (look % 64 == 0) { /* a reader that is opened at any time */
            tr__store_reader_free(last);
            last = reader;
            reader = stores_reader(looker->store);
        }
        atom64_fetch_add(&looker->looks, 1, ATOM_RELEASE);
    }
    tr__store_reader_free(last);
    tr__store_reader_free(reader);
}

static void put_kept(struct store *store)
{
    static char value[1000];
    memset(value, 'k', sizeof value);
    struct store_entry *entry = stores_enter(store, "k", "kept");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("state")), TR_OK);
    for (int i = 0; i < 100; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        ck_assert_int_eq(
            tr__store_kv_put(batch, stores_bytes(key), (tr_bytes){value, sizeof value}), TR_OK);
    }
    ck_assert_int_eq(commit_await(batch), TR_OK);
    tr__store_leave(entry);
}

/* The greatest end of a write to the log. */
static tr_status on_log(void *context, enum store_io io, const char *file, uint64_t offset,
                        size_t size)
{
    atom64 *end_max = context;
    uint64_t seen = atom64_load(end_max, ATOM_RELAXED);
    if (io != STORE_IO_WRITE || !strstr(file, "-log"))
        return TR_OK;
    while (offset + size > seen &&
           !atom64_compare_exchange(end_max, &seen, offset + size, ATOM_RELAXED, ATOM_RELAXED))
        continue;
    return TR_OK;
}

TEST(a_compaction_keeps_the_log_below_its_limit_and_readers_read_on, "K-11", "K-22")
{
    enum { PAGES = 50, PAGES_DEFAULT = 1000 };
    struct place place = place_make();
    atom64 end_max;
    atom64_init(&end_max, 0);
    const struct store_io_hook hook = {on_log, &end_max};
    make_much(&place);
    place.options.log_pages = PAGES;
    place.options.hook = &hook;
    struct store *store = stores_open(&place.options);
    put_kept(store);
    struct looker lookers[2];
    for (int i = 0; i < 2; i++) {
        lookers[i] = (struct looker){.store = store};
        ck_assert_int_eq(place.options.source.platform->thread_start(
                             tr_platform_real(), "look", look_on, &lookers[i], &lookers[i].thread),
                         TR_OK);
    }
    struct store_entry *entry = stores_enter(store, "k", "0");
    uint64_t rounds = test_scale(6, 200);
    for (uint64_t round = 0; round < rounds; round++) {
        struct store_compact report;
        tr_error error = {0};
        uint64_t looks = atom64_load(&lookers[0].looks, ATOM_ACQUIRE);
        tr_status status = tr__store_shrink(store, NULL, &report, &error);
        ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
        ck_assert_int_eq(put_await(entry, "after"), TR_OK);
        if (round == rounds / 2)
            destroy_much(store);
        while (atom64_load(&lookers[0].looks, ATOM_ACQUIRE) < looks + 200)
            tr_platform_real()->yield(tr_platform_real());
    }
    for (int i = 0; i < 2; i++) {
        atom32_store(&lookers[i].is_over, 1, ATOM_RELEASE);
        tr_platform_real()->thread_join(tr_platform_real(), lookers[i].thread);
    }
    tr__store_leave(entry);
    tr__store_close(store);
    ck_assert_uint_le(atom64_load(&end_max, ATOM_RELAXED),
                      (uint64_t)TR_STORE_LOG_MAX * PAGES / PAGES_DEFAULT);
    struct store_check checked;
    tr_error error = {0};
    ck_assert_int_eq(tr__store_check(&place.options, &checked, NULL, NULL, &error), TR_OK);
    ck_assert_uint_eq(checked.damages, 0);
    place_remove(&place);
}

/* A reader that stops in the middle of a read until another one has read, while a compaction waits for both. */
struct slow_read {
    struct store *store;
    tr_thread *thread;
    struct looker looker;
    atom32 has_begun;
};
static _Thread_local bool is_slow;

static bool is_barred(struct store *store)
{
    struct shm *shm = &store->session->vfs.shm;
    lock_take(&shm->lock);
    bool result = shm->is_barred;
    lock_give(&shm->lock);
    return result;
}

static tr_status on_read(void *context, enum store_io io, const char *file, uint64_t offset,
                         size_t size)
{
    const tr_platform *platform = tr_platform_real();
    struct slow_read *slow = context;
    (void)file;
    (void)offset;
    (void)size;
    if (io != STORE_IO_READ || !is_slow || atom32_load(&slow->has_begun, ATOM_RELAXED))
        return TR_OK;
    atom32_store(&slow->has_begun, 1, ATOM_RELEASE);
    while (!is_barred(slow->store))
        platform->yield(platform);
    uint64_t looks = atom64_load(&slow->looker.looks, ATOM_ACQUIRE);
    while (atom64_load(&slow->looker.looks, ATOM_ACQUIRE) < looks + 10)
        platform->yield(platform);
    return TR_OK;
}

static void read_slowly(void *context)
{
    struct slow_read *slow = context;
    struct store_reader *reader = stores_reader(slow->store);
    is_slow = true;
    ck_assert_str_eq(stores_state(reader, "k", "0"), "0");
    is_slow = false;
    tr__store_reader_free(reader);
}

TEST(a_long_read_locks_no_other_reader_out_of_a_compaction, "K-22")
{
    const tr_platform *platform = tr_platform_real();
    struct place place = place_make();
    struct slow_read slow = {0};
    struct store_compact report;
    tr_error error = {0};
    make_much(&place);
    const struct store_io_hook hook = {on_read, &slow};
    place.options.hook = &hook;
    slow.store = stores_open(&place.options);
    put_kept(slow.store);
    slow.looker.store = slow.store;
    ck_assert_int_eq(platform->thread_start(platform, "slow", read_slowly, &slow, &slow.thread),
                     TR_OK);
    while (!atom32_load(&slow.has_begun, ATOM_ACQUIRE))
        platform->yield(platform);
    ck_assert_int_eq(
        platform->thread_start(platform, "look", look_on, &slow.looker, &slow.looker.thread),
        TR_OK);
    tr_status status = tr__store_shrink(slow.store, NULL, &report, &error);
    ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    platform->thread_join(platform, slow.thread);
    atom32_store(&slow.looker.is_over, 1, ATOM_RELEASE);
    platform->thread_join(platform, slow.looker.thread);
    tr__store_close(slow.store);
    place_remove(&place);
}

/* Copies the files of a store at one operation on them: what a process that dies then leaves. */
struct death {
    const struct place *place;
    uint64_t at; /* counted from 1; 0: never */
    atom64 count;
};

static tr_status on_death(void *context, enum store_io io, const char *file, uint64_t offset,
                          size_t size)
{
    static const char *const names[] = {"lock", "troupe.db", "troupe.db-log", "troupe.db-new"};
    struct death *death = context;
    (void)file;
    (void)offset;
    (void)size;
    if (io == STORE_IO_READ || atom64_fetch_add(&death->count, 1, ATOM_RELAXED) + 1 != death->at)
        return TR_OK;
    ck_assert_int_eq(mkdir(death->place->copy, 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        copy_file(death->place, names[i]);
    return TR_OK;
}

/* Returns how many operations a compaction has. If the process dies in one of them, all is there. */
static uint64_t die_at(struct place *place, uint64_t at)
{
    struct death death = {.place = place};
    const struct store_io_hook hook = {on_death, &death};
    struct store_compact report;
    tr_error error;
    place->options.hook = &hook;
    struct store *store = stores_open(&place->options);
    struct store_entry *entry = stores_enter(store, "k", "1");
    ck_assert_int_eq(put_await(entry, "last"), TR_OK);
    tr__store_leave(entry);
    atom64_store(&death.count, 0, ATOM_RELAXED);
    death.at = at;
    ck_assert_int_eq(tr__store_shrink(store, NULL, &report, &error), TR_OK);
    uint64_t count = atom64_load(&death.count, ATOM_RELAXED);
    tr__store_close(store);
    place->options.hook = NULL;
    if (at == 0)
        return count;
    struct store_options options = place->options;
    options.path = place->copy;
    struct store_check checked;
    store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "0"), "0");
    ck_assert_str_eq(stores_state(reader, "k", "1"), "last");
    tr__store_reader_free(reader);
    tr__store_close(store);
    ck_assert_int_eq(tr__store_check(&options, &checked, NULL, NULL, &error), TR_OK);
    ck_assert_uint_eq(checked.damages, 0);
    ck_assert_uint_eq(checked.actors, WRITERS + 1);
    stores_remove(place->copy);
    return count;
}

TEST(a_process_that_dies_at_any_step_of_a_compaction_loses_nothing, "K-22", "K-09", "PE-22")
{
    struct place place = place_make();
    make_much(&place);
    uint64_t count = die_at(&place, 0);
    ck_assert_uint_gt(count, 100);
    for (uint64_t i = 1; i <= 6; i++) { /* the first steps and the last ones, where most happens */
        (void)die_at(&place, i);
        (void)die_at(&place, count - i);
    }
    for (uint64_t i = 1; i < test_scale(4, 200); i++)
        (void)die_at(&place, 1 + i * 7919 % count);
    place_remove(&place);
}

TEST(what_a_compaction_has_left_is_removed, "K-22")
{
    struct place place = place_make();
    char path[192];
    (void)snprintf(path, sizeof path, "%s/troupe.db-new", place.options.path);
    tr__store_close(stores_open(&place.options));
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    tr__store_close(stores_open(&place.options));
    ck_assert(!is_there(path));
    place_remove(&place);
}

SUITE("store: compaction", a_store_is_compacted_beside_commits,
      a_full_disk_stops_a_compaction_and_not_the_store,
      a_new_file_that_cannot_be_written_does_not_end_the_store,
      the_file_that_a_compaction_replaces_keeps_no_space,
      a_compaction_is_cancelled_and_changes_nothing,
      a_compaction_keeps_the_log_below_its_limit_and_readers_read_on,
      a_long_read_locks_no_other_reader_out_of_a_compaction,
      a_process_that_dies_at_any_step_of_a_compaction_loses_nothing,
      what_a_compaction_has_left_is_removed)
