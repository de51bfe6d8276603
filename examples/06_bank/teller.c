/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A teller. A transfer is four messages: withdraw, its answer, deposit, its answer. A teller has
 * several of them in flight, each at a different stage, and needs no list of them.
 */
#include <string.h>
#include "bank.h"

enum { TRANSFERS_AT_ONCE = 16, CENTS_MAX = 10000 };

struct teller {
    account_ref *accounts;
    size_t account_count;
    uint64_t transfers;
    uint64_t refusals;
    uint32_t in_flight;
    tr_ref closer; /* is notified when the desk is closed; nobody while it is open */
};

static account_ref any_account(tr_self *self, const struct teller *teller)
{
    return teller->accounts[tr_random(self) % teller->account_count];
}

static void begin_transfer(tr_self *self, struct teller *teller)
{
    uint64_t cents = 1 + tr_random(self) % CENTS_MAX;
    tr_tell(self, any_account(self, teller), withdraw, .cents = cents);
    teller->in_flight++;
}

/* A transfer is over: on to the next one, or home. */
static tr_next end_transfer(tr_self *self, struct teller *teller)
{
    teller->in_flight--;
    if (tr_is_nobody(teller->closer)) {
        begin_transfer(self, teller);
        return TR_SAME;
    }
    if (teller->in_flight > 0)
        return TR_SAME;
    tr_tell(
        self, teller->closer, report, .transfers = teller->transfers, .refusals = teller->refusals);
    return TR_STOP;
}

static tr_next set_up(tr_self *self, struct teller *teller, const struct open_desk *message)
{
    /* The message is gone after this turn; what is kept is copied. */
    size_t size = message->accounts.count * sizeof *teller->accounts;
    teller->accounts = tr_alloc(self, size);
    memcpy(teller->accounts, message->accounts.items, size);
    teller->account_count = message->accounts.count;
    return TR_SAME;
}

static tr_next on_start(tr_self *self, struct teller *teller)
{
    for (int i = 0; i < TRANSFERS_AT_ONCE; i++)
        begin_transfer(self, teller);
    return TR_SAME;
}

static tr_next on_paid_out(tr_self *self, struct teller *teller, const struct paid_out *message)
{
    if (message->cents == 0) {
        teller->refusals++;
        return end_transfer(self, teller);
    }
    tr_tell(self, any_account(self, teller), deposit, .cents = message->cents);
    return TR_SAME;
}

static tr_next on_deposited(tr_self *self, struct teller *teller)
{
    teller->transfers++;
    return end_transfer(self, teller);
}

static tr_next on_get_report(tr_self *self, struct teller *teller)
{
    return tr_reply(self,
                    report,
                    .transfers = teller->transfers,
                    .refusals = teller->refusals,
                    .in_flight = teller->in_flight);
}

static tr_next on_close_desk(tr_self *self, struct teller *teller)
{
    teller->closer = tr_sender(self);
    return TR_SAME;
}

TR_BEHAVIOR(teller, struct teller, TR_SETUP_WITH(open_desk, set_up), TR_ON(tr_pre_start, on_start),
            TR_ON(paid_out, on_paid_out), TR_ON(tr_done, on_deposited),
            TR_ON(get_report, on_get_report), TR_ON(close_desk, on_close_desk));
