/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* usual */
/* expect gcc: incompatible types when returning type .tr_status. but .tr_next. was expected */
/* expect clang: returning 'tr_status'.* from a function with incompatible result type 'tr_next' */
#include "common.h"

tr_next f(tr_self *self, account_ref account);
tr_next f(tr_self *self, account_ref account)
{
    return tr_tell(self, account, deposit, .amount = 5);
}
