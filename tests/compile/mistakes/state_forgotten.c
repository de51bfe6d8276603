/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: the state is missing; without one write void */
#include "common.h"

static tr_next on_deposit(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(account, TR_ON(deposit, on_deposit), TR_ON(get_balance, on_deposit));
