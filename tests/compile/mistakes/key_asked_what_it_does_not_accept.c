/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 K-13 */
/* expect gcc: .union account_accepts. has no member named .transfer. */
/* expect clang: no member named 'transfer' in 'union account_accepts' */
#include "common.h"

TR_DURABLE_DECLARE(account);

void f(tr_self *self);
void f(tr_self *self)
{
    tr_ask_key(self, account, "anna", transfer, .cents = 5);
}
