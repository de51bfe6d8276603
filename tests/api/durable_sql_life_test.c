/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tables of durable actors over lives: programs with other schemas on the same store, changes that wait for the
 * disk, memory that is short, and many actors on threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(acted, (i64, value));
TR_REQUEST(post, acted, (i64, cents), (bool, fails));
TR_REQUEST(save, acted);
TR_REQUEST(balance, acted);
TR_REQUEST(columns, acted);
TR_MESSAGE(book_state, (i64, cents), (i64, posts));
#define BOOKS(actor) TR_ACTOR(actor, post, save, balance, columns)
BOOKS(strict);
BOOKS(lazy);
BOOKS(lax);

/* The steps of the schema, as many as the program of this test has. */
static const char *steps[] = {
    "CREATE TABLE entry (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL)",
    "ALTER TABLE entry ADD COLUMN note TEXT; CREATE TABLE total (cents INTEGER NOT NULL);"
    "INSERT INTO total SELECT coalesce(sum(cents), 0) FROM entry",
    NULL,
    NULL,
};

static tr_next on_post(tr_self *self, struct book_state *state, const struct post *message)
{
    state->cents += message->cents;
    state->posts++;
    tr_sql(self, "INSERT INTO entry (cents) VALUES (?)", message->cents);
    tr_kv_put(self, (tr_bytes){"last", 4}, (tr_bytes){&message->cents, sizeof message->cents});
    if (message->fails)
        return tr_fail(self, TR_BAD_DATA, "as told");
    return tr_reply(self, acted, .value = state->cents);
}

static tr_next on_save(tr_self *self)
{
    tr_save(self);
    return tr_reply(self, acted, .value = 0);
}

/* The state and the table are of the same commit, always. */
static tr_next on_balance(tr_self *self, struct book_state *state)
{
    tr_sql_result sums = tr_sql(self, "SELECT sum(cents), count(*) FROM entry");
    ck_assert_int_eq(sums.values[0].integer, state->cents);
    ck_assert_int_eq(sums.values[1].integer, state->posts);
    return tr_reply(self, acted, .value = state->cents);
}

static tr_next on_columns(tr_self *self)
{
    tr_sql_result result;
    tr_error error;
    tr_status status = tr_try_sql(self, &result, &error, "SELECT * FROM entry LIMIT 1");
    if (status == TR_STALE)
        ck_assert_ptr_nonnull(strstr(error.text, "they have 2 schema steps, the code has 1"));
    else if (status != TR_OK)
        ck_assert_ptr_nonnull(strstr(error.text, "step 3 of the schema: near \"CRATE\""));
    return tr_reply(self, acted, .value = status == TR_OK ? (int64_t)result.columns : status);
}

#define ROWS                                                                                       \
    TR_ON(post, on_post), TR_ON(save, on_save), TR_ON(balance, on_balance),                        \
        TR_ON(columns, on_columns)
TR_BEHAVIOR(strict, struct book_state, ROWS);
TR_BEHAVIOR(lazy, struct book_state, ROWS);
TR_BEHAVIOR(lax, struct book_state, ROWS);
TR_DURABLE(strict, book_state, .idle_ns = 10 * TR_SECOND, .sql_schema = steps);
TR_DURABLE(lazy, book_state, .durability = TR_SAVE_INTERVAL, .sql_schema = steps);
TR_DURABLE(lax, book_state, .durability = TR_SAVE_ON_DEMAND, .sql_schema = steps);

static char directory[64];
static tr_kit *kit;
static tr_client *test;

static void directory_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/troupe-sql-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void directory_drop(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static void begin(const char *store)
{
    kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                       .workers = 2,
                                       .durable = TR_DURABLES(strict, lazy, lax),
                                       .store = store});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

/* What an ask of "a" comes to: its value, or a status. */
#define ASK(kind, ...)                                                                             \
    (__extension__({                                                                               \
        const struct acted *acted_;                                                                \
        kind##_ref ref_;                                                                           \
        ck_assert_int_eq(tr_try_durable(test, &ref_, kind, "a"), TR_OK);                           \
        __auto_type ask_ = tr_ask_within(test, TR_HOUR, ref_, __VA_ARGS__);                        \
        tr_status status_ = tr_try_await(test, ask_, &acted_);                                     \
        status_ == TR_OK ? acted_->value : status_;                                                \
    }))

/* ---- Schemas. ---- */

TEST(a_schema_grows_by_steps, "K-03", "K-07")
{
    directory_make();
    const char *second = steps[1];
    steps[1] = NULL;
    begin(directory);
    ck_assert_int_eq(ASK(strict, post, .cents = 5), 5);
    ck_assert_int_eq(ASK(strict, columns), 2);
    tr_kit_free(kit);
    steps[1] = second;
    begin(directory);
    ck_assert_int_eq(ASK(strict, columns), 3);
    ck_assert_int_eq(ASK(strict, balance), 5);
    tr_kit_advance(kit, 20 * TR_SECOND); /* it has slept, and the steps are not done again */
    ck_assert_int_eq(ASK(strict, columns), 3);
    ck_assert_int_eq(ASK(strict, post, .cents = 2), 7);
    tr_kit_free(kit);
    steps[1] = NULL;
    begin(directory);
    ck_assert_int_eq(ASK(strict, columns), TR_STALE);
    ck_assert_int_eq(ASK(strict, balance), TR_STALE);
    tr_kit_free(kit);
    steps[1] = second;
    begin(directory);
    ck_assert_int_eq(ASK(strict, balance), 7);
    tr_kit_free(kit);
    directory_drop();
}

TEST(a_step_that_fails_undoes_all_of_them, "K-03")
{
    directory_make();
    const char *second = steps[1];
    steps[1] = NULL;
    begin(directory);
    ck_assert_int_eq(ASK(strict, post, .cents = 5), 5);
    tr_kit_free(kit);
    steps[1] = second;
    steps[2] = "CREATE TABLE more (x); CRATE TABLE less (x)";
    begin(directory);
    ck_assert_int_eq(ASK(strict, columns), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(ASK(strict, columns), TR_INVALID_ARGUMENT);
    tr_kit_free(kit);
    steps[1] = NULL;
    begin(directory);
    ck_assert_int_eq(ASK(strict, columns), 2);
    ck_assert_int_eq(ASK(strict, balance), 5);
    tr_kit_free(kit);
    directory_drop();
}

/* ---- When it is stored. ---- */

TEST(with_an_interval_tables_go_back_to_the_last_finished_commit, "K-03", "K-01")
{
    begin(NULL);
    ck_assert_int_eq(ASK(lazy, post, .cents = 1), 1);
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_int_eq(ASK(lazy, post, .cents = 2), 3);
    ck_assert_int_eq(ASK(lazy, post, .cents = 3), 6);
    ck_assert_int_eq(ASK(lazy, balance), 6);
    ck_assert_int_eq(ASK(lazy, post, .cents = 4, .fails = true), TR_FAILED);
    tr_kit_advance(kit, 10 * TR_MILLISECOND);
    ck_assert_int_eq(ASK(lazy, balance), 6);
    ck_assert_int_eq(ASK(lazy, post, .cents = 2), 8);
    tr_kit_advance(kit, 60 * TR_SECOND);
    ck_assert_int_eq(ASK(lazy, balance), 8);
    tr_kit_free(kit);
}

TEST(on_demand_tables_are_stored_with_tr_save_and_sleep, "K-03", "K-01")
{
    begin(NULL);
    ck_assert_int_eq(ASK(lax, post, .cents = 1), 1);
    ck_assert_int_eq(ASK(lax, save), 0);
    ck_assert_int_eq(ASK(lax, post, .cents = 2), 3);
    tr_kit_advance(kit, 10 * TR_SECOND);
    ck_assert_int_eq(ASK(lax, post, .cents = 4, .fails = true), TR_FAILED);
    tr_kit_advance(kit, 10 * TR_MILLISECOND);
    ck_assert_int_eq(ASK(lax, balance), 3);
    ck_assert_int_eq(ASK(lax, post, .cents = 2), 5);
    tr_kit_advance(kit, 60 * TR_SECOND);
    ck_assert_int_eq(ASK(lax, balance), 5);
    tr_kit_free(kit);
}

/* ---- Memory. ---- */

static int64_t acknowledged;
static int64_t possible;

static void post_once(int64_t cents)
{
    strict_ref ref;
    const struct acted *acted;
    possible += cents;
    if (tr_try_durable(test, &ref, strict, "a") != TR_OK)
        return;
    post_ask ask = tr_ask_within(test, TR_HOUR, ref, post, .cents = cents);
    if (tr_try_await(test, ask, &acted) == TR_OK)
        acknowledged += cents;
}

static uint64_t live(uint64_t nth, bool and_all_after)
{
    acknowledged = 0;
    possible = 0;
    begin(NULL);
    tr_kit_settle(kit);
    uint64_t before = tr_kit_allocations(kit);
    tr_kit_fail_allocation(kit, nth, and_all_after);
    for (int64_t i = 0; i < 3; i++)
        post_once(1 + i);
    tr_kit_advance(kit, 20 * TR_SECOND);
    post_once(8);
    uint64_t count = tr_kit_allocations(kit) - before;
    tr_kit_fail_allocation(kit, 0, false);
    tr_kit_advance(kit, TR_MINUTE);
    int64_t value = ASK(strict, balance);
    ck_assert_int_ge(value, acknowledged);
    ck_assert_int_le(value, possible);
    tr_kit_free(kit);
    return count;
}

TEST(each_allocation_may_fail, "K-03", "K-09")
{
    uint64_t count = live(0, false);
    uint64_t step = TEST_HAS_SANITIZER ? 1 + count / 60 : 1;
    int unlucky = 0;
    ck_assert_uint_gt(count, 50);
    for (uint64_t nth = 1; nth <= count; nth += step) {
        (void)live(nth, false);
        (void)live(nth, true);
        unlucky += acknowledged < possible;
    }
    ck_assert_int_gt(unlucky, 5);
}

/* ---- Threads. ---- */

enum { ACTORS = 24, POSTS = 20 };

static void system_run(bool is_first)
{
    static strict_ref refs[ACTORS];
    static post_ask posts[ACTORS];
    const struct acted *acted;
    tr_system *system;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 2,
                                       .durable = TR_DURABLES(strict, lazy, lax),
                                       .store = directory};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &test), TR_OK);
    for (int i = 0; i < ACTORS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        ck_assert_int_eq(tr_try_durable(test, &refs[i], strict, key), TR_OK);
    }
    for (int n = 0; is_first && n < POSTS; n++) {
        for (int i = 0; i < ACTORS; i++)
            posts[i] = tr_ask_within(test, TR_MINUTE, refs[i], post, .cents = i);
        for (int i = 0; i < ACTORS; i++) {
            ck_assert_int_eq(tr_try_await(test, posts[i], &acted), TR_OK);
            ck_assert_int_eq(acted->value, (n + 1) * i);
        }
    }
    for (int i = 0; i < ACTORS; i++) {
        balance_ask ask = tr_ask_within(test, TR_MINUTE, refs[i], balance);
        ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_OK);
        ck_assert_int_eq(acted->value, POSTS * i);
    }
    tr_client_free(test);
    tr_system_shutdown(system, 10 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

TEST(many_actors_on_threads_have_their_tables_in_the_next_process, "K-03", "K-09")
{
    directory_make();
    system_run(true);
    system_run(false);
    directory_drop();
}

SUITE("SQL over lives", a_schema_grows_by_steps, a_step_that_fails_undoes_all_of_them,
      with_an_interval_tables_go_back_to_the_last_finished_commit,
      on_demand_tables_are_stored_with_tr_save_and_sleep, each_allocation_may_fail,
      many_actors_on_threads_have_their_tables_in_the_next_process)
