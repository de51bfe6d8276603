/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: the handler must be tr_next on_deposit */
#include "common.h"

static tr_next on_deposit(struct account *account, tr_self *self, const struct deposit *message)
{
    account->cents += message->amount;
    return tr_reply(self, tr_done);
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
