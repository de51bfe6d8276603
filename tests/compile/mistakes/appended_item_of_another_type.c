/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-01 */
/* expect: invalid initializer|incompatible type */
#include "common.h"

TR_MESSAGE(ledger, (list(message(deposit)), deposits));

void f(tr_self *self, struct ledger *ledger);
void f(tr_self *self, struct ledger *ledger)
{
    struct balance balance = {5};
    tr_append(self, ledger->deposits, balance);
}
