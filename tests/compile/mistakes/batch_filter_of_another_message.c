/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 D-04 */
/* expect: TR_ON_BATCH_IF\(deposit, is_large, on_deposits\): the filter must be bool is_large\(const struct deposit \*message\) */
#include "common.h"

static bool is_large(const struct transfer *message)
{
    return message->cents > 1000;
}

static tr_next on_deposits(struct account *account, const struct deposit *const *messages,
                           size_t count)
{
    account->cents += messages[count - 1]->amount;
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON_BATCH_IF(deposit, is_large, on_deposits));
