/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Supervisors and children on real threads: groups over all workers that fail all the time.
 */
#include "support/stage.h"

#include <stdatomic.h>

enum { BOSSES = 4, KIDS = 6 };

TR_MESSAGE(hit, (u32, n));
TR_ACTOR(boss, hit);
TR_ACTOR(kid, hit);

static atomic_uint begun;
static atomic_uint ended;

static tr_next on_begin(void)
{
    atomic_fetch_add(&begun, 1);
    return TR_SAME;
}

static tr_next on_end(void)
{
    atomic_fetch_add(&ended, 1);
    return TR_SAME;
}

static tr_next kid_hit(tr_self *self, const struct hit *message)
{
    return message->n % 3 == 0 ? tr_fail(self, TR_BAD_DATA, "hit") : TR_SAME;
}

#define SIGNALS                                                                                    \
    TR_ON(tr_pre_start, on_begin), TR_ON(tr_post_stop, on_end), TR_ON(tr_pre_restart, on_end)

TR_BEHAVIOR(kid, void, TR_ON(hit, kid_hit), SIGNALS);

/* Starts its children all over the workers, once for each incarnation. */
struct boss {
    kid_ref kids[KIDS];
};

static tr_next boss_setup(tr_self *self, struct boss *boss)
{
    for (int i = 0; i < KIDS; i++)
        boss->kids[i] = tr_spawn_at(self, i % 3, kid, NULL);
    return TR_SAME;
}

static tr_next boss_hit(tr_self *self, struct boss *boss, const struct hit *message)
{
    (void)tr_tell(self, boss->kids[message->n % KIDS], hit, .n = message->n);
    return message->n % 97 == 0 ? tr_fail(self, TR_BAD_DATA, "hit") : TR_SAME;
}

#define BOSS(name, strategy_)                                                                      \
    TR_BEHAVIOR(name,                                                                              \
                struct boss,                                                                       \
                TR_SETUP(boss_setup),                                                              \
                TR_ON(hit, boss_hit),                                                              \
                SIGNALS,                                                                           \
                TR_SUPERVISE(strategy_, .restarts_max = TR_RESTARTS_MAX))

BOSS(one, TR_ONE_FOR_ONE);
BOSS(all, TR_ALL_FOR_ONE);
BOSS(rest, TR_REST_FOR_ONE);

static uint64_t restarts(tr_system *system)
{
    tr_counters counters;
    tr_system_counters(system, &counters);
    return counters.restarts;
}

TEST(groups_on_several_threads_are_restarted_and_nothing_is_lost, "S-04", "S-07", "L-05", "LC-06")
{
    static const tr_behavior *const kinds[] = {
        &tr_behavior_one, &tr_behavior_all, &tr_behavior_rest};
    const tr_supervision patient = {.restarts_max = TR_RESTARTS_MAX};
    struct theatre theatre;
    const tr_system_options options = {
        .size = sizeof options, .workers = 3, .on_log = theatre_no_log, .supervision = &patient};
    ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
    ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
    ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
    tr_ref bosses[BOSSES];
    for (int i = 0; i < BOSSES; i++) {
        const tr_spawn_args args = {.size = sizeof args, .behavior = kinds[i % 3], .worker = i % 3};
        uint64_t bits = 0;
        ck_assert_int_eq(tr_client_try_spawn(theatre.client, &args, &bits), TR_OK);
        bosses[i] = tr_ref_from_bits(bits);
        ck_assert_int_eq(tr_client_spawn_wait(theatre.client, bosses[i], STAGE_PATIENCE, NULL),
                         TR_OK);
    }
    uint32_t hits = (uint32_t)test_scale(20000, 200000);
    for (uint32_t n = 0; n < hits; n++)
        (void)tr_tell(theatre.client, bosses[n % BOSSES], hit, .n = n / BOSSES);
    /* Each has to come so far that it is restarted for the last failure of its own. */
    uint64_t wanted = hits / BOSSES / 97 * BOSSES;
    for (int i = 0; i < 100000 && restarts(theatre.system) < wanted; i++)
        (void)tr_client_receive(theatre.client, NULL, TR_MILLISECOND);
    ck_assert_uint_gt(wanted, 0);
    ck_assert_uint_ge(restarts(theatre.system), wanted);
    theatre_close(&theatre);
    ck_assert_uint_gt(begun, BOSSES);
    ck_assert_uint_eq(begun, ended);
}

SUITE("supervision threads", groups_on_several_threads_are_restarted_and_nothing_is_lost)
