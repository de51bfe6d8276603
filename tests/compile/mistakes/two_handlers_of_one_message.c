/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* lines clang: 32 */
/* expect: redefinition of .tr_call_account_deposit */
#include "common.h"

static tr_next on_deposit(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit), TR_ON(deposit, on_deposit));
