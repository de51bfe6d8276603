/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors with events: every clause, every shape of an apply function, and all verbs.
 */
#include <troupe/troupe.h>

TR_MESSAGE(total, (u64, cents));
TR_REQUEST(deposit, total, (u64, cents));
TR_ACTOR(account, deposit);

TR_MESSAGE(entry, (str, text), (u64, cents));
TR_MESSAGE(opened_v1, (u64, number));
TR_MESSAGE(opened, (str, owner));
TR_MESSAGE(deposited, (u64, cents));
TR_MESSAGE(closed);
TR_MESSAGE(account_state, (str, owner), (u64, cents), (list(message(entry)), entries));

static void apply_opened(struct account_state *account, const struct opened *event,
                         tr_memory *memory)
{
    struct entry entry = {0};
    entry.text = tr_memory_strdup(memory, event->owner);
    account->owner = entry.text;
    tr_memory_append(memory, account->entries, entry);
    (void)tr_memory_alloc(memory, 10);
}

static void apply_deposited(struct account_state *account, const struct deposited *event)
{
    account->cents += event->cents;
}

static void apply_closed(struct account_state *account)
{
    account->cents = 0;
}

static tr_status grow(tr_self *self, const struct opened_v1 *from, struct opened *to)
{
    to->owner = tr_strdup(self, from->number ? "somebody" : "nobody");
    return TR_OK;
}
TR_MIGRATION(opened_1, 1, opened_v1, opened, grow);

static tr_next on_opened(tr_self *self, const struct account_state *account,
                         const struct opened *event)
{
    tr_log_info(self, "%s %s", account->owner, event->owner);
    return TR_SAME;
}

static tr_next on_closed(tr_self *self)
{
    (void)!tr_destroy(self);
    return TR_SAME;
}

static const tr_migration *const migrations[] = {&tr_migration_opened_1, NULL};
TR_EVENTS(account_events, account_state,
          TR_APPLY(opened, apply_opened, .version = 2, .migrations = migrations),
          TR_APPLY(deposited, apply_deposited), TR_APPLY(closed, apply_closed),
          TR_ON_STORED(opened, on_opened), TR_ON_STORED(closed, on_closed),
          TR_SNAPSHOTS(.every = 10, .kept = 3, .drops_events = true));

static tr_next on_deposit(tr_self *self, const struct account_state *account,
                          const struct deposit *message)
{
    uint64_t sum = 0;
    tr_event event;
    while (tr_event_next(self, &event)) {
        const struct deposited *deposited = TR_EVENT_AS(&event, deposited);
        sum += deposited ? deposited->cents : 0;
    }
    if (tr_try_persist(self, opened, .owner = "anna") != TR_OK)
        tr_persist(self, closed);
    uint64_t number = tr_persist(self, deposited, .cents = message->cents);
    if (number == tr_event_last(self))
        tr_snapshot(self);
    return tr_reply(self, total, .cents = account->cents + sum);
}

TR_BEHAVIOR(account, const struct account_state, TR_ON(deposit, on_deposit));
TR_DURABLE(account, account_state, .events = &account_events);
