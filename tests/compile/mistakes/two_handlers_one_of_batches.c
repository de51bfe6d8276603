/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 D-04 */
/* lines clang: 32 */
/* expect: redefinition of .tr_call_account_deposit */
#include "common.h"

static tr_next on_deposits(const struct deposit *const *messages, size_t count)
{
    return messages[0]->amount == count ? TR_SAME : TR_STOP;
}

static tr_next on_deposit(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON_BATCH(deposit, on_deposits), TR_ON(deposit, on_deposit));
