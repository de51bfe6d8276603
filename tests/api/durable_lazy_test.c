/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kinds that are stored later, after an interval or on demand: a message that fails takes back what it did itself, and
 * nothing of the messages before it, which were answered.
 */
#include <stdio.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/shutdown.h>
#include <troupe/troupe.h>

#include "support/test.h"

TR_MESSAGE(acted, (i64, value));
TR_REQUEST(act, acted, (u64, call), (i64, n));
TR_MESSAGE(ring, (i64, n));
TR_MESSAGE(lazy_state, (i64, value));
TR_MESSAGE(added, (i64, n));
TR_ACTOR(lazy, act, ring);
TR_ACTOR(demand, act, ring);
TR_ACTOR(scribe, act, ring);

typedef tr_next lazy_call(tr_self *self, struct lazy_state *state, int64_t n);

static int64_t rings;
static int64_t hooks;

static tr_next on_act(tr_self *self, struct lazy_state *state, const struct act *message)
{
    return ((lazy_call *)(uintptr_t)message->call)(self, state, message->n);
}

static tr_next on_ring(tr_self *self, struct lazy_state *state, const struct ring *message)
{
    (void)self, (void)state;
    rings = rings * 10 + message->n;
    return TR_SAME;
}

TR_BEHAVIOR(lazy, struct lazy_state, TR_ON(act, on_act), TR_ON(ring, on_ring));
TR_BEHAVIOR(demand, struct lazy_state, TR_ON(act, on_act), TR_ON(ring, on_ring));
#define SCHEMA TR_SQL_SCHEMA("CREATE TABLE row (n INTEGER PRIMARY KEY, text TEXT)")
TR_DURABLE(lazy, lazy_state, .durability = TR_SAVE_INTERVAL, .interval_ns = TR_HOUR,
           .idle_ns = TR_HOUR, .sql_schema = SCHEMA);
TR_DURABLE(demand, lazy_state, .durability = TR_SAVE_ON_DEMAND, .idle_ns = TR_HOUR,
           .sql_schema = SCHEMA);

/* ---- One with events, of which the state is const. ---- */

static void apply_added(struct lazy_state *state, const struct added *event)
{
    state->value += event->n;
}

static tr_next on_added(tr_self *self, const struct lazy_state *state, const struct added *event)
{
    (void)self, (void)state;
    hooks += event->n;
    return TR_SAME;
}

TR_EVENTS(scribe_events, lazy_state, TR_APPLY(added, apply_added), TR_SNAPSHOTS(.every = 3),
          TR_ON_STORED(added, on_added));

static tr_next scribe_act(tr_self *self, const struct lazy_state *state, const struct act *message)
{
    return ((lazy_call *)(uintptr_t)message->call)(
        self, (struct lazy_state *)(uintptr_t)state, message->n);
}

static tr_next scribe_ring(tr_self *self, const struct lazy_state *state,
                           const struct ring *message)
{
    return on_ring(self, (struct lazy_state *)(uintptr_t)state, message);
}

TR_BEHAVIOR(scribe, const struct lazy_state, TR_ON(act, scribe_act), TR_ON(ring, scribe_ring));
TR_DURABLE(scribe, lazy_state, .events = &scribe_events, .durability = TR_SAVE_INTERVAL,
           .interval_ns = TR_HOUR, .idle_ns = TR_HOUR);

/* ---- The stage. ---- */

enum { KINDS = 2, MANY = 50 };

static tr_kit *kit;
static tr_client *test;

static void begin(void)
{
    kit = tr_kit_new(&(tr_kit_options){.size = sizeof(tr_kit_options),
                                       .durable = TR_DURABLES(lazy, demand, scribe)});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static tr_status act_on(tr_ref ref, lazy_call *call, int64_t n, int64_t *value)
{
    const struct acted *acted;
    act_ask ask = tr_ask_within(
        test, TR_HOUR, lazy_ref_of(ref), act, .call = (uint64_t)(uintptr_t)call, .n = n);
    tr_status status = tr_try_await(test, ask, &acted);
    if (status == TR_OK && value)
        *value = acted->value;
    return status;
}

static tr_status try_do(int kind, lazy_call *call, int64_t n, int64_t *value)
{
    lazy_ref lazy;
    demand_ref demand;
    tr_status status =
        kind ? tr_try_durable(test, &demand, demand, "a") : tr_try_durable(test, &lazy, lazy, "a");
    if (status != TR_OK)
        return status;
    return act_on(kind ? tr_any(demand) : tr_any(lazy), call, n, value);
}

static int64_t must_do(int kind, lazy_call *call, int64_t n)
{
    int64_t value = -1;
    ck_assert_int_eq(try_do(kind, call, n, &value), TR_OK);
    return value;
}

/* ---- What they do. ---- */

static const tr_bytes key = {"k", 1};

static void change(tr_self *self, struct lazy_state *state, int64_t n)
{
    state->value += n;
    tr_kv_put(self, key, (tr_bytes){&state->value, sizeof state->value});
    tr_sql(self, "INSERT INTO row (text) VALUES (printf('%0500d', ?))", n);
}

static tr_next add(tr_self *self, struct lazy_state *state, int64_t n)
{
    change(self, state, n);
    return tr_reply(self, acted, .value = state->value);
}

static tr_next add_and_fail(tr_self *self, struct lazy_state *state, int64_t n)
{
    change(self, state, 1000);
    tr_kv_put(self, (tr_bytes){"other", 5}, (tr_bytes){"v", 1});
    if (n)
        tr_crash(self, TR_BAD_DATA, "as told");
    return tr_fail(self, TR_BAD_DATA, "as told");
}

/* The value; key and table say the same. */
static tr_next look(tr_self *self, struct lazy_state *state, int64_t n)
{
    tr_bytes value;
    (void)n;
    bool is_there = tr_kv_get(self, key, &value);
    ck_assert(is_there == (state->value != 0));
    if (is_there)
        ck_assert_mem_eq(value.data, &state->value, sizeof state->value);
    ck_assert_int_eq(tr_sql_one(self, "SELECT count(*) FROM row").integer, state->value);
    ck_assert(!tr_kv_get(self, (tr_bytes){"other", 5}, &value));
    return tr_reply(self, acted, .value = state->value);
}

TEST(a_message_that_fails_takes_back_only_itself, "K-01", "Z-14")
{
    for (int kind = 0; kind < KINDS; kind++) {
        begin();
        int64_t value = 0;
        for (int n = 0; n < 2; n++) {
            for (int i = 0; i < MANY; i++)
                ck_assert_int_eq(must_do(kind, add, 1), ++value);
            ck_assert_int_eq(try_do(kind, add_and_fail, n, NULL), TR_FAILED);
            ck_assert_int_eq(must_do(kind, look, 0), value);
            tr_kit_advance(kit, TR_MINUTE); /* not too often */
            /* Again with nothing to be stored. */
            ck_assert_int_eq(try_do(kind, add_and_fail, n, NULL), TR_FAILED);
            ck_assert_int_eq(must_do(kind, look, 0), value);
            tr_kit_advance(kit, TR_MINUTE);
        }
        tr_kit_free(kit);
    }
}

static tr_next set(tr_self *self, struct lazy_state *state, int64_t n)
{
    state->value = n;
    return tr_reply(self, acted, .value = n);
}

static tr_next set_and_save(tr_self *self, struct lazy_state *state, int64_t n)
{
    state->value = n;
    tr_save(self);
    return tr_reply(self, acted, .value = n);
}

static tr_next value_of(tr_self *self, struct lazy_state *state, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->value);
}

/* The second change is the one that counts, although it leaves nothing to be stored. */
TEST(a_change_that_was_taken_back_does_not_return_when_another_fails, "K-01", "Z-14")
{
    for (int kind = 0; kind < KINDS; kind++) {
        begin();
        must_do(kind, set_and_save, 1);
        must_do(kind, set, 2);
        must_do(kind, set, 1);
        ck_assert_int_eq(try_do(kind, add_and_fail, 0, NULL), TR_FAILED);
        ck_assert_int_eq(must_do(kind, value_of, 0), 1);
        tr_kit_free(kit);
    }
}

TEST(a_change_that_was_taken_back_is_not_missing_after_a_shutdown, "K-01", "X-04")
{
    for (int kind = 0; kind < KINDS; kind++) {
        tr_shutdown_report report;
        begin();
        must_do(kind, set_and_save, 1);
        must_do(kind, set, 2);
        must_do(kind, set, 1);
        tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
        tr_kit_advance(kit, 2 * TR_SECOND);
        ck_assert_int_eq(tr_system_report(tr_kit_system(kit), &report), TR_OK);
        ck_assert_int_eq(report.status, TR_OK);
        ck_assert_uint_eq(report.unstored, 0);
        tr_kit_free(kit);
    }
}

static tr_next add_wait_fail(tr_self *self, struct lazy_state *state, int64_t n)
{
    change(self, state, 1);
    (void)!tr_sleep(self, n);
    return add_and_fail(self, state, 0);
}

TEST(what_a_turn_did_before_it_waited_is_kept, "K-01", "Z-14")
{
    for (int kind = 0; kind < KINDS; kind++) {
        begin();
        ck_assert_int_eq(must_do(kind, add, 1), 1);
        ck_assert_int_eq(try_do(kind, add_wait_fail, TR_SECOND, NULL), TR_FAILED);
        ck_assert_int_eq(must_do(kind, look, 0), 2);
        tr_kit_free(kit);
    }
}

static tr_next set_ring(tr_self *self, struct lazy_state *state, int64_t n)
{
    (void)state;
    tr_alarm_after(self, n > 0 ? "good" : "bad", TR_SECOND, ring, .n = n > 0 ? n : -n);
    return n > 0 ? tr_reply(self, acted, .value = 0) : tr_fail(self, TR_BAD_DATA, "as told");
}

TEST(alarms_of_finished_messages_are_set_when_another_fails, "K-01", "K-04")
{
    for (int kind = 0; kind < KINDS; kind++) {
        begin();
        rings = 0;
        ck_assert_int_eq(must_do(kind, set_ring, 1), 0);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(rings, 0); /* it is not stored */
        ck_assert_int_eq(try_do(kind, set_ring, -2, NULL), TR_FAILED);
        tr_kit_advance(kit, TR_MINUTE);
        ck_assert_int_eq(rings, 1);
        tr_kit_free(kit);
    }
}

/* ---- Events. ---- */

static tr_next persist(tr_self *self, struct lazy_state *state, int64_t n)
{
    tr_persist(self, added, .n = n);
    return n < 1000 ? tr_reply(self, acted, .value = state->value)
                    : tr_fail(self, TR_BAD_DATA, "as told");
}

static tr_next sum(tr_self *self, struct lazy_state *state, int64_t n)
{
    (void)n;
    ck_assert_uint_eq(tr_event_last(self), (uint64_t)state->value);
    return tr_reply(self, acted, .value = state->value);
}

TEST(events_of_finished_messages_are_kept_when_another_fails, "K-01", "K-08")
{
    begin();
    int64_t value = 0;
    for (int i = 1; i <= 3 * MANY; i++) {
        scribe_ref scribe;
        ck_assert_int_eq(tr_try_durable(test, &scribe, scribe, "a"), TR_OK);
        ck_assert_int_eq(act_on(tr_any(scribe), persist, 1, &value), TR_OK);
        ck_assert_int_eq(value, i);
        if (i % 7)
            continue;
        ck_assert_int_eq(act_on(tr_any(scribe), persist, 1000, NULL), TR_FAILED);
        ck_assert_int_eq(tr_try_durable(test, &scribe, scribe, "a"), TR_OK);
        ck_assert_int_eq(act_on(tr_any(scribe), sum, 0, &value), TR_OK);
        ck_assert_int_eq(value, i);
        tr_kit_settle(kit);
        ck_assert_int_eq(hooks, i);
        tr_kit_advance(kit, TR_MINUTE); /* not too often */
    }
    tr_kit_free(kit);
}

/* ---- Without memory. ---- */

TEST(without_memory_all_or_nothing_is_kept, "K-01")
{
    for (uint64_t nth = 1; nth <= 60; nth++) {
        begin();
        for (int i = 1; i <= 5; i++)
            ck_assert_int_eq(must_do(0, add, 1), i);
        tr_kit_fail_allocation(kit, nth, false);
        (void)!try_do(0, add_and_fail, 0, NULL);
        tr_kit_fail_allocation(kit, 0, false);
        tr_kit_settle(kit);
        int64_t value = -1;
        for (int i = 0; i < 5 && try_do(0, look, 0, &value) != TR_OK; i++)
            tr_kit_advance(kit, TR_MINUTE);
        ck_assert_msg(value == 0 || value == 5, "%lld", (long long)value);
        tr_kit_free(kit);
    }
}

SUITE("durable and stored later", a_message_that_fails_takes_back_only_itself,
      a_change_that_was_taken_back_does_not_return_when_another_fails,
      a_change_that_was_taken_back_is_not_missing_after_a_shutdown,
      what_a_turn_did_before_it_waited_is_kept,
      alarms_of_finished_messages_are_set_when_another_fails,
      events_of_finished_messages_are_kept_when_another_fails,
      without_memory_all_or_nothing_is_kept)
