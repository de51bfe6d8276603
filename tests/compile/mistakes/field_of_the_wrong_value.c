/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* usual */
/* expect gcc: initialization of .long unsigned int. from .char \*. makes integer from pointer */
/* expect clang: incompatible pointer to integer conversion */
#include "common.h"

void f(tr_self *self, account_ref account);
void f(tr_self *self, account_ref account)
{
    tr_tell(self, account, deposit, .amount = "five");
}
