/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns that wait for answers: barriers and rings, several asks at once, what a turn keeps while it
 * waits, and its end.
 */
#include "support/players.h"

#define EACH_WORLD(workers, seed)                                                                  \
    for (int workers = 1; workers <= 3; workers += 2)                                              \
        for (uint64_t seed = 1; seed <= TEST_SEEDS(10); seed++)

/* ---- Oneself, and rings. ---- */

/* Asks the next of a ring of so many players, the last one the first, each in a barrier. */
static int ring_size;

static tr_next ask_ring(tr_self *self, struct player *player, int64_t place)
{
    (void)player;
    const struct value *reply;
    int next = (int)(place + 1) % ring_size;
    if (place >= ring_size) /* what closed the ring runs when it is open again; nobody waits */
        return tr_reply(self, value, .number = TR_OK);
    play_alone_ask asked =
        tr_ask(self, world.players[next], play_alone, .call = CALL(ask_ring), .arg = place + 1);
    tr_status status = tr_try_await(self, asked, &reply);
    if (status == TR_ASK_CYCLE)
        world.count++;
    ck_assert_int_eq(tr_try_await(self, asked, &reply), status);
    return tr_reply(self, value, .number = status);
}

TEST(a_ring_of_barriers_is_found, "A-03", "SG-12", "AK-09")
{
    EACH_WORLD(workers, seed)
    {
        for (ring_size = 1; ring_size <= 4; ring_size++) {
            world_begin(workers, seed);
            tr_time now_ns = tr_kit_now(world.kit);
            int64_t status;
            ck_assert_int_eq(outcome_of(ASK_ALONE(0, ask_ring, 0).any, &status), TR_OK);
            ck_assert_int_ge(world.count, 1);
            ck_assert_int_eq(tr_kit_now(world.kit), now_ns);
            ck_assert_int_eq(status, ring_size == 1 ? TR_ASK_CYCLE : TR_OK);
            /* Nobody is stuck. */
            for (int i = 0; i < ring_size; i++)
                ck_assert_int_eq(outcome_of(ASK(i, echo, 1).any, NULL), TR_OK);
            world_end();
        }
    }
}

static tr_next ask_self(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    play_ask asked = tr_ask(self, world.players[0], play, .call = CALL(echo), .arg = arg);
    return tr_reply(self, value, .number = tr_await(self, asked)->number);
}

TEST(who_asks_himself_without_a_barrier_is_answered, "D-05", "AK-09")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        int64_t number;
        ck_assert_int_eq(outcome_of(ASK(0, ask_self, 12).any, &number), TR_OK);
        ck_assert_int_eq(number, 12);
        /* With one it is an error, and as tr_await ends the turn, its failure. */
        ck_assert_int_eq(outcome_of(ASK_ALONE(0, ask_self, 12).any, NULL), TR_FAILED);
        world_end();
    }
}

/* Answers first and then asks who asked, who is still a barrier: no ring. */
static tr_next answer_and_ask_back(tr_self *self, struct player *player, int64_t whom)
{
    (void)player;
    const struct value *reply;
    tr_reply(self, value, .number = 1);
    play_alone_ask asked =
        tr_ask(self, world.players[whom], play_alone, .call = CALL(echo), .arg = 5);
    world.status = tr_try_await(self, asked, &reply);
    return TR_SAME;
}

static tr_next ask_who_asks_back(tr_self *self, struct player *player, int64_t whom)
{
    (void)player;
    const struct value *reply;
    play_alone_ask asked =
        tr_ask(self, world.players[whom], play_alone, .call = CALL(answer_and_ask_back), .arg = 0);
    ck_assert_int_eq(tr_try_await(self, asked, &reply), TR_OK);
    return tr_reply(self, value);
}

TEST(who_was_answered_waits_no_longer, "A-03", "SG-12")
{
    for (int workers = 1; workers <= 3; workers++) {
        for (uint64_t seed = 1; seed <= TEST_SEEDS(100); seed++) {
            world_begin(workers, seed);
            world.status = TR_FAILED;
            ck_assert_int_eq(outcome_of(ASK_ALONE(0, ask_who_asks_back, 1).any, NULL), TR_OK);
            tr_kit_settle(world.kit);
            ck_assert_msg(world.status == TR_OK,
                          "%d workers, seed %d: %s",
                          workers,
                          (int)seed,
                          tr_status_name(world.status));
            world_end();
        }
    }
}

/* ---- Barriers. ---- */

static tr_next say_number(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    char word[24];
    snprintf(word, sizeof word, "%d", (int)arg);
    say(word);
    return tr_reply(self, value, .number = arg);
}

static tr_next say_twice(tr_self *self, struct player *player, int64_t ns)
{
    say("begin");
    slow(self, player, ns);
    say("end");
    return TR_SAME;
}

static tr_next stash_once(tr_self *self, struct player *player, int64_t arg)
{
    if (!player->number++)
        return tr_stash(self);
    return say_number(self, player, arg);
}

static tr_next sleep_and_unstash(tr_self *self, struct player *player, int64_t ns)
{
    (void)player;
    tr_sleep(self, ns);
    say("unstash");
    (void)tr_unstash(self, SIZE_MAX);
    return TR_SAME;
}

TEST(nothing_begins_behind_a_barrier_and_then_all_of_it, "D-03", "SG-11", "AK-17")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        tr_tell(world.client, world.players[1], perform, .call = CALL(stash_once), .arg = 9);
        tr_tell(world.client,
                world.players[1],
                perform,
                .call = CALL(sleep_and_unstash),
                .arg = 5 * MILLISECONDS);
        tr_kit_settle(world.kit);
        tr_pending alone = ASK_ALONE(1, say_twice, 10 * MILLISECONDS).any;
        tr_pending one = ASK(1, say_number, 1).any;
        tr_tell(world.client, world.players[1], perform, .call = CALL(say_number), .arg = 2);
        tr_pending three = ASK_ALONE(1, say_number, 3).any;
        ck_assert_int_eq(outcome_of(alone, NULL), TR_OK);
        ck_assert_int_eq(outcome_of(one, NULL), TR_OK);
        ck_assert_int_eq(outcome_of(three, NULL), TR_OK);
        /* What another turn unstashed meanwhile begins no earlier, and comes first. */
        ck_assert_str_eq(world.log, "begin unstash end 9 1 2 3");
        world_end();
    }
}

/* ---- Several asks. ---- */

static play_ask left_over;

static tr_next await_several(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    const struct value *reply;
    size_t index = 99;
    tr_time now_ns = tr_now(self);
    play_ask a = tr_ask(self, world.players[1], play, .call = CALL(slow), .arg = 3 * MILLISECONDS);
    play_ask b = tr_ask(self, world.players[2], play, .call = CALL(slow), .arg = 2 * MILLISECONDS);
    play_ask gone = tr_ask(self, (player_ref){0}, play);
    play_ask none = {0};
    left_over = a;
    ck_assert_int_eq(tr_try_await(self, none, &reply), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_await_all(self, NULL, 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_await_any(self, &index, NULL, 0), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_await_any(self, &index, a, none), TR_INVALID_ARGUMENT);
    /* The marks of a call that fails must not wake a later wait: b ends before a. */
    ck_assert_int_eq(tr_await_all(self, b, none), TR_INVALID_ARGUMENT);
    play_ask c = tr_ask(self, world.players[3], play, .call = CALL(slow), .arg = 4 * MILLISECONDS);
    ck_assert_int_eq(tr_try_await(self, c, &reply), TR_OK);
    ck_assert_ptr_nonnull(reply);
    ck_assert_int_eq(tr_now(self), now_ns + 4 * MILLISECONDS);
    ck_assert_int_eq(tr_await_any(self, &index, a, b), TR_OK);
    ck_assert_uint_eq(index, 0); /* both had ended: the first of them */
    play_ask d = tr_ask(self, world.players[1], play, .call = CALL(slow), .arg = 2 * MILLISECONDS);
    play_ask e = tr_ask(self, world.players[2], play, .call = CALL(slow), .arg = 1 * MILLISECONDS);
    ck_assert_int_eq(tr_await_any(self, &index, d, e, d), TR_OK);
    ck_assert_uint_eq(index, 1);
    ck_assert_int_eq(tr_now(self), now_ns + 5 * MILLISECONDS);
    ck_assert_int_eq(tr_await_any(self, &index, d, gone, e), TR_OK);
    ck_assert_uint_eq(index, 1);
    ck_assert_int_eq(tr_await_all(self, d, d, e), TR_OK);
    ck_assert_int_eq(tr_now(self), now_ns + 6 * MILLISECONDS);
    ck_assert_int_eq(tr_await_all(self, a, gone, d), TR_STOPPED);
    ck_assert_int_eq(tr_await(self, b)->number, 2 * MILLISECONDS);
    return tr_reply(self, value);
}

static tr_next await_of_another(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    const struct value *reply;
    ck_assert_int_eq(tr_try_await(self, left_over, &reply), TR_INVALID_ARGUMENT);
    ck_assert_ptr_null(reply);
    return tr_reply(self, value);
}

TEST(all_any_and_none, "D-05", "AK-12", "AK-19", "AK-20", "AK-11")
{
    EACH_WORLD(workers, seed)
    {
        for (int alone = 0; alone < 2; alone++) {
            world_begin(workers, seed);
            tr_pending asked =
                alone ? ASK_ALONE(0, await_several, 0).any : ASK(0, await_several, 0).any;
            tr_kit_settle(world.kit);
            tr_pending other = ASK(0, await_of_another, 0).any;
            ck_assert_int_eq(outcome_of(asked, NULL), TR_OK);
            ck_assert_int_eq(outcome_of(other, NULL), TR_OK);
            world_end();
        }
    }
}

/* ---- What a turn keeps. ---- */

struct scholar {
    int64_t number;
    int64_t more[8];
};

static tr_next learn(tr_self *self, struct scholar *scholar, const struct play *message)
{
    scholar->number = message->arg;
    tr_sleep(self, message->arg);
    ck_assert_int_eq(scholar->number, message->arg);
    return tr_reply(self, value, .number = scholar->more[7]);
}

static tr_next become_player(tr_self *self)
{
    return tr_become(self, player);
}

TR_BEHAVIOR(scholar, struct scholar, TR_ON(play, learn), TR_ON(perform, become_player));

static tr_next become_scholar(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    return tr_become(self, scholar);
}

static int released;

static void release(void *resource)
{
    released += *(int *)resource;
}

/* Everything that a turn holds is there after the wait, with others in between. */
static tr_next keep_all(tr_self *self, struct player *player, int64_t arg)
{
    static int one = 1;
    const struct value *reply;
    player->number = arg;
    char *text = tr_format(self, "scratch %d", (int)arg);
    tr_defer(self, &one, release);
    play_ask first = tr_ask(self, world.players[1], play, .call = CALL(echo), .arg = arg);
    ck_assert_int_eq(tr_try_await(self, first, &reply), TR_OK);
    tr_sleep(self, (10 - arg) * MILLISECONDS);
    char *more = tr_format(self, "more %d", (int)arg);
    play_ask second = tr_ask(self, world.players[2], play, .call = CALL(echo), .arg = -arg);
    ck_assert_int_eq(tr_await(self, second)->number, -arg);
    char expected[2][24];
    snprintf(expected[0], sizeof expected[0], "scratch %d", (int)arg);
    snprintf(expected[1], sizeof expected[1], "more %d", (int)arg);
    ck_assert_str_eq(text, expected[0]);
    ck_assert_str_eq(more, expected[1]);
    ck_assert_int_eq(reply->number, arg);
    ck_assert_int_eq(player->number, world.count);
    return tr_reply(self, value, .number = arg);
}

TEST(several_turns_keep_what_is_theirs, "B-05", "D-05", "AK-20")
{
    EACH_WORLD(workers, seed)
    {
        enum { TURNS = 8 };
        world_begin(workers, seed);
        tr_pending asked[TURNS];
        released = 0;
        world.count = TURNS - 1; /* they share the state, and the last one wrote it */
        for (int i = 0; i < TURNS; i++)
            asked[i] = ASK(0, keep_all, i).any;
        for (int i = 0; i < TURNS; i++) {
            int64_t number;
            ck_assert_int_eq(outcome_of(asked[i], &number), TR_OK);
            ck_assert_int_eq(number, i);
        }
        tr_kit_settle(world.kit);
        ck_assert_int_eq(released, TURNS);
        world_end();
    }
}

/* Another behavior with another state: turns that wait have theirs, small and large. */
TEST(a_turn_keeps_its_state_when_the_behavior_changes, "B-05")
{
    EACH_WORLD(workers, seed)
    {
        for (int end = 0; end < 2; end++) {
            world_begin(workers, seed);
            tr_pending asked[4];
            world.count = 1;
            asked[0] = ASK(0, keep_all, 1).any;
            tr_tell(world.client, world.players[0], perform, .call = CALL(become_scholar));
            asked[1] = ASK(0, NULL, 3 * MILLISECONDS).any;
            tr_tell(world.client, world.players[0], perform, .arg = 0);
            asked[2] = ASK(0, add, 7).any;
            tr_tell(world.client, world.players[0], perform, .call = CALL(become_scholar));
            asked[3] = ASK(0, NULL, 20 * MILLISECONDS).any;
            int64_t number;
            ck_assert_int_eq(outcome_of(asked[2], &number), TR_OK);
            ck_assert_int_eq(number, 7);
            tr_kit_settle(world.kit);
            if (end)
                tr_kill(world.client, world.players[0]);
            for (int i = 0; i < 4; i++) {
                if (i != 2)
                    ck_assert_int_eq(outcome_of(asked[i], NULL), end ? TR_STOPPED : TR_OK);
            }
            world_end();
        }
    }
}

/* ---- The end of a turn, and where it cannot wait. ---- */

static void wait_in_defer(void *resource)
{
    tr_self *self = resource;
    const struct value *reply;
    play_ask asked = tr_ask(self, world.players[1], play, .call = CALL(echo));
    ck_assert_int_eq(tr_try_await(self, asked, &reply), TR_NOT_IN_A_TURN);
    ck_assert_int_eq(tr_sleep(self, 1), TR_NOT_IN_A_TURN);
    world.count++;
}

static tr_next defer_a_wait(tr_self *self, struct player *player, int64_t ns)
{
    tr_defer(self, self, wait_in_defer);
    if (ns)
        return slow(self, player, ns);
    return tr_reply(self, value);
}

TEST(a_defer_cannot_wait, "D-05")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        ck_assert_int_eq(outcome_of(ASK(0, defer_a_wait, 0).any, NULL), TR_OK);
        ck_assert_int_eq(outcome_of(ASK(0, defer_a_wait, 9).any, NULL), TR_OK);
        ck_assert_int_eq(outcome_of(ASK(0, defer_a_wait, 0).any, NULL), TR_OK);
        tr_kit_settle(world.kit);
        ck_assert_int_eq(world.count, 3);
        world_end();
    }
}

/* Every verb of a cancelled turn. */
static tr_next be_cancelled(tr_self *self, struct player *player, int64_t arg)
{
    const struct value *reply;
    size_t index;
    uint64_t bits;
    static int one = 1;
    tr_defer(self, &one, release);
    play_ask open = tr_ask(self, world.players[1], play, .call = CALL(put_off));
    ck_assert_int_eq(tr_try_await(self, open, &reply), TR_CANCELLED);
    say("cancelled");
    ck_assert_int_eq(player->number, arg); /* the state is there still */
    ck_assert_int_eq(tr_try_await(self, open, &reply), TR_CANCELLED);
    ck_assert_int_eq(tr_await_all(self, open, open), TR_CANCELLED);
    ck_assert_int_eq(tr_await_any(self, &index, open), TR_CANCELLED);
    play_ask more = tr_ask(self, world.players[1], play, .call = CALL(echo));
    ck_assert_int_eq(tr_try_await(self, more, &reply), TR_CANCELLED);
    ck_assert_int_eq(tr_sleep(self, 1), TR_CANCELLED);
    ck_assert_int_eq(tr_tell(self, world.players[1], perform), TR_CANCELLED);
    ck_assert_int_eq(tr_try_reply(self, value), TR_CANCELLED);
    ck_assert_int_eq(tr_reply_to(self, player->later, value), TR_CANCELLED);
    ck_assert_uint_eq(tr_reply_later(self).number, 0);
    player_ref child;
    ck_assert_int_eq(tr_try_spawn(self, &child, player, NULL), TR_CANCELLED);
    tr_timer timer;
    ck_assert_int_eq(
        tr_self_try_timer(
            self, "key", TR_TIMER_ONCE, 1, &tr_type_perform, &(struct perform){.call = 0}, &timer),
        TR_CANCELLED);
    (void)bits;
    (void)tr_forward(self, world.players[1]);
    (void)tr_refuse(self, 5, "too late");
    if (arg == 2)
        return TR_STOP;
    if (arg == 3)
        tr_await(self, open); /* ends the turn here */
    if (arg == 4)
        return tr_stash(self);
    if (arg == 5)
        return tr_become(self, scholar);
    return tr_fail(self, TR_BAD_DATA, "nobody hears this");
}

static tr_next set_number(tr_self *self, struct player *player, int64_t arg)
{
    player->number = arg;
    return tr_reply(self, value);
}

TEST(a_kill_cancels_the_turns_that_wait, "Y-02", "A-01", "AK-08")
{
    EACH_WORLD(workers, seed)
    {
        for (int64_t arg = 1; arg <= 5; arg++) {
            for (int suspended = 0; suspended < 2; suspended++) {
                world_begin(workers, seed);
                released = 0;
                ck_assert_int_eq(outcome_of(ASK(0, set_number, arg).any, NULL), TR_OK);
                tr_pending asked[3];
                for (int i = 0; i < 3; i++)
                    asked[i] = ASK(0, be_cancelled, arg).any;
                tr_kit_settle(world.kit);
                if (suspended) {
                    tr_suspend(world.client, world.players[0]);
                    tr_kit_settle(world.kit);
                    tr_stop(world.client, world.players[0]);
                } else {
                    tr_kill(world.client, world.players[0]);
                }
                for (int i = 0; i < 3; i++)
                    ck_assert_int_eq(outcome_of(asked[i], NULL), TR_STOPPED);
                tr_kit_settle(world.kit);
                ck_assert_str_eq(world.log, "cancelled cancelled cancelled");
                ck_assert_int_eq(released, 3);
                world_end();
            }
        }
    }
}

/* A turn that was answered but has not gone on is cancelled all the same. */
static tr_next kill_self_and_wait(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    tr_status status = tr_sleep(self, TR_MILLISECOND);
    say(tr_status_name(status));
    if (status == TR_OK && arg)
        tr_kill(self, tr_me(self));
    status = tr_sleep(self, TR_MILLISECOND);
    say(tr_status_name(status));
    return TR_SAME;
}

TEST(a_kill_comes_before_the_next_part_of_a_turn, "Y-02")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        tr_pending one = ASK(0, kill_self_and_wait, 1).any;
        tr_pending two = ASK(0, kill_self_and_wait, 0).any;
        ck_assert_int_eq(outcome_of(one, NULL), TR_STOPPED);
        ck_assert_int_eq(outcome_of(two, NULL), TR_STOPPED);
        ck_assert(!strcmp(world.log, "TR_OK TR_CANCELLED TR_CANCELLED TR_CANCELLED") ||
                  !strcmp(world.log, "TR_OK TR_CANCELLED TR_CANCELLED"));
        ck_assert_ptr_null(strstr(world.log + 5, "TR_OK"));
        world_end();
    }
}

TEST(a_poison_pill_lets_the_turns_that_wait_finish, "Y-01")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        world.count = 3;
        tr_pending asked[2] = {ASK(0, keep_all, 2).any, ASK(0, keep_all, 3).any};
        tr_kit_settle(world.kit);
        tr_stop(world.client, world.players[0]);
        tr_kit_settle(world.kit);
        ck_assert_int_eq(outcome_of(ASK(0, echo, 1).any, NULL), TR_STOPPED);
        ck_assert_int_eq(outcome_of(asked[0], NULL), TR_OK);
        ck_assert_int_eq(outcome_of(asked[1], NULL), TR_OK);
        world_end();
    }
}

SUITE("ask turns", a_ring_of_barriers_is_found, who_asks_himself_without_a_barrier_is_answered,
      who_was_answered_waits_no_longer, nothing_begins_behind_a_barrier_and_then_all_of_it,
      all_any_and_none, several_turns_keep_what_is_theirs,
      a_turn_keeps_its_state_when_the_behavior_changes, a_defer_cannot_wait,
      a_kill_cancels_the_turns_that_wait, a_kill_comes_before_the_next_part_of_a_turn,
      a_poison_pill_lets_the_turns_that_wait_finish)
