/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A store that is away for a while, or slow, on a kit: alarms that fall due meanwhile fire later, once; and while a
 * turn waits for its store nothing else of its actor begins.
 */
#define THINGS_ROWS TR_ON(nudge, things_nudge), TR_ON(ring, on_ring)
#include <troupe/troupe.h>
TR_MESSAGE(ring);
struct thing_state;
static tr_next on_ring(tr_self *self, struct thing_state *state);
#include "support/things.h"

#include "actor/cell/system.h"
#include "durable/host.h"
#include "store/batch.h"
#include "store/core.h"
#include "store/driver.h"

enum { SEEDS = TEST_SEEDS(20) };

static tr_next on_ring(tr_self *self, struct thing_state *state)
{
    (void)self;
    state->other++;
    things_tell("r");
    return TR_SAME;
}

/* ---- The outage. ---- */

static struct store_driver driver;
static const struct store_driver *real;

static tr_status commit_finds_no_room(struct store_session *session, struct store_batch *first,
                                      struct store_why *why)
{
    (void)session;
    (void)why;
    for (struct store_batch *batch = first; batch; batch = batch->next)
        batch->status = TR_STORE_FULL;
    return TR_OK;
}

static tr_status list_nothing(struct store_view *view, const struct store_alarm_place *after,
                              tr_time until_wall_ns, size_t limit, store_visit_due *visit,
                              void *context)
{
    (void)view;
    (void)after;
    (void)until_wall_ns;
    (void)limit;
    (void)visit;
    (void)context;
    return TR_NO_MEMORY;
}

static tr_status read_nothing(struct store_view *view, tr_bytes name, struct store_state *state)
{
    (void)view;
    (void)name;
    (void)state;
    return TR_NO_MEMORY;
}

enum outage { NO_ROOM, NO_LIST, NO_STATE, OUTAGES };

static void outage_begin(enum outage outage)
{
    struct store *store = tr_kit_system(kit)->durable.host->store;
    real = store->driver;
    driver = *real;
    if (outage == NO_ROOM)
        driver.commit = commit_finds_no_room;
    if (outage == NO_LIST)
        driver.list_due = list_nothing;
    if (outage == NO_STATE)
        driver.read_state = read_nothing;
    store->driver = &driver;
}

static void outage_end(void)
{
    tr_kit_system(kit)->durable.host->store->driver = real;
}

static tr_next set_alarm(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    tr_alarm_after(self, "a", n, ring);
    return tr_reply(self, acted, .value = 0);
}

static tr_next rings(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    return tr_reply(self, acted, .value = state->other);
}

TEST(an_alarm_that_falls_due_in_an_outage_fires_once_when_that_is_over, "AL-12", "K-04")
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (int outage = 0; outage < OUTAGES; outage++) {
            things_begin(seed);
            things_do("a", set_alarm, TR_HOUR);
            tr_kit_advance(kit, 59 * TR_MINUTE); /* it sleeps */
            outage_begin((enum outage)outage);
            tr_kit_advance(kit, 10 * TR_MINUTE);
            outage_end();
            tr_kit_advance(kit, 10 * TR_MINUTE);
            ck_assert_int_eq(things_do("a", rings, 0), 1);
            tr_kit_advance(kit, TR_HOUR);
            ck_assert_int_eq(things_do("a", rings, 0), 1);
            things_end();
        }
    }
}

/* ---- The input outbox. ---- */

static tr_next save_twice(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)n;
    things_tell("(");
    state->value++;
    tr_save(self);
    state->value++;
    tr_kv_put(self, (tr_bytes){"k", 1}, (tr_bytes){"v", 1});
    tr_save(self);
    things_tell(")");
    return tr_reply(self, acted, .value = state->value);
}

static tr_next note(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)self;
    (void)state;
    things_tell("%c", (char)n);
    return TR_SAME;
}

static tr_next set_timers(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        tr_timer_once(self, name, i, nudge, .call = (uint64_t)(uintptr_t)note, .n = 't');
    }
    tr_alarm_after(self, "a", n, ring);
    return tr_reply(self, acted, .value = 0);
}

/* Everything within brackets would have been handled while the turn waited for its store. */
TEST(nothing_else_is_handled_while_a_turn_waits_for_its_store, "PE-04", "Z-14")
{
    for (uint64_t seed = 1; seed <= 4 * SEEDS; seed++) {
        things_begin(seed);
        things_do("a", set_timers, 1);
        things_story[0] = 0;
        thing_ref ref = things_of("a");
        const struct acted *acted;
        act_ask asks[5];
        for (int i = 0; i < 5; i++) {
            asks[i] = things_ask(ref, save_twice, 0);
            things_send(ref, note, 'n');
            for (uint64_t j = 0; j < seed % 7; j++)
                tr_kit_step(kit);
        }
        for (int i = 0; i < 5; i++)
            ck_assert_int_eq(tr_try_await(test, asks[i], &acted), TR_OK);
        tr_kit_advance(kit, TR_SECOND);
        bool is_open = false;
        int turns = 0;
        for (const char *at = things_story; *at; at++) {
            ck_assert_msg(!is_open || *at == ')', "seed %d: %s", (int)seed, things_story);
            is_open = *at == '(';
            turns += *at == '(' || *at == 'n' || *at == 'r';
        }
        ck_assert_msg(turns == 11, "seed %d: %s", (int)seed, things_story);
        things_end();
    }
}

static tr_next put_off(tr_self *self, struct thing_state *state, int64_t n)
{
    (void)state;
    (void)n;
    (void)tr_reply_later(self);
    return TR_SAME;
}

static bool never(tr_system *system)
{
    (void)system;
    return false;
}

/* It owes a reply, for which its timer would look again, and waits for its writes meanwhile. */
TEST(a_store_that_takes_long_to_write_does_not_keep_a_timer_busy, "Z-09")
{
    const struct acted *acted;
    things_begin(1);
    thing_ref ref = things_of("a");
    act_ask ask = things_ask(ref, put_off, 0);
    tr_kit_settle(kit);
    ck_assert_int_eq(things_do("a", thing_go_to_sleep, 0), TR_OK);
    tr_system *system_ = tr_kit_system(kit);
    bool (*has_work)(tr_system *) = system_->durable.has_work;
    system_->durable.has_work = never;
    tr_kit_advance(kit, TR_MINUTE); /* it has begun to write at the deadline of its grace */
    ck_assert(things_is_awake(ref));
    system_->durable.has_work = has_work;
    tr_kit_settle(kit);
    ck_assert(!things_is_awake(ref));
    ck_assert_int_eq(tr_try_await(test, ask, &acted), TR_STOPPED);
    ck_assert_int_eq(things_do("a", thing_sleeps, 0), 1);
    things_end();
}

SUITE("durable outage", an_alarm_that_falls_due_in_an_outage_fires_once_when_that_is_over,
      nothing_else_is_handled_while_a_turn_waits_for_its_store,
      a_store_that_takes_long_to_write_does_not_keep_a_timer_busy)
