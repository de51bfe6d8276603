/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* flags: -Werror=unused-result */
/* flags gcc: -fno-syntax-only -S -o /dev/null */
/* expect gcc: ignoring return value of .tr_self_give_up. declared with attribute .warn_unused_result. */
/* expect clang: ignoring return value of function declared with 'warn_unused_result' attribute */
#include "common.h"

tr_next f(tr_self *self, account_ref account);
tr_next f(tr_self *self, account_ref account)
{
    get_balance_ask asked = tr_ask(self, account, get_balance);
    tr_give_up(self, asked);
    return TR_SAME;
}
