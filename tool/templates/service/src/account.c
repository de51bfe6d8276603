/* SPDX-License-Identifier: Apache-2.0 */
#include "account.h"

/* What is stored of an account: declared as a message is. A new field goes to the end. */
TR_MESSAGE(account_state, (u64, cents));

enum { DEPOSIT_MAX = 100000000 };

static tr_next on_deposit(tr_self *self, struct account_state *account,
                          const struct deposit *message)
{
    if (message->cents == 0 || message->cents > DEPOSIT_MAX)
        return tr_refuse(self, 1, "a deposit is 1 to %d cents", DEPOSIT_MAX);
    account->cents += message->cents;
    tr_broadcast(self, balance, .cents = account->cents); /* to those that listen to its events */
    /* The reply leaves when the change is on disk. */
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_withdraw(tr_self *self, struct account_state *account,
                           const struct withdraw *message)
{
    if (message->cents > account->cents)
        return tr_refuse(self, 2, "there is not so much in the account");
    account->cents -= message->cents;
    tr_broadcast(self, balance, .cents = account->cents);
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_get_balance(tr_self *self, struct account_state *account)
{
    return tr_reply(self, balance, .cents = account->cents);
}

TR_BEHAVIOR(account, struct account_state, TR_ON(deposit, on_deposit), TR_ON(withdraw, on_withdraw),
            TR_ON(get_balance, on_get_balance));
TR_DURABLE(account, account_state, .idle_ns = 10 * TR_SECOND);
