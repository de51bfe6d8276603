/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-08 */
/* expect: troupe: TR_ON\(deposit, on_deposit\): the handler must be tr_next on_deposit\(tr_self \*self, const struct balance \*state */
#include "common.h"

static tr_next on_deposit(struct balance *balance)
{
    balance->cents++;
    return TR_SAME;
}
TR_BEHAVIOR(account, const struct balance, TR_ON(deposit, on_deposit));
