/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: TR_ON\(deposit, on_transfer\): the handler must be tr_next on_transfer\(tr_self \*self, struct account \*state, const struct deposit \*message\) */
#include "common.h"

static tr_next on_transfer(tr_self *self, struct account *account, const struct transfer *message)
{
    account->cents -= message->cents;
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_transfer));
