/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory of actors: what belongs to an incarnation goes with it, whatever ended it; what belongs to
 * a turn goes with the turn; and churn takes nothing more from the platform.
 */
#include "actor/cell/system.h"
#include "os/virtual.h"
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

static const struct virtual_platform *platform(void)
{
    return (const struct virtual_platform *)(const void *)tr_kit_system(kit)->platform;
}

static size_t live_bytes(void)
{
    tr_kit_settle(kit);
    return tr__virtual_live_bytes(platform());
}

TR_MESSAGE(act, (str, how));
TR_MESSAGE(hold, (str, how));

/* ---- Every way to end. ---- */

struct holder {
    char *small;
    char *large;
    char zeros[100];
};
TR_ACTOR(holder, act);

static void take(tr_self *self, struct holder *h)
{
    h->small = tr_alloc(self, 24);
    h->large = tr_alloc(self, 100000);
    ck_assert_int_eq(h->large[99999], 0);
    memset(h->large, 1, 100000);
    for (int i = 0; i < 100; i++)
        (void)tr_alloc(self, (size_t)i * 10);
    tr_at_end(self, (void *)(uintptr_t) "first", story_release);
    tr_at_end(self, (void *)(uintptr_t) "second", story_release);
    tr_defer(self, (void *)(uintptr_t) "defer", story_release);
    (void)tr_scratch(self, 50000);
}

__attribute__((__noinline__)) static int deep(tr_self *self, int calls)
{
    char frame[256];
    memset(frame, calls, sizeof frame);
    if (calls == 0)
        tr_crash(self, TR_BAD_DATA, "nine calls deep");
    if (calls < 0)
        return 0;
    int below = deep(self, calls - 1);
    return below + frame[calls];
}

static tr_next do_it(tr_self *self, const char *how)
{
    if (!strcmp(how, "stop"))
        return TR_STOP;
    if (!strcmp(how, "fail"))
        return tr_fail(self, TR_REFUSED, "no");
    if (!strcmp(how, "crash"))
        (void)deep(self, 9);
    if (!strcmp(how, "too much"))
        (void)tr_alloc(self, SIZE_MAX / 2);
    if (!strcmp(how, "become"))
        return tr_self_become(self, NULL, NULL, NULL);
    return TR_SAME;
}
static tr_next holder_set_up(tr_self *self, struct holder *h, const struct hold *m)
{
    take(self, h);
    return do_it(self, m->how);
}
static tr_next holder_act(tr_self *self, struct holder *h, const struct act *m)
{
    ck_assert_int_eq(h->large[99999], 1);
    return do_it(self, m->how);
}
static tr_next holder_stop(struct holder *h)
{
    ck_assert_int_eq(h->large[99999], 1);
    story_add("post");
    return TR_SAME;
}
TR_BEHAVIOR(holder, struct holder, TR_SETUP_WITH(hold, holder_set_up), TR_ON(act, holder_act),
            TR_ON(tr_post_stop, holder_stop), TR_OPTIONS(.restart = TR_TEMPORARY));

/* A holder whose PreStart does something, and one whose parent stops it. */
static tr_next starter_set_up(tr_self *self, struct holder *h)
{
    take(self, h);
    return TR_SAME;
}
static tr_next starter_start(tr_self *self)
{
    (void)deep(self, 9);
    return TR_SAME;
}
TR_BEHAVIOR(starter, struct holder, TR_SETUP(starter_set_up), TR_ON(tr_pre_start, starter_start),
            TR_ON(tr_post_stop, holder_stop), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(starter, act);
static tr_next last_words(tr_self *self)
{
    (void)deep(self, 9);
    return TR_SAME;
}
TR_BEHAVIOR(ender, struct holder, TR_SETUP(starter_set_up), TR_ON(tr_post_stop, last_words),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(ender, act);

static tr_next top_act(tr_self *self, const struct act *m)
{
    if (!strcmp(m->how, "spawn"))
        (void)tr_spawn(self, holder, NULL, hold, .how = "");
    return !strcmp(m->how, "stop") ? TR_STOP : TR_SAME;
}
TR_BEHAVIOR(top, void, TR_ON(act, top_act), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(top, act);

static holder_ref spawn_holder(const char *how)
{
    holder_ref h = {0};
    ck_assert_int_eq(tr_try_spawn(test, &h, holder, "h", hold, .how = how), TR_OK);
    tr_kit_settle(kit);
    return h;
}

/* Plays one way to end from the birth on. */
static void play(const char *path)
{
    holder_ref h = {0};
    top_ref t = {0};
    if (!strncmp(path, "set-up ", 7)) {
        h = spawn_holder(path + 7);
        ck_assert_int_eq(tr_tell(test, h, act), TR_STOPPED);
    } else if (!strcmp(path, "pill") || !strcmp(path, "kill")) {
        h = spawn_holder("");
        ck_assert_int_eq(path[0] == 'p' ? tr_stop(test, h) : tr_kill(test, h), TR_OK);
    } else if (!strcmp(path, "pre start")) {
        starter_ref s;
        ck_assert_int_eq(tr_try_spawn(test, &s, starter, "h"), TR_OK);
    } else if (!strcmp(path, "post stop")) {
        ender_ref e;
        ck_assert_int_eq(tr_try_spawn(test, &e, ender, "h"), TR_OK);
        tr_stop(test, e);
    } else if (!strcmp(path, "parent")) {
        ck_assert_int_eq(tr_try_spawn(test, &t, top, "h"), TR_OK);
        tr_tell(test, t, act, .how = "spawn");
        tr_tell(test, t, act, .how = "stop");
    } else {
        h = spawn_holder("");
        tr_tell(test, h, act, .how = path);
    }
    tr_kit_settle(kit);
}

TEST(memory_and_cleaners_go_on_every_path, "B-05", "B-09", "L-06", "G-07", "LC-15")
{
    static const struct {
        const char *path;
        const char *story;
    } ways[] = {
        {"stop", "defer; post; second; first"},
        {"fail", "defer; post; second; first"},
        {"crash", "defer; post; second; first"},
        {"too much", "defer; post; second; first"},
        {"become", "defer; post; second; first"},
        {"pill", "defer; post; second; first"},
        {"kill", "defer; post; second; first"},
        {"parent", "defer; post; second; first"},
        {"pre start", "defer; post; second; first"},
        {"post stop", "defer; second; first"},
        {"set-up stop", "defer; second; first"},
        {"set-up fail", "defer; second; first"},
        {"set-up crash", "defer; second; first"},
        {"set-up too much", "defer; second; first"},
        {"set-up become", "defer; second; first"},
    };
    begin();
    size_t count = sizeof ways / sizeof ways[0];
    size_t baseline = 0;
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < count; i++) {
            play(ways[i].path);
            ck_assert_msg(
                !strcmp(story_take(), ways[i].story), "%s: %s", ways[i].path, story.taken);
            ck_assert(tr_is_nobody(tr_find(test, holder, "/user/h")));
        }
        if (round == 1)
            baseline = live_bytes();
    }
    /* Names that are over are freed in batches. */
    ck_assert_uint_le(live_bytes(), baseline + 4096);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.live, 0);
    end();
}

TEST(shutdown_frees_what_still_lives, "B-05", "B-09")
{
    begin();
    (void)spawn_holder("");
    end();
    ck_assert_str_eq(story_take(), "defer; post; second; first");
}

/* ---- A cleaner that cannot be registered. ---- */

static tr_next cleaner_act(tr_self *self)
{
    tr_kit_fail_allocation(kit, 1, true);
    for (int i = 0; i < 1000; i++)
        tr_at_end(self, (void *)(uintptr_t) "x", story_release);
    ck_abort_msg("a thousand cleaners need memory");
}
TR_BEHAVIOR(cleaner, void, TR_ON(act, cleaner_act), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(cleaner, act);

TEST(a_cleaner_that_cannot_be_registered_runs_at_once, "B-09", "U-03")
{
    begin();
    cleaner_ref c = {0};
    ck_assert_int_eq(tr_try_spawn(test, &c, cleaner, NULL), TR_OK);
    tr_tell(test, c, act);
    tr_kit_settle(kit);
    tr_kit_fail_allocation(kit, 0, false);
    ck_assert_str_eq(story_take(), "x");
    ck_assert_int_eq(tr_tell(test, c, act), TR_STOPPED);
    end();
}

/* ---- Sizes. ---- */

static tr_next sizes_act(tr_self *self)
{
    void *nothing = tr_alloc(self, 0);
    ck_assert_ptr_nonnull(nothing);
    ck_assert_ptr_ne(nothing, tr_alloc(self, 0));
    char *block = tr_realloc(self, NULL, 10);
    memcpy(block, "123456789", 10);
    for (size_t size = 10; size < 200000; size = size * 3 / 2) {
        block = tr_realloc(self, block, size);
        ck_assert_str_eq(block, "123456789");
        for (size_t i = 10; i < size; i++)
            ck_assert_int_eq(block[i], 0);
    }
    block = tr_realloc(self, block, 20);
    ck_assert_str_eq(block, "123456789");
    ck_assert_ptr_null(tr_try_realloc(self, block, SIZE_MAX));
    ck_assert_ptr_null(tr_try_alloc(self, SIZE_MAX));
    ck_assert_ptr_null(tr_try_scratch(self, SIZE_MAX));
    ck_assert_str_eq(block, "123456789");
    ck_assert_ptr_nonnull(tr_realloc(self, block, 0));
    tr_free(self, NULL);
    ck_assert_ptr_null(tr_strdup(self, NULL));
    ck_assert_ptr_nonnull(tr_scratch(self, 0));
    for (size_t size = 1; size < 100; size++) {
        ck_assert_uint_eq((uintptr_t)tr_alloc(self, size) % 16, 0);
        ck_assert_uint_eq((uintptr_t)tr_scratch(self, size) % 16, 0);
    }
    tr_buffer *buffer = tr_buffer_of_turn(self, 0);
    ck_assert_uint_eq(tr_buffer_size(buffer), 0);
    tr_buffer_keep(self, buffer);
    tr_buffer_keep(self, NULL);
    story_add("done");
    return TR_SAME;
}
TR_BEHAVIOR(sizes, void, TR_ON(act, sizes_act));
TR_ACTOR(sizes, act);

TEST(sizes_of_zero_and_sizes_without_end, "B-05")
{
    begin();
    sizes_ref s = {0};
    ck_assert_int_eq(tr_try_spawn(test, &s, sizes, NULL), TR_OK);
    tr_tell(test, s, act);
    tr_kit_settle(kit);
    ck_assert_str_eq(story_take(), "done");
    end();
}

/* ---- Churn. ---- */

struct churn {
    void *blocks[32];
};
static tr_next churn_act(tr_self *self, struct churn *c)
{
    for (int i = 0; i < 200; i++) {
        uint64_t random = tr_random(self);
        void **block = &c->blocks[random % 32];
        size_t size = (size_t)1 << (random >> 32) % 13;
        if (random >> 63) {
            *block = tr_realloc(self, *block, size);
            memset(*block, 0xee, size);
        } else {
            tr_free(self, *block);
            *block = tr_alloc(self, size);
        }
        memset(tr_scratch(self, size), 0x11, size);
    }
    char *text = tr_format(self, "%0*d", 3000, 7);
    ck_assert_uint_eq(strlen(text), 3000);
    return TR_SAME;
}
TR_BEHAVIOR(churn, struct churn, TR_ON(act, churn_act));
TR_ACTOR(churn, act);

TEST(churn_at_a_constant_size_keeps_memory_constant, "B-05")
{
    begin();
    churn_ref c = {0};
    ck_assert_int_eq(tr_try_spawn(test, &c, churn, NULL), TR_OK);
    size_t half = 0;
    uint64_t rounds = test_scale(2000, 20000);
    for (uint64_t i = 0; i < rounds; i++) {
        tr_tell(test, c, act);
        tr_kit_settle(kit);
        if (i == rounds / 2)
            half = live_bytes();
    }
    /* Blocks that are out change a little; a leak would be rounds times larger. */
    ck_assert_uint_le(live_bytes(), half + half / 4);
    end();
}

static uint64_t scratch_seen[64];
static int scratch_count;
static tr_next scratch_act(tr_self *self)
{
    char *a = tr_scratch(self, 1000);
    memset(a, 'a', 1000);
    /* A child's set-up has scratch memory of its own, above this. */
    (void)tr_spawn(self, holder, NULL, hold, .how = "");
    char *b = tr_format(self, "%s", "b");
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(a[i], 'a');
    ck_assert_str_eq(b, "b");
    scratch_seen[scratch_count++] = (uint64_t)(uintptr_t)a;
    return TR_SAME;
}
TR_BEHAVIOR(scratcher, void, TR_ON(act, scratch_act));
TR_ACTOR(scratcher, act);

TEST(scratch_lives_for_a_turn_and_is_used_again, "B-05")
{
    begin();
    scratcher_ref s = {0};
    ck_assert_int_eq(tr_try_spawn(test, &s, scratcher, NULL), TR_OK);
    for (int i = 0; i < 8; i++) {
        tr_tell(test, s, act);
        tr_kit_settle(kit);
    }
    ck_assert_int_eq(scratch_count, 8);
    ck_assert_uint_eq(scratch_seen[7], scratch_seen[6]);
    tr_stop(test, s);
    end();
}

/* ---- Crashes without end. ---- */

static tr_next fragile_act(tr_self *self, const struct act *m)
{
    tr_defer(self, (void *)(uintptr_t)m, NULL);
    return TR_SAME;
}
static tr_next fragile_start(tr_self *self)
{
    (void)tr_alloc(self, 1000);
    (void)tr_scratch(self, 1000);
    return TR_SAME;
}
static tr_next fragile_set_up(tr_self *self, const struct hold *m)
{
    (void)tr_alloc(self, 1000);
    if (!strcmp(m->how, "now"))
        (void)deep(self, 9);
    return TR_SAME;
}
TR_BEHAVIOR(fragile, void, TR_SETUP_WITH(hold, fragile_set_up), TR_ON(act, fragile_act),
            TR_ON(tr_pre_start, fragile_start), TR_ON(tr_post_stop, last_words),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(fragile, act);

static size_t stacks(void)
{
    return tr_kit_system(kit)->workers[0]->stacks.pool.stacks_count;
}

TEST(ten_thousand_crashes_use_constant_stacks_and_memory, "B-05", "S-10", "U-02")
{
    begin();
    size_t bytes = 0;
    size_t stacks_before = stacks();
    /* To make a fiber costs a thousand times more under ThreadSanitizer. */
    int count = TEST_HAS_SANITIZER ? 3000 : 10000;
    for (int i = 0; i < count; i++) {
        fragile_ref f = {0};
        bool is_now = i % 3 == 0;
        ck_assert_int_eq(
            tr_try_spawn(test, &f, fragile, "f", hold, .how = is_now ? "now" : "later"), TR_OK);
        /* Crashes in the set-up; or in the message, and then again in PostStop. */
        ck_assert_int_eq(tr_spawn_wait(test, f, TR_SECOND, NULL), is_now ? TR_INIT_FAILED : TR_OK);
        tr_tell(test, f, act);
        tr_kit_settle(kit);
        if (i == count / 2)
            bytes = live_bytes();
    }
    ck_assert_uint_eq(stacks(), stacks_before);
    ck_assert_uint_le(live_bytes(), bytes + 4096);
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    ck_assert_uint_eq(counters.spawned, (uint64_t)count);
    ck_assert_uint_eq(counters.live, 0);
    end();
}

SUITE("actor memory", memory_and_cleaners_go_on_every_path, shutdown_frees_what_still_lives,
      a_cleaner_that_cannot_be_registered_runs_at_once, sizes_of_zero_and_sizes_without_end,
      churn_at_a_constant_size_keeps_memory_constant, scratch_lives_for_a_turn_and_is_used_again,
      ten_thousand_crashes_use_constant_stacks_and_memory)
