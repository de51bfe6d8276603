/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Who may open a store: one process, of the program that made it, that knows its format.
 */
#include "support/tamper.h"

#include <sys/stat.h>
#include <sys/wait.h>

static tr_status try_open(const struct store_options *options, tr_error *error)
{
    struct store *store;
    *error = (tr_error){0};
    tr_status status = tr__store_open(options, &store, error);
    if (status == TR_NOT_SUPPORTED)
        test_skip("built without SQLite");
    if (status == TR_OK)
        tr__store_close(store);
    return status;
}

static void write_one(const struct store_options *options, const char *state)
{
    struct store *store = stores_open(options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    ck_assert_int_eq(stores_put(store, entry, 1, state), TR_OK);
    tr__store_leave(entry);
    tr__store_close(store);
}

static void expect_state(const struct store_options *options, const char *state)
{
    struct store *store = stores_open(options);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "x"), state);
    tr__store_reader_free(reader);
    tr__store_close(store);
}

TEST(a_directory_is_made_and_keeps_what_was_written, "K-06", "PE-15")
{
    char path[80];
    const char *directory = stores_directory();
    struct store_options options = stores_options(NULL);
    (void)snprintf(path, sizeof path, "%s/new", directory);
    options.path = path;
    write_one(&options, "kept");
    struct stat found;
    ck_assert_int_eq(stat(path, &found), 0);
    ck_assert_uint_eq(found.st_mode & 0777, 0700);
    expect_state(&options, "kept");
    stores_remove(path);
    (void)rmdir(directory);
}

TEST(without_a_place_nothing_is_opened, "K-06")
{
    tr_error error;
    struct store_options options = stores_options(NULL);
    options.path = "/no/such/parent/store";
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "/no/such/parent/store"));
    options.path = "/dev/null";
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_FAILED);
    options.program = NULL;
    ck_assert_int_eq(try_open(&options, &error), TR_INVALID_ARGUMENT);
    options.program = "";
    ck_assert_int_eq(try_open(&options, &error), TR_INVALID_ARGUMENT);
}

TEST(a_second_opener_is_refused, "PE-16", "K-06")
{
    tr_error error;
    struct store_options options = stores_options(NULL);
    options.path = stores_directory();
    struct store *store = stores_open(&options);
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_BUSY);
    ck_assert_ptr_nonnull(strstr(error.text, options.path));

    /* A process that shares nothing with this one: store_files_test.c. A child made by fork would share the locks. */
    tr__store_close(store);
    ck_assert_int_eq(try_open(&options, &error), TR_OK);
    stores_remove(options.path);
}

TEST(a_killed_process_leaves_no_lock, "PE-16", "K-09")
{
    struct store_options options = stores_options(NULL);
    options.path = stores_directory();
    pid_t child = fork();
    if (child == 0) {
        struct store *store = stores_open(&options);
        struct store_entry *entry = stores_enter(store, "k", "x");
        if (stores_put(store, entry, 1, "before the end") == TR_OK)
            (void)kill(getpid(), SIGKILL);
        _exit(1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    expect_state(&options, "before the end");
    stores_remove(options.path);
}

TEST(the_store_of_another_program_is_refused_with_both_names, "K-06")
{
    tr_error error;
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    write_one(&options, "mine");
    options.program = "somebody";
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_FOREIGN);
    ck_assert_ptr_nonnull(strstr(error.text, "somebody"));
    ck_assert_ptr_nonnull(strstr(error.text, STORES_PROGRAM));
    options.program = STORES_PROGRAM;
    expect_state(&options, "mine");
    tr__disk_free(disk);
}

TEST(a_newer_format_is_refused_with_both_numbers, "PE-20")
{
    tr_error error;
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    write_one(&options, "mine");
    tamper(disk, "PRAGMA user_version = 7");
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_NEWER);
    ck_assert_ptr_nonnull(strstr(error.text, "7"));
    ck_assert_ptr_nonnull(strstr(error.text, "4"));
    tamper(disk, "PRAGMA user_version = 4");
    expect_state(&options, "mine");
    tr__disk_free(disk);
}

static bool on_shape(void *context, const struct store_row *row)
{
    size_t *count = context;
    ck_assert_uint_eq(row->id, 5);
    ck_assert_uint_eq(row->bytes.size, 2);
    (*count)++;
    return true;
}

/* What later formats have added. */
static void use_all_tables(const struct store_options *options)
{
    static const unsigned char page[STORE_PAGE_SIZE] = "page";
    size_t count = 0;
    struct store_reader *reader;
    struct store *store = stores_open(options);
    struct store_entry *entry = stores_enter(store, "k", "a");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_page_put(batch, 1, (tr_bytes){page, sizeof page}), TR_OK);
    ck_assert_int_eq(tr__store_shape_put(batch, 5, stores_bytes("{}")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    tr__store_leave(entry);
    ck_assert_int_eq(tr__store_reader_new(store, &reader), TR_OK);
    ck_assert_int_eq(tr__store_list_shapes(reader, on_shape, &count), TR_OK);
    ck_assert_uint_eq(count, 1);
    tr__store_reader_free(reader);
    tr__store_close(store);
}

TEST(a_store_of_an_earlier_format_gets_what_it_lacks, "K-03", "K-07", "PE-20")
{
    static const char *const earlier[] = {
        "DROP TABLE page; DROP TABLE shape; DROP INDEX actor_doomed; PRAGMA user_version = 1",
        "DROP TABLE shape; DROP INDEX actor_doomed; PRAGMA user_version = 2"};
    for (int format = 0; format < 2; format++) {
        struct store_disk *disk = stores_disk(false);
        struct store_options options = stores_options(disk);
        write_one(&options, "mine");
        tamper(disk, earlier[format]);
        for (int i = 0; i < 2; i++) {
            expect_state(&options, "mine");
            use_all_tables(&options);
        }
        tr__disk_free(disk);
    }
}

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

TEST(what_is_no_store_is_refused_and_left_alone, "K-06")
{
    tr_error error;
    char file[128];
    struct store_options options = stores_options(NULL);
    options.path = stores_directory();
    (void)snprintf(file, sizeof file, "%s/troupe.db", options.path);
    static char garbage[8192];
    memset(garbage, 'g', sizeof garbage);
    write_file(file, garbage, sizeof garbage);
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_FOREIGN);
    ck_assert_ptr_nonnull(strstr(error.text, file));
    (void)unlink(file);

    sqlite3 *other;
    ck_assert_int_eq(sqlite3_open(file, &other), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_exec(other, "CREATE TABLE t (x); INSERT INTO t VALUES (42)", NULL, NULL, NULL),
        SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(other), SQLITE_OK);
    struct stat before;
    struct stat after;
    ck_assert_int_eq(stat(file, &before), 0);
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_FOREIGN);
    ck_assert_int_eq(stat(file, &after), 0);
    ck_assert_int_eq(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
    ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    stores_remove(options.path);
}

TEST(a_generation_of_the_past_does_not_write, "K-06", "PE-12")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    write_one(&options, "one");
    tamper(disk, "CREATE TABLE saved AS SELECT * FROM store");
    write_one(&options, "two");
    write_one(&options, "three");
    /* As if the store had forgotten that it was opened so often. */
    tamper(disk, "DELETE FROM store; INSERT INTO store SELECT * FROM saved");
    struct store *store = stores_open(&options);
    ck_assert_uint_eq(tr__store_epoch(store), 2);
    struct store_entry *entry = stores_enter(store, "k", "x");
    ck_assert_int_eq(stores_put(store, entry, 1, "four"), TR_STALE);
    tr__store_leave(entry);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "x"), "three");
    tr__store_reader_free(reader);
    tr__store_close(store);
    tr__disk_free(disk);
}

static void expect_corrupt_row(const char *sql)
{
    tr_error error;
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    write_one(&options, "mine");
    tamper(disk, sql);
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_CORRUPT);
    ck_assert_str_ne(error.text, "");
    tr__disk_free(disk);
}

TEST(a_store_that_lies_about_itself_is_not_opened, "PE-12")
{
    expect_corrupt_row("UPDATE store SET epoch = 0");
    expect_corrupt_row("UPDATE store SET program = 'other'");
    expect_corrupt_row("UPDATE store SET key = x'00'");
    expect_corrupt_row("UPDATE store SET seal = x''");
    expect_corrupt_row("DELETE FROM store");
    expect_corrupt_row("DROP TABLE store");
}

SUITE("store open", a_directory_is_made_and_keeps_what_was_written,
      without_a_place_nothing_is_opened, a_second_opener_is_refused,
      a_killed_process_leaves_no_lock, the_store_of_another_program_is_refused_with_both_names,
      a_newer_format_is_refused_with_both_numbers, a_store_of_an_earlier_format_gets_what_it_lacks,
      what_is_no_store_is_refused_and_left_alone, a_generation_of_the_past_does_not_write,
      a_store_that_lies_about_itself_is_not_opened)
