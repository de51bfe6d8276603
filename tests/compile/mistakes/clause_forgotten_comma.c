/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: a comma is missing between two clauses of TR_BEHAVIOR */
#include "common.h"

static tr_next on_deposit(struct account *account)
{
    (void)account;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit) TR_ON(get_balance, on_deposit));
