/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect gcc: tr_behavior_closed. undeclared */
/* expect clang: use of undeclared identifier 'tr_behavior_closed' */
#include "common.h"

tr_next f(tr_self *self);
tr_next f(tr_self *self)
{
    return tr_become(self, closed);
}
