/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rings of barriers that wait for each other's replies: what is one, by one ask or by several, what is
 * none, and how a cycle is reported. The clock does not move where a cycle is found.
 */
#include "support/players.h"

#define EACH_WORLD(workers, seed)                                                                  \
    for (int workers = 1; workers <= 3; workers++)                                                 \
        for (uint64_t seed = 1; seed <= TEST_SEEDS(30); seed++)

static int cycles;       /* asks that ended so */
static int others;       /* and asks that were answered */
static char path[400];   /* the trace of the last cycle */
static bool is_alone[6]; /* whether a player is asked to play as a barrier */

static void cycle_begin(int workers, uint64_t seed)
{
    world_begin(workers, seed);
    cycles = others = 0;
    path[0] = '\0';
    memset(is_alone, true, sizeof is_alone);
}

static void note(tr_self *self, tr_pending asked, tr_status status)
{
    ck_assert_msg(status == TR_OK || status == TR_ASK_CYCLE, "%s", tr_status_name(status));
    cycles += status == TR_ASK_CYCLE;
    others += status == TR_OK;
    if (status == TR_ASK_CYCLE)
        snprintf(path, sizeof path, "%s", tr_self_ask_error(self, asked)->text);
}

static tr_pending ask_player(tr_self *self, int whom, player_call call, int64_t arg)
{
    if (is_alone[whom])
        return tr_ask(self, world.players[whom], play_alone, .call = CALL(call), .arg = arg).any;
    return tr_ask(self, world.players[whom], play, .call = CALL(call), .arg = arg).any;
}

/* Asks the next one, the last one asks the first, which is a barrier. */
static int size;
static tr_next go_round(tr_self *self, struct player *player, int64_t place)
{
    (void)player;
    bool is_last = place == size - 1;
    tr_pending asked = is_last ? ask_player(self, 0, echo, 1)
                               : ask_player(self, (int)place + 1, go_round, place + 1);
    note(self, asked, tr_self_try_await(self, asked, NULL));
    return tr_reply(self, value);
}

static void expect_all_well(tr_time since_ns)
{
    ck_assert_int_eq(tr_kit_now(world.kit), since_ns);
    tr_kit_settle(world.kit);
    for (int i = 0; i < PLAYERS; i++)
        ck_assert_int_eq(outcome_of(ASK_ALONE(i, echo, i).any, NULL), TR_OK);
}

TEST(a_cycle_is_reported_with_its_path, "A-03", "SG-12", "AK-09")
{
    EACH_WORLD(workers, seed)
    {
        for (size = 1; size <= 3; size++) {
            cycle_begin(workers, seed);
            tr_time now_ns = tr_kit_now(world.kit);
            ck_assert_int_eq(outcome_of(ASK_ALONE(0, go_round, 0).any, NULL), TR_OK);
            ck_assert_int_ge(cycles, 1);
            for (int i = 0; i < size; i++) {
                char name[32];
                snprintf(name, sizeof name, "/user/p%d: ", i);
                ck_assert_msg(strstr(path, name) != NULL, "%s is not in: %s", name, path);
            }
            ck_assert_msg(strstr(path, "a cycle") != NULL || size == 1, "%s", path);
            if (size > 1)
                ck_assert_msg(strstr(path, "waits 0 ms for play_alone") != NULL, "%s", path);
            expect_all_well(now_ns);
            world_end();
        }
    }
}

/* One in the middle is no barrier, but the request is in its hands. */
TEST(a_turn_that_is_no_barrier_may_be_in_a_cycle, "A-03", "SG-12")
{
    EACH_WORLD(workers, seed)
    {
        cycle_begin(workers, seed);
        tr_time now_ns = tr_kit_now(world.kit);
        size = 3;
        is_alone[1] = false;
        ck_assert_int_eq(outcome_of(ASK_ALONE(0, go_round, 0).any, NULL), TR_OK);
        ck_assert_int_eq(cycles, 1);
        expect_all_well(now_ns);
        world_end();
    }
}

/* The last to wait is no barrier; all of them are on one worker. */
TEST(a_turn_that_is_no_barrier_may_close_a_cycle, "A-03", "SG-12")
{
    for (uint64_t seed = 1; seed <= TEST_SEEDS(30); seed++) {
        cycle_begin(1, seed);
        tr_time now_ns = tr_kit_now(world.kit);
        size = 2 + (int)(seed % 3);
        for (int i = 1; i < size; i++)
            is_alone[i] = false;
        ck_assert_int_eq(outcome_of(ASK_ALONE(0, go_round, 0).any, NULL), TR_OK);
        ck_assert_int_eq(cycles, 1);
        ck_assert_ptr_nonnull(strstr(path, "p0"));
        ck_assert_ptr_nonnull(strstr(path, "p1"));
        expect_all_well(now_ns);
        world_end();
    }
}

/* Asks a third one and the barrier behind it, and waits for the third one first. */
static tr_next ask_third_and_back(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    tr_pending third = tr_ask(self, world.players[2], play, .call = CALL(echo), .arg = 1).any;
    tr_pending back = tr_ask(self, world.players[0], play_alone, .call = CALL(echo), .arg = 1).any;
    ck_assert_int_eq(tr_self_try_await(self, third, NULL), TR_OK);
    note(self, back, tr_self_try_await(self, back, NULL));
    return tr_reply(self, value);
}

static tr_next ask_who_asks_two(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    tr_pending asked =
        tr_ask(self, world.players[1], play, .call = CALL(ask_third_and_back), .arg = 0).any;
    ck_assert_int_eq(tr_self_try_await(self, asked, NULL), TR_OK);
    return tr_reply(self, value);
}

TEST(it_may_close_it_with_a_later_wait, "A-03", "SG-12")
{
    cycle_begin(1, 1);
    tr_time now_ns = tr_kit_now(world.kit);
    ck_assert_int_eq(outcome_of(ASK_ALONE(0, ask_who_asks_two, 0).any, NULL), TR_OK);
    ck_assert_int_eq(cycles, 1);
    expect_all_well(now_ns);
    world_end();
}

/* It waits behind a barrier that waits for somebody else: that is no cycle. */
static tr_next ask_slow_one(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    tr_pending asked = ask_player(self, 2, slow, 40 * MILLISECONDS);
    note(self, asked, tr_self_try_await(self, asked, NULL));
    return tr_reply(self, value);
}

TEST(a_turn_that_waits_long_and_is_no_barrier_is_in_no_cycle, "A-03", "SG-12")
{
    EACH_WORLD(workers, seed)
    {
        cycle_begin(workers, seed);
        is_alone[1] = false;
        is_alone[2] = false;
        size = 2;
        tr_pending first = ASK_ALONE(0, ask_slow_one, 0).any;
        tr_kit_settle(world.kit);
        /* Player 1 handles a request, and waits for player 0 behind its barrier. */
        ck_assert_int_eq(outcome_of(ASK(1, go_round, 1).any, NULL), TR_OK);
        ck_assert_int_eq(outcome_of(first, NULL), TR_OK);
        ck_assert_int_eq(cycles, 0);
        world_end();
    }
}

/* ---- Several asks. ---- */

enum { BACK = 1, SLOW = 2 };

static tr_next ask_back(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    tr_pending asked = ask_player(self, 0, echo, 1);
    note(self, asked, tr_self_try_await(self, asked, NULL));
    return tr_reply(self, value);
}

/* What the two who are asked do, and whether one of them is enough. */
static int deeds[2];
static bool is_any;
static tr_next ask_two(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    tr_pending asked[2];
    size_t index = 9;
    for (int i = 0; i < 2; i++)
        asked[i] = deeds[i] == BACK ? ask_player(self, i + 1, ask_back, 0)
                                    : ask_player(self, i + 1, slow, MILLISECONDS);
    if (is_any) {
        ck_assert_int_eq(tr_self_await_any(self, &index, asked, 2), TR_OK);
        ck_assert_uint_lt(index, 2);
        if (tr_self_is_answered(self, asked[index]))
            note(self, asked[index], tr_self_try_await(self, asked[index], NULL));
        return tr_reply(self, value);
    }
    tr_status status = tr_self_await_all(self, asked, 2);
    ck_assert(status == TR_OK || status == TR_ASK_CYCLE);
    for (int i = 0; i < 2; i++) {
        ck_assert(tr_self_is_answered(self, asked[i]));
        note(self, asked[i], tr_self_try_await(self, asked[i], NULL));
    }
    return tr_reply(self, value);
}

static void play_two(int first, int second, bool is_enough)
{
    deeds[0] = first;
    deeds[1] = second;
    is_any = is_enough;
    ck_assert_int_eq(outcome_of(ASK_ALONE(0, ask_two, 0).any, NULL), TR_OK);
    tr_kit_settle(world.kit);
}

TEST(of_all_asks_one_in_a_cycle_is_a_cycle, "A-03", "SG-12", "AK-20")
{
    EACH_WORLD(workers, seed)
    {
        for (int which = 0; which < 3; which++) {
            cycle_begin(workers, seed);
            tr_time now_ns = tr_kit_now(world.kit);
            play_two(which == 1 ? SLOW : BACK, which == 0 ? SLOW : BACK, false);
            ck_assert_int_ge(cycles, 1);
            /* The other one is waited for, and answered. */
            expect_all_well(now_ns + (which < 2 ? MILLISECONDS : 0));
            world_end();
        }
    }
}

TEST(of_any_asks_all_must_be_in_a_cycle, "A-03", "SG-12", "AK-20")
{
    EACH_WORLD(workers, seed)
    {
        for (int which = 0; which < 2; which++) {
            cycle_begin(workers, seed);
            tr_time now_ns = tr_kit_now(world.kit);
            play_two(which ? SLOW : BACK, which ? BACK : SLOW, true);
            ck_assert_int_eq(cycles,
                             0); /* one of them answers, and then the other is answered too */
            expect_all_well(now_ns + MILLISECONDS);
            world_end();
        }
    }
}

TEST(of_any_asks_all_in_cycles_are_one, "A-03", "SG-12", "AK-20")
{
    EACH_WORLD(workers, seed)
    {
        cycle_begin(workers, seed);
        if (workers > 1) { /* the one who asks and those who ask back share a worker */
            for (int i = 0; i < 3; i++)
                world.players[i] = world.players[i * workers % PLAYERS];
        }
        tr_time now_ns = tr_kit_now(world.kit);
        play_two(BACK, BACK, true);
        ck_assert_int_ge(cycles, 1);
        ck_assert_int_eq(tr_kit_now(world.kit), now_ns);
        world_end();
    }
}

/* ---- What is no cycle. ---- */

static tr_next ask_slow(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    is_alone[1] = false;
    tr_pending asked = ask_player(self, 1, slow, 5 * MILLISECONDS);
    note(self, asked, tr_self_try_await(self, asked, NULL));
    return tr_reply(self, value);
}

/*
 * 0, a barrier, is about to be answered by a turn of 1 that waits for the time alone; and a barrier
 * of 1 asks 0. The first turn continues whatever the barrier waits for.
 */
TEST(a_request_in_the_hands_of_another_turn_closes_no_cycle, "A-03", "D-03", "SG-12")
{
    EACH_WORLD(workers, seed)
    {
        cycle_begin(workers, seed);
        tr_time now_ns = tr_kit_now(world.kit);
        tr_pending first = ASK_ALONE(0, ask_slow, 0).any;
        tr_kit_settle(world.kit);
        tr_pending second = ASK_ALONE(1, ask_back, 0).any;
        ck_assert_int_eq(outcome_of(second, NULL), TR_OK);
        ck_assert_int_eq(outcome_of(first, NULL), TR_OK);
        ck_assert_int_eq(cycles, 0);
        ck_assert_int_eq(others, 2);
        expect_all_well(now_ns + 5 * MILLISECONDS);
        world_end();
    }
}

/* ---- On threads. ---- */

static player_ref circle[3];
static tr_next ask_neighbour(tr_self *self, struct player *player, int64_t place)
{
    (void)player;
    play_alone_ask asked = tr_ask_within(
        self, TR_HOUR, circle[(place + 1) % 3], play_alone, .call = CALL(echo), .arg = place);
    return tr_reply(self, value, .number = tr_try_await(self, asked, NULL));
}

static void ignore_log(void *context, tr_level level, const char *who, const char *text)
{
    (void)context, (void)level, (void)who, (void)text;
}

/* All three begin at about the same time. Whether they meet or not, none waits for its timeout. */
TEST(cycles_between_threads_are_found, "A-03", "P-05", "SG-12")
{
    tr_system *system;
    tr_client *client;
    uint64_t rounds = test_scale(2000, 100000);
    uint64_t closed = 0;
    tr_system_options options = {.workers = 3, .on_log = ignore_log};
    ck_assert_int_eq(tr_system_new(&options, &system), TR_OK);
    ck_assert_int_eq(tr_system_start(system), TR_OK);
    ck_assert_int_eq(tr_client_new(system, &client), TR_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tr_try_spawn_at(client, &circle[i], i, player, NULL), TR_OK);
    for (uint64_t round = 0; round < rounds; round++) {
        play_alone_ask asked[3];
        for (int i = 0; i < 3; i++)
            asked[i] = tr_ask_within(
                client, TR_HOUR, circle[i], play_alone, .call = CALL(ask_neighbour), .arg = i);
        for (int i = 0; i < 3; i++) {
            const struct value *reply;
            ck_assert_int_eq(tr_try_await(client, asked[i], &reply), TR_OK);
            ck_assert(reply->number == TR_OK || reply->number == TR_ASK_CYCLE);
            closed += reply->number == TR_ASK_CYCLE;
        }
    }
    ck_assert_uint_gt(closed, 0);
    tr_client_free(client);
    tr_system_shutdown(system, TR_SECOND);
    ck_assert_int_eq(tr_system_wait(system), TR_OK);
    tr_system_free(system);
}

/* ---- Who has passed a request on has it no longer. ---- */

static tr_next pass_on(tr_self *self, struct player *player, int64_t arg)
{
    if (!strcmp(tr_name(self), "p1"))
        return tr_forward(self, world.players[2]);
    return slow(self, player, arg);
}

static tr_next ask_who_passes_on(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    tr_pending asked =
        tr_ask(self, world.players[1], play, .call = CALL(pass_on), .arg = 5 * MILLISECONDS).any;
    note(self, asked, tr_self_try_await(self, asked, NULL));
    return tr_reply(self, value);
}

static tr_next ask_the_first(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    tr_pending asked = ask_player(self, 0, echo, 1);
    note(self, asked, tr_self_try_await(self, asked, NULL));
    return tr_reply(self, value);
}

TEST(a_request_that_was_passed_on_closes_no_cycle, "A-03", "D-03")
{
    EACH_WORLD(workers, seed)
    {
        cycle_begin(workers, seed);
        tr_pending first = ASK_ALONE(0, ask_who_passes_on, 0).any;
        tr_kit_settle(world.kit);
        tr_pending second = ASK_ALONE(1, ask_the_first, 0).any;
        ck_assert_int_eq(outcome_of(first, NULL), TR_OK);
        ck_assert_int_eq(outcome_of(second, NULL), TR_OK);
        ck_assert_int_eq(cycles, 0);
        ck_assert_int_eq(others, 2);
        world_end();
    }
}

SUITE("ask cycle", a_cycle_is_reported_with_its_path, a_turn_that_is_no_barrier_may_be_in_a_cycle,
      a_turn_that_is_no_barrier_may_close_a_cycle, it_may_close_it_with_a_later_wait,
      a_turn_that_waits_long_and_is_no_barrier_is_in_no_cycle,
      of_all_asks_one_in_a_cycle_is_a_cycle, of_any_asks_all_must_be_in_a_cycle,
      of_any_asks_all_in_cycles_are_one, a_request_in_the_hands_of_another_turn_closes_no_cycle,
      a_request_that_was_passed_on_closes_no_cycle, cycles_between_threads_are_found)
