/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-06 */
/* flags: -Werror=missing-braces */
/* expect gcc: missing braces around initializer */
/* expect clang: suggest braces around initialization of subobject */
#include "common.h"

void f(tr_self *self, tr_ref to);
void f(tr_self *self, tr_ref to)
{
    tr_tell(self, to, paint, .width = 640);
}
