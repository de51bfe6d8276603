/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An account. Its state is its own: no locks, since one message is handled at a time.
 */
#include "bank.h"

struct account {
    uint64_t cents;
};

static tr_next set_up(struct account *account, const struct open_account *message)
{
    account->cents = message->cents;
    return TR_SAME;
}

static tr_next on_withdraw(tr_self *self, struct account *account, const struct withdraw *message)
{
    if (account->cents < message->cents)
        return tr_reply(self, paid_out, .cents = 0);
    account->cents -= message->cents;
    return tr_reply(self, paid_out, .cents = message->cents);
}

static tr_next on_deposit(tr_self *self, struct account *account, const struct deposit *message)
{
    account->cents += message->cents;
    return tr_reply(self, tr_done);
}

static tr_next on_get_balance(tr_self *self, struct account *account)
{
    return tr_reply(self, balance, .cents = account->cents);
}

TR_BEHAVIOR(account, struct account, TR_SETUP_WITH(open_account, set_up),
            TR_ON(withdraw, on_withdraw), TR_ON(deposit, on_deposit),
            TR_ON(get_balance, on_get_balance));
