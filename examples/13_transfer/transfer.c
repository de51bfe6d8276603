/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An ask inside an ask: a bank asks two accounts on behalf of a teller who asked it.
 *
 * on_quick_transfer has no error handling and is right: when alice is short the teller gets that answer,
 * with the text of her account, and the bank continues. on_transfer handles the one case that
 * needs thought: the money has left alice, and bob did not take it. It is a barrier, so no other transfer
 * begins meanwhile.
 */
#include <inttypes.h>
#include <stdio.h>
#include <troupe/troupe.h>

enum bank_code { BANK_NO_FUNDS = 1, BANK_CLOSED };

TR_MESSAGE(balance, (u64, cents));
TR_MESSAGE(open_account, (str, owner), (u64, cents));
TR_MESSAGE(close_account);
TR_REQUEST(deposit, balance, (u64, cents));
TR_REQUEST(withdraw, balance, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_REQUEST(audit, tr_done);
TR_REQUEST(burn, tr_done);
TR_ACTOR(account, deposit, withdraw, get_balance, close_account, audit, burn);

TR_REQUEST(transfer, tr_done, (ref_of(account), from), (ref_of(account), to), (u64, cents));
TR_REQUEST(quick_transfer, tr_done, (ref_of(account), from), (ref_of(account), to), (u64, cents));
TR_ACTOR(bank, transfer, quick_transfer);

/* ---- The account. ---- */

struct account {
    const char *owner;
    uint64_t cents;
    bool is_closed;
};

static tr_next set_up(tr_self *self, struct account *account, const struct open_account *message)
{
    account->owner = tr_strdup(self, message->owner);
    account->cents = message->cents;
    return TR_SAME;
}

static tr_next on_deposit(tr_self *self, struct account *account, const struct deposit *message)
{
    if (account->is_closed)
        return tr_refuse(self, BANK_CLOSED, "the account of %s is closed", account->owner);
    account->cents += message->cents;
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_withdraw(tr_self *self, struct account *account, const struct withdraw *message)
{
    if (account->cents < message->cents)
        return tr_refuse(
            self, BANK_NO_FUNDS, "%s has only %" PRIu64, account->owner, account->cents);
    account->cents -= message->cents;
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_get_balance(tr_self *self, struct account *account)
{
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_close(struct account *account)
{
    account->is_closed = true;
    return TR_SAME;
}

/* Takes longer than anybody waits; the account continues meanwhile. */
static tr_next on_audit(tr_self *self)
{
    tr_sleep(self, 200 * TR_MILLISECOND);
    return tr_reply(self, tr_done);
}

static tr_next on_burn(tr_self *self, struct account *account)
{
    return tr_fail(self, TR_BAD_DATA, "the books of %s are ashes", account->owner);
}

TR_BEHAVIOR(account, struct account, TR_SETUP_WITH(open_account, set_up),
            TR_ON(deposit, on_deposit), TR_ON(withdraw, on_withdraw),
            TR_ON(get_balance, on_get_balance), TR_ON(close_account, on_close),
            TR_ON(audit, on_audit), TR_ON(burn, on_burn),
            TR_OPTIONS(.restart = TR_TEMPORARY)); /* money must not be reset by a restart */

/* ---- The bank. ---- */

static tr_next on_quick_transfer(tr_self *self, const struct quick_transfer *message)
{
    tr_await(self, tr_ask(self, message->from, withdraw, .cents = message->cents));
    tr_await(self, tr_ask(self, message->to, deposit, .cents = message->cents));
    return tr_reply(self, tr_done);
}

static tr_next on_transfer(tr_self *self, const struct transfer *message)
{
    const struct balance *reply;
    tr_await(self, tr_ask(self, message->from, withdraw, .cents = message->cents));
    deposit_ask deposited =
        tr_ask_within(self, 2 * TR_SECOND, message->to, deposit, .cents = message->cents);
    if (tr_try_await(self, deposited, &reply) == TR_OK)
        return tr_reply(self, tr_done);
    tr_await(self, tr_ask(self, message->from, deposit, .cents = message->cents));
    return tr_give_up(self, deposited);
}

TR_BEHAVIOR(bank, void, TR_ON(quick_transfer, on_quick_transfer),
            TR_ON(transfer, on_transfer, .is_barrier = true));

/* ---- The teller. ---- */

TR_MESSAGE(open_counter);
TR_ACTOR(teller, open_counter);

static void show(tr_self *self, account_ref alice, account_ref bob)
{
    get_balance_ask a = tr_ask(self, alice, get_balance);
    get_balance_ask b = tr_ask(self, bob, get_balance);
    const struct balance *alices = tr_await(self, a);
    const struct balance *bobs = tr_await(self, b);
    printf("alice %" PRIu64 ", bob %" PRIu64 "\n", alices->cents, bobs->cents);
}

static tr_next on_open(tr_self *self)
{
    const struct tr_done *done;
    bank_ref bank = tr_spawn(self, bank, "bank");
    account_ref alice =
        tr_spawn(self, account, "alice", open_account, .owner = "alice", .cents = 100);
    account_ref bob = tr_spawn(self, account, "bob", open_account, .owner = "bob");

    tr_await(self, tr_ask(self, bank, quick_transfer, .from = alice, .to = bob, .cents = 30));
    show(self, alice, bob);

    quick_transfer_ask quick =
        tr_ask(self, bank, quick_transfer, .from = alice, .to = bob, .cents = 500);
    if (tr_try_await(self, quick, &done) == TR_REFUSED)
        printf("refused, code %d: %s\n",
               tr_ask_error(self, quick)->code,
               tr_ask_error(self, quick)->text);

    tr_tell(self, bob, close_account);
    transfer_ask asked = tr_ask(self, bank, transfer, .from = alice, .to = bob, .cents = 50);
    if (tr_try_await(self, asked, &done) != TR_OK)
        printf("not transferred: %s\n", tr_ask_error(self, asked)->text);
    show(self, alice, bob);

    audit_ask audited = tr_ask_within(self, 10 * TR_MILLISECOND, alice, audit);
    printf("the audit: %s\n", tr_status_text(tr_try_await(self, audited, &done)));

    burn_ask burnt = tr_ask(self, bob, burn);
    if (tr_try_await(self, burnt, &done) == TR_FAILED)
        printf("bob failed: %s\n", tr_ask_error(self, burnt)->text);
    get_balance_ask gone = tr_ask(self, bob, get_balance);
    const struct balance *reply;
    printf("bob: %s\n", tr_status_text(tr_try_await(self, gone, &reply)));
    return TR_STOP;
}

/* A tr_pre_start cannot wait: the work begins with a message. */
static tr_next on_start(tr_self *self)
{
    tr_tell(self, teller_ref_of(tr_me(self)), open_counter);
    return TR_SAME;
}

TR_BEHAVIOR(teller, void, TR_ON(tr_pre_start, on_start), TR_ON(open_counter, on_open));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, teller);
}
