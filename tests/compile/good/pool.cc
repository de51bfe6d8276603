/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pool: its verbs, its table, and its place in an app, in C++17.
 */
#include <troupe/troupe.h>

TR_MESSAGE(balance, (u64, cents));
TR_MESSAGE(open_account, (u64, cents), (str, owner));
TR_REQUEST(get_balance, balance);
TR_ACTOR(account, get_balance);
TR_ACTOR(plain, get_balance);

static tr_next set_up(const struct open_account *message)
{
    return message->cents ? TR_SAME : TR_STOP;
}

static tr_next on_get_balance(tr_self *self)
{
    return tr_reply(self, balance, .cents = 5);
}

TR_BEHAVIOR(account, void, TR_SETUP_WITH(open_account, set_up), TR_ON(get_balance, on_get_balance));
TR_BEHAVIOR(plain, void, TR_ON(get_balance, on_get_balance), TR_OPTIONS(.balances = true));

static tr_next on_args(tr_self *self)
{
    plain_ref one = tr_pool_spawn(self, plain, "one");
    account_ref two = tr_pool_spawn(self, account, "two", open_account, .cents = 7, .owner = "me");
    account_ref three = tr_pool_find(self, account, "two");
    tr_error error;
    if (tr_try_pool_spawn(self, &one, plain, "one") != TR_OK)
        return TR_STOP;
    if (tr_try_pool_spawn_error(self, &two, &error, account, "two", open_account, .cents = 7) != TR_OK)
        return tr_fail(self, error.status, "%s", error.text);
    tr_tell(self, one, get_balance);
    tr_tell(self, two, get_balance);
    tr_tell(self, three, get_balance);
    return TR_STOP;
}

TR_BEHAVIOR(root, void, TR_ON(tr_args, on_args));

static const tr_supervision strategy = {TR_ALL_FOR_ONE, 3, TR_SECOND, {}, NULL, TR_STOP_AFTER_NONE};

static const tr_child_spec pool[] = {
    TR_POOLED(plain, "one"),
    TR_POOLED(account, "two", .setup = TR_WITH(open_account, .cents = 3), .restart = TR_PERMANENT),
    {},
};

static tr_status on_worker_start(tr_system *system, int worker, void *context)
{
    tr_client *client;
    plain_ref one;
    (void)context;
    if (worker > 0)
        return TR_OK;
    tr_status status = tr_client_new(system, &client);
    if (status != TR_OK)
        return status;
    one = tr_pool_find(client, plain, "one");
    status = tr_try_pool_spawn(client, &one, plain, "three");
    tr_client_free(client);
    return status;
}

int main(int argc, char **argv)
{
    if (tr_pool_worker_of("one", 2) < 0)
        return 1;
    return tr_app_main(argc, argv, root, .workers = 2, .pool = pool, .pool_supervision = &strategy,
                       .on_worker_start = on_worker_start);
}
