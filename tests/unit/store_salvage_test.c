/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Saving what is whole of a damaged store: a log that is damaged, cut or gone, rows and pages that cannot be trusted.
 * What is saved is right, all that is whole is saved, and what is not is named.
 */
#include "support/tamper.h"

#include "store/sqlite/page_sum.h"

enum { ACTORS = 60 };

static const char *key_of(int actor)
{
    static char key[32];
    (void)snprintf(key, sizeof key, "actor-%02d", actor);
    return key;
}

/* Long enough that a page of the table has the rows of a few actors. */
static const char *state_of(int actor, int round)
{
    static char state[700];
    int size = snprintf(state, sizeof state, "%d in round %d ", actor, round);
    memset(state + size, 'a' + actor % 26, 600);
    state[size + 600] = '\0';
    return state;
}

static void put_round(struct store *store, int actor, int round)
{
    char state[700];
    (void)snprintf(state, sizeof state, "%s", state_of(actor, round));
    tr_bytes bytes = stores_bytes(state);
    struct store_entry *entry = stores_enter(store, "k", key_of(actor));
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_put_state(batch, (uint32_t)round, bytes), TR_OK);
    ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("a"), bytes), TR_OK);
    ck_assert_int_eq(tr__store_alarm_set(batch, "alarm", 100 + actor, bytes), TR_OK);
    ck_assert_int_eq(tr__store_queue_push(batch, "q", (uint64_t)round, bytes), TR_OK);
    ck_assert_int_eq(tr__store_event_append(batch, (uint64_t)round - 1, bytes), TR_OK);
    ck_assert_int_eq(tr__store_event_trim(batch, (uint64_t)(round > 3 ? round - 3 : 0)), TR_OK);
    ck_assert_int_eq(tr__store_snapshot_put(batch, (uint64_t)round, 1, bytes), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    tr__store_leave(entry);
}

static struct store *fill(struct store_disk *disk, int rounds)
{
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    for (int round = 1; round <= rounds; round++) {
        for (int i = 0; i < ACTORS; i++)
            put_round(store, i, round);
    }
    return store;
}

/* A store of this many rounds that was closed. */
static struct store_disk *filled(int rounds)
{
    struct store_disk *disk = stores_disk(false);
    tr__store_close(fill(disk, rounds));
    return disk;
}

struct outcome {
    struct store_salvage report;
    unsigned lost; /* names that were given */
    bool is_lost[ACTORS];
    int well; /* actors in the new store, all of them right */
    uint64_t rounds[ACTORS];
};

static void on_lost(void *context, const char *kind, tr_bytes key)
{
    struct outcome *outcome = context;
    ck_assert_str_eq(kind, "k");
    outcome->lost++;
    for (int i = 0; i < ACTORS; i++) {
        if (stores_is(key, key_of(i)))
            outcome->is_lost[i] = true;
    }
}

static bool visit_event(void *context, const struct store_row *row)
{
    *(uint64_t *)context = row->id;
    return true;
}

/* Looks at an actor in the new store: all of it says the same round. */
static void check_actor(struct store_reader *reader, int actor, struct outcome *outcome)
{
    struct store_state state;
    struct store_snapshot snapshot;
    tr_bytes value;
    uint64_t last = 0;
    tr_bytes key = stores_bytes(key_of(actor));
    tr_status status = tr__store_read_state(reader, "k", key, &state);
    if (status == TR_NOT_FOUND)
        return;
    ck_assert_int_eq(status, TR_OK);
    int round = (int)state.version;
    char expected[700];
    (void)snprintf(expected, sizeof expected, "%s", state_of(actor, round));
    ck_assert(stores_is(state.bytes, expected));
    ck_assert_uint_eq(state.sequence, (uint64_t)round);
    ck_assert_int_eq(tr__store_read_kv(reader, "k", key, stores_bytes("a"), &value), TR_OK);
    ck_assert(stores_is(value, expected));
    ck_assert_int_eq(tr__store_list_events(reader, "k", key, 0, UINT64_MAX, 0, visit_event, &last),
                     TR_OK);
    ck_assert_uint_eq(last, (uint64_t)round);
    ck_assert_int_eq(tr__store_read_snapshot(reader, "k", key, UINT64_MAX, &snapshot), TR_OK);
    ck_assert(stores_is(snapshot.bytes, expected));
    struct stores_text text = {.size = 0};
    ck_assert_int_eq(tr__store_list_alarms(reader, "k", key, stores_visit, &text), TR_OK);
    ck_assert_uint_eq(text.rows, 1);
    ck_assert_int_eq(tr__store_list_queue(reader, "k", key, "q", 0, 0, stores_visit, &text), TR_OK);
    ck_assert_uint_eq(text.rows, 1 + (size_t)round);
    outcome->well++;
    outcome->rounds[actor] = (uint64_t)round;
}

/* Saves what a disk has, reads all of it, and writes to it. */
static struct outcome save(struct store_disk *from)
{
    tr_error error = {0};
    struct outcome outcome = {0};
    struct store_disk *disk = stores_disk(false);
    struct store_options from_options = stores_options(from);
    struct store_options options = stores_options(disk);
    tr_status status =
        tr__store_salvage(&from_options, &options, &outcome.report, on_lost, &outcome, &error);
    if (status == TR_NOT_SUPPORTED)
        test_skip("built without SQLite");
    ck_assert_msg(status == TR_OK, "%s: %s", tr_status_name(status), error.text);
    struct store *store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    for (int i = 0; i < ACTORS; i++)
        check_actor(reader, i, &outcome);
    ck_assert_uint_eq((uint64_t)outcome.well, outcome.report.copied);
    ck_assert_uint_eq(outcome.lost, outcome.report.lost);
    for (int i = 0; i < ACTORS; i++) {
        ck_assert(!outcome.is_lost[i] || outcome.rounds[i] == 0);
        put_round(store, i, (int)outcome.rounds[i] + 1); /* of a later generation than any before */
    }
    tr__store_reader_free(reader);
    tr__store_close(store);
    tr__disk_free(disk);
    return outcome;
}

TEST(a_store_that_is_well_is_copied_whole, "PE-12")
{
    struct store_disk *disk = filled(2);
    struct outcome outcome = save(disk);
    ck_assert_int_eq(outcome.well, ACTORS);
    ck_assert(outcome.report.is_log_whole);
    ck_assert_uint_eq(outcome.report.lost + outcome.report.gaps + outcome.report.older, 0);
    tr__disk_free(disk);
}

TEST(rows_that_do_not_fit_cost_their_actors_alone, "PE-12", "PE-21")
{
    static const char *const spoils[] = {
        "UPDATE actor SET version = 7 WHERE id = 5",
        "UPDATE kv SET value = x'00' WHERE actor = 5",
        "UPDATE alarm SET due = 5 WHERE actor = 5",
        "UPDATE queue SET bytes = x'' WHERE actor = 5",
        "UPDATE event SET bytes = x'00' WHERE actor = 5 AND sequence = 2",
        "DELETE FROM event WHERE actor = 5 AND sequence = 2",
        "DELETE FROM event WHERE actor = 5 AND sequence = 3",
        "UPDATE snapshot SET bytes = x'' WHERE actor = 5",
    };
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
        struct store_disk *disk = filled(3);
        tamper(disk, spoils[i]);
        struct outcome outcome = save(disk);
        ck_assert_msg(outcome.well == ACTORS - 1, "%s: %d", spoils[i], outcome.well);
        ck_assert_uint_eq(outcome.report.lost, 1);
        ck_assert(outcome.is_lost[4]);
        tr__disk_free(disk);
    }
}

TEST(a_spoiled_page_costs_what_lies_behind_it, "PE-12", "PE-21")
{
    struct store_disk *disk = filled(1);
    size_t pages = tr__disk_size(disk, "troupe.db") / PAGE_SIZE;
    unsigned saved = 0;
    unsigned refused = 0;
    size_t step = TEST_HAS_SANITIZER ? 7 : 1;
    for (size_t page = 0; page < pages; page += step) {
        struct store_disk *copy;
        ck_assert_int_eq(tr__disk_clone(disk, &copy), TR_OK);
        ck_assert(tr__disk_flip(copy, "troupe.db", page * PAGE_SIZE + 2000, 1));
        struct store_disk *into = stores_disk(false);
        struct store_options from_options = stores_options(copy);
        struct store_options options = stores_options(into);
        struct store_salvage report;
        tr_error error = {0};
        tr_status status = tr__store_salvage(&from_options, &options, &report, NULL, NULL, &error);
        tr__disk_free(into);
        if (status == TR_OK) {
            struct outcome outcome = save(copy);
            saved += (unsigned)outcome.well;
            if (outcome.well < ACTORS)
                ck_assert_uint_gt(outcome.report.lost + outcome.report.gaps, 0);
        } else { /* the tables, or the row with the key */
            ck_assert_int_eq(status, TR_STORE_CORRUPT);
            ck_assert_str_ne(error.text, "");
            refused++;
        }
        tr__disk_free(copy);
    }
    unsigned tries = (unsigned)((pages + step - 1) / step);
    printf("%u pages: %u refused, %u of %u actors saved\n",
           tries,
           refused,
           saved,
           (tries - refused) * ACTORS);
    ck_assert_uint_le(refused, 4);
    ck_assert_uint_gt(saved, (tries - refused) * ACTORS * 2 / 3);
    tr__disk_free(disk);
}

/* A store whose last rounds are in the log alone. */
static struct store_disk *crashed(int rounds_closed, int rounds, struct store **store)
{
    struct store_disk *disk = filled(rounds_closed);
    struct store_options options = stores_options(disk);
    *store = stores_open(&options);
    for (int round = rounds_closed + 1; round <= rounds; round++) {
        for (int i = 0; i < ACTORS; i++)
            put_round(*store, i, round);
    }
    struct store_disk *copy;
    ck_assert_int_eq(tr__disk_clone(disk, &copy), TR_OK);
    tr__store_close(*store);
    tr__disk_free(disk);
    return copy;
}

TEST(of_a_damaged_log_all_before_the_damage_is_saved, "PE-10", "PE-12")
{
    struct store *store;
    struct store_disk *disk = crashed(1, 2, &store);
    struct store_options options = stores_options(disk);
    tr_error error;
    size_t size = tr__disk_size(disk, "troupe.db-log");
    ck_assert(tr__disk_flip(disk, "troupe.db-log", size / 2, 1));
    struct store *none;
    ck_assert_int_eq(tr__store_open(&options, &none, &error), TR_STORE_CORRUPT);
    struct outcome outcome = save(disk);
    ck_assert(!outcome.report.is_log_whole);
    ck_assert_int_eq(outcome.well, ACTORS);
    unsigned second = 0;
    for (int i = 0; i < ACTORS; i++)
        second += outcome.rounds[i] == 2;
    ck_assert_uint_gt(second, 0);
    ck_assert_uint_lt(second, ACTORS);
    ck_assert_uint_eq(outcome.rounds[0], 2); /* It was committed before the others. */
    tr__disk_free(disk);
}

TEST(without_its_log_the_database_is_saved, "PE-10", "PE-12")
{
    struct store *store;
    struct store_disk *disk = crashed(2, 3, &store);
    ck_assert_int_eq(tr__disk_delete(disk, "troupe.db-log", true), TR_OK);
    struct outcome outcome = save(disk);
    ck_assert(!outcome.report.is_log_whole);
    ck_assert_int_eq(outcome.well, ACTORS);
    for (int i = 0; i < ACTORS; i++)
        ck_assert_uint_eq(outcome.rounds[i], 2);
    ck_assert(!tr__disk_has(disk, "troupe.db-log")); /* It was only read. */
    tr__disk_free(disk);
}

/* As tamper, but what it changes stays in the log. */
static void tamper_in_log(struct store_disk *disk, const char *sql)
{
    static struct vfs vfs;
    struct link link;
    struct memory_source source = stores_source();
    ck_assert(tr__disk_take(disk));
    ck_assert_int_eq(tr__vfs_init(&vfs, &source, disk, "troupe.db", NULL), TR_OK);
    ck_assert_int_eq(tr__link_open(&link, &vfs, "troupe.db"), TR_OK);
    (void)sqlite3_db_config(link.database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    ck_assert_int_eq(tr__link_execute(&link, sql), TR_OK);
    tr__link_close(&link);
    tr__vfs_deinit(&vfs);
    tr__disk_give(disk);
}

TEST(what_is_whole_only_without_the_log_is_taken_from_there, "PE-12")
{
    struct store *store;
    struct store_disk *disk = crashed(2, 3, &store);
    tamper_in_log(disk,
                  "UPDATE actor SET version = 9 WHERE id = 5;"
                  /* That it was destroyed is no damage: it does not come back. */
                  "DELETE FROM actor WHERE id = 9; DELETE FROM kv WHERE actor = 9");
    struct outcome outcome = save(disk);
    ck_assert(outcome.report.is_log_whole);
    ck_assert_uint_eq(outcome.report.older, 1);
    ck_assert_uint_eq(outcome.report.lost, 0);
    ck_assert_int_eq(outcome.well, ACTORS - 1);
    for (int i = 0; i < ACTORS; i++)
        ck_assert_uint_eq(outcome.rounds[i], i == 4 ? 2 : i == 8 ? 0 : 3);
    tr__disk_free(disk);
}

static void doom(struct store *store, int actor)
{
    struct store_entry *entry = stores_enter(store, "k", key_of(actor));
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_doom(batch), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    tr__store_leave(entry);
}

/* The mark is in the log alone, and another actor is taken from the database without the log. */
TEST(an_actor_with_the_mark_of_a_destroy_does_not_come_back, "PE-12", "K-09")
{
    struct store_disk *disk = filled(2);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct store_disk *copy;
    doom(store, 8);
    ck_assert_int_eq(tr__disk_clone(disk, &copy), TR_OK);
    tr__store_close(store);
    tr__disk_free(disk);
    tamper_in_log(copy, "UPDATE kv SET value = x'00' WHERE actor = 5");
    struct outcome outcome = save(copy);
    ck_assert_uint_eq(outcome.report.lost, 0);
    ck_assert_uint_eq(outcome.report.older, 1);
    ck_assert_int_eq(outcome.well, ACTORS - 1);
    ck_assert_uint_eq(outcome.rounds[8], 0);
    tr__disk_free(copy);
}

TEST(what_is_left_of_a_destroyed_actor_is_not_lost, "PE-12", "K-09")
{
    struct store_disk *disk = filled(1);
    tamper(disk,
           "UPDATE actor SET name = x'000000000000000009', seal = x'', version = 0, sequence = 0, "
           "state = NULL WHERE id = 9; DELETE FROM alarm WHERE actor = 9");
    struct outcome outcome = save(disk);
    ck_assert_uint_eq(outcome.report.lost + outcome.report.older, 0);
    ck_assert_int_eq(outcome.well, ACTORS - 1);
    tr__disk_free(disk);
}

static const char *shapes_of(struct store_disk *disk)
{
    static struct stores_text text;
    text = (struct stores_text){.size = 0};
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    ck_assert_int_eq(tr__store_list_shapes(reader, stores_visit, &text), TR_OK);
    tr__store_reader_free(reader);
    tr__store_close(store);
    return text.text;
}

TEST(shapes_of_what_is_saved_are_saved_with_it, "PE-12", "K-02")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    struct store_entry *entry = stores_enter(store, "k", "x");
    struct store_batch *batch = stores_batch(entry);
    ck_assert_int_eq(tr__store_shape_put(batch, 7, stores_bytes("{seven}")), TR_OK);
    ck_assert_int_eq(tr__store_shape_put(batch, 8, stores_bytes("{eight}")), TR_OK);
    ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("state")), TR_OK);
    ck_assert_int_eq(stores_commit(store, batch), TR_OK);
    tr__store_leave(entry);
    tr__store_close(store);
    struct store_disk *into = stores_disk(false);
    struct store_options into_options = stores_options(into);
    struct store_salvage report;
    ck_assert_int_eq(tr__store_salvage(&options, &into_options, &report, NULL, NULL, NULL), TR_OK);
    ck_assert_uint_eq(report.copied, 1);
    char before[sizeof((struct stores_text *)NULL)->text];
    (void)snprintf(before, sizeof before, "%s", shapes_of(disk));
    ck_assert_ptr_nonnull(strstr(before, "{seven}"));
    ck_assert_str_eq(shapes_of(into), before);
    tr__disk_free(into);
    tr__disk_free(disk);
}

TEST(a_store_of_an_earlier_format_is_saved, "PE-12", "K-06")
{
    static const char *const formats[] = {
        "DROP TABLE page; DROP TABLE shape; DROP INDEX actor_doomed; PRAGMA user_version = 1",
        "DROP TABLE shape; DROP INDEX actor_doomed; PRAGMA user_version = 2"};
    for (size_t i = 0; i < 2; i++) {
        struct store_disk *disk = filled(1);
        tamper(disk, formats[i]);
        struct outcome outcome = save(disk);
        ck_assert_int_eq(outcome.well, ACTORS);
        ck_assert_uint_eq(outcome.report.lost + outcome.report.gaps + outcome.report.older, 0);
        tr__disk_free(disk);
    }
}

TEST(what_cannot_be_saved_from_is_left_alone, "K-06")
{
    tr_error error;
    struct store_salvage report;
    struct store_disk *disk = filled(1);
    struct store_disk *other = filled(1);
    struct store_options from = stores_options(disk);
    struct store_options into = stores_options(other);
    ck_assert_int_eq(tr__store_salvage(&from, &into, &report, NULL, NULL, &error),
                     TR_INVALID_ARGUMENT); /* It has actors of its own. */
    from.program = "somebody";
    struct store_disk *empty = stores_disk(false);
    into.disk = empty;
    ck_assert_int_eq(tr__store_salvage(&from, &into, &report, NULL, NULL, &error),
                     TR_STORE_FOREIGN);
    from.disk = NULL;
    from.path = "/no/such/store";
    ck_assert_int_eq(tr__store_salvage(&from, &into, &report, NULL, NULL, &error),
                     TR_STORE_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.text, from.path));
    tr__disk_free(empty);
    tr__disk_free(other);
    tr__disk_free(disk);
}

SUITE("store salvage", a_store_that_is_well_is_copied_whole,
      rows_that_do_not_fit_cost_their_actors_alone, a_spoiled_page_costs_what_lies_behind_it,
      of_a_damaged_log_all_before_the_damage_is_saved, without_its_log_the_database_is_saved,
      what_is_whole_only_without_the_log_is_taken_from_there,
      an_actor_with_the_mark_of_a_destroy_does_not_come_back,
      what_is_left_of_a_destroyed_actor_is_not_lost, shapes_of_what_is_saved_are_saved_with_it,
      a_store_of_an_earlier_format_is_saved, what_cannot_be_saved_from_is_left_alone)
