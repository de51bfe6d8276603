/* SPDX-License-Identifier: Apache-2.0 */
/* expect gcc: .tr_routes_bank. undeclared */
/* expect clang: use of undeclared identifier 'tr_routes_bank' */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    tr_spawn_router(self, bank, NULL, 4);
}
