/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages that nobody handles: dead letters with both names, and the actor as it was.
 */
#include "support/story.h"
#include "support/test.h"

#include <troupe/kit.h>
#include <troupe/troupe.h>

static tr_kit *kit;
static tr_client *test;

static void begin(void)
{
    kit = tr_kit_new(NULL);
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
}

static void end(void)
{
    tr_kit_settle(kit);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

static tr_dead_letter_record last_letter(void)
{
    tr_dead_letter_record record;
    size_t count = 0;
    (void)tr_system_dead_letters(tr_kit_system(kit), &record, 1, &count);
    ck_assert_uint_eq(count, 1);
    return record;
}

static uint64_t letters(void)
{
    return tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL);
}

TR_MESSAGE(add, (i32, n));
TR_MESSAGE(ask_sum);
TR_MESSAGE(sum, (i64, n));
TR_MESSAGE(unknown, (str, text));

static tr_next on_maybe(const struct add *m)
{
    story_add("maybe %d", (int)m->n);
    return m->n < 0 ? TR_DECLINE : TR_SAME;
}
TR_BEHAVIOR(picky, void, TR_ON(add, on_maybe));
TR_ACTOR(picky, add);

TEST(what_a_behavior_does_not_know_is_a_dead_letter, "B-02", "B-07", "LC-17")
{
    begin();
    picky_ref p = {0};
    ck_assert_int_eq(tr_try_spawn(test, &p, picky, "p"), TR_OK);
    ck_assert_int_eq(tr_system_subscribe_dead_letters(tr_kit_system(kit), tr_client_ref(test)),
                     TR_OK);
    ck_assert_int_eq(tr_tell(test, tr_any(p), unknown, .text = "?"), TR_OK);
    tr_tell(test, p, add, .n = 1);
    const struct tr_dead_letter *letter = tr_receive(test, tr_dead_letter, TR_SECOND);
    ck_assert_ptr_nonnull(letter);
    ck_assert_str_eq(letter->type, "unknown");
    ck_assert_str_eq(letter->behavior, "picky");
    ck_assert_int_eq(letter->reason, TR_UNHANDLED);
    ck_assert(tr_is_same(letter->to, p));
    ck_assert(tr_is_same(letter->from, tr_client_ref(test)));
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "maybe 1");
    tr_dead_letter_record record = last_letter();
    ck_assert_str_eq(record.type, "unknown");
    ck_assert_str_eq(record.behavior, "picky");
    ck_assert_int_eq(record.reason, TR_UNHANDLED);
    ck_assert(tr_is_same(record.to, p));
    ck_assert_uint_eq(letters(), 1);
    ck_assert(tr_is_same(tr_find(test, picky, "/user/p"), p));
    end();
}

TEST(a_handler_may_say_that_it_did_not_handle, "B-02", "LC-17")
{
    begin();
    picky_ref p = {0};
    ck_assert_int_eq(tr_try_spawn(test, &p, picky, "p"), TR_OK);
    for (int n = -3; n <= 3; n++)
        tr_tell(test, p, add, .n = n);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(),
                     "maybe -3; maybe -2; maybe -1; maybe 0; maybe 1; maybe 2; maybe 3");
    ck_assert_uint_eq(letters(), 3);
    ck_assert_str_eq(last_letter().type, "add");
    ck_assert_str_eq(last_letter().behavior, "picky");
    ck_assert_int_eq(last_letter().reason, TR_UNHANDLED);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.handled, 4);
    ck_assert_uint_eq(counters.refused, 0);
    ck_assert_uint_eq(counters.queued, 0);
    end();
}

struct total {
    int64_t sum;
};
static tr_next on_add(struct total *s, const struct add *m)
{
    s->sum += m->n;
    return TR_SAME;
}
static tr_next on_sum(tr_self *self, struct total *s)
{
    return tr_reply(self, sum, .n = s->sum);
}
static tr_next on_any(tr_self *self, struct total *s, const tr_message *m)
{
    char text[128];
    s->sum++;
    tr_type_print(m->type, m->data, text, sizeof text);
    story_add("%s", text);
    ck_assert(!tr_is_nobody(tr_sender(self)));
    return s->sum % 2 ? TR_SAME : TR_DECLINE;
}
TR_BEHAVIOR(any, struct total, TR_ON(add, on_add), TR_ON_ANY(on_any), TR_ON(ask_sum, on_sum));
TR_ACTOR(any, add, ask_sum);

TEST(any_takes_what_no_other_clause_does, "B-01", "B-02", "G-01")
{
    begin();
    any_ref a = {0};
    ck_assert_int_eq(tr_try_spawn(test, &a, any, "a"), TR_OK);
    /* Neither the signals nor what asks whether it is up are messages to any. */
    ck_assert_int_eq(tr_spawn_wait(test, a, TR_SECOND, NULL), TR_OK);
    ck_assert_str_eq(story_take(), "");
    tr_tell(test, tr_any(a), unknown, .text = "one");
    tr_tell(test, tr_any(a), unknown, .text = "two");
    tr_tell(test, a, add, .n = 10);
    tr_tell(test, a, ask_sum);
    const struct sum *total = tr_receive(test, sum, TR_SECOND);
    ck_assert_ptr_nonnull(total);
    ck_assert_int_eq(total->n, 12);
    ck_assert_str_eq(story_take(), "unknown{text=\"one\"}; unknown{text=\"two\"}");
    ck_assert_uint_eq(letters(), 1);
    ck_assert_str_eq(last_letter().behavior, "any");
    end();
    ck_assert_str_eq(story_take(), "");
}

SUITE("unhandled", what_a_behavior_does_not_know_is_a_dead_letter,
      a_handler_may_say_that_it_did_not_handle, any_takes_what_no_other_clause_does)
