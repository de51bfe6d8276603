/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-07 A-05 */
/* usual */
/* expect: tr_try_await writes the reply into a pointer to what the request declares */
#include "common.h"

tr_status f(tr_self *self, account_ref account);
tr_status f(tr_self *self, account_ref account)
{
    const struct transfer *wrong;
    return tr_try_await(self, tr_ask(self, account, get_balance), &wrong);
}
