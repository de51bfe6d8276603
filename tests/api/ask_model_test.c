/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random plays: actors that ask each other in all ways there are, stop and are killed meanwhile. Each
 * ask has one outcome, a reply is that of its request, and no message is lost. And a bank in which
 * everything fails now and then, but no money is made.
 */
#define PLAYERS_RESTART TR_TRANSIENT
#include "support/players.h"

#include <stdlib.h>

/* ---- A play. ---- */

static uint64_t plays; /* numbers of asks: each has its own */
static uint64_t open_asks;
static uint64_t outcomes[-TR_RESTARTED + 1];

static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 31) * UINT64_C(0x7fb5d329728ea185);
    number = (number ^ number >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return number ^ number >> 33;
}

/* An argument is the number of the ask and, in its last digit, how deep it is. */
static int64_t answer_to(int64_t arg)
{
    return arg * 31 + 7;
}

static void note_end(tr_status status, const struct value *reply, int64_t arg)
{
    ck_assert_int_le(status, TR_OK);
    ck_assert_int_ge(status, TR_RESTARTED);
    outcomes[-status]++;
    ck_assert_int_eq(reply != NULL, status == TR_OK);
    if (reply)
        ck_assert_int_eq(reply->number, answer_to(arg));
    ck_assert_uint_gt(open_asks, 0);
    open_asks--;
}

static void close_one(void *resource)
{
    (void)resource;
    world.count++;
}

static tr_next act(tr_self *self, struct player *player, int64_t arg);

struct asked {
    tr_pending pending;
    int64_t arg;
    tr_time due_ns;
};

static struct asked ask_somebody(tr_self *self, int64_t depth, uint64_t dice)
{
    static const tr_time timeouts[] = {0, TR_MILLISECOND, 3 * TR_MILLISECOND, 20 * TR_MILLISECOND};
    struct asked asked = {.arg = (int64_t)++plays * 10 + depth};
    tr_time ns = timeouts[dice % 4];
    player_ref to = world.players[dice / 4 % PLAYERS];
    asked.due_ns = tr_now(self) + (ns ? ns : TR_ASK_NS);
    if (dice / 64 % 4)
        asked.pending = tr_ask_within(self, ns, to, play, .call = CALL(act), .arg = asked.arg).any;
    else
        asked.pending =
            tr_ask_within(self, ns, to, play_alone, .call = CALL(act), .arg = asked.arg).any;
    open_asks++;
    return asked;
}

static void await_one(tr_self *self, const struct asked *asked)
{
    const void *reply;
    tr_status status = tr_self_try_await(self, asked->pending, &reply);
    if (status == TR_TIMEOUT)
        outcomes[31] += tr_now(self) >= asked->due_ns; /* else its own request was due first */
    ck_assert_int_eq(tr_self_try_await(self, asked->pending, &reply), status);
    note_end(status, reply, asked->arg);
}

static void ask_around(tr_self *self, int64_t depth, uint64_t dice)
{
    enum { MANY = 3 };
    struct asked asked[MANY];
    tr_pending pending[MANY];
    size_t index = 0;
    size_t count = 1 + dice % MANY;
    for (size_t i = 0; i < count; i++) {
        asked[i] = ask_somebody(self, depth, mix(dice + i));
        pending[i] = asked[i].pending;
    }
    tr_status status = TR_OK;
    if (dice / 8 % 4 == 0)
        status = tr_self_await_all(self, pending, count);
    else if (dice / 8 % 4 == 1)
        status = tr_self_await_any(self, &index, pending, count);
    ck_assert_int_ne(status, TR_INVALID_ARGUMENT);
    for (size_t i = 0; i < count; i++)
        await_one(self, &asked[(index + i) % count]);
}

static tr_next act(tr_self *self, struct player *player, int64_t arg)
{
    uint64_t dice = mix((uint64_t)arg);
    int64_t depth = arg % 10;
    tr_defer(self, self, close_one);
    char *text = tr_format(self, "%lld", (long long)arg);
    if (depth && dice % 3)
        ask_around(self, depth - 1, mix(dice));
    if (dice / 16 % 4 == 0)
        (void)tr_sleep(self, (tr_time)(dice / 64 % 5) * TR_MILLISECOND);
    ck_assert_int_eq(atoll(text), arg);
    switch (dice / 1024 % 16) {
    case 0:
        return TR_SAME;
    case 1:
        return tr_refuse(self, 3, "%s", text);
    case 2:
        player->later = tr_reply_later(self);
        player->number = arg;
        return TR_SAME;
    case 3:
        (void)tr_reply_to(self, player->later, value, .number = answer_to(player->number));
        break;
    case 4:
        if (tr_me(self).bits != world.players[dice / 65536 % PLAYERS].bits)
            return tr_forward(self, world.players[dice / 65536 % PLAYERS]);
        break;
    case 5:
        if (dice / 65536 % 2 == 0)
            return tr_fail(self, TR_BAD_DATA, "%s", text);
        break;
    case 6:
        if (dice / 65536 % 4 == 0)
            tr_kill(self, world.players[dice / 262144 % PLAYERS]);
        break;
    case 7:
        if (dice / 65536 % 4 == 0)
            tr_stop(self, world.players[dice / 262144 % PLAYERS]);
        break;
    case 8:
        tr_suspend(self, world.players[dice / 65536 % PLAYERS]);
        break;
    case 9:
        return TR_DECLINE;
    case 10:
        tr_reply(self, value, .number = answer_to(arg));
        if (depth)
            ask_around(self, depth - 1, mix(dice + 1));
        break;
    default:
        break;
    }
    tr_reply(self, value, .number = answer_to(arg));
    return TR_SAME;
}

static void play_once(int workers, uint64_t seed)
{
    enum { ASKS = 24 };
    world_begin_as(workers, seed, seed / 8 % 2);
    plays = seed * 1000000;
    open_asks = 0;
    struct asked asked[ASKS];
    for (int i = 0; i < ASKS; i++) {
        uint64_t dice = mix(seed * 1000 + (uint64_t)i);
        asked[i].arg = (int64_t)++plays * 10 + 3;
        asked[i].pending = ASK(dice % PLAYERS, act, asked[i].arg).any;
        open_asks++;
        if (dice / 8 % 4 == 0)
            tr_kit_advance(world.kit, (tr_time)(dice / 64 % 3000000));
        for (int j = 0; j < PLAYERS; j++)
            tr_resume(world.client, world.players[j]);
    }
    for (int i = 0; i < ASKS; i++) {
        const void *reply;
        tr_status status = tr_client_try_await(world.client, asked[i].pending, &reply);
        note_end(status, reply, asked[i].arg);
        for (int j = 0; j < PLAYERS; j++)
            tr_resume(world.client, world.players[j]);
    }
    tr_kit_advance(world.kit, 20 * TR_SECOND);
    for (int j = 0; j < PLAYERS; j++)
        tr_kill(world.client, world.players[j]);
    tr_kit_settle(world.kit);
    ck_assert_msg(open_asks == 0, "seed %d: %d asks are open", (int)seed, (int)open_asks);
    world_end();
}

TEST(each_ask_of_a_random_play_has_one_outcome, "A-01", "A-02", "D-03", "D-05", "SG-11", "AK-01",
     "AK-06")
{
    uint64_t rounds = test_scale(TEST_HAS_SANITIZER ? 60 : 150, 5000);
    uint64_t seed = test_seed() % 1000000;
    for (uint64_t i = 0; i < rounds; i++)
        play_once(i % 3 ? 3 : 1, seed + i);
    /* The plays are worth something: what is common among outcomes has come. */
    static const tr_status all[] = {TR_OK,
                                    TR_REFUSED,
                                    TR_FAILED,
                                    TR_TIMEOUT,
                                    TR_STOPPED,
                                    TR_NO_REPLY,
                                    TR_UNHANDLED,
                                    TR_RESTARTED};
    for (size_t i = 0; i < sizeof all / sizeof *all && !TEST_HAS_SANITIZER; i++)
        ck_assert_msg(outcomes[-all[i]] > 0, "%s never came", tr_status_name(all[i]));
}

/* ---- A bank. ---- */

enum { ACCOUNTS = 4, TRANSFERS = 6, FIRST = 10 };

static int64_t balances[ACCOUNTS]; /* what outlives its actor */

/* An account: takes the amount, or refuses, or is slow, or breaks after it has said no to itself. */
static tr_next change(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    int64_t account = arg % 10;
    int64_t amount = arg / 10 % 100 - 50;
    uint64_t dice = mix((uint64_t)arg / 1000);
    if (dice % 8 == 0 && tr_sleep(self, (tr_time)(dice / 8 % 4) * TR_MILLISECOND) != TR_OK)
        return TR_SAME; /* cancelled: its actor ends, and who asked is told */
    if (dice % 32 == 1)
        return tr_fail(self, TR_BAD_DATA, "a broken account");
    if (balances[account] + amount < 0)
        return tr_refuse(self, 7, "only %d left", (int)balances[account]);
    balances[account] += amount;
    return tr_reply(self, value, .number = balances[account]);
}

static int64_t change_arg(uint64_t dice, int64_t account, int64_t amount)
{
    return (int64_t)(dice % 1000000000) * 1000 + (amount + 50) * 10 + account;
}

/* A bank: keeps in its own books what it does not know the end of. */
static int64_t doubtful[TRANSFERS]
                       [2]; /* of each transfer: what may be missing, what may be too much */

static tr_next transfer(tr_self *self, struct player *player, int64_t arg)
{
    (void)player;
    int64_t number = arg % 10;
    uint64_t dice = mix((uint64_t)arg);
    int64_t from = (int64_t)(dice % ACCOUNTS);
    int64_t to = (int64_t)(dice / 16 % ACCOUNTS);
    int64_t amount = (int64_t)(dice / 256 % 9);
    tr_time ns = dice / 4096 % 4 ? 0 : TR_MILLISECOND;
    const struct value *reply;
    doubtful[number][0] = amount; /* as long as nobody knows */
    play_ask taken = tr_ask_within(self,
                                   ns,
                                   world.players[from],
                                   play,
                                   .call = CALL(change),
                                   .arg = change_arg(dice, from, -amount));
    tr_status status = tr_try_await(self, taken, &reply);
    if (status == TR_REFUSED || status == TR_FAILED || status == TR_STOPPED)
        doubtful[number][0] = 0; /* not taken, for certain */
    if (status != TR_OK)
        return tr_give_up(self, taken);
    /* It is taken, and is missing until it is certain that it was given. */
    play_ask given = tr_ask_within(self,
                                   ns,
                                   world.players[to],
                                   play,
                                   .call = CALL(change),
                                   .arg = change_arg(mix(dice), to, amount));
    status = tr_try_await(self, given, &reply);
    if (status == TR_OK)
        doubtful[number][0] = 0;
    if (status == TR_OK)
        return tr_reply(self, value, .number = amount);
    return tr_give_up(self, given);
}

static void bank_once(int workers, uint64_t seed)
{
    world_begin_as(workers, seed, seed / 8 % 2);
    memset(doubtful, 0, sizeof doubtful);
    for (int i = 0; i < ACCOUNTS; i++)
        balances[i] = FIRST;
    tr_pending asked[TRANSFERS];
    for (int i = 0; i < TRANSFERS; i++) {
        int64_t arg = (int64_t)(seed * 100 + (uint64_t)i * 10) * 10 + i;
        int bank = ACCOUNTS + i % (PLAYERS - ACCOUNTS);
        asked[i] = i % 3 ? ASK(bank, transfer, arg).any : ASK_ALONE(bank, transfer, arg).any;
    }
    for (int i = 0; i < TRANSFERS; i++) {
        tr_status status = outcome_of(asked[i], NULL);
        outcomes[-status]++;
    }
    tr_kit_advance(world.kit, TR_SECOND);
    int64_t sum = 0;
    int64_t missing = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += balances[i];
    for (int i = 0; i < TRANSFERS; i++)
        missing += doubtful[i][0];
    ck_assert_msg(sum <= ACCOUNTS * FIRST && sum + missing >= ACCOUNTS * FIRST,
                  "seed %d: %d and %d missing",
                  (int)seed,
                  (int)sum,
                  (int)missing);
    world_end();
}

static void bank_many(int part)
{
    uint64_t rounds = TEST_HAS_SANITIZER ? 120 : 1000;
    memset(outcomes, 0, sizeof outcomes);
    for (uint64_t i = 0; i < rounds; i++)
        bank_once(1 + (int)(i % 3), 1 + (uint64_t)part * rounds + i);
    ck_assert_uint_gt(outcomes[-TR_OK], rounds);
    ck_assert_uint_gt(outcomes[-TR_REFUSED], 0);
    ck_assert_uint_gt(outcomes[-TR_FAILED], 0);
}

TEST(no_money_is_made_in_the_first_2500_schedules, "A-01", "A-06", "D-03", "D-05")
{
    bank_many(0);
}
TEST(no_money_is_made_in_the_second_2500_schedules, "A-01", "A-06", "D-03", "D-05")
{
    bank_many(1);
}
TEST(no_money_is_made_in_the_third_2500_schedules, "A-01", "A-06", "D-03", "D-05")
{
    bank_many(2);
}
TEST(no_money_is_made_in_the_fourth_2500_schedules, "A-01", "A-06", "D-03", "D-05")
{
    bank_many(3);
}

SUITE("ask model", each_ask_of_a_random_play_has_one_outcome,
      no_money_is_made_in_the_first_2500_schedules, no_money_is_made_in_the_second_2500_schedules,
      no_money_is_made_in_the_third_2500_schedules, no_money_is_made_in_the_fourth_2500_schedules)
