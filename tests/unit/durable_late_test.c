/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Alarms of actors that are busy, or cannot start, by the thousand: nobody else's alarm waits for them, and they
 * fire when they can.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>
#include <unistd.h>

#include "actor/cell/system.h"
#include "durable/hints.h"
#include "durable/host.h"
#include "support/test.h"

/* More than the clock wakes at once of a kind. */
enum { MANY = 1300 };

TR_MESSAGE(done);
TR_REQUEST(arm, done, (i64, after_ns));
TR_REQUEST(be_busy, done, (i64, after_ns), (i64, busy_ns));
TR_MESSAGE(ring);
TR_ACTOR(worker, arm, be_busy, ring);
TR_ACTOR(bell, arm, ring);
TR_MESSAGE(rung, (u64, times));

static int worker_rings;
static int bell_rings;

static tr_next on_arm(tr_self *self, struct rung *rung, const struct arm *message)
{
    (void)rung;
    tr_alarm_after(self, "ring", message->after_ns, ring);
    return tr_reply(self, done);
}

static tr_next on_be_busy(tr_self *self, struct rung *rung, const struct be_busy *message)
{
    (void)rung;
    tr_alarm_after(self, "ring", message->after_ns, ring);
    (void)!tr_sleep(self, message->busy_ns);
    return tr_reply(self, done);
}

static tr_next on_worker_ring(struct rung *rung)
{
    rung->times++;
    worker_rings++;
    return TR_SAME;
}

static tr_next on_bell_ring(struct rung *rung)
{
    rung->times++;
    bell_rings++;
    return TR_SAME;
}

TR_BEHAVIOR(worker, struct rung, TR_ON(arm, on_arm), TR_ON(be_busy, on_be_busy),
            TR_ON(ring, on_worker_ring));
TR_BEHAVIOR(bell, struct rung, TR_ON(arm, on_arm), TR_ON(ring, on_bell_ring));
TR_DURABLE(worker, rung, .version = 2);
TR_DURABLE(bell, rung);

static tr_kit *kit;
static tr_client *test;
static int warnings;

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context, (void)level, (void)path;
    warnings += strstr(text, "is late: its actor is busy or cannot start") != NULL;
}

static void begin(const char *store, uint32_t worker_version)
{
    static tr_durable_kind workers;
    static const tr_durable_kind *kinds[3];
    workers = tr_durable_worker;
    workers.options.version = worker_version;
    kinds[0] = worker_version == tr_durable_worker.options.version ? &tr_durable_worker : &workers;
    kinds[1] = &tr_durable_bell;
    const tr_durables durables = {sizeof durables, tr_durable_start, kinds};
    kit = tr_kit_new(
        &(tr_kit_options){.size = sizeof(tr_kit_options), .store = store, .durable = &durables});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    tr_kit_system(kit)->log.write = on_log;
    warnings = 0;
}

static const char *key_of(int number)
{
    static char key[16];
    snprintf(key, sizeof key, "%d", number);
    return key;
}

static void arm_bell(int64_t after_ns)
{
    bell_ref bell;
    const struct done *done;
    ck_assert_int_eq(tr_try_durable(test, &bell, bell, "anna"), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, bell, arm, .after_ns = after_ns), &done),
                     TR_OK);
}

TEST(busy_actors_by_the_thousand_do_not_hold_up_an_alarm, "K-04", "AL-13")
{
    begin(NULL, 2);
    for (int i = 0; i < MANY; i++) {
        worker_ref worker;
        ck_assert_int_eq(tr_try_durable(test, &worker, worker, key_of(i)), TR_OK);
        (void)tr_ask_within(
            test, TR_HOUR, worker, be_busy, .after_ns = 5 * TR_SECOND, .busy_ns = 30 * TR_MINUTE);
    }
    arm_bell(20 * TR_SECOND);
    tr_kit_advance(kit, 19 * TR_SECOND);
    ck_assert_int_eq(bell_rings, 0);
    tr_kit_advance(kit, 2 * TR_SECOND);
    ck_assert_int_eq(bell_rings, 1);
    /* Of their own kind neither. */
    worker_ref idle;
    const struct done *done;
    ck_assert_int_eq(tr_try_durable(test, &idle, worker, "idle"), TR_OK);
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, idle, arm, .after_ns = TR_MINUTE), &done),
                     TR_OK);
    tr_kit_advance(kit, 62 * TR_SECOND); /* it has fallen asleep meanwhile */
    ck_assert_int_eq(worker_rings, 1);
    /* A hint to each is in its mailbox, and no more are, however long it takes. */
    tr_kit_advance(kit, 30 * TR_MINUTE);
    ck_assert_int_eq(warnings, 1);
    ck_assert_int_eq(worker_rings, 1 + MANY);
    tr_kit_free(kit);
}

TEST(actors_that_cannot_start_by_the_thousand_do_not_hold_up_an_alarm, "K-04", "AL-13")
{
    char directory[] = "/tmp/troupe-late-XXXXXX";
    char command[64];
    const struct done *done;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    begin(directory, 2);
    for (int i = 0; i < MANY; i++) {
        worker_ref worker;
        ck_assert_int_eq(tr_try_durable(test, &worker, worker, key_of(i)), TR_OK);
        ck_assert_int_eq(tr_try_await(test, tr_ask(test, worker, arm, .after_ns = TR_HOUR), &done),
                         TR_OK);
    }
    arm_bell(TR_HOUR + 2 * TR_SECOND);
    tr_kit_free(kit);
    /* Code that goes back one version: TR_STALE. */
    begin(directory, 1);
    tr_kit_advance(kit, TR_HOUR - TR_SECOND);
    ck_assert_int_eq(bell_rings, 0);
    tr_kit_advance(kit, 5 * TR_SECOND);
    ck_assert_int_eq(bell_rings, 1);
    ck_assert_int_eq(worker_rings, 0);
    tr_kit_advance(kit, 10 * TR_MINUTE);
    ck_assert_int_eq(warnings, 1);
    tr_kit_free(kit);
    /* With code that knows them they fire. */
    begin(directory, 2);
    tr_kit_advance(kit, 2 * TR_HOUR);
    ck_assert_int_eq(worker_rings, MANY);
    ck_assert_int_eq(bell_rings, 1);
    tr_kit_free(kit);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

/* ---- The table behind it. ---- */

TEST(what_is_known_of_a_kind_is_bounded, "K-04", "AL-13")
{
    enum { MORE = 10 };
    struct hints hints;
    bool is_late;
    begin(NULL, 2);
    struct worker *worker = tr_kit_system(kit)->workers[0];
    ck_assert_int_eq(tr__hints_init(&hints, worker, 2), TR_OK);
    for (uint64_t ticket = 1; ticket <= HINTS_WAITING + MORE; ticket++)
        ck_assert_int_eq(tr__hints_add(&hints, worker, ticket, 0, 0, true, 0, &is_late), TR_OK);
    ck_assert_uint_eq(hints.kinds[0].waiting_count, HINTS_WAITING);
    /* The oldest are forgotten, and told again after a long time; a first time is told at once. */
    ck_assert_int_eq(tr__hints_decide(&hints, MORE, 0, true, TR_MINUTE), HINT_SKIP);
    ck_assert_int_eq(tr__hints_decide(&hints, MORE, 0, true, HINTS_BACK_OFF_MAX_NS), HINT_TELL);
    ck_assert_int_eq(tr__hints_decide(&hints, MORE, 0, false, TR_MINUTE), HINT_TELL);
    ck_assert_int_eq(tr__hints_decide(&hints, MORE + 1, 0, true, 0), HINT_SKIP);
    ck_assert_int_eq(tr__hints_decide(&hints, MORE + 1, 0, true, HINTS_BACK_OFF_NS), HINT_TELL);
    /* Another kind is not concerned. */
    ck_assert_int_eq(tr__hints_decide(&hints, UINT64_MAX, 1, true, TR_MINUTE), HINT_TELL);
    ck_assert_int_eq(tr__hints_answer(&hints, worker, MORE), -1);
    ck_assert_int_eq(tr__hints_answer(&hints, worker, MORE + 1), 0);
    /* An alarm that could have been told again, and was not, is not due any more. */
    tr__hints_forget(&hints, worker, HINTS_BACK_OFF_NS + 1);
    ck_assert_uint_eq(hints.kinds[0].waiting_count, 0);
    tr__hints_deinit(&hints, worker);
    tr_kit_free(kit);
}

TEST(a_place_is_free_again_when_its_actor_is_gone_or_slow, "K-04", "AL-13")
{
    struct hints hints;
    bool is_late;
    begin(NULL, 2);
    struct worker *worker = tr_kit_system(kit)->workers[0];
    uint64_t alive = tr_kit_system(kit)->durable.host->clock;
    ck_assert_int_eq(tr__hints_init(&hints, worker, 1), TR_OK);
    for (uint64_t i = 1; i <= HINTS_WAKING; i++)
        ck_assert_int_eq(tr__hints_add(&hints, worker, i, 0, i % 2 ? alive : 0, false, 0, &is_late),
                         TR_OK);
    ck_assert(hints_is_full(&hints, 0));
    tr__hints_pass(&hints, worker, TR_MILLISECOND);
    ck_assert_uint_eq(hints.kinds[0].waking_count, HINTS_WAKING / 2);
    tr__hints_pass(&hints, worker, HINTS_PATIENCE_NS);
    ck_assert_uint_eq(hints.kinds[0].waking_count, 0);
    ck_assert_uint_eq(hints.kinds[0].waiting_count, HINTS_WAKING);
    tr__hints_deinit(&hints, worker);
    tr_kit_free(kit);
}

SUITE("durable alarms of actors that are late", busy_actors_by_the_thousand_do_not_hold_up_an_alarm,
      actors_that_cannot_start_by_the_thousand_do_not_hold_up_an_alarm,
      what_is_known_of_a_kind_is_bounded, a_place_is_free_again_when_its_actor_is_gone_or_slow)
