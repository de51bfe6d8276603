/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 D-04 */
/* expect: TR_ON\(deposit, on_deposits\): the handler must be tr_next on_deposits\(tr_self \*self, struct account \*state, const struct deposit \*message\) */
#include "common.h"

static tr_next on_deposits(struct account *account, const struct deposit *const *messages,
                           size_t count)
{
    account->cents += messages[count - 1]->amount;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposits));
