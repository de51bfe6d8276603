/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: TR_ON\(deposit, on_deposit\): the handler must be .*struct account \*state */
#include "common.h"

static tr_next on_deposit(struct bank *bank, const struct deposit *message)
{
    bank->branches += (int)message->amount;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
