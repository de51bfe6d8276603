/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect: tr_spawnable_teller */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    tr_spawn(self, teller, "t");
}
