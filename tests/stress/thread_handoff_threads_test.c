/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Handoff under load: handlers of several workers stand still for about as long as it takes until they are
 * handed off, a little more or a little less, and continue with verbs of all kinds. Nothing is lost, order per
 * sender holds, and no actor runs twice at a time.
 */
#include "support/test.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

#include "base/rng.h"

enum { WORKERS = 2, ACTORS = 6, THREADS_MAX = 6 };
#define PATIENCE (100 * TR_SECOND)
#define AFTER_NS (3 * TR_MILLISECOND)

TR_MESSAGE(answer, (u64, n));
TR_REQUEST(question, answer, (u64, n));
TR_MESSAGE(step, (u32, from), (u64, n), (u64, left));
TR_MESSAGE(nudge);
TR_MESSAGE(finished, (u64, wrong));
TR_ACTOR(player, question, step, nudge);
TR_ACTOR(child, nudge);

static tr_system *system_now;
static player_ref players[ACTORS];
static tr_ref referee;
static atomic_ullong chance;
static atomic_int children_gone;

struct player {
    uint64_t seen[ACTORS + 1];
    uint64_t wrong;
    uint64_t nudges;
    bool is_inside;
};

static uint64_t roll(uint64_t below)
{
    uint64_t state = atomic_fetch_add(&chance, 1);
    return rng_splitmix(&state) % below;
}

/* No sleep: it computes, as far as the runtime knows. */
static void stand_still(tr_self *self)
{
    tr_time end_ns = tr_now(self) + (tr_time)roll(2 * AFTER_NS);
    if (roll(4))
        return;
    while (tr_now(self) < end_ns)
        ;
}

/* The same until a turn is handed off, however late the thread that notices it comes. */
static void stand_until_handed_off(tr_self *self)
{
    tr_time end_ns = tr_now(self) + PATIENCE;
    tr_counters counters;
    do
        tr_system_counters(system_now, &counters);
    while (!counters.handoffs && tr_now(self) < end_ns);
}

static tr_next on_nudge_child(void)
{
    return TR_STOP;
}

static tr_next on_child_stop(void)
{
    atomic_fetch_add(&children_gone, 1);
    return TR_SAME;
}

TR_BEHAVIOR(child, void, TR_ON(nudge, on_nudge_child), TR_ON(tr_post_stop, on_child_stop));

static tr_next on_question(tr_self *self, struct player *state, const struct question *message)
{
    state->wrong += state->is_inside;
    state->is_inside = true;
    if (!roll(4))
        stand_still(self);
    state->is_inside = false;
    return tr_reply(self, answer, .n = message->n + 1);
}

static tr_next on_nudge(struct player *state)
{
    state->wrong += state->is_inside;
    state->nudges++;
    return TR_SAME;
}

/* Each of these lets its thread come in, and some let the turn wait. */
static bool act(tr_self *self, struct player *state, uint64_t n)
{
    const struct answer *got;
    child_ref child;
    tr_status status = TR_OK;
    switch (roll(6)) {
    case 0: {
        state->is_inside = false;
        question_ask asked = tr_ask_within(self, TR_HOUR, players[roll(ACTORS)], question, .n = n);
        status = tr_try_await(self, asked, &got);
        return status == TR_OK ? got->n == n + 1 : status == TR_ASK_CYCLE;
    }
    case 1:
        state->is_inside = false;
        return tr_sleep(self, (tr_time)roll(TR_MILLISECOND)) == TR_OK;
    case 2:
        status = tr_try_spawn(self, &child, child, NULL);
        return status == TR_OK && tr_tell(self, child, nudge) == TR_OK;
    case 3:
        tr_timer_once(self, NULL, (tr_time)roll(TR_MILLISECOND), nudge);
        return true;
    case 4:
        return strstr(tr_format(self, "%s", tr_path(self)), "/user");
    default:
        return true;
    }
}

static tr_next on_step(tr_self *self, struct player *state, const struct step *message)
{
    state->wrong += state->is_inside || message->n != state->seen[message->from];
    state->seen[message->from] = message->n + 1;
    uint32_t me = message->from;
    state->is_inside = true;
    if (me == 0 && message->n == 0)
        stand_until_handed_off(self);
    stand_still(self);
    state->is_inside = false;
    state->wrong += !act(self, state, message->n);
    state->is_inside = true;
    stand_still(self);
    state->is_inside = false;
    if (message->left)
        tr_tell(
            self, tr_me(self), step, .from = me, .n = message->n + 1, .left = message->left - 1);
    else
        tr_tell(self, referee, finished, .wrong = state->wrong);
    return TR_SAME;
}

TR_BEHAVIOR(player, struct player, TR_ON(question, on_question), TR_ON(step, on_step),
            TR_ON(nudge, on_nudge));

static void quiet(void *context, tr_level level, const char *path, const char *text)
{
    (void)context;
    (void)level;
    (void)path;
    (void)text;
}

static void play(tr_balance balance, uint32_t threads_max, uint64_t rounds)
{
    tr_system *system;
    tr_client *client;
    const tr_system_options options = {.size = sizeof options,
                                       .workers = WORKERS,
                                       .balance = balance,
                                       .on_log = quiet,
                                       .handoff_after_ns = AFTER_NS,
                                       .handoff_threads_max = threads_max};
    atomic_store(&chance, test_seed());
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    system_now = system;
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    referee = tr_client_ref(client);
    for (int i = 0; i < ACTORS; i++)
        ck_assert_int_eq(tr_try_spawn(client, &players[i], player, NULL), TR_OK);
    for (uint32_t i = 0; i < ACTORS; i++)
        tr_tell(client, players[i], step, .from = i, .n = 0, .left = rounds);
    for (int i = 0; i < ACTORS; i++) {
        const struct finished *finished = tr_receive(client, finished, PATIENCE);
        ck_assert_ptr_nonnull(finished);
        ck_assert_uint_eq(finished->wrong, 0);
    }
    tr_client_free(client);
    tr_system_shutdown(system, PATIENCE);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_counters counters;
    tr_system_counters(system, &counters);
    printf("%llu handoffs\n", (unsigned long long)counters.handoffs);
    ck_assert_uint_gt(counters.handoffs, 0);
    ck_assert_uint_eq(counters.live, 0);
    ck_assert_uint_eq(counters.accepted,
                      counters.handled + counters.dead_letters - counters.refused);
    tr_system_free(system);
}

TEST(threads_come_and_go_under_load, "O-05", "WP-11")
{
    play(TR_BALANCE_OFF, THREADS_MAX, test_scale(300, 20000));
}

TEST(and_when_actors_move, "O-05")
{
    play(TR_BALANCE_RESTLESS, THREADS_MAX, test_scale(150, 10000));
}

TEST(and_when_threads_are_scarce, "O-05")
{
    play(TR_BALANCE_ON, 1, test_scale(150, 10000));
}

SUITE("stress thread handoff threads", threads_come_and_go_under_load, and_when_actors_move,
      and_when_threads_are_scarce)
