/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* flags: -Werror=unused-result */
/* flags gcc: -fno-syntax-only -S -o /dev/null */
/* expect gcc: ignoring return value of .tr_self_become. declared with attribute .warn_unused_result. */
/* expect clang: ignoring return value of function declared with 'warn_unused_result' attribute */
#include "common.h"

TR_BEHAVIOR_DECLARE(account);
tr_next f(tr_self *self);
tr_next f(tr_self *self)
{
    tr_become(self, account);
    return TR_SAME;
}
