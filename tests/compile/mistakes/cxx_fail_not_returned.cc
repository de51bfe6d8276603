/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* flags: -std=c++20 -Werror=unused-result */
/* expect: it does nothing unless the handler returns it */
#include "common.h"

tr_next f(tr_self *self);
tr_next f(tr_self *self)
{
    tr_fail(self, TR_BAD_DATA, "row %d", 5);
    return TR_SAME;
}
