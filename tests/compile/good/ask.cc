/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every way to ask, in C++17.
 */
#include <troupe/troupe.h>

TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(withdraw, balance, (u64, cents));
TR_REQUEST(get_balance, balance);
TR_ACTOR(account, withdraw, get_balance);
TR_REQUEST(transfer, tr_done, (ref_of(account), from), (ref_of(account), to), (u64, cents));
TR_MESSAGE(remind);
TR_ACTOR(bank, transfer, remind);

struct bank {
    tr_later later;
    uint64_t cents;
};

static tr_next on_left(tr_self *self, struct bank *bank, const withdraw_answer *answer)
{
    if (answer->status != TR_OK)
        return tr_fail(self, answer->why->status, "%s", answer->why->text);
    bank->cents += answer->reply->cents;
    return TR_SAME;
}
TR_THEN(left, withdraw, struct bank, on_left);

static tr_next on_transfer(tr_self *self, struct bank *bank, const struct transfer *message)
{
    const struct balance *left;
    size_t first;
    /* The ask stands inside the await. */
    if (tr_try_await(self, tr_ask(self, message->from, withdraw, .cents = 5), &left) != TR_OK)
        return TR_STOP;
    if (tr_try_await(self, tr_ask(self, message->from, get_balance), &left) != TR_OK)
        return TR_STOP;
    if (tr_try_await(self,
                     tr_ask_within(self, TR_SECOND, message->from, withdraw, .cents = 1),
                     NULL) != TR_OK)
        return TR_STOP;
    left = tr_await(self, tr_ask(self, message->to, withdraw, .cents = left->cents));
    bank->cents += tr_await(self, tr_ask(self, message->to, get_balance))->cents;
    withdraw_ask a = tr_ask(self, message->from, withdraw, .cents = 2);
    withdraw_ask b = tr_ask_within(self, 2 * TR_SECOND, message->to, withdraw, .cents = 3);
    get_balance_ask c = tr_ask(self, message->to, get_balance);
    if (tr_await_any(self, &first, a, b, c) != TR_OK || tr_await_all(self, a, b, c) != TR_OK)
        return tr_give_up(self, a);
    if (tr_is_answered(self, a) && tr_try_await(self, a, &left) != TR_OK)
        return tr_refuse(self, 1, "%s", tr_ask_error(self, a)->text);
    if (tr_sleep(self, TR_MILLISECOND) != TR_OK)
        return TR_STOP;
    tr_ask_then(self, left, bank, message->from, withdraw, .cents = 1);
    tr_ask_then_within(self, TR_SECOND, left, NULL, message->from, withdraw);
    if (tr_try_ask_then(self, left, NULL, message->from, withdraw, .cents = 1) != TR_OK)
        return TR_STOP;
    bank->later = tr_reply_later(self);
    return TR_SAME;
}

static tr_next on_remind(tr_self *self, struct bank *bank)
{
    return tr_reply_to(self, bank->later, tr_done) == TR_OK ? TR_SAME : TR_STOP;
}

TR_BEHAVIOR(bank, struct bank, TR_ON(transfer, on_transfer, .is_barrier = true),
            TR_ON(remind, on_remind));

struct session {
    uint64_t cents;
};
static void on_cents(struct session *session, const get_balance_answer *answer)
{
    if (answer->status == TR_OK)
        session->cents = answer->reply->cents;
}
TR_CALLBACK(cents, get_balance, struct session, on_cents);
static void on_taken(void *context, const withdraw_answer *answer)
{
    (void)context;
    (void)answer;
}
TR_CALLBACK(taken, withdraw, void, on_taken);

static tr_status outside(tr_client *client, account_ref account, struct session *session)
{
    const struct balance *left;
    tr_status status = tr_ask_callback(client, cents, session, account, get_balance);
    if (status != TR_OK)
        return status;
    status = tr_ask_callback_within(client, TR_SECOND, taken, session, account, withdraw);
    if (status == TR_OK)
        status = tr_ask_callback(client, taken, NULL, account, withdraw, .cents = 5);
    while (tr_client_poll(client, tr_client_timeout(client)) > 0 && tr_client_fd(client) >= 0)
        ;
    if (tr_try_await(client, tr_ask(client, account, withdraw, .cents = 5), &left) == TR_OK)
        session->cents = left->cents;
    get_balance_ask asked = tr_ask(client, account, get_balance);
    if (!tr_is_answered(client, asked) && tr_try_await(client, asked, NULL) != TR_OK)
        return tr_ask_error(client, asked)->status;
    return status;
}

int main()
{
    session session = {};
    return outside(nullptr, account_ref_of(TR_NOBODY), &session) == TR_OK;
}
