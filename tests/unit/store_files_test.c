/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The files of a store and what others do to them: SQLite's tools, a second process, people who delete or cut them.
 * Nothing is acknowledged into a file that is gone, and no actor begins as if it had never been.
 */
#include "support/ledger.h"
#include "support/programs.h"

#include "store/sqlite/page_sum.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static char files[4]
                 [128]; /* of a directory: "lock", "troupe.db", "troupe.db-log", "troupe.db-wal" */
enum { LOCK, DATABASE, LOG, OLD_LOG };

static struct store_options place_make(void)
{
    static const char *const names[] = {"lock", "troupe.db", "troupe.db-log", "troupe.db-wal"};
    struct store_options options = stores_options(NULL);
    options.path = stores_directory();
    for (size_t i = 0; i < 4; i++)
        (void)snprintf(files[i], sizeof files[i], "%s/%s", options.path, names[i]);
    return options;
}

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

static void write_state(const struct store_options *options, const char *state)
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

/* Writes a state in a process that is killed before it can close the store: the log has what the database lacks. */
static void write_and_be_killed(const struct store_options *options, const char *state)
{
    pid_t child = fork();
    if (child == 0) {
        struct store *store = stores_open(options);
        struct store_entry *entry = stores_enter(store, "k", "x");
        if (stores_put(store, entry, 1, state) == TR_OK)
            (void)kill(getpid(), SIGKILL);
        _exit(1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
}

/* A sum of all bytes of a file. */
static uint64_t sum_of(const char *path)
{
    uint64_t sum = 1;
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file, "%s", path);
    for (int byte; (byte = fgetc(file)) != EOF;)
        sum = hash_mix(sum + (uint64_t)byte + 1);
    (void)fclose(file);
    return sum;
}

/* Whatever the tool is asked, it neither reads nor changes anything. */
static void expect_tool_refused(const char *text)
{
    static const char *const questions[] = {
        "SELECT count(*) FROM actor",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "DELETE FROM actor",
        "PRAGMA journal_mode = DELETE",
        "VACUUM",
    };
    char output[PROGRAM_OUTPUT];
    uint64_t database = sum_of(files[DATABASE]);
    uint64_t log = sum_of(files[LOG]);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        ck_assert_int_ne(program_sqlite(files[DATABASE], questions[i], output), 0);
        ck_assert_msg(strstr(output, text), "%s: %s", questions[i], output);
    }
    ck_assert_uint_eq(sum_of(files[DATABASE]), database);
    ck_assert_uint_eq(sum_of(files[LOG]), log);
}

TEST(tools_of_sqlite_read_and_write_nothing_open_killed_or_closed, "PE-16", "K-09")
{
    struct store_options options = place_make();
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    ck_assert_int_eq(stores_put(store, entry, 1, "one"), TR_OK);
    expect_tool_refused("locked");
    ck_assert_int_eq(stores_put(store, entry, 1, "two"), TR_OK);
    tr__store_leave(entry);
    tr__store_close(store);
    expect_tool_refused("not a database");
    write_and_be_killed(&options, "three");
    expect_tool_refused("not a database");
    expect_state(&options, "three");
    stores_remove(options.path);
}

TEST(what_the_process_itself_opens_and_closes_does_not_unlock_the_store, "PE-16")
{
    struct store_options options = place_make();
    struct store *store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    tr__store_reader_free(reader);
    for (size_t i = LOCK; i <= LOG; i++) {
        int fd = open(files[i], O_RDWR);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(close(fd), 0);
    }
    expect_tool_refused("locked");
    tr__store_close(store);
    stores_remove(options.path);
}

TEST(another_process_is_refused_whatever_became_of_the_lock_file, "PE-16", "K-06")
{
    tr_error error;
    char output[PROGRAM_OUTPUT];
    if (program_path()) { /* It shares nothing with the process that has the store. */
        struct store_options options = stores_options(NULL);
        options.path = program_path();
        ck_assert_int_eq(try_open(&options, &error), TR_STORE_BUSY);
        ck_assert_ptr_nonnull(strstr(error.text, options.path));
        return;
    }
    const char *name = "another_process_is_refused_whatever_became_of_the_lock_file";
    struct store_options options = place_make();
    struct store *store = stores_open(&options);
    ck_assert_msg(program_again(name, options.path, output), "%s", output);
    ck_assert_int_eq(unlink(files[LOCK]), 0);
    ck_assert_msg(program_again(name, options.path, output), "%s", output);
    ck_assert_int_eq(unlink(files[DATABASE]), 0);
    ck_assert_msg(program_again(name, options.path, output), "%s", output);
    tr__store_close(store);
    stores_remove(options.path);
}

/* Opening is refused, with a text that names a file. */
static void expect_corrupt(const struct store_options *options, const char *file)
{
    tr_error error;
    ck_assert_int_eq(try_open(options, &error), TR_STORE_CORRUPT);
    ck_assert_msg(strstr(error.text, file), "%s", error.text);
}

TEST(a_store_without_its_log_or_its_database_is_not_opened, "K-09", "PE-10")
{
    struct store_options options = place_make();
    write_state(&options, "one");
    write_and_be_killed(&options, "two");
    char kept[160];
    (void)snprintf(kept, sizeof kept, "%s-kept", files[LOG]);
    ck_assert_int_eq(rename(files[LOG], kept), 0);
    expect_corrupt(&options, files[LOG]);
    ck_assert_int_eq(rename(kept, files[LOG]), 0);

    (void)snprintf(kept, sizeof kept, "%s-kept", files[DATABASE]);
    ck_assert_int_eq(rename(files[DATABASE], kept), 0);
    expect_corrupt(&options, files[DATABASE]);
    ck_assert_int_eq(close(open(files[DATABASE], O_CREAT | O_RDWR, 0600)), 0); /* empty */
    expect_corrupt(&options, files[DATABASE]);
    ck_assert_int_eq(rename(kept, files[DATABASE]), 0);
    expect_state(&options, "two");

    /* Only the lock file says that there was one. */
    ck_assert_int_eq(unlink(files[DATABASE]), 0);
    ck_assert_int_eq(unlink(files[LOG]), 0);
    expect_corrupt(&options, files[DATABASE]);
    ck_assert_int_eq(access(files[DATABASE], F_OK), -1); /* It makes none either. */
    ck_assert_int_eq(unlink(files[LOCK]), 0);
    write_state(&options, "begun again on purpose");
    stores_remove(options.path);
}

/* Where the frames end that a store would take of the log. */
static size_t frames_end(struct store_disk *disk)
{
    enum { HEADER = 32, SALTS_AT = 16, FRAME = 24 + PAGE_SIZE };
    unsigned char salts[8];
    unsigned char found[8];
    struct disk_file *file;
    size_t end = HEADER;
    size_t got;
    ck_assert_int_eq(tr__disk_open(disk, "troupe.db-log", false, &file), TR_OK);
    ck_assert_int_eq(tr__disk_read(file, salts, sizeof salts, SALTS_AT, &got), TR_OK);
    for (;; end += FRAME) {
        ck_assert_int_eq(tr__disk_read(file, found, sizeof found, end + 8, &got), TR_OK);
        if (got < sizeof found || memcmp(found, salts, sizeof found) != 0)
            break;
    }
    tr__disk_close(file);
    return end;
}

TEST(a_log_that_was_cut_anywhere_is_not_opened, "PE-10", "K-09")
{
    enum { ROUNDS = 4, FRAME = 24 + PAGE_SIZE };
    tr_error error;
    struct ledger ledger = {0};
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    ledger_enter(&ledger, store);
    for (int i = 0; i < ROUNDS; i++)
        ledger_round(&ledger);
    size_t end = frames_end(disk);
    size_t size = tr__disk_size(disk, "troupe.db-log");
    ck_assert_uint_ge(size, end + FRAME);
    /* At each end of a frame, beside it, and behind the last one. */
    for (size_t at = 0; at <= size; at++) {
        size_t rest = (at + FRAME - 32) % FRAME;
        if (at > 40 && rest > 1 && rest < FRAME - 1 && rest != 24 && at != size)
            continue;
        struct store_disk *copy;
        struct disk_file *file;
        ck_assert_int_eq(tr__disk_clone(disk, &copy), TR_OK);
        ck_assert_int_eq(tr__disk_open(copy, "troupe.db-log", false, &file), TR_OK);
        ck_assert_int_eq(tr__disk_truncate(file, at), TR_OK);
        tr__disk_close(file);
        struct store_options again = stores_options(copy);
        if (at < end + FRAME) {
            ck_assert_int_eq(try_open(&again, &error), TR_STORE_CORRUPT);
            ck_assert_msg(strstr(error.text, "troupe.db-log"), "%s", error.text);
        } else {
            struct store *found = stores_open(&again);
            struct store_reader *reader = stores_reader(found);
            ck_assert_uint_eq(ledger_read(reader, 0), ROUNDS);
            tr__store_reader_free(reader);
            tr__store_close(found);
        }
        tr__disk_free(copy);
    }
    ledger_leave(&ledger);
    tr__store_close(store);
    tr__disk_free(disk);
}

/* How long the log is, and how much of that was synced. */
struct growth {
    uint64_t end;
    uint64_t synced;
    size_t frames;
    bool was_header; /* the last operation has written the header */
};

static tr_status on_growth(void *context, enum store_io io, const char *file, uint64_t offset,
                           size_t size)
{
    enum { HEADER = 32, FRAME_HEADER = 24, FRAME = FRAME_HEADER + PAGE_SIZE };
    struct growth *growth = context;
    if (strcmp(file, "troupe.db-log") != 0)
        return TR_OK;
    /* After the header, the tail of a log without frames is written. It is as long as two frames. */
    bool is_tail = growth->was_header;
    growth->was_header = io == STORE_IO_WRITE && offset == 0 && size == HEADER;
    if (io == STORE_IO_SYNC)
        growth->synced = growth->end;
    if (io == STORE_IO_TRUNCATE)
        growth->end = growth->synced = offset;
    if (io != STORE_IO_WRITE)
        return TR_OK;
    if (size == FRAME_HEADER || size == PAGE_SIZE || (size % FRAME == 0 && !is_tail)) {
        growth->frames += size / FRAME;
        ck_assert_uint_ge(growth->synced, offset + size + FRAME);
    }
    growth->end = offset + size > growth->end ? offset + size : growth->end;
    return TR_OK;
}

TEST(the_log_has_a_durable_tail_before_a_frame_is_written, "PE-10", "PE-15")
{
    struct growth growth = {0};
    struct ledger ledger = {0};
    struct store_disk *disk = stores_disk(true);
    tr__disk_hook(disk, (struct store_io_hook){on_growth, &growth});
    struct store_options options = stores_options(disk);
    options.log_pages = 30; /* It also starts over. */
    for (int i = 0; i < 2; i++) {
        struct store *store = stores_open(&options);
        ledger_enter(&ledger, store);
        for (int j = 0; j < 4; j++)
            ledger_round(&ledger);
        ledger_leave(&ledger);
        tr__store_close(store);
    }
    ck_assert_uint_gt(growth.frames, 100);
    tr__disk_free(disk);
}

static char failure[512];

static void on_failed(void *context, const char *why)
{
    (void)context;
    (void)snprintf(failure, sizeof failure, "%s", why);
}

enum harm { HARM_DELETE, HARM_REPLACE, HARM_CUT, HARMS };

static void harm(const char *path, enum harm how)
{
    char other[160];
    (void)snprintf(other, sizeof other, "%s-other", path);
    if (how == HARM_CUT) {
        ck_assert_int_eq(truncate(path, 0), 0);
    } else if (how == HARM_DELETE) {
        ck_assert_int_eq(unlink(path), 0);
    } else { /* by a copy, which is as good as any other file */
        char output[PROGRAM_OUTPUT];
        const char *const argv[] = {"cp", path, other, NULL};
        ck_assert_int_eq(program_run(argv, output), 0);
        ck_assert_int_eq(rename(other, path), 0);
    }
}

TEST(nothing_is_acknowledged_into_a_file_that_is_gone, "K-09", "K-06")
{
    for (int i = 0; i < 2 * HARMS; i++) {
        const char *path = files[i < HARMS ? DATABASE : LOG];
        struct store_options options = place_make();
        options.on_failed = on_failed;
        struct store *store = stores_open(&options);
        struct store_entry *entry = stores_enter(store, "k", "x");
        ck_assert_int_eq(stores_put(store, entry, 1, "one"), TR_OK);
        harm(path, (enum harm)(i % HARMS));
        failure[0] = '\0';
        ck_assert_int_eq(stores_put(store, entry, 1, "two"), TR_STORE_FAILED);
        ck_assert_msg(strstr(failure, path), "%d: %s", i, failure);
        ck_assert_int_eq(tr__store_status(store), TR_STORE_FAILED);
        tr__store_leave(entry);
        tr__store_close(store);
        stores_remove(options.path);
    }
}

TEST(a_log_that_was_cut_is_noticed_also_when_it_grows, "K-09")
{
    static char large[TR_KV_VALUE_MAX];
    struct store_options options = place_make();
    options.on_failed = on_failed;
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    for (int i = 0; i < 3; i++) { /* more than the log grows by at once */
        if (i == 2)
            harm(files[LOG], HARM_CUT);
        struct store_batch *batch = stores_batch(entry);
        memset(large, 'a' + i, sizeof large);
        tr_bytes value = {large, sizeof large};
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("k"), value), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), i < 2 ? TR_OK : TR_STORE_FAILED);
    }
    ck_assert_msg(strstr(failure, files[LOG]), "%s", failure);
    tr__store_leave(entry);
    tr__store_close(store);
    stores_remove(options.path);
}

TEST(what_a_deleted_log_had_is_in_the_database, "K-09")
{
    struct store_options options = place_make();
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    ck_assert_int_eq(stores_put(store, entry, 1, "acknowledged"), TR_OK);
    harm(files[LOG], HARM_DELETE);
    ck_assert_int_eq(stores_put(store, entry, 1, "not"), TR_STORE_FAILED);
    tr__store_leave(entry);
    tr__store_close(store);
    expect_corrupt(&options, files[LOG]);

    struct store_salvage report;
    struct store_disk *disk = stores_disk(false);
    struct store_options saved = stores_options(disk);
    ck_assert_int_eq(tr__store_salvage(&options, &saved, &report, NULL, NULL, NULL), TR_OK);
    store = stores_open(&saved);
    struct store_reader *reader = stores_reader(store);
    const char *state = stores_state(reader, "k", "x");
    ck_assert_msg(strcmp(state, "acknowledged") == 0 || strcmp(state, "not") == 0, "%s", state);
    tr__store_reader_free(reader);
    tr__store_close(store);
    tr__disk_free(disk);
    stores_remove(options.path);
}

TEST(a_reader_does_not_read_a_file_in_the_place_of_another, "K-06")
{
    for (size_t i = DATABASE; i <= LOG; i++) {
        struct store_state state;
        struct store_reader *reader;
        struct store_options options = place_make();
        struct store *store = stores_open(&options);
        struct store_entry *entry = stores_enter(store, "k", "x");
        ck_assert_int_eq(stores_put(store, entry, 1, "one"), TR_OK);
        harm(files[i], HARM_DELETE);
        tr_status status = tr__store_reader_new(store, &reader);
        if (status == TR_OK) {
            status = tr__store_read_state(reader, "k", stores_bytes("x"), &state);
            tr__store_reader_free(reader);
        }
        ck_assert_int_eq(status, TR_STORE_FAILED);
        ck_assert_int_eq(access(files[i], F_OK), -1); /* Nor does it make one. */
        tr__store_leave(entry);
        tr__store_close(store);
        stores_remove(options.path);
    }
}

/* The files as an earlier format has them: no mark, and the log by SQLite's name. */
static void make_older(void)
{
    static const char magic[16] = "SQLite format 3";
    int fd = open(files[DATABASE], O_WRONLY);
    ck_assert_int_eq(pwrite(fd, magic, sizeof magic, 0), sizeof magic);
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_eq(rename(files[LOG], files[OLD_LOG]), 0);
    ck_assert_int_eq(truncate(files[LOCK], 0), 0);
}

TEST(the_files_of_an_earlier_format_are_taken_over_with_their_log, "PE-20", "K-09")
{
    struct store_options options = place_make();
    write_state(&options, "one");
    write_and_be_killed(&options, "two");
    make_older();
    expect_state(&options, "two");
    ck_assert_int_eq(access(files[OLD_LOG], F_OK), -1);
    expect_tool_refused("not a database");

    /* One that was closed has no log at all. */
    make_older();
    ck_assert_int_eq(unlink(files[OLD_LOG]), 0);
    expect_state(&options, "two");
    expect_tool_refused("not a database");

    /* An earlier program has written after this one, beside its log. */
    make_older();
    char output[PROGRAM_OUTPUT];
    const char *const argv[] = {"cp", files[OLD_LOG], files[LOG], NULL};
    ck_assert_int_eq(program_run(argv, output), 0);
    expect_corrupt(&options, "two logs");
    stores_remove(options.path);
}

TEST(errors_name_the_path_and_what_the_system_said, "K-06")
{
    tr_error error;
    struct store_options options = place_make();
    ck_assert_int_eq(mkdir(files[DATABASE], 0700), 0);
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, files[DATABASE]));
    ck_assert_ptr_nonnull(strstr(error.text, strerror(EISDIR)));
    ck_assert_int_eq(rmdir(files[DATABASE]), 0);

    write_state(&options, "one");
    ck_assert_int_eq(unlink(files[LOG]), 0);
    ck_assert_int_eq(mkdir(files[LOG], 0700), 0);
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_FAILED);
    ck_assert_msg(strstr(error.text, files[LOG]), "%s", error.text);
    ck_assert_int_eq(rmdir(files[LOG]), 0);
    stores_remove(options.path);

    char path[128];
    options.path = path;
    (void)snprintf(path, sizeof path, "/dev/null/store");
    ck_assert_int_eq(try_open(&options, &error), TR_STORE_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, path));
    ck_assert_ptr_nonnull(strstr(error.text, strerror(ENOTDIR)));
}

TEST(a_parent_directory_need_only_be_searched, "K-06", "PE-15")
{
    enum { NOBODY = 65534 };
    char path[128];
    const char *parent = stores_directory();
    (void)snprintf(path, sizeof path, "%s/store", parent);
    struct store_options options = stores_options(NULL);
    options.path = path;
    pid_t child = fork();
    if (child == 0) { /* Root may read everything. */
        bool is_root = geteuid() == 0;
        if (chmod(parent, 0311) != 0 || (is_root && chown(parent, NOBODY, NOBODY) != 0) ||
            (is_root && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)))
            _exit(1);
        if (open(parent, O_RDONLY) >= 0)
            _exit(2);
        write_state(&options, "one");
        expect_state(&options, "one");
        _exit(0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(chmod(parent, 0700), 0);
    stores_remove(path);
    (void)rmdir(parent);
}

SUITE("store files", tools_of_sqlite_read_and_write_nothing_open_killed_or_closed,
      what_the_process_itself_opens_and_closes_does_not_unlock_the_store,
      another_process_is_refused_whatever_became_of_the_lock_file,
      a_store_without_its_log_or_its_database_is_not_opened,
      a_log_that_was_cut_anywhere_is_not_opened,
      the_log_has_a_durable_tail_before_a_frame_is_written,
      nothing_is_acknowledged_into_a_file_that_is_gone,
      a_log_that_was_cut_is_noticed_also_when_it_grows, what_a_deleted_log_had_is_in_the_database,
      a_reader_does_not_read_a_file_in_the_place_of_another,
      the_files_of_an_earlier_format_are_taken_over_with_their_log,
      errors_name_the_path_and_what_the_system_said, a_parent_directory_need_only_be_searched)
