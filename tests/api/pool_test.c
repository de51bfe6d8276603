/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors of the pool: one per name, on the worker of the name, the same from anywhere.
 */
#include "support/kits.h"

TR_MESSAGE(where, (u32, worker), (u64, n), (ref, me));
TR_REQUEST(visit, where, (u64, n));
TR_MESSAGE(first_words, (str, text));
TR_MESSAGE(fail_now);
TR_MESSAGE(stop_now);
TR_ACTOR(desk, visit, run, fail_now, stop_now);
TR_ACTOR(other_desk, visit);
TR_ACTOR(labelled, visit, run);
TR_ACTOR(stillborn, visit);
TR_ACTOR(eternal, visit, stop_now);
TR_ACTOR(runner, run);

struct desk {
    uint64_t visits;
};

static tr_next on_visit(tr_self *self, struct desk *desk, const struct visit *message)
{
    desk->visits += message->n;
    return tr_reply(
        self, where, .worker = (uint32_t)tr_worker(self), .n = desk->visits, .me = tr_me(self));
}

static tr_next on_fail_now(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "told to");
}

static tr_next on_stop_now(void)
{
    return TR_STOP;
}

static tr_next on_post_stop(tr_self *self)
{
    say("%s stopped", tr_name(self));
    return TR_SAME;
}

TR_BEHAVIOR(desk, struct desk, TR_ON(visit, on_visit), TR_ON(run, on_run),
            TR_ON(fail_now, on_fail_now), TR_ON(stop_now, on_stop_now));
TR_BEHAVIOR(other_desk, struct desk, TR_ON(visit, on_visit));
TR_BEHAVIOR(eternal, struct desk, TR_ON(visit, on_visit), TR_ON(stop_now, on_stop_now),
            TR_OPTIONS(.restart = TR_PERMANENT));
TR_BEHAVIOR(runner, void, TR_ON(run, on_run));

static tr_next label(tr_self *self, struct desk *desk, const struct first_words *message)
{
    (void)desk;
    say("%s begins with %s", tr_name(self), message->text);
    return TR_SAME;
}

TR_BEHAVIOR(labelled, struct desk, TR_SETUP_WITH(first_words, label), TR_ON(visit, on_visit),
            TR_ON(run, on_run), TR_ON(tr_post_stop, on_post_stop));

static tr_next refuse(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "not today");
}

TR_BEHAVIOR(stillborn, struct desk, TR_SETUP(refuse), TR_ON(visit, on_visit));

/* ---- From the test's client. ---- */

static struct where visit_it(tr_ref ref, uint64_t n)
{
    const struct where *answer;
    ck_assert_int_eq(tr_try_await(test, tr_ask(test, desk_ref_of(ref), visit, .n = n), &answer),
                     TR_OK);
    return *answer;
}

static desk_ref spawn_desk(const char *name)
{
    desk_ref desk;
    ck_assert_int_eq(tr_try_pool_spawn(test, &desk, desk, name), TR_OK);
    return desk;
}

static void each_size(void (*play)(void))
{
    for (int workers = 1; workers <= 8; workers *= 2) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(20); seed++) {
            kit_open(workers, seed);
            play();
            kit_close();
        }
    }
}

/* ---- Places. ---- */

TEST(a_name_begins_where_the_ring_says, "P-01", "P-02", "WP-13")
{
    static const struct {
        const char *name;
        uint32_t worker;
    } places[] = {{"orders", 0},
                  {"payments", 0},
                  {"counter", 2},
                  {"orders-1", 1},
                  {"orders-2", 3},
                  {"inventory", 2}};
    kit_open(4, 1);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct where where = visit_it(tr_any(spawn_desk(places[i].name)), 1);
        ck_assert_uint_eq(where.worker, places[i].worker);
        ck_assert_int_eq(tr_pool_worker_of(places[i].name, 4), (int)places[i].worker);
    }
    kit_close();
}

static void play_places(void)
{
    for (int i = 0; i < 50; i++) {
        char name[32];
        snprintf(name, sizeof name, "user-%d", i);
        int workers = tr_system_workers(tr_kit_system(kit));
        ck_assert_int_eq((int)visit_it(tr_any(spawn_desk(name)), 1).worker,
                         tr_pool_worker_of(name, workers));
    }
}

TEST(every_number_of_workers_agrees_with_its_ring, "P-02")
{
    for (int workers = 1; workers <= 8; workers++) {
        kit_open(workers, (uint64_t)workers);
        play_places();
        kit_close();
    }
}

/* ---- One actor per name. ---- */

static uint64_t seen_by_runner;

static tr_next spawn_from_turn(tr_self *self)
{
    desk_ref desk = tr_pool_spawn(self, desk, "front");
    seen_by_runner = desk.bits;
    ck_assert_uint_eq(tr_pool_find(self, desk, "front").bits, desk.bits);
    ck_assert_uint_eq(tr_find(self, desk, "/user/front").bits, desk.bits);
    return TR_SAME;
}

static void play_same_ref(void)
{
    desk_ref first = spawn_desk("front");
    ck_assert_uint_eq(spawn_desk("front").bits, first.bits);
    for (int worker = 0; worker < tr_system_workers(tr_kit_system(kit)); worker++) {
        runner_ref runner;
        ck_assert_int_eq(tr_try_spawn_at(test, &runner, worker, runner, NULL), TR_OK);
        seen_by_runner = 0;
        TELL_RUN(test, runner, spawn_from_turn);
        tr_kit_settle(kit);
        ck_assert_uint_eq(seen_by_runner, first.bits);
    }
    ck_assert_uint_eq(tr_find(test, desk, "/user/front").bits, first.bits);
    ck_assert_uint_eq(tr_pool_find(test, desk, "front").bits, first.bits);
    struct where where = visit_it(tr_any(first), 2);
    ck_assert_uint_eq(where.me.bits, first.bits);
    ck_assert_uint_eq(visit_it(tr_any(spawn_desk("front")), 3).n, 5);
}

TEST(the_same_name_gives_the_same_ref, "P-02", "WP-14")
{
    each_size(play_same_ref);
}

static void play_set_up(void)
{
    labelled_ref first;
    labelled_ref second;
    char text[8] = "one";
    ck_assert_int_eq(tr_try_pool_spawn(test, &first, labelled, "box", first_words, .text = text),
                     TR_OK);
    memcpy(text, "two", 4);
    ck_assert_int_eq(tr_try_pool_spawn(test, &second, labelled, "box", first_words, .text = text),
                     TR_OK);
    tr_kit_settle(kit);
    SAID("box begins with one");
    ck_assert_uint_eq(first.bits, second.bits);
    ck_assert_int_eq(tr_try_pool_spawn(test, &second, labelled, "other"), TR_WRONG_TYPE);
}

TEST(the_first_set_up_message_counts, "P-02")
{
    each_size(play_set_up);
}

static void play_early_mail(void)
{
    desk_ref desk = spawn_desk("front");
    for (uint64_t i = 1; i <= 100; i++)
        tr_tell(test, desk, visit, .n = i);
    ck_assert_uint_eq(visit_it(tr_any(desk), 0).n, 5050);
}

TEST(what_is_told_before_it_is_set_up_waits, "P-02", "M-01")
{
    each_size(play_early_mail);
}

/* ---- Names that are another's, or none. ---- */

static void play_others(void)
{
    desk_ref desk = spawn_desk("front");
    desk_ref plain;
    other_desk_ref other = {.bits = 7};
    tr_error error;
    ck_assert_int_eq(tr_try_pool_spawn_error(test, &other, &error, other_desk, "front"),
                     TR_NAME_EXISTS);
    ck_assert_ptr_nonnull(strstr(error.text, "/user/front"));
    ck_assert_ptr_nonnull(strstr(error.text, "a desk"));
    ck_assert_uint_eq(other.bits, 7);
    ck_assert(tr_is_nobody(tr_pool_find(test, other_desk, "front")));
    ck_assert_int_eq(tr_try_spawn(test, &plain, desk, "front"), TR_NAME_EXISTS);
    /* One that is not an actor of the pool is not given out as if it were. */
    ck_assert_int_eq(tr_try_spawn(test, &plain, desk, "plain"), TR_OK);
    ck_assert(tr_is_nobody(tr_pool_find(test, desk, "plain")));
    ck_assert_int_eq(tr_try_pool_spawn_error(test, &plain, &error, desk, "plain"), TR_NAME_EXISTS);
    ck_assert_ptr_nonnull(strstr(error.text, "not an actor of the pool"));
    ck_assert_uint_eq(visit_it(tr_any(desk), 1).n, 1);
}

TEST(a_name_of_another_behavior_exists, "P-02")
{
    each_size(play_others);
}

TEST(hostile_names_are_refused, "P-02", "L-07")
{
    static const char *const bad[] = {
        NULL, "", "a/b", "/user/a", "a b", "caf\xc3\xa9", "a\n", "%s%n", "$1.0", "\x7f"};
    char longest[TR_NAME_MAX + 2];
    desk_ref desk = {.bits = 7};
    tr_error error;
    kit_open(3, 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *name = bad[i];
        ck_assert_int_eq(tr_try_pool_spawn(test, &desk, desk, name), TR_NAME_INVALID);
        ck_assert_int_eq(tr_try_pool_spawn_error(test, &desk, &error, desk, name), TR_NAME_INVALID);
        ck_assert_int_eq(error.status, TR_NAME_INVALID);
        ck_assert_uint_eq(desk.bits, 7);
        ck_assert(tr_is_nobody(tr_pool_find(test, desk, name)));
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[TR_NAME_MAX + 1] = '\0';
    ck_assert_int_eq(tr_try_pool_spawn(test, &desk, desk, longest), TR_NAME_INVALID);
    longest[TR_NAME_MAX] = '\0';
    ck_assert_int_eq(tr_try_pool_spawn(test, &desk, desk, longest), TR_OK);
    ck_assert_uint_eq(tr_pool_find(test, desk, longest).bits, desk.bits);
    ck_assert_uint_eq(visit_it(tr_any(desk), 1).n, 1);
    kit_close();
}

TEST(nothing_at_all_is_refused, "P-02")
{
    uint64_t bits = 7;
    const tr_spawn_args args = {.size = sizeof args, .name = "a"};
    const tr_spawn_args old = {.size = 8, .behavior = &tr_behavior_desk, .name = "a"};
    kit_open(1, 1);
    ck_assert_int_eq(tr_client_try_pool_spawn(test, &args, &bits), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_try_pool_spawn(test, &old, &bits), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_try_pool_spawn(test, NULL, &bits), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_try_pool_spawn(NULL, &args, &bits), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_try_pool_spawn(test, &args, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_try_pool_spawn(NULL, &args, &bits), TR_INVALID_ARGUMENT);
    ck_assert(tr_is_nobody(tr_client_pool_find(NULL, NULL, "a")));
    ck_assert(tr_is_nobody(tr_self_pool_find(NULL, NULL, "a")));
    ck_assert_uint_eq(bits, 7);
    kit_close();
}

/* ---- Lives. ---- */

static void play_restart(void)
{
    desk_ref desk = spawn_desk("counter");
    struct where before = visit_it(tr_any(desk), 1);
    for (int i = 0; i < 3; i++) {
        tr_tell(test, desk, fail_now);
        struct where after = visit_it(tr_any(desk), 1);
        ck_assert_uint_eq(after.worker, before.worker);
        ck_assert_uint_eq(after.n, 1);
        ck_assert_uint_eq(after.me.bits, desk.bits);
        ck_assert_uint_eq(tr_pool_find(test, desk, "counter").bits, desk.bits);
        ck_assert_uint_eq(spawn_desk("counter").bits, desk.bits);
    }
    /* Once more is too often: it is gone, and its name is free. */
    tr_tell(test, desk, fail_now);
    tr_kit_settle(kit);
    ck_assert(tr_is_nobody(tr_pool_find(test, desk, "counter")));
    desk_ref next = spawn_desk("counter");
    ck_assert_uint_ne(next.bits, desk.bits);
    ck_assert_uint_eq(visit_it(tr_any(next), 1).worker, before.worker);
}

TEST(a_restart_keeps_name_ref_and_worker, "P-02", "WP-14")
{
    each_size(play_restart);
}

static void play_stop(void)
{
    desk_ref desk = spawn_desk("orders");
    struct where before = visit_it(tr_any(desk), 4);
    tr_stop(test, desk);
    tr_kit_settle(kit);
    ck_assert(tr_is_nobody(tr_pool_find(test, desk, "orders")));
    ck_assert(tr_is_nobody(tr_find(test, desk, "/user/orders")));
    desk_ref next = spawn_desk("orders");
    ck_assert_uint_ne(next.bits, desk.bits);
    struct where after = visit_it(tr_any(next), 1);
    ck_assert_uint_eq(after.worker, before.worker);
    ck_assert_uint_eq(after.n, 1);
    /* The name is another's when nobody has it. */
    tr_kill(test, next);
    tr_kit_settle(kit);
    other_desk_ref other;
    ck_assert_int_eq(tr_try_pool_spawn(test, &other, other_desk, "orders"), TR_OK);
    ck_assert_uint_eq(visit_it(tr_any(other), 1).worker, before.worker);
}

TEST(a_name_is_free_when_its_actor_has_stopped, "P-02", "WP-14")
{
    each_size(play_stop);
}

static tr_next have_child(tr_self *self)
{
    (void)tr_spawn(self, labelled, "kid", first_words, .text = "milk");
    return TR_SAME;
}

static tr_status status_while_stopping;

static tr_next spawn_while_stopping(tr_self *self)
{
    desk_ref desk;
    tr_error error;
    status_while_stopping = tr_try_pool_spawn_error(self, &desk, &error, desk, "front");
    ck_assert(tr_is_nobody(tr_pool_find(self, desk, "front")));
    return TR_SAME;
}

TR_ACTOR(curious);
TR_BEHAVIOR(curious, void, TR_ON(tr_post_stop, spawn_while_stopping));

static tr_next have_curious_child(tr_self *self)
{
    (void)tr_spawn(self, curious, "kid");
    return TR_SAME;
}

TEST(one_that_is_stopping_is_neither_found_nor_replaced, "P-02", "L-06")
{
    kit_open(2, 1);
    desk_ref desk = spawn_desk("front");
    TELL_RUN(test, desk, have_curious_child);
    tr_kit_settle(kit);
    status_while_stopping = TR_OK;
    tr_stop(test, desk);
    tr_kit_settle(kit);
    ck_assert_int_eq(status_while_stopping, TR_STOPPING);
    (void)spawn_desk("front");
    kit_close();
}

static void play_eternal(void)
{
    eternal_ref first;
    eternal_ref again;
    ck_assert_int_eq(tr_try_pool_spawn(test, &first, eternal, "orders-2"), TR_OK);
    struct where before = visit_it(tr_any(first), 1);
    tr_tell(test, first, stop_now);
    tr_kit_settle(kit);
    eternal_ref second = tr_pool_find(test, eternal, "orders-2");
    ck_assert(!tr_is_nobody(second));
    ck_assert_uint_ne(second.bits, first.bits);
    ck_assert_int_eq(tr_try_pool_spawn(test, &again, eternal, "orders-2"), TR_OK);
    ck_assert_uint_eq(again.bits, second.bits);
    ck_assert_uint_eq(visit_it(tr_any(second), 1).worker, before.worker);
}

TEST(one_that_always_comes_back_is_of_the_pool_again, "P-02", "WP-14")
{
    each_size(play_eternal);
}

static void play_stillborn(void)
{
    stillborn_ref ref;
    tr_error error;
    ck_assert_int_eq(tr_try_pool_spawn(test, &ref, stillborn, "sad"), TR_OK);
    tr_tell(test, ref, visit, .n = 1);
    ck_assert_int_eq(tr_spawn_wait(test, ref, TR_SECOND, &error), TR_INIT_FAILED);
    ck_assert_int_eq(error.status, TR_BAD_DATA);
    ck_assert(tr_is_nobody(tr_pool_find(test, stillborn, "sad")));
    tr_kit_settle(kit);
    ck_assert_uint_eq(dead_letters(TR_STOPPED), 1);
    ck_assert_int_eq(tr_try_pool_spawn(test, &ref, stillborn, "sad"), TR_OK);
}

TEST(a_set_up_that_fails_leaves_the_name_free, "P-02", "L-04")
{
    each_size(play_stillborn);
}

static void play_shutdown(void)
{
    desk_ref desk = spawn_desk("front");
    labelled_ref box;
    ck_assert_int_eq(tr_try_pool_spawn(test, &box, labelled, "box", first_words, .text = "one"),
                     TR_OK);
    TELL_RUN(test, desk, have_child);
    tr_system_shutdown(tr_kit_system(kit), TR_SECOND);
    ck_assert_int_eq(tr_try_pool_spawn(test, &desk, desk, "late"), TR_STOPPING);
    tr_kit_settle(kit);
    ck_assert_int_eq(tr_try_pool_spawn(test, &desk, desk, "front"), TR_STOPPING);
    ck_assert(tr_is_nobody(tr_pool_find(test, desk, "front")));
    ck_assert_int_eq(tr_tell(test, desk, visit, .n = 1), TR_STOPPED);
    said();
}

TEST(a_system_that_stops_stops_the_pool, "P-02", "L-06")
{
    each_size(play_shutdown);
}

/* ---- A turn that cannot spawn. ---- */

static tr_next spawn_badly(tr_self *self)
{
    (void)tr_pool_spawn(self, desk, "a/b");
    say("went on");
    return TR_SAME;
}

TEST(a_spawn_that_cannot_be_ends_the_turn, "P-02")
{
    kit_open(2, 1);
    runner_ref runner;
    tr_counters counters;
    ck_assert_int_eq(tr_try_spawn(test, &runner, runner, "runner"), TR_OK);
    TELL_RUN(test, runner, spawn_badly);
    tr_kit_settle(kit);
    SAID("");
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.failures, 1);
    kit_close();
}

/* ---- Asks between workers end as those on one do. ---- */

static tr_next ask_around(tr_self *self)
{
    for (int i = 0; i < 6; i++) {
        char name[32];
        const struct where *answer = NULL;
        snprintf(name, sizeof name, "user-%d", i);
        desk_ref desk = tr_pool_spawn(self, desk, name);
        tr_status status = tr_try_await(self, tr_ask(self, desk, visit, .n = (uint64_t)i), &answer);
        say("%s %s %d", name, tr_status_name(status), answer ? (int)answer->n : -1);
        tr_tell(self, desk, stop_now);
        status = tr_try_await(self, tr_ask(self, desk, visit, .n = 1), &answer);
        say("then %s", tr_status_name(status));
    }
    return TR_SAME;
}

TEST(the_same_program_gives_the_same_on_any_number_of_workers, "P-05", "A-01", "P-02")
{
    char expected[sizeof said_text] = "";
    for (int workers = 1; workers <= 8; workers *= 2) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(20); seed++) {
            kit_open(workers, seed);
            runner_ref runner;
            ck_assert_int_eq(tr_try_spawn(test, &runner, runner, "runner"), TR_OK);
            TELL_RUN(test, runner, ask_around);
            tr_kit_settle(kit);
            const char *text = said();
            if (!expected[0])
                memcpy(expected, text, strlen(text) + 1);
            ck_assert_str_eq(text, expected);
            kit_close();
        }
    }
    ck_assert_ptr_nonnull(strstr(expected, "user-5 TR_OK 5; then TR_STOPPED"));
}

TEST_ABORTS(a_spawn_of_nobody_aborts, "P-02", "U-02")
{
    (void)tr_self_pool_spawn(NULL,
                             TR_SPAWN_ARGS_(&tr_behavior_desk, NULL, "x", -1, NULL, NULL, NULL));
}

/* ---- Memory that runs out. ---- */

TEST(a_spawn_without_memory_changes_nothing, "P-02")
{
    for (uint64_t nth = 1;; nth++) {
        kit_open(2, nth);
        labelled_ref box = {.bits = 7};
        tr_error error;
        tr_kit_fail_allocation(kit, nth, false);
        uint64_t before = tr_kit_allocations(kit);
        tr_status status = tr_try_pool_spawn_error(
            test, &box, &error, labelled, "box", first_words, .text = "a word of some length");
        bool has_failed = tr_kit_allocations(kit) - before >= nth;
        tr_kit_fail_allocation(kit, 0, false);
        if (has_failed) {
            ck_assert_int_eq(status, TR_NO_MEMORY);
            ck_assert_int_eq(error.status, TR_NO_MEMORY);
            ck_assert_uint_eq(box.bits, 7);
            ck_assert(tr_is_nobody(tr_pool_find(test, labelled, "box")));
        }
        ck_assert_int_eq(tr_try_pool_spawn(test, &box, labelled, "box", first_words, .text = "x"),
                         TR_OK);
        ck_assert_uint_eq(visit_it(tr_any(box), 1).n, 1);
        kit_close();
        said_length = 0;
        if (!has_failed)
            break;
    }
}

SUITE("pool", a_name_begins_where_the_ring_says, every_number_of_workers_agrees_with_its_ring,
      the_same_name_gives_the_same_ref, the_first_set_up_message_counts,
      what_is_told_before_it_is_set_up_waits, a_name_of_another_behavior_exists,
      hostile_names_are_refused, nothing_at_all_is_refused, a_restart_keeps_name_ref_and_worker,
      a_name_is_free_when_its_actor_has_stopped, one_that_is_stopping_is_neither_found_nor_replaced,
      one_that_always_comes_back_is_of_the_pool_again, a_set_up_that_fails_leaves_the_name_free,
      a_system_that_stops_stops_the_pool, a_spawn_that_cannot_be_ends_the_turn,
      a_spawn_of_nobody_aborts, the_same_program_gives_the_same_on_any_number_of_workers,
      a_spawn_without_memory_changes_nothing)
