/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checks and compaction of a store that is not open.
 */
#include "support/stores.h"

#include "store/backup.h"

enum { ACTORS = 50, VALUE = 2000 };

static void fill_with(const struct store_options *options)
{
    struct store *store = stores_open(options);
    static char value[VALUE];
    for (int i = 0; i < ACTORS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        struct store_entry *entry = stores_enter(store, "k", key);
        struct store_batch *batch = stores_batch(entry);
        memset(value, 'a' + i % 26, sizeof value);
        ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("state")), TR_OK);
        ck_assert_int_eq(
            tr__store_kv_put(batch, stores_bytes("key"), (tr_bytes){value, sizeof value}), TR_OK);
        ck_assert_int_eq(tr__store_event_append(batch, 0, stores_bytes("event")), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), TR_OK);
        tr__store_leave(entry);
    }
    tr__store_close(store);
}

static void fill(struct store_disk *disk)
{
    struct store_options options = stores_options(disk);
    fill_with(&options);
}

static void destroy_most(const struct store_options *options)
{
    struct store *store = stores_open(options);
    for (int i = 1; i < ACTORS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        struct store_entry *entry = stores_enter(store, "k", key);
        struct store_batch *batch = stores_batch(entry);
        ck_assert_int_eq(tr__store_destroy(batch), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), TR_OK);
        tr__store_leave(entry);
    }
    tr__store_close(store);
}

static char last_damage[600];

static void on_damage(void *context, const char *text)
{
    ++*(int *)context;
    (void)snprintf(last_damage, sizeof last_damage, "%s", text);
}

static struct store_check check(struct store_disk *disk)
{
    struct store_options options = stores_options(disk);
    struct store_check report;
    tr_error error = {0};
    int damages = 0;
    tr_status status = tr__store_check(&options, &report, on_damage, &damages, &error);
    ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    ck_assert_uint_eq(report.damages, (uint64_t)damages);
    return report;
}

TEST(a_whole_store_has_no_damage_and_is_not_changed, "K-22")
{
    struct store_disk *disk = stores_disk(false);
    fill(disk);
    size_t size = tr__disk_size(disk, "troupe.db");
    size_t log_size = tr__disk_size(disk, "troupe.db-log");
    for (int i = 0; i < 2; i++) {
        struct store_check report = check(disk);
        ck_assert_uint_eq(report.damages, 0);
        ck_assert_uint_eq(report.actors, ACTORS);
        ck_assert_uint_eq(report.rows, 2 * ACTORS);
        ck_assert_uint_eq(report.pages, size / 4096);
    }
    ck_assert_uint_eq(tr__disk_size(disk, "troupe.db"), size);
    ck_assert_uint_eq(tr__disk_size(disk, "troupe.db-log"), log_size);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    ck_assert_uint_eq(tr__store_epoch(store), 2); /* a check opens nothing */
    tr__store_close(store);
    tr__disk_free(disk);
}

TEST(a_flip_in_any_page_in_use_is_found, "K-22", "K-09")
{
    struct store_disk *disk = stores_disk(false);
    fill(disk);
    size_t pages = tr__disk_size(disk, "troupe.db") / 4096;
    for (size_t page = 1; page < pages; page++) {
        size_t at = page * 4096 + 1234;
        ck_assert(tr__disk_flip(disk, "troupe.db", at, 4));
        struct store_options options = stores_options(disk);
        struct store_check report;
        tr_status status = tr__store_check(&options, &report, NULL, NULL, NULL);
        ck_assert_msg(status != TR_OK || report.damages > 0, "page %zu", page + 1);
        ck_assert(tr__disk_flip(disk, "troupe.db", at, 4));
    }
    ck_assert_uint_eq(check(disk).damages, 0);
    tr__disk_free(disk);
}

TEST(a_check_of_what_is_no_store_is_refused, "K-22")
{
    struct store_options options = stores_options(NULL);
    struct store_check report;
    tr_error error;
    options.path = "/tmp/troupe-no-such-store";
    ck_assert_int_eq(tr__store_check(&options, &report, NULL, NULL, &error), TR_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.text, options.path));
    ck_assert_int_ne(access(options.path, F_OK), 0); /* none was made */
    options.program = "";
    ck_assert_int_eq(tr__store_check(&options, &report, NULL, NULL, NULL), TR_INVALID_ARGUMENT);
    struct store_disk *disk = stores_disk(false);
    fill(disk);
    options = stores_options(disk);
    struct store *store = stores_open(&options);
    ck_assert_int_eq(tr__store_check(&options, &report, NULL, NULL, NULL), TR_STORE_BUSY);
    tr__store_close(store);
    options.program = "another";
    ck_assert_int_eq(tr__store_check(&options, &report, NULL, NULL, NULL), TR_STORE_FOREIGN);
    tr__disk_free(disk);
}

TEST(a_compacted_store_is_smaller_and_has_what_it_had, "K-22")
{
    struct store_options options = stores_options(NULL);
    options.path = stores_directory();
    struct store_compact report;
    struct store_check checked;
    tr_error error = {0};
    fill_with(&options);
    destroy_most(&options);
    tr_status status = tr__store_compact(&options, &report, &error);
    ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    ck_assert_uint_lt(report.bytes_after, report.bytes_before / 2);
    options.program = NULL; /* of any program; it still has its owner */
    ck_assert_int_eq(tr__store_compact(&options, &report, &error), TR_OK);
    options.program = "another";
    ck_assert_int_eq(tr__store_compact(&options, &report, &error), TR_STORE_FOREIGN);
    options.program = stores_options(NULL).program;
    ck_assert_int_eq(tr__store_check(&options, &checked, on_damage, NULL, &error), TR_OK);
    ck_assert_uint_eq(checked.damages, 0);
    ck_assert_uint_eq(checked.actors, 1);
    struct store *store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "0"), "state");
    tr__store_reader_free(reader);
    tr__store_close(store);
    stores_remove(options.path);
}

TEST(a_store_in_memory_is_not_compacted, "K-22")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store_compact report;
    tr_error error = {0};
    fill(disk);
    ck_assert_int_eq(tr__store_compact(&options, &report, &error), TR_NOT_SUPPORTED);
    ck_assert_uint_eq(check(disk).damages, 0);
    tr__disk_free(disk);
}

SUITE("store: check", a_whole_store_has_no_damage_and_is_not_changed,
      a_flip_in_any_page_in_use_is_found, a_check_of_what_is_no_store_is_refused,
      a_compacted_store_is_smaller_and_has_what_it_had, a_store_in_memory_is_not_compacted)
