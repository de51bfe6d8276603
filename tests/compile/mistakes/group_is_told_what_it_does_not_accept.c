/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* expect gcc: .union bank_accepts. has no member named .deposit. */
/* expect clang: no member named 'deposit' in 'union bank_accepts' */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    bank_ref group = tr_spawn_group(self, bank, NULL, 4);
    tr_tell(self, group, deposit, .amount = 5);
}
