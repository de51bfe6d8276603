/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* usual */
/* expect gcc: .union account_accepts. has no member named .transfer. */
/* expect clang: no member named 'transfer' in 'union account_accepts' */
#include "common.h"

tr_next f(tr_self *self, account_ref account);
tr_next f(tr_self *self, account_ref account)
{
    tr_tell(self, account, transfer, .cents = 5);
    return TR_SAME;
}
