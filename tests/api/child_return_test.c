/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A child that should always be there, and that somebody ends at an awkward moment: after a failure,
 * while its supervisor decides, in its delay, or before it has begun again.
 */
#include "support/crew.h"

PARENT(plain_boss, TR_OPTIONS(.is_pinned = true));
PARENT(slow_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .backoff = {.initial_ns = 100 * MS}));
KID(permanent, TR_OPTIONS(.restart = TR_PERMANENT));

static tr_ref found(const char *path)
{
    return tr_client_find(test, path);
}

/* A failure does not hide that it was ended by somebody else, whatever its supervisor has decided. */
static void play_end_of_failed(void)
{
    crew_open(&tr_behavior_slow_boss, &tr_behavior_permanent, 1);
    DO(kid[0], fall);
    SAID("");
    TOLD("R");
    if (kits_seed % 2)
        tr_kill(test, kid[0]);
    else
        tr_stop(test, kid[0]);
    tr_kit_settle(kit);
    SAID("a stop");
    tr_kit_advance(kit, TR_SECOND);
    SAID("a set-up; a start");
    TOLD("");
    tr_ref now = found("/user/boss/a");
    ck_assert(is_up(now));
    ck_assert(!tr_is_same(now, kid[0]));
    /* Nobody has decided yet, or just now. */
    tr_kit_advance(kit, TR_MINUTE);
    TELL_RUN(test, now, fall);
    for (uint64_t i = 0; i < kits_seed % 8; i++)
        tr_kit_step(kit);
    tr_kill(test, now);
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    ck_assert(is_up(found("/user/boss/a")));
    (void)said();
    told_text[0] = '\0';
}

TEST(who_is_ended_after_a_failure_comes_back_too, "S-08", "SU-08")
{
    kits_each(play_end_of_failed);
}

/* On another worker there is a while in which it is known and has not started. */
static void play_end_of_returning(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_permanent, 2);
    tr_kill(test, kid[1]);
    tr_ref now = kid[1];
    while (tr_is_nobody(now) || tr_is_same(now, kid[1])) {
        ck_assert(tr_kit_step(kit));
        now = found("/user/boss/b");
    }
    tr_kill(test, now);
    tr_kit_settle(kit);
    ck_assert(!tr_is_same(found("/user/boss/b"), now));
    ck_assert(is_up(found("/user/boss/b")));
    (void)said();
    TOLD("");
}

TEST(who_is_ended_before_it_has_begun_again_comes_back_too, "S-08", "SU-08")
{
    kits_each(play_end_of_returning);
}

static bool has_decided;
static tr_directive give_up(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    has_decided = true;
    return TR_STOP_CHILD;
}
PARENT(strict_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = give_up));

static void play_end_of_given_up(void)
{
    crew_open(&tr_behavior_strict_boss, &tr_behavior_permanent, 1);
    has_decided = false;
    TELL_RUN(test, kid[0], fall);
    for (uint64_t i = 0; i < kits_seed % 8; i++)
        tr_kit_step(kit);
    tr_kill(test, kid[0]);
    tr_kit_settle(kit);
    ck_assert(tr_is_nobody(found("/user/boss/a")) == has_decided);
    (void)said();
    told_text[0] = '\0';
}

TEST(who_is_given_up_is_not_brought_back_by_a_kill, "S-03", "S-08")
{
    kits_each(play_end_of_given_up);
}

/* ---- Its budget. ---- */

PARENT(thrifty_boss, TR_SUPERVISE(TR_ONE_FOR_ONE, .restarts_max = 2));
KID(permanent_parent, TR_OPTIONS(.restart = TR_PERMANENT), TR_CHILD(kid_plain, "x"));

static uint64_t failures(void)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(kit), &counters);
    return counters.failures;
}

/*
 * Each round is a failure and an end, and costs a restart at least, wherever its record is then: on
 * its way to the parent, decided upon, or on its way back. One with a child takes a while to end.
 */
static void play_budget(void)
{
    enum { ROUNDS = 3 };
    bool is_parent = kits_seed % 2;
    crew_open(&tr_behavior_thrifty_boss,
              is_parent ? &tr_behavior_permanent_parent : &tr_behavior_permanent,
              1);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        tr_ref now = found("/user/boss/a");
        if (tr_is_nobody(now))
            break;
        ck_assert(is_up(now));
        uint64_t before = failures();
        TELL_RUN(test, now, fall);
        while (failures() == before)
            ck_assert(tr_kit_step(kit));
        for (uint64_t i = 0; i < kits_seed / 2 % 4; i++)
            tr_kit_step(kit);
        /* Its worker has something else to do, if that is not gone yet. */
        for (uint64_t i = 0; i < 3 && is_parent; i++)
            (void)tr_tell(test, found("/user/boss/a/x"), note, .n = i);
        tr_kill(test, now);
        tr_kit_settle(kit);
        ck_assert(round || !tr_is_nobody(found("/user/boss/a")));
    }
    ck_assert_msg(tr_is_nobody(found("/user/boss/a")),
                  "home %d, seed %" PRIu64 ": it came back %d times",
                  home,
                  kits_seed,
                  ROUNDS);
    (void)said();
    told_text[0] = '\0';
}

TEST(an_end_between_a_failure_and_its_decision_keeps_the_budget, "S-03", "S-08")
{
    kits_each(play_budget);
    for (uint64_t seed = 1000; seed < 1000 + TEST_SEEDS(300); seed++) {
        kit_open(3, seed);
        play_budget();
        kit_close();
    }
}

/* ---- Its place. ---- */

/* Starts the child with the last of the names. */
static tr_next crew_spawn_last(tr_self *self)
{
    const char name[2] = {(char)('a' + kid_count - 1), '\0'};
    const tr_spawn_args args = {.size = sizeof args,
                                .behavior = kid_behavior,
                                .name = name,
                                .worker = kid_count % (home + 1)};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    return TR_SAME;
}

static tr_next list_children(tr_self *self)
{
    static const char *const names[CREW_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    tr_ref children[CREW_MAX];
    size_t count = tr_children(self, children, CREW_MAX);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < CREW_MAX; j++) {
            if (tr_is_same(tr_self_child(self, names[j]), children[i]))
                say("%s", names[j]);
        }
    }
    return TR_SAME;
}

#define MANY_RESTARTS                                                                              \
    .restarts_max = 1000, .backoff = {.initial_ns = 10 * MS, .multiplier = 1, .jitter = 0.9}
PARENT(together_boss, TR_SUPERVISE(TR_ALL_FOR_ONE, MANY_RESTARTS));
PARENT(rest_boss, TR_SUPERVISE(TR_REST_FOR_ONE, MANY_RESTARTS));
PARENT(hasty_boss, TR_SUPERVISE(TR_ALL_FOR_ONE, .restarts_max = 1000));
KID(passing, TR_OPTIONS(.is_pinned = true));

/* Some of them come back, others do not, and all of them end in any order and at any time. */
static void play_places(void)
{
    static const tr_behavior *const bosses[] = {
        &tr_behavior_together_boss, &tr_behavior_rest_boss, &tr_behavior_hasty_boss};
    static char names[CREW_MAX][2] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    uint64_t dice = kits_seed * UINT64_C(0x9e3779b97f4a7c15);
    crew_open(bosses[kits_seed % 3], &tr_behavior_permanent, 0);
    is_quiet = true;
    for (int i = 0; i < CREW_MAX; i++) {
        kid_count = i + 1;
        kid_behavior = dice >> i & 1 ? &tr_behavior_permanent : &tr_behavior_passing;
        DO(boss, crew_spawn_last);
    }
    for (int round = 0; round < 12; round++) {
        dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int who = (int)(dice >> 60) % CREW_MAX;
        char path[32];
        snprintf(path, sizeof path, "/user/boss/%s", names[who]);
        tr_ref child = found(path);
        if (!tr_is_nobody(child)) {
            if (dice >> 40 & 1)
                tr_kill(test, child);
            else
                tr_stop(test, child);
        }
        for (uint64_t i = 0; i < (dice >> 50 & 7); i++)
            tr_kit_step(kit);
        if (!(dice >> 45 & 3))
            tr_kit_advance(kit, 5 * MS);
    }
    tr_kit_settle(kit);
    tr_kit_advance(kit, TR_SECOND);
    (void)said();
    char expected[64] = "";
    for (int i = 0; i < CREW_MAX; i++) {
        char path[32];
        snprintf(path, sizeof path, "/user/boss/%s", names[i]);
        if (!tr_is_nobody(found(path))) {
            size_t length = strlen(expected);
            snprintf(
                expected + length, sizeof expected - length, "%s%s", length ? "; " : "", names[i]);
        }
    }
    DO(boss, list_children);
    SAID(expected);
    told_text[0] = '\0';
}

TEST(who_comes_back_has_its_old_place, "S-07", "S-08")
{
    kits_each(play_places);
}

/* ---- On threads, where failure, decision and end pass each other. ---- */

/* They say nothing: several threads would. */
static tr_next storm_query(tr_self *self)
{
    return tr_reply(self, note, .n = 1);
}
TR_BEHAVIOR(storm_boss, void, TR_ON(run, on_run),
            TR_SUPERVISE(TR_REST_FOR_ONE, .restarts_max = 1, .window_ns = 1));
TR_BEHAVIOR(storm_kid, void, TR_ON(run, on_run), TR_ON(query, storm_query),
            TR_OPTIONS(.restart = TR_PERMANENT));

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

enum { KIDS = 6 };
static const char *const storm_paths[KIDS] = {
    "/user/boss/a", "/user/boss/b", "/user/boss/c", "/user/boss/d", "/user/boss/e", "/user/boss/f"};

/* All of them are there, however often they went. */
static void storm_await(void)
{
    for (int i = 0; i < KIDS; i++) {
        const struct note *reply;
        tr_status status;
        do {
            tr_ref child = found(storm_paths[i]);
            query_ask asked = tr_ask_within(test, TR_MINUTE, child, query, .n = 1);
            status = tr_try_await(test, asked, &reply);
            ck_assert_int_ne(status, TR_TIMEOUT);
        } while (status != TR_OK);
    }
}

TEST(failures_and_ends_at_once_lose_nobody, "S-08", "S-09")
{
    enum { ROUNDS = TEST_HAS_SANITIZER ? 2000 : 10000 };
    tr_system *system;
    const tr_system_options options = {.size = sizeof options, .workers = 3, .on_log = no_log};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &test), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    is_quiet = true;
    home = 2;
    kid_count = KIDS;
    kid_behavior = &tr_behavior_storm_kid;
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_storm_boss, .name = "boss", .worker = 0};
    uint64_t bits;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    TELL_RUN(test, tr_ref_from_bits(bits), crew_spawn);
    uint64_t dice = 1;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 20 == 0)
            storm_await();
        dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        tr_ref child = found(storm_paths[(dice >> 40) % KIDS]);
        (void)TELL_RUN(test, child, fall);
        if (dice >> 50 & 1)
            (void)tr_kill(test, child);
    }
    storm_await();
    tr_system_shutdown(system, TR_MINUTE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_client_free(test);
    tr_system_free(system);
}

/* ---- An order for which there is no memory was not given. ---- */

static tr_next kill_in_vain(tr_self *self)
{
    tr_kit_fail_allocation(kit, 1, true);
    /* What the worker has in store is used up before. */
    while (tr_tell(self, tr_me(self), note, .n = 0) == TR_OK)
        ;
    ck_assert_int_eq(tr_kill(self, kid[0]), home ? TR_NO_MEMORY : TR_OK);
    ck_assert_int_eq(tr_stop(self, kid[0]), home ? TR_NO_MEMORY : TR_OK);
    tr_kit_fail_allocation(kit, 0, false);
    return TR_SAME;
}

static void play_dismissal_in_vain(void)
{
    crew_open(&tr_behavior_plain_boss, &tr_behavior_permanent, 1);
    DO(boss, kill_in_vain);
    ck_assert(tr_is_nobody(found("/user/boss/a")) == !home);
    if (!home)
        return; /* to one on the same worker it needs none */
    tr_kill(test, kid[0]);
    tr_kit_settle(kit);
    ck_assert(is_up(found("/user/boss/a")));
}

TEST(an_order_without_memory_dismisses_nobody, "S-08", "U-03")
{
    kits_each(play_dismissal_in_vain);
}

SUITE("child return", who_is_ended_after_a_failure_comes_back_too,
      who_is_ended_before_it_has_begun_again_comes_back_too,
      who_is_given_up_is_not_brought_back_by_a_kill,
      an_end_between_a_failure_and_its_decision_keeps_the_budget, who_comes_back_has_its_old_place,
      failures_and_ends_at_once_lose_nobody, an_order_without_memory_dismisses_nobody)
