/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Death watch: one tr_terminated for each watch, when the other has ended, and none after tr_unwatch.
 */
#include "support/people.h"

/* ---- Whatever the reason. ---- */

static void play_reasons(void)
{
    for (int i = 0; i < 6; i++)
        (void)born(NULL);
    DO(watcher, watch_all);
    SAID("");
    DO(one_ref_of(people[0]), stop);
    SAID("a");
    DO(one_ref_of(people[1]), break_down);
    SAID("b");
    DO(one_ref_of(people[2]), crash);
    SAID("c");
    tr_stop(test, people[3]);
    tr_kit_settle(kit);
    SAID("d");
    tr_kill(test, people[4]);
    tr_kit_settle(kit);
    SAID("e");
    tr_suspend(test, people[5]);
    tr_stop(test, people[5]);
    tr_kit_settle(kit);
    SAID("f");
}
TEST(any_end_gives_one_signal, "WA-01", "G-04")
{
    each(play_reasons);
}

static tr_next have_child(tr_self *self)
{
    one_ref child = tr_spawn_at(self, home, one, "child");
    people[people_count++] = tr_any(child);
    return TR_SAME;
}

static void play_family(void)
{
    (void)born("parent");
    DO(a(), have_child);
    DO(b(), have_child);
    DO(watcher, watch_all);
    tr_stop(test, a());
    tr_kit_settle(kit);
    /* Leaf first; but who is told where is a matter of the workers' pace. */
    const char *words = said();
    ck_assert_uint_eq(strlen(words), strlen("c; b; a"));
    for (const char *who = "abc"; *who; who++)
        ck_assert_ptr_nonnull(strchr(words, *who));
    ck_assert_msg(words[6] == 'a' || far != home, "%s", words);
}
TEST(ends_of_a_tree_are_told, "WA-01", "L-06")
{
    each(play_family);
}

static tr_next watch_twice(tr_self *self)
{
    (void)watch_all(self);
    return watch_all(self);
}

static void play_idempotent(void)
{
    (void)born("a");
    (void)born("b");
    DO(watcher, watch_twice);
    DO(watcher, watch_all);
    DO(a(), stop);
    SAID("a");
    DO(watcher, unwatch_all);
    DO(watcher, unwatch_all);
    DO(b(), stop);
    SAID("");
}
TEST(watch_twice_is_once_and_unwatch_is_never, "WA-02", "Y-04")
{
    each(play_idempotent);
}

/* ---- The dead. ---- */

static void play_dead(void)
{
    (void)born("a");
    DO(a(), stop);
    (void)born("b"); /* perhaps in the same slot */
    people[people_count++] = tr_ref_from_bits(people[0].bits ^ UINT64_C(0x5000000000000000));
    people[people_count++] = tr_ref_from_bits(0x7fffffff);
    people[people_count++] = tr_ref_from_bits(UINT64_MAX);
    DO(watcher, watch_all);
    const char *words = said();
    ck_assert_uint_eq(strlen(words), strlen("a; c; d; e"));
    for (const char *who = "acde"; *who; who++)
        ck_assert_ptr_nonnull(strchr(words, *who));
    DO(b(), stop);
    SAID("b");
    DO(watcher, watch_all); /* and again */
    ck_assert_uint_eq(strlen(said()), strlen("a; b; c; d; e"));
}
TEST(the_dead_give_it_at_once, "WA-03", "G-04", "LC-14")
{
    each(play_dead);
}

static void play_slot_reuse(void)
{
    (void)born("a");
    DO(a(), stop);
    people_count = 1;
    /* Until somebody lives in the slot of the first. */
    one_ref next = born(NULL);
    while ((uint32_t)tr_any(next).bits != (uint32_t)people[0].bits) {
        DO(next, stop);
        people_count = 1;
        next = born(NULL);
    }
    people_count = 1;
    DO(watcher, watch_all);
    SAID("a");
    people[people_count++] = tr_any(next);
    DO(watcher, watch_all);
    SAID("a");
    DO(next, stop);
    SAID("b");
}
TEST(the_next_tenant_of_a_slot_is_another, "WA-07", "LC-14", "WA-03")
{
    for (int workers = 1; workers <= 2; workers++) {
        kit_open(workers, 5);
        people_count = far = 0;
        ck_assert_int_eq(tr_try_spawn_at(test, &watcher, home, one, "watcher"), TR_OK);
        play_slot_reuse();
        kit_close();
    }
}

/* ---- Races. ---- */

static void play_race(void)
{
    (void)born("a");
    if (kits_seed & 1)
        tr_kit_settle(kit);
    if (kits_seed & 2)
        TELL_RUN(test, watcher, watch_all);
    for (uint64_t i = 0; i < (kits_seed >> 3) % 4; i++)
        tr_kit_step(kit);
    if (kits_seed & 4)
        tr_stop(test, a());
    else
        tr_kill(test, a());
    TELL_RUN(test, watcher, watch_all);
    for (uint64_t i = 0; i < (kits_seed >> 2) % 6; i++)
        tr_kit_step(kit);
    tr_kit_settle(kit);
    const char *words = said();
    /* The second watch may come when the first one's signal was handled. */
    bool is_one = strcmp(words, "a") == 0;
    ck_assert_msg(is_one || (kits_seed & 2 && strcmp(words, "a; a") == 0), "said %s", words);
}
TEST(a_watch_that_races_with_the_end, "WA-04", "G-04")
{
    each(play_race);
    for (uint64_t seed = 100; seed < 100 + test_scale(500, 10000); seed++) {
        kit_open(1 + (int)(seed % 4), seed);
        far = (int)(seed / 4) % (1 + (int)(seed % 4));
        people_count = 0;
        ck_assert_int_eq(tr_try_spawn_at(test, &watcher, home, one, "watcher"), TR_OK);
        play_race();
        kit_close();
    }
}

/* ---- Unwatch. ---- */

/* The old signal waits before the note, the new one behind it. */
static tr_next watch_anew_behind_a_note(tr_self *self)
{
    (void)watch_and_unwatch(self);
    tr_tell(self, one_ref_of(tr_me(self)), note, .n = 1);
    return watch_all(self);
}

static void play_unwatch(void)
{
    (void)born("a");
    DO(watcher, watch_and_unwatch);
    DO(watcher, watch_unwatch_watch);
    DO(a(), stop);
    SAID("a");
    /* Of a dead one: the signal waits already. */
    DO(watcher, watch_and_unwatch);
    SAID("");
    DO(watcher, watch_unwatch_watch);
    SAID("a");
    DO(watcher, watch_anew_behind_a_note);
    SAID("1; a");
}
TEST(unwatch_takes_a_signal_back_that_waits, "WA-05", "Y-04")
{
    each(play_unwatch);
}

static tr_next wait_and_unwatch(tr_self *self)
{
    say("waits");
    ck_assert_int_eq(tr_sleep(self, 10 * MS), TR_OK);
    say("unwatches");
    return unwatch_all(self);
}

static tr_next wait_and_watch_anew(tr_self *self)
{
    (void)wait_and_unwatch(self);
    return watch_all(self);
}

TR_ACTOR(guard, run);
static bool always(const struct run *message)
{
    (void)message;
    return true;
}
TR_BEHAVIOR(guard, void, TR_ON_BARRIER_IF(run, always, on_run),
            TR_ON(tr_terminated, on_terminated));

/* A barrier lets no signal begin; when it is over, it is too late for this one. */
static void play_barrier(void)
{
    guard_ref guard;
    (void)born("a");
    ck_assert_int_eq(tr_try_spawn_at(test, &guard, home, guard, NULL), TR_OK);
    DO(guard, watch_all);
    DO(guard, wait_and_unwatch);
    DO(a(), stop);
    SAID("waits");
    tr_kit_check(kit);
    tr_kit_advance(kit, 20 * MS);
    SAID("unwatches");
    /* The old signal does not stand for the new watch, which gives one of its own. */
    people_count = 0;
    (void)born("a2");
    DO(guard, watch_all);
    DO(guard, wait_and_watch_anew);
    DO(a(), stop);
    SAID("waits");
    tr_kit_advance(kit, 20 * MS);
    SAID("unwatches; a");
}
TEST(a_signal_waits_for_a_barrier, "WA-05", "Y-04", "M-01")
{
    each(play_barrier);
}

static void play_suspended(void)
{
    (void)born("a");
    DO(watcher, watch_all);
    tr_suspend(test, watcher);
    DO(a(), stop);
    SAID("");
    tr_tell(test, watcher, note, .n = 1);
    tr_kit_settle(kit);
    tr_kit_check(kit);
    tr_resume(test, watcher);
    tr_kit_settle(kit);
    SAID("a; 1");
}
TEST(a_suspended_watcher_hears_later, "M-01", "G-04")
{
    each(play_suspended);
}

/* ---- Names and incarnations. ---- */

static tr_next watch_child_named(tr_self *self)
{
    one_ref child;
    ck_assert_int_eq(tr_try_spawn_at(self, &child, far, one, "same"), TR_OK);
    people[people_count++] = tr_any(child);
    tr_watch(self, child);
    return TR_SAME;
}

TR_ACTOR(phoenix, run);
static tr_next on_end_again(tr_self *self, const struct tr_terminated *message)
{
    say("%c", person(message->who));
    ck_assert(tr_is_nobody(tr_child(self, one, "same")));
    return people_count < 4 ? watch_child_named(self) : TR_SAME;
}
TR_BEHAVIOR(phoenix, void, TR_ON(run, on_run), TR_ON(tr_terminated, on_end_again));

static int cleaned;
static void clean(void *resource)
{
    ck_assert_ptr_eq(resource, &cleaned);
    cleaned++;
}
static tr_next keep_something(tr_self *self)
{
    tr_at_end(self, &cleaned, clean);
    tr_timer_once(self, "never", MS, run);
    return TR_SAME;
}

static void play_same_name(void)
{
    phoenix_ref phoenix;
    cleaned = 0;
    ck_assert_int_eq(tr_try_spawn_at(test, &phoenix, home, phoenix, NULL), TR_OK);
    DO(phoenix, watch_child_named);
    for (int i = 0; i < 3; i++) {
        DO(one_ref_of(people[i]), keep_something);
        DO(one_ref_of(people[i]), i & 1 ? stop : break_down);
        ck_assert_int_eq(cleaned, i + 1);
    }
    SAID("a; b; c");
    DO(one_ref_of(people[3]), stop);
    SAID("d");
}
TEST(a_name_is_free_and_memory_released_before_it, "WA-07", "SG-04", "L-07", "L-06")
{
    each(play_same_name);
}

/* A cleaner is called when memory is released: nobody may have been told by then. */
static uint64_t told_at_release;
static void look_who_was_told(void *resource)
{
    tr_counters counters;
    tr_system_counters(resource, &counters);
    told_at_release = counters.queued;
}

static tr_next look_at_release(tr_self *self)
{
    tr_at_end(self, tr_system_of(self), look_who_was_told);
    return TR_SAME;
}

static void play_release(void)
{
    tr_counters counters;
    (void)born("a");
    DO(watcher, watch_all);
    DO(a(), look_at_release);
    tr_suspend(test, watcher);
    tr_kit_settle(kit);
    told_at_release = 1000;
    tr_kill(test, a());
    tr_kit_settle(kit);
    ck_assert_uint_eq(told_at_release, 0);
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.queued, 1);
}
TEST(nobody_is_told_before_memory_is_released, "SG-04", "L-06")
{
    each(play_release);
}

/* ---- One that is stopping. ---- */

static tr_next stop_slowly(tr_self *self)
{
    one_ref child = tr_spawn_at(self, home, one, NULL);
    TELL_RUN(self, child, sleep_long);
    return TR_STOP;
}

static void play_stopping(void)
{
    one_ref second;
    (void)born("a");
    ck_assert_int_eq(tr_try_spawn_at(test, &second, 0, one, NULL), TR_OK);
    DO(second, watch_all);
    DO(a(), stop_slowly);
    DO(watcher, watch_all);
    DO(watcher, watch_unwatch_watch);
    DO(watcher, watch_all);
    SAID("");
    ck_assert(!tr_is_nobody(tr_find(test, one, "/user/a")));
    tr_kit_advance(kit, 20 * MS);
    SAID("a; a");
    ck_assert(tr_is_nobody(tr_find(test, one, "/user/a")));
    people_count = 0;
    (void)born("b");
    DO(a(), stop_slowly);
    DO(watcher, watch_and_unwatch);
    tr_kit_advance(kit, 20 * MS);
    SAID("");
}
TEST(one_that_is_stopping_gives_it_when_it_has, "WA-08")
{
    each(play_stopping);
}

/* ---- Nobody handles it. ---- */

TR_ACTOR(deaf, run);
TR_BEHAVIOR(deaf, void, TR_ON(run, on_run), TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_deaf(void)
{
    deaf_ref deaf;
    (void)born("a");
    ck_assert_int_eq(tr_try_spawn_at(test, &deaf, home, deaf, NULL), TR_OK);
    DO(deaf, watch_all);
    DO(a(), stop);
    DO(deaf, watch_all);
    SAID("");
    ck_assert_uint_eq(dead_letters(TR_UNHANDLED), 0);
    ck_assert_int_eq(tr_stop(test, deaf), TR_OK); /* it lives */
}
TEST(unhandled_is_ignored, "WA-09", "G-04")
{
    each(play_deaf);
}

/* ---- Each other, and oneself. ---- */

static tr_next watch_me(tr_self *self)
{
    ck_assert_int_eq(tr_watch(self, tr_me(self)), TR_OK);
    ck_assert_int_eq(tr_try_watch(self, tr_me(self)), TR_OK);
    ck_assert_int_eq(tr_unwatch(self, tr_me(self)), TR_OK);
    return watch_all(self);
}

static void play_mutual(void)
{
    (void)born("a");
    far = home;
    (void)born("b");
    DO(a(), watch_me);
    DO(b(), watch_me);
    SAID("");
    if (kits_seed % 3 == 0) {
        DO(a(), stop);
        SAID("a");
        DO(b(), stop);
    } else if (kits_seed % 3 == 1) {
        tr_kill(test, a());
        tr_kill(test, b());
    } else {
        tr_stop(test, b());
        tr_stop(test, a());
    }
    tr_kit_settle(kit);
    ck_assert_uint_le(strlen(said()), 1);
}
TEST(mutual_and_self_watch, "WA-10", "G-04")
{
    each(play_mutual);
}

SUITE("watch", any_end_gives_one_signal, ends_of_a_tree_are_told,
      watch_twice_is_once_and_unwatch_is_never, the_dead_give_it_at_once,
      the_next_tenant_of_a_slot_is_another, a_watch_that_races_with_the_end,
      unwatch_takes_a_signal_back_that_waits, a_signal_waits_for_a_barrier,
      a_suspended_watcher_hears_later, a_name_is_free_and_memory_released_before_it,
      nobody_is_told_before_memory_is_released, one_that_is_stopping_gives_it_when_it_has,
      unhandled_is_ignored, mutual_and_self_watch)
