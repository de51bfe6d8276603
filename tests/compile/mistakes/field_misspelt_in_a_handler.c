/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* usual */
/* expect gcc: struct deposit. has no member named .amout. */
/* expect clang: no member named 'amout' in 'struct deposit' */
#include "common.h"

static tr_next on_deposit(struct account *account, const struct deposit *message)
{
    account->cents += message->amout;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
