/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-05 */
/* expect: incompatible pointer type|not compatible with any */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    const struct balance *balance;
    (void)!tr_queue_receive(self, "deposits", deposit, TR_SECOND, &balance);
}
