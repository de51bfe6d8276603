/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Death watch among everything else: order, set-ups that fail, mailboxes, clients.
 */
#include "support/people.h"

/* ---- Order. ---- */

static tr_next say_much(tr_self *self)
{
    for (uint32_t n = 1; n <= 3; n++)
        tr_tell(self, watcher, note, .n = n);
    return TR_STOP;
}

TR_ACTOR(talker, run);
static tr_next last_words(tr_self *self)
{
    tr_tell(self, watcher, note, .n = 4);
    return TR_SAME;
}
TR_BEHAVIOR(talker, void, TR_ON(run, on_run), TR_ON(tr_post_stop, last_words));

static void play_order(void)
{
    talker_ref talker;
    ck_assert_int_eq(tr_try_spawn_at(test, &talker, far, talker, NULL), TR_OK);
    people[people_count++] = tr_any(talker);
    bool is_early = kits_seed & 1;
    TELL_RUN(test, watcher, watch_all);
    if (is_early)
        tr_kit_settle(kit);
    DO(talker, say_much);
    SAID("1; 2; 3; 4; a");
}
TEST(it_comes_after_all_that_the_dead_has_sent, "SG-03", "G-04")
{
    each(play_order);
}

/* A watch that comes while the end is under way must not overtake the last words. */
static void play_order_race(void)
{
    talker_ref talker;
    ck_assert_int_eq(tr_try_spawn_at(test, &talker, far, talker, NULL), TR_OK);
    people[people_count++] = tr_any(talker);
    tr_kit_settle(kit);
    TELL_RUN(test, talker, say_much);
    for (uint64_t i = 0; i < kits_seed % 5; i++)
        tr_kit_step(kit);
    TELL_RUN(test, watcher, watch_all);
    tr_kit_settle(kit);
    SAID("1; 2; 3; 4; a");
}
TEST(a_late_watch_does_not_overtake, "SG-03", "WA-04")
{
    each(play_order_race);
}

/* ---- Those who never began. ---- */

TR_ACTOR(stillborn, run);
static tr_next fail_at_once(tr_self *self)
{
    return tr_fail(self, TR_FAILED, "never");
}
TR_BEHAVIOR(stillborn, void, TR_SETUP(fail_at_once), TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next spawn_stillborn(tr_self *self)
{
    stillborn_ref child;
    tr_status status = tr_try_spawn_at(self, &child, far, stillborn, "still");
    if (far == home) {
        ck_assert_int_eq(status, TR_INIT_FAILED);
        say("a");
        return TR_SAME;
    }
    people[people_count++] = tr_any(child);
    return watch_all(self);
}

static tr_next spawn_and_kill(tr_self *self)
{
    one_ref child;
    people_count = 0;
    ck_assert_int_eq(tr_try_spawn_at(self, &child, far, one, "early"), TR_OK);
    people[people_count++] = tr_any(child);
    (void)watch_all(self);
    tr_kill(self, child);
    return TR_SAME;
}

static void play_unborn(void)
{
    DO(watcher, spawn_stillborn);
    SAID("a");
    DO(watcher, spawn_and_kill);
    SAID("a");
    ck_assert(tr_is_nobody(tr_find(test, one, "/user/watcher/early")));
    /* From outside: the watch arrives before the actor is mounted. */
    people_count = 0;
    stillborn_ref still;
    ck_assert_int_eq(tr_try_spawn_at(test, &still, far, stillborn, "late"), TR_OK);
    people[people_count++] = tr_any(still);
    DO(watcher, watch_all);
    SAID("a");
    people_count = 0;
    (void)born("waits");
    TELL_RUN(test, watcher, watch_unwatch_watch);
    DO(a(), stop);
    SAID("a");
}
TEST(a_failed_set_up_ends_a_watch, "L-04", "WA-01")
{
    each(play_unborn);
}

/* ---- What a verb says. ---- */

TR_ACTOR(careful, run);
static tr_next on_careful_end(tr_self *self)
{
    ck_assert_int_eq(tr_try_watch(self, tr_any(watcher)), TR_STOPPING);
    ck_assert_int_eq(tr_unwatch(self, tr_any(watcher)), TR_OK);
    say("ended");
    return TR_SAME;
}
TR_BEHAVIOR(careful, void, TR_ON(run, on_run), TR_ON(tr_post_stop, on_careful_end));

static tr_next ask_wrongly(tr_self *self)
{
    ck_assert_int_eq(tr_try_watch(self, TR_NOBODY), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_unwatch(self, TR_NOBODY), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_try_watch(NULL, tr_any(watcher)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_unwatch(NULL, tr_any(watcher)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_try_watch(NULL, tr_any(watcher)), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_unwatch(NULL, tr_any(watcher)), TR_INVALID_ARGUMENT);
    return TR_SAME;
}

static tr_next sleep_cancelled(tr_self *self)
{
    ck_assert_int_eq(tr_sleep(self, TR_SECOND), TR_CANCELLED);
    ck_assert_int_eq(tr_try_watch(self, tr_any(watcher)), TR_CANCELLED);
    ck_assert_int_eq(tr_unwatch(self, tr_any(watcher)), TR_CANCELLED);
    say("cancelled");
    return TR_SAME;
}

static tr_next watch_nobody(tr_self *self)
{
    tr_watch(self, TR_NOBODY);
    say("never said");
    return TR_SAME;
}

static void play_statuses(void)
{
    careful_ref careful;
    ck_assert_int_eq(tr_try_spawn_at(test, &careful, home, careful, NULL), TR_OK);
    DO(careful, ask_wrongly);
    DO(careful, sleep_cancelled);
    tr_kill(test, careful);
    tr_kit_settle(kit);
    SAID("cancelled; ended");
    (void)born("a");
    (void)born("b");
    DO(b(), watch_all);
    DO(a(), watch_nobody);
    SAID("a");
}
TEST(what_watch_says, "Y-02", "G-04")
{
    each(play_statuses);
}

/* ---- The rows of the table: room, time, the pill. ---- */

TR_ACTOR(narrow, note);
static tr_next narrow_note(tr_self *self, const struct note *message)
{
    (void)on_note(message);
    if (message->n)
        return TR_SAME;
    tr_set_receive_timeout(self, 10 * MS);
    return watch_all(self);
}
static tr_next on_idle(void)
{
    say("idle");
    return TR_SAME;
}
TR_BEHAVIOR(narrow, void, TR_ON(note, narrow_note), TR_ON(tr_terminated, on_terminated),
            TR_ON(tr_receive_timeout, on_idle), TR_OPTIONS(.mailbox_max = 2));

static void play_table(void)
{
    narrow_ref narrow;
    (void)born("a");
    (void)born("b");
    ck_assert_int_eq(tr_try_spawn_at(test, &narrow, home, narrow, NULL), TR_OK);
    tr_tell(test, narrow, note, .n = 0);
    tr_kit_settle(kit);
    tr_suspend(test, narrow);
    tr_kit_settle(kit);
    /* A full mailbox takes it, in its place. */
    ck_assert_int_eq(tr_tell(test, narrow, note, .n = 1), TR_OK);
    DO(a(), stop);
    ck_assert_int_eq(tr_tell(test, narrow, note, .n = 2), TR_OK);
    ck_assert_int_eq(tr_tell(test, narrow, note, .n = 3), TR_MAILBOX_FULL);
    tr_resume(test, narrow);
    tr_kit_settle(kit);
    SAID("0; 1; a; 2");
    /* It resets no receive timeout. */
    tr_kit_advance(kit, 6 * MS);
    DO(b(), stop);
    SAID("b");
    tr_kit_advance(kit, 5 * MS);
    SAID("idle");
}
TEST(it_takes_no_room_and_no_time, "M-01", "M-02", "TM-13")
{
    each(play_table);
}

static void play_pill(void)
{
    (void)born("a");
    DO(watcher, watch_all);
    TELL_RUN(test, watcher, sleep_long);
    tr_kit_settle(kit);
    tr_stop(test, watcher); /* it waits for the turn */
    tr_kit_settle(kit);
    DO(a(), stop);
    tr_kit_advance(kit, 20 * MS);
    SAID("");
    ck_assert_int_eq(tr_stop(test, watcher), TR_STOPPED);
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 0);
}
TEST(behind_a_pill_it_is_dropped, "M-01", "Y-01")
{
    each(play_pill);
}

static void play_watcher_first(void)
{
    (void)born("a");
    (void)born("b");
    people_count = 1;
    DO(watcher, watch_all);
    people_count = 2;
    DO(b(), watch_all);
    tr_kill(test, watcher);
    tr_kit_settle(kit);
    DO(a(), stop);
    SAID("a"); /* to b alone */
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 0);
}
TEST(a_watcher_that_ends_first, "WA-13")
{
    each(play_watcher_first);
}

/* ---- Restarts. ---- */

TR_ACTOR(undying, run);
static tr_next on_new_start(tr_self *self)
{
    say("up");
    return people_count > 2 ? watch_all(self) : TR_SAME; /* to watch them still changes nothing */
}
TR_BEHAVIOR(undying, void, TR_ON(run, on_run), TR_ON(tr_post_restart, on_new_start),
            TR_ON(tr_terminated, on_terminated));

/* Both sides are restarted, and the watch stands. */
static void play_restart(void)
{
    undying_ref first;
    undying_ref second;
    ck_assert_int_eq(tr_try_spawn_at(test, &first, far, undying, NULL), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(test, &second, home, undying, NULL), TR_OK);
    people[people_count++] = tr_any(first);
    people[people_count++] = tr_any(second);
    if (kits_seed % 2)
        (void)born("c");
    DO(second, watch_all);
    DO(watcher, watch_all);
    DO(first, break_down);
    SAID("up");
    DO(second, break_down);
    SAID("up");
    DO(first, break_down);
    SAID("up");
    DO(first, stop);
    SAID("a; a");
    DO(second, stop);
    SAID("b");
    ck_assert_int_eq(tr_stop(test, watcher), TR_OK);
}
TEST(a_restart_is_no_end, "WA-06", "G-04", "S-04")
{
    each(play_restart);
}

/* ---- Nobody else can say so. ---- */

static tr_next forge(tr_self *self)
{
    tr_tell(self, tr_client_ref(test), tr_terminated, .who = tr_any(watcher));
    tr_tell(self, tr_any(watcher), tr_terminated, .who = people[0]);
    return TR_SAME;
}

static void play_forged(void)
{
    (void)born("a");
    DO(watcher, watch_all);
    DO(a(), forge);
    SAID("");
    ck_assert_uint_eq(dead_letters(TR_UNHANDLED), 1);
    ck_assert_int_eq(tr_watch(test, a()), TR_OK);
    ck_assert_ptr_null(tr_receive(test, tr_terminated, MS));
    DO(a(), stop);
    SAID("a");
    const struct tr_terminated *heard = tr_receive(test, tr_terminated, MS);
    ck_assert_ptr_nonnull(heard);
    ck_assert(tr_is_same(heard->who, people[0]));
    ck_assert_ptr_null(tr_receive(test, tr_terminated, MS));
}
TEST(a_forged_signal_is_none, "G-04")
{
    each(play_forged);
}

TR_ACTOR(lazy, run);
static tr_next pass_on(tr_self *self)
{
    return tr_forward(self, watcher);
}
TR_BEHAVIOR(lazy, void, TR_ON(run, on_run), TR_ON(tr_terminated, pass_on),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static void play_forward(void)
{
    lazy_ref lazy;
    (void)born("a");
    ck_assert_int_eq(tr_try_spawn_at(test, &lazy, far, lazy, NULL), TR_OK);
    DO(lazy, watch_all);
    people[people_count++] = tr_any(lazy);
    DO(watcher, watch_all);
    DO(a(), stop);
    const char *words = said(); /* its own signal, and that the lazy one has failed */
    ck_assert(strcmp(words, "a; b") == 0 || strcmp(words, "b; a") == 0);
}
TEST(a_signal_is_not_forwarded, "G-04", "G-07")
{
    each(play_forward);
}

/* ---- Clients. ---- */

static const struct tr_terminated *hear(tr_time ns)
{
    return tr_receive(test, tr_terminated, ns);
}

static void play_client(void)
{
    (void)born("a");
    (void)born("b");
    ck_assert_int_eq(tr_watch(test, TR_NOBODY), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_unwatch(test, TR_NOBODY), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_watch(test, tr_client_ref(test)), TR_OK);
    ck_assert_int_eq(tr_watch(test, a()), TR_OK);
    ck_assert_int_eq(tr_try_watch(test, a()), TR_OK);
    ck_assert_int_eq(tr_watch(test, b()), TR_OK);
    DO(a(), stop);
    const struct tr_terminated *heard = hear(TR_SECOND);
    ck_assert_ptr_nonnull(heard);
    ck_assert(tr_is_same(heard->who, people[0]));
    ck_assert_ptr_null(hear(MS));
    /* One that waits already is taken back, and another comes for the new watch. */
    DO(b(), stop);
    ck_assert_int_eq(tr_unwatch(test, b()), TR_OK);
    ck_assert_ptr_null(hear(MS));
    ck_assert_int_eq(tr_watch(test, b()), TR_OK);
    ck_assert_int_eq(tr_watch(test, b()), TR_OK);
    heard = hear(TR_SECOND);
    ck_assert_ptr_nonnull(heard);
    ck_assert(tr_is_same(heard->who, people[1]));
    ck_assert_ptr_null(hear(MS));
    ck_assert_int_eq(tr_watch(test, b()), TR_OK);
    ck_assert_int_eq(tr_unwatch(test, b()), TR_OK);
    ck_assert_int_eq(tr_unwatch(test, b()), TR_OK);
    ck_assert_int_eq(tr_watch(test, b()), TR_OK); /* what is left is not received */
}
TEST(a_client_watches, "G-04", "Y-04", "WA-03")
{
    each(play_client);
}

static void play_client_free(void)
{
    tr_client *other;
    tr_client *third;
    (void)born("a");
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &other), TR_OK);
    ck_assert_int_eq(tr_client_new(tr_kit_system(kit), &third), TR_OK);
    people[people_count++] = tr_client_ref(other);
    people[people_count++] = tr_client_ref(third);
    DO(watcher, watch_all);
    ck_assert_int_eq(tr_watch(third, people[1]), TR_OK);
    ck_assert_int_eq(tr_watch(other, people[0]), TR_OK);
    ck_assert_ptr_null(tr_receive(other, note, 0)); /* it takes in that it is watched */
    DO(watcher, watch_unwatch_watch);
    tr_client_free(other);
    tr_kit_settle(kit);
    SAID("b");
    const struct tr_terminated *heard = tr_receive(third, tr_terminated, TR_SECOND);
    ck_assert_ptr_nonnull(heard);
    ck_assert(tr_is_same(heard->who, people[1]));
    DO(a(), stop);
    tr_client_free(third);
    tr_kit_settle(kit);
    SAID("a; c");
}
TEST(a_client_is_watched_and_freed, "G-04", "WA-13")
{
    each(play_client_free);
}

SUITE("watch life", it_comes_after_all_that_the_dead_has_sent, a_late_watch_does_not_overtake,
      a_failed_set_up_ends_a_watch, what_watch_says, it_takes_no_room_and_no_time,
      behind_a_pill_it_is_dropped, a_watcher_that_ends_first, a_restart_is_no_end,
      a_forged_signal_is_none, a_signal_is_not_forwarded, a_client_watches,
      a_client_is_watched_and_freed)
