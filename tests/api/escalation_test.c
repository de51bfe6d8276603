/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a failure carries with it as it goes up: who it was, which incarnation, and every supervisor
 * that failed by it.
 */
#include "support/crew.h"

static tr_directive always_escalate(tr_self *self, const tr_error *cause)
{
    (void)self;
    (void)cause;
    return TR_ESCALATE;
}

/* What deciders saw last. */
static tr_error seen;
static tr_directive look_and_restart(tr_self *self, const tr_error *cause)
{
    (void)self;
    seen = *cause;
    return TR_RESTART;
}

PARENT(alarmed, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = always_escalate));
PARENT(strict, TR_SUPERVISE(TR_ALL_FOR_ONE, .restarts_max = 2));
PARENT(looking, TR_SUPERVISE(TR_ONE_FOR_ONE, .decide = look_and_restart, .restarts_max = 100));

/* Spawns a child of this behavior below the actor that runs it. */
static const tr_behavior *next_behavior;
static const char *next_name;
static int next_worker;
static tr_ref spawned;
static tr_next spawn_next(tr_self *self)
{
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = next_behavior, .name = next_name, .worker = next_worker};
    uint64_t bits = 0;
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    spawned = tr_ref_from_bits(bits);
    return TR_SAME;
}

static tr_ref put(tr_ref parent, const tr_behavior *behavior, const char *name, int worker)
{
    next_behavior = behavior;
    next_name = name;
    next_worker = worker;
    DO(parent, spawn_next);
    return spawned;
}

static void check_link(const tr_error *error, uint32_t number, tr_ref actor, uint32_t incarnation,
                       tr_error_reason reason)
{
    ck_assert_uint_lt(number, error->link_count);
    ck_assert_uint_eq(error->links[number].actor.bits, actor.bits);
    ck_assert_uint_eq(error->links[number].incarnation, incarnation);
    ck_assert_int_eq(error->links[number].reason, reason);
}

/* The second incarnation of `a` fails; its parent, whose first it is, escalates to one that looks. */
static void play_links(void)
{
    is_quiet = true;
    tr_ref top = crew_spawn_top(&tr_behavior_looking, "top");
    boss = put(top, &tr_behavior_strict, "boss", 0);
    tr_ref low = put(boss, &tr_behavior_alarmed, "low", home);
    tr_ref leaf = put(low, &tr_behavior_kid_plain, "leaf", 0);
    for (uint32_t incarnation = 1; incarnation <= 2; incarnation++) {
        told_text[0] = '\0';
        DO(leaf, fall);
        /* The supervisor that escalates is told of it, too, unless it is gone before. */
        ck_assert(is_up(low));
        leaf = put(low, &tr_behavior_kid_plain, "leaf", 0);
    }
    memset(&seen, 0, sizeof seen);
    DO(leaf, fall);
    ck_assert_int_eq(seen.status, TR_BAD_DATA);
    ck_assert_str_eq(seen.text, "fell");
    ck_assert_str_eq(seen.where, "run");
    ck_assert_str_eq(seen.path, "/user/top/boss/low/leaf");
    ck_assert_uint_eq(seen.actor.bits, leaf.bits);
    ck_assert_uint_eq(seen.incarnation, 1);
    ck_assert_uint_eq(seen.link_count, 2);
    check_link(&seen, 0, low, 3, TR_BY_ESCALATION);
    check_link(&seen, 1, boss, 1, TR_BY_EXHAUSTION);
    (void)said();
    told_text[0] = '\0';
}

TEST(a_failure_names_all_who_failed_by_it, "S-06", "S-10", "SU-04")
{
    kits_each(play_links);
}

static void play_incarnations(void)
{
    crew_open(&tr_behavior_looking, &tr_behavior_kid_plain, 2);
    is_quiet = true;
    for (uint32_t incarnation = 1; incarnation <= 5; incarnation++) {
        memset(&told_cause, 0, sizeof told_cause);
        DO(kid[1], fall);
        ck_assert_uint_eq(seen.incarnation, incarnation);
        ck_assert_str_eq(seen.path, "/user/boss/b");
        ck_assert_uint_eq(seen.link_count, 0);
        ck_assert_uint_eq(told_cause.incarnation, incarnation); /* by tr_child_failed */
        ck_assert_str_eq(told_cause.path, "/user/boss/b");
    }
    (void)said();
    told_text[0] = '\0';
}

TEST(a_failure_knows_its_incarnation, "S-10", "SU-26")
{
    kits_each(play_incarnations);
}

/* One that does not start on another worker has failed before its first incarnation began. */
static void play_no_start(void)
{
    crew_open(&tr_behavior_looking, &tr_behavior_kid_plain, 1);
    if (!home)
        return; /* there its spawner is told at once */
    broken_setup.name = "weak";
    broken_setup.times = 1;
    memset(&told_cause, 0, sizeof told_cause);
    (void)put(boss, &tr_behavior_kid_plain, "weak", 0);
    TOLD("S");
    ck_assert_uint_eq(told_cause.incarnation, 1);
    ck_assert_str_eq(told_cause.path, "/user/boss/weak");
}

TEST(one_that_did_not_start_is_named_too, "L-04", "S-10")
{
    kits_each(play_no_start);
}

/* ---- Up to the root. ---- */

enum { DEPTH = TR_ERROR_LINKS_MAX + 3 };
static tr_ref chain[DEPTH + 1];

static tr_next grow(tr_self *self)
{
    int depth = 0;
    while (depth <= DEPTH && chain[depth].bits != tr_me(self).bits)
        depth++;
    ck_assert_int_lt(depth, DEPTH);
    uint64_t bits = 0;
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_alarmed, .name = "n", .worker = 0};
    ck_assert_int_eq(tr_self_try_spawn(self, &args, &bits), TR_OK);
    chain[depth + 1] = tr_ref_from_bits(bits);
    return TR_SAME;
}

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

/* Runs what there is to do; nobody but this thread does. */
static void turn_over(tr_system *system)
{
    for (int i = 0; i < 100; i++) {
        if (tr_system_run_once(system, 0) != TR_OK)
            return;
    }
}

TEST(what_reaches_the_root_has_the_whole_chain, "S-06", "U-01")
{
    tr_system *system;
    const tr_supervision strict_root = {.decide = always_escalate};
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .on_log = no_log, .supervision = &strict_root};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &test), TR_OK);
    is_quiet = true;
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_alarmed, .name = "n", .worker = 0};
    uint64_t bits = 0;
    tr_error error;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    chain[0] = tr_ref_from_bits(bits);
    for (int i = 0; i < DEPTH; i++) {
        TELL_RUN(test, chain[i], grow);
        turn_over(system);
    }
    ck_assert_int_eq(tr_system_error(system, &error), TR_OK);
    TELL_RUN(test, chain[DEPTH], fall);
    turn_over(system);
    ck_assert_int_eq(tr_system_error(system, &error), TR_ESCALATED);
    ck_assert_int_eq(error.status, TR_BAD_DATA);
    ck_assert_str_eq(error.text, "fell");
    ck_assert_uint_eq(error.actor.bits, chain[DEPTH].bits);
    ck_assert_uint_eq(error.incarnation, 1);
    ck_assert_str_eq(error.path, "/user/n/n/n/n/n/n/n/n/n/n/n/n");
    ck_assert_uint_eq(error.link_count, DEPTH + 1); /* and /user */
    for (uint32_t i = 0; i < TR_ERROR_LINKS_MAX; i++)
        check_link(&error, i, chain[DEPTH - 1 - (int)i], 1, TR_BY_ESCALATION);
    tr_client_free(test);
    tr_system_free(system);
}

TEST(the_last_link_is_the_root, "S-06")
{
    tr_system *system;
    const tr_supervision strict_root = {.strategy = TR_REST_FOR_ONE,
                                        .restarts_max = TR_NO_RESTARTS};
    const tr_system_options options = {
        .size = sizeof options, .workers = 1, .on_log = no_log, .supervision = &strict_root};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &test), TR_OK);
    is_quiet = true;
    char name[TR_NAME_MAX + 1];
    memset(name, 'x', TR_NAME_MAX);
    name[TR_NAME_MAX] = '\0';
    const tr_spawn_args args = {
        .size = sizeof args, .behavior = &tr_behavior_alarmed, .name = name, .worker = 0};
    uint64_t bits = 0;
    tr_error error;
    ck_assert_int_eq(tr_client_try_spawn(test, &args, &bits), TR_OK);
    turn_over(system);
    TELL_RUN(test, tr_ref_from_bits(bits), fall);
    turn_over(system);
    ck_assert_int_eq(tr_system_error(system, &error), TR_ESCALATED);
    ck_assert_uint_eq(error.link_count, 1);
    check_link(&error, 0, TR_NOBODY, 0, TR_BY_EXHAUSTION);
    /* A long path is cut at its front. */
    ck_assert_uint_eq(strlen(error.path), sizeof error.path - 1);
    ck_assert_int_eq(strncmp(error.path, "...xxx", 6), 0);
    tr_client_free(test);
    tr_system_free(system);
}

SUITE("escalation", a_failure_names_all_who_failed_by_it, a_failure_knows_its_incarnation,
      one_that_did_not_start_is_named_too, what_reaches_the_root_has_the_whole_chain,
      the_last_link_is_the_root)
