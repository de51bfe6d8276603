/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Dead letters of full mailboxes: totals, records, and subscribers that are full themselves.
 */
#include "support/boxes.h"

enum { SEEDS = 10, BOUND = 10 };

static uint32_t reports;
static tr_next on_report(const struct tr_dead_letter *message)
{
    ck_assert_int_eq(message->reason, TR_MAILBOX_FULL);
    ck_assert_str_eq(message->type, "item");
    reports++;
    return TR_SAME;
}

#define LISTENER(name, ...)                                                                        \
    TR_BEHAVIOR(name,                                                                              \
                void,                                                                              \
                TR_ON(item, on_item),                                                              \
                TR_ON(tr_dead_letter, on_report),                                                  \
                TR_ON(run, on_run),                                                                \
                TR_OPTIONS(__VA_ARGS__))
LISTENER(listener, .is_pinned = true);
LISTENER(fail, .mailbox_max = BOUND);
LISTENER(newest, .mailbox_max = BOUND, .overflow = TR_DROP_NEWEST);
LISTENER(oldest, .mailbox_max = BOUND, .overflow = TR_DROP_OLDEST);
static const tr_behavior *const full[] = {
    &tr_behavior_fail, &tr_behavior_newest, &tr_behavior_oldest};

static uint64_t total(void)
{
    return tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL);
}

static void subscribe(tr_ref who)
{
    ck_assert_int_eq(tr_system_subscribe_dead_letters(tr_kit_system(kit), who), TR_OK);
}

TEST(every_message_without_room_is_counted_recorded_and_told, "M-02", "M-03", "MB-11")
{
    for (size_t i = 0; i < 3; i++) {
        for (enum from from = FROM_NEAR; from < FROM_COUNT; from++) {
            for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
                tr_ref box = box_open(seed, full[i]);
                subscribe(box_new(&tr_behavior_listener));
                tr_kit_settle(kit);
                reports = 0;
                uint64_t lost = 0;
                for (uint32_t round = 1; round <= 3; round++) {
                    burst(from, box, 0, 100, NULL);
                    tr_kit_settle(kit);
                    lost += 100 - BOUND;
                    ck_assert_uint_eq(total(), lost);
                    ck_assert_uint_eq(reports, lost);
                    ck_assert_uint_eq(dead_letters(TR_MAILBOX_FULL), lost);
                    ck_assert_uint_eq(boxed_count, round * BOUND);
                }
                tr_dead_letter_record record;
                size_t count;
                tr_system_dead_letters(tr_kit_system(kit), &record, 1, &count);
                ck_assert_str_eq(record.type, "item");
                ck_assert(tr_is_same(record.to, box));
                ck_assert_int_eq(record.time_ns, tr_kit_now(kit));
                if (from == FROM_CLIENT)
                    ck_assert(tr_is_same(record.from, tr_client_ref(test)));
                kit_close();
            }
        }
    }
}

/* What a subscriber is full for is lost, is no dead letter, and drives nothing else out. */
TEST(a_full_subscriber_loses_reports_and_nothing_else, "M-02", "M-03", "MB-11")
{
    for (size_t i = 0; i < 3; i++) {
        for (int teller = 0; teller < 3; teller++) {
            tr_ref box = box_open((uint64_t)teller + 1, full[i]);
            subscribe(box);
            box_hold(box);
            reports = 0;
            for (uint32_t n = 0; n < BOUND; n++)
                ck_assert_int_eq(tr_tell(test, box, item, .n = n), TR_OK);
            tr_kit_settle(kit);
            /* Somebody else's mailbox runs over, on each worker and outside. */
            int here = home;
            home = teller;
            tr_ref other = box_new(&tr_behavior_fail);
            tr_kit_settle(kit);
            burst(FROM_NEAR, other, 0, 50, NULL);
            burst(FROM_CLIENT, other, 0, 50, NULL);
            home = here;
            tr_kit_settle(kit);
            tr_kit_check(kit);
            ck_assert_uint_ge(total(), 50 - BOUND);
            boxed_count = 0;
            box_let_go(box);
            BOXED(0, BOUND);
            ck_assert_uint_eq(reports, 0);
            /* With room it is told again. */
            uint64_t before = total();
            burst(FROM_CLIENT, other, 0, BOUND + 3, NULL);
            tr_kit_settle(kit);
            ck_assert_uint_eq(total(), before + 3);
            ck_assert_uint_eq(reports, 3);
            kit_close();
        }
    }
}

TEST(a_subscriber_that_runs_over_itself_keeps_what_it_should, "M-02", "M-03", "MB-11")
{
    for (size_t i = 0; i < 3; i++) {
        for (enum from from = FROM_NEAR; from < FROM_COUNT; from++) {
            for (uint64_t seed = 1; seed <= TEST_SEEDS(SEEDS); seed++) {
                bool is_oldest = full[i] == &tr_behavior_oldest;
                tr_ref box = box_open(seed, full[i]);
                subscribe(box);
                reports = 0;
                burst(from, box, 0, 100, NULL);
                if (is_oldest)
                    BOXED(100 - BOUND, BOUND);
                else
                    BOXED(0, BOUND);
                ck_assert_uint_eq(total(), 100 - BOUND);
                ck_assert_uint_eq(reports, 0);
                kit_close();
            }
        }
    }
}

static tr_next shrink(tr_self *self)
{
    return tr_become(self, oldest);
}

/* As many dead letters at once as there may be, each of which the dropping actor is to be told. */
TEST(a_subscriber_that_drops_thousands_at_once_survives, "M-02", "MB-11")
{
    enum { WAITING = 50000 };
    tr_ref box = box_open(1, &tr_behavior_listener);
    subscribe(box);
    reports = 0;
    ck_assert_int_eq(TELL_RUN(test, box, shrink), TR_OK);
    for (uint32_t n = 0; n < WAITING; n++)
        ck_assert_int_eq(tr_tell(test, box, item, .n = n), TR_OK);
    BOXED(WAITING - BOUND, BOUND);
    ck_assert_uint_eq(total(), WAITING - BOUND);
    kit_close();
}

SUITE("letters of full mailboxes", every_message_without_room_is_counted_recorded_and_told,
      a_full_subscriber_loses_reports_and_nothing_else,
      a_subscriber_that_runs_over_itself_keeps_what_it_should,
      a_subscriber_that_drops_thousands_at_once_survives)
