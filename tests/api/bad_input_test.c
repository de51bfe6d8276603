/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bad input: each is a clear status or nothing at all; nobody else is harmed.
 */
#include "support/story.h"
#include "support/test.h"

#include <stdlib.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

static tr_kit *kit;
static tr_client *test;

TR_MESSAGE(poke, (u64, n));
TR_MESSAGE(rows, (list(u32), numbers), (bytes, data), (str, text));
TR_MESSAGE(need, (u64, n));
TR_MESSAGE(other, (str, text));

static uint64_t pokes;
static tr_next on_poke(void)
{
    pokes++;
    return TR_SAME;
}
TR_BEHAVIOR(plain, void, TR_ON(poke, on_poke), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(plain, poke);

static tr_next set_up_needy(const struct need *m)
{
    ck_assert_uint_eq(m->n, 7);
    return TR_SAME;
}
TR_BEHAVIOR(needy, void, TR_SETUP_WITH(need, set_up_needy), TR_ON(poke, on_poke),
            TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(needy, poke);

/* Runs a piece of a test inside a turn. */
static tr_next (*inside)(tr_self *self);
static tr_next on_run(tr_self *self)
{
    return inside(self);
}
TR_MESSAGE(run);
TR_BEHAVIOR(host, void, TR_ON(run, on_run), TR_OPTIONS(.restart = TR_TEMPORARY));
TR_ACTOR(host, run);

static plain_ref plain;
static host_ref host;

static void begin(void)
{
    kit = tr_kit_new(&(tr_kit_options){.workers = 2});
    ck_assert_ptr_nonnull(kit);
    test = tr_kit_client(kit);
    ck_assert_int_eq(tr_try_spawn(test, &plain, plain, "plain"), TR_OK);
    ck_assert_int_eq(tr_try_spawn(test, &host, host, "host"), TR_OK);
    tr_kit_settle(kit);
}

static void end(void)
{
    uint64_t before = pokes;
    ck_assert_int_eq(tr_tell(test, plain, poke), TR_OK);
    tr_kit_settle(kit);
    ck_assert_uint_eq(pokes, before + 1);
    tr_kit_check(kit);
    tr_kit_free(kit);
}

/* True when the host is still there afterwards. */
static bool run_inside(tr_next (*piece)(tr_self *self))
{
    inside = piece;
    if (tr_is_nobody(tr_find(test, host, "/user/host")))
        ck_assert_int_eq(tr_try_spawn(test, &host, host, "host"), TR_OK);
    ck_assert_int_eq(tr_tell(test, host, run), TR_OK);
    tr_kit_settle(kit);
    return !tr_is_nobody(tr_find(test, host, "/user/host"));
}

/* ---- Names. ---- */

TEST(names_are_checked, "L-07", "U-01", "U-02")
{
    static const char *const bad[] = {"", "/", "a/b", "a b", "ä", "a\n", "\x7f", "a:b", "$1", "*"};
    static const char *const good[] = {"a", "A", "0", "_", ".", "-", "..", "a.B-c_9"};
    begin();
    tr_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        plain_ref p = {.bits = 99};
        ck_assert_int_eq(tr_try_spawn_error(test, &p, &error, plain, bad[i]), TR_NAME_INVALID);
        ck_assert_int_eq(error.status, TR_NAME_INVALID);
        ck_assert_uint_gt(strlen(error.text), 0);
        ck_assert_uint_eq(p.bits, 99);
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        plain_ref p;
        ck_assert_int_eq(tr_try_spawn(test, &p, plain, good[i]), TR_OK);
        ck_assert_int_eq(tr_try_spawn(test, &p, plain, good[i]), TR_NAME_EXISTS);
    }
    char name[TR_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    plain_ref p;
    name[TR_NAME_MAX + 1] = '\0';
    ck_assert_int_eq(tr_try_spawn(test, &p, plain, name), TR_NAME_INVALID);
    name[TR_NAME_MAX] = '\0';
    ck_assert_int_eq(tr_try_spawn(test, &p, plain, name), TR_OK);
    end();
}

TEST(paths_that_are_none_find_nobody, "L-07", "U-02")
{
    char *endless = malloc(100000);
    memset(endless, '/', 99999);
    endless[99999] = '\0';
    const char *const paths[] = {"",
                                 "/",
                                 "//",
                                 "/user/",
                                 "user",
                                 "/user//plain",
                                 "/user/plain/",
                                 "/user/no",
                                 "/USER/plain",
                                 "plain",
                                 endless};
    begin();
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        ck_assert(tr_is_nobody(tr_find(test, plain, paths[i])));
    ck_assert(tr_is_same(tr_find(test, plain, "/user/plain"), plain));
    ck_assert(tr_is_nobody(tr_find(test, plain, NULL)));
    free(endless);
    end();
}

/* ---- NULL wherever a pointer is taken. ---- */

#define NOBODY(ref) ck_assert(tr_is_nobody(ref))
#define INVALID(call) ck_assert_int_eq(call, TR_INVALID_ARGUMENT)

TEST(null_to_a_verb_of_a_client, "U-02")
{
    begin();
    const struct poke m = {1};
    uint64_t bits = 0;
    tr_client *none = NULL;
    tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_plain, .worker = -1};
    INVALID(tr_client_tell(NULL, tr_any(plain), &tr_type_poke, &m));
    INVALID(tr_client_tell(test, tr_any(plain), NULL, &m));
    INVALID(tr_client_tell(test, tr_any(plain), &tr_type_poke, NULL));
    INVALID(tr_client_try_spawn(NULL, &args, &bits));
    INVALID(tr_client_try_spawn(test, NULL, &bits));
    INVALID(tr_client_try_spawn(test, &args, NULL));
    INVALID(tr_client_stop(NULL, tr_any(plain)));
    INVALID(tr_client_kill(NULL, tr_any(plain)));
    INVALID(tr_client_spawn_wait(NULL, tr_any(plain), 0, NULL));
    NOBODY(tr_client_find(NULL, "/user/plain"));
    NOBODY(tr_client_find(test, NULL));
    NOBODY(tr_client_ref(NULL));
    ck_assert_ptr_null(tr_client_system(NULL));
    ck_assert_ptr_null(tr_client_receive(NULL, NULL, 0));
    tr_client_free(NULL);
    INVALID(tr_client_new(NULL, &none));
    INVALID(tr_client_new(tr_kit_system(kit), NULL));
    ck_assert_ptr_null(none);
    ck_assert_uint_eq(bits, 0);
    end();
}

TEST(null_to_a_system_and_a_kit, "U-02")
{
    begin();
    tr_counters counters = {.live = 99};
    size_t count = 99;
    INVALID(tr_system_new(NULL, NULL));
    tr_system_free(NULL);
    INVALID(tr_system_start(NULL));
    INVALID(tr_system_run(NULL));
    INVALID(tr_system_wait(NULL));
    INVALID(tr_system_run_once(NULL, 0));
    ck_assert_int_eq(tr_system_fd(NULL), -1);
    tr_system_shutdown(NULL, 0);
    ck_assert_int_eq(tr_system_workers(NULL), 0);
    tr_system_counters(NULL, &counters);
    tr_system_counters(tr_kit_system(kit), NULL);
    ck_assert_uint_eq(counters.live, 99);
    ck_assert_uint_eq(tr_system_dead_letters(NULL, NULL, 0, &count), 0);
    ck_assert_uint_eq(count, 0);
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 100, &count), 0);
    ck_assert_uint_eq(tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL), 0);
    INVALID(tr_system_subscribe_dead_letters(NULL, tr_any(plain)));
    INVALID(tr_system_unsubscribe_dead_letters(NULL, tr_any(plain)));
    ck_assert_int_eq(tr_system_subscribe_dead_letters(tr_kit_system(kit), TR_NOBODY), TR_STOPPED);
    ck_assert_int_eq(tr_system_unsubscribe_dead_letters(tr_kit_system(kit), TR_NOBODY),
                     TR_NOT_FOUND);
    tr_kit_free(NULL);
    end();
}

static tr_next null_self(tr_self *self)
{
    const struct poke m = {1};
    uint64_t bits = 0;
    tr_ref refs[1];
    tr_spawn_args args = {.size = sizeof args, .behavior = &tr_behavior_plain, .worker = -1};
    INVALID(tr_self_tell(NULL, tr_any(plain), &tr_type_poke, &m));
    INVALID(tr_self_tell(self, tr_any(plain), NULL, &m));
    INVALID(tr_self_tell(self, tr_any(plain), &tr_type_poke, NULL));
    INVALID(tr_self_try_reply(NULL, &tr_type_poke, &m));
    INVALID(tr_self_try_reply(self, NULL, &m));
    INVALID(tr_self_try_reply(self, &tr_type_poke, NULL));
    (void)tr_self_reply(NULL, NULL, NULL);
    (void)tr_self_reply(self, NULL, NULL);
    (void)tr_self_forward(NULL, tr_any(plain));
    INVALID(tr_self_try_spawn(NULL, &args, &bits));
    INVALID(tr_self_try_spawn(self, NULL, &bits));
    INVALID(tr_self_try_spawn(self, &args, NULL));
    NOBODY(tr_self_child(NULL, "a"));
    NOBODY(tr_self_child(self, NULL));
    NOBODY(tr_self_child(self, "a/b"));
    NOBODY(tr_self_find(NULL, "/user"));
    NOBODY(tr_self_find(self, NULL));
    INVALID(tr_self_stop(NULL, tr_any(plain)));
    INVALID(tr_self_kill(NULL, tr_any(plain)));
    INVALID(tr_self_stop_child(NULL, tr_any(plain)));
    ck_assert_int_eq(tr_self_become(NULL, &tr_behavior_plain, NULL, NULL).code, TR_NEXT_SAME);
    ck_assert_int_eq(tr_fail(NULL, TR_FAILED, "nobody").code, TR_NEXT_FAILED);
    NOBODY(tr_me(NULL));
    NOBODY(tr_parent(NULL));
    NOBODY(tr_sender(NULL));
    ck_assert_ptr_nonnull(tr_path(NULL));
    ck_assert_ptr_nonnull(tr_name(NULL));
    ck_assert_uint_eq(tr_children(NULL, refs, 1), 0);
    ck_assert_int_eq(tr_worker(NULL), -1);
    ck_assert_ptr_null(tr_system_of(NULL));
    ck_assert_uint_eq(tr_causal_id(NULL), 0);
    ck_assert_int_eq(tr_now(NULL), 0);
    ck_assert_int_eq(tr_wall_now(NULL), 0);
    ck_assert_uint_eq(tr_random(NULL), 0);
    ck_assert_ptr_null(tr_try_alloc(NULL, 1));
    ck_assert_ptr_null(tr_try_realloc(NULL, NULL, 1));
    ck_assert_ptr_null(tr_try_scratch(NULL, 1));
    tr_free(NULL, NULL);
    ck_assert_ptr_null(tr_strdup(self, NULL));
    tr_buffer_keep(self, NULL);
    tr_log_info(NULL, "nobody");
    story_add("done");
    return TR_SAME;
}

TEST(null_to_a_verb_of_a_handler, "U-02")
{
    begin();
    ck_assert(run_inside(null_self));
    ck_assert_str_eq(story_take(), "done");
    end();
}

static void noop(void *resource)
{
    (void)resource;
}
/* Verbs that can only end the turn do so. */
static tr_next null_cleaner(tr_self *self)
{
    tr_at_end(self, NULL, NULL);
    story_add("not reached");
    return TR_SAME;
}
static tr_next null_defer(tr_self *self)
{
    tr_defer(self, NULL, noop);
    tr_defer(self, NULL, NULL);
    story_add("not reached");
    return TR_SAME;
}
static tr_next null_spawn(tr_self *self)
{
    (void)tr_self_spawn(self, NULL);
    story_add("not reached");
    return TR_SAME;
}
static tr_next null_become(tr_self *self)
{
    return tr_self_become(self, NULL, NULL, NULL);
}
static tr_next null_become_message(tr_self *self)
{
    return tr_self_become(self, &tr_behavior_needy, &tr_type_need, NULL);
}
static tr_next null_fail(tr_self *self)
{
    const char *volatile none = NULL;
    return tr_fail(self, TR_FAILED, none, 1);
}
static tr_next null_strings(tr_self *self)
{
    const char *volatile none = NULL;
    ck_assert_str_eq(tr_format(self, "%s", none), "(null)");
    ck_assert_str_eq(tr_format(self, none, 1), "");
    tr_log_info(self, "%s", none);
    tr_log(self, TR_LEVEL_INFO, none, 1);
    tr_log(self, (tr_level)99, "level");
    tr_crash(self, TR_FAILED, "%s", none);
}

TEST(null_ends_the_turn_of_a_verb_that_cannot_say_so, "U-02")
{
    static tr_next (*const pieces[])(tr_self *) = {null_cleaner,
                                                   null_defer,
                                                   null_spawn,
                                                   null_become,
                                                   null_become_message,
                                                   null_fail,
                                                   null_strings};
    begin();
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        ck_assert(!run_inside(pieces[i]));
        ck_assert_str_eq(story_take(), "");
    }
    end();
}

TEST_ABORTS(memory_for_nobody_aborts, "U-02")
{
    (void)tr_alloc(NULL, 1);
}

/* ---- Types and behaviors that are none. ---- */

TEST(behaviors_that_cannot_be_read_are_refused, "U-02", "B-01")
{
    static const tr_handler no_call[] = {{.type = &tr_type_poke, .name = "none"}, {.type = NULL}};
    static tr_type bad_type;
    static tr_handler bad_row[] = {{.type = &bad_type, .name = "bad"}, {.type = NULL}};
    begin();
    bad_type = tr_type_poke;
    bad_type.abi = TR_ABI + 1;
    bad_row[0].call = tr_behavior_plain.handlers[0].call;
    tr_behavior cases[11];
    for (size_t i = 0; i < 11; i++)
        cases[i] = tr_behavior_needy;
    cases[0].abi = TR_ABI + 1;
    cases[1].size = 8;
    cases[2].handler_size = 8;
    cases[3].name = NULL;
    cases[4].state_name = NULL;
    cases[5].handlers = NULL;
    cases[6].handlers = no_call;
    cases[7].handlers = bad_row;
    cases[8].setup.type = &bad_type;
    cases[9].options.ordering = (tr_ordering)99;
    memset(&cases[10], 0, sizeof cases[10]);
    for (size_t i = 0; i < 11; i++) {
        tr_error error = {.status = TR_OK};
        uint64_t bits = 5;
        const struct need message = {7};
        tr_spawn_args args = {.size = sizeof args,
                              .behavior = &cases[i],
                              .worker = -1,
                              .setup_type = &tr_type_need,
                              .setup = &message,
                              .error = &error};
        ck_assert_msg(tr_client_try_spawn(test, &args, &bits) == TR_INVALID_ARGUMENT, "%zu", i);
        ck_assert_int_eq(error.status, TR_INVALID_ARGUMENT);
        ck_assert_uint_gt(strlen(error.text), 0);
        ck_assert_uint_eq(bits, 5);
    }
    end();
}

static tr_status spawn_raw(const tr_behavior *behavior, int worker, const tr_type *type,
                           const void *message, size_t size)
{
    uint64_t bits = 0;
    tr_spawn_args args = {
        .size = size, .behavior = behavior, .worker = worker, .setup_type = type, .setup = message};
    tr_status status = tr_client_try_spawn(test, &args, &bits);
    ck_assert_int_eq(status == TR_OK, bits != 0);
    return status;
}

TEST(spawn_arguments_out_of_range, "U-02", "B-03")
{
    begin();
    const size_t size = sizeof(tr_spawn_args);
    const struct need need = {7};
    const struct other wrong = {"no"};
    ck_assert_int_eq(spawn_raw(&tr_behavior_needy, -1, &tr_type_need, &need, size), TR_OK);
    ck_assert_int_eq(spawn_raw(&tr_behavior_needy, -1, NULL, NULL, size), TR_WRONG_TYPE);
    ck_assert_int_eq(spawn_raw(&tr_behavior_needy, -1, &tr_type_other, &wrong, size),
                     TR_WRONG_TYPE);
    ck_assert_int_eq(spawn_raw(&tr_behavior_plain, -1, &tr_type_need, &need, size), TR_WRONG_TYPE);
    INVALID(spawn_raw(&tr_behavior_needy, -1, &tr_type_need, NULL, size));
    INVALID(spawn_raw(&tr_behavior_plain, 2, NULL, NULL, size));
    INVALID(spawn_raw(&tr_behavior_plain, INT32_MAX, NULL, NULL, size));
    INVALID(spawn_raw(&tr_behavior_plain, -2, NULL, NULL, size));
    INVALID(spawn_raw(&tr_behavior_plain, INT32_MIN, NULL, NULL, size));
    /* Of a program that knows less of the struct: the rest is 0. */
    ck_assert_int_eq(spawn_raw(&tr_behavior_plain, -1, NULL, NULL, size - 8), TR_OK);
    INVALID(spawn_raw(&tr_behavior_plain, -1, NULL, NULL, 0));
    tr_type bad = tr_type_need;
    bad.abi = 77;
    INVALID(spawn_raw(&tr_behavior_needy, -1, &bad, &need, size));
    end();
}

TEST(messages_that_are_malformed_are_refused, "U-02", "SG-09")
{
    begin();
    uint64_t before = tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL);
    ck_assert_int_ne(tr_tell(test, tr_any(plain), rows, .numbers = {NULL, 3}), TR_OK);
    ck_assert_int_ne(tr_tell(test, tr_any(plain), rows, .data = {NULL, 3}), TR_OK);
    uint32_t one = 1;
    ck_assert_int_eq(tr_tell(test, tr_any(plain), rows, .numbers = {&one, SIZE_MAX}), TR_TOO_LARGE);
    ck_assert_int_eq(tr_tell(test, tr_any(plain), rows, .numbers = {&one, SIZE_MAX / 4 + 2}),
                     TR_TOO_LARGE);
    uint64_t after = tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL);
    ck_assert_uint_eq(after, before + 4);
    end();
}

/* ---- Options and times. ---- */

TEST(options_out_of_range_are_refused, "U-02", "U-01")
{
    tr_platform short_platform = *tr_platform_real();
    short_platform.size = 8;
    const struct {
        tr_system_options options;
        tr_status status;
    } cases[] = {
        {{.workers = -1}, TR_INVALID_ARGUMENT},
        {{.workers = TR_WORKERS_MAX + 1}, TR_LIMIT},
        {{.actors_max = TR_ACTORS_MAX + 1}, TR_LIMIT},
        {{.spin_ns = -2}, TR_INVALID_ARGUMENT},
        {{.size = 3}, TR_INVALID_ARGUMENT},
        {{.size = 100000}, TR_INVALID_ARGUMENT},
        {{.name = "a/b"}, TR_NAME_INVALID},
        {{.name = ""}, TR_NAME_INVALID},
        {{.platform = &short_platform}, TR_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tr_system *system = NULL;
        ck_assert_msg(tr_system_new(&cases[i].options, &system) == cases[i].status, "%zu", i);
        ck_assert_ptr_null(system);
    }
    ck_assert_ptr_null(tr_kit_new(&(tr_kit_options){.workers = -1}));
    ck_assert_ptr_null(tr_kit_new(&(tr_kit_options){.workers = TR_WORKERS_MAX + 1}));
}

TEST(a_limit_on_actors_is_exact, "U-01")
{
    tr_system_options options = {.workers = 1, .actors_max = 10};
    tr_system *system = NULL;
    tr_client *client = NULL;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (int round = 0; round < 50; round++) {
        plain_ref refs[10];
        for (int i = 0; i < 9; i++)
            ck_assert_int_eq(tr_try_spawn(client, &refs[i], plain, NULL), TR_OK);
        ck_assert_int_eq(tr_try_spawn(client, &refs[9], plain, NULL), TR_LIMIT);
        ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
        for (int i = 0; i < 9; i++)
            tr_stop(client, refs[i]);
        ck_assert_int_eq(tr_system_run_once(system, 0), TR_OK);
    }
    tr_client_free(client);
    tr_system_free(system);
}

TEST(times_that_make_no_sense_are_no_harm, "U-02")
{
    begin();
    ck_assert_ptr_null(tr_receive(test, poke, -5));
    ck_assert_ptr_null(tr_receive(test, poke, INT64_MIN));
    plain_ref p = {0};
    ck_assert_int_eq(tr_try_spawn(test, &p, plain, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, p, -1, NULL), TR_TIMEOUT);
    ck_assert_int_eq(tr_spawn_wait(test, p, INT64_MAX - 1, NULL), TR_OK);
    ck_assert_int_eq(tr_spawn_wait(test, TR_NOBODY, TR_SECOND, NULL), TR_STOPPED);
    ck_assert_ptr_null(tr_receive(test, poke, 100 * 365 * 24 * TR_HOUR));
    tr_kit_advance(kit, 0);
    end();
}

/* ---- Refs that are none. ---- */

static uint64_t seed;
static uint64_t random64(void)
{
    uint64_t mixed = seed += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

static tr_ref user; /* whom anybody may tell things, which nobody handles */

/* Anything, or something near to the ref of one who lives. */
static tr_ref forge(void)
{
    uint64_t real[] = {plain.bits, host.bits, tr_client_ref(test).bits, user.bits};
    uint64_t bits = random64();
    if (bits % 4 == 0)
        bits = real[bits / 4 % 3] ^ UINT64_C(1) << (bits >> 58);
    else if (bits % 4 == 1)
        bits = (real[0] & UINT64_C(0xffffffff)) | (bits & ~UINT64_C(0xffffffff));
    else if (bits % 4 == 2)
        bits = (real[0] & ~UINT64_C(0xffffff)) | (bits >> 40);
    for (int i = 0; i < 4; i++) {
        if (bits == real[i])
            bits = 0;
    }
    return tr_ref_from_bits(bits);
}

static uint64_t forged_max;
static tr_next forge_inside(tr_self *self)
{
    for (uint64_t i = 0; i < forged_max; i++) {
        tr_ref ref = forge();
        ck_assert_int_eq(tr_stop(self, ref), TR_STOPPED);
        ck_assert_int_eq(tr_kill(self, ref), TR_STOPPED);
        ck_assert_int_eq(tr_stop_child(self, ref), TR_NOT_FOUND);
        if (i % 4 == 0)
            ck_assert_int_eq(tr_tell(self, ref, poke), TR_STOPPED);
    }
    return TR_SAME;
}

TEST(forged_refs_reach_nobody, "LC-14", "U-02")
{
    seed = test_seed();
    begin();
    /* /user is stopped by tr_system_shutdown only. */
    user = tr_any(tr_find(test, plain, "/user"));
    ck_assert_int_eq(tr_stop(test, user), TR_STOPPED);
    ck_assert_int_eq(tr_kill(test, user), TR_STOPPED);
    tr_kit_settle(kit);
    forged_max = test_scale(500000, 5000000);
    ck_assert(run_inside(forge_inside));
    for (uint64_t i = 0; i < forged_max; i++) {
        tr_ref ref = forge();
        ck_assert_int_eq(tr_stop(test, ref), TR_STOPPED);
        ck_assert_int_eq(tr_kill(test, ref), TR_STOPPED);
        if (i % 4 == 0)
            ck_assert_int_eq(tr_tell(test, ref, poke), TR_STOPPED);
    }
    tr_kit_settle(kit);
    ck_assert_uint_eq(pokes, 0);
    end();
}

SUITE("bad input", names_are_checked, paths_that_are_none_find_nobody, null_to_a_verb_of_a_client,
      null_to_a_system_and_a_kit, null_to_a_verb_of_a_handler,
      null_ends_the_turn_of_a_verb_that_cannot_say_so, memory_for_nobody_aborts,
      behaviors_that_cannot_be_read_are_refused, spawn_arguments_out_of_range,
      messages_that_are_malformed_are_refused, options_out_of_range_are_refused,
      a_limit_on_actors_is_exact, times_that_make_no_sense_are_no_harm, forged_refs_reach_nobody)
