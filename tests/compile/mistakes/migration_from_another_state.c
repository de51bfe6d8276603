/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-07 */
/* expect: incompatible pointer type */
#include "common.h"

static tr_status grow(tr_self *self, const struct deposit *from, struct balance *to)
{
    (void)self;
    to->cents = from->amount;
    return TR_OK;
}
TR_MIGRATION(account_1, 1, open_account, balance, grow);
