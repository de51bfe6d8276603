/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* expect gcc: .union account_accepts. has no member named .transfer. */
/* expect clang: no member named 'transfer' in 'union account_accepts' */
#include "common.h"

void f(tr_self *self, account_ref account, const struct transfer *message);
void f(tr_self *self, account_ref account, const struct transfer *message)
{
    tr_tell_copy(self, account, transfer, message);
}
