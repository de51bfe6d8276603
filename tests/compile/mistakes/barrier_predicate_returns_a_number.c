/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 D-03 */
/* expect: TR_ON_BARRIER_IF\(deposit, is_large, on_deposit\): the predicate must be bool is_large\(const struct deposit \*message\) */
#include "common.h"

static int is_large(const struct deposit *message)
{
    return message->amount > 1000;
}

static tr_next on_deposit(struct account *account, const struct deposit *message)
{
    account->cents += message->amount;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON_BARRIER_IF(deposit, is_large, on_deposit));
