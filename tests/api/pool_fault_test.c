/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A mistake in the code of one actor of a pool on many workers: the process ends, or the actor fails
 * alone. What there never is: a system of which a part has silently gone.
 */
#include "support/test.h"

#include <stdlib.h>
#include <troupe/troupe.h>

enum { WORKERS = 4, SECONDS = 60 };

TR_MESSAGE(well, (u32, worker));
TR_REQUEST(how_are_you, well);
TR_MESSAGE(slip);
TR_MESSAGE(give_up);
TR_ACTOR(clerk, how_are_you, slip, give_up);

static volatile int *volatile nowhere = (volatile int *)8;
static const char *const names[] = {"orders", "orders-1", "counter", "orders-2"};

static tr_next on_how_are_you(tr_self *self)
{
    return tr_reply(self, well, .worker = (uint32_t)tr_worker(self));
}

__attribute__((__noinline__)) static tr_next on_slip(void)
{
    *nowhere = 1;
    return TR_SAME;
}

static tr_next on_give_up(void)
{
    abort();
}

TR_BEHAVIOR(clerk, void, TR_ON(how_are_you, on_how_are_you), TR_ON(slip, on_slip),
            TR_ON(give_up, on_give_up));

static void no_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static tr_client *begin(bool traps, clerk_ref *clerks)
{
    const tr_system_options options = {
        .size = sizeof options, .workers = WORKERS, .on_log = no_log, .traps_faults = traps};
    tr_system *system;
    tr_client *client;
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(tr_try_pool_spawn(client, &clerks[i], clerk, names[i]), TR_OK);
    return client;
}

static void all_are_well(tr_client *client, const clerk_ref *clerks)
{
    for (int i = 0; i < WORKERS; i++) {
        const struct well *answer;
        ck_assert_int_eq(
            tr_try_await(client,
                         tr_ask_within(client, SECONDS * TR_SECOND, clerks[i], how_are_you),
                         &answer),
            TR_OK);
        ck_assert_int_eq((int)answer->worker, tr_pool_worker_of(names[i], WORKERS));
        ck_assert_uint_eq(tr_pool_find(client, clerk, names[i]).bits, clerks[i].bits);
    }
}

/* Whoever ends up here was not told that a worker is gone. */
static void wait_in_vain(tr_client *client, clerk_ref clerk)
{
    const struct well *answer;
    tr_status status = tr_try_await(
        client, tr_ask_within(client, SECONDS * TR_SECOND, clerk, how_are_you), &answer);
    ck_abort_msg("the process goes on without one of its workers: %s", tr_status_name(status));
}

TEST(a_fault_that_is_trapped_fails_one_actor, "WP-18", "P-02")
{
    if (TEST_HAS_SANITIZER)
        test_skip("the sanitizer has the signal");
    clerk_ref clerks[WORKERS];
    tr_client *client = begin(true, clerks);
    tr_system *system = tr_client_system(client);
    all_are_well(client, clerks);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < WORKERS; i++)
            tr_tell(client, clerks[i], slip);
        all_are_well(client, clerks);
    }
    tr_counters counters;
    tr_system_counters(system, &counters);
    ck_assert_uint_eq(counters.failures, 3 * WORKERS);
    tr_client_free(client);
    tr_system_shutdown(system, SECONDS * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

TEST_WITH_SIGNAL(a_fault_that_is_not_ends_the_process, TEST_HAS_SANITIZER ? 0 : SIGSEGV, "WP-18")
{
    if (TEST_HAS_SANITIZER)
        test_skip("the sanitizer has the signal");
    clerk_ref clerks[WORKERS];
    tr_client *client = begin(false, clerks);
    all_are_well(client, clerks);
    tr_tell(client, clerks[3], slip);
    wait_in_vain(client, clerks[3]);
}

TEST_ABORTS(an_assertion_that_fails_ends_the_process, "WP-18")
{
    clerk_ref clerks[WORKERS];
    tr_client *client = begin(false, clerks);
    all_are_well(client, clerks);
    tr_tell(client, clerks[2], give_up);
    wait_in_vain(client, clerks[2]);
}

SUITE("pool and faults", a_fault_that_is_trapped_fails_one_actor,
      a_fault_that_is_not_ends_the_process, an_assertion_that_fails_ends_the_process)
