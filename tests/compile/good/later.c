/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tr_ask_then, tr_is_answered and tr_blocking in all their forms.
 */
#include <troupe/troupe.h>

TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_REQUEST(withdraw, balance, (u64, cents));
TR_ACTOR(account, get_balance, withdraw);
TR_MESSAGE(work);

struct teller {
    account_ref account;
    uint64_t cents;
};

static tr_next on_left(tr_self *self, struct teller *teller, const withdraw_answer *answer)
{
    uint64_t *sum = answer->context;
    if (answer->status != TR_OK)
        return tr_fail(self, answer->why->status, "%s", answer->why->text);
    teller->cents = answer->reply->cents;
    *sum += answer->reply->cents;
    return TR_SAME;
}
TR_THEN(left, withdraw, struct teller, on_left);

static tr_next on_balance(const get_balance_answer *answer)
{
    return answer->status == TR_TIMEOUT ? TR_STOP : TR_SAME;
}
TR_THEN(known, get_balance, struct teller, on_balance);
TR_THEN(known_to_none, get_balance, void, on_balance);

static void count(void *argument)
{
    uint64_t *value = argument;
    ++*value;
}

static tr_next on_work(tr_self *self, struct teller *teller)
{
    uint64_t sum = 0;
    tr_ask_then(self, left, &teller->cents, teller->account, withdraw, .cents = 5);
    tr_ask_then_within(self, TR_SECOND, known, NULL, teller->account, get_balance);
    if (tr_try_ask_then(self, known_to_none, NULL, TR_NOBODY, get_balance) != TR_OK)
        return TR_STOP;
    get_balance_ask asked = tr_ask(self, teller->account, get_balance);
    tr_blocking(self, count, &sum);
    if (tr_is_answered(self, asked) && tr_try_blocking(self, count, &sum) == TR_OK)
        return TR_SAME;
    return TR_STOP;
}

TR_BEHAVIOR(teller, struct teller, TR_ON(work, on_work));

bool is_there(tr_client *client, account_ref account);
bool is_there(tr_client *client, account_ref account)
{
    get_balance_ask asked = tr_ask(client, account, get_balance);
    return tr_is_answered(client, asked);
}
