/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect: implicit declaration of function .teller_ref_of. */
/* lines gcc: 38 */
/* lines clang: 97 */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    tr_spawn(self, teller, "t");
}
