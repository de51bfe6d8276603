/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks, sentence by sentence: the default timeout, second and wrong replies, timers that are gone with
 * the reply, what ends a barrier, the order in which turns are cancelled, and where nobody may wait.
 */
#include "support/players.h"

#define EACH_WORLD(workers, seed)                                                                  \
    for (int workers = 1; workers <= 3; workers += 2)                                              \
        for (uint64_t seed = 1; seed <= TEST_SEEDS(10); seed++)

static uint64_t dead_letters(tr_dead_letter_record *last)
{
    return tr_system_dead_letters(tr_kit_system(world.kit), last, last ? 1 : 0, NULL);
}

/* ---- Time. ---- */

static tr_next await_silence(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    play_ask asked = tr_ask(self, world.players[1], play, .call = CALL(put_off));
    world.status = tr_try_await(self, asked, NULL);
    world.at_ns = tr_now(self);
    return TR_SAME;
}

static tr_next on_late(tr_self *self, struct player *player, const play_answer *answer)
{
    (void)player;
    world.status = answer->status;
    world.at_ns = tr_now(self);
    return TR_SAME;
}
TR_THEN(late, play, struct player, on_late);

static tr_next ask_silence_then(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    tr_ask_then(self, late, NULL, world.players[1], play, .call = CALL(put_off));
    return TR_SAME;
}

TEST(without_a_word_a_timeout_is_five_seconds, "A-01", "AK-02")
{
    static const player_call calls[] = {await_silence, ask_silence_then};
    for (int workers = 1; workers <= 3; workers++) {
        for (size_t i = 0; i < 2; i++) {
            world_begin(workers, 1);
            tr_time start_ns = tr_kit_now(world.kit);
            tr_tell(world.client, world.players[0], perform, .call = CALL(calls[i]));
            tr_kit_advance(world.kit, 5 * TR_SECOND - 1);
            ck_assert_int_eq(world.status, 0);
            tr_kit_advance(world.kit, 1);
            ck_assert_int_eq(world.status, TR_TIMEOUT);
            ck_assert_int_eq(world.at_ns, start_ns + 5 * TR_SECOND);
            world_end();
        }
        world_begin(workers, 1);
        tr_time start_ns = tr_kit_now(world.kit);
        ck_assert_int_eq(outcome_of(ASK(0, put_off, 0).any, NULL), TR_TIMEOUT);
        ck_assert_int_eq(tr_kit_now(world.kit), start_ns + 5 * TR_SECOND);
        world_end();
    }
}

static tr_next ask_and_sleep(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    play_ask asked = tr_ask(self, world.players[2], play, .call = CALL(echo), .arg = arg);
    ck_assert_int_eq(tr_await(self, asked)->number, arg);
    world.count++;
    tr_sleep(self, TR_HOUR);
    return TR_SAME;
}

/* The turn continues, and so its ask is there still; but nothing happens when its time is up. */
TEST(the_reply_takes_the_timer_away, "A-02", "AK-10")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        tr_tell(world.client, world.players[0], perform, .call = CALL(ask_and_sleep), .arg = 4);
        tr_kit_settle(world.kit);
        ck_assert_int_eq(world.count, 1);
        uint64_t trace = tr_kit_trace(world.kit);
        tr_kit_advance(world.kit, TR_MINUTE);
        ck_assert_uint_eq(tr_kit_trace(world.kit), trace);
        world_end();
    }
}

/* ---- Replies. ---- */

static tr_status second_status;
static tr_next reply_twice(tr_self *self, struct player *player, int64_t how)
{
    (void)player;
    tr_reply(self, value, .number = 1);
    if (how == 1)
        (void)tr_refuse(self, 9, "after all, no");
    else if (how == 2)
        second_status = tr_reply_later(self).number ? TR_OK : TR_NOT_FOUND;
    else
        second_status = tr_try_reply(self, value, .number = 2);
    return TR_SAME;
}

static tr_next ask_the_second(tr_self *self, struct player *player, int64_t how)
{
    (void)player;
    const struct value *reply;
    play_ask asked = tr_ask(self, world.players[1], play, .call = CALL(reply_twice), .arg = how);
    play_ask other = tr_ask(self, world.players[2], play, .call = CALL(slow), .arg = MILLISECONDS);
    ck_assert_int_eq(tr_try_await(self, asked, &reply), TR_OK);
    ck_assert_int_eq(reply->number, 1);
    /* What was said twice ends no other ask. */
    ck_assert_int_eq(tr_try_await(self, other, &reply), TR_OK);
    ck_assert_int_eq(reply->number, MILLISECONDS);
    return tr_reply(self, value);
}

TEST(a_second_reply_is_a_dead_letter_and_the_first_counts, "A-02", "AK-01")
{
    EACH_WORLD(workers, seed)
    {
        for (int how = 0; how < 3; how++) {
            world_begin(workers, seed);
            uint64_t before = dead_letters(NULL);
            second_status = TR_OK;
            ck_assert_int_eq(outcome_of(ASK(0, ask_the_second, how).any, NULL), TR_OK);
            tr_dead_letter_record last;
            ck_assert_uint_eq(dead_letters(&last), before + (how == 0));
            ck_assert_int_eq(second_status,
                             how == 0   ? TR_NO_SENDER
                             : how == 1 ? TR_OK
                                        : TR_NOT_FOUND);
            if (how == 0) {
                ck_assert_str_eq(last.type, "value");
                ck_assert(tr_is_same(last.from, world.players[1]));
            }
            /* Who did that is well. */
            ck_assert_int_eq(outcome_of(ASK(1, echo, 1).any, NULL), TR_OK);
            world_end();
        }
    }
}

static tr_next reply_wrongly(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    return tr_reply(self, other_value, .number = 3);
}

static tr_next ask_the_wrong(tr_self *self, struct player *player, int64_t arg)
{
    (void)player, (void)arg;
    const struct value *reply;
    play_ask asked = tr_ask(self, world.players[1], play, .call = CALL(reply_wrongly));
    world.status = tr_try_await(self, asked, &reply);
    ck_assert_ptr_null(reply);
    say(tr_ask_error(self, asked)->text);
    return tr_reply(self, value);
}

TEST(a_reply_of_another_type_fails_who_replied, "A-05")
{
    EACH_WORLD(workers, seed)
    {
        world_begin(workers, seed);
        ck_assert_int_eq(outcome_of(ASK(0, ask_the_wrong, 0).any, NULL), TR_OK);
        ck_assert_int_eq(world.status, TR_FAILED);
        ck_assert_str_eq(world.log, "TR_WRONG_TYPE: other_value is not a reply to play");
        ck_assert_int_eq(outcome_of(ASK(1, echo, 0).any, NULL), TR_STOPPED);
        ck_assert_int_eq(outcome_of(ASK(0, echo, 0).any, NULL), TR_OK);
        world_end();
    }
}

/* ---- Barriers. ---- */

enum way { BY_REPLY, BY_REFUSAL, BY_FAILURE, BY_TIMEOUT, BY_STOP, BY_SILENCE, WAYS };

static tr_next end_somehow(tr_self *self, struct player *player, int64_t way)
{
    tr_sleep(self, MILLISECONDS);
    switch ((enum way)way) {
    case BY_REPLY:
        return tr_reply(self, value);
    case BY_REFUSAL:
        return tr_refuse(self, 1, "no");
    case BY_FAILURE:
        return tr_fail(self, TR_BAD_DATA, "broken");
    case BY_TIMEOUT:
        return put_off(self, player, 0);
    case BY_STOP:
        return put_off(self, player, 0), TR_STOP;
    case BY_SILENCE:
    case WAYS:
        break;
    }
    return TR_SAME;
}

static tr_next wait_alone(tr_self *self, struct player *player, int64_t way)
{
    (void)player;
    play_ask asked = tr_ask_within(
        self, 2 * MILLISECONDS, world.players[2], play, .call = CALL(end_somehow), .arg = way);
    say("begin");
    world.status = tr_try_await(self, asked, NULL);
    say("end");
    return tr_reply(self, value);
}

static tr_next say_it(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    char word[2] = {(char)arg, '\0'};
    say(word);
    return tr_reply(self, value);
}

TEST(a_barrier_ends_with_its_wait_however_that_ends, "D-03", "SG-11", "AK-17")
{
    static const tr_status expected[WAYS] = {
        TR_OK, TR_REFUSED, TR_FAILED, TR_TIMEOUT, TR_STOPPED, TR_NO_REPLY};
    EACH_WORLD(workers, seed)
    {
        for (int way = 0; way < WAYS; way++) {
            world_begin(workers, seed);
            tr_pending alone = ASK_ALONE(0, wait_alone, way).any;
            tr_pending b = ASK(0, say_it, 'b').any;
            tr_tell(world.client, world.players[0], perform, .call = CALL(say_it), .arg = 'c');
            tr_kit_settle(world.kit);
            ck_assert_str_eq(world.log, "begin");
            ck_assert_int_eq(outcome_of(alone, NULL), TR_OK);
            ck_assert_int_eq(world.status, expected[way]);
            tr_kit_settle(world.kit); /* without new mail */
            ck_assert_str_eq(world.log, "begin end b c");
            ck_assert_int_eq(outcome_of(b, NULL), TR_OK);
            world_end();
        }
    }
}

/* ---- Turns that are cancelled. ---- */

TR_REQUEST(linger, value, (str, name));
TR_ACTOR(lingerer, linger);

static tr_next on_linger(tr_self *self, const struct linger *message)
{
    const struct value *reply;
    play_ask answered = tr_ask(self, world.players[1], play, .call = CALL(echo), .arg = 17);
    ck_assert_int_eq(tr_try_await(self, answered, &reply), TR_OK);
    ck_assert_int_eq(tr_sleep(self, TR_HOUR), TR_CANCELLED);
    ck_assert_int_eq(reply->number, 17); /* what it had is there until it returns */
    say(message->name);
    return TR_SAME;
}
static tr_next on_post_stop(void)
{
    say("post_stop");
    return TR_SAME;
}
TR_BEHAVIOR(lingerer, void, TR_ON(linger, on_linger), TR_ON(tr_post_stop, on_post_stop));

TEST(turns_are_cancelled_oldest_first_and_before_post_stop, "Y-02", "L-06")
{
    EACH_WORLD(workers, seed)
    {
        lingerer_ref lingerer;
        world_begin(workers, seed);
        ck_assert_int_eq(tr_try_spawn_at(world.client, &lingerer, workers - 1, lingerer, NULL),
                         TR_OK);
        static const char *const names[] = {"one, of some length, so that it is in a block",
                                            "two, of some length, so that it is in a block",
                                            "three"};
        tr_pending asked[3];
        for (int i = 0; i < 3; i++)
            asked[i] = tr_ask(world.client, lingerer, linger, .name = names[i]).any;
        tr_kit_settle(world.kit);
        tr_kill(world.client, lingerer);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(outcome_of(asked[i], NULL), TR_STOPPED);
        tr_kit_settle(world.kit);
        char expected[200];
        snprintf(expected, sizeof expected, "%s %s %s post_stop", names[0], names[1], names[2]);
        ck_assert_str_eq(world.log, expected);
        world_end();
    }
}

/* ---- Where nobody may wait. ---- */

TR_MESSAGE(how_far, (i32, place));
TR_ACTOR(hasty, how_far);
enum { IN_SET_UP = 1, IN_PRE_START, IN_POST_STOP, AWAIT_IN_SET_UP };
struct hasty {
    int place;
};

static void wait_in_vain(tr_self *self)
{
    const struct value *reply = (const struct value *)1;
    size_t index;
    play_ask asked = tr_ask(self, world.players[1], play, .call = CALL(echo));
    ck_assert_int_eq(tr_try_await(self, asked, &reply), TR_NOT_IN_A_TURN);
    ck_assert_ptr_null(reply);
    ck_assert(tr_is_answered(self, asked));
    ck_assert_int_eq(tr_ask_error(self, asked)->status, TR_NOT_IN_A_TURN);
    ck_assert_int_eq(tr_await_all(self, asked, asked), TR_NOT_IN_A_TURN);
    tr_status any = tr_await_any(self, &index, asked);
    ck_assert(any == TR_NOT_IN_A_TURN || (any == TR_OK && index == 0)); /* it has ended */
    ck_assert_int_eq(tr_sleep(self, 1), TR_NOT_IN_A_TURN);
    world.count++;
}

static tr_next set_up(tr_self *self, struct hasty *hasty, const struct how_far *message)
{
    hasty->place = message->place;
    if (message->place == IN_SET_UP)
        wait_in_vain(self);
    if (message->place == AWAIT_IN_SET_UP)
        tr_await(self, tr_ask(self, world.players[1], play, .call = CALL(echo)));
    return TR_SAME;
}
static tr_next on_pre_start(tr_self *self, struct hasty *hasty)
{
    if (hasty->place == IN_PRE_START)
        wait_in_vain(self);
    return TR_SAME;
}
static tr_next on_end(tr_self *self, struct hasty *hasty)
{
    if (hasty->place == IN_POST_STOP)
        wait_in_vain(self);
    return TR_SAME;
}
TR_BEHAVIOR(hasty, struct hasty, TR_SETUP_WITH(how_far, set_up), TR_ON(tr_pre_start, on_pre_start),
            TR_ON(tr_post_stop, on_end));

TEST(nobody_waits_in_a_set_up_or_a_signal, "D-05", "L-04", "L-06")
{
    EACH_WORLD(workers, seed)
    {
        for (int place = IN_SET_UP; place <= AWAIT_IN_SET_UP; place++) {
            hasty_ref hasty;
            tr_error error;
            world_begin(workers, seed);
            ck_assert_int_eq(
                tr_try_spawn_at(
                    world.client, &hasty, workers - 1, hasty, NULL, how_far, .place = place),
                TR_OK);
            tr_status status = tr_spawn_wait(world.client, hasty, TR_SECOND, &error);
            ck_assert_int_eq(status, place == AWAIT_IN_SET_UP ? TR_INIT_FAILED : TR_OK);
            if (place == AWAIT_IN_SET_UP)
                ck_assert_msg(strstr(error.text, "tr_await") != NULL, "%s", error.text);
            tr_stop(world.client, hasty);
            tr_kit_settle(world.kit);
            ck_assert_int_eq(world.count, place != AWAIT_IN_SET_UP);
            world_end();
        }
    }
}

TEST(nothing_is_asked_of_nobody, "A-01", "U-02")
{
    const void *reply = &reply;
    size_t index;
    tr_pending none = {0};
    struct play message = {0};
    tr_pending asked = tr_self_ask(NULL, TR_NOBODY, &tr_type_play, &message, 0);
    ck_assert_int_eq(tr_self_try_await(NULL, asked, &reply), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_await_all(NULL, &none, 1), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_self_await_any(NULL, &index, &none, 1), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_sleep(NULL, 1), TR_INVALID_ARGUMENT);
    ck_assert_uint_eq(tr_reply_later(NULL).number, 0);
    ck_assert_int_eq(tr_self_reply_to(NULL, (tr_later){1}, &tr_type_value, &message),
                     TR_INVALID_ARGUMENT);
    ck_assert(tr_self_is_answered(NULL, none));
    ck_assert(tr_client_is_answered(NULL, none));
    ck_assert_int_eq(tr_client_try_await(NULL, none, &reply), TR_INVALID_ARGUMENT);
    ck_assert_int_ne(tr_client_ask_error(NULL, none)->status, TR_OK);
    ck_assert_int_ne(tr_self_ask_error(NULL, none)->status, TR_OK);
    world_begin(1, 1);
    asked = tr_client_ask(world.client, tr_any(world.players[0]), NULL, &message, 0);
    ck_assert_int_eq(outcome_of(asked, NULL), TR_INVALID_ARGUMENT);
    ck_assert_int_eq(tr_client_ask_error(world.client, asked)->status, TR_INVALID_ARGUMENT);
    asked = tr_client_ask(world.client, tr_any(world.players[0]), &tr_type_play, NULL, 0);
    ck_assert_int_eq(outcome_of(asked, NULL), TR_INVALID_ARGUMENT);
    world_end();
}

SUITE("ask edges", without_a_word_a_timeout_is_five_seconds, the_reply_takes_the_timer_away,
      a_second_reply_is_a_dead_letter_and_the_first_counts,
      a_reply_of_another_type_fails_who_replied, a_barrier_ends_with_its_wait_however_that_ends,
      turns_are_cancelled_oldest_first_and_before_post_stop, nobody_waits_in_a_set_up_or_a_signal,
      nothing_is_asked_of_nobody)
