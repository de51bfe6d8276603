/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Backups of a store that is in use: the copy has all that was acknowledged before, and each batch whole.
 */
#include "support/store_load.h"

#include "store/core.h"

#include <fcntl.h>
#include <stdatomic.h>

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

/* The pauses of a backup, by its parker. */
static struct {
    tr_platform platform;
    _Atomic(const tr_parker *) parker; /* NULL: none is counted */
    atomic_int count;
} pauses;

static void park_counted(const tr_platform *platform, tr_parker *parker, tr_time deadline)
{
    if (parker == atomic_load(&pauses.parker) && deadline != TR_NEVER)
        atomic_fetch_add(&pauses.count, 1);
    tr_platform_real()->park(platform, parker, deadline);
}

static bool commit_one(void *context, const struct store_backup_progress *progress)
{
    (void)progress;
    return put_await(context, "value") == TR_OK;
}

TEST(a_backup_pauses_for_commits_and_only_for_them, "K-22", "O-28")
{
    struct place place = place_make();
    tr_error error;
    make_much(&place);
    pauses.platform = *place.options.source.platform;
    pauses.platform.park = park_counted;
    place.options.source.platform = &pauses.platform;
    struct store *store = stores_open(&place.options);
    pauses.parker = store->hold_parker;
    struct store_entry *much = stores_enter(store, "k", "much");
    ck_assert_int_eq(backup(store, &place, &error), TR_OK);
    ck_assert_int_eq(pauses.count, 0);
    stores_remove(place.copy);
    ck_assert_int_eq(tr__store_backup(store, place.copy, commit_one, much, &error), TR_OK);
    ck_assert_int_ge(pauses.count, 2);
    pauses.parker = NULL;
    tr__store_leave(much);
    tr__store_close(store);
    place_remove(&place);
}

SUITE("store: backup", a_copy_made_beside_commits_has_all_that_was_acknowledged_before,
      a_backup_reports_its_steps_and_can_be_cancelled,
      a_backup_pauses_for_commits_and_only_for_them, a_backup_replaces_what_an_earlier_one_has_left,
      a_damaged_page_is_not_copied, backups_that_cannot_be_made_are_refused)
