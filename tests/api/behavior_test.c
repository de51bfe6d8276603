/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Behaviors: states, set-ups, and becoming another.
 */
#include "support/story.h"
#include "support/test.h"

#include <inttypes.h>
#include <malloc.h>
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

static uint64_t live(void)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.live;
}

/* ---- A machine of several behaviors; one message says which comes next. ---- */

TR_MESSAGE(add, (i32, n));
TR_MESSAGE(turn_into, (str, what), (i32, n));
TR_MESSAGE(open_with, (i32, n), (str, text));
TR_MESSAGE(ask_sum);
TR_MESSAGE(sum, (i64, n));

struct small {
    int64_t sum;
};
struct large {
    int64_t sum;
    int64_t zeros[64];
};

TR_ACTOR(plain, add, turn_into, ask_sum);
TR_BEHAVIOR_DECLARE(other);
TR_BEHAVIOR_DECLARE(again);
TR_BEHAVIOR_DECLARE(wide);
TR_BEHAVIOR_DECLARE(with);
TR_BEHAVIOR_DECLARE(wide_with);
TR_BEHAVIOR_DECLARE(refuses);
TR_BEHAVIOR_DECLARE(crashes);
TR_BEHAVIOR_DECLARE(leaves);
TR_BEHAVIOR_DECLARE(chain);

static tr_next turn(tr_self *self, const struct turn_into *m)
{
    if (!strcmp(m->what, "plain"))
        return tr_become(self, plain);
    if (!strcmp(m->what, "other"))
        return tr_become(self, other);
    if (!strcmp(m->what, "again"))
        return tr_become(self, again);
    if (!strcmp(m->what, "wide"))
        return tr_become(self, wide);
    if (!strcmp(m->what, "with"))
        return tr_become(self, with);
    if (!strcmp(m->what, "wide_with"))
        return tr_become(self, wide_with);
    if (!strcmp(m->what, "with message")) {
        char text[16] = "hello";
        tr_next next = tr_become(self, with, open_with, .n = m->n, .text = text);
        memset(text, 'x', sizeof text - 1);
        return next;
    }
    if (!strcmp(m->what, "with wrong message"))
        return tr_become(self, with, add, .n = 1);
    if (!strcmp(m->what, "again with message"))
        return tr_become(self, again, add, .n = 1);
    if (!strcmp(m->what, "refuses"))
        return tr_become(self, refuses);
    if (!strcmp(m->what, "crashes"))
        return tr_become(self, crashes);
    if (!strcmp(m->what, "leaves"))
        return tr_become(self, leaves);
    if (!strcmp(m->what, "chain"))
        return tr_become(self, chain, add, .n = m->n);
    if (!strcmp(m->what, "ignored")) {
        tr_next ignored = tr_become(self, other);
        (void)ignored;
        return TR_SAME;
    }
    ck_abort_msg("no such behavior: %s", m->what);
}

static tr_next on_add(struct small *s, const struct add *m)
{
    s->sum += m->n;
    return TR_SAME;
}
static tr_next on_sum(tr_self *self, struct small *s)
{
    return tr_reply(self, sum, .n = s->sum);
}
static tr_next on_stop(tr_self *self)
{
    story_add("stop %s", tr_name(self));
    return TR_SAME;
}
TR_BEHAVIOR(plain, struct small, TR_ON(add, on_add), TR_ON(ask_sum, on_sum), TR_ON(turn_into, turn),
            TR_ON(tr_post_stop, on_stop), TR_OPTIONS(.restart = TR_TEMPORARY));

/* Subtracts, so that one sees who handles. */
static tr_next on_add_other(struct small *s, const struct add *m)
{
    s->sum -= m->n;
    return TR_SAME;
}
static tr_next on_stop_other(tr_self *self)
{
    story_add("other stops %s", tr_name(self));
    return TR_SAME;
}
TR_BEHAVIOR(other, struct small, TR_ON(add, on_add_other), TR_ON(ask_sum, on_sum),
            TR_ON(turn_into, turn), TR_ON(tr_post_stop, on_stop_other),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next set_up_again(struct small *s)
{
    story_add("again %" PRIi64, s->sum);
    s->sum += 1000;
    return TR_SAME;
}
TR_BEHAVIOR(again, struct small, TR_SETUP(set_up_again), TR_ON(add, on_add), TR_ON(ask_sum, on_sum),
            TR_ON(turn_into, turn), TR_OPTIONS(.restart = TR_TEMPORARY));

static bool is_zero(const struct large *l)
{
    for (size_t i = 0; i < sizeof l->zeros / sizeof l->zeros[0]; i++) {
        if (l->zeros[i])
            return false;
    }
    return l->sum == 0;
}
static tr_next set_up_wide(struct large *l)
{
    story_add("wide %s", is_zero(l) ? "zeros" : "dirty");
    memset(l->zeros, 0x55, sizeof l->zeros);
    return TR_SAME;
}
static tr_next on_add_wide(struct large *l, const struct add *m)
{
    l->sum += m->n;
    return TR_SAME;
}
static tr_next on_sum_wide(tr_self *self, struct large *l)
{
    return tr_reply(self, sum, .n = l->sum);
}
TR_BEHAVIOR(wide, struct large, TR_SETUP(set_up_wide), TR_ON(add, on_add_wide),
            TR_ON(ask_sum, on_sum_wide), TR_ON(turn_into, turn),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next set_up_with(struct small *s, const struct open_with *m)
{
    story_add("with %d %s at %" PRIi64, (int)m->n, m->text ? m->text : "nothing", s->sum);
    s->sum = m->n;
    return TR_SAME;
}
TR_BEHAVIOR(with, struct small, TR_SETUP_WITH(open_with, set_up_with), TR_ON(add, on_add),
            TR_ON(ask_sum, on_sum), TR_ON(turn_into, turn), TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next set_up_wide_with(struct large *l, const struct open_with *m)
{
    story_add("wide_with");
    l->sum = m->n;
    return TR_SAME;
}
TR_BEHAVIOR(wide_with, struct large, TR_SETUP_WITH(open_with, set_up_wide_with),
            TR_ON(ask_sum, on_sum_wide), TR_ON(turn_into, turn),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next set_up_refuses(tr_self *self)
{
    tr_at_end(self, (void *)(uintptr_t) "cleaned", story_release);
    tr_defer(self, (void *)(uintptr_t) "deferred", story_release);
    return tr_fail(self, TR_REFUSED, "not %s", "me");
}
TR_BEHAVIOR(refuses, void, TR_SETUP(set_up_refuses), TR_ON(tr_post_stop, on_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next set_up_crashes(tr_self *self)
{
    tr_crash(self, TR_BAD_DATA, "crashed");
}
TR_BEHAVIOR(crashes, void, TR_SETUP(set_up_crashes), TR_ON(tr_post_stop, on_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next set_up_leaves(void)
{
    story_add("leaves");
    return TR_STOP;
}
TR_BEHAVIOR(leaves, void, TR_SETUP(set_up_leaves), TR_ON(tr_post_stop, on_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

/* n behaviors, one led to by the other. */
static tr_next set_up_chain(tr_self *self, struct small *s, const struct add *m)
{
    s->sum++;
    if (m->n > 1)
        return tr_become(self, chain, add, .n = m->n - 1);
    return TR_SAME;
}
TR_BEHAVIOR(chain, struct small, TR_SETUP_WITH(add, set_up_chain), TR_ON(ask_sum, on_sum),
            TR_ON(turn_into, turn), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(chain, ask_sum, turn_into);
TR_ACTOR(with, ask_sum, add, turn_into);
TR_ACTOR(wide, ask_sum, add, turn_into);

static plain_ref spawn_plain(const char *name)
{
    plain_ref ref = {0};
    ck_assert_int_eq(tr_try_spawn(test, &ref, plain, name), TR_OK);
    return ref;
}

static int64_t sum_of(tr_ref ref)
{
    ck_assert_int_eq(tr_tell(test, ref, ask_sum), TR_OK);
    const struct sum *answer = tr_receive(test, sum, TR_SECOND);
    return answer ? answer->n : -999999;
}

static void into(plain_ref ref, const char *what)
{
    ck_assert_int_eq(tr_tell(test, ref, turn_into, .what = what, .n = 7), TR_OK);
    tr_kit_settle(kit);
}

TEST(each_actor_begins_with_a_state_of_zeros, "B-01")
{
    begin();
    plain_ref a = spawn_plain("a");
    plain_ref b = spawn_plain("b");
    tr_tell(test, a, add, .n = 5);
    ck_assert_int_eq(sum_of(tr_any(a)), 5);
    ck_assert_int_eq(sum_of(tr_any(b)), 0);
    /* The next tenant of a cell and of its memory finds zeros too. */
    for (int i = 0; i < 20; i++) {
        wide_ref w;
        ck_assert_int_eq(tr_try_spawn(test, &w, wide, NULL), TR_OK);
        tr_kit_settle(kit);
        ck_assert_str_eq(story_take(), "wide zeros");
        tr_tell(test, w, add, .n = 5);
        tr_stop(test, w);
        tr_kit_settle(kit);
    }
    end();
}

TEST(become_with_the_same_state_keeps_it, "B-01", "LC-16")
{
    begin();
    plain_ref a = spawn_plain("a");
    tr_tell(test, a, add, .n = 5);
    into(a, "other");
    tr_tell(test, a, add, .n = 2);
    ck_assert_int_eq(sum_of(tr_any(a)), 3);
    into(a, "plain");
    tr_tell(test, a, add, .n = 10);
    ck_assert_int_eq(sum_of(tr_any(a)), 13);
    into(a, "ignored");
    tr_tell(test, a, add, .n = 1);
    ck_assert_int_eq(sum_of(tr_any(a)), 14);
    end();
}

TEST(a_signal_goes_to_the_current_behavior, "B-01", "LC-16")
{
    begin();
    plain_ref a = spawn_plain("a");
    spawn_plain("b");
    into(a, "other");
    tr_stop(test, a);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "other stops a");
    tr_stop(test, tr_find(test, plain, "/user/b"));
    end();
    ck_assert_str_eq(story_take(), "stop b");
}

TEST(messages_behind_a_become_see_the_new_behavior, "B-01", "LC-16")
{
    begin();
    plain_ref a = spawn_plain("a");
    tr_tell(test, a, add, .n = 1);
    tr_tell(test, a, turn_into, .what = "other");
    tr_tell(test, a, add, .n = 10);
    tr_tell(test, a, turn_into, .what = "plain");
    tr_tell(test, a, add, .n = 100);
    ck_assert_int_eq(sum_of(tr_any(a)), 91);
    end();
}

TEST(a_set_up_runs_at_each_adoption, "B-01")
{
    begin();
    plain_ref a = spawn_plain("a");
    tr_tell(test, a, add, .n = 5);
    into(a, "again");
    into(a, "again");
    ck_assert_str_eq(story_take(), "again 5; again 1005");
    ck_assert_int_eq(sum_of(tr_any(a)), 2005);
    into(a, "plain");
    ck_assert_int_eq(sum_of(tr_any(a)), 2005);
    end();
}

TEST(another_state_type_begins_with_zeros_both_ways, "B-01")
{
    begin();
    plain_ref a = spawn_plain("a");
    tr_tell(test, a, add, .n = 5);
    into(a, "wide");
    ck_assert_str_eq(story_take(), "wide zeros");
    ck_assert_int_eq(sum_of(tr_any(a)), 0);
    tr_tell(test, a, add, .n = 9);
    ck_assert_int_eq(sum_of(tr_any(a)), 9);
    into(a, "plain");
    ck_assert_int_eq(sum_of(tr_any(a)), 0);
    into(a, "wide");
    ck_assert_str_eq(story_take(), "wide zeros");
    ck_assert_int_eq(sum_of(tr_any(a)), 0);
    end();
}

TEST(a_set_up_with_a_message_runs_when_it_is_given, "B-01")
{
    begin();
    plain_ref a = spawn_plain("a");
    tr_tell(test, a, add, .n = 5);
    /* The same state type: without a message it is kept, and nothing runs. */
    into(a, "with");
    ck_assert_str_eq(story_take(), "");
    ck_assert_int_eq(sum_of(tr_any(a)), 5);
    into(a, "with message");
    ck_assert_str_eq(story_take(), "with 7 hello at 5");
    ck_assert_int_eq(sum_of(tr_any(a)), 7);
    into(a, "plain");
    into(a, "with");
    ck_assert_str_eq(story_take(), "");
    ck_assert_int_eq(sum_of(tr_any(a)), 7);
    /* Another state type: the message is required. */
    into(a, "wide_with");
    ck_assert_uint_eq(live(), 0);
    ck_assert_int_eq(tr_tell(test, a, add, .n = 1), TR_STOPPED);
    end();
}

TEST(a_set_up_message_that_does_not_fit_is_a_failure, "B-01")
{
    static const char *const wrong[] = {"with wrong message", "again with message"};
    begin();
    for (size_t i = 0; i < 2; i++) {
        plain_ref a = spawn_plain("a");
        into(a, wrong[i]);
        ck_assert_uint_eq(live(), 0);
        ck_assert_str_eq(story_take(), "stop a");
    }
    end();
}

TEST(a_set_up_that_fails_in_a_become_is_a_failure, "B-01", "B-09")
{
    begin();
    plain_ref a = spawn_plain("a");
    plain_ref b = spawn_plain("b");
    into(a, "refuses");
    ck_assert_str_eq(story_take(), "deferred; stop a; cleaned");
    into(b, "crashes");
    ck_assert_str_eq(story_take(), "stop b");
    ck_assert_uint_eq(live(), 0);
    /* The name is free again. */
    a = spawn_plain("a");
    into(a, "leaves");
    ck_assert_str_eq(story_take(), "leaves; stop a");
    ck_assert_uint_eq(live(), 0);
    end();
}

TEST(ten_behaviors_may_lead_to_one_another, "B-01", "U-01")
{
    begin();
    chain_ref c = {0};
    tr_error error = {0};
    ck_assert_int_eq(tr_try_spawn(test, &c, chain, NULL, add, .n = 10), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, c, TR_SECOND, NULL), TR_OK);
    ck_assert_int_eq(sum_of(tr_any(c)), 10);
    ck_assert_int_eq(tr_tell(test, c, turn_into, .what = "chain", .n = 10), TR_OK);
    ck_assert_int_eq(sum_of(tr_any(c)), 20);
    ck_assert_int_eq(tr_tell(test, c, turn_into, .what = "chain", .n = 11), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(live(), 0);
    ck_assert_int_eq(tr_try_spawn(test, &c, chain, NULL, add, .n = 11), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, c, TR_SECOND, &error), TR_INIT_FAILED);
    ck_assert_int_eq(error.status, TR_TOO_DEEP);
    ck_assert_uint_eq(live(), 0);
    ck_assert_int_eq(tr_try_spawn(test, &c, chain, NULL, add, .n = 1000000), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, c, TR_SECOND, &error), TR_INIT_FAILED);
    end();
}

/* ---- Set-ups that lead on, signals that lead on. ---- */

TR_BEHAVIOR_DECLARE(second);
static tr_next first_set_up(tr_self *self, struct large *l)
{
    l->sum = 1;
    story_add("first set up");
    return tr_become(self, second);
}
static tr_next first_never(void)
{
    ck_abort_msg("this behavior was left before it started");
}
TR_BEHAVIOR(first, struct large, TR_SETUP(first_set_up), TR_ON(tr_pre_start, first_never),
            TR_ON(add, first_never), TR_OPTIONS(.restart = TR_TEMPORARY));
static tr_next second_start(tr_self *self, struct small *s)
{
    story_add("second starts at %" PRIi64, s->sum);
    s->sum = 40;
    return tr_become(self, plain);
}
TR_BEHAVIOR(second, struct small, TR_ON(tr_pre_start, second_start),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(first, add, ask_sum);

TEST(a_set_up_and_a_signal_may_lead_on, "B-01", "G-06", "G-01")
{
    begin();
    first_ref f = {0};
    ck_assert_int_eq(tr_try_spawn(test, &f, first, "f"), TR_OK);
    tr_tell(test, f, add, .n = 2);
    ck_assert_int_eq(sum_of(tr_any(f)), 42);
    ck_assert_str_eq(story_take(), "first set up; second starts at 0");
    end();
    ck_assert_str_eq(story_take(), "stop f");
}

/* ---- Buffers of a set-up message. ---- */

TR_MESSAGE(load, (buffer, data), (list(str), names));
static tr_next set_up_loaded(const struct load *m)
{
    ck_assert_uint_eq(tr_buffer_size(m->data), 1 << 20);
    ck_assert_uint_eq(m->names.count, 2);
    ck_assert_str_eq(m->names.items[1], "b");
    return TR_SAME;
}
TR_BEHAVIOR_DECLARE(loaded);
static tr_next on_reload(tr_self *self, const struct add *m)
{
    const char *names[] = {"a", "b"};
    tr_buffer *data = tr_buffer_of_turn(self, 1 << 20);
    tr_next next = tr_become(self, loaded, load, .data = data, .names = {names, 2});
    if (m->n == 1) /* Asked for twice, the last one counts. */
        next = tr_become(self, loaded, load, .data = data, .names = {names, 2});
    if (m->n == 2)
        return TR_SAME;
    if (m->n == 3)
        tr_crash(self, TR_FAILED, "on purpose");
    return next;
}
TR_BEHAVIOR(loaded, void, TR_SETUP_WITH(load, set_up_loaded), TR_ON(add, on_reload),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(loaded, add);

/* What the C library has given out; always 0 under AddressSanitizer, which looks for leaks itself. */
static size_t heap_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

TEST(buffers_of_a_set_up_message_are_released, "B-01", "B-06")
{
    begin();
    const char *names[] = {"a", "b"};
    size_t before = heap_in_use();
    for (int i = 0; i < 32; i++) {
        loaded_ref l = {0};
        tr_buffer *data = tr_buffer_new(1 << 20);
        ck_assert_int_eq(
            tr_try_spawn(test, &l, loaded, NULL, load, .data = data, .names = {names, 2}), TR_OK);
        tr_buffer_release(data);
        ck_assert_int_eq(tr_spawn_wait(test, l, TR_SECOND, NULL), TR_OK);
        for (int n = 0; n <= 3; n++) {
            tr_tell(test, l, add, .n = n);
            tr_kit_settle(kit);
        }
    }
    ck_assert_uint_le(heap_in_use(), before + (4 << 20));
    end();
}

SUITE("behavior", each_actor_begins_with_a_state_of_zeros, become_with_the_same_state_keeps_it,
      a_signal_goes_to_the_current_behavior, messages_behind_a_become_see_the_new_behavior,
      a_set_up_runs_at_each_adoption, another_state_type_begins_with_zeros_both_ways,
      a_set_up_with_a_message_runs_when_it_is_given,
      a_set_up_message_that_does_not_fit_is_a_failure, a_set_up_that_fails_in_a_become_is_a_failure,
      ten_behaviors_may_lead_to_one_another, a_set_up_and_a_signal_may_lead_on,
      buffers_of_a_set_up_message_are_released)
