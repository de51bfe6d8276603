/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect: TR_ON\(deposit, on_deposit\): the handler must be .*struct closed \*state */
#include "common.h"

struct closed {
    int day;
};
TR_BEHAVIOR_DECLARE(closed);

static tr_next on_deposit(tr_self *self, struct account *account)
{
    return account->cents > 0 ? tr_become(self, closed) : TR_SAME;
}

TR_BEHAVIOR(account, struct account, TR_ON(deposit, on_deposit));
TR_BEHAVIOR(closed, struct closed, TR_ON(deposit, on_deposit));
