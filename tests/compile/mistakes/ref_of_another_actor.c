/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* usual */
/* expect gcc: incompatible types when initializing type .account_ref.|invalid initializer */
/* expect clang: initializing 'account_ref' .* with an expression of incompatible type .*bank_ref' */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    account_ref account = tr_spawn(self, bank, "bank");
    tr_tell(self, account, deposit, .amount = 5);
}
