/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 */
/* expect gcc: invalid initializer */
/* expect clang: initializing 'account_ref' .* with an expression of incompatible type 'bank_ref' */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    account_ref group = tr_spawn_group(self, bank, NULL, 4);
    (void)group;
}
