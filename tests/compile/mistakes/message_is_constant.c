/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect gcc: assignment of member .amount. in read-only object */
/* expect clang: cannot assign to variable .message. with const-qualified type */
#include "common.h"

static tr_next on_deposit(struct account *account, const struct deposit *message)
{
    message->amount = 0;
    account->cents = 0;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
