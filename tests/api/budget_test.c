/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Budgets of one actor: bytes, on kits, and CPU time, on a clock that the test moves.
 * budget_tree_test.c is about trees, unit/actor_budget_test.c compares random use with the books,
 * and stress/budget_threads_test.c plays with threads.
 */
#include "support/kits.h"

#define KIB ((size_t)1024)

TR_MESSAGE(page, (array(u8, 4000), bytes));
TR_MESSAGE(wake, (u32, n));
TR_ACTOR(saver, run, page, wake);
TR_ACTOR(free_one, run, page, wake);
TR_ACTOR(worn, run, page, wake);
TR_ACTOR(clan, run, page, wake);
TR_BEHAVIOR_DECLARE(wide);

struct wide {
    unsigned char bytes[2000];
};

static saver_ref saver;
static tr_usage used; /* what the last turn of `measure` saw */
static size_t amount;
static bool takes_in; /* pages are handled, else stashed */

static tr_next on_stop(tr_self *self)
{
    say("end %s", tr_name(self));
    return TR_SAME;
}

static tr_next on_page(tr_self *self)
{
    return takes_in ? TR_SAME : tr_stash(self);
}

static tr_next on_wake(const struct wake *message)
{
    say("wake %u", (unsigned)message->n);
    return TR_SAME;
}

static tr_next measure(tr_self *self)
{
    used = tr_budget_used(self);
    return TR_SAME;
}

#define ROWS                                                                                       \
    TR_ON(run, on_run), TR_ON(page, on_page), TR_ON(wake, on_wake), TR_ON(tr_post_stop, on_stop)
TR_BEHAVIOR(saver, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .budget_bytes = 64 * KIB));
TR_BEHAVIOR(free_one, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR(wide, struct wide, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY));
TR_BEHAVIOR(worn, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .budget_cpu_ns = 10 * MS));
TR_BEHAVIOR(clan, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .tree_budget_cpu_ns = 10 * MS));

static tr_usage usage_of(tr_ref who)
{
    used = (tr_usage){.bytes = SIZE_MAX};
    ck_assert_int_eq(
        tr_client_tell(test, who, &tr_type_run, &(struct run){(uint64_t)(uintptr_t)measure}),
        TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_ne(used.bytes, SIZE_MAX);
    return used;
}

static void begin(void)
{
    takes_in = true;
    ck_assert_int_eq(tr_try_spawn_at(test, &saver, home, saver, "saver"), TR_OK);
    tr_kit_settle(kit);
}

static void do_run(turn *next)
{
    TELL_RUN(test, saver, next);
    tr_kit_settle(kit);
    tr_kit_check(kit);
}

/* ---- Bytes of one actor. ---- */

static tr_next save_too_much(tr_self *self)
{
    (void)tr_alloc(self, 20 * KIB);
    say("20");
    (void)tr_alloc(self, 64 * KIB);
    say("84");
    return TR_SAME;
}

static void play_alloc(void)
{
    begin();
    do_run(save_too_much);
    SAID("20; end saver");
    ck_assert_int_eq(tr_tell(test, saver, wake), TR_STOPPED);
}

TEST(memory_beyond_the_budget_is_a_failure, "O-06", "S-10")
{
    kits_each(play_alloc);
}

static tr_next try_too_much(tr_self *self)
{
    size_t before = tr_budget_used(self).bytes;
    ck_assert_ptr_null(tr_try_alloc(self, 64 * KIB));
    ck_assert_uint_eq(tr_budget_used(self).bytes, before);
    char *half = tr_try_alloc(self, 30 * KIB);
    ck_assert_ptr_nonnull(half);
    size_t each = tr_budget_used(self).bytes - before;
    ck_assert_uint_ge(each, 30 * KIB);
    ck_assert_uint_lt(each, 31 * KIB);
    /* What is left to the byte, and one more; `each` has the first chunk of the heap in it. */
    size_t left = 64 * KIB - tr_budget_used(self).bytes;
    char *second = tr_try_alloc(self, 10 * KIB);
    ck_assert_ptr_nonnull(second);
    size_t over = left - (64 * KIB - tr_budget_used(self).bytes) - 10 * KIB; /* beyond its size */
    ck_assert_ptr_null(tr_try_realloc(self, second, left - over + 1));
    second = tr_try_realloc(self, second, left - over);
    ck_assert_ptr_nonnull(second);
    ck_assert_uint_eq(tr_budget_used(self).bytes, 64 * KIB);
    ck_assert_ptr_null(tr_try_alloc(self, 3000));
    tr_free(self, second);
    tr_free(self, half);
    for (int i = 0; i < 1000; i++)
        tr_free(self, tr_alloc(self, 40 * KIB));
    say("alive");
    return TR_SAME;
}

/* Small blocks come in chunks: what is refused takes no chunk. */
static tr_next fill_with_small(tr_self *self)
{
    size_t count = 0;
    while (tr_try_alloc(self, 100))
        count++;
    ck_assert_uint_gt(count, 64 * KIB / 100 * 6 / 10);
    ck_assert_uint_le(tr_budget_used(self).bytes, 64 * KIB);
    say("full");
    return TR_SAME;
}

static void play_try_alloc(void)
{
    begin();
    do_run(try_too_much);
    do_run(measure);
    do_run(fill_with_small);
    tr_tell(test, saver, wake, .n = 1);
    tr_kit_settle(kit);
    SAID("alive; full; wake 1");
    tr_stop(test, saver);
}

TEST(try_alloc_stops_at_the_byte, "O-06")
{
    kits_each(play_try_alloc);
}

/* A page is a line of the envelope and 4,000 bytes, which are 63 lines. */
enum { PAGE = 64 * 64 };

static void play_mail(void)
{
    begin();
    size_t empty = usage_of(tr_any(saver)).bytes;
    tr_suspend(test, saver);
    tr_kit_settle(kit);
    size_t fit = (64 * KIB - empty) / PAGE;
    for (size_t i = 0; i < fit; i++)
        ck_assert_int_eq(tr_tell(test, saver, page), TR_OK);
    tr_kit_settle(kit);
    SAID("");
    /* One more than fits, and nothing has handled any. Its sender is told nothing. */
    ck_assert_int_eq(tr_tell(test, saver, page), TR_OK);
    tr_kit_settle(kit);
    SAID("end saver");
    ck_assert_uint_eq(dead_letters(TR_STOPPED), fit + 1);
}

TEST(mail_beyond_the_budget_fails_its_receiver, "O-06")
{
    kits_each(play_mail);
}

static tr_next flood(tr_self *self)
{
    for (int i = 0; i < 17; i++)
        ck_assert_int_eq(tr_tell(self, saver, page), TR_OK);
    say("sent");
    return TR_SAME;
}

static void play_near_mail(void)
{
    begin();
    free_one_ref sender;
    ck_assert_int_eq(tr_try_spawn_at(test, &sender, home, free_one, "sender"), TR_OK);
    TELL_RUN(test, sender, flood);
    tr_kit_settle(kit);
    SAID("sent; end saver");
    /* And what an actor sends to itself. */
    begin();
    do_run(flood);
    SAID("sent; end saver");
    /* What has capacity is handled, and is no longer held. */
    begin();
    size_t empty = usage_of(tr_any(saver)).bytes;
    for (int i = 0; i < 100; i++) {
        tr_tell(test, saver, page);
        if (i % 10 == 9)
            tr_kit_settle(kit);
    }
    tr_kit_settle(kit);
    ck_assert_uint_eq(usage_of(tr_any(saver)).bytes, empty);
    tr_kill(test, saver);
    tr_kill(test, sender);
}

TEST(mail_of_the_same_worker_counts_for_its_receiver, "O-06")
{
    kits_each(play_near_mail);
}

static void play_stash(void)
{
    begin();
    size_t empty = usage_of(tr_any(saver)).bytes;
    takes_in = false;
    for (int i = 1; i <= 15; i++) {
        tr_tell(test, saver, page);
        ck_assert_uint_eq(usage_of(tr_any(saver)).bytes, empty + (size_t)i * PAGE);
    }
    SAID("");
    tr_tell(test, saver, page);
    tr_tell(test, saver, wake); /* it fails before this turn */
    tr_kit_settle(kit);
    SAID("end saver");
}

TEST(stashed_bytes_count, "ST-08")
{
    kits_each(play_stash);
}

static tr_next use_timers(tr_self *self)
{
    size_t before = tr_budget_used(self).bytes;
    tr_timer_once(self, "a", MS, wake, .n = 1);
    size_t one = tr_budget_used(self).bytes - before;
    ck_assert_uint_eq(one, 128);
    tr_timer_once(self, "a", MS, wake, .n = 2); /* instead */
    ck_assert_uint_eq(tr_budget_used(self).bytes, before + one);
    tr_timer_fixed_rate(self, "a key of some length", MS, page);
    ck_assert_uint_ge(tr_budget_used(self).bytes, before + one + PAGE + 64);
    ck_assert_int_eq(tr_timer_cancel(self, "a key of some length"), TR_TIMER_CANCELLED);
    ck_assert_int_eq(tr_timer_cancel(self, "a"), TR_TIMER_CANCELLED);
    ck_assert_uint_eq(tr_budget_used(self).bytes, before);
    tr_timer_once(self, "b", MS, wake, .n = 3);
    tr_timer_fixed_rate(self, "c", MS, page);
    tr_timer_fixed_delay(self, "d", MS, page);
    amount = tr_budget_used(self).bytes - before;
    return TR_SAME;
}

static tr_next cancel_timers(tr_self *self)
{
    tr_timer_cancel(self, "c");
    tr_timer_cancel(self, "d");
    return TR_SAME;
}

static tr_next many_timers(tr_self *self)
{
    for (int i = 0; i < 3000; i++)
        tr_timer_once(self, NULL, TR_SECOND, wake);
    say("armed");
    return TR_SAME;
}

static void play_timers(void)
{
    begin();
    size_t empty = usage_of(tr_any(saver)).bytes;
    do_run(use_timers);
    size_t armed = usage_of(tr_any(saver)).bytes;
    ck_assert_uint_gt(armed, empty);
    ck_assert_uint_eq(armed - empty, amount);
    tr_kit_advance(kit, 20 * MS);
    /* Those that tick hold what they held, and "b" nothing. */
    ck_assert_uint_eq(usage_of(tr_any(saver)).bytes, armed - 128);
    SAID("wake 3");
    do_run(cancel_timers);
    ck_assert_uint_eq(usage_of(tr_any(saver)).bytes, empty);
    do_run(many_timers);
    SAID("armed; end saver");
}

TEST(timers_count_with_their_messages, "O-06")
{
    kits_each(play_timers);
}

static tr_next become_wide(tr_self *self)
{
    return tr_become(self, wide);
}

static tr_next become_saver(tr_self *self)
{
    return tr_become(self, saver);
}

static void play_state(void)
{
    begin();
    size_t empty = usage_of(tr_any(saver)).bytes;
    do_run(become_wide);
    ck_assert_uint_eq(usage_of(tr_any(saver)).bytes, empty + sizeof(struct wide));
    do_run(save_too_much); /* the budget is the actor's */
    SAID("20; end saver");
    begin();
    do_run(become_wide);
    do_run(become_saver);
    ck_assert_uint_eq(usage_of(tr_any(saver)).bytes, empty);
    tr_stop(test, saver);
}

TEST(the_state_counts_and_become_keeps_the_budget, "O-06")
{
    kits_each(play_state);
}

static tr_next save_much(tr_self *self)
{
    (void)tr_alloc(self, 1000 * KIB);
    return measure(self);
}

static void play_free(void)
{
    free_one_ref free_one;
    ck_assert_int_eq(tr_try_spawn_at(test, &free_one, home, free_one, NULL), TR_OK);
    TELL_RUN(test, free_one, save_much);
    tr_kit_settle(kit);
    ck_assert_uint_gt(used.bytes, 1000 * KIB);
    ck_assert_int_eq(used.cpu_ns, 0);
    ck_assert_uint_eq(used.tree_bytes, 0);
    tr_stop(test, free_one);
}

TEST(without_a_budget_there_is_no_limit, "O-06")
{
    kits_each(play_free);
    ck_assert_uint_eq(tr_budget_used(NULL).bytes, 0);
}

static tr_next set_up_greedily(tr_self *self)
{
    (void)tr_alloc(self, 2 * KIB);
    return TR_SAME;
}

TR_ACTOR(greedy, run);
TR_ACTOR(tiny, run);
TR_ACTOR(negative, run);
TR_BEHAVIOR(greedy, void, ROWS, TR_SETUP(set_up_greedily),
            TR_OPTIONS(.restart = TR_TEMPORARY, .budget_bytes = 1 * KIB));
TR_BEHAVIOR(tiny, struct wide, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .budget_bytes = 1 * KIB));
TR_BEHAVIOR(negative, void, ROWS, TR_OPTIONS(.restart = TR_TEMPORARY, .budget_cpu_ns = -1));

static void play_set_up(void)
{
    greedy_ref greedy;
    tiny_ref tiny;
    negative_ref negative;
    tr_error error;
    ck_assert_int_eq(tr_try_spawn_at(test, &greedy, home, greedy, "greedy"), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, greedy, TR_SECOND, &error), TR_INIT_FAILED);
    ck_assert_int_eq(error.status, TR_OVER_BUDGET);
    ck_assert_ptr_nonnull(
        strstr(error.text, "memory budget exceeded: 2048 bytes requested, holds "));
    ck_assert_ptr_nonnull(strstr(error.text, ", limit 1024"));
    /* Its state alone is too much. */
    ck_assert_int_eq(tr_try_spawn_at(test, &tiny, home, tiny, "tiny"), TR_OK);
    tr_kit_settle(kit);
    SAID("end tiny");
    ck_assert_int_eq(tr_try_spawn(test, &negative, negative, NULL), TR_INVALID_ARGUMENT);
}

TEST(set_ups_have_the_budget_too, "O-06")
{
    kits_each(play_set_up);
}

/* ---- CPU time, by a clock that the test moves. ---- */

static struct hand hand;
static tr_time turn_ns; /* how long a turn takes */
static char log_text[512];

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    if (level == TR_LEVEL_ERROR)
        snprintf(log_text, sizeof log_text, "%s %s", path ? path : "", text);
}

static void clock_open(void)
{
    hand = (struct hand){.table = *tr_platform_real(), .mono_ns = TR_HOUR, .wall_ns = TR_HOUR};
    hand.table.mono_now = hand_mono;
    hand.table.wall_now = hand_wall;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = 1,
                                       .spin_ns = -1,
                                       .platform = &hand.table,
                                       .on_log = on_log};
    ck_assert_int_eq(tr_system_new(&options, &hand.system), TR_OK);
    ck_assert_int_eq(tr_client_new(hand.system, &hand.client), TR_OK);
    said_length = 0;
}

static tr_next work(tr_self *self)
{
    hand.mono_ns += turn_ns;
    return measure(self);
}

static void do_work(tr_ref who, tr_time ns)
{
    turn_ns = ns;
    (void)tr_client_tell(hand.client, who, &tr_type_run, &(struct run){(uint64_t)(uintptr_t)work});
    hand_run(&hand);
}

TEST(cpu_time_is_exact_and_one_nanosecond_more_is_over, "O-06")
{
    clock_open();
    worn_ref worn;
    ck_assert_int_eq(tr_try_spawn(hand.client, &worn, worn, "worn"), TR_OK);
    hand_leap(&hand, TR_SECOND); /* to wait costs nothing */
    do_work(tr_any(worn), 4 * MS);
    ck_assert_int_eq(used.cpu_ns, 4 * MS);
    hand_leap(&hand, TR_SECOND);
    do_work(tr_any(worn), 6 * MS - 1);
    do_work(tr_any(worn), 1);
    ck_assert_int_eq(used.cpu_ns, 10 * MS);
    SAID("");
    do_work(tr_any(worn), 1);
    SAID("end worn");
    ck_assert_ptr_nonnull(
        strstr(log_text,
               "/user/worn failed: TR_OVER_BUDGET: budget exceeded: ran for 10.000 ms, "
               "limit 10.000 ms (incarnation 1 of worn, "));
    hand_close(&hand);
}

TEST(a_run_of_many_turns_ends_where_the_budget_does, "O-06")
{
    clock_open();
    worn_ref worn;
    ck_assert_int_eq(tr_try_spawn(hand.client, &worn, worn, "worn"), TR_OK);
    turn_ns = 3 * MS;
    for (int i = 0; i < 50; i++)
        TELL_RUN(hand.client, worn, work);
    hand_run(&hand);
    SAID("end worn");
    ck_assert_int_eq(used.cpu_ns, 12 * MS); /* of the fourth turn */
    /* One long turn is not cut short, and counted whole. */
    ck_assert_int_eq(tr_try_spawn(hand.client, &worn, worn, "worn"), TR_OK);
    do_work(tr_any(worn), 5 * TR_SECOND);
    SAID("end worn");
    ck_assert_ptr_nonnull(strstr(log_text, "ran for 5000.000 ms"));
    hand_close(&hand);
}

static tr_next set_up_slowly(void)
{
    hand.mono_ns += 3 * MS;
    return TR_SAME;
}

static tr_next stop_slowly(tr_self *self)
{
    hand.mono_ns += MS;
    return on_stop(self);
}

TR_ACTOR(lazy, run);
TR_BEHAVIOR(lazy, void, TR_SETUP(set_up_slowly), ROWS,
            TR_OPTIONS(.restart = TR_TEMPORARY, .budget_cpu_ns = 3 * MS - 1));

TEST(the_time_of_the_set_up_counts, "O-06")
{
    clock_open();
    lazy_ref lazy;
    ck_assert_int_eq(tr_try_spawn(hand.client, &lazy, lazy, "lazy"), TR_OK);
    TELL_RUN(hand.client, lazy, work);
    hand_run(&hand);
    SAID("end lazy"); /* before its first message */
    ck_assert_ptr_nonnull(strstr(log_text, "budget exceeded: ran for 3.000 ms, limit 2.999 ms"));
    hand_close(&hand);
}

TR_ACTOR(slow, run);
TR_BEHAVIOR(slow, void, TR_SETUP(set_up_slowly), TR_ON(run, on_run),
            TR_ON(tr_post_stop, stop_slowly), TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_ref slow_child;

static tr_next spawn_slow(tr_self *self)
{
    hand.mono_ns += MS;
    slow_child = tr_any(tr_spawn(self, slow, "slow"));
    hand.mono_ns += MS;
    return measure(self);
}

TEST(each_nanosecond_of_a_tree_is_counted_once, "O-06")
{
    clock_open();
    clan_ref clan;
    ck_assert_int_eq(tr_try_spawn(hand.client, &clan, clan, "clan"), TR_OK);
    TELL_RUN(hand.client, clan, spawn_slow);
    hand_run(&hand);
    ck_assert_int_eq(used.cpu_ns, 2 * MS); /* the child's set-up is the child's */
    ck_assert_int_eq(used.tree_cpu_ns, 5 * MS);
    do_work(slow_child, 2 * MS);
    ck_assert_int_eq(used.cpu_ns, 5 * MS);
    ck_assert_int_eq(used.tree_cpu_ns, 0);
    tr_stop(hand.client, slow_child); /* its tr_post_stop counts, and its end gives no time back */
    hand_run(&hand);
    SAID("end slow");
    do_work(tr_any(clan), 2 * MS);
    ck_assert_int_eq(used.cpu_ns, 4 * MS);
    ck_assert_int_eq(used.tree_cpu_ns, 10 * MS);
    TELL_RUN(hand.client, clan, spawn_slow);
    hand_run(&hand);
    SAID("end slow; end clan");
    ck_assert_ptr_nonnull(
        strstr(log_text, "/user/clan failed: TR_OVER_BUDGET: tree budget exceeded: ran"));
    ck_assert_ptr_nonnull(strstr(log_text, "pushed over by /user/clan"));
    hand_close(&hand);
}

SUITE("budget", memory_beyond_the_budget_is_a_failure, try_alloc_stops_at_the_byte,
      mail_beyond_the_budget_fails_its_receiver, mail_of_the_same_worker_counts_for_its_receiver,
      stashed_bytes_count, timers_count_with_their_messages,
      the_state_counts_and_become_keeps_the_budget, without_a_budget_there_is_no_limit,
      set_ups_have_the_budget_too, cpu_time_is_exact_and_one_nanosecond_more_is_over,
      a_run_of_many_turns_ends_where_the_budget_does, the_time_of_the_set_up_counts,
      each_nanosecond_of_a_tree_is_counted_once)
