/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* expect: tr_message_depositt */
/* lines gcc: 74 */
/* lines clang: 79 */
#include "common.h"

void f(tr_self *self, tr_ref account);
void f(tr_self *self, tr_ref account)
{
    tr_tell(self, account, depositt, .amount = 5);
}
