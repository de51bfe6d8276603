/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: the handler must be .*const struct deposit \*message */
#include "common.h"

static tr_next on_deposit(struct account *account, struct deposit *message)
{
    account->cents += message->amount;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
