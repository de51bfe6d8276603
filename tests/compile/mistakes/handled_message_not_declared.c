/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: tr_(type|says)_depositt */
#include "common.h"

static tr_next on_deposit(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(depositt, on_deposit));
