/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Asks and their outcomes, one by one: on virtual time, on one worker and on three.
 */
#include "support/test.h"

#include <string.h>
#include <troupe/kit.h>
#include <troupe/troupe.h>

enum { NO_FUNDS = 7 };

TR_MESSAGE(balance, (u64, cents));
TR_MESSAGE(label, (str, text));
TR_REQUEST(get_balance, balance);
TR_REQUEST(withdraw, balance, (u64, cents));
TR_REQUEST(deposit, balance, (u64, cents));
TR_REQUEST(describe, label, (str, prefix));
TR_REQUEST(be_silent, tr_done);
TR_REQUEST(break_down, tr_done);
TR_REQUEST(put_off, balance);
TR_REQUEST(put_off_for_ever, balance);
TR_REQUEST(answer_wrongly, balance);
TR_REQUEST(answer_twice, balance);
TR_REQUEST(unknown_request, balance);
TR_MESSAGE(answer_now);
TR_ACTOR(account, get_balance, withdraw, deposit, describe, be_silent, break_down, put_off,
         put_off_for_ever, answer_wrongly, answer_twice, unknown_request, answer_now);

TR_MESSAGE(said, (i32, status), (i32, code), (u64, cents), (str, text));
TR_REQUEST(transfer, tr_done, (ref_of(account), from), (ref_of(account), to), (u64, cents));
TR_REQUEST(transfer_alone, tr_done, (ref_of(account), from), (ref_of(account), to), (u64, cents));
TR_ACTOR(bank, transfer, transfer_alone);

struct account {
    uint64_t cents;
    tr_later later;
};

static tr_next on_get(tr_self *self, struct account *account)
{
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_withdraw(tr_self *self, struct account *account, const struct withdraw *message)
{
    if (account->cents < message->cents)
        return tr_refuse(self, NO_FUNDS, "only %u left", (unsigned)account->cents);
    account->cents -= message->cents;
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_deposit(tr_self *self, struct account *account, const struct deposit *message)
{
    account->cents += message->cents;
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_describe(tr_self *self, struct account *account, const struct describe *message)
{
    char *text = tr_format(self, "%s%u", message->prefix, (unsigned)account->cents);
    return tr_reply(self, label, .text = text);
}

static tr_next on_break(tr_self *self)
{
    return tr_fail(self, TR_BAD_DATA, "broken");
}

static tr_next on_put_off(tr_self *self, struct account *account)
{
    account->later = tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_now(tr_self *self, struct account *account)
{
    (void)tr_reply_to(self, account->later, balance, .cents = 77);
    return TR_SAME;
}

static tr_next on_silent(void)
{
    return TR_SAME;
}

static tr_next on_wrongly(tr_self *self)
{
    return tr_reply(self, label, .text = "what?");
}

static tr_next on_twice(tr_self *self)
{
    tr_reply(self, balance, .cents = 1);
    return tr_reply(self, balance, .cents = 2);
}

TR_BEHAVIOR(account, struct account, TR_ON(get_balance, on_get), TR_ON(withdraw, on_withdraw),
            TR_ON(deposit, on_deposit), TR_ON(describe, on_describe), TR_ON(be_silent, on_silent),
            TR_ON(break_down, on_break), TR_ON(put_off, on_put_off),
            TR_ON(put_off_for_ever, on_put_off), TR_ON(answer_wrongly, on_wrongly),
            TR_ON(answer_twice, on_twice), TR_ON(answer_now, on_now),
            TR_OPTIONS(.restart = TR_TEMPORARY));

static tr_next on_transfer(tr_self *self, const struct transfer *message)
{
    const struct balance *reply;
    tr_await(self, tr_ask(self, message->from, withdraw, .cents = message->cents));
    deposit_ask deposited = tr_ask(self, message->to, deposit, .cents = message->cents);
    if (tr_try_await(self, deposited, &reply) == TR_OK)
        return tr_reply(self, tr_done);
    tr_await(self, tr_ask(self, message->from, deposit, .cents = message->cents));
    return tr_give_up(self, deposited);
}

static tr_next on_transfer_alone(tr_self *self, const struct transfer_alone *message)
{
    tr_await(self, tr_ask(self, message->from, withdraw, .cents = message->cents));
    tr_await(self, tr_ask(self, message->to, deposit, .cents = message->cents));
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(bank, void, TR_ON(transfer, on_transfer),
            TR_ON(transfer_alone, on_transfer_alone, .is_barrier = true),
            TR_OPTIONS(.restart = TR_TEMPORARY));

/* ---- A client asks. ---- */

struct world {
    tr_kit *kit;
    tr_client *client;
    account_ref alice;
    account_ref bob;
    bank_ref bank;
};

static struct world begin(int workers, uint64_t seed)
{
    struct world world = {.kit = tr_kit_new(&(tr_kit_options){.seed = seed, .workers = workers})};
    world.client = tr_kit_client(world.kit);
    ck_assert_int_eq(tr_try_spawn(world.client, &world.alice, account, "alice"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(world.client, &world.bob, workers - 1, account, "bob"), TR_OK);
    ck_assert_int_eq(tr_try_spawn_at(world.client, &world.bank, workers / 2, bank, "bank"), TR_OK);
    return world;
}

static void end(struct world *world)
{
    tr_kit_settle(world->kit);
    tr_kit_check(world->kit);
    tr_kit_free(world->kit);
}

#define OUTCOME(world, to, ...)                                                                    \
    __extension__({                                                                                \
        const void *reply_;                                                                        \
        tr_client_try_await(                                                                       \
            (world)->client, tr_ask((world)->client, to, __VA_ARGS__).any, &reply_);               \
    })

TEST(a_request_has_one_outcome_of_each_kind, "A-01", "A-05", "A-06", "AK-01", "AK-03")
{
    for (int workers = 1; workers <= 3; workers += 2) {
        struct world world = begin(workers, 3);
        const struct balance *balance;
        ck_assert_int_eq(OUTCOME(&world, world.alice, deposit, .cents = 100), TR_OK);
        get_balance_ask asked = tr_ask(world.client, world.alice, get_balance);
        ck_assert_int_eq(tr_try_await(world.client, asked, &balance), TR_OK);
        ck_assert_uint_eq(balance->cents, 100);
        ck_assert_int_eq(tr_try_await(world.client, asked, &balance), TR_INVALID_ARGUMENT);
        const struct label *label;
        describe_ask described = tr_ask(world.client, world.alice, describe, .prefix = "has ");
        ck_assert_int_eq(tr_try_await(world.client, described, &label), TR_OK);
        ck_assert_str_eq(label->text, "has 100");
        ck_assert_int_eq(OUTCOME(&world, world.alice, withdraw, .cents = 101), TR_REFUSED);
        ck_assert_int_eq(OUTCOME(&world, world.alice, be_silent), TR_NO_REPLY);
        ck_assert_int_eq(OUTCOME(&world, world.alice, unknown_request), TR_UNHANDLED);
        ck_assert_int_eq(OUTCOME(&world, world.alice, answer_twice), TR_OK);
        ck_assert_int_eq(OUTCOME(&world, world.alice, put_off_for_ever), TR_TIMEOUT);
        ck_assert_int_eq(OUTCOME(&world, world.bob, answer_wrongly), TR_FAILED);
        ck_assert_int_eq(OUTCOME(&world, world.bob, get_balance), TR_STOPPED);
        ck_assert_int_eq(OUTCOME(&world, world.alice, break_down), TR_FAILED);
        ck_assert_int_eq(OUTCOME(&world, world.alice, get_balance), TR_STOPPED);
        end(&world);
    }
}

TEST(a_reply_that_was_put_off_comes_later, "A-01", "B-04")
{
    struct world world = begin(3, 5);
    const struct balance *balance;
    put_off_ask asked = tr_ask(world.client, world.alice, put_off);
    tr_kit_settle(world.kit);
    tr_tell(world.client, world.alice, answer_now);
    ck_assert_int_eq(tr_try_await(world.client, asked, &balance), TR_OK);
    ck_assert_uint_eq(balance->cents, 77);
    /* The second one finds nothing to answer; who is never answered hears of the end. */
    asked = tr_ask(world.client, world.alice, put_off);
    tr_stop(world.client, world.alice);
    ck_assert_int_eq(tr_try_await(world.client, asked, &balance), TR_STOPPED);
    end(&world);
}

/* ---- Transfers: asks inside an ask. ---- */

TEST(a_transfer_reads_like_sequential_code_and_a_refusal_passes_through, "D-05", "A-06", "A-04")
{
    for (int workers = 1; workers <= 3; workers++) {
        struct world world = begin(workers, (uint64_t)workers);
        ck_assert_int_eq(OUTCOME(&world, world.alice, deposit, .cents = 10), TR_OK);
        ck_assert_int_eq(
            OUTCOME(&world, world.bank, transfer, .from = world.alice, .to = world.bob, .cents = 4),
            TR_OK);
        ck_assert_int_eq(
            OUTCOME(&world, world.bank, transfer, .from = world.alice, .to = world.bob, .cents = 7),
            TR_REFUSED);
        /* The bank is well, and bob is gone: the money goes back. */
        tr_stop(world.client, world.bob);
        tr_kit_settle(world.kit);
        ck_assert_int_eq(
            OUTCOME(&world, world.bank, transfer, .from = world.alice, .to = world.bob, .cents = 3),
            TR_FAILED);
        const struct balance *balance;
        get_balance_ask asked = tr_ask(world.client, world.alice, get_balance);
        ck_assert_int_eq(tr_try_await(world.client, asked, &balance), TR_OK);
        ck_assert_uint_eq(balance->cents, 6);
        end(&world);
    }
}

/* Money is neither made nor lost, whatever the schedule and whoever is stopped. */
TEST(money_is_conserved_over_random_schedules, "A-01", "D-03", "D-05")
{
    enum { ACCOUNTS = 4, TRANSFERS = 12 };
    uint64_t rounds = 300;
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        tr_kit *kit = tr_kit_new(&(tr_kit_options){.seed = seed, .workers = 3});
        tr_client *client = tr_kit_client(kit);
        account_ref accounts[ACCOUNTS];
        bank_ref banks[2];
        const void *reply;
        for (int i = 0; i < ACCOUNTS; i++) {
            ck_assert_int_eq(tr_try_spawn_at(client, &accounts[i], i % 3, account, NULL), TR_OK);
            deposit_ask opened = tr_ask(client, accounts[i], deposit, .cents = 10);
            ck_assert_int_eq(tr_client_try_await(client, opened.any, &reply), TR_OK);
        }
        for (int i = 0; i < 2; i++)
            ck_assert_int_eq(tr_try_spawn_at(client, &banks[i], i, bank, NULL), TR_OK);
        tr_pending asked[TRANSFERS];
        for (uint64_t i = 0; i < TRANSFERS; i++) {
            uint64_t number = seed * 7919 + i * 104729;
            account_ref from = accounts[number % ACCOUNTS];
            account_ref to = accounts[number / 5 % ACCOUNTS];
            bank_ref to_bank = banks[number / 3 % 2];
            uint64_t cents = number / 11 % 9;
            asked[i] =
                i % 3
                    ? tr_ask(client, to_bank, transfer, .from = from, .to = to, .cents = cents).any
                    : tr_ask(
                          client, to_bank, transfer_alone, .from = from, .to = to, .cents = cents)
                          .any;
        }
        for (int i = 0; i < TRANSFERS; i++) {
            tr_status status = tr_client_try_await(client, asked[i], &reply);
            ck_assert_msg(status == TR_OK || status == TR_REFUSED,
                          "seed %llu: %s",
                          (unsigned long long)seed,
                          tr_status_name(status));
        }
        uint64_t sum = 0;
        for (int i = 0; i < ACCOUNTS; i++) {
            const struct balance *balance;
            get_balance_ask got = tr_ask(client, accounts[i], get_balance);
            ck_assert_int_eq(tr_try_await(client, got, &balance), TR_OK);
            sum += balance->cents;
        }
        ck_assert_uint_eq(sum, 10 * ACCOUNTS);
        tr_kit_settle(kit);
        tr_kit_check(kit);
        tr_kit_free(kit);
    }
}

SUITE("ask", a_request_has_one_outcome_of_each_kind, a_reply_that_was_put_off_comes_later,
      a_transfer_reads_like_sequential_code_and_a_refusal_passes_through,
      money_is_conserved_over_random_schedules)
