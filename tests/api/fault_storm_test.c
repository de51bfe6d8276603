/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Native faults on many threads at once. Not under sanitizers: see fault_test.c.
 */
#include "support/faults.h"

#include <stdatomic.h>

TR_MESSAGE(slip, (u32, kind), (u32, pause_us));
TR_MESSAGE(note);
TR_MESSAGE(ready, (ref, client));
TR_MESSAGE(gone);
TR_ACTOR(sailor, slip, note, ready);

struct sailor {
    tr_ref client;
    uint64_t notes;
};

static atomic_uint sailors_cleaned;
static atomic_uint sailors_deferred;

static void sailor_clean(void *unused)
{
    (void)unused;
    atomic_fetch_add(&sailors_cleaned, 1);
}

static void sailor_defer(void *unused)
{
    (void)unused;
    atomic_fetch_add(&sailors_deferred, 1);
}

static tr_next sailor_ready(tr_self *self, struct sailor *sailor, const struct ready *ready)
{
    sailor->client = ready->client;
    tr_at_end(self, sailor, sailor_clean);
    return TR_SAME;
}

static tr_next sailor_slip(tr_self *self, struct sailor *sailor, const struct slip *slip)
{
    (void)sailor;
    tr_defer(self, NULL, sailor_defer);
    if (slip->pause_us)
        tr_sleep(self, slip->pause_us * TR_MICROSECOND);
    slip_now(slip->kind);
    return TR_SAME;
}

static tr_next sailor_note(struct sailor *sailor)
{
    sailor->notes++;
    return TR_SAME;
}

static tr_next sailor_stop(tr_self *self, struct sailor *sailor)
{
    tr_tell(self, sailor->client, gone);
    return TR_SAME;
}
TR_BEHAVIOR(sailor, struct sailor, TR_ON(ready, sailor_ready), TR_ON(slip, sailor_slip),
            TR_ON(note, sailor_note), TR_ON(tr_post_stop, sailor_stop),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static struct theatre theatre_trapping(int workers)
{
    struct theatre theatre;
    const tr_system_options options = {
        .size = sizeof options, .workers = workers, .traps_faults = true, .on_log = theatre_no_log};
    ck_assert_int_eq(tr_system_new(&options, &theatre.system), TR_OK);
    ck_assert_int_eq(tr_client_new(theatre.system, &theatre.client), TR_OK);
    ck_assert_int_eq(tr_system_start(theatre.system), TR_OK);
    return theatre;
}

static void sail(struct theatre *theatre, uint32_t number)
{
    sailor_ref sailor;
    ck_assert_int_eq(tr_try_spawn_at(theatre->client, &sailor, (int)(number % 3), sailor, NULL),
                     TR_OK);
    tr_tell(theatre->client, sailor, ready, .client = tr_client_ref(theatre->client));
    for (uint64_t n = 0; n < 5; n++)
        tr_tell(theatre->client, sailor, note);
    tr_tell(theatre->client, sailor, slip, .kind = number % SLIP_COUNT, .pause_us = number % 3);
}

TEST(two_systems_of_several_workers_survive_a_storm, "S-10", "B-09", "G-01")
{
    if (TEST_HAS_SANITIZER)
        test_skip("sanitizers trap faults themselves");
    struct theatre theatres[2] = {theatre_trapping(3), theatre_trapping(3)};
    const uint32_t rounds = (uint32_t)test_scale(300, 10000);
    enum { AT_ONCE = 10 };
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < AT_ONCE; i++)
            sail(&theatres[i % 2], round + i);
        for (uint32_t i = 0; i < AT_ONCE; i++)
            ck_assert_ptr_nonnull(tr_receive(theatres[i % 2].client, gone, STAGE_PATIENCE));
    }
    theatre_close(&theatres[0]);
    sail(&theatres[1], 0);
    ck_assert_ptr_nonnull(tr_receive(theatres[1].client, gone, STAGE_PATIENCE));
    theatre_close(&theatres[1]);
    ck_assert_uint_eq(atomic_load(&sailors_cleaned), rounds * AT_ONCE + 1);
    ck_assert_uint_eq(atomic_load(&sailors_deferred), 0);
}

SUITE("storms of faults", two_systems_of_several_workers_survive_a_storm)
