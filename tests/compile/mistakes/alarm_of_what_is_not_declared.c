/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-04 */
/* expect: expire */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    tr_alarm_after(self, "expire", TR_MINUTE, expire);
}
