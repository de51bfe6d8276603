/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread looks into a system whose actors start, fail and stop all the time on other threads.
 */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <troupe/observe.h>
#include <troupe/troupe.h>

TR_MESSAGE(tick, (u64, n));
TR_MESSAGE(count, (u64, n), (str, secret));
TR_SECRET(count, secret);
TR_ACTOR(leaf, tick);
TR_ACTOR(parent, tick);

static tr_next on_leaf(tr_self *self, struct count *state, const struct tick *message)
{
    state->n += message->n;
    if (message->n % 7 == 3)
        return tr_fail(self, TR_BAD_DATA, "%llu", (unsigned long long)message->n);
    return message->n % 5 == 1 ? TR_STOP : TR_SAME;
}
TR_BEHAVIOR(leaf, struct count, TR_ON(tick, on_leaf),
            TR_OPTIONS(.shows = &tr_type_count, .restart = TR_TEMPORARY));

/* Starts children that end by themselves, and continues until it is stopped. */
static tr_next on_parent(tr_self *self, const struct tick *message)
{
    char name[32];
    snprintf(name, sizeof name, "leaf-%llu", (unsigned long long)(message->n % 64));
    leaf_ref leaf;
    if (tr_try_spawn(self, &leaf, leaf, message->n % 2 ? name : NULL) == TR_OK) {
        for (uint64_t i = 0; i < 5; i++) /* one of them ends the leaf */
            tr_tell(self, leaf, tick, .n = message->n + i);
    }
    tr_self_tell(self, tr_me(self), &tr_type_tick, &(struct tick){.n = message->n + 1});
    return TR_SAME;
}
TR_BEHAVIOR(parent, void, TR_ON(tick, on_parent));

static void on_log(void *context, tr_level level, const char *path, const char *text)
{
    (void)context, (void)level, (void)path, (void)text;
}

static void look(tr_system *system, tr_client *client)
{
    static tr_actor_info infos[64];
    static tr_worker_info workers[4];
    static tr_behavior_info behaviors[16];
    static tr_failure_record failures[16];
    static tr_actor_report report;
    tr_actor_query query = {.size = 0};
    size_t count;
    uint64_t seen = 0;
    do {
        ck_assert_int_eq(tr_system_actors(system, &query, infos, 64, &count), TR_OK);
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_eq(strncmp(infos[i].path, "/user", 5), 0);
            ck_assert_ptr_nonnull(infos[i].state);
            ck_assert_int_lt(infos[i].worker, 2);
            seen++;
        }
    } while (query.from);
    tr_status status = TR_STOPPED;
    if (count)
        status = tr_actor_show(client, infos[count - 1].actor, &report);
    ck_assert(status == TR_OK || status == TR_STOPPED || status == TR_TIMEOUT);
    ck_assert_uint_ge(seen, 3);
    ck_assert_uint_eq(tr_system_running(system, workers, 4), 2);
    ck_assert_int_eq(tr_system_behaviors(system, behaviors, 16, &count), TR_OK);
    ck_assert_uint_ge(count, 2);
    (void)tr_system_failures(system, failures, 16, &count);
    for (size_t i = 0; i < count; i++)
        ck_assert_str_eq(failures[i].behavior, "leaf");
    (void)tr_system_find(system, "/user/parent-0/leaf-1");
}

TEST(lists_while_actors_come_and_go, "O-07", "O-10")
{
    tr_system *system;
    tr_client *client;
    tr_system_options options = {.workers = 2, .on_log = on_log};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (int i = 0; i < 2; i++) {
        parent_ref parent;
        ck_assert_int_eq(tr_try_spawn_at(client, &parent, i, parent, i ? "parent-1" : "parent-0"),
                         TR_OK);
        tr_tell(client, parent, tick, .n = 1);
    }
    uint64_t rounds = test_scale(500, 5000);
    for (uint64_t round = 0; round < rounds; round++)
        look(system, client);
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

SUITE("observe threads", lists_while_actors_come_and_go)
