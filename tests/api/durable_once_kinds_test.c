/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests with an id, and time to live, of other kinds: a state made of events, tables, replies that are too large, a
 * kind that never sleeps; and kinds that are not valid.
 */
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(sum, (i64, value));
TR_REQUEST(add, sum, (i64, n));
TR_MESSAGE(large, (bytes, bytes));
TR_REQUEST(fetch, large, (u64, size));

static int calls;

/* ---- A state made of events. ---- */

TR_MESSAGE(added, (i64, n));
TR_MESSAGE(journal_state, (i64, sum));
TR_ACTOR(journal, add);

static void apply_added(struct journal_state *state, const struct added *event)
{
    state->sum += event->n;
}
TR_EVENTS(journal_events, journal_state, TR_APPLY(added, apply_added));

static tr_next on_journal_add(tr_self *self, const struct journal_state *state,
                              const struct add *message)
{
    calls++;
    tr_persist(self, added, .n = message->n);
    return tr_reply(self, sum, .value = state->sum);
}
TR_BEHAVIOR(journal, const struct journal_state, TR_ON(add, on_journal_add));
TR_DURABLE(journal, journal_state, .events = &journal_events, .idle_ns = TR_SECOND,
           .ttl_ns = TR_HOUR);

/* ---- Tables. ---- */

TR_MESSAGE(table_state, (i64, unused));
TR_ACTOR(table, add);

static tr_next on_table_add(tr_self *self, const struct add *message)
{
    calls++;
    tr_sql(self, "INSERT INTO number VALUES (?)", message->n);
    return tr_reply(self, sum, .value = tr_sql_one(self, "SELECT sum(n) FROM number").integer);
}
TR_BEHAVIOR(table, struct table_state, TR_ON(add, on_table_add));
TR_DURABLE(table, table_state, .sql_schema = TR_SQL_SCHEMA("CREATE TABLE number (n INTEGER)"),
           .idle_ns = TR_SECOND);

/* ---- Large replies. ---- */

TR_MESSAGE(box_state, (i64, fetched));
TR_ACTOR(box, fetch, add);

static tr_next on_fetch(tr_self *self, struct box_state *state, const struct fetch *message)
{
    calls++;
    state->fetched++;
    char *bytes = tr_scratch(self, message->size + 1);
    memset(bytes, 'x', message->size);
    return tr_reply(self, large, .bytes = {bytes, message->size});
}

static tr_next on_box_add(tr_self *self, struct box_state *state)
{
    return tr_reply(self, sum, .value = state->fetched);
}
TR_BEHAVIOR(box, struct box_state, TR_ON(fetch, on_fetch), TR_ON(add, on_box_add));
TR_DURABLE(box, box_state, .never_sleeps = true, .ttl_ns = TR_HOUR);

static tr_kit *kit;
static tr_client *test;

static void begin(void)
{
    const tr_kit_options options = {
        .seed = 1, .workers = 2, .durable = TR_DURABLES(journal, table, box)};
    kit = tr_kit_new(&options);
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    calls = 0;
}

#define ADD_ONCE(kind, id, number)                                                                 \
    ({                                                                                             \
        const struct sum *sum_;                                                                    \
        add_ask ask_ = tr_ask_once(test, kind, "a", id, add, .n = number);                         \
        ck_assert_int_eq(tr_try_await(test, ask_, &sum_), TR_OK);                                  \
        sum_->value;                                                                               \
    })

TEST(a_state_made_of_events_takes_effect_once, "K-14", "K-08", "K-15")
{
    begin();
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(ADD_ONCE(journal, "x", 5), 5);
        ck_assert_int_eq(ADD_ONCE(journal, "y", 2), 7);
        tr_kit_advance(kit, i * TR_MINUTE);
    }
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(tr_durable_exists(test, journal, "a"), TR_OK);
    tr_kit_advance(kit, 2 * TR_HOUR);
    ck_assert_int_eq(tr_durable_exists(test, journal, "a"), TR_NOT_FOUND);
    ck_assert_int_eq(ADD_ONCE(journal, "x", 5), 5);
    ck_assert_int_eq(calls, 3);
    tr_kit_free(kit);
}

TEST(tables_take_effect_once, "K-14", "K-03")
{
    begin();
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(ADD_ONCE(table, "x", 5), 5);
        ck_assert_int_eq(ADD_ONCE(table, "y", 2), 7);
        tr_kit_advance(kit, i * TR_MINUTE);
    }
    ck_assert_int_eq(calls, 2);
    tr_kit_free(kit);
}

static tr_status fetch_once(const char *id, uint64_t size)
{
    const struct large *large;
    fetch_ask ask = tr_ask_once(test, box, "a", id, fetch, .size = size);
    tr_status status = tr_try_await(test, ask, &large);
    if (status == TR_OK)
        ck_assert_uint_eq(large->bytes.size, size);
    return status;
}

TEST(an_answer_that_cannot_be_kept_has_no_effect, "K-14")
{
    begin();
    ck_assert_int_eq(fetch_once("x", 1000000), TR_OK);
    ck_assert_int_eq(fetch_once("x", 1000000), TR_OK);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(fetch_once("y", TR_REQUEST_ANSWER_MAX), TR_TOO_LARGE);
    ck_assert_int_eq(calls, 2);
    ck_assert_int_eq(fetch_once("y", 5), TR_OK); /* nothing is known of it */
    ck_assert_int_eq(calls, 3);
    const struct sum *sum;
    add_ask ask = tr_ask_key(test, box, "a", add);
    ck_assert_int_eq(tr_try_await(test, ask, &sum), TR_OK);
    ck_assert_int_eq(sum->value, 2);
    tr_kit_free(kit);
}

TEST(an_actor_that_never_sleeps_may_be_destroyed, "K-15")
{
    begin();
    ck_assert_int_eq(fetch_once("x", 5), TR_OK);
    tr_kit_advance(kit, TR_HOUR - TR_MINUTE);
    ck_assert_int_eq(fetch_once("x", 5), TR_OK);
    tr_kit_advance(kit, TR_HOUR - TR_MINUTE);
    ck_assert_int_eq(tr_durable_exists(test, box, "a"), TR_OK);
    tr_kit_advance(kit, 6 * TR_MINUTE);
    ck_assert_int_eq(tr_durable_exists(test, box, "a"), TR_NOT_FOUND);
    tr_kit_free(kit);
}

/* ---- Kinds that are not valid. ---- */

static bool is_valid(tr_durable_options options)
{
    static tr_durable_kind kind;
    kind = tr_durable_box;
    kind.options = options;
    const tr_durable_kind *const kinds[] = {&kind, NULL};
    const tr_durables durables = {sizeof durables, tr_durable_start, kinds};
    const tr_kit_options kit_options = {.seed = 1, .workers = 1, .durable = &durables};
    tr_kit *made = tr_kit_new(&kit_options);
    tr_kit_free(made);
    return made;
}

TEST(times_out_of_range_are_refused, "K-14", "K-15")
{
    ck_assert(is_valid((tr_durable_options){.ttl_ns = TR_TTL_MIN_NS}));
    ck_assert(is_valid((tr_durable_options){.ttl_ns = TR_TTL_MAX_NS}));
    ck_assert(!is_valid((tr_durable_options){.ttl_ns = TR_TTL_MIN_NS - 1}));
    ck_assert(!is_valid((tr_durable_options){.ttl_ns = TR_TTL_MAX_NS + 1}));
    ck_assert(!is_valid((tr_durable_options){.ttl_ns = -1}));
    ck_assert(is_valid((tr_durable_options){.answers_ns = TR_ANSWERS_MAX_NS}));
    ck_assert(!is_valid((tr_durable_options){.answers_ns = TR_ANSWERS_MAX_NS + 1}));
    ck_assert(!is_valid((tr_durable_options){.answers_ns = -1}));
}

SUITE("durable once, kinds", a_state_made_of_events_takes_effect_once, tables_take_effect_once,
      an_answer_that_cannot_be_kept_has_no_effect, an_actor_that_never_sleeps_may_be_destroyed,
      times_out_of_range_are_refused)
