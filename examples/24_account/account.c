/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An account that stores what happened, not the result: an actor with events.
 *
 *     24_account              moves some money on the account of "anna"
 *     24_account audit        prints all events of the account
 *
 * The balance is in no file. When the account wakes, what was stored of its events is applied once more, by the
 * same functions as when they happened. Each run is another process; the events are in the directory
 * teller.data, or where --store says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <troupe/troupe.h>

TR_MESSAGE(balance, (u64, cents), (str, owner));
TR_MESSAGE(line, (u64, number), (i64, cents), (str, what));
TR_MESSAGE(lines, (list(message(line)), lines));
TR_REQUEST(open_account, balance, (str, owner));
TR_REQUEST(deposit, balance, (u64, cents));
TR_REQUEST(withdraw, balance, (u64, cents), (str, what_for));
TR_REQUEST(audit, lines);
TR_ACTOR(account, open_account, deposit, withdraw, audit);
TR_DURABLE_DECLARE(account);

/* ---- The events of an account, and their effect. ---- */

TR_MESSAGE(opened, (str, owner));
TR_MESSAGE(deposited, (u64, cents));
TR_MESSAGE(withdrawn, (u64, cents), (str, what_for));

TR_MESSAGE(account_state, (str, owner), (u64, cents));

static void apply_opened(struct account_state *account, const struct opened *event,
                         tr_memory *memory)
{
    account->owner = tr_memory_strdup(memory, event->owner);
}

static void apply_deposited(struct account_state *account, const struct deposited *event)
{
    account->cents += event->cents;
}

static void apply_withdrawn(struct account_state *account, const struct withdrawn *event)
{
    account->cents -= event->cents;
}

/* Once, when it is on disk; never when it is applied again. */
static tr_next on_withdrawn(tr_self *self, const struct withdrawn *event)
{
    tr_log_info(self, "%" PRIu64 " cents for %s", event->cents, event->what_for);
    return TR_SAME;
}

TR_EVENTS(account_events, account_state, TR_APPLY(opened, apply_opened),
          TR_APPLY(deposited, apply_deposited), TR_APPLY(withdrawn, apply_withdrawn),
          TR_ON_STORED(withdrawn, on_withdrawn), TR_SNAPSHOTS(.every = 50));

/* ---- The requests: the state is const here, because only events change it. ---- */

static tr_next tell_balance(tr_self *self, const struct account_state *account)
{
    return tr_reply(self, balance, .cents = account->cents, .owner = account->owner);
}

static tr_next on_open(tr_self *self, const struct account_state *account,
                       const struct open_account *message)
{
    if (!account->owner)
        tr_persist(self, opened, .owner = message->owner);
    return tell_balance(self, account);
}

static tr_next on_deposit(tr_self *self, const struct account_state *account,
                          const struct deposit *message)
{
    tr_persist(self, deposited, .cents = message->cents);
    return tell_balance(self, account);
}

static tr_next on_withdraw(tr_self *self, const struct account_state *account,
                           const struct withdraw *message)
{
    if (account->cents < message->cents)
        return tr_refuse(self, 1, "there are %" PRIu64 " cents only", account->cents);
    tr_persist(self, withdrawn, .cents = message->cents, .what_for = message->what_for);
    return tell_balance(self, account);
}

static tr_next on_audit(tr_self *self)
{
    struct line lines[100];
    size_t count = 0;
    tr_event event = {0};
    while (count < 100 && tr_event_next(self, &event)) {
        const struct deposited *in = TR_EVENT_AS(&event, deposited);
        const struct withdrawn *out = TR_EVENT_AS(&event, withdrawn);
        struct line line = {.number = event.sequence, .what = event.type->name};
        line.cents = in ? (int64_t)in->cents : out ? -(int64_t)out->cents : 0;
        lines[count++] = line;
    }
    return tr_reply(self, lines, .lines = {lines, count});
}

TR_BEHAVIOR(account, const struct account_state, TR_ON(open_account, on_open),
            TR_ON(deposit, on_deposit), TR_ON(withdraw, on_withdraw), TR_ON(audit, on_audit));
TR_DURABLE(account, account_state, .events = &account_events);

/* ---- The teller. ---- */

static void say(const struct balance *balance)
{
    printf("%s has %" PRIu64 " cents\n", balance->owner, balance->cents);
}

static tr_next on_args(tr_self *self, const struct tr_args *args)
{
    account_ref account = tr_durable(self, account, "anna");
    if (args->argv.count > 1 && strcmp(args->argv.items[1], "audit") == 0) {
        const struct lines *all = tr_await(self, tr_ask(self, account, audit));
        for (size_t i = 0; i < all->lines.count; i++)
            printf("%3" PRIu64 " %-10s %6" PRId64 "\n",
                   all->lines.items[i].number,
                   all->lines.items[i].what,
                   all->lines.items[i].cents);
        return TR_STOP;
    }
    const struct balance *balance;
    (void)tr_await(self, tr_ask(self, account, open_account, .owner = "Anna"));
    say(tr_await(self, tr_ask(self, account, deposit, .cents = 2000)));
    if (tr_try_await(self,
                     tr_ask(self, account, withdraw, .cents = 1200, .what_for = "tea"),
                     &balance) == TR_OK)
        say(balance);
    return TR_STOP;
}

TR_BEHAVIOR(teller, void, TR_ON(tr_args, on_args));

int main(int argc, char **argv)
{
    return tr_app_main(argc, argv, teller, .durable = TR_DURABLES(account));
}
