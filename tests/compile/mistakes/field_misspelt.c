/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* usual */
/* expect gcc: struct deposit. has no member named .amout.; did you mean .amount. */
/* expect clang: field designator 'amout' does not refer to any field in type .*'const struct deposit' */
#include "common.h"

void f(tr_self *self, account_ref account);
void f(tr_self *self, account_ref account)
{
    tr_tell(self, account, deposit, .amout = 5);
}
