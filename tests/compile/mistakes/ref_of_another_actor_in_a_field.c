/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* expect gcc: incompatible types when initializing type .account_ref.|invalid initializer|incompatible types */
/* expect clang: incompatible type 'bank_ref' */
#include "common.h"

void f(tr_self *self, bank_ref bank);
void f(tr_self *self, bank_ref bank)
{
    tr_tell(self, bank, transfer, .to = bank, .cents = 5);
}
