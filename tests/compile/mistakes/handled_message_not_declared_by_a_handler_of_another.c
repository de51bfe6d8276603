/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: tr_(type|says)_withdraw */
#include "common.h"

static tr_next on_deposit(struct account *account, const struct deposit *message)
{
    account->cents += message->amount;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(withdraw, on_deposit));
