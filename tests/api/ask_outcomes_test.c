/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every ask has exactly one outcome: replies, timeouts, stops and late answers, in every order, on
 * virtual time, on one worker and on three.
 */
#include "support/players.h"

#define EACH_WORLD(workers, seed)                                                                  \
    for (int workers = 1; workers <= 3; workers += 2)                                              \
        for (uint64_t seed = 1; seed <= TEST_SEEDS(10); seed++)

static uint64_t dead_letters(void)
{
    tr_counters counters;
    tr_system_counters(tr_kit_system(world.kit), &counters);
    return counters.dead_letters;
}

/* Asks the player behind it within a time, and says what came of it and when. */
static tr_time timeout_ns;
static player_call what;
static int64_t what_arg;

static tr_next ask_next(tr_self *self, struct player *player, int64_t whom)
{
    (void)player;
    const struct value *reply;
    play_ask asked = tr_ask_within(
        self, timeout_ns, world.players[whom], play, .call = CALL(what), .arg = what_arg);
    world.status = tr_try_await(self, asked, &reply);
    world.at_ns = tr_now(self);
    world.count++;
    if (world.status == TR_CANCELLED)
        return TR_SAME;
    ck_assert_int_eq(tr_ask_error(self, asked)->status, world.status);
    ck_assert_int_eq(tr_try_await(self, asked, &reply), world.status); /* it stays so */
    ck_assert_int_eq(reply != NULL, world.status == TR_OK);
    return tr_reply(self, value, .number = world.status);
}

TEST(a_timeout_comes_when_it_is_due_and_never_early, "A-01", "A-02", "AK-02", "AK-07")
{
    static const tr_time timeouts[] = {1,
                                       999,
                                       999999,
                                       MILLISECONDS,
                                       1234567,
                                       700 * TR_MILLISECOND,
                                       TR_SECOND + 1,
                                       0,
                                       -1,
                                       INT64_MIN};
    EACH_WORLD(workers, seed)
    {
        for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
            world_begin(workers, seed);
            tr_kit_advance(world.kit, (tr_time)seed * 123457);
            tr_time due_ns = timeouts[i] ? timeouts[i] : TR_ASK_NS;
            timeout_ns = timeouts[i];
            what = put_off;
            tr_tell(world.client, world.players[0], perform, .call = CALL(ask_next), .arg = 1);
            tr_time now_ns = tr_kit_now(world.kit);
            tr_kit_settle(world.kit);
            if (due_ns > 0) {
                tr_kit_advance(world.kit, due_ns - 1);
                ck_assert_int_eq(world.count, 0);
                tr_kit_advance(world.kit, 1);
                ck_assert_int_eq(world.at_ns, now_ns + due_ns);
            }
            ck_assert_int_eq(world.count, 1);
            ck_assert_int_eq(world.status, TR_TIMEOUT);
            /* The late answer is a dead letter and reaches no other ask. */
            uint64_t dead = dead_letters();
            if (due_ns > MILLISECONDS) {
                tr_tell(world.client, world.players[1], perform, .call = CALL(answer_later));
                tr_kit_settle(world.kit);
                ck_assert_int_eq(world.status, TR_OK);
                ck_assert_uint_eq(dead_letters(), dead + 1);
                ck_assert_int_eq(world.count, 1);
            }
            world_end();
        }
    }
}

TEST(a_timeout_of_years_is_no_timeout, "A-01", "A-04")
{
    static const tr_time timeouts[] = {
        30 * 24 * TR_HOUR, 24 * 24 * TR_HOUR, 400 * 24 * TR_HOUR, INT64_MAX - 1, INT64_MAX};
    for (int workers = 1; workers <= 3; workers += 2) {
        for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
            world_begin(workers, 1);
            tr_kit_advance(world.kit, 12345678);
            timeout_ns = timeouts[i];
            what = echo;
            int64_t number;
            tr_time now_ns = tr_kit_now(world.kit);
            play_ask asked = tr_ask_within(world.client,
                                           timeouts[i],
                                           world.players[0],
                                           play,
                                           .call = CALL(ask_next),
                                           .arg = 1);
            ck_assert_int_eq(outcome_of(asked.any, &number), TR_OK);
            ck_assert_int_eq(number, TR_OK);
            ck_assert_int_le(tr_kit_now(world.kit), now_ns);
            world_end();
        }
    }
}

/* Reply and timeout fall due at the same instant: one of them, the same for all to see. */
TEST(a_reply_and_a_timeout_at_the_same_instant_are_one_outcome, "A-01", "AK-02", "AK-07")
{
    int replies = 0;
    int timeouts = 0;
    for (uint64_t seed = 1; seed <= TEST_SEEDS(60); seed++) {
        world_begin(seed % 2 ? 1 : 3, seed);
        timeout_ns = 5 * TR_MILLISECOND;
        what = slow;
        what_arg = timeout_ns + (tr_time)(seed % 3) - 1;
        int64_t status;
        ck_assert_int_eq(outcome_of(ASK(0, ask_next, 1).any, &status), TR_OK);
        ck_assert(status == TR_OK || status == TR_TIMEOUT);
        ck_assert_int_eq(world.count, 1);
        ck_assert(what_arg <= timeout_ns || status == TR_TIMEOUT);
        ck_assert(what_arg >= timeout_ns || status == TR_OK);
        replies += status == TR_OK;
        timeouts += status == TR_TIMEOUT;
        /* An ask that is made now does not get what was meant for the other. */
        what = silence;
        ck_assert_int_eq(outcome_of(ASK(0, ask_next, 1).any, &status), TR_OK);
        ck_assert_int_eq(status, TR_NO_REPLY);
        tr_kit_advance(world.kit, TR_SECOND);
        world_end();
    }
    ck_assert_int_gt(replies, 0);
    ck_assert_int_gt(timeouts, 0);
}

static tr_next stop_then(tr_self *self, struct player *player, int64_t how)
{
    (void)player;
    switch (how) {
    case 0:
        return TR_STOP;
    case 1:
        return tr_fail(self, TR_BAD_DATA, "broken");
    case 2:
        tr_crash(self, TR_BAD_DATA, "broken");
    case 3:
        tr_kill(self, tr_me(self));
        tr_sleep(self, TR_SECOND);
        return tr_reply(self, value);
    case 4:
        tr_stop(self, tr_me(self));
        tr_sleep(self, TR_MILLISECOND);
        return tr_reply(self, value);
    case 5:
        tr_sleep(self, TR_MILLISECOND);
        tr_crash(self, TR_BAD_DATA, "broken");
    case 6:
        tr_sleep(self, TR_MILLISECOND);
        return TR_STOP;
    case 7:
        return TR_DECLINE;
    case 8:
        tr_sleep(self, TR_MILLISECOND);
        return TR_DECLINE;
    case 9:
        return tr_reply(self, other_value);
    case 10:
        tr_sleep(self, TR_MILLISECOND);
        return tr_reply(self, other_value);
    case 11:
        return put_off(self, player, 0), TR_STOP;
    default:
        return silence(self, player, 0);
    }
}

TEST(whatever_the_other_does_there_is_one_outcome, "A-01", "A-05", "AK-03", "AK-04", "AK-05",
     "Y-01", "Y-02")
{
    static const tr_status expected[] = {TR_NO_REPLY,
                                         TR_FAILED,
                                         TR_FAILED,
                                         TR_STOPPED,
                                         TR_OK,
                                         TR_FAILED,
                                         TR_NO_REPLY,
                                         TR_UNHANDLED,
                                         TR_UNHANDLED,
                                         TR_FAILED,
                                         TR_FAILED,
                                         TR_STOPPED,
                                         TR_NO_REPLY};
    EACH_WORLD(workers, seed)
    {
        for (int64_t how = 0; how < 13; how++) {
            world_begin(workers, seed);
            timeout_ns = 0;
            what = stop_then;
            what_arg = how;
            int64_t status;
            tr_time now_ns = tr_kit_now(world.kit);
            ck_assert_int_eq(outcome_of(ASK(0, ask_next, 1).any, &status), TR_OK);
            ck_assert_msg(
                status == expected[how], "%d: %s", (int)how, tr_status_name((tr_status)status));
            ck_assert_int_le(tr_kit_now(world.kit), now_ns + 2 * TR_MILLISECOND);
            /* Who asks one that has stopped hears it at once. */
            bool is_gone = how <= 6 || (how >= 9 && how <= 11);
            what = echo;
            tr_kit_settle(world.kit);
            ck_assert_int_eq(outcome_of(ASK(0, ask_next, 1).any, &status), TR_OK);
            ck_assert_int_eq(status, is_gone ? TR_STOPPED : TR_OK);
            world_end();
        }
    }
}

/* Three asks of different kinds wait behind a turn that blocks the actor; then it ends so. */
TEST(asks_that_are_queued_at_the_end_get_stopped_at_once, "A-01", "AK-04", "Y-01", "Y-02", "Y-03")
{
    enum { STOP, KILL, SUSPEND_STOP, FAIL, HOWS };
    EACH_WORLD(workers, seed)
    {
        for (int how = 0; how < HOWS; how++) {
            world_begin(workers, seed);
            tr_pending before[2] = {ASK_ALONE(1, slow, 10 * MILLISECONDS).any, {0}};
            tr_kit_settle(world.kit);
            before[1] = ASK(1, echo, 7).any;
            if (how == SUSPEND_STOP)
                tr_suspend(world.client, world.players[1]);
            if (how == FAIL)
                tr_tell(world.client, world.players[1], perform, .call = CALL(break_down));
            else if (how == KILL)
                tr_kill(world.client, world.players[1]);
            else
                tr_stop(world.client, world.players[1]);
            tr_pending after = ASK(1, echo, 8).any;
            int64_t number;
            bool is_heard = how == STOP || how == FAIL;
            tr_time now_ns = tr_kit_now(world.kit);
            if (!is_heard)
                ck_assert_int_eq(outcome_of(after, NULL), TR_STOPPED);
            if (how == STOP) /* behind a PoisonPill: refused while the turn before it continues */
                ck_assert_int_eq(outcome_of(after, NULL), TR_STOPPED);
            if (how != FAIL)
                ck_assert_int_eq(tr_kit_now(world.kit), now_ns);
            ck_assert_int_eq(outcome_of(before[1], &number), is_heard ? TR_OK : TR_STOPPED);
            ck_assert_int_eq(outcome_of(before[0], NULL), is_heard ? TR_OK : TR_STOPPED);
            if (how == FAIL)
                ck_assert_int_eq(outcome_of(after, NULL), TR_STOPPED);
            world_end();
        }
    }
}

/* An actor that stops waits for its children; who asked it does not. */
static tr_next have_slow_child(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    player_ref child = tr_spawn(self, player, "child");
    tr_tell(self, child, perform, .call = CALL(slow), .arg = TR_SECOND);
    return tr_reply(self, value);
}

static tr_next stash_it(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    if (!arg || player->number < arg)
        return tr_stash(self);
    return tr_reply(self, value, .number = arg);
}

TEST(who_asked_does_not_wait_for_the_children_of_who_stops, "A-01", "AK-04")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        ck_assert_int_eq(outcome_of(ASK(1, have_slow_child, 0).any, NULL), TR_OK);
        tr_pending stashed = ASK(1, stash_it, 0).any;
        tr_kit_settle(world.kit);
        tr_pending failing = ASK(1, break_down, 0).any;
        tr_pending behind = ASK(1, echo, 0).any;
        tr_time now_ns = tr_kit_now(world.kit);
        ck_assert_int_eq(outcome_of(failing, NULL), TR_FAILED);
        ck_assert_int_eq(outcome_of(behind, NULL), TR_STOPPED);
        ck_assert_int_eq(outcome_of(stashed, NULL), TR_STOPPED);
        ck_assert_int_eq(tr_kit_now(world.kit), now_ns);
        world_end();
    }
}

static tr_next raise_to(tr_self *self, struct player *player, int64_t arg)
{
    player->number = arg;
    (void)tr_unstash(self, SIZE_MAX);
    return TR_SAME;
}

static tr_next pass_on(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    if (!world.count--)
        return tr_reply(
            self, value, .number = tr_sender(self).bits == tr_client_ref(world.client).bits);
    return tr_forward(self, world.players[(world.count + 1) % PLAYERS]);
}

TEST(a_request_is_answered_after_a_stash_or_by_another, "B-04", "B-08", "AK-01")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        int64_t number;
        tr_pending stashed = ASK(0, stash_it, 5).any;
        tr_tell(world.client, world.players[0], perform, .call = CALL(raise_to), .arg = 5);
        ck_assert_int_eq(outcome_of(stashed, &number), TR_OK);
        ck_assert_int_eq(number, 5);
        world.count = 7; /* from one to the next, and so the deadline too */
        ck_assert_int_eq(outcome_of(ASK(0, pass_on, 0).any, &number), TR_OK);
        ck_assert_int_eq(number, 1);
        /* To one who has stopped. */
        tr_stop(world.client, world.players[1]);
        tr_kit_settle(world.kit);
        world.count = 1;
        ck_assert_int_eq(outcome_of(ASK(0, pass_on, 0).any, &number), TR_STOPPED);
        world_end();
    }
}

/* A forward that fails leaves the request to its turn, and nothing to the next one. */
static tr_next forward_in_vain_and_reply(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    (void)tr_forward(self, TR_NOBODY);
    return tr_reply(self, value, .number = 3);
}

TEST(a_forward_that_fails_leaves_nothing_to_the_next_turn, "B-04", "A-01")
{
    world_begin(1, 1);
    ck_assert_int_eq(outcome_of(ASK(0, forward_in_vain_and_reply, 0).any, NULL), TR_OK);
    ck_assert_int_eq(outcome_of(ASK(0, silence, 0).any, NULL), TR_NO_REPLY);
    world_end();
}

/* ---- Replies that were put off. ---- */

static tr_next answer_wrongly(tr_self *self, struct player *player, int64_t arg)
{
    (void)arg;
    ck_assert_int_eq(tr_reply_to(self, player->later, other_value), TR_WRONG_TYPE);
    ck_assert_int_eq(tr_reply_to(self, (tr_later){0}, value), TR_NOT_FOUND);
    ck_assert_int_eq(tr_reply_to(self, (tr_later){99999}, value), TR_NOT_FOUND);
    ck_assert_uint_eq(tr_reply_later(self).number, 0); /* of a message that nobody asked */
    return TR_SAME;
}

TEST(a_reply_that_is_put_off_is_given_once, "B-04", "A-01", "A-05", "AK-01", "AK-08")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        int64_t number;
        tr_pending asked = ASK(1, put_off, 0).any;
        tr_tell(world.client, world.players[1], perform, .call = CALL(answer_wrongly));
        tr_tell(world.client, world.players[1], perform, .call = CALL(answer_later), .arg = 6);
        ck_assert_int_eq(outcome_of(asked, &number), TR_OK);
        ck_assert_int_eq(number, 6);
        ck_assert_int_eq(world.status, TR_OK);
        tr_tell(world.client, world.players[1], perform, .call = CALL(answer_later), .arg = 6);
        tr_kit_settle(world.kit);
        ck_assert_int_eq(world.status, TR_NOT_FOUND);
        /* The asker is gone: a dead letter. */
        timeout_ns = 0;
        what = put_off;
        tr_tell(world.client, world.players[0], perform, .call = CALL(ask_next), .arg = 1);
        tr_kit_settle(world.kit);
        tr_kill(world.client, world.players[0]);
        tr_kit_settle(world.kit);
        ck_assert_int_eq(world.status, TR_CANCELLED);
        uint64_t dead = dead_letters();
        tr_tell(world.client, world.players[1], perform, .call = CALL(answer_later), .arg = 6);
        tr_kit_settle(world.kit);
        ck_assert_int_eq(world.status, TR_STOPPED);
        ck_assert_uint_eq(dead_letters(), dead + 1);
        world_end();
    }
}

/* ---- Refusals. ---- */

static tr_next pass_through(tr_self *self, struct player *player, int64_t depth)
{
    (void)player;
    play_ask asked = tr_ask(self,
                            world.players[depth + 1],
                            play,
                            .call = CALL(depth < 3 ? pass_through : say_no),
                            .arg = depth < 3 ? depth + 1 : 77);
    if (depth)
        return tr_reply(self, value, .number = tr_await(self, asked)->number);
    const struct value *reply;
    world.status = tr_try_await(self, asked, &reply);
    const tr_error *error = tr_ask_error(self, asked);
    ck_assert_int_eq(error->code, 77);
    ck_assert_str_eq(error->text, "no, said p4");
    return tr_give_up(self, asked);
}

TEST(a_refusal_passes_through_in_the_same_words, "A-06")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        ck_assert_int_eq(outcome_of(ASK(0, pass_through, 0).any, NULL), TR_REFUSED);
        ck_assert_int_eq(world.status, TR_REFUSED);
        for (int i = 0; i < PLAYERS; i++) /* all of them are well */
            ck_assert_int_eq(outcome_of(ASK(i, echo, i).any, NULL), TR_OK);
        world_end();
    }
}

/* ---- Deadlines. ---- */

static tr_next ask_long(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    const struct value *reply;
    play_ask asked = tr_ask_within(self, TR_HOUR, world.players[2], play, .call = CALL(put_off));
    world.status = tr_try_await(self, asked, &reply);
    world.at_ns = tr_now(self);
    world.count++;
    return TR_SAME;
}

static tr_next mark(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    world.count++;
    return tr_reply(self, value);
}

TEST(a_deadline_travels_with_the_ask, "A-04")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        for (tr_time extra_ns = 0; extra_ns < 2 * MILLISECONDS; extra_ns += 333333) {
            world_begin(workers, 1);
            tr_kit_advance(world.kit, 777777 + extra_ns);
            timeout_ns = 20 * TR_MILLISECOND + extra_ns;
            tr_time due_ns = tr_kit_now(world.kit) + timeout_ns;
            play_ask asked = tr_ask_within(
                world.client, timeout_ns, world.players[0], play, .call = CALL(ask_long));
            ck_assert_int_eq(outcome_of(asked.any, NULL), TR_TIMEOUT);
            tr_kit_advance(world.kit, 2 * TR_MILLISECOND);
            ck_assert_int_eq(world.status, TR_TIMEOUT);
            ck_assert_int_ge(world.at_ns, due_ns);
            ck_assert_int_le(world.at_ns, due_ns + TR_MILLISECOND);
            /* One that waits in the mailbox until nobody waits for it is not run. */
            world.count = 0;
            tr_suspend(world.client, world.players[0]);
            asked = tr_ask_within(
                world.client, TR_MILLISECOND, world.players[0], play, .call = CALL(mark));
            ck_assert_int_eq(outcome_of(asked.any, NULL), TR_TIMEOUT);
            tr_kit_advance(world.kit, 2 * TR_MILLISECOND);
            tr_resume(world.client, world.players[0]);
            tr_kit_settle(world.kit);
            ck_assert_int_eq(world.count, 0);
            world_end();
        }
    }
}

SUITE("ask outcomes", a_timeout_comes_when_it_is_due_and_never_early,
      a_timeout_of_years_is_no_timeout, a_reply_and_a_timeout_at_the_same_instant_are_one_outcome,
      whatever_the_other_does_there_is_one_outcome,
      asks_that_are_queued_at_the_end_get_stopped_at_once,
      who_asked_does_not_wait_for_the_children_of_who_stops,
      a_request_is_answered_after_a_stash_or_by_another,
      a_forward_that_fails_leaves_nothing_to_the_next_turn, a_reply_that_is_put_off_is_given_once,
      a_refusal_passes_through_in_the_same_words, a_deadline_travels_with_the_ask)
