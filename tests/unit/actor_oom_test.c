/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Out of memory while a system is made, and while it is used and freed: on a platform that refuses
 * the n-th allocation, for every n.
 */
#include "os/virtual.h"
#include "support/test.h"

#include <stdio.h>
#include <troupe/system.h>
#include <troupe/troupe.h>

TR_MESSAGE(hello, (u64, n));
TR_MESSAGE(hello_back, (u64, n));
static tr_next on_hello(tr_self *self, const struct hello *m)
{
    return tr_reply(self, hello_back, .n = m->n);
}
TR_BEHAVIOR(greeter, void, TR_ON(hello, on_hello));
TR_ACTOR(greeter, hello);

static tr_status make(struct virtual_platform *virtual, int workers, tr_system **system)
{
    tr_system_options options = {.size = sizeof options,
                                 .workers = workers,
                                 .seed = 1,
                                 .spin_ns = -1,
                                 .platform = &virtual->table};
    return tr_system_new(&options, system);
}

/* A life: made, used by a client, freed. True when every step could be done. */
static bool live(struct virtual_platform *virtual, int workers)
{
    tr_system *system = NULL;
    tr_client *client = NULL;
    greeter_ref greeter = {0};
    tr_status status = make(virtual, workers, &system);
    ck_assert_msg(status == TR_OK || status == TR_NO_MEMORY, "%s", tr_status_name(status));
    ck_assert_int_eq(system != NULL, status == TR_OK);
    if (!system)
        return false;
    bool is_whole = true;
    ck_assert_int_eq(tr_system_workers(system), workers);
    if (tr_client_new(system, &client) != TR_OK) {
        tr_system_free(system);
        return false;
    }
    is_whole &= tr_try_spawn(client, &greeter, greeter, "greeter") == TR_OK;
    is_whole &= tr_tell(client, greeter, hello, .n = 5) == TR_OK;
    while (workers == 1 && tr_system_run_once(system, 0) == TR_OK) {
        if (!tr_is_nobody(greeter) && tr_client_receive(client, NULL, 0))
            break;
        tr_counters counters;
        tr_system_counters(system, &counters);
        if (!counters.queued)
            break;
    }
    if (!tr_is_nobody(greeter))
        (void)tr_stop(client, greeter);
    tr_client_free(client);
    tr_system_free(system);
    return is_whole;
}

static void every_n(int workers, bool and_all_after)
{
    for (uint64_t n = 1;; n++) {
        struct virtual_platform *virtual = tr__virtual_new(1);
        tr__virtual_fail_allocation(virtual, n, and_all_after);
        bool is_whole = live(virtual, workers);
        bool was_reached = virtual->refusals > 0;
        ck_assert_msg(tr__virtual_live_blocks(virtual) == 0,
                      "allocation %u refused: %zu blocks leaked, the oldest is number %u",
                      (unsigned)n,
                      tr__virtual_live_blocks(virtual),
                      (unsigned)tr__virtual_oldest_block(virtual));
        /* The same platform serves the next system. */
        tr__virtual_fail_allocation(virtual, 0, false);
        ck_assert(live(virtual, workers));
        ck_assert_uint_eq(tr__virtual_live_blocks(virtual), 0);
        tr__virtual_free(virtual);
        if (was_reached)
            continue;
        ck_assert(is_whole);
        ck_assert_uint_gt(n, 10);
        return;
    }
}

TEST(a_system_is_made_whole_or_not_at_all, "U-03")
{
    every_n(1, false);
    every_n(1, true);
}

TEST(so_is_one_of_many_workers, "U-03")
{
    every_n(5, false);
    every_n(5, true);
}

TEST(a_system_frees_all_that_it_took, "U-03", "B-05")
{
    for (int workers = 1; workers <= 9; workers += 4) {
        struct virtual_platform *virtual = tr__virtual_new(1);
        for (int i = 0; i < 20; i++) {
            ck_assert(live(virtual, workers));
            ck_assert_uint_eq(tr__virtual_live_blocks(virtual), 0);
        }
        tr__virtual_free(virtual);
    }
}

SUITE("system out of memory", a_system_is_made_whole_or_not_at_all, so_is_one_of_many_workers,
      a_system_frees_all_that_it_took)
