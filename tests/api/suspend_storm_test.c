/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Suspend, resume, messages and stops of many at once, in any order, on kits and on real threads:
 * the order of each sender is kept, and nothing is lost.
 */
#include "support/kits.h"

TR_MESSAGE(item, (u32, from), (u32, n));
TR_MESSAGE(act, (ref, target), (u32, from), (u32, count));
TR_MESSAGE(all_here, (u32, count));

enum { SENDERS = 3, SENDS = 40 };

TR_ACTOR(target, item);
struct target {
    uint32_t next[SENDERS];
    uint32_t count;
};
static uint32_t received;
static bool has_ended;
static tr_next on_item(struct target *state, const struct item *message)
{
    ck_assert_uint_eq(message->n, state->next[message->from]);
    state->next[message->from]++;
    received++;
    return TR_SAME;
}
static tr_next on_stop(void)
{
    has_ended = true;
    return TR_SAME;
}
TR_BEHAVIOR(target, struct target, TR_ON(item, on_item), TR_ON(tr_post_stop, on_stop));

/* Sends one after another, and orders between them. */
static uint32_t stops_at; /* 0: nobody stops the target */
static uint32_t sent_total;
TR_ACTOR(sender, act);
struct sender {
    uint32_t sent;
    bool has_suspended;
};
static tr_next on_act(tr_self *self, struct sender *state, const struct act *message)
{
    target_ref target = target_ref_of(message->target);
    uint32_t what = (uint32_t)(tr_random(self) % 8);
    if (what == 0) {
        (void)tr_suspend(self, target);
        state->has_suspended = true;
    } else if (what == 1) {
        (void)tr_resume(self, target);
    } else {
        (void)tr_tell(self, target, item, .from = message->from, .n = state->sent);
        state->sent++;
        sent_total++;
    }
    if (stops_at && sent_total == stops_at)
        (void)(message->from % 2 ? tr_stop(self, target) : tr_kill(self, target));
    if (state->sent < SENDS)
        tr_tell(self,
                sender_ref_of(tr_me(self)),
                act,
                .target = message->target,
                .from = message->from);
    return TR_SAME;
}
TR_BEHAVIOR(sender, struct sender, TR_ON(act, on_act));

static void storm(void)
{
    target_ref target;
    received = 0;
    sent_total = 0;
    has_ended = false;
    ck_assert_int_eq(tr_try_spawn_at(test, &target, home, target, NULL), TR_OK);
    tr_kit_settle(kit);
    for (uint32_t i = 0; i < SENDERS; i++) {
        sender_ref sender;
        ck_assert_int_eq(tr_try_spawn_at(test, &sender, home ? (int)i : 0, sender, NULL), TR_OK);
        tr_tell(test, sender, act, .target = tr_any(target), .from = i);
    }
    for (int i = 0; tr_kit_step(kit); i++) {
        if (i % 5 == 0)
            tr_kit_check(kit);
        if (i % 7 == 0)
            (void)(i % 2 ? tr_suspend(test, target) : tr_resume(test, target));
    }
    tr_kit_check(kit);
    (void)tr_resume(test, target);
    tr_kit_settle(kit);
    ck_assert_uint_eq(sent_total, SENDERS * SENDS);
    if (!stops_at) {
        ck_assert(!has_ended);
        ck_assert_uint_eq(received, SENDERS * SENDS);
        return;
    }
    ck_assert(has_ended);
    uint64_t dead = tr_system_dead_letters(tr_kit_system(kit), NULL, 0, NULL);
    ck_assert_uint_eq(received + dead, SENDERS * SENDS);
}

static void play_storm(void)
{
    stops_at = 0;
    storm();
}

static void play_storm_with_stop(void)
{
    stops_at = 1 + (uint32_t)(kits_seed * 3 % (SENDERS * SENDS));
    storm();
}

TEST(a_storm_of_orders_loses_nothing, "Y-03", "LC-11", "LC-12", "M-04")
{
    kits_each_anywhere(play_storm);
}

TEST(a_storm_that_ends_in_a_stop_loses_nothing, "Y-03", "Y-01", "Y-02", "M-04")
{
    kits_each_anywhere(play_storm_with_stop);
}

/* ---- Real threads. ---- */

TR_ACTOR(real_target, item, act);
struct real_target {
    uint32_t next[SENDERS];
    uint32_t count;
    uint32_t wanted;
    tr_ref who;
};
static tr_next on_real_act(struct real_target *state, const struct act *message)
{
    state->wanted = message->count;
    state->who = message->target;
    return TR_SAME;
}
static tr_next on_real_item(tr_self *self, struct real_target *state, const struct item *message)
{
    if (message->n != state->next[message->from]++)
        return tr_fail(self, TR_FAILED, "out of order");
    if (++state->count == state->wanted)
        tr_tell(self, state->who, all_here, .count = state->count);
    return TR_SAME;
}
TR_BEHAVIOR(real_target, struct real_target, TR_ON(act, on_real_act), TR_ON(item, on_real_item));

TR_ACTOR(real_sender, act);
static tr_next on_real_send(tr_self *self, struct sender *state, const struct act *message)
{
    for (int i = 0; i < 10 && state->sent < message->count; i++)
        tr_tell(self, message->target, item, .from = message->from, .n = state->sent++);
    if (tr_random(self) % 4 == 0)
        tr_suspend(self, message->target);
    tr_resume(self, message->target);
    if (state->sent < message->count)
        tr_tell(self,
                real_sender_ref_of(tr_me(self)),
                act,
                .target = message->target,
                .from = message->from,
                .count = message->count);
    return TR_SAME;
}
TR_BEHAVIOR(real_sender, struct sender, TR_ON(act, on_real_send));

TEST(a_storm_on_real_threads_keeps_order, "Y-03", "LC-11")
{
    uint32_t each = (uint32_t)test_scale(3000, 300000);
    tr_system *system;
    tr_client *client;
    real_target_ref target;
    ck_assert_int_eq(tr_system_new(&(tr_system_options){.workers = 3}, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(client, &target, 0, real_target, NULL), TR_OK);
    tr_tell(client, target, act, .target = tr_client_ref(client), .count = each * SENDERS);
    for (uint32_t i = 0; i < SENDERS; i++) {
        real_sender_ref sender;
        ck_assert_int_eq(tr_try_spawn_at(client, &sender, (int)i, real_sender, NULL), TR_OK);
        tr_tell(client, sender, act, .target = tr_any(target), .from = i, .count = each);
    }
    const struct all_here *answer = NULL;
    for (int i = 0; i < 200 && !answer; i++) {
        (void)tr_suspend(client, target);
        answer = tr_receive(client, all_here, 100 * TR_MICROSECOND);
        (void)tr_resume(client, target);
        if (!answer)
            answer = tr_receive(client, all_here, 100 * TR_MICROSECOND);
    }
    if (!answer)
        answer = tr_receive(client, all_here, 100 * TR_SECOND);
    ck_assert_ptr_nonnull(answer);
    ck_assert_uint_eq(answer->count, each * SENDERS);
    /* A suspended actor does not keep the system from its end. */
    (void)tr_suspend(client, target);
    tr_client_free(client);
    tr_system_shutdown(system, 100 * TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

SUITE("suspend in storms", a_storm_of_orders_loses_nothing,
      a_storm_that_ends_in_a_stop_loses_nothing, a_storm_on_real_threads_keeps_order)
