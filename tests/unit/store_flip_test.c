/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spoiled data: a flipped byte anywhere, rows in wrong places, pages in wrong places. Never is anything
 * wrong given out; other actors are served where their data can be reached.
 */
#include "support/ledger.h"
#include "support/tamper.h"

#include "store/sqlite/page_sum.h"

enum { ACTORS = 40 };

static const char *key_of(int actor)
{
    static char key[32];
    (void)snprintf(key, sizeof key, "actor-%d", actor);
    return key;
}

static const char *state_of(int actor)
{
    static char state[512];
    int size = snprintf(state, sizeof state, "the state of number %d ", actor);
    memset(state + size, 'a' + actor % 26, (size_t)(20 + actor * 9));
    state[size + 20 + actor * 9] = '\0';
    return state;
}

static void fill(const struct store_options *options)
{
    struct store *store = stores_open(options);
    for (int i = 0; i < ACTORS; i++) {
        struct store_entry *entry = stores_enter(store, "k", key_of(i));
        struct store_batch *batch = stores_batch(entry);
        tr_bytes state = stores_bytes(state_of(i));
        ck_assert_int_eq(tr__store_put_state(batch, 1, state), TR_OK);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("a"), state), TR_OK);
        ck_assert_int_eq(tr__store_kv_put(batch, stores_bytes("b"), stores_bytes("b")), TR_OK);
        ck_assert_int_eq(tr__store_alarm_set(batch, "alarm", 100 + i, state), TR_OK);
        ck_assert_int_eq(tr__store_queue_push(batch, "q", 1, state), TR_OK);
        ck_assert_int_eq(tr__store_event_append(batch, 0, state), TR_OK);
        ck_assert_int_eq(tr__store_snapshot_put(batch, 1, 1, state), TR_OK);
        ck_assert_int_eq(tr__store_shape_put(batch, 1 + (uint64_t)i, state), TR_OK);
        ck_assert_int_eq(stores_commit(store, batch), TR_OK);
        tr__store_leave(entry);
    }
    tr__store_close(store);
}

struct look {
    const char *expected;
    unsigned rows;
    bool is_right;
};

static bool visit(void *context, const struct store_row *row)
{
    struct look *look = context;
    look->rows++;
    look->is_right = look->is_right && (stores_is(row->bytes, look->expected) ||
                                        (stores_is(row->key, "b") && stores_is(row->bytes, "b")));
    return true;
}

static void expect(tr_status status, bool is_right, const char *what)
{
    ck_assert_msg(status == TR_STORE_CORRUPT || (status == TR_OK && is_right),
                  "%s: %s",
                  what,
                  tr_status_name(status));
}

static bool visit_shape(void *context, const struct store_row *row)
{
    unsigned *count = context;
    (*count)++;
    ck_assert(row->id >= 1 && row->id <= ACTORS);
    ck_assert(stores_is(row->bytes, state_of((int)row->id - 1)));
    return true;
}

/* How many shapes there are; each is right. */
static unsigned count_shapes(struct store_reader *reader)
{
    unsigned count = 0;
    tr_status status = tr__store_list_shapes(reader, visit_shape, &count);
    expect(status, true, "shapes");
    return count;
}

/* Reads all of an actor: each thing is right, or known to be corrupt. Gives whether all was right. */
static bool read_all(struct store_reader *reader, int actor)
{
    struct store_state state;
    struct store_snapshot snapshot;
    char expected[512];
    tr_bytes value;
    tr_bytes key = stores_bytes(key_of(actor));
    (void)snprintf(expected, sizeof expected, "%s", state_of(actor));
    unsigned failed = 0;
    tr_status status = tr__store_read_state(reader, "k", key, &state);
    expect(status, status == TR_OK && stores_is(state.bytes, expected), "state");
    failed += status != TR_OK;
    status = tr__store_read_kv(reader, "k", key, stores_bytes("a"), &value);
    expect(status, status == TR_OK && stores_is(value, expected), "kv");
    failed += status != TR_OK;
    status = tr__store_read_snapshot(reader, "k", key, 9, &snapshot);
    expect(status, status == TR_OK && stores_is(snapshot.bytes, expected), "snapshot");
    failed += status != TR_OK;
    struct look look = {expected, 0, true};
    status = tr__store_list_kv(reader, "k", key, &(struct store_range){0}, visit, &look);
    expect(status, look.is_right && look.rows == 2, "kv list");
    failed += status != TR_OK;
    look = (struct look){expected, 0, true};
    status = tr__store_list_alarms(reader, "k", key, visit, &look);
    expect(status, look.is_right && look.rows == 1, "alarms");
    failed += status != TR_OK;
    look = (struct look){expected, 0, true};
    status = tr__store_list_queues(reader, "k", key, NULL, 0, 0, visit, &look);
    expect(status, look.is_right && look.rows == 1, "queue");
    failed += status != TR_OK;
    look = (struct look){expected, 0, true};
    status = tr__store_list_events(reader, "k", key, 0, 9, 0, visit, &look);
    expect(status, look.is_right && look.rows == 1, "events");
    failed += status != TR_OK;
    return failed == 0;
}

/* How many actors are well; -1: the store does not open, and says why. */
static int count_well(const struct store_options *options, bool is_quick)
{
    struct store *store;
    struct store_reader *reader;
    tr_error error = {0};
    tr_status status = tr__store_open(options, &store, &error);
    if (status != TR_OK) {
        ck_assert(status == TR_STORE_CORRUPT || status == TR_STORE_FOREIGN ||
                  status == TR_STORE_NEWER);
        ck_assert_str_ne(error.text, "");
        return -1;
    }
    int well = 0;
    status = tr__store_reader_new(store, &reader);
    ck_assert(status == TR_OK || status == TR_STORE_CORRUPT);
    for (int i = 0; status == TR_OK && i < ACTORS; i += is_quick ? 13 : 1)
        well += read_all(reader, i);
    if (status == TR_OK) {
        (void)count_shapes(reader);
        tr__store_reader_free(reader);
    }
    tr__store_close(store);
    return well;
}

TEST(a_flipped_byte_is_never_given_out, "PE-12", "PE-21")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    fill(&options);
    ck_assert_int_eq(count_well(&options, false), ACTORS);
    size_t size = tr__disk_size(disk, "troupe.db");
    ck_assert_uint_gt(size, 100000);
    size_t step = test_is_long() ? 1 : TEST_HAS_SANITIZER ? 1999 : 199;
    unsigned refused = 0;
    unsigned partly = 0;
    for (size_t at = test_seed() % step; at < size; at += step) {
        struct store_disk *copy;
        ck_assert_int_eq(tr__disk_clone(disk, &copy), TR_OK);
        ck_assert(tr__disk_flip(copy, "troupe.db", at, (unsigned char)(1u << at % 8)));
        options.disk = copy;
        int well = count_well(&options, true);
        refused += well < 0;
        partly += well > 0;
        tr__disk_free(copy);
    }
    printf("%zu flips: %u not opened, %u in part\n", size / step, refused, partly);
    ck_assert_uint_gt(partly, refused);
    tr__disk_free(disk);
}

TEST(a_corrupt_actor_stays_alone, "PE-21", "PE-12")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    fill(&options);
    tamper(disk, "UPDATE actor SET state = 'spoiled' WHERE id = 7");
    struct store *store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    int well = 0;
    for (int i = 0; i < ACTORS; i++)
        well += read_all(reader, i);
    ck_assert_int_eq(well, ACTORS - 1);
    ck_assert_str_eq(stores_state(reader, "k", key_of(6)), "TR_STORE_CORRUPT");

    /* What is corrupt is not written over; in one group with others only it fails. */
    tr_status outcomes[3];
    struct store_entry *entries[3];
    for (int i = 0; i < 3; i++) {
        entries[i] = stores_enter(store, "k", key_of(5 + i));
        struct store_batch *batch = stores_batch(entries[i]);
        ck_assert_int_eq(tr__store_put_state(batch, 1, stores_bytes("new")), TR_OK);
        ck_assert_int_eq(tr__store_submit(batch, stores_on_done, &outcomes[i]), TR_OK);
    }
    while (tr__store_work(store))
        continue;
    ck_assert_int_eq(outcomes[0], TR_OK);
    ck_assert_int_eq(outcomes[1], TR_STORE_CORRUPT);
    ck_assert_int_eq(outcomes[2], TR_OK);
    for (int i = 0; i < 3; i++)
        tr__store_leave(entries[i]);
    ck_assert_str_eq(stores_state(reader, "k", key_of(5)), "new");
    ck_assert_str_eq(stores_state(reader, "k", key_of(6)), "TR_STORE_CORRUPT");
    tr__store_reader_free(reader);
    tr__store_close(store);
    tr__disk_free(disk);
}

/* After the change reading this fails for actor 3 (row 4), and for it alone. */
static void expect_spoiled(const char *sql)
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    fill(&options);
    tamper(disk, sql);
    struct store *store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    ck_assert_msg(!read_all(reader, 3), "%s", sql);
    ck_assert_msg(read_all(reader, 20), "%s", sql);
    tr__store_reader_free(reader);
    tr__store_close(store);
    tr__disk_free(disk);
}

TEST(rows_that_are_torn_or_misplaced_do_not_fit_their_seals, "PE-12")
{
    static const char *const spoils[] = {
        "UPDATE actor SET version = 2 WHERE id = 4",
        "UPDATE actor SET sequence = 2 WHERE id = 4",
        "UPDATE actor SET state = NULL WHERE id = 4",
        "UPDATE actor SET seal = (SELECT seal FROM actor WHERE id = 5) WHERE id = 4",
        "UPDATE actor SET seal = x'00' WHERE id = 4",
        "UPDATE actor SET (seal, version, sequence, state) = "
        "(SELECT seal, version, sequence, state FROM actor WHERE id = 5) WHERE id = 4",
        "UPDATE kv SET value = substr(value, 1, 10) WHERE actor = 4 AND key = CAST('a' AS BLOB)",
        "UPDATE kv SET (seal, value) = (SELECT seal, value FROM kv WHERE actor = 5 AND "
        "key = CAST('a' AS BLOB)) WHERE actor = 4 AND key = CAST('a' AS BLOB)",
        "UPDATE kv SET (seal, value) = (SELECT seal, value FROM kv WHERE actor = 4 AND "
        "key = CAST('b' AS BLOB)) WHERE actor = 4 AND key = CAST('a' AS BLOB)",
        "UPDATE alarm SET due = due + 1 WHERE actor = 4",
        "UPDATE alarm SET name = CAST('mrala' AS BLOB) WHERE actor = 4",
        "UPDATE queue SET id = 2 WHERE actor = 4",
        "UPDATE queue SET bytes = x'00' WHERE actor = 4",
        "UPDATE event SET sequence = 3 WHERE actor = 4",
        "UPDATE snapshot SET version = 3 WHERE actor = 4",
        "UPDATE snapshot SET bytes = x'' WHERE actor = 4",
    };
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++)
        expect_spoiled(spoils[i]);
}

struct dues {
    unsigned well;
    unsigned corrupt;
};

static bool visit_due(void *context, const struct store_due *due)
{
    struct dues *dues = context;
    dues->corrupt += due->is_corrupt;
    dues->well += !due->is_corrupt;
    return true;
}

TEST(corrupt_alarms_do_not_hide_others, "PE-21")
{
    struct store_disk *disk = stores_disk(false);
    struct store_options options = stores_options(disk);
    fill(&options);
    tamper(disk, "UPDATE alarm SET bytes = x'00' WHERE actor = 4; DELETE FROM actor WHERE id = 9");
    struct store *store = stores_open(&options);
    struct store_reader *reader = stores_reader(store);
    struct dues dues = {0};
    ck_assert_int_eq(tr__store_list_due(reader, NULL, TR_NEVER, 0, visit_due, &dues), TR_OK);
    ck_assert_uint_eq(dues.corrupt, 2);
    ck_assert_uint_eq(dues.well, ACTORS - 2);
    tr__store_reader_free(reader);
    tr__store_close(store);
    tr__disk_free(disk);
}

TEST(corrupt_shapes_do_not_hide_others, "PE-21", "K-07")
{
    static const char *const spoils[] = {
        "UPDATE shape SET text = x'00' WHERE id = 4",
        "UPDATE shape SET id = 400 WHERE id = 4",
        "UPDATE shape SET (seal, text) = (SELECT seal, text FROM shape WHERE id = 5) WHERE id = 4",
    };
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
        struct store_disk *disk = stores_disk(false);
        struct store_options options = stores_options(disk);
        fill(&options);
        tamper(disk, spoils[i]);
        struct store *store = stores_open(&options);
        struct store_reader *reader = stores_reader(store);
        ck_assert_uint_eq(count_shapes(reader), ACTORS - 1);
        tr__store_reader_free(reader);
        tr__store_close(store);
        tr__disk_free(disk);
    }
}

TEST(a_page_in_the_place_of_another_is_found, "PE-12")
{
    unsigned char pages[2][PAGE_SIZE];
    for (size_t i = 0; i < PAGE_SIZE; i++) {
        pages[0][i] = (unsigned char)(i * 7 + i / 512);
        pages[1][i] = 0;
    }
    page_seal(pages[0], 5);
    ck_assert(page_is_sound(pages[0], 5));
    ck_assert(!page_is_sound(pages[0], 6));
    ck_assert(page_is_sound(pages[1], 5)); /* never written */
    for (size_t i = 0; i < PAGE_SIZE * 8; i++) {
        pages[0][i / 8] ^= (unsigned char)(1u << i % 8);
        ck_assert(!page_is_sound(pages[0], 5));
        pages[0][i / 8] ^= (unsigned char)(1u << i % 8);
    }
    /* Sectors that changed places. */
    unsigned char sector[512];
    memcpy(sector, pages[0], sizeof sector);
    memcpy(pages[0], pages[0] + 512, sizeof sector);
    memcpy(pages[0] + 512, sector, sizeof sector);
    ck_assert(!page_is_sound(pages[0], 5));
}

/* What a store finds after a flip in the log that a crash left; -1: it is refused. */
static int64_t round_after_flip(struct store_disk *disk, size_t at)
{
    struct store_disk *copy;
    struct store *store;
    tr_error error = {0};
    ck_assert_int_eq(tr__disk_clone(disk, &copy), TR_OK);
    ck_assert(tr__disk_flip(copy, "troupe.db-log", at, (unsigned char)(1u << at % 8)));
    struct store_options options = stores_options(copy);
    tr_status status = tr__store_open(&options, &store, &error);
    int64_t round = -1;
    if (status == TR_OK) {
        struct store_reader *reader = stores_reader(store);
        round = (int64_t)ledger_read(reader, 0);
        tr__store_reader_free(reader);
        tr__store_close(store);
    } else {
        ck_assert_int_eq(status, TR_STORE_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.text, "log"));
    }
    tr__disk_free(copy);
    return round;
}

/* Where the frames of the log end, which have the salts of its header; it is longer than that. */
static size_t log_end(struct store_disk *disk)
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
    ck_assert_uint_gt(tr__disk_size(disk, "troupe.db-log"), end);
    return end;
}

TEST(a_log_that_is_spoiled_in_the_middle_is_refused, "PE-10")
{
    enum { ROUNDS = 6 };
    struct ledger ledger = {0};
    struct store_disk *disk = stores_disk(true);
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    ledger_enter(&ledger, store);
    size_t before_last = 0;
    for (int i = 0; i < ROUNDS; i++) {
        before_last = log_end(disk);
        ledger_round(&ledger);
    }
    size_t size = log_end(disk);
    size_t step = test_is_long() ? 1 : TEST_HAS_SANITIZER ? 1999 : 199;
    unsigned refused = 0;
    unsigned lost = 0;
    for (size_t at = 0; at < size; at += at < 100 ? 1 : step) {
        int64_t round = round_after_flip(disk, at);
        if (round == ROUNDS) /* In bytes that nobody reads, or that were written again. */
            ck_assert_uint_lt(at, 32);
        refused += round < 0;
        lost += round == ROUNDS - 1;
        /* Of the last transaction nobody knows whether it was ever synced. */
        ck_assert(round < 0 || round == ROUNDS || (round == ROUNDS - 1 && at >= before_last));
    }
    ck_assert_uint_gt(refused, lost);
    ledger_leave(&ledger);
    tr__store_close(store);
    tr__disk_free(disk);
}

/*
 * A power cut within the last round: its first frame is torn, and of the header of frame 41, which lies in two sectors,
 * the first has what an older frame had there, the end of a transaction. Nothing of the round was acknowledged then.
 */
TEST(half_of_an_older_header_is_no_end_of_a_transaction, "PE-15", "K-09")
{
    enum { HEADER = 32, FRAME = 24 + PAGE_SIZE, SPLIT = 41 };
    static const unsigned char older[8] = {0, 0, 0, 1, 0, 0, 0, 8}; /* page 1, 8 pages then */
    struct ledger ledger = {0};
    struct store_disk *disk = stores_disk(true);
    struct store_disk *copy;
    struct disk_file *file;
    struct store_options options = stores_options(disk);
    struct store *store = stores_open(&options);
    ledger_enter(&ledger, store);
    size_t at = HEADER + (size_t)SPLIT * FRAME;
    size_t begin = 0;
    uint64_t rounds = 0;
    for (size_t end = 0; end <= at + FRAME; end = log_end(disk), rounds++) {
        begin = rounds > 0 ? end : 0;
        ledger_round(&ledger);
    }
    ck_assert_uint_ne(at / DISK_SECTOR, (at + sizeof older) / DISK_SECTOR);
    ck_assert_uint_lt(begin, at);
    ck_assert_int_eq(tr__disk_clone(disk, &copy), TR_OK);
    ck_assert(tr__disk_flip(copy, "troupe.db-log", begin + 1000, 1));
    ck_assert_int_eq(tr__disk_open(copy, "troupe.db-log", false, &file), TR_OK);
    ck_assert_int_eq(tr__disk_write(file, older, sizeof older, at), TR_OK);
    tr__disk_close(file);
    struct store_options again = stores_options(copy);
    struct store *found = stores_open(&again);
    struct store_reader *reader = stores_reader(found);
    ck_assert_uint_eq(ledger_read(reader, 0), rounds - 1);
    tr__store_reader_free(reader);
    tr__store_close(found);
    tr__disk_free(copy);
    ledger_leave(&ledger);
    tr__store_close(store);
    tr__disk_free(disk);
}

SUITE("store flip", corrupt_shapes_do_not_hide_others,
      a_log_that_is_spoiled_in_the_middle_is_refused,
      half_of_an_older_header_is_no_end_of_a_transaction, a_flipped_byte_is_never_given_out,
      a_corrupt_actor_stays_alone, rows_that_are_torn_or_misplaced_do_not_fit_their_seals,
      corrupt_alarms_do_not_hide_others, a_page_in_the_place_of_another_is_found)
