/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: each clause of TR_BEHAVIOR is TR_ON\(...\), TR_SETUP\(...\), ...; not: on_deposit */
#include "common.h"

static tr_next on_deposit(void)
{
    return TR_SAME;
}

TR_BEHAVIOR(account, struct account, on_deposit);
