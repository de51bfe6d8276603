/* SPDX-License-Identifier: Apache-2.0 */
/* expect gcc: ._Generic. selector of type .struct balance. is not compatible with any association */
/* expect clang: controlling expression type .struct balance. not compatible with any generic association */
#include "common.h"

static tr_next on_transfer(tr_self *self, struct balance *state)
{
    tr_sql(self, "INSERT INTO balance VALUES (?)", *state);
    return tr_reply(self, tr_done);
}
TR_BEHAVIOR(bank, struct balance, TR_ON(transfer, on_transfer));
TR_DURABLE(bank, balance);
