/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-05 */
/* expect: has no member named .amonut.|field designator .amonut. does not refer */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    tr_queue_push(self, "deposits", deposit, .amonut = 5);
}
