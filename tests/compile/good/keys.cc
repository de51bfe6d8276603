/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Durable actors by their keys: in C++: all forms, in a turn and of a client.
 */
#include <troupe/troupe.h>

TR_MESSAGE(balance, (u64, cents));
TR_REQUEST(deposit, balance, (u64, cents));
TR_REQUEST(show, balance);
TR_ACTOR(account, deposit, show);
TR_MESSAGE(account_state, (u64, cents));

static tr_next on_deposit(tr_self *self, struct account_state *account,
                          const struct deposit *message)
{
    account->cents += message->cents;
    return tr_reply(self, balance, .cents = account->cents);
}

static tr_next on_show(tr_self *self, struct account_state *account)
{
    return tr_reply(self, balance, .cents = account->cents);
}

TR_BEHAVIOR(account, struct account_state, TR_ON(deposit, on_deposit), TR_ON(show, on_show));
TR_DURABLE(account, account_state, .ttl_ns = 24 * TR_HOUR, .answers_ns = TR_HOUR,
           .answers_bytes_max = 100000);

static tr_next on_args(tr_self *self)
{
    const char *key = "anna";
    tr_durable_page page = {};
    const struct balance *reply;
    deposit_ask asked = tr_ask_once(self, account, key, "1", deposit, .cents = 5);
    if (tr_try_await(self, asked, &reply) != TR_OK)
        return tr_give_up(self, asked);
    reply = tr_await(self, tr_ask_key(self, account, key, show));
    reply = tr_await(self, tr_ask_key_within(self, TR_SECOND, account, "ben", show));
    reply = tr_await(
        self,
        tr_ask_once_within(self, TR_SECOND, account, "ben", key, deposit, .cents = reply->cents));
    if (tr_durable_list(self, account, &page) != TR_OK ||
        tr_durable_list(self, account, &page, .prefix = "a", .after = page.last, .max = 7) != TR_OK)
        return tr_fail(self, TR_FAILED, "no list");
    if (tr_durable_exists(self, account, key) == TR_OK &&
        tr_durable_destroy(self, account, key) != TR_OK)
        return tr_fail(self, TR_FAILED, "%d", (int)page.count);
    return TR_STOP;
}

TR_BEHAVIOR(bank, void, TR_ON(tr_args, on_args));

static tr_status from_outside(tr_client *client, tr_bytes prefix)
{
    tr_durable_page page = {};
    const struct balance *reply;
    deposit_ask asked = tr_ask_once(client, account, "anna", "1", deposit, .cents = 5);
    tr_status status = tr_try_await(client, asked, &reply);
    if (status == TR_OK)
        status = tr_durable_list(client, account, &page, .prefix_bytes = prefix);
    for (size_t i = 0; i < page.count && status == TR_OK; i++)
        if (!page.keys[i].is_awake)
            status = tr_client_durable_destroy(client, &tr_durable_account, page.keys[i].key);
    return status == TR_OK ? tr_durable_exists(client, account, "anna") : status;
}

int main(int argc, char **argv)
{
    if (argc < 0)
        return (int)from_outside(nullptr, tr_bytes{nullptr, 0});
    return tr_app_main(argc, argv, bank, .durable = TR_DURABLES(account));
}
