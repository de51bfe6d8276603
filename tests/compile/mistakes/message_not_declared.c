/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* usual */
/* expect: tr_says_depositt */
#include "common.h"

void f(tr_self *self, tr_ref account);
void f(tr_self *self, tr_ref account)
{
    tr_tell(self, account, depositt, .amount = 5);
}
