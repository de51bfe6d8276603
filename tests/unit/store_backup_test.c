/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Backups of a store that is in use: the copy has all that was acknowledged before, and each batch whole.
 */
#include "support/stores.h"

#include "os/atomic.h"
#include "store/backup.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { WRITERS = 16, ROUNDS_BEFORE = 200, MUCH = 64 * 1024 };

/* Each writer has one batch on its way at any time: its round, in its state and in a key. */
struct load {
    atom32 is_over;
    atom32 running;
    atom64 commits;
    tr_parker *parker;
    struct writer {
        struct load *load;
        struct store_entry *entry;
        atom64 done;    /* the last round that is acknowledged */
        uint64_t round; /* of the batch on its way */
    } writers[WRITERS];
};

static void submit(struct writer *writer);

static void on_written(void *context, struct store_batch *batch, tr_status status)
{
    const tr_platform *platform = tr_platform_real();
    struct writer *writer = context;
    struct load *load = writer->load;
    ck_assert_int_eq(status, TR_OK);
    tr__store_batch_free(batch);
    atom64_store(&writer->done, writer->round, ATOM_RELEASE);
    atom64_fetch_add(&load->commits, 1, ATOM_RELAXED);
    if (!atom32_load(&load->is_over, ATOM_ACQUIRE))
        submit(writer);
    else
        atom32_fetch_sub(&load->running, 1, ATOM_ACQ_REL);
    platform->wake(platform, load->parker);
}

static void submit(struct writer *writer)
{
    struct store_batch *batch = stores_batch(writer->entry);
    char *text = tr__store_batch_alloc(batch, 32);
    ck_assert_ptr_nonnull(text);
    (void)snprintf(text, 32, "%llu", (unsigned long long)++writer->round);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes(text)), TR_OK);
    ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("key"), stores_bytes(text)), TR_OK);
    ck_assert_int_eq(tr__store_submit(batch, on_written, writer), TR_OK);
}

static void load_begin(struct load *load, struct store *store)
{
    const tr_platform *platform = tr_platform_real();
    *load = (struct load){.parker = NULL};
    ck_assert_int_eq(platform->parker_new(platform, &load->parker), TR_OK);
    atom32_init(&load->running, WRITERS);
    for (int i = 0; i < WRITERS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        load->writers[i] = (struct writer){.load = load, .entry = stores_enter(store, "k", key)};
    }
    for (int i = 0; i < WRITERS; i++)
        submit(&load->writers[i]);
}

static void load_await(struct load *load, uint64_t commits)
{
    const tr_platform *platform = tr_platform_real();
    uint64_t end = atom64_load(&load->commits, ATOM_RELAXED) + commits;
    while (atom64_load(&load->commits, ATOM_RELAXED) < end)
        platform->park(platform, load->parker, TR_NEVER);
}

static void load_end(struct load *load)
{
    const tr_platform *platform = tr_platform_real();
    atom32_store(&load->is_over, 1, ATOM_RELEASE);
    while (atom32_load(&load->running, ATOM_ACQUIRE) > 0)
        platform->park(platform, load->parker, TR_NEVER);
    for (int i = 0; i < WRITERS; i++)
        tr__store_leave(load->writers[i].entry);
    platform->parker_free(platform, load->parker);
}

/* A store in a directory, with threads, and a path beside it for the copy. */
struct place {
    struct store_options options;
    char copy[96];
    char part[128];
};

static struct place place_make(void)
{
    struct place place = {.options = stores_options(NULL)};
    place.options.path = stores_directory();
    place.options.is_threadless = false;
    (void)snprintf(place.copy, sizeof place.copy, "%s-copy", place.options.path);
    (void)snprintf(place.part, sizeof place.part, "%s.part", place.copy);
    return place;
}

static void place_remove(const struct place *place)
{
    stores_remove(place->options.path);
    stores_remove(place->copy);
    stores_remove(place->part);
}

static bool is_there(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0;
}

static tr_status backup(struct store *store, const struct place *place, tr_error *error)
{
    *error = (tr_error){0};
    return tr__store_backup(store, place->copy, NULL, NULL, error);
}

/* Whether the copy has a round of each writer within its bounds, and the same one everywhere. */
static void check_copy(const struct place *place, const uint64_t *least, const uint64_t *most,
                       char letter)
{
    struct store_options options = place->options;
    options.path = place->copy;
    struct store *store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    for (int i = 0; i < WRITERS; i++) {
        char key[16];
        char state[64];
        (void)snprintf(key, sizeof key, "%d", i);
        (void)snprintf(state, sizeof state, "%s", stores_state(reader, "k", key));
        uint64_t round = strtoull(state, NULL, 10);
        ck_assert_uint_ge(round, least[i]);
        ck_assert_uint_le(round, most[i]);
        ck_assert_str_eq(stores_kv(reader, "k", key, "key"), state);
    }
    tr_bytes value;
    ck_assert_int_eq(
        tr__store_read_kv(reader, "k", stores_bytes("much"), stores_bytes("0"), &value), TR_OK);
    ck_assert_uint_eq(value.size, MUCH);
    for (size_t i = 0; i < MUCH; i++)
        ck_assert_int_eq(((const char *)value.data)[i], letter);
    tr__store_reader_free(reader);
    tr__store_close(store);
}

/* More than one step of a backup. */
static void put_much(struct store *store)
{
    static char value[MUCH];
    struct store_entry *entry = stores_enter(store, "k", "much");
    for (int i = 0; i < 3 * STORE_BACKUP_STEP / (int)sizeof value; i++) {
        char key[16];
        struct store_batch *batch = stores_batch(entry);
        (void)snprintf(key, sizeof key, "%d", i);
        ck_assert_int_eq(
            tr__store_kv_put(batch, stores_bytes(key), (tr_bytes){value, sizeof value}), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    }
    tr__store_leave(entry);
}

/* A store of several steps, in whose first pages are the rows of the writers. */
static void make_much(const struct place *place)
{
    struct store_options options = place->options;
    options.is_threadless = true;
    struct store *store = stores_open(&options);
    for (int i = 0; i < WRITERS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        struct store_entry *entry = stores_enter(store, "k", key);
        struct store_batch *batch = stores_batch(entry);
        ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("0")), TR_OK);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("key"), stores_bytes("0")), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), TR_OK);
        tr__store_leave(entry);
    }
    put_much(store);
    tr__store_close(store);
}

/* Commits beside a copy. */
struct beside {
    struct load *load;
    struct store_entry *much;
    char letter; /* that the first value of much has in the end */
    atom32 is_done;
    bool is_begun;
};

static void on_changed(void *context, struct store_batch *batch, tr_status status)
{
    struct beside *beside = context;
    ck_assert_int_eq(status, TR_OK);
    tr__store_batch_free(batch);
    atom32_store(&beside->is_done, 1, ATOM_RELEASE);
}

/*
 * Changes pages once that are copied already. Then so many commits follow that the change is in the database and no
 * longer in the log.
 */
static bool commit_meanwhile(void *context, const struct store_backup_progress *progress)
{
    struct beside *beside = context;
    (void)progress;
    if (!beside->is_begun) {
        struct store_batch *batch = stores_batch(beside->much);
        char *value = tr__store_batch_alloc(batch, MUCH);
        ck_assert_ptr_nonnull(value);
        memset(value, beside->letter, MUCH);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("0"), (tr_bytes){value, MUCH}),
                         TR_OK);
        ck_assert_int_eq(tr__store_submit(batch, on_changed, beside), TR_OK);
    }
    beside->is_begun = true;
    do
        load_await(beside->load, ROUNDS_BEFORE);
    while (!atom32_load(&beside->is_done, ATOM_ACQUIRE));
    return true;
}

TEST(a_copy_made_beside_commits_has_all_that_was_acknowledged_before, "K-22")
{
    struct place place = place_make();
    place.options.log_pages = 50; /* checkpoints all the time */
    make_much(&place);
    struct store *store = stores_open(&place.options);
    struct load load;
    load_begin(&load, store);
    struct store_entry *much = stores_enter(store, "k", "much");
    uint64_t rounds = test_scale(3, 100);
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t least[WRITERS];
        uint64_t most[WRITERS];
        tr_error error;
        load_await(&load, ROUNDS_BEFORE);
        for (int i = 0; i < WRITERS; i++)
            least[i] = atom64_load(&load.writers[i].done, ATOM_ACQUIRE);
        struct beside beside = {.load = &load, .much = much, .letter = (char)('a' + round % 26)};
        tr_status status = tr__store_backup(store, place.copy, commit_meanwhile, &beside, &error);
        ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
        for (int i = 0; i < WRITERS; i++) /* and the one on its way */
            most[i] = atom64_load(&load.writers[i].done, ATOM_ACQUIRE) + 1;
        ck_assert(!is_there(place.part));
        check_copy(&place, least, most, beside.letter);
        stores_remove(place.copy);
    }
    load_end(&load);
    tr__store_leave(much);
    tr__store_close(store);
    place_remove(&place);
}

struct steps {
    struct store *store;
    const struct place *place;
    int count;
    int last; /* false is returned for this one */
    tr_status other;
};

static bool on_step(void *context, const struct store_backup_progress *progress)
{
    struct steps *steps = context;
    tr_error error;
    ck_assert_uint_gt(progress->copied_bytes, 0);
    ck_assert_uint_gt(progress->total_bytes, STORE_BACKUP_STEP);
    if (steps->count == 0) {
        struct store_compact report;
        steps->other = tr__store_backup(steps->store, "/tmp/troupe-other", NULL, NULL, &error);
        ck_assert_int_eq(tr__store_shrink(steps->store, NULL, &report, &error), TR_STORE_BUSY);
    }
    return ++steps->count != steps->last;
}

TEST(a_backup_reports_its_steps_and_can_be_cancelled, "K-22")
{
    struct place place = place_make();
    tr_error error;
    make_much(&place);
    struct store *store = stores_open(&place.options);
    struct steps steps = {.store = store, .place = &place, .last = 2};
    ck_assert_int_eq(tr__store_backup(store, place.copy, on_step, &steps, &error), TR_CANCELLED);
    ck_assert_int_eq(steps.count, 2);
    ck_assert_int_eq(steps.other, TR_STORE_BUSY); /* one at a time */
    ck_assert(!is_there(place.copy));
    ck_assert(!is_there(place.part));
    steps = (struct steps){.store = store, .place = &place};
    ck_assert_int_eq(tr__store_backup(store, place.copy, on_step, &steps, &error), TR_OK);
    ck_assert_int_ge(steps.count, 2);
    ck_assert_int_eq(backup(store, &place, &error), TR_NAME_EXISTS);
    ck_assert_ptr_nonnull(strstr(error.text, place.copy));
    tr__store_close(store);
    place_remove(&place);
}

TEST(a_backup_replaces_what_an_earlier_one_has_left, "K-22")
{
    struct place place = place_make();
    char path[192];
    tr_error error;
    ck_assert_int_eq(mkdir(place.part, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/troupe.db", place.part);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "rest", 4), 4);
    (void)close(fd);
    struct store *store = stores_open(&place.options);
    ck_assert_int_eq(backup(store, &place, &error), TR_OK);
    ck_assert(!is_there(place.part));
    tr__store_close(store);
    struct store_options copy = place.options;
    copy.path = place.copy;
    tr__store_close(stores_open(&copy));
    place_remove(&place);
}

TEST(a_damaged_page_is_not_copied, "K-22", "K-09")
{
    struct place place = place_make();
    char path[192];
    tr_error error;
    make_much(&place);
    (void)snprintf(path, sizeof path, "%s/troupe.db", place.options.path);
    struct stat found;
    ck_assert_int_eq(stat(path, &found), 0);
    int fd = open(path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, "x", 1, found.st_size - 4096 + 100), 1);
    (void)close(fd);
    struct store *store = stores_open(&place.options);
    ck_assert_int_eq(backup(store, &place, &error), TR_STORE_CORRUPT);
    char number[32];
    (void)snprintf(number, sizeof number, "page %lld ", (long long)found.st_size / 4096);
    ck_assert_msg(strstr(error.text, number), "%s", error.text);
    ck_assert(!is_there(place.copy));
    ck_assert(!is_there(place.part));
    ck_assert_int_eq(tr__store_status(store), TR_OK);
    tr__store_close(store);
    place_remove(&place);
}

TEST(backups_that_cannot_be_made_are_refused, "K-22")
{
    struct place place = place_make();
    tr_error error;
    struct store *store = stores_open(&place.options);
    ck_assert_int_eq(tr__store_backup(store, NULL, NULL, NULL, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__store_backup(store, "", NULL, NULL, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr__store_backup(store, "/no/such/place", NULL, NULL, &error),
                     TR_STORE_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "/no/such/place.part"));
    ck_assert_int_eq(tr__store_status(store), TR_OK);
    tr__store_close(store);
    struct store_options memory = stores_options(NULL);
    memory.is_threadless = false;
    store = stores_open(&memory);
    ck_assert_int_eq(backup(store, &place, &error), TR_NOT_SUPPORTED);
    tr__store_close(store);
    place_remove(&place);
}

/* A batch that a test waits for. */
struct waited {
    tr_parker *parker;
    atom32 is_done;
    tr_status status;
};

static void on_waited(void *context, struct store_batch *batch, tr_status status)
{
    const tr_platform *platform = tr_platform_real();
    struct waited *waited = context;
    tr__store_batch_free(batch);
    waited->status = status;
    tr_parker *parker = waited->parker;
    atom32_store(&waited->is_done, 1, ATOM_RELEASE);
    platform->wake(platform, parker);
}

/* As stores_commit, for a store with threads. */
static tr_status commit_await(struct store_batch *batch)
{
    const tr_platform *platform = tr_platform_real();
    struct waited waited = {.status = TR_OK};
    ck_assert_int_eq(platform->parker_new(platform, &waited.parker), TR_OK);
    ck_assert_int_eq(tr__store_submit(batch, on_waited, &waited), TR_OK);
    while (!atom32_load(&waited.is_done, ATOM_ACQUIRE))
        platform->park(platform, waited.parker, TR_NEVER);
    platform->parker_free(platform, waited.parker);
    return waited.status;
}

static tr_status put_await(struct store_entry *entry, const char *state)
{
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes(state)), TR_OK);
    return commit_await(batch);
}

/* Destroys what make_much has made, so that most pages are free. */
static void destroy_much(struct store *store)
{
    struct store_entry *entry = stores_enter(store, "k", "much");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_destroy(batch), TR_OK);
    ck_assert_int_eq(commit_await(batch), TR_OK);
    tr__store_leave(entry);
}

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

static tr_status on_full(void *context, enum store_io io, const char *file, uint64_t offset,
                         size_t size)
{
    (void)file;
    (void)offset;
    (void)size;
    return io == STORE_IO_WRITE && atom32_load((atom32 *)context, ATOM_ACQUIRE) ? TR_STORE_FULL
                                                                                : TR_OK;
}

TEST(a_full_disk_stops_a_compaction_and_not_the_store, "K-22", "O-28")
{
    struct place place = place_make();
    atom32 is_full;
    atom32_init(&is_full, 0);
    const struct store_io_hook hook = {on_full, &is_full};
    make_much(&place);
    place.options.hook = &hook;
    struct store *store = stores_open(&place.options);
    struct store_entry *entry = stores_enter(store, "k", "0");
    ck_assert_int_eq(put_await(entry, "before"), TR_OK);
    struct store_compact report;
    tr_error error;
    atom32_store(&is_full, 1, ATOM_RELEASE);
    ck_assert_int_eq(tr__store_shrink(store, NULL, &report, &error), TR_STORE_FULL);
    ck_assert_ptr_nonnull(strstr(error.text, "compacting"));
    atom32_store(&is_full, 0, ATOM_RELEASE);
    ck_assert_int_eq(tr__store_status(store), TR_OK);
    ck_assert_int_eq(put_await(entry, "after"), TR_OK);
    struct store_reader *reader = stores_reader(store);
    ck_assert_str_eq(stores_state(reader, "k", "0"), "after");
    tr__store_reader_free(reader);
    tr__store_leave(entry);
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

/* Both while rows are copied into a temporary file and while that file is copied over the database. */
TEST(a_compaction_is_cancelled_and_changes_nothing, "K-22", "O-28")
{
    static const char *const ends[] = {"", "troupe.db-log"};
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

SUITE("store: backup", a_copy_made_beside_commits_has_all_that_was_acknowledged_before,
      a_backup_reports_its_steps_and_can_be_cancelled,
      a_backup_replaces_what_an_earlier_one_has_left, a_damaged_page_is_not_copied,
      backups_that_cannot_be_made_are_refused, a_store_is_compacted_beside_commits,
      a_full_disk_stops_a_compaction_and_not_the_store,
      a_compaction_is_cancelled_and_changes_nothing)
