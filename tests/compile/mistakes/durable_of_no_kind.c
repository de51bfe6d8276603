/* SPDX-License-Identifier: Apache-2.0 */
/* ids: B-01 */
/* expect: undeclared.*tr_durable_account|undeclared identifier 'tr_durable_account'|'tr_durable_account' undeclared */
#include "common.h"

void f(tr_self *self);
void f(tr_self *self)
{
    account_ref account = tr_durable(self, account, "alice");
    (void)account;
}
