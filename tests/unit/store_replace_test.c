/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compaction of a store whose files others have open: readers, other names, a check from outside.
 */
#include "support/store_load.h"

#include "store/core.h"
#include "store/sqlite/session.h"

/* Puts the name of a file of the store into `path`. */
static void path_of(const struct place *place, const char *name, char path[192])
{
    (void)snprintf(path, 192, "%s/%s", place->options.path, name);
}

static uint64_t size_of(const char *path)
{
    struct stat found;
    ck_assert_int_eq(stat(path, &found), 0);
    return (uint64_t)found.st_size;
}

/* A copy by hard links has the file that the compaction replaces. */
TEST(a_replaced_file_that_has_another_name_keeps_its_bytes, "K-22")
{
    struct place place = place_make();
    char path[192];
    char other[192];
    struct store_compact report;
    struct store_check checked;
    tr_error error;
    make_much(&place);
    path_of(&place, "troupe.db", path);
    (void)snprintf(other, sizeof other, "%s/troupe.db", place.copy);
    ck_assert_int_eq(mkdir(place.copy, 0700), 0);
    struct store *store = stores_open(&place.options);
    ck_assert_int_eq(link(path, other), 0);
    ck_assert_int_eq(tr__store_shrink(store, NULL, &report, &error), TR_OK);
    ck_assert_uint_gt(size_of(other), 0);
    copy_file(&place, "lock");
    copy_file(&place, "troupe.db-log"); /* which is empty */
    tr__store_close(store);
    struct store_options options = place.options;
    options.path = place.copy;
    tr_status status = tr__store_check(&options, &checked, NULL, NULL, &error);
    ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    ck_assert_uint_eq(checked.damages, 0);
    ck_assert_uint_eq(checked.actors, WRITERS + 1);
    place_remove(&place);
}

/* A reader that is opened, and whose first read of the file waits until the file was replaced and emptied. */
struct late_open {
    struct store *store;
    tr_thread *thread;
    const char *path;
    atom32 has_opened;
    atom32 is_replaced;
};
static _Thread_local bool is_late;

static tr_status on_first_read(void *context, enum store_io io, const char *file, uint64_t offset,
                               size_t size)
{
    const tr_platform *platform = tr_platform_real();
    struct late_open *late = context;
    (void)offset;
    (void)size;
    if (io != STORE_IO_READ || !is_late || strcmp(file, late->path) != 0)
        return TR_OK;
    atom32_store(&late->has_opened, 1, ATOM_RELEASE);
    while (!atom32_load(&late->is_replaced, ATOM_ACQUIRE))
        platform->yield(platform);
    return TR_OK;
}

static void open_late(void *context)
{
    struct late_open *late = context;
    is_late = true;
    struct store_reader *reader = stores_reader(late->store);
    ck_assert_str_eq(stores_state(reader, "k", "0"), "0");
    ck_assert_str_eq(stores_kv(reader, "k", "1", "key"), "0");
    tr__store_reader_free(reader);
}

TEST(a_reader_that_opened_the_file_before_it_was_replaced_reads_the_new_one, "K-22")
{
    const tr_platform *platform = tr_platform_real();
    struct place place = place_make();
    char path[192];
    struct store_compact report;
    tr_error error;
    make_much(&place);
    path_of(&place, "troupe.db", path);
    struct late_open late = {.path = path};
    const struct store_io_hook hook = {on_first_read, &late};
    place.options.hook = &hook;
    late.store = stores_open(&place.options);
    ck_assert_int_eq(platform->thread_start(platform, "late", open_late, &late, &late.thread),
                     TR_OK);
    while (!atom32_load(&late.has_opened, ATOM_ACQUIRE))
        platform->yield(platform);
    tr_status status = tr__store_shrink(late.store, NULL, &report, &error);
    ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    atom32_store(&late.is_replaced, 1, ATOM_RELEASE);
    platform->thread_join(platform, late.thread);
    tr__store_close(late.store);
    place_remove(&place);
}

/* The database may be a link into another directory, where the log and the new file are then, too. */
TEST(a_database_behind_a_symbolic_link_is_compacted_where_it_is, "K-22")
{
    struct place place = place_make();
    char path[192];
    char other[192];
    struct stat found;
    struct store_compact report;
    struct store_check checked;
    tr_error error;
    ck_assert_int_eq(mkdir(place.copy, 0700), 0);
    path_of(&place, "troupe.db", path);
    (void)snprintf(other, sizeof other, "%s/real", place.copy);
    ck_assert_int_eq(symlink(other, path), 0);
    int fd = open(other, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    make_much(&place);
    struct store *store = stores_open(&place.options);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "0"), "0");
    destroy_much(store);
    uint64_t before = size_of(other);
    do {
        tr_status status = tr__store_shrink(store, NULL, &report, &error);
        ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    } while (size_of(other) >= before / 2);
    ck_assert_str_eq(stores_state(reader, "k", "0"), "0");
    tr__store_reader_free(reader);
    tr__store_close(store);
    ck_assert_int_eq(lstat(path, &found), 0);
    ck_assert(S_ISLNK(found.st_mode));
    ck_assert_int_eq(tr__store_check(&place.options, &checked, NULL, NULL, &error), TR_OK);
    ck_assert_uint_eq(checked.damages, 0);
    ck_assert_uint_eq(checked.actors, WRITERS);
    ck_assert_int_eq(unlink(other), 0);
    (void)snprintf(other, sizeof other, "%s/real-log", place.copy);
    ck_assert_int_eq(unlink(other), 0);
    place_remove(&place);
}

/* ---- A log that is emptied while readers have it open. ---- */

/* The real clock, but each look at it takes a millisecond: a compaction waits a second for readers. */
static tr_time fast_now(const tr_platform *platform)
{
    static atom64 looks;
    (void)platform;
    return (tr_time)atom64_fetch_add(&looks, 1, ATOM_RELAXED) * TR_MILLISECOND + TR_SECOND;
}

static void put_round(struct store *store, struct store_entry *entry, int round)
{
    char text[16];
    struct store_batch *batch = stores_batch(entry);
    char *kept = tr__store_batch_alloc(batch, sizeof text);
    ck_assert_ptr_nonnull(kept);
    (void)snprintf(kept, sizeof text, "%d", round);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes(kept)), TR_OK);
    for (int i = 0; i < 40; i++) { /* several pages */
        static char values[40][1024];
        (void)snprintf(text, sizeof text, "%d", i);
        (void)snprintf(values[i], sizeof values[i], "%d", round);
        char *key = tr__store_batch_alloc(batch, sizeof text);
        ck_assert_ptr_nonnull(key);
        memcpy(key, text, sizeof text);
        ck_assert_int_eq(
            tr__store_kv_put(batch, stores_bytes(key), (tr_bytes){values[i], sizeof values[i]}),
            TR_OK);
    }
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
}

/* All of the last round, and nothing of another one. */
static void see_round(struct store_reader *reader, int round)
{
    char text[16];
    char key[16];
    (void)snprintf(text, sizeof text, "%d", round);
    ck_assert_str_eq(stores_state(reader, "k", "0"), text);
    for (int i = 0; i < 40; i++) {
        (void)snprintf(key, sizeof key, "%d", i);
        ck_assert_str_eq(stores_kv(reader, "k", "0", key), text);
    }
}

TEST(a_log_that_is_emptied_while_readers_have_it_open_changes_nothing_for_them, "K-11", "K-22")
{
    struct place place = place_make();
    tr_platform platform = *place.options.source.platform;
    char log[192];
    struct store_why why;
    platform.mono_now = fast_now;
    place.options.source.platform = &platform;
    place.options.is_threadless = true;
    path_of(&place, "troupe.db-log", log);
    struct store *store = stores_open(&place.options);
    const struct store_driver *driver = store->driver;
    struct store_entry *entry = stores_enter(store, "k", "0");
    put_round(store, entry, 0);
    struct store_reader *held = stores_reader(store);
    struct store_reader *other = stores_reader(store);
    for (int round = 1; round <= 20; round++) {
        bool shrinks = round % 2;
        /* One reads from the log, and the log and the file must not change below it. */
        ck_assert_int_eq(tr__store_reader_hold(held), TR_OK);
        see_round(held, round - 1);
        put_round(store, entry, round);
        uint64_t size = size_of(log);
        ck_assert_int_eq(driver->restart(store->session, true, &why), TR_STORE_BUSY);
        ck_assert_int_eq(driver->shrink(store->session, NULL, &why), TR_STORE_BUSY);
        ck_assert_uint_eq(size_of(log), size);
        see_round(held, round - 1);
        see_round(other, round);
        tr__store_reader_release(held);
        /* Both have the log open, and what it had in their caches. */
        tr_status status = shrinks ? driver->shrink(store->session, NULL, &why)
                                   : driver->restart(store->session, true, &why);
        ck_assert_msg(status == TR_OK, "%d: %s: %s", round, tr_status_name(status), why.text);
        ck_assert_uint_lt(size_of(log), size);
        see_round(other, round);
        if (round % 3 == 0)
            put_round(store, entry, round); /* the log is shorter than it was */
        see_round(held, round);
    }
    tr__store_reader_free(other);
    tr__store_reader_free(held);
    tr__store_leave(entry);
    tr__store_close(store);
    place_remove(&place);
}

/* What readers do that try to begin: they have the lock of a reader alone for a moment, and give it back. */
struct beginner {
    struct shm *shm;
    tr_thread *thread;
    atom32 is_over;
};
enum {
    READ_LOCK = 4,
    LOCKED = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE
}; /* WAL_READ_LOCK(1) of SQLite */

static void be_busy(struct shm *shm, int turns)
{
    for (; turns > 0; turns--)
        tr__shm_barrier(shm);
}

static void begin_on(void *context)
{
    struct beginner *beginner = context;
    struct shm_user user = {0};
    while (!atom32_load(&beginner->is_over, ATOM_ACQUIRE)) {
        if (tr__shm_lock(beginner->shm, &user, READ_LOCK, 1, LOCKED) == SQLITE_OK) {
            be_busy(beginner->shm, 8);
            (void)tr__shm_lock(
                beginner->shm, &user, READ_LOCK, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
        }
        /* Without the lock for most of the time, also where a busy machine lets the compaction look only now and then. */
        be_busy(beginner->shm, 16);
    }
}

TEST(readers_that_try_to_begin_do_not_stop_a_compaction, "K-22")
{
    const tr_platform *platform = tr_platform_real();
    struct place place = place_make();
    struct store *store = stores_open(&place.options);
    struct store_entry *entry = stores_enter(store, "k", "0");
    struct beginner beginner = {.shm = &store->session->vfs.shm};
    struct store_compact report;
    tr_error error = {0};
    ck_assert_int_eq(
        platform->thread_start(platform, "begin", begin_on, &beginner, &beginner.thread), TR_OK);
    for (uint64_t i = 0; i < test_scale(40, 400); i++) {
        ck_assert_int_eq(put_await(entry, "state"), TR_OK);
        tr_status status = tr__store_shrink(store, NULL, &report, &error);
        ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    }
    atom32_store(&beginner.is_over, 1, ATOM_RELEASE);
    platform->thread_join(platform, beginner.thread);
    tr__store_leave(entry);
    tr__store_close(store);
    place_remove(&place);
}

/* ---- store check. ---- */

struct checks {
    const struct place *place;
    atom32 is_on;
    atom32 count;
};

static tr_status on_check(void *context, enum store_io io, const char *file, uint64_t offset,
                          size_t size)
{
    struct checks *checks = context;
    struct store_options options = checks->place->options;
    struct store_check checked;
    tr_error error;
    (void)file;
    (void)offset;
    (void)size;
    if (io == STORE_IO_READ || !atom32_load(&checks->is_on, ATOM_RELAXED))
        return TR_OK;
    options.hook = NULL;
    ck_assert_int_eq(tr__store_check(&options, &checked, NULL, NULL, &error), TR_STORE_BUSY);
    ck_assert_int_eq(tr__store_compact(&options, &(struct store_compact){0}, &error),
                     TR_STORE_BUSY);
    atom32_fetch_add(&checks->count, 1, ATOM_RELAXED);
    return TR_OK;
}

/* As troupe --store DIR store check does from another process, at each step of the compaction. */
TEST(a_check_from_outside_is_refused_at_each_step_of_a_compaction, "K-22", "O-28")
{
    struct place place = place_make();
    struct checks checks = {.place = &place};
    const struct store_io_hook hook = {on_check, &checks};
    struct store_compact report;
    struct store_check checked;
    tr_error error;
    make_much(&place);
    place.options.hook = &hook;
    struct store *store = stores_open(&place.options);
    atom32_store(&checks.is_on, 1, ATOM_RELAXED);
    tr_status status = tr__store_shrink(store, NULL, &report, &error);
    atom32_store(&checks.is_on, 0, ATOM_RELAXED);
    ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    ck_assert_uint_gt(atom32_load(&checks.count, ATOM_RELAXED), 100);
    tr__store_close(store);
    ck_assert_int_eq(tr__store_check(&place.options, &checked, NULL, NULL, &error), TR_OK);
    ck_assert_uint_eq(checked.damages, 0);
    ck_assert_uint_eq(checked.actors, WRITERS + 1);
    place_remove(&place);
}

SUITE("store: replaced files", a_replaced_file_that_has_another_name_keeps_its_bytes,
      a_reader_that_opened_the_file_before_it_was_replaced_reads_the_new_one,
      a_database_behind_a_symbolic_link_is_compacted_where_it_is,
      a_log_that_is_emptied_while_readers_have_it_open_changes_nothing_for_them,
      readers_that_try_to_begin_do_not_stop_a_compaction,
      a_check_from_outside_is_refused_at_each_step_of_a_compaction)
