/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* flags: -Werror=unused-result */
/* flags gcc: -fno-syntax-only -S -o /dev/null */
/* usual */
/* expect gcc: ignoring return value of .tr_fail. declared with attribute .warn_unused_result. */
/* expect clang: ignoring return value of function declared with 'warn_unused_result' attribute */
#include "common.h"

tr_next f(tr_self *self);
tr_next f(tr_self *self)
{
    tr_fail(self, TR_BAD_DATA, "row %d", 5);
    return TR_SAME;
}
