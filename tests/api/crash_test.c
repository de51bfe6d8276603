/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns that end in the middle: tr_crash, and verbs that cannot do what they say. Only that turn
 * ends, wherever it stands on whoever's stack.
 */
#include "support/story.h"
#include "support/test.h"

#include <stdatomic.h>
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

TR_MESSAGE(go, (i32, n));
TR_MESSAGE(went, (i32, n));

/* ---- Children that crash while their parent waits for them. ---- */

TR_ACTOR(child, go);
static tr_next child_set_up(tr_self *self, const struct go *m)
{
    tr_defer(self, (void *)(uintptr_t) "child's defer", story_release);
    tr_at_end(self, (void *)(uintptr_t) "child's cleaner", story_release);
    memset(tr_scratch(self, 3000), 0x77, 3000);
    if (m->n > 1) {
        /* The crash of one below ends this set-up too: it has no way to say so. */
        (void)tr_spawn(self, child, NULL, go, .n = m->n - 1);
        story_add("not reached");
    }
    if (m->n == 1)
        tr_crash(self, TR_BAD_DATA, "row %d of \"%s\"", 5, "table");
    return TR_SAME;
}
TR_BEHAVIOR(child, void, TR_SETUP_WITH(go, child_set_up), TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next starter_start(tr_self *self)
{
    tr_crash(self, TR_BAD_DATA, "at the start");
}
static tr_next starter_stop(void)
{
    story_add("starter stops");
    return TR_SAME;
}
TR_BEHAVIOR(starter, void, TR_ON(tr_pre_start, starter_start), TR_ON(tr_post_stop, starter_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(starter, go);

static tr_next on_spawn(tr_self *self, const struct go *m)
{
    char on_stack[500];
    char *scratch = tr_scratch(self, 500);
    tr_error error = {.status = TR_OK};
    child_ref ref = {.bits = 5};
    memset(on_stack, 0x22, sizeof on_stack);
    memset(scratch, 0x33, 500);
    tr_defer(self, (void *)(uintptr_t) "parent's defer", story_release);
    tr_status status = tr_try_spawn_error(self, &ref, &error, child, "child", go, .n = m->n);
    ck_assert_int_eq(status, TR_INIT_FAILED);
    ck_assert_uint_eq(ref.bits, 5);
    if (m->n == 1) {
        ck_assert_int_eq(error.status, TR_BAD_DATA);
        ck_assert_str_eq(error.text, "row 5 of \"table\"");
    } else {
        ck_assert_ptr_nonnull(strstr(error.text, "cannot spawn child"));
    }
    for (int i = 0; i < 500; i++) {
        ck_assert_int_eq(on_stack[i], 0x22);
        ck_assert_int_eq(scratch[i], 0x33);
    }
    ck_assert_uint_eq(tr_children(self, NULL, 0), 0);
    /* Its name is free: the next one of it starts. */
    ck_assert_int_eq(tr_try_spawn(self, &ref, child, "child", go, .n = 0), TR_OK);
    starter_ref starter;
    ck_assert_int_eq(tr_try_spawn(self, &starter, starter, NULL), TR_OK);
    /* It has failed in its PreStart, and is temporary. */
    ck_assert_int_eq(tr_tell(self, starter, go), TR_STOPPED);
    story_add("parent goes on");
    return tr_reply(self, went, .n = m->n);
}
TR_BEHAVIOR(parent, void, TR_ON(go, on_spawn), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(parent, go);

TEST(a_spawner_survives_the_crash_of_its_child, "S-10", "L-04", "B-09")
{
    begin();
    for (int n = 1; n <= 15; n += 7) {
        parent_ref p = {0};
        ck_assert_int_eq(tr_try_spawn(test, &p, parent, NULL), TR_OK);
        tr_tell(test, p, go, .n = n);
        ck_assert_ptr_nonnull(tr_receive(test, went, TR_SECOND));
        tr_kit_settle(kit);
        const char *told = story_take();
        if (n == 1)
            ck_assert_str_eq(told,
                             "child's defer; child's cleaner; child's defer; "
                             "starter stops; parent goes on; parent's defer");
        ck_assert_ptr_null(strstr(told, "not reached"));
        tr_stop(test, p);
        tr_kit_settle(kit);
        ck_assert_str_eq(story_take(), "child's cleaner");
    }
    end();
}

/* ---- What is left behind by a crash in a message. ---- */

struct fragile {
    int handled;
};
static tr_next on_go(tr_self *self, struct fragile *f, const struct go *m)
{
    char name[40] = "";
    f->handled++;
    for (int i = 0; i < 30; i++)
        name[i] = (char)('a' + i % 26);
    tr_tell(self, tr_sender(self), went, .n = m->n);
    if (m->n == 3)
        tr_crash(self, TR_BAD_DATA, "%s %0500d", name, 1);
    return TR_SAME;
}
static tr_next fragile_stop(struct fragile *f)
{
    story_add("stopped after %d", f->handled);
    return TR_SAME;
}
TR_BEHAVIOR(fragile, struct fragile, TR_ON(go, on_go), TR_ON(tr_post_stop, fragile_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(fragile, go);

TEST(a_crash_ends_one_turn_and_one_actor, "S-10", "M-04")
{
    begin();
    fragile_ref a = {0};
    fragile_ref b = {0};
    ck_assert_int_eq(tr_try_spawn(test, &a, fragile, "a"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &b, fragile, "b"), TR_OK);
    for (int n = 0; n < 6; n++) {
        tr_tell(test, a, go, .n = n);
        tr_tell(test, b, go, .n = n == 3 ? 9 : n);
    }
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "stopped after 4");
    int count = 0;
    while (tr_receive(test, went, 0))
        count++;
    /* What was sent before the crash was sent; what had not been handled is dead letters. */
    ck_assert_int_eq(count, 4 + 6);
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 2);
    ck_assert(tr_is_nobody(tr_find(test, fragile, "/user/a")));
    ck_assert_int_eq(tr_tell(test, b, go, .n = 1), TR_OK);
    end();
}

/* ---- On threads. ---- */

static atomic_int cleaned;
static void count_cleaned(void *resource)
{
    (void)resource;
    atomic_fetch_add(&cleaned, 1);
}
static tr_next hasty_set_up(tr_self *self, const struct go *m)
{
    tr_at_end(self, NULL, count_cleaned);
    (void)tr_alloc(self, 100);
    if (m->n % 3 == 0)
        tr_crash(self, TR_FAILED, "in the set-up");
    return TR_SAME;
}
static tr_next hasty_go(tr_self *self, const struct go *m)
{
    (void)tr_format(self, "%d", (int)m->n);
    tr_crash(self, TR_FAILED, "in a message");
}
static tr_next hasty_stop(tr_self *self)
{
    tr_crash(self, TR_FAILED, "in PostStop");
}
TR_BEHAVIOR(hasty, void, TR_SETUP_WITH(go, hasty_set_up), TR_ON(go, hasty_go),
            TR_ON(tr_post_stop, hasty_stop), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(hasty, go);

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context, (void)level, (void)path, (void)text;
}

TEST(crashes_on_threads_harm_nobody, "S-10", "B-09")
{
    tr_system *system = NULL;
    tr_client *client = NULL;
    tr_system_options options = {.workers = 3, .on_log = no_log};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    int count = (int)test_scale(3000, 30000);
    for (int n = 0; n < count; n++) {
        hasty_ref h = {0};
        ck_assert_int_eq(tr_try_spawn_at(client, &h, n % 3, hasty, NULL, go, .n = n), TR_OK);
        tr_tell(client, h, go, .n = n);
        if (n % 16 == 0)
            ck_assert_int_ne(tr_spawn_wait(client, h, TR_MINUTE, NULL), TR_TIMEOUT);
    }
    tr_client_free(client);
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_counters counters;
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.queued, 0);
    ck_assert_uint_eq(counters.spawned, (uint64_t)count);
    tr_system_free(system);
    /* Those that the shutdown caught before their set-up had nothing to clean. */
    ck_assert_int_le(atomic_load(&cleaned), count);
    ck_assert_int_gt(atomic_load(&cleaned), count / 2);
}

SUITE("crash", a_spawner_survives_the_crash_of_its_child, a_crash_ends_one_turn_and_one_actor,
      crashes_on_threads_harm_nobody)
