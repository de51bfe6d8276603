/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect gcc: no return statement in function */
/* expect clang: non-void function does not return a value */
/* flags gcc: -fno-syntax-only -S -o /dev/null */
#include "common.h"

static tr_next on_deposit(struct account *account, const struct deposit *message)
{
    account->cents += message->amount;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
