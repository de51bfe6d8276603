/* SPDX-License-Identifier: Apache-2.0 */
/* ids: K-01 */
/* expect: tr_type_bank */
#include "common.h"

static tr_next on_transfer(tr_self *self, struct bank *bank)
{
    bank->branches++;
    return tr_reply(self, tr_done);
}
TR_BEHAVIOR(bank, struct bank, TR_ON(transfer, on_transfer));
TR_DURABLE(bank, bank);
