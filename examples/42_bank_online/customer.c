/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A customer: pays a little from one account to another, rests, and does it again. The first accounts of the list are the
 * popular ones, so that the last ones have time to sleep.
 */
#include "bank.h"

enum { CENTS_MAX = 500 };

struct customer {
    tr_time pause_ns;
};

static uint32_t any_account(tr_self *self)
{
    uint64_t first = tr_random(self) % ACCOUNTS;
    uint64_t second = tr_random(self) % ACCOUNTS;
    uint64_t third = tr_random(self) % ACCOUNTS;
    uint64_t least = first < second ? first : second;
    return (uint32_t)(least < third ? least : third);
}

static void rest(tr_self *self, const struct customer *customer)
{
    tr_time half = customer->pause_ns / 2;
    tr_timer_once(
        self, "shop", half + (tr_time)(tr_random(self) % (uint64_t)customer->pause_ns), shop);
}

static tr_next set_up(struct customer *customer, const struct habits *habits)
{
    customer->pause_ns = (tr_time)habits->pause_ns;
    return TR_SAME;
}

static tr_next on_start(tr_self *self, struct customer *customer)
{
    rest(self, customer);
    return TR_SAME;
}

/* A payment that is refused or fails is none: the customer does not try it again. */
static tr_next on_shop(tr_self *self, struct customer *customer)
{
    uint32_t from = any_account(self);
    uint32_t to = any_account(self);
    if (to == from)
        to = (to + 1) % ACCOUNTS;
    tr_time begin = tr_now(self);
    pay_ask asked = tr_ask_key(self,
                               account,
                               account_names[from],
                               pay,
                               .to = account_names[to],
                               .cents = 1 + tr_random(self) % CENTS_MAX);
    if (tr_try_await(self, asked, NULL) == TR_OK)
        tr_publish(self,
                   tr_topic_open(self, books, "books"),
                   served,
                   .ns = (uint64_t)(tr_now(self) - begin));
    rest(self, customer);
    return TR_SAME;
}

TR_BEHAVIOR(customer, struct customer, TR_SETUP_WITH(habits, set_up), TR_ON(tr_pre_start, on_start),
            TR_ON(shop, on_shop));
