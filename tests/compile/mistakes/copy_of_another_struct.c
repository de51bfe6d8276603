/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: tr_tell_copy of deposit needs a pointer to a struct deposit */
#include "common.h"

void f(tr_self *self, account_ref account, const struct balance *message);
void f(tr_self *self, account_ref account, const struct balance *message)
{
    tr_tell_copy(self, account, deposit, message);
}
