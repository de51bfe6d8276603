/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: the handler must be tr_next on_deposit */
#include "common.h"

static void on_deposit(struct account *account, const struct deposit *message)
{
    account->cents += message->amount;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
