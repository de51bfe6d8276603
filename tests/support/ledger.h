/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A little world in a store, and what must be true of it whatever happened: for tests of faults.
 *
 * Round n of an actor writes n everywhere: state, key, alarm, queue, event, snapshot. So after any end
 * each of them says the same number, and not less than the last one that was acknowledged.
 */
#ifndef TROUPE_TESTS_SUPPORT_LEDGER_H
#define TROUPE_TESTS_SUPPORT_LEDGER_H

#include "support/stores.h"

enum { LEDGER_ACTORS = 4 };

struct ledger {
    struct store *store;
    struct store_entry *entries[LEDGER_ACTORS];
    uint64_t submitted[LEDGER_ACTORS];
    uint64_t acknowledged[LEDGER_ACTORS];
    tr_status outcomes[LEDGER_ACTORS]; /* of the last round */
    uint64_t epoch;                    /* of the last store that was opened */
};

static inline const char *ledger_key(size_t actor)
{
    static const char *const keys[LEDGER_ACTORS] = {"anna", "bert", "cora", "dora"};
    return keys[actor];
}

/* Values of many sizes: some in a page, some beyond it. */
static inline tr_bytes ledger_value(uint64_t round, char *memory)
{
    size_t size = 24 + (size_t)(round * 677 % 6000);
    memset(memory, (int)('a' + round % 26), size);
    int written = snprintf(memory, 24, "%llu", (unsigned long long)round);
    memory[written] = ' ';
    return (tr_bytes){memory, size};
}
enum { LEDGER_VALUE_MAX = 6100 };

/** The last actor is destroyed by every second round; by each other one of these it only gets the mark for that. */
static inline bool ledger_destroys(size_t actor, uint64_t round)
{
    return actor == LEDGER_ACTORS - 1 && round % 2 == 0;
}

/** Keys that the last actor has besides, now and then: more than a batch deletes itself. */
enum { LEDGER_KEYS = 33 };

static inline tr_status ledger_fill_keys(struct store_batch *batch, uint64_t round)
{
    tr_status status = tr__store_destroy(batch); /* the mark does not go away by itself */
    int keys = round % 4 == 1 ? LEDGER_KEYS : 0;
    for (int i = 0; i < keys && status == TR_OK; i++) {
        char key[16];
        snprintf(key, sizeof key, "key %d", i);
        status = tr__store_kv_put(batch, stores_bytes(key), stores_bytes("value"));
    }
    return status;
}

/** Adds what round `round` writes. A status other than TR_OK: memory is short. */
static inline tr_status ledger_fill(struct store_batch *batch, size_t actor, uint64_t round)
{
    if (ledger_destroys(actor, round))
        return round % 4 == 0 ? tr__store_doom(batch) : tr__store_destroy(batch);
    uint64_t sequence = actor == LEDGER_ACTORS - 1 ? 1 : round;
    char *memory = tr__store_batch_alloc(batch, LEDGER_VALUE_MAX);
    if (!memory)
        return TR_NO_MEMORY;
    tr_bytes value = ledger_value(round, memory);
    tr_status status = actor == LEDGER_ACTORS - 1 ? ledger_fill_keys(batch, round) : TR_OK;
    if (status == TR_OK)
        status = tr__store_put_state(batch, (uint32_t)round, value);
    if (status == TR_OK)
        status = tr__store_kv_put(batch, stores_bytes("k"), value);
    if (status == TR_OK)
        status = tr__store_alarm_set(batch, "alarm", (tr_time)round, value);
    if (status == TR_OK)
        status = tr__store_queue_push(batch, "q", round, value);
    if (status == TR_OK && round > 1)
        status = tr__store_queue_remove(batch, "q", round - 1);
    if (status == TR_OK)
        status = tr__store_event_append(batch, sequence - 1, value);
    if (status == TR_OK && round % 4 == 0)
        status = tr__store_event_trim(batch, sequence - 1);
    if (status == TR_OK)
        status = tr__store_snapshot_put(batch, round, 1, value);
    if (status == TR_OK)
        status = tr__store_snapshot_trim(batch, round - 1);
    if (status == TR_OK)
        status =
            tr__store_request_put(batch, stores_bytes(round % 3 ? "new" : "again"), round, value);
    if (status == TR_OK)
        status = tr__store_request_trim(batch, round - 1);
    return status;
}

static inline void ledger_on_done(void *context, struct store_batch *batch, tr_status status)
{
    *(tr_status *)context = status;
    tr__store_batch_free(batch);
}

/** Enters every name. Of a name that cannot be entered the entry is NULL. */
static inline void ledger_enter(struct ledger *ledger, struct store *store)
{
    ledger->store = store;
    ledger->epoch = tr__store_epoch(store);
    for (size_t i = 0; i < LEDGER_ACTORS; i++) {
        tr_bytes key = stores_bytes(ledger_key(i));
        if (tr__store_enter(store, "k", key, NULL, NULL, &ledger->entries[i]) != TR_OK)
            ledger->entries[i] = NULL;
    }
}

static inline void ledger_leave(struct ledger *ledger)
{
    for (size_t i = 0; i < LEDGER_ACTORS; i++) {
        if (ledger->entries[i])
            tr__store_leave(ledger->entries[i]);
    }
}

/** Enters again whose batch failed: of a full disk, say. */
static inline void ledger_renew(struct ledger *ledger)
{
    for (size_t i = 0; i < LEDGER_ACTORS; i++) {
        if (ledger->entries[i] && ledger->outcomes[i] == TR_OK)
            continue;
        if (ledger->entries[i])
            tr__store_leave(ledger->entries[i]);
        tr_bytes key = stores_bytes(ledger_key(i));
        if (tr__store_enter(ledger->store, "k", key, NULL, NULL, &ledger->entries[i]) != TR_OK)
            ledger->entries[i] = NULL;
        ledger->outcomes[i] = TR_OK;
        ledger->submitted[i] = ledger->acknowledged[i];
    }
}

/** One round of all actors as one group; counts what was acknowledged. */
static inline void ledger_round(struct ledger *ledger)
{
    for (size_t i = 0; i < LEDGER_ACTORS; i++) {
        struct store_batch *batch = NULL;
        ledger->outcomes[i] = TR_NO_MEMORY;
        if (!ledger->entries[i] || tr__store_batch_new(ledger->entries[i], &batch) != TR_OK)
            continue;
        tr_status status = ledger_fill(batch, i, ledger->submitted[i] + 1);
        if (status == TR_OK)
            status = tr__store_submit(batch, ledger_on_done, &ledger->outcomes[i]);
        if (status == TR_OK) {
            ledger->submitted[i]++;
        } else {
            ledger->outcomes[i] = status;
            tr__store_batch_free(batch);
        }
    }
    while (tr__store_work(ledger->store))
        continue;
    for (size_t i = 0; i < LEDGER_ACTORS; i++) {
        if (ledger->outcomes[i] == TR_OK)
            ledger->acknowledged[i] = ledger->submitted[i];
    }
}

struct ledger_row {
    uint64_t id;
    size_t count;
    bool is_whole;
    tr_time due;
};

static inline bool ledger_is_value(uint64_t round, tr_bytes bytes)
{
    char memory[LEDGER_VALUE_MAX];
    tr_bytes value = ledger_value(round, memory);
    return bytes.size == value.size && memcmp(bytes.data, value.data, value.size) == 0;
}

static inline bool ledger_visit(void *context, const struct store_row *row)
{
    struct ledger_row *last = context;
    last->id = row->id;
    last->due = row->due_wall_ns;
    last->count++;
    uint64_t round = strtoull(row->bytes.data, NULL, 10);
    last->is_whole = ledger_is_value(round, row->bytes);
    return true;
}

/** The round that an actor is at on disk; every part of it must say the same. */
static inline uint64_t ledger_read(struct store_reader *reader, size_t actor)
{
    struct store_state state;
    struct store_snapshot snapshot;
    struct ledger_row row = {0};
    tr_bytes value;
    tr_bytes key = stores_bytes(ledger_key(actor));
    tr_status status = tr__store_read_state(reader, "k", key, &state);
    if (status == TR_NOT_FOUND) {
        status = tr__store_read_kv(reader, "k", key, stores_bytes("k"), &value);
        ck_assert_int_eq(status, TR_NOT_FOUND);
        return 0;
    }
    ck_assert_int_eq(status, TR_OK);
    if (state.is_doomed) {
        ck_assert_int_eq(tr__store_list_alarms(reader, "k", key, ledger_visit, &row), TR_OK);
        ck_assert_uint_eq(row.count, 0);
        return 0;
    }
    uint64_t round = state.version;
    uint64_t sequence = actor == LEDGER_ACTORS - 1 ? 1 : round;
    ck_assert(ledger_is_value(round, state.bytes));
    ck_assert_uint_eq(state.sequence, sequence);
    ck_assert_int_eq(tr__store_read_kv(reader, "k", key, stores_bytes("k"), &value), TR_OK);
    ck_assert(ledger_is_value(round, value));
    ck_assert_int_eq(tr__store_list_alarms(reader, "k", key, ledger_visit, &row), TR_OK);
    ck_assert(row.count == 1 && row.is_whole && row.due == (tr_time)round);
    row = (struct ledger_row){0};
    ck_assert_int_eq(tr__store_list_queue(reader, "k", key, "q", 0, 0, ledger_visit, &row), TR_OK);
    ck_assert(row.count == 1 && row.is_whole && row.id == round);
    row = (struct ledger_row){0};
    ck_assert_int_eq(tr__store_list_events(reader, "k", key, 0, UINT64_MAX, 0, ledger_visit, &row),
                     TR_OK);
    ck_assert(row.count >= 1 && row.is_whole && row.id == sequence);
    ck_assert_int_eq(tr__store_read_snapshot(reader, "k", key, UINT64_MAX, &snapshot), TR_OK);
    ck_assert_uint_eq(snapshot.sequence, round);
    ck_assert(ledger_is_value(round, snapshot.bytes));
    row = (struct ledger_row){0};
    ck_assert_int_eq(tr__store_list_requests(reader, "k", key, 0, false, 0, ledger_visit, &row),
                     TR_OK);
    ck_assert(row.count == 1 && row.is_whole && row.id == round);
    return round;
}

/** Nothing acknowledged is lost, and nothing is there that was not submitted. */
static inline void ledger_check(const struct ledger *ledger, struct store *store)
{
    struct store_reader *reader = stores_reader(store);
    for (size_t i = 0; i < LEDGER_ACTORS; i++) {
        uint64_t from = ledger->acknowledged[i];
        uint64_t to = ledger->submitted[i];
        uint64_t found = ledger_read(reader, i);
        if (found == 0 && ledger_destroys(i, from))
            found = from;
        else if (found == 0 && ledger_destroys(i, to))
            found = to;
        ck_assert_msg(from <= found && found <= to,
                      "%s: %llu is not in %llu..%llu",
                      ledger_key(i),
                      (unsigned long long)found,
                      (unsigned long long)from,
                      (unsigned long long)to);
    }
    tr__store_reader_free(reader);
}

/** The same, after which all actors continue from what is there. */
static inline void ledger_adopt(struct ledger *ledger, struct store *store)
{
    struct store_reader *reader = stores_reader(store);
    for (size_t i = 0; i < LEDGER_ACTORS; i++) {
        uint64_t found = ledger_read(reader, i);
        if (found == 0 && ledger_destroys(i, ledger->submitted[i]))
            found = ledger->submitted[i];
        else if (found == 0 && ledger_destroys(i, ledger->acknowledged[i]))
            found = ledger->acknowledged[i];
        ledger->submitted[i] = ledger->acknowledged[i] = found;
    }
    tr__store_reader_free(reader);
}

#endif
