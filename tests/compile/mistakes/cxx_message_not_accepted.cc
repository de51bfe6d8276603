/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* usual */
/* expect: no member named .transfer. *in 'union account_accepts'|.union account_accepts. has no member named .transfer.|no member named 'transfer' in 'account_accepts' */
#include "common.h"

void f(tr_self *self, account_ref account)
{
    tr_tell(self, account, transfer, .to = account, .cents = 5);
}
